"""What is compared between two runs: figures with a value an item, verdicts, and ratios."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from judgeaudit.core.records import Score
from judgeaudit.core.table import SAFE, UNSAFE
from judgeaudit.metrics import View
from judgeaudit.metrics._view import CERTIFIED
from judgeaudit.stats import pairs
from judgeaudit.stats._types import BoolArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.adjusted_t import adjusted_t, adjusted_t_difference
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.exchange import Blocks, Question, changed
from judgeaudit.stats.mover import Term, mover_sum
from judgeaudit.stats.pairs import ItemValues
from judgeaudit.stats.sign_flips import sign_p

__all__ = [
    "EXCHANGE",
    "MARKS",
    "MOVER",
    "PER_ITEM",
    "RATIOS",
    "Difference",
    "disagreement",
    "exchange",
    "of_items",
    "of_scores",
    "per_item",
]

MOVER: Final = "MOVER, as if the two were independent"
EXCHANGE: Final = "exact, calls of an item exchangeable"


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure of two runs, second less first, or the reason why there is none.

    Parameters
    ----------
    before, after, value : float, optional
        Of the first, of the second, and the difference.
    why : str, optional
        Why there is no value.
    interval : Interval or Undefined
        Of the difference.
    p : float, optional
        None where the interval is all there is.
    p_method : str
        Which test.
    n_items, n_clusters : int
        What it rests on.
    """

    before: float | None
    after: float | None
    value: float | None
    why: str | None
    interval: Interval | Undefined
    p: float | None = None
    p_method: str = ""
    n_items: int = 0
    n_clusters: int = 0


def _right(view: View, label: int | None) -> ItemValues:
    """Return the share of an item's base verdicts that agree with its label."""
    found, gold = view.rate(view.base), view.table.gold
    wanted = gold >= 0 if label is None else gold == label
    right = np.where(gold == UNSAFE, found.values, 1 - found.values)
    defined = found.defined & wanted
    return ItemValues(np.where(defined, right, 0.0), defined)


def _wrong(view: View, label: int) -> ItemValues:
    right = _right(view, label)
    return ItemValues(np.where(right.defined, 1 - right.values, 0.0), right.defined)


PER_ITEM: Final[Mapping[str, tuple[Callable[[View, str], ItemValues], str, str]]] = {
    "jitter": (lambda v, c: v.jitter(c), "base", "lower"),
    "unsafe_rate": (lambda v, c: v.rate(c), "base", "neither"),
    "flip_rate": (lambda v, c: v.pair("flips", c), CERTIFIED, "lower"),
    "signed_shift": (lambda v, c: v.pair("shift", c), CERTIFIED, "neither"),
    "delta_paper": (lambda v, c: v.pair("delta_paper", c), CERTIFIED, "lower"),
    "delta_debiased": (lambda v, c: v.pair("delta_debiased", c), CERTIFIED, "lower"),
    "accuracy": (lambda v, _: _right(v, None), "", "higher"),
    "tpr": (lambda v, _: _right(v, UNSAFE), "", "higher"),
    "tnr": (lambda v, _: _right(v, SAFE), "", "higher"),
    "fnr": (lambda v, _: _wrong(v, UNSAFE), "", "lower"),
    "fpr": (lambda v, _: _wrong(v, SAFE), "", "lower"),
}
"""Means over items: the values, the condition where none is named, the better side."""

RATIOS: Final = {
    "direction_ratio": "higher",
    "undue_share": "lower",
    "pis": "higher",
}
"""Ratios and what is made of them, which have no value an item."""

MARKS: Final[Mapping[str, int | None]] = {"errors": None, "missed": UNSAFE, "false_alarms": SAFE}
"""Wrong base verdicts that are counted: among all labelled items, or those of one label."""


def per_item(view: View, metric: str, condition: str | None) -> ItemValues:
    """Return a metric's value of each item of a run."""
    make, usual, _ = PER_ITEM[metric]
    return make(view, condition or usual)


def of_items(
    a: View, b: View, metric: str, condition: str | None, *, level: float, seed: int = 0
) -> Difference:
    """Compare a mean over the items on which both runs have a value.

    Parameters
    ----------
    a, b : View
        Two runs on the same items in the same order.
    metric, condition : str
        A name of `PER_ITEM`, and a condition where it has one.
    level : float
        Two-sided confidence level.
    seed : int
        Of the random sign flips, where there are too many steps to convolve.

    Returns
    -------
    Difference
        Adjusted t over clusters; sign flips of clusters.
    """
    if condition is not None and metric not in {"accuracy", "tpr", "tnr", "fnr", "fpr"}:
        for view in (a, b):
            if condition != CERTIFIED and not view.called(condition):
                return _nothing(f"condition {condition} was not called")
    one, two = per_item(a, metric, condition), per_item(b, metric, condition)
    wide = metric in {"signed_shift", "delta_paper", "delta_debiased"}
    return _difference(one, two, a.clusters, level=level, seed=seed, wide=wide)


