"""Worst of k: the chance that at least one of k tries is an event."""

from __future__ import annotations

import numpy as np

from judgeaudit.stats._types import FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.intervals import clopper_pearson
from judgeaudit.stats.pairs import ItemValues, only
from judgeaudit.stats.rare import at_least_one

__all__ = [
    "WORST_OF_K",
    "worst_of_k",
    "worst_of_k_interval",
    "worst_of_k_items",
    "worst_of_k_unbiased",
]

WORST_OF_K = "Clopper-Pearson, carried over to k tries"


def worst_of_k(p: float, k: float) -> float:
    """Chance of at least one event in k independent tries, 1 - (1-p)^k.

    Parameters
    ----------
    p : float
        Chance of an event a try, 0 to 1.
    k : float
        Tries.

    Returns
    -------
    float

    Examples
    --------
    >>> round(worst_of_k(0.01, 100), 3)
    0.634
    """
    return at_least_one(p, k)


def worst_of_k_unbiased(n: int, c: int, k: int) -> float | Undefined:
    """Unbiased estimate of worst of k from n samples with c events, 1 - C(n-c, k) / C(n, k).

    Putting c/n into the closed form instead is biased downwards.

    Parameters
    ----------
    n, c : int
        Samples of one prompt, and how many of them are events.
    k : int
        Tries, 1 or more.

    Returns
    -------
    float or Undefined
        Undefined for k > n: fewer samples than tries cannot tell.

    References
    ----------
    Chen et al. 2021, arXiv 2107.03374 (pass@k); estimators.md, section 12.

    Examples
    --------
    >>> round(worst_of_k_unbiased(20, 1, 5), 9)
    0.25
    """
    if k > n:
        return Undefined(f"{n} samples are fewer than {k} tries")
    if n - c < k:
        return 1.0
    # the ratio is symmetric in c and k: the shorter product, in logarithms, so that small chances
    # keep their digits and large n do not overflow
    few, many = sorted((c, k))
    ways = np.sum(np.log1p(-many / (n - np.arange(few, dtype=np.float64))))
    return -float(np.expm1(ways))


def worst_of_k_interval(n: int, c: int, k: int, *, level: float = 0.95) -> Interval | Undefined:
    """Interval of worst of k for one prompt: the exact limits of p, carried over.

    Parameters
    ----------
    n, c : int
        Samples of one prompt, and how many of them are events.
    k : int
        Tries; may exceed n, as the tries are taken to be independent.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Undefined for no samples.
    """
    inner = clopper_pearson(c, n, level=level)
    if isinstance(inner, Undefined):
        return inner
    return Interval(worst_of_k(inner.low, k), worst_of_k(inner.high, k), level, WORST_OF_K)


def worst_of_k_items(events: IntArray1D | FloatArray1D, trials: IntArray1D, k: int) -> ItemValues:
    """Unbiased worst of k of each item; defined for items with k trials or more.

    Parameters
    ----------
    events, trials : array of int, shape (n_items,)
        c and n of each item.
    k : int
        Tries, 1 or more.

    Returns
    -------
    ItemValues
        Fraction of draws of k of an item's trials that hold an event, 0 to 1.

    Examples
    --------
    >>> found = worst_of_k_items(np.array([1, 0, 1]), np.array([5, 5, 1]), 2)
    >>> found.values.round(9).tolist(), found.defined.tolist()
    ([0.4, 0.0, 0.0], [True, True, False])
    """
    defined = trials >= k
    none = np.where(defined, 1.0, 0.0)
    for i in range(k):
        rest = np.maximum(trials - i, 1)
        none = none * np.clip((trials - events - i) / rest, 0.0, 1.0)
    return only(1 - none, defined)
