"""Detection by risk category: each category's own rates, and their macro average."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.records.scores import Score
from judgeaudit.core.table import Counts
from judgeaudit.metrics._estimate import Better, Estimate, to_score
from judgeaudit.metrics._judged import fields_of
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import View
from judgeaudit.metrics.balanced import f1_of
from judgeaudit.metrics.detection import detection
from judgeaudit.metrics.errors import complement
from judgeaudit.stats._types import BoolArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.mover import Term, mover_sum
from judgeaudit.stats.splits import renumbered

__all__ = ["categories", "macro_average"]

MOVER_MACRO: Final = "MOVER of the categories' limits"


def _tpr(counts: Counts, gold: NDArray[np.int8], clusters: IntArray1D, *, level: float) -> Estimate:
    return detection(counts, gold, clusters, among="unsafe", level=level)


def _fpr(counts: Counts, gold: NDArray[np.int8], clusters: IntArray1D, *, level: float) -> Estimate:
    return complement(detection(counts, gold, clusters, among="safe", level=level))


_RATES: Final[dict[str, tuple[Callable[..., Estimate], str, Better]]] = {
    "tpr": (_tpr, "fraction of verdicts", "higher"),
    "fpr": (_fpr, "fraction of verdicts", "lower"),
    "f1": (f1_of, "score 0-1", "higher"),
}


def macro_average(parts: Sequence[Estimate], *, level: float = 0.95) -> Estimate:
    """Unweighted mean of an estimate over the categories for which it is defined.

    Parameters
    ----------
    parts : sequence of Estimate
        One a category.
    level : float
        Confidence level of their intervals.

    Returns
    -------
    Estimate
        The detail says how many categories count and how many are left out. MOVER takes the
        categories' intervals as independent: clusters should not reach over several categories.

    References
    ----------
    estimators.md, section 12; Zou and Donner 2008, Stat. Med. 27, 1693.
    """
    known = [(p.value, p.interval) for p in parts if not isinstance(p.value, Undefined)]
    detail = {"categories": float(len(known)), "left_out": float(len(parts) - len(known))}
    if not known:
        why = Undefined("no category has an item of the class")
        return Estimate(why, why, detail=detail)
    weight = 1 / len(known)
    terms = []
    for value, ends in known:
        assert isinstance(ends, Interval)
        terms.append(Term(weight, value, ends.low, ends.high))
    low, high = mover_sum(terms)
    return Estimate(
        value=float(np.mean([v for v, _ in known])),
        interval=Interval(max(0.0, low), min(1.0, high), level, MOVER_MACRO),
        n_items=sum(p.n_items for p in parts),
        n_clusters=sum(p.n_clusters for p in parts),
        detail=detail,
    )


def _part(
    counts: Counts, gold: NDArray[np.int8], clusters: IntArray1D, keep: BoolArray1D
) -> tuple[Counts, NDArray[np.int8], IntArray1D]:
    """Cut the items of a category out: what follows is linear in them, not in all items."""
    own = Counts(counts.unsafe[keep], counts.valid[keep], counts.failed[keep])
    return own, gold[keep], renumbered(clusters[keep])


@METRICS.register("categories")
def categories(view: View) -> Report:
    """TPR, FPR and F1 of each category of each descriptor of the items, and macro averages.

    Nothing where items have no labels, or no descriptor with 2 to 30 values. Items without a
    category are left out and counted.
    """
    gold = view.table.gold
    if not (gold >= 0).any():
        return Report()
    counts, excluded = view.counts(view.base), view.excluded([view.base])
    scores: list[Score] = []
    for field, (index, names) in fields_of(view).items():
        bare = float(np.count_nonzero((index < 0) & (gold >= 0)))
        of = [_part(counts, gold, view.clusters, index == k) for k in range(len(names))]
        for name, (make, unit, better) in _RATES.items():
            parts = []
            for category, (own, labels, clusters) in zip(names, of, strict=True):
                made = make(own, labels, clusters, level=view.level)
                parts.append(made)
                scores.append(
                    to_score(
                        made,
                        metric=f"category_{name}",
                        unit=unit,
                        better=better,
                        stratum=f"{field}: {category}",
                    )
                )
            macro = macro_average(parts, level=view.level)
            scores.append(
                to_score(
                    Estimate(
                        macro.value,
                        macro.interval,
                        n_items=macro.n_items,
                        n_clusters=macro.n_clusters,
                        detail={**macro.detail, "items_without_category": bare},
                    ),
                    metric=f"macro_{name}",
                    unit=unit,
                    better=better,
                    stratum=field,
                    excluded=excluded,
                )
            )
    return Report(tuple(scores))
