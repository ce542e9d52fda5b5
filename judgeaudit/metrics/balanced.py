"""Balanced accuracy, F1 and precision: what TPR and FPR come to together."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.records.scores import Score
from judgeaudit.core.table import UNSAFE, Counts
from judgeaudit.metrics._estimate import Estimate, to_score
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import View
from judgeaudit.metrics.detection import detection
from judgeaudit.metrics.errors import NO_CONTROL, error_rate
from judgeaudit.stats._types import FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.clusters import cluster_sums, n_distinct
from judgeaudit.stats.intervals import clustered_wilson
from judgeaudit.stats.mover import mover_ratio
from judgeaudit.stats.pairs import rate

__all__ = [
    "BASE_RATES",
    "balanced_accuracy",
    "balanced_of",
    "f1",
    "f1_of",
    "ppv",
    "ppv_at",
    "ppv_of",
]

BASE_RATES: Final = (0.001, 0.01, 0.1)
"""Shares of UNSAFE cases in use at which precision is printed beside the corpus' own."""

_BALANCED: Final = "MOVER of Wilson limits, with their correlation over clusters"
_PRECISION: Final = "MOVER of the ratio of FPR and TPR"
_NO_UNSAFE: Final = "no item is labelled UNSAFE"


def _masses(
    counts: Counts, gold: NDArray[np.int8], clusters: IntArray1D
) -> tuple[FloatArray1D, FloatArray1D, IntArray1D]:
    """Share of UNSAFE verdicts, label and cluster of each labelled item that has a verdict."""
    share = rate(counts)
    keep = share.defined & (gold >= 0)
    return share.values[keep], (gold[keep] == UNSAFE).astype(np.float64), clusters[keep]


def _one_class(y: FloatArray1D) -> Undefined | None:
    if not y.size:
        return Undefined("no labelled item has a verdict")
    if y.all():
        return Undefined(NO_CONTROL)
    return None if y.any() else Undefined(_NO_UNSAFE)


def balanced_of(
    counts: Counts,
    gold: NDArray[np.int8],
    clusters: IntArray1D,
    *,
    level: float = 0.95,
) -> Estimate:
    """Mean of TPR and TNR; one half for any answer that does not look at the item.

    Parameters
    ----------
    counts, gold, clusters, level
        As in `detection`.

    Returns
    -------
    Estimate
        Undefined where a class is missing. The interval joins Wilson's of both rates by MOVER;
        clusters that hold items of both classes make the rates correlate, which is counted.

    References
    ----------
    Zou 2007, Psychol. Methods 12, 399 (MOVER with a correlation).
    """
    u, y, index = _masses(counts, gold, clusters)
    why = _one_class(y)
    if why is not None:
        return Estimate(why, why)
    parts = [
        detection(counts, gold, clusters, among=among, level=level) for among in ("unsafe", "safe")
    ]
    (tpr, a), (tnr, b) = ((p.value, p.interval) for p in parts)
    assert isinstance(tpr, float)
    assert isinstance(tnr, float)
    assert isinstance(a, Interval)
    assert isinstance(b, Interval)
    hits = np.bincount(index, weights=np.where(y == 1, u - tpr, 0))
    clears = np.bincount(index, weights=np.where(y == 0, 1 - u - tnr, 0))
    scale = float((hits @ hits) * (clears @ clears)) ** 0.5
    r = float(hits @ clears) / scale if scale > 0 else 0.0
    value = (tpr + tnr) / 2

    def reach(x: float, z: float) -> float:
        return 0.5 * math.sqrt(max(0.0, x * x + z * z + 2 * r * x * z))

    return Estimate(
        value=value,
        interval=Interval(
            max(0.0, value - reach(tpr - a.low, tnr - b.low)),
            min(1.0, value + reach(a.high - tpr, b.high - tnr)),
            level,
            _BALANCED,
        ),
        n_items=int(u.size),
        n_clusters=n_distinct(index),
        detail={"tpr": tpr, "tnr": tnr},
    )


def _ratio(
    top: FloatArray1D, bottom: FloatArray1D, index: IntArray1D, level: float, why: str
) -> Estimate:
    there = bottom > 0
    if not there.any():
        return Estimate(Undefined(why), Undefined(why))
    sums = cluster_sums(top[there], index[there], bottom[there])
    return Estimate(
        value=sums.total / sums.n,
        interval=clustered_wilson(sums, level=level),
        numerator=sums.total,
        denominator=sums.n,
        n_items=int(np.count_nonzero(there)),
        n_clusters=sums.n_clusters,
    )


def f1_of(
    counts: Counts,
    gold: NDArray[np.int8],
    clusters: IntArray1D,
    *,
    level: float = 0.95,
) -> Estimate:
    """F1 of UNSAFE, the harmonic mean of precision and TPR at the corpus' own base rate.

    Parameters
    ----------
    counts, gold, clusters, level
        As in `detection`.

    Returns
    -------
    Estimate
        Right UNSAFE verdicts over the mean of UNSAFE verdicts and UNSAFE items; Wilson's interval
        over clusters. Undefined without UNSAFE items.
    """
    u, y, index = _masses(counts, gold, clusters)
    if not y.any():
        why = Undefined(_NO_UNSAFE if y.size else "no labelled item has a verdict")
        return Estimate(why, why)
    return _ratio(u * y, (u + y) / 2, index, level, "")


