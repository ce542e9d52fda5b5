"""Two rates of independent groups: Fisher's exact test and an interval of their difference."""

from __future__ import annotations

from math import sqrt

import numpy as np

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.intervals import wilson

__all__ = ["fisher", "newcombe_unpaired"]


def fisher(x1: int, n1: int, x2: int, n2: int) -> float:
    """Fisher's exact test of equal rates, two-sided: all tables no likelier than the one seen.

    Parameters
    ----------
    x1, n1, x2, n2 : int
        Events and trials of each group.

    Returns
    -------
    float
        1 where a group is empty.

    References
    ----------
    Fisher 1934, Statistical Methods for Research Workers, 5th edition.

    Examples
    --------
    >>> round(fisher(2, 200, 8, 1000), 4)
    0.6765
    """
    from scipy.special import gammaln

    hits, total = x1 + x2, n1 + n2
    k = np.arange(max(0, hits - n2), min(n1, hits) + 1, dtype=np.float64)

    def ways(n: float, m: np.ndarray) -> np.ndarray:
        out: np.ndarray = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
        return out

    logs = ways(n1, k) + ways(n2, hits - k) - ways(total, np.array(float(hits)))
    seen = logs[int(x1 - k[0])]
    # tables that are equally likely differ by rounding only
    return float(min(1.0, np.exp(logs[logs <= seen + 1e-7]).sum()))


def newcombe_unpaired(
    x1: int, n1: int, x2: int, n2: int, *, level: float = 0.95
) -> Interval | Undefined:
    """Newcombe's interval of the difference of two independent rates, from their Wilson limits.

    Parameters
    ----------
    x1, n1, x2, n2 : int
        Events and trials of each group.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Of the first less the second. Undefined where a group is empty.

    References
    ----------
    Newcombe 1998, Stat. Med. 17, 873, method 10.

    Examples
    --------
    >>> found = newcombe_unpaired(56, 70, 48, 80)
    >>> round(found.low, 4), round(found.high, 4)
    (0.0524, 0.3339)
    """
    one, two = wilson(x1, n1, level=level), wilson(x2, n2, level=level)
    if isinstance(one, Undefined) or isinstance(two, Undefined):
        return Undefined("a group has no trials")
    p1, p2 = x1 / n1, x2 / n2
    down = sqrt((p1 - one.low) ** 2 + (two.high - p2) ** 2)
    up = sqrt((one.high - p1) ** 2 + (p2 - two.low) ** 2)
    return Interval(p1 - p2 - down, p1 - p2 + up, level, "Newcombe, from both Wilson intervals")
