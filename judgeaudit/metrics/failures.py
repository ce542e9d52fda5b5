"""Outcomes without a verdict: how many there are, and what they could do to the finding."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

import numpy as np

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import Outcome
from judgeaudit.core.records.scores import Score
from judgeaudit.core.table import Counts
from judgeaudit.metrics._estimate import Estimate, to_score
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import CERTIFIED, PairStatistic, View
from judgeaudit.metrics.delta import excess_flip_rate
from judgeaudit.stats import treatments
from judgeaudit.stats._types import FloatArray1D, IntArray1D, Interval, Undefined, limits
from judgeaudit.stats.adjusted_t import adjusted_t
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.pairs import ItemValues, average
from judgeaudit.stats.rare_wilson import rare_wilson

__all__ = [
    "AS_FLIP",
    "BOUNDS",
    "HEADLINES",
    "bounds",
    "bounds_of",
    "outcome_rate",
    "outcomes",
    "treated",
    "treated_of",
]

FAILURES: tuple[Outcome, ...] = get_args(Outcome)[1:]

BOUNDS = "bounds_delta_paper"
CATEGORY = "category_debiased"

AS_FLIP: dict[str, Callable[[Counts, Counts], ItemValues]] = {
    "as_flip_asym": treatments.as_flip_asym,
    "as_flip_sym": treatments.as_flip_sym,
}

HEADLINES = ("exclude", *AS_FLIP)
"""Treatments that can be a protocol's headline."""


def outcome_rate(
    hits: FloatArray1D, calls: FloatArray1D, clusters: IntArray1D, *, level: float = 0.95
) -> Estimate:
    """Share of calls that ended in an outcome.

    Parameters
    ----------
    hits, calls : array of float, shape (n_items,)
        Calls that ended so, and all calls that were made.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        Fraction of calls, 0 to 1; Wilson's interval over clusters, widened to exact bounds.
    """
    made = calls > 0
    if not made.any():
        return Estimate(Undefined("no call"), Undefined("no call"))
    sums = cluster_sums(hits[made], clusters[made], calls[made])
    return Estimate(
        sums.total / sums.n,
        rare_wilson(sums, level=level),
        numerator=sums.total,
        denominator=sums.n,
        n_items=int(np.count_nonzero(made)),
        n_clusters=sums.n_clusters,
    )


@METRICS.register("outcome_rate")
def outcomes(view: View) -> Report:
    """Rate of calls without a verdict, together and by kind (in `stratum`), of every condition."""
    scores = []
    for c in view.conditions:
        counts = view.counts(c.id)
        calls = (counts.valid + counts.failed).astype(np.float64)
        kinds: list[tuple[Outcome | None, FloatArray1D]] = [
            (None, counts.failed.astype(np.float64))
        ]
        seen = view.outcomes(c.id)
        for kind in FAILURES:
            hits = np.zeros(view.table.n_items)
            if seen.get(kind, 0):
                hits = view.table.calls_of(c.id, kind).astype(np.float64)
            kinds.append((kind, hits))
        scores += [
            to_score(
                outcome_rate(hits, calls, view.clusters, level=view.level),
                metric="outcome_rate",
                condition=c.id,
                stratum=kind,
                unit="fraction of calls",
                better="lower",
            )
            for kind, hits in kinds
        ]
    return Report(tuple(scores))


def treated(view: View, treatment: str, condition: str) -> ItemValues:
    """Excess flip rate of each item under one treatment of failures.

    Parameters
    ----------
    view : View
        The run.
    treatment : str
        "exclude", "as_flip_asym", "as_flip_sym" or "category_debiased".
    condition : str
        A condition, or "certified" for the mean over the pooled ones.

    Returns
    -------
    ItemValues

    Raises
    ------
    ConfigError
        If the treatment is not known.
    """
    if treatment == "exclude":
        return view.pair("delta_paper", condition)
    functions = {**AS_FLIP, CATEGORY: treatments.category_debiased}
    if treatment not in functions:
        raise ConfigError(
            f"unknown treatment of failures {treatment!r}",
            mend=f"Known: {', '.join(('exclude', *functions))}",
        )

    def make() -> ItemValues:
        if condition == CERTIFIED:
            parts = [treated(view, treatment, c) for c in view.certified]
            return average(parts, view.table.n_items)
        return functions[treatment](view.counts(view.base), view.counts(condition))

    return view.keep((treatment, condition), make)