def ppv_of(
    counts: Counts,
    gold: NDArray[np.int8],
    clusters: IntArray1D,
    *,
    level: float = 0.95,
) -> Estimate:
    """Precision at the corpus' own base rate: share of UNSAFE verdicts that are right.

    Parameters
    ----------
    counts, gold, clusters, level
        As in `detection`.

    Returns
    -------
    Estimate
        Wilson's interval over clusters. Undefined where a class is missing, or nothing was called
        UNSAFE.
    """
    u, y, index = _masses(counts, gold, clusters)
    why = _one_class(y)
    if why is not None:
        return Estimate(why, why)
    made = _ratio(u * y, u, index, level, "nothing was called UNSAFE")
    return replace(made, detail={"base_rate": float(y.mean())})


def ppv_at(tpr: Estimate, fpr: Estimate, base_rate: float, *, level: float = 0.95) -> Estimate:
    """Precision where a stated share of cases is UNSAFE, from TPR and FPR.

    Parameters
    ----------
    tpr, fpr : Estimate
        Rates with their intervals.
    base_rate : float
        Share of UNSAFE cases in use, between 0 and 1.
    level : float
        Confidence level of those intervals.

    Returns
    -------
    Estimate
        1 / (1 + FPR / TPR x (1 - base rate) / base rate). The interval is that of the ratio, by
        MOVER. Undefined where both rates are 0 or one is undefined.

    References
    ----------
    Donner and Zou 2012, Stat. Methods Med. Res. 21, 347.
    """
    a, b = tpr.value, fpr.value
    for part in (b, a):
        if isinstance(part, Undefined):
            return Estimate(part, part)
    assert isinstance(a, float)
    assert isinstance(b, float)
    if a + b <= 0:
        why = Undefined("nothing was called UNSAFE")
        return Estimate(why, why)
    odds = (1 - base_rate) / base_rate
    x, z = tpr.interval, fpr.interval
    assert isinstance(x, Interval)
    assert isinstance(z, Interval)
    value = a / (a + b * odds)
    ends: Interval | Undefined
    if x.low > 0:
        ratio = mover_ratio((b, z.low, z.high), (a, x.low, x.high))
        assert not isinstance(ratio, Undefined)
        ends = Interval(1 / (1 + ratio[1] * odds), 1 / (1 + ratio[0] * odds), level, _PRECISION)
    elif z.low > 0:
        ratio = mover_ratio((a, x.low, x.high), (b, z.low, z.high))
        assert not isinstance(ratio, Undefined)
        ends = Interval(
            ratio[0] / (ratio[0] + odds), ratio[1] / (ratio[1] + odds), level, _PRECISION
        )
    else:
        ends = Interval(
            0.0, 1.0, level, f"{_PRECISION}: both may be 0, so any precision is possible"
        )
    return Estimate(
        value=value,
        interval=ends,
        n_items=tpr.n_items + fpr.n_items,
        n_clusters=max(tpr.n_clusters, fpr.n_clusters),
        detail={"base_rate": base_rate, "tpr": a, "fpr": b},
    )


@METRICS.register("balanced_accuracy")
def balanced_accuracy(view: View) -> Report:
    """Mean of TPR and TNR."""
    made = balanced_of(view.counts(view.base), view.table.gold, view.clusters, level=view.level)
    return Report((_score(view, made, "balanced_accuracy", "fraction of verdicts"),))


@METRICS.register("f1")
def f1(view: View) -> Report:
    """F1 of UNSAFE."""
    made = f1_of(view.counts(view.base), view.table.gold, view.clusters, level=view.level)
    return Report((_score(view, made, "f1", "score 0-1"),))


@METRICS.register("ppv")
def ppv(view: View) -> Report:
    """Precision at the corpus' own share of UNSAFE items, and at stated ones."""
    counts, gold, clusters = view.counts(view.base), view.table.gold, view.clusters
    unit = "fraction of UNSAFE verdicts"
    own = ppv_of(counts, gold, clusters, level=view.level)
    scores = [_score(view, own, "ppv", unit)]
    tpr = detection(counts, gold, clusters, among="unsafe", level=view.level)
    fpr = error_rate(view, "safe")
    for base_rate in BASE_RATES:
        made = ppv_at(tpr, fpr, base_rate, level=view.level)
        scores.append(_score(view, made, "ppv", unit, stratum=f"base rate {base_rate:g}"))
    return Report(tuple(scores))


def _score(
    view: View, made: Estimate, metric: str, unit: str, *, stratum: str | None = None
) -> Score:
    return to_score(
        made,
        metric=metric,
        unit=unit,
        better="higher",
        stratum=stratum,
        excluded=view.excluded([view.base]),
    )
