"""Before and after on held-out clusters: each figure, its change, and who is shown better."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.records import Protocol, Score, ScoreSet
from judgeaudit.core.table import NOT_CALLED, UNSAFE, VerdictTable
from judgeaudit.cure.harden_audit import Costs
from judgeaudit.cure.harden_records import Candidate, Figure
from judgeaudit.metrics import View
from judgeaudit.metrics._view import CERTIFIED
from judgeaudit.scoring import score
from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.adjusted_t import adjusted_t, adjusted_t_difference, cluster_t
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.mover import Term, mover_sum
from judgeaudit.stats.multiplicity import holm
from judgeaudit.stats.pairs import ItemValues, only
from judgeaudit.stats.sign_flips import sign_p

__all__ = ["EXCESS", "Side", "compare", "decided"]

_Reach = Callable[..., Interval | Undefined]

EXCESS: Final = "excess flips"
_METRICS: Final = (
    *("outcome_rate", "jitter", "delta_paper", "direction_ratio", "undue_share"),
    *("responsiveness", "pis", "accuracy", "tpr", "tnr", "balanced_accuracy"),
)
_MOVER: Final = "MOVER, as if the two were independent: too wide, for they share items"


@dataclass(frozen=True, slots=True)
class Side:
    """One judge on the held-out items.

    Parameters
    ----------
    table : VerdictTable
        Its verdicts.
    costs : Costs
        What its calls took.
    requests : float
        Requests a verdict.
    """

    table: VerdictTable
    costs: Costs
    requests: float


@dataclass(frozen=True, slots=True)
class _Both:
    one: View
    two: View
    a: ScoreSet
    b: ScoreSet
    level: float
    seed: int


def compare(
    before: Side,
    after: Side,
    protocol: Protocol,
    *,
    uncertified: frozenset[str],
    kept_out: frozenset[str],
    n_candidates: int,
    alpha: float,
) -> tuple[tuple[Figure, ...], str, ScoreSet]:
    """Compare a candidate with the judge that it is made of, on the same items and conditions.

    Parameters
    ----------
    before, after : Side
        The judge as it was, and the candidate.
    protocol : Protocol
        Of both.
    uncertified : frozenset of str
        Conditions whose certificate did not pass.
    kept_out : frozenset of str
        Conditions that are wordings of the candidate's own panel: not pooled, on either side.
    n_candidates : int
        Among how many it is chosen: intervals of changes are at 1 - alpha / n_candidates.
    alpha : float
        Chance of any false finding.

    Returns
    -------
    figures : tuple of Figure
    responsive : str
        Whether the candidate still follows the policy.
    scores : ScoreSet
        Of the candidate.
    """
    pooled = uncertified | kept_out
    views = [View(s.table, protocol, protocol.seed, pooled) for s in (before, after)]
    sets = [
        score(s.table, protocol, seed=protocol.seed, uncertified=pooled, metrics=_METRICS)
        for s in (before, after)
    ]
    both = _Both(
        views[0], views[1], sets[0], sets[1], 1 - alpha / max(1, n_candidates), protocol.seed
    )
    figures = [
        _paired(both, EXCESS, "delta_paper", CERTIFIED, _excess, better="lower"),
        _of_scores(both, "PIS", "pis", "higher", "score"),
        _paired(both, "accuracy", "accuracy", None, _right(None), better="higher"),
        _paired(both, "TPR", "tpr", None, _right(1), better="higher"),
        _paired(both, "TNR", "tnr", None, _right(0), better="higher"),
        _of_scores(both, "balanced accuracy", "balanced_accuracy", "higher", "fraction"),
        _paired(both, "jitter", "jitter", "base", lambda v: v.jitter(v.base), better="lower"),
        _no_verdict(both),
        Figure(
            name="requests a verdict",
            before=before.requests,
            after=after.requests,
            change=after.requests - before.requests,
            why="counted, not estimated",
            unit="requests",
            better="lower",
        ),
        _cost(both, before, after, "tokens a verdict", "tokens"),
        _cost(both, before, after, "seconds a verdict", "seconds"),
        _cost(both, before, after, "price a verdict", "US dollars"),
    ]
    return tuple(figures), sets[1].flags.get("responsiveness", "not known"), sets[1]


def decided(
    candidates: Sequence[Candidate], *, alpha: float, margin: float
) -> tuple[Candidate, ...]:
    """Say who is shown better, corrected for all that were tried.

    Parameters
    ----------
    candidates : sequence of Candidate
        With their figures.
    alpha : float
        Chance that any is said to be better though none is.
    margin : float
        The practical threshold, for a loss of accuracy.
    """
    raw = {c.name: f.p_value if (f := c.figure(EXCESS)) is not None else None for c in candidates}
    adjusted = holm(raw)
    out = []
    for c in candidates:
        figures = tuple(
            f.model_copy(update={"p_adjusted": adjusted.get(c.name)}) if f.name == EXCESS else f
            for f in c.figures
        )
        excess = c.figure(EXCESS)
        fewer = excess is not None and excess.change is not None and excess.change < 0
        known = c.name in adjusted and adjusted[c.name] <= alpha
        kept = _kept(c.figure("accuracy"), margin)
        better = fewer and known and kept != "lower"
        update = {"figures": figures, "accuracy": kept, "shown_better": better}
        out.append(c.model_copy(update=update))
    return tuple(out)


def _kept(accuracy: Figure | None, margin: float) -> Literal["kept", "open", "lower", "not known"]:
    if accuracy is None or accuracy.low is None or accuracy.high is None:
        return "not known"
    if accuracy.high < 0:
        return "lower"
    return "kept" if accuracy.low > -margin else "open"


# ---- figures -----------------------------------------------------------------------------


def _excess(view: View) -> ItemValues:
    return view.pair("delta_paper", CERTIFIED)


def _right(label: int | None) -> Callable[[View], ItemValues]:
    def right(view: View) -> ItemValues:
        found, gold = view.rate(view.base), view.table.gold
        wanted = gold >= 0 if label is None else gold == label
        values = np.where(gold == UNSAFE, found.values, 1 - found.values)
        return only(values, found.defined & wanted)

    return right


def _sided(both: _Both, metric: str, condition: str | None) -> tuple[Score | None, Score | None]:
    return both.a.find(metric, condition), both.b.find(metric, condition)


def _filled(name: str, x: Score | None, y: Score | None, better: str, unit: str) -> Figure:
    return Figure(
        name=name,
        before=None if x is None else x.value,
        before_low=None if x is None else x.low,
        before_high=None if x is None else x.high,
        after=None if y is None else y.value,
        after_low=None if y is None else y.low,
        after_high=None if y is None else y.high,
        unit=unit,
        better=better,
    )


def _paired(
    both: _Both,
    name: str,
    metric: str,
    condition: str | None,
    values: Callable[[View], ItemValues],
    *,
    better: str,
) -> Figure:
    """Compare a mean over the items on which both have a value: they are paired."""
    x, y = _sided(both, metric, condition)
    made = _filled(name, x, y, better, "fraction")
    one, two = values(both.one), values(both.two)
    there = one.defined & two.defined
    if not there.any():
        lacks = next((s.why_undefined for s in (x, y) if s is not None and s.value is None), None)
        return made.model_copy(update={"why": lacks or "no item has it on both sides"})
    sums = cluster_sums((two.values - one.values)[there], both.one.clusters[there])
    # excess flips are of -1..1 and so differ by 2 at most; shares of verdicts by 1
    reach = adjusted_t_difference if name == EXCESS else adjusted_t
    most = 2.0 if name == EXCESS else 1.0
    update: dict[str, object] = {"change": sums.total / sums.n}
    update |= _ends(_within(reach(sums, level=both.level), most))
    if name == EXCESS:
        update["p_value"] = sign_p(sums, both.seed)[0]
    common, most = int(there.sum()), max(int(one.defined.sum()), int(two.defined.sum()))
    if common < most and "why" not in update:
        update["why"] = f"over the {common} of {most} items that have it on both sides"
    return made.model_copy(update=update)


def _within(interval: Interval | Undefined, most: float) -> Interval | Undefined:
    """Cut an interval of few clusters to what the change can be at all."""
    if isinstance(interval, Undefined):
        return interval
    low, high = max(-most, interval.low), min(most, interval.high)
    return Interval(low, high, interval.level, interval.method)


def _ends(interval: Interval | Undefined) -> dict[str, object]:
    if isinstance(interval, Undefined):
        return {"why": interval.reason}
    return {
        "low": interval.low,
        "high": interval.high,
        "level": interval.level,
        "method": interval.method,
    }


def _of_scores(both: _Both, name: str, metric: str, better: str, unit: str) -> Figure:
    x, y = _sided(both, metric, None)
    made = _filled(name, x, y, better, unit)
    for one, which in ((x, "before"), (y, "after")):
        if one is None or one.value is None:
            why = "not among the scores" if one is None else one.why_undefined
            return made.model_copy(update={"why": f"{which}: {why}"})
    assert x is not None and y is not None  # noqa: PT018
    if x.value is None or y.value is None or None in {x.low, x.high, y.low, y.high}:
        return made.model_copy(update={"why": "one of the two has no interval"})
    low, high = mover_sum(
        (
            Term(1.0, y.value, y.low or 0.0, y.high or 0.0),
            Term(-1.0, x.value, x.low or 0.0, x.high or 0.0),
        )
    )
    ends = _ends(Interval(low, high, 0.95, _MOVER))
    return made.model_copy(update={"change": y.value - x.value} | ends)


def _no_verdict(both: _Both) -> Figure:
    """Compare the share of all calls that ended without a verdict: failed, or left to a person."""
    shares = []
    for view in (both.one, both.two):
        codes = view.table.codes.reshape(view.table.n_items, -1)
        made = (codes != NOT_CALLED).sum(axis=1)
        lost = (codes > UNSAFE).sum(axis=1)
        share = np.where(made > 0, lost / np.maximum(made, 1), 0.0)
        shares.append(ItemValues(share, made > 0))
    return _means(both, "without a verdict", shares[0], shares[1], "fraction", reach=adjusted_t)


def _cost(both: _Both, before: Side, after: Side, name: str, unit: str) -> Figure:
    field = {"tokens": "tokens", "seconds": "seconds", "US dollars": "cost"}[unit]
    sides = []
    for side in (before, after):
        values: NDArray[np.float64] = getattr(side.costs, field)
        known = ~np.isnan(values)
        if not values.size or not known.all():
            why = f"{field} of {int((~known).sum())} of {values.size} answers are not known"
            return Figure(name=name, unit=unit, better="lower", why=why)
        n = np.bincount(side.costs.item, minlength=side.table.n_items)
        total = np.bincount(side.costs.item, weights=values, minlength=side.table.n_items)
        sides.append(ItemValues(np.where(n > 0, total / np.maximum(n, 1), 0.0), n > 0))
    return _means(both, name, sides[0], sides[1], unit)


def _means(
    both: _Both,
    name: str,
    one: ItemValues,
    two: ItemValues,
    unit: str,
    *,
    reach: _Reach = cluster_t,
) -> Figure:
    """Compare means over items: of any size by a plain t over clusters, shares by an adjusted one.

    A plain t collapses where nothing failed, and none of few calls failing is no proof of none.
    """
    there = one.defined & two.defined
    if not there.any():
        return Figure(name=name, unit=unit, better="lower", why="no item has it on both sides")
    index = both.one.clusters[there]
    parts = [cluster_sums(v.values[there], index) for v in (one, two)]
    gap = cluster_sums((two.values - one.values)[there], index)
    most = 1.0 if unit == "fraction" else float("inf")
    ends = [_within(reach(s), most) for s in parts]
    first, second = (e if isinstance(e, Interval) else None for e in ends)
    made = Figure(
        name=name,
        before=parts[0].total / parts[0].n,
        before_low=None if first is None else max(0.0, first.low),
        before_high=None if first is None else first.high,
        after=parts[1].total / parts[1].n,
        after_low=None if second is None else max(0.0, second.low),
        after_high=None if second is None else second.high,
        change=gap.total / gap.n,
        unit=unit,
        better="lower",
    )
    return made.model_copy(update=_ends(_within(reach(gap, level=both.level), most)))