def treated_of(view: View, treatment: str, condition: str) -> Estimate:
    """Excess flip rate of a run under one treatment of failures."""
    statistic: PairStatistic = "delta_debiased" if treatment == CATEGORY else "delta_paper"
    return excess_flip_rate(
        treated(view, treatment, condition),
        view.clusters,
        level=view.level,
        why=view.lack(statistic, condition),
    )


def bounds(
    low: ItemValues, high: ItemValues, clusters: IntArray1D, *, level: float = 0.95
) -> Estimate:
    """Bounds of the paper's excess flip rate over all completions of the failed calls.

    Parameters
    ----------
    low, high : ItemValues
        From `stats.treatments.bounds_delta_paper`, arrays of shape (n_items,).
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Confidence level of `ci_low` and `ci_high` in the detail: the adjusted t limits of the two
        bounds, which contain the whole region at least that often.

    Returns
    -------
    Estimate
        No value; as interval the region itself, which holds no sampling error.

    References
    ----------
    Horowitz and Manski 2000, JASA 95; Imbens and Manski 2004, Econometrica 72.
    """
    lower, upper = low.mean, high.mean
    if lower is None or upper is None:
        why = Undefined("no item has the calls that it needs")
        return Estimate(why, why)
    used = low.defined
    sums = [cluster_sums(part.values[used], clusters[used]) for part in (low, high)]
    ends = [adjusted_t(s, level=level) for s in sums]
    return Estimate(
        Undefined("a region: every value in it agrees with the calls that ended in a verdict"),
        Interval(lower, upper, None, "sharp bounds over all completions of failed calls"),
        n_items=low.n,
        n_clusters=sums[0].n_clusters,
        detail={"ci_low": limits(ends[0])[0], "ci_high": limits(ends[1])[1]},
    )


def bounds_of(view: View, conditions: Sequence[str]) -> Estimate:
    """Bounds of a run, over one condition or the mean over several."""

    def make() -> Estimate:
        low, high = treatments.bounds_delta_paper(
            view.counts(view.base), [view.counts(c) for c in conditions]
        )
        return bounds(low, high, view.clusters, level=view.level)

    return view.memo((BOUNDS, tuple(conditions)), make)


def _pooled_conditions(view: View) -> tuple[str, ...]:
    placebo = tuple(c.id for c in view.conditions if c.kind == "placebo")
    kinds = ("certified", "near")
    return placebo + tuple(c.id for c in view.conditions if c.kind in kinds)


@METRICS.register("treatments")
def treatment_scores(view: View) -> Report:
    """Excess flip rates under every other treatment of calls without a verdict."""
    scores: list[Score] = []
    for condition in (*_pooled_conditions(view), CERTIFIED):
        for treatment in (*AS_FLIP, CATEGORY):
            debiased = treatment == CATEGORY
            scores.append(
                to_score(
                    treated_of(view, treatment, condition),
                    metric="delta_debiased" if debiased else "delta_paper",
                    condition=condition,
                    treatment=treatment,
                    unit="half the squared distance of outcome probabilities"
                    if debiased
                    else "fraction of call pairs",
                    better="lower",
                )
            )
        members = view.certified if condition == CERTIFIED else (condition,)
        scores.append(
            to_score(
                bounds_of(view, members),
                metric="delta_paper",
                condition=condition,
                treatment=BOUNDS,
                unit="fraction of call pairs",
                better="lower",
            )
        )
    return Report(tuple(scores))
