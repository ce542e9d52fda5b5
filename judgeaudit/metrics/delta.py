"""Excess flip rates: what is left of the flips when the jitter is taken off."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from judgeaudit.metrics._estimate import Estimate, PValue, item_mean, number, to_score
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import CERTIFIED, View
from judgeaudit.stats._types import IntArray1D, Interval, Undefined, limits
from judgeaudit.stats.adjusted_t import cluster_t, gate_upper
from judgeaudit.stats.bootstrap import BCA, bca
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.exact import ExactTest, no_effect
from judgeaudit.stats.gee import gee_pairs
from judgeaudit.stats.multiplicity import holm
from judgeaudit.stats.pairs import ItemValues

__all__ = [
    "delta_debiased",
    "delta_paper",
    "exact_tests",
    "excess_flip_rate",
    "paper_bca",
    "paper_gee",
    "rms_shift",
    "rms_shift_of",
]

Excess = Literal["delta_paper", "delta_debiased"]

_UNIT: dict[Excess, str] = {
    "delta_paper": "fraction of call pairs",
    "delta_debiased": "mean squared difference of UNSAFE probabilities",
}


def excess_flip_rate(
    values: ItemValues,
    clusters: IntArray1D,
    *,
    level: float = 0.95,
    why: str = "no item",
) -> Estimate:
    """Excess flip rate averaged over items, the paper's or the debiased one; never clipped.

    Parameters
    ----------
    values : ItemValues
        `stats.pairs.delta_paper` or `delta_debiased` of each item, arrays of shape (n_items,).
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Confidence level.
    why : str
        The reason, should no item be defined.

    Returns
    -------
    Estimate
        -1 to 1, lower is better; adjusted t over clusters. Detail: `gate_upper`, the bound for
        "is it at most tau?", and the plain t interval over clusters.

    References
    ----------
    estimators.md, sections 3 and 4.
    """
    estimate = item_mean(values, clusters, level=level, why=why)
    if isinstance(estimate.value, Undefined):
        return estimate
    sums = cluster_sums(values.values[values.defined], clusters[values.defined])
    low, high = limits(cluster_t(sums, level=level))
    detail = {
        "gate_upper": number(gate_upper(sums, level=level)),
        "cluster_t_low": low,
        "cluster_t_high": high,
    }
    return replace(estimate, detail=detail)


def exact_tests(view: View, statistic: Excess) -> dict[str, ExactTest]:
    """Exact test of no effect of each condition that is compared with base.

    Parameters
    ----------
    view : View
        The run.
    statistic : {"delta_paper", "delta_debiased"}
        What is summed.

    Returns
    -------
    dict of str to ExactTest
        By condition; those without a test are left out.
    """

    def make() -> dict[str, ExactTest]:
        out = {}
        base = view.counts(view.base)
        for c in view.contrasts:
            test = no_effect(base, view.counts(c.id), statistic=statistic)
            if isinstance(test, ExactTest):
                out[c.id] = test
        return out

    return view.memo(("exact", statistic), make)


def _excess(view: View, statistic: Excess, condition: str) -> Estimate:
    estimate = excess_flip_rate(
        view.pair(statistic, condition),
        view.clusters,
        level=view.level,
        why=view.lack(statistic, condition),
    )
    return replace(
        estimate, detail={**estimate.detail, "threshold": view.protocol.practical_threshold}
    )


def _report(view: View, statistic: Excess) -> Report:
    tests = exact_tests(view, statistic)
    adjusted = holm({c: tests[c].p_value if c in tests else None for c in view.certified})
    untested = [c for c in view.certified if c not in tests]
    scores = []
    for condition in (*(c.id for c in view.contrasts), CERTIFIED):
        test, p = tests.get(condition), None
        if test is not None:
            p = PValue(
                value=test.p_value,
                null=f"no item's chance of UNSAFE differs between {view.base} and {condition}",
                method=f"{test.method}, one-sided, on {statistic}",
                adjusted=adjusted.get(condition),
            )
        scores.append(
            to_score(
                _excess(view, statistic, condition),
                metric=statistic,
                condition=condition,
                unit=_UNIT[statistic],
                better="lower",
                excluded=view.excluded(view.members(condition)),
                p=p,
                note=_note(view, condition, untested if condition == CERTIFIED else []),
            )
        )
    return Report(tuple(scores))


def _note(view: View, condition: str, untested: list[str]) -> str | None:
    if condition in view.uncertified:
        return f"the certificate of {condition} did not pass: not pooled"
    if untested:
        return f"without a p-value and left out of Holm's correction: {', '.join(untested)}"
    return None


@METRICS.register("delta_paper")
def delta_paper(view: View) -> Report:
    """Excess flip rate of the paper, of each condition and of the certified pool."""
    return _report(view, "delta_paper")


@METRICS.register("delta_debiased")
def delta_debiased(view: View) -> Report:
    """Debiased excess flip rate of each condition and of the certified pool."""
    return _report(view, "delta_debiased")


def rms_shift_of(estimate: Estimate) -> Estimate:
    """Root mean square shift of an item's chance of UNSAFE, from the debiased excess flip rate.

    Parameters
    ----------
    estimate : Estimate
        The debiased excess flip rate.

    Returns
    -------
    Estimate
        Square root of value and limits, each floored at 0; 0 to 1, lower is better.

    References
    ----------
    estimators.md, section 3.
    """

    def root(value: float) -> float:
        return float(max(0.0, value) ** 0.5)

    value, interval = estimate.value, estimate.interval
    return Estimate(
        value=value if isinstance(value, Undefined) else root(value),
        interval=interval
        if isinstance(interval, Undefined)
        else Interval(
            root(interval.low),
            root(interval.high),
            interval.level,
            f"square root of {interval.method}",
        ),
        n_items=estimate.n_items,
        n_clusters=estimate.n_clusters,
    )


@METRICS.register("rms_shift")
def rms_shift(view: View) -> Report:
    """RMS shift of each condition and of the certified pool."""
    return Report(
        tuple(
            to_score(
                rms_shift_of(_excess(view, "delta_debiased", condition)),
                metric="rms_shift",
                condition=condition,
                unit="difference of UNSAFE probabilities",
                better="lower",
                excluded=view.excluded(view.members(condition)),
            )
            for condition in (*(c.id for c in view.contrasts), CERTIFIED)
        )
    )


@METRICS.register("delta_paper_bca")
def paper_bca(view: View) -> Report:
    """Compute the paper's interval of its excess flip rate: BCa over clusters, or its refusal."""
    scores = []
    for order, condition in enumerate((*view.preserving, CERTIFIED)):
        estimate = _excess(view, "delta_paper", condition)
        if not isinstance(estimate.value, Undefined):
            rng = np.random.default_rng([view.seed, order])
            sums = view.sums(view.pair("delta_paper", condition))
            interval = bca(sums, rng, level=view.level)
            estimate = replace(estimate, interval=interval, detail={})
        scores.append(
            to_score(
                estimate,
                metric="delta_paper_bca",
                condition=condition,
                unit=_UNIT["delta_paper"],
                better="lower",
                excluded=view.excluded(view.members(condition)),
                note=f"{BCA}, 10,000 resamples, for comparison with the paper",
            )
        )
    return Report(tuple(scores))


@METRICS.register("gee_log_odds")
def paper_gee(view: View) -> Report:
    """Compute the paper's confirmation: GEE logistic regression on pairs (extra `gee`)."""
    scores = []
    for condition in view.preserving:
        fit = gee_pairs(
            view.counts(view.base), view.counts(condition), view.clusters, level=view.level
        )
        used = view.pair("delta_paper", condition)
        if isinstance(fit, Undefined):
            estimate, p = Estimate(fit, fit), None
        else:
            estimate = Estimate(
                fit.log_odds_ratio,
                Interval(fit.low, fit.high, fit.level, "Wald, robust over clusters"),
                n_items=used.n,
                n_clusters=view.sums(used).n_clusters,
                detail={"pairs": float(fit.n_pairs)},
            )
            p = PValue(
                fit.p_value,
                f"cross pairs of {condition} disagree as often as base pairs (log odds ratio 0)",
                "GEE logistic regression on pairs, exchangeable, two-sided",
            )
        scores.append(
            to_score(
                estimate,
                metric="gee_log_odds",
                condition=condition,
                unit="log odds ratio",
                better="lower",
                excluded=view.excluded(view.members(condition)),
                p=p,
            )
        )
    return Report(tuple(scores))
