"""The paper's interval: BCa bootstrap over clusters. Refused where it is known not to hold."""

from __future__ import annotations

import numpy as np

from judgeaudit.stats._types import FloatArray1D, Interval, Undefined
from judgeaudit.stats.clusters import ClusterSums
from judgeaudit.stats.intervals import normal_cdf, normal_quantile

__all__ = ["BCA", "MINIMUM_CONTRIBUTING", "bca", "resampled_means"]

BCA = "BCa bootstrap over clusters"

MINIMUM_CONTRIBUTING = 10
"""Clusters with a value other than 0 below which the interval is refused."""

_CHUNK = 2_000_000

_PER_KIND, _PER_CLUSTER = 14.0, 1.0
"""Cost of a binomial draw, and of drawing a cluster and looking it up."""


def resampled_means(
    sums: ClusterSums, rng: np.random.Generator, *, resamples: int = 10_000
) -> FloatArray1D:
    """Means over items of resampled clusters; repeats inside an item are never resampled.

    Clusters are few in kind: those with the same total and size are interchangeable, so the
    number of times that each kind is drawn is multinomial. It is drawn for the commonest kinds;
    clusters of all the others, which are rare together, are drawn one by one. The distribution is
    the same as if all were.

    Parameters
    ----------
    sums : ClusterSums
        T_g and m_g.
    rng : numpy.random.Generator
        Seeded by the caller.
    resamples : int
        How many.

    Returns
    -------
    array of float, shape (resamples,)
    """
    groups = sums.n_clusters
    # one number a pair: sorting rows is far slower
    kinds, counts = np.unique(sums.totals + 1j * sums.sizes, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rest = groups - np.concatenate(([0], np.cumsum(counts[order])))
    common = int(np.argmin(_PER_KIND * np.arange(rest.size) + _PER_CLUSTER * rest))
    often, rare = order[:common], order[common:]
    shares = np.append(counts[often], rest[common]) / groups
    left = np.repeat(kinds[rare], counts[rare])
    narrow = np.uint16 if left.size <= 2**16 else np.int64  # drawn several times as fast as int32
    out = np.empty(resamples)
    step = max(1, _CHUNK // max(1, common, int(rest[common])))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = rng.multinomial(groups, shares, size=size)
        both = drawn[:, :-1] @ kinds[often]
        if left.size:
            lengths = drawn[:, -1]
            at = rng.integers(0, left.size, size=int(lengths.sum()), dtype=narrow)
            picked = left.take(at)
            some = lengths > 0
            starts = np.cumsum(lengths) - lengths
            both[some] += np.add.reduceat(picked, starts[some])
        out[start : start + size] = both.real / both.imag
    return out


def bca(
    sums: ClusterSums,
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    resamples: int = 10_000,
) -> Interval | Undefined:
    """Bias-corrected and accelerated bootstrap interval for a mean over items in clusters.

    Parameters
    ----------
    sums : ClusterSums
        T_g and m_g of the items for which the statistic is defined.
    rng : numpy.random.Generator
        Seeded by the caller.
    level : float
        Two-sided confidence level.
    resamples : int
        Bootstrap resamples.

    Returns
    -------
    Interval or Undefined
        Refused below ten clusters with a value other than 0: there it covers far less than it
        says (.84 to .93 for quiet judges even at 300 items, 0 with no flip).

    References
    ----------
    Efron 1987, JASA 82; DiCiccio and Efron 1996, Stat. Sci. 11; estimators.md, section 4.
    """
    if sums.contributing < MINIMUM_CONTRIBUTING:
        return Undefined(f"fewer than {MINIMUM_CONTRIBUTING} contributing clusters")
    n, total = sums.n, sums.total
    estimate = total / n
    left_out = (total - sums.totals) / (n - sums.sizes)
    gaps = left_out.mean() - left_out
    spread = float(np.sum(gaps * gaps))
    if spread <= 0:
        return Undefined("all clusters give the same value")
    draws = np.sort(resampled_means(sums, rng, resamples=resamples))
    # equal draws differ in the last digits, so ties are counted with a tolerance
    slack = 1e-12 * (1 + abs(estimate))
    below = np.searchsorted(draws, estimate - slack)
    upto = np.searchsorted(draws, estimate + slack, side="right")
    share = (below + upto) / 2 / resamples
    if not 0 < share < 1:
        return Undefined("every resample lies on one side of the estimate")
    bias = normal_quantile(float(share))
    acceleration = float((gaps**3).sum()) / (6 * spread**1.5)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        moved = bias + normal_quantile(tail)
        ends.append(normal_cdf(bias + moved / (1 - acceleration * moved)))
    low, high = np.quantile(draws, ends)
    return Interval(float(low), float(high), level, BCA)
