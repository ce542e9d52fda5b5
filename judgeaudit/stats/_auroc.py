"""AUROC by mid-ranks with an interval over clusters, for who compares sources of confidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.clusters import cluster_sums, kish_clusters
from judgeaudit.stats.intervals import t_quantile

__all__ = ["Auroc", "auroc"]

_METHOD = "clustered DeLong, logit, t over clusters"


@dataclass(frozen=True, slots=True)
class Auroc:
    """An area under the ROC curve.

    Parameters
    ----------
    value : float
        Chance that a positive scores above a negative, ties counted half; 0 to 1.
    interval : Interval or Undefined
        Its interval over clusters.
    n_positive, n_negative : int
        Rows of each class.
    """

    value: float
    interval: Interval | Undefined
    n_positive: int
    n_negative: int


def auroc(
    scores: FloatArray1D, positive: BoolArray1D, clusters: IntArray1D, *, level: float = 0.95
) -> Auroc | Undefined:
    """Area under the ROC curve; ties count half, and rows of a cluster stand together.

    Parameters
    ----------
    scores : array of float, shape (n,)
        Larger where positive is thought likelier.
    positive : array of bool, shape (n,)
        The class.
    clusters : array of int, shape (n,)
        Cluster index of each row.
    level : float
        Confidence level.

    Returns
    -------
    Auroc or Undefined
        Undefined where one class is missing; the interval where no pair is in the wrong order (or
        none in the right one), for then nothing varies, or there are fewer than two clusters.

    References
    ----------
    Obuchowski 1997, Biometrics 53, 567 (clustered DeLong); estimators.md, section 12.

    Examples
    --------
    >>> made = auroc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([False, True, False, True]),
    ...              np.arange(4))
    >>> made.value
    0.875
    """
    high, low = scores[positive], scores[~positive]
    if not high.size or not low.size:
        return Undefined("every row is of one class")
    placed_high = _below(low, high)
    placed_low = 1 - _below(high, low)
    value = float(placed_high.mean())
    influence = np.empty(scores.size)
    influence[positive] = (placed_high - value) / high.size
    influence[~positive] = (placed_low - value) / low.size
    sums = cluster_sums(influence, clusters)
    groups = sums.n_clusters
    made = (value, high.size, low.size)
    if groups < 2:
        return Auroc(made[0], Undefined("fewer than two clusters"), *made[1:])
    variance = float(np.sum(sums.totals**2)) * groups / (groups - 1)
    if variance == 0 or value in (0.0, 1.0):
        why = "no pair is in the wrong order" if value > 0.5 else "nothing varies between clusters"
        return Auroc(made[0], Undefined(why), *made[1:])
    df = max(1.0, kish_clusters(sums.sizes) - 1)
    half = t_quantile(0.5 + level / 2, df) * variance**0.5 / (value * (1 - value))
    centre = np.log(value / (1 - value))
    ends = [float(1 / (1 + np.exp(-(centre + sign * half)))) for sign in (-1, 1)]
    return Auroc(made[0], Interval(ends[0], ends[1], level, _METHOD), *made[1:])


def _below(others: FloatArray1D, scores: FloatArray1D) -> FloatArray1D:
    """Return the share of the others below each score, ties counted half."""
    ordered = np.sort(others)
    left = np.searchsorted(ordered, scores, side="left")
    right = np.searchsorted(ordered, scores, side="right")
    return np.asarray((left + right) / (2 * others.size), dtype=np.float64)
