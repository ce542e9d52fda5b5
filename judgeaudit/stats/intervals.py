"""Intervals for rates: Wilson, Clopper-Pearson, and both over clusters."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from judgeaudit.stats._types import FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.clusters import ClusterSums, cluster_sums, kish_clusters, unevenness

__all__ = [
    "WILSON_CLUSTERED",
    "WILSON_KISH",
    "ZERO_EVENTS",
    "clopper_pearson",
    "clopper_pearson_lower",
    "clopper_pearson_upper",
    "clustered_wilson",
    "effective_number",
    "kish_number",
    "normal_cdf",
    "normal_quantile",
    "rate_upper",
    "t_quantile",
    "wilson",
    "wilson_kish",
    "zero_event_interval",
]

WILSON_CLUSTERED = "Wilson, design effect over clusters"
WILSON_KISH = "Wilson-Kish"
ZERO_EVENTS = "exact zero-event bound over clusters, one-sided"


@lru_cache(maxsize=64)
def normal_quantile(probability: float) -> float:
    """Quantile of the standard normal distribution.

    Parameters
    ----------
    probability : float
        Between 0 and 1, both excluded.

    Returns
    -------
    float
    """
    from scipy.special import ndtri

    return float(ndtri(probability))


def normal_cdf(x: float) -> float:
    """Probability that a standard normal number is at most `x`.

    Parameters
    ----------
    x : float

    Returns
    -------
    float
    """
    from scipy.special import ndtr

    return float(ndtr(x))


@lru_cache(maxsize=4096)
def t_quantile(probability: float, df: float) -> float:
    """Quantile of Student's t distribution.

    Parameters
    ----------
    probability : float
        Between 0 and 1, both excluded.
    df : float
        Degrees of freedom, larger than 0.

    Returns
    -------
    float
    """
    from scipy.special import stdtrit

    return float(stdtrit(df, probability))


def _beta_quantile(probability: float, a: float, b: float) -> float:
    from scipy.special import betaincinv

    return float(betaincinv(a, b, probability))


def wilson(x: float, n: float, *, level: float = 0.95) -> Interval | Undefined:
    """Wilson's score interval for a rate.

    Parameters
    ----------
    x : float
        Events; need not be whole (effective numbers are not).
    n : float
        Trials.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Undefined for no trials.

    References
    ----------
    Wilson 1927, JASA 22; Brown, Cai and DasGupta 2001, Stat. Sci. 16.

    Examples
    --------
    >>> interval = wilson(0, 100)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.0, 0.037)
    """
    if n <= 0:
        return Undefined("no trials")
    z2 = normal_quantile(0.5 + level / 2) ** 2
    rate = x / n
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = (z2 * max(0.0, rate * (1 - rate)) / n + (z2 / (2 * n)) ** 2) ** 0.5 / (1 + z2 / n)
    return Interval(
        low=0.0 if x <= 0 else max(0.0, centre - half),
        high=1.0 if x >= n else min(1.0, centre + half),
        level=level,
        method="Wilson",
    )


def clopper_pearson(x: float, n: float, *, level: float = 0.95) -> Interval | Undefined:
    """Clopper and Pearson's exact two-sided interval for a rate.

    Parameters
    ----------
    x, n : float
        Events and trials.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Undefined for no trials.

    References
    ----------
    Clopper and Pearson 1934, Biometrika 26.
    """
    if n <= 0:
        return Undefined("no trials")
    tail = (1 - level) / 2
    return Interval(
        low=0.0 if x <= 0 else _beta_quantile(tail, x, n - x + 1),
        high=1.0 if x >= n else _beta_quantile(1 - tail, x + 1, n - x),
        level=level,
        method="Clopper-Pearson",
    )


def clopper_pearson_upper(x: float, n: float, *, level: float = 0.95) -> float:
    """Exact one-sided upper bound of a rate, BetaInv(level; x+1, n-x).

    Parameters
    ----------
    x, n : float
        Events and trials; without trials, and where all are events, the bound is 1.
    level : float
        One-sided confidence level.

    Returns
    -------
    float

    Examples
    --------
    >>> round(clopper_pearson_upper(0, 100), 4)
    0.0295
    """
    if n <= 0 or x >= n:
        return 1.0
    if x <= 0:
        # the beta quantile in closed form, without its rounding
        return float(-np.expm1(np.log1p(-level) / n))
    return _beta_quantile(level, x + 1, n - x)


def clopper_pearson_lower(x: float, n: float, *, level: float = 0.95) -> float:
    """Exact one-sided lower bound of a rate, BetaInv(1-level; x, n-x+1).

    Parameters
    ----------
    x, n : float
        Events and trials; without trials, and without events, the bound is 0.
    level : float
        One-sided confidence level.

    Returns
    -------
    float
    """
    if n <= 0 or x <= 0:
        return 0.0
    if x >= n:
        return float((1 - level) ** (1 / n))
    return _beta_quantile(1 - level, x, n - x + 1)


def zero_event_interval(n: float, *, level: float = 0.95) -> Interval | Undefined:
    """Interval of a rate that was observed to be 0: [0, 1 - (1-level)^(1/n)], one-sided.

    Parameters
    ----------
    n : float
        Independent units (clusters) without an event.
    level : float
        One-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Undefined for no units.
    """
    if n <= 0:
        return Undefined("no trials")
    return Interval(0.0, clopper_pearson_upper(0, n, level=level), level, ZERO_EVENTS)


def kish_number(weights: FloatArray1D) -> float:
    """Kish's effective number of flips, m / max(1, sum(b_g^2) / m).

    Parameters
    ----------
    weights : array of float, shape (n_clusters,)
        b_g, flips of each cluster; m is their sum.

    Returns
    -------
    float
        0 where nothing flipped.

    References
    ----------
    Kish 1965, Survey Sampling.
    """
    m = float(weights.sum())
    return m / max(1.0, float(np.sum(weights * weights)) / m) if m > 0 else 0.0


def wilson_kish(
    hits: FloatArray1D, weights: FloatArray1D, clusters: IntArray1D, *, level: float = 0.95
) -> tuple[Interval, float]:
    """Wilson's interval for a share of flips, on Kish's effective number of flips.

    Parameters
    ----------
    hits : array of float, shape (n_items,)
        Numerator of each item (undue flips, forward flips).
    weights : array of float, shape (n_items,)
        Denominator of each item (all its flips).
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval
        [0, 1] where nothing flipped: nothing is known.
    float
        The effective number of flips.

    References
    ----------
    estimators.md, section 5; Kish 1965.
    """
    flips = float(weights.sum())
    if flips <= 0:
        return Interval(0.0, 1.0, level, f"{WILSON_KISH}: no flip, so any share is possible"), 0.0
    number = kish_number(cluster_sums(weights, clusters).totals)
    inner = wilson(float(hits.sum()) / flips * number, number, level=level)
    assert isinstance(inner, Interval)
    return Interval(inner.low, inner.high, level, WILSON_KISH), number


def effective_number(sums: ClusterSums, *, level: float = 0.95, unseen: float = 0.0) -> float:
    """Effective number of independent trials behind a rate, from its spread between clusters.

    Two pseudo-clusters of average size, one all 1 and one all 0, keep the variance away from 0;
    their two trials are taken off again. For clusters of one binary trial each the result is
    exactly the number of trials. Clusters that hold more than their share of the trials pull the
    mean towards themselves; their gaps are scaled up for it, and the degrees of freedom of the t
    correction count clusters as Kish does.

    Parameters
    ----------
    sums : ClusterSums
        Successes and trials of each cluster.
    level : float
        Two-sided confidence level, for the t correction.
    unseen : float
        Correlation within clusters that is taken for granted as far as clusters are uneven.

    Returns
    -------
    float
        Between the smaller of 1 and N, and N.

    References
    ----------
    Korn and Graubard 1998, Survey Methodology 24 (t correction); Bell and McCaffrey 2002, Survey
    Methodology 28 (leverage); decision note 0502.
    """
    n, groups = sums.n, sums.n_clusters
    floor = min(1.0, n)
    if groups < 2:
        return floor
    mean_size = n / groups
    rate = (sums.total + mean_size) / (n + 2 * mean_size)
    gaps = (sums.totals - sums.sizes * rate) * (1 - 1 / groups) / (1 - sums.sizes / n)
    spread = float(np.sum(gaps * gaps)) + mean_size**2 * ((1 - rate) ** 2 + rate**2)
    spread += unseen * rate * (1 - rate) * unevenness(sums.sizes)
    number = rate * (1 - rate) * (n + 2 * mean_size) ** 2 / spread - 2
    if n > groups:
        tail, df = 0.5 + level / 2, max(1.0, kish_clusters(sums.sizes) - 1)
        number *= (t_quantile(tail, n - 1) / t_quantile(tail, df)) ** 2
    return min(n, max(floor, number))


def clustered_wilson(sums: ClusterSums, *, level: float = 0.95) -> Interval | Undefined:
    """Wilson's interval for a rate whose trials come in clusters.

    Parameters
    ----------
    sums : ClusterSums
        Successes and trials of each cluster; a trial's success lies between 0 and 1.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Plain Wilson where each cluster is one binary trial. Undefined for no trials.
    """
    n = sums.n
    if n <= 0:
        return Undefined("no trials")
    number = effective_number(sums, level=level)
    inner = wilson(sums.total / n * number, number, level=level)
    assert isinstance(inner, Interval)
    return Interval(inner.low, inner.high, level, WILSON_CLUSTERED)


def rate_upper(x: float, n: float, *, level: float = 0.95) -> float:
    """Exact upper bound of a mean of values in [-1, 1] taken as events over n clusters.

    Parameters
    ----------
    x : float
        Events, e = estimate times clusters; negative counts as 0.
    n : float
        Clusters.
    level : float
        One-sided confidence level.

    Returns
    -------
    float
    """
    return clopper_pearson_upper(max(0.0, x), n, level=level)
