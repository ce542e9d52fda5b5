"""A threshold on a score: chosen for a false positive rate, and tested where it was not chosen."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot

import numpy as np

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.intervals import clustered_wilson, effective_number, normal_quantile

__all__ = ["TPR_AT_FPR", "Point", "choose_threshold", "held_out_alarms", "tpr_at_fpr"]

TPR_AT_FPR = "MOVER of Wilson over clusters and of where the threshold may lie"


@dataclass(frozen=True, slots=True)
class Point:
    """TPR at a false positive rate.

    Parameters
    ----------
    value : float or Undefined
        Share of UNSAFE items at or above the threshold.
    interval : Interval or Undefined
        Of the TPR at the threshold whose true false positive rate is the one asked for.
    threshold : float, optional
        None where even the highest score would exceed the rate: nothing is called UNSAFE.
    fpr : float
        False positive rate that is met on these items, at most the one asked for.
    """

    value: float | Undefined
    interval: Interval | Undefined
    threshold: float | None = None
    fpr: float = 0.0


def choose_threshold(
    scores: FloatArray1D, positive: BoolArray1D, max_fpr: float
) -> float | Undefined | None:
    """Choose the lowest score to call UNSAFE at so that at most a share of SAFE items is.

    Parameters
    ----------
    scores : array of float, shape (n_items,)
        The higher, the more likely UNSAFE.
    positive : array of bool, shape (n_items,)
        Whether the item is UNSAFE.
    max_fpr : float
        The share.

    Returns
    -------
    float, None or Undefined
        Items with this score or a higher one are called UNSAFE. None: no observed score will do.
        Undefined without SAFE items.
    """
    safe = np.sort(scores[~positive])[::-1]
    if not safe.size:
        return Undefined("no control group: no item is labelled SAFE")
    allowed = int(np.floor(max_fpr * safe.size + 1e-9))
    if allowed >= safe.size:
        return float(scores.min())
    higher = scores[scores > safe[allowed]]
    return float(higher.min()) if higher.size else None


def _at(scores: FloatArray1D, threshold: float | None) -> BoolArray1D:
    return np.zeros(scores.shape, np.bool_) if threshold is None else scores >= threshold


def tpr_at_fpr(
    scores: FloatArray1D,
    positive: BoolArray1D,
    clusters: IntArray1D,
    max_fpr: float,
    *,
    level: float = 0.95,
) -> Point:
    """TPR where at most a share of SAFE items is called UNSAFE.

    Parameters
    ----------
    scores, positive, max_fpr
        As in `choose_threshold`.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Confidence level.

    Returns
    -------
    Point
        Undefined where a class is missing, or where SAFE items are so few that one of them is
        more than the share. The interval joins Wilson's at this threshold with the TPRs at the
        thresholds that the rate could as well belong to; where the right one may lie above all
        SAFE items, its lower end is 0.
    """
    n_safe = int(np.count_nonzero(~positive))
    for lacks, why in (
        (n_safe == 0, "no control group: no item is labelled SAFE"),
        (n_safe == positive.size, "no item is labelled UNSAFE"),
        (n_safe * max_fpr < 1, f"{n_safe} SAFE items are too few to see such a rate"),
    ):
        if lacks:
            return Point(Undefined(why), Undefined(why))
    threshold = choose_threshold(scores, positive, max_fpr)
    assert not isinstance(threshold, Undefined)
    alarm = _at(scores, threshold)
    value = float(np.mean(alarm[positive]))
    fpr = float(np.mean(alarm[~positive]))
    at = clustered_wilson(
        cluster_sums(alarm[positive].astype(np.float64), clusters[positive]), level=level
    )
    assert isinstance(at, Interval)
    false = cluster_sums(alarm[~positive].astype(np.float64), clusters[~positive])
    number = effective_number(false, level=level)
    tail = 0.5 + level / 2
    half = normal_quantile(tail) * (max_fpr * (1 - max_fpr) / number) ** 0.5

    def tpr(rate: float) -> float:
        chosen = choose_threshold(scores, positive, rate)
        assert not isinstance(chosen, Undefined)
        return float(np.mean(_at(scores, chosen)[positive]))

    beyond = (1 - max_fpr) ** number > 1 - tail
    least = 0.0 if beyond else tpr(max(0.0, max_fpr - half))
    most = tpr(min(1.0, max_fpr + half))
    low = 0.0 if beyond else max(0.0, value - hypot(value - at.low, value - least))
    high = min(1.0, value + hypot(at.high - value, most - value))
    return Point(value, Interval(low, high, level, TPR_AT_FPR), threshold, fpr)


def held_out_alarms(
    scores: FloatArray1D, positive: BoolArray1D, fold: IntArray1D, max_fpr: float
) -> tuple[BoolArray1D, dict[int, float | None]] | Undefined:
    """Call items UNSAFE by a threshold that was chosen on the other folds.

    Parameters
    ----------
    scores, positive, max_fpr
        As in `choose_threshold`.
    fold : array of int, shape (n_items,)
        Halves, folds or data sets.

    Returns
    -------
    alarm : array of bool, shape (n_items,)
        Whether each item is called UNSAFE.
    thresholds : dict of int to float or None
        The threshold that each fold was tested at.

    Or Undefined where there is one fold, or too few SAFE items outside a fold to see the rate.
    """
    numbers = np.flatnonzero(np.bincount(fold)).tolist()
    if len(numbers) < 2:
        return Undefined("there is nothing to choose a threshold on beside what it is tested on")
    alarm = np.zeros(scores.shape, np.bool_)
    thresholds: dict[int, float | None] = {}
    for number in numbers:
        here = fold == number
        n_safe = int(np.count_nonzero(~positive & ~here))
        if n_safe * max_fpr < 1:
            return Undefined(
                f"{n_safe} SAFE items to choose a threshold on are too few to see such a rate"
            )
        chosen = choose_threshold(scores[~here], positive[~here], max_fpr)
        assert not isinstance(chosen, Undefined)
        thresholds[number] = chosen
        alarm[here] = _at(scores[here], chosen)
    return alarm, thresholds
