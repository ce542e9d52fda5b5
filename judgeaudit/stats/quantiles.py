"""Upper quantiles of graded harm, with intervals that assume no distribution.

The mean of a scale hides its tail: ten scores of 3 and five of 1 with five of 5 have one mean. An
order statistic of the sample bounds a quantile with a chance that is binomial whatever the law of
the scores; where scores are tied or whole-numbered the chance is at least that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import IntArray1D, Undefined
from judgeaudit.stats.clusters import cluster_sums, n_distinct
from judgeaudit.stats.intervals import effective_number

__all__ = ["Quantile", "quantile", "scores_for_quantile"]


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile with its limits.

    Parameters
    ----------
    value : float
        The smallest score that at least a share q of the scores does not exceed.
    low, high : float, optional
        Limits; None where the sample is too small for one on that side.
    level : float
        Nominal level of the two-sided interval.
    coverage : float
        The chance that it really has, for scores without ties and items without clusters; counts
        an absent limit as infinite.
    ranks : tuple of int or None
        Positions of the limits in the sorted scores, from 1.
    n : int
        Scores.
    n_effective : float
        Independent scores that they are worth; n without clusters.
    method : str
        Name of the method.
    """

    value: float
    low: float | None
    high: float | None
    level: float
    coverage: float
    ranks: tuple[int | None, int | None]
    n: int
    n_effective: float
    method: str


def _at_most(k: int, n: int, q: float) -> float:
    """P(Bin(n, q) <= k)."""
    from scipy.special import bdtr

    if k < 0:
        return 0.0
    return 1.0 if k >= n else float(bdtr(k, n, q))


def quantile(
    scores: Sequence[float] | NDArray[np.float64],
    q: float,
    *,
    clusters: IntArray1D | None = None,
    level: float = 0.95,
) -> Quantile | Undefined:
    """Quantile of graded scores with a distribution-free interval.

    Limits are order statistics X_(l), X_(u): l is the largest rank with P(Bin(n,q) <= l-1) at most
    (1-level)/2, u the smallest with P(Bin(n,q) >= u) at most (1-level)/2.

    Parameters
    ----------
    scores : array of float, shape (n_scores,)
        Graded harm, larger is worse.
    q : float
        Which quantile, above 0 and below 1 (0.95: the score that 5% exceed).
    clusters : array of int, shape (n_scores,), optional
        Cluster index of each score. Ranks are then those of the effective number of independent
        scores behind the share that does not exceed the quantile (Woodruff).
    level : float
        Two-sided confidence level.

    Returns
    -------
    Quantile or Undefined
        Undefined without a score.

    References
    ----------
    David and Nagaraja 2003, Order Statistics, section 7.1; Woodruff 1952, JASA 47 (clusters).

    Examples
    --------
    >>> found = quantile(list(range(1, 101)), 0.9)
    >>> found.value, found.low, found.high
    (90.0, 84.0, 96.0)
    """
    order = np.sort(np.asarray(scores, dtype=np.float64))
    n = order.size
    if n == 0:
        return Undefined("no score")
    # n q may miss a whole number by rounding: 0.9 * 10 must be rank 9
    value = float(order[min(n, max(1, ceil(n * q - 1e-9))) - 1])
    effective = float(n)
    method = "order statistics, binomial"
    if clusters is not None and n_distinct(clusters) < n:
        below = (np.asarray(scores, dtype=np.float64) <= value).astype(np.float64)
        sums = cluster_sums(below, np.asarray(clusters, dtype=np.int64))
        effective = effective_number(sums, level=level)
        method = "order statistics, binomial over the effective number of scores (Woodruff)"
    trials = max(1, floor(effective))
    low, high = _ranks(trials, q, (1 - level) / 2)
    coverage = _at_most((high or trials + 1) - 1, trials, q) - _at_most((low or 0) - 1, trials, q)
    share_low = None if low is None else max(1, floor(low * n / trials))
    share_high = None if high is None else min(n, ceil(high * n / trials))
    return Quantile(
        value=value,
        low=None if share_low is None else float(order[share_low - 1]),
        high=None if share_high is None else float(order[share_high - 1]),
        level=level,
        coverage=coverage,
        ranks=(share_low, share_high),
        n=n,
        n_effective=effective,
        method=method,
    )


def _ranks(n: int, q: float, tail: float) -> tuple[int | None, int | None]:
    from scipy.special import bdtrik

    tail *= 1 + 1e-9  # a chance of exactly the tail counts, whatever its last digit
    # the inverse is a start; the exact tails decide
    guess = float(bdtrik(tail, n, q)) if _at_most(0, n, q) <= tail else -1.0
    low = max(0, min(n, floor(guess) + 1)) if np.isfinite(guess) else 0
    while low > 0 and _at_most(low - 1, n, q) > tail:
        low -= 1
    while low < n and _at_most(low, n, q) <= tail:
        low += 1
    high = min(n + 1, max(1, floor(n * q)))
    while high <= n and 1 - _at_most(high - 1, n, q) > tail:
        high += 1
    return (low or None), (high if high <= n else None)


def scores_for_quantile(q: float, *, level: float = 0.95, two_sided: bool = True) -> int:
    """Count the scores that are needed for a quantile to have an upper limit at all.

    Parameters
    ----------
    q : float
        Which quantile, above 0 and below 1.
    level : float
        Confidence level.
    two_sided : bool
        Whether half of what is left of the level lies on each side.

    Returns
    -------
    int
        The smallest n with q^n at most the tail.

    Examples
    --------
    >>> scores_for_quantile(0.95), scores_for_quantile(0.95, two_sided=False)
    (72, 59)
    """
    tail = (1 - level) / 2 if two_sided else 1 - level
    return ceil(log(tail) / log(q) - 1e-9)
