"""Intervals for a mean over items in clusters: the adjusted t, the plain t, the gate bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.clusters import ClusterSums, kish_clusters, unevenness
from judgeaudit.stats.intervals import rate_upper, t_quantile

__all__ = [
    "ADJUSTED_T",
    "CLUSTER_T",
    "Gate",
    "adjusted_t",
    "adjusted_t_difference",
    "cluster_t",
    "gate",
    "gate_upper",
]

ADJUSTED_T = "adjusted t over clusters"
CLUSTER_T = "t over clusters"

_ONE_CLUSTER = "fewer than two clusters"

_UNSEEN = 0.1
"""Correlation of flips within clusters that is taken for granted where clusters are uneven."""

Gate = Literal["above", "below", "inconclusive"]
"""Where an effect stands against the practical threshold, with the stated confidence."""


def adjusted_t(sums: ClusterSums, *, level: float = 0.95) -> Interval | Undefined:
    """Compute the adjusted t interval ("AM-t") for a mean of item values in [-1, 1].

    Two pseudo-clusters are added: half a cluster at +1, half at -1, one at 0. So the interval does
    not collapse when nothing flipped. Its centre is not the reported estimate, which stays the
    plain mean. Where clusters are uneven, a pseudo-cluster's size is the geometric mean of the
    average cluster's and of the one that an item drawn at random is in, gaps are scaled up for a
    cluster's share of the items, the degrees of freedom count clusters as Kish does, and a
    correlation of .1 between the flips of a cluster is counted as far as its size stands out;
    where they are even, nothing of it changes anything.

    Parameters
    ----------
    sums : ClusterSums
        T_g and m_g of the items for which the statistic is defined.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Undefined for fewer than two clusters.

    References
    ----------
    Agresti and Min 2005, Stat. Med. 24, 729, carried over to clusters; Bell and McCaffrey 2002,
    Survey Methodology 28 (leverage); Kish 1965; estimators.md, section 4; decision note 0516.
    """
    groups = sums.n_clusters
    if groups < 2:
        return Undefined(_ONE_CLUSTER)
    n, number = sums.n, kish_clusters(sums.sizes)
    size = n / (groups * number) ** 0.5
    centre = sums.total / (n + 2 * size)
    # a cluster that holds much of the items pulls the mean towards itself and hides its own gap
    scale = (1 - 1 / groups) / (1 - sums.sizes / n)
    gaps = (sums.totals - sums.sizes * centre) * scale
    spread = float(np.sum(gaps * gaps)) + size**2 * (1 + 2 * centre**2)
    # a large cluster whose flips go together shows it only once it has flipped
    spread += _UNSEEN * abs(centre) * (1 - abs(centre)) * unevenness(sums.sizes)
    df = max(1.0, number - 1)
    half = t_quantile(0.5 + level / 2, df) * spread**0.5 / (n + 2 * size)
    return Interval(centre - half, centre + half, level, ADJUSTED_T)


def adjusted_t_difference(sums: ClusterSums, *, level: float = 0.95) -> Interval | Undefined:
    """Compute the adjusted t interval for a mean of differences, which lie in [-2, 2].

    For two judges on common items: d_i = x_i of A less x_i of B. Differences are halved so that
    they lie in [-1, 1], and the limits doubled.

    Parameters
    ----------
    sums : ClusterSums
        Sums of the differences, over the items that both judges have.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Undefined for fewer than two clusters.

    References
    ----------
    estimators.md, section 4.
    """
    inner = adjusted_t(replace(sums, totals=sums.totals / 2), level=level)
    if isinstance(inner, Undefined):
        return inner
    return Interval(2 * inner.low, 2 * inner.high, level, ADJUSTED_T)


def cluster_t(sums: ClusterSums, *, level: float = 0.95) -> Interval | Undefined:
    """Plain t interval over clusters; it collapses to a point when nothing flipped.

    Parameters
    ----------
    sums : ClusterSums
        T_g and m_g of the items for which the statistic is defined.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Undefined for fewer than two clusters.

    References
    ----------
    Cameron, Gelbach and Miller 2008, Rev. Econ. Stat. 90; Miller 2024, arXiv 2411.00640.
    """
    groups = sums.n_clusters
    if groups < 2:
        return Undefined(_ONE_CLUSTER)
    mean = sums.total / sums.n
    gaps = sums.totals - sums.sizes * mean
    error = (groups / (groups - 1) * float(np.sum(gaps * gaps))) ** 0.5 / sums.n
    half = t_quantile(0.5 + level / 2, groups - 1) * error
    return Interval(mean - half, mean + half, level, CLUSTER_T)


def gate_upper(sums: ClusterSums, *, level: float = 0.95) -> float | Undefined:
    """Upper bound for "is the effect at most tau?", with the stated one-sided confidence.

    The larger of the upper end of the two-sided adjusted t and the exact binomial bound of
    e = max(0, estimate x clusters) events; with nothing observed, 1 - (1-level)^(1/G) or more.

    Parameters
    ----------
    sums : ClusterSums
        T_g and m_g of the items for which the statistic is defined.
    level : float
        Confidence level.

    Returns
    -------
    float or Undefined
        Undefined for fewer than two clusters.

    References
    ----------
    estimators.md, section 4.
    """
    interval = adjusted_t(sums, level=level)
    if isinstance(interval, Undefined):
        return interval
    groups = sums.n_clusters
    events = sums.total / sums.n * groups
    return max(interval.high, rate_upper(events, groups, level=level))


def gate(low: float | None, upper: float | None, threshold: float) -> Gate:
    """Place an effect against the practical threshold.

    Parameters
    ----------
    low : float, optional
        Lower end of the adjusted t interval.
    upper : float, optional
        Gate bound.
    threshold : float
        The practical threshold, stated in advance.

    Returns
    -------
    {"above", "below", "inconclusive"}
        Inconclusive, too, where there is no interval: a gate on the undefined never passes.
    """
    if low is not None and low > threshold:
        return "above"
    if upper is not None and upper < threshold:
        return "below"
    return "inconclusive"
