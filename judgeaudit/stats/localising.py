"""Tests behind the search for what flips a verdict: which of two rates, and which of many flips."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from judgeaudit.stats._types import FloatArray1D

__all__ = ["beyond_error", "e_bh", "either_rate", "least_needed"]


def either_rate(ones: int, zeros: int, low: float, high: float) -> float:
    """Log likelihood ratio of the higher of two rates against the lower one.

    Wald's sequential test calls the higher rate at `log((1 - error) / error)` and the lower one at
    minus that; each call is wrong with chance `error` at most.

    Parameters
    ----------
    ones, zeros : int
        Answers so far.
    low, high : float
        The two rates of ones, 0 < low < high < 1.

    References
    ----------
    Wald 1945, Ann. Math. Stat. 16.

    Examples
    --------
    >>> round(either_rate(2, 0, 0.1, 0.9), 2)
    4.39
    """
    return ones * math.log(high / low) + zeros * math.log((1 - high) / (1 - low))


def least_needed(ratio: float, low: float, high: float, error: float) -> int:
    """Return how many more answers it takes at least until one of the rates is called.

    Parameters
    ----------
    ratio : float
        The log likelihood ratio so far, short of both bounds.
    low, high : float
        The two rates.
    error : float
        Chance that a call is wrong.
    """
    bound = math.log((1 - error) / error)
    up = (bound - ratio) / math.log(high / low)
    down = (bound + ratio) / -math.log((1 - high) / (1 - low))
    return max(1, math.ceil(min(up, down) - 1e-9))


def e_bh(log_e: Sequence[float] | FloatArray1D, level: float = 0.05) -> list[bool]:
    """Say which null hypotheses the e-values reject, so that few of those are true.

    Parameters
    ----------
    log_e : sequence of float
        Logs of the e-values, dependent or not; each may have been stopped at any time.
    level : float
        Expected share of true ones among those rejected; where all are true, the chance of
        rejecting any.

    References
    ----------
    Wang and Ramdas 2022, JRSS B 84.

    Examples
    --------
    >>> e_bh([5.0, 4.0, 0.0])
    [True, True, False]
    """
    values = np.asarray(log_e, dtype=np.float64)
    m = values.size
    order = np.sort(values)[::-1]
    passed = [k for k in range(1, m + 1) if order[k - 1] >= math.log(m / (k * level))]
    if not passed:
        return [False] * m
    return [bool(v >= order[max(passed) - 1]) for v in values]


def beyond_error(seen: int, of: int, error: float) -> float:
    """Chance that at least so many searches are wrong, if each is with chance `error`.

    Parameters
    ----------
    seen : int
        Searches that ended in one answer.
    of : int
        All searches.
    error : float
        Chance that a single one ends in a wrong answer.

    Examples
    --------
    >>> round(beyond_error(2, 10, 0.02), 3)
    0.016
    """
    return float(
        sum(math.comb(of, k) * error**k * (1 - error) ** (of - k) for k in range(seen, of + 1))
    )