def _nothing(why: str) -> Difference:
    return Difference(None, None, None, why, Undefined(why))


def _difference(
    one: ItemValues, two: ItemValues, clusters: IntArray1D, *, level: float, seed: int, wide: bool
) -> Difference:
    """Compare values of -1..1 (wide, so that differences span -2..2) or of 0..1."""
    both = one.defined & two.defined
    if not both.any():
        return _nothing("no item has it in both runs")
    x, y = one.values[both], two.values[both]
    sums = cluster_sums(y - x, clusters[both])
    p, method = sign_p(sums, seed)
    return Difference(
        before=float(x.mean()),
        after=float(y.mean()),
        value=float(y.mean() - x.mean()),
        why=None,
        interval=(adjusted_t_difference if wide else adjusted_t)(sums, level=level),
        p=p,
        p_method=method,
        n_items=int(x.size),
        n_clusters=sums.n_clusters,
    )


def of_scores(
    before: Score | None, after: Score | None, *, level: float, widen: float = 1.0
) -> Difference:
    """Compare a figure by the intervals that it has in each run.

    Parameters
    ----------
    before, after : Score, optional
        Of the first and of the second run.
    level : float
        What the interval of the difference is said to hold.
    widen : float
        Factor on the intervals' arms, where they were made at a lower level.

    Returns
    -------
    Difference
        Wider than need be: the two runs share items, which this does not use.
    """
    if before is None or after is None:
        return _nothing("it is not among the scores of both")
    for score, which in ((before, "first"), (after, "second")):
        if score.value is None:
            return _nothing(f"not defined in the {which}: {score.why_undefined}")
    x, y = before.value, after.value
    if x is None or y is None:
        raise AssertionError
    inner: Interval | Undefined = Undefined("one of the two has no interval")
    if before.low is not None and after.low is not None:
        ends = mover_sum(
            (
                Term(1.0, y, y - widen * (y - after.low), y + widen * ((after.high or 0.0) - y)),
                Term(-1.0, x, x - widen * (x - before.low), x + widen * ((before.high or 0.0) - x)),
            )
        )
        inner = Interval(*ends, level, MOVER)
    return Difference(
        x,
        y,
        y - x,
        None,
        inner,
        n_items=min(before.n_items, after.n_items),
        n_clusters=min(before.n_clusters, after.n_clusters),
    )


def exchange(a: View, b: View, check: str) -> float | Undefined:
    """Test exactly whether base verdicts moved, or whether more of them are wrong.

    Parameters
    ----------
    a, b : View
        Two runs on the same items in the same order.
    check : str
        "verdicts", or a name of `MARKS`.
    """
    one, two = a.counts(a.base), b.counts(b.base)
    question: Question = "moved"
    before, after = one.unsafe, two.unsafe
    chosen: BoolArray1D = np.ones(before.size, dtype=bool)
    if check in MARKS:
        question = "more"
        gold, label = a.table.gold, MARKS[check]
        chosen = gold >= 0 if label is None else gold == label
        chosen &= a.table.gold == b.table.gold
        before = np.where(gold == UNSAFE, one.valid - before, before)
        after = np.where(gold == UNSAFE, two.valid - after, after)
    blocks = Blocks(before[chosen], one.valid[chosen], after[chosen], two.valid[chosen])
    return changed(blocks, question)


def disagreement(a: View, b: View, *, level: float) -> Difference:
    """Estimate by how much base verdicts of two runs disagree beyond the jitter of each.

    Parameters
    ----------
    a, b : View
        Two runs on the same items in the same order.
    level : float
        Two-sided confidence level.
    """
    one, two = a.counts(a.base), b.counts(b.base)
    deep = min(one.valid.max(initial=0), two.valid.max(initial=0)) >= 2
    values = pairs.delta_debiased(one, two) if deep else pairs.delta_paper(one, two)
    mean = values.mean
    if mean is None:
        return _nothing("no item has two base verdicts in the first run and one in the second")
    sums = a.sums(values)
    interval = adjusted_t(sums, level=level)
    return Difference(
        None, None, mean, None, interval, n_items=values.n, n_clusters=sums.n_clusters
    )
