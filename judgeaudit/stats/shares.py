"""Intervals for figures in [0, 1] that are no plain rates: Wilson's, from their variance."""

from __future__ import annotations

import numpy as np

from judgeaudit.stats._types import FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.clusters import kish_clusters
from judgeaudit.stats.intervals import normal_quantile, t_quantile, wilson

__all__ = ["WILSON_MEAN", "WILSON_VARIANCE", "mean_interval", "share_interval", "spread"]

WILSON_VARIANCE = "Wilson on the number of trials that its variance between clusters is worth"
WILSON_MEAN = "Wilson with the variance between clusters"


def spread(clusters: IntArray1D) -> tuple[float, float | None]:
    """Count clusters as Kish does; the degrees of freedom of a t are None where all are single.

    Parameters
    ----------
    clusters : array of int, shape (n_items,)
        Cluster index of each item, one item or more.

    Returns
    -------
    number : float
        Effective number of clusters.
    df : float or None
        One less, 1 or more; None where each item is a cluster of its own.
    """
    sizes = np.bincount(clusters)
    sizes = sizes[sizes > 0]
    number = kish_clusters(sizes)
    return number, None if sizes.size == clusters.size else max(1.0, number - 1)


def share_interval(
    value: float,
    variance: float | None,
    *,
    most: float,
    bare: float,
    df: float | None,
    level: float = 0.95,
) -> Interval | Undefined:
    """Wilson's interval on value (1 - value) / variance trials.

    Parameters
    ----------
    value : float
        The figure, in [0, 1].
    variance : float, optional
        Its variance over clusters.
    most : float
        Trials that it can be worth at most: items that it is a share of.
    bare : float
        Trials where the variance is 0, as with perfect separation: clusters of such items.
    df : float, optional
        Degrees of freedom of a t correction.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Undefined without a variance or without trials.
    """
    if variance is None:
        return Undefined("too few clusters of a class to tell how far the figure may be off")
    if most <= 0:
        return Undefined("no trials")
    number = bare
    if variance > 0 and 0 < value < 1:
        number = value * (1 - value) / variance
    if df is not None:
        tail = 0.5 + level / 2
        number *= (normal_quantile(tail) / t_quantile(tail, df)) ** 2
    number = min(most, max(min(1.0, most), number))
    inner = wilson(value * number, number, level=level)
    assert isinstance(inner, Interval)
    return Interval(inner.low, inner.high, level, WILSON_VARIANCE)


def mean_interval(
    values: FloatArray1D, clusters: IntArray1D, *, level: float = 0.95
) -> Interval | Undefined:
    """Interval for a mean of values in [0, 1] that vary less than a rate would (Brier, for one).

    Wilson's form with the variance between clusters instead of that of a rate. Two pseudo-clusters
    of average size, all at 0 and all at 1, keep the variance away from 0, as in `effective_number`.

    Parameters
    ----------
    values : array of float, shape (n_items,)
        In [0, 1].
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Undefined for fewer than two clusters.
    """
    totals = np.bincount(clusters, weights=values)
    sizes = np.bincount(clusters).astype(np.float64)
    totals, sizes = totals[sizes > 0], sizes[sizes > 0]
    groups, n = sizes.size, float(sizes.sum())
    if groups < 2:
        return Undefined("fewer than two clusters")
    size, mean = n / groups, float(totals.sum()) / n
    rate = (float(totals.sum()) + size) / (n + 2 * size)
    gaps = (totals - sizes * rate) * (1 - 1 / groups) / (1 - sizes / n)
    variance = (float(gaps @ gaps) + size**2 * ((1 - rate) ** 2 + rate**2)) / (n + 2 * size) ** 2
    number = rate * (1 - rate) / variance
    tail, df = 0.5 + level / 2, max(1.0, kish_clusters(sizes) - 1)
    number *= (normal_quantile(tail) / t_quantile(tail, df)) ** 2
    inner = wilson(mean * number, number, level=level)
    assert isinstance(inner, Interval)
    return Interval(inner.low, inner.high, level, WILSON_MEAN)
