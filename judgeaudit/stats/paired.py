"""Two judges, or one judge at two dates, on the same items: exact test and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.adjusted_t import adjusted_t
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.intervals import normal_quantile, wilson
from judgeaudit.stats.lattice import Kind, upper_tail

__all__ = [
    "NEWCOMBE",
    "SIGN_FLIP",
    "TANGO",
    "Compared",
    "PairedCounts",
    "compare_pairs",
    "mcnemar",
    "newcombe_paired",
    "sign_flip",
    "tango",
]

NEWCOMBE = "Newcombe 1998, method 10"
TANGO = "Tango's score interval"
SIGN_FLIP = "exact sign flip of clusters"
MCNEMAR = "exact McNemar"


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """A table of pairs.

    Parameters
    ----------
    both, first, second, neither : int
        Items on which both, only the first, only the second or none has the event.
    """

    both: int
    first: int
    second: int
    neither: int

    @property
    def n(self) -> int:
        """Number of pairs."""
        return self.both + self.first + self.second + self.neither

    @property
    def difference(self) -> float | None:
        """Rate of the first less that of the second; None without a pair."""
        return (self.first - self.second) / self.n if self.n else None


def mcnemar(first: int, second: int) -> float:
    """McNemar's exact test, two-sided: twice the smaller binomial tail of the discordant pairs.

    Parameters
    ----------
    first, second : int
        Items on which only the first, or only the second, has the event.

    Returns
    -------
    float
        1 where no pair is discordant.

    References
    ----------
    McNemar 1947, Psychometrika 12.

    Examples
    --------
    >>> mcnemar(1, 7)
    0.0703125
    """
    from scipy.special import bdtr

    n = first + second
    return min(1.0, 2 * float(bdtr(min(first, second), n, 0.5))) if n else 1.0


def newcombe_paired(table: PairedCounts, *, level: float = 0.95) -> Interval | Undefined:
    """Newcombe's interval for a difference of paired rates: Wilson limits, squared and added.

    Parameters
    ----------
    table : PairedCounts
        The pairs, independent of each other.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Of first less second. Undefined for no pairs.

    References
    ----------
    Newcombe 1998, Stat. Med. 17, 2635, method 10.

    Examples
    --------
    >>> found = newcombe_paired(PairedCounts(1, 1, 7, 12))
    >>> round(found.low, 3), round(found.high, 3)
    (-0.507, -0.026)
    """
    a, b, c, d, n = table.both, table.first, table.second, table.neither, table.n
    one, two = wilson(a + b, n, level=level), wilson(a + c, n, level=level)
    if isinstance(one, Undefined) or isinstance(two, Undefined):
        return Undefined("no pairs")
    p1, p2 = (a + b) / n, (a + c) / n
    margins = (a + b) * (c + d) * (a + c) * (b + d)
    product = a * d - b * c
    # a correction for continuity, in the direction of a correlation only
    product_c = max(product - n / 2, 0.0) if product > 0 else float(product)
    phi = product_c / sqrt(margins) if margins else 0.0
    down = (p1 - one.low) ** 2 - 2 * phi * (p1 - one.low) * (two.high - p2) + (two.high - p2) ** 2
    up = (p2 - two.low) ** 2 - 2 * phi * (p2 - two.low) * (one.high - p1) + (one.high - p1) ** 2
    return Interval(
        max(-1.0, p1 - p2 - sqrt(max(0.0, down))),
        min(1.0, p1 - p2 + sqrt(max(0.0, up))),
        level,
        NEWCOMBE,
    )


def _score(table: PairedCounts, delta: float) -> float:
    """Tango's score statistic at a difference, with the nuisance at its constrained maximum."""
    b, c, n = table.first, table.second, table.n
    linear = -b - c + (2 * n - b + c) * delta
    inside = linear * linear + 8 * n * c * delta * (1 - delta)
    q = (sqrt(max(0.0, inside)) - linear) / (4 * n)
    variance = n * (2 * q + delta * (1 - delta))
    gap = b - c - n * delta
    if variance <= 0:
        return 0.0 if abs(gap) < 1e-12 else gap * float("inf")
    return gap / sqrt(variance)


def tango(table: PairedCounts, *, level: float = 0.95) -> Interval | Undefined:
    """Tango's score interval for a difference of paired rates.

    Parameters
    ----------
    table : PairedCounts
        The pairs, independent of each other.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Of first less second. Undefined for no pairs.

    References
    ----------
    Tango 1998, Stat. Med. 17, 891.

    Examples
    --------
    >>> found = tango(PairedCounts(1, 1, 7, 12))
    >>> round(found.low, 3), round(found.high, 3)
    (-0.517, -0.026)
    """
    middle = table.difference
    if middle is None:
        return Undefined("no pairs")
    z = normal_quantile(0.5 + level / 2)
    return Interval(_end(table, middle, -1.0, z), _end(table, middle, 1.0, -z), level, TANGO)


def _end(table: PairedCounts, inside: float, outside: float, z: float) -> float:
    """Bisect for the difference at which the statistic is z; it falls in the difference."""
    if abs(_score(table, outside)) <= abs(z):
        return outside
    for _ in range(100):
        middle = (inside + outside) / 2
        if abs(_score(table, middle)) > abs(z):
            outside = middle
        else:
            inside = middle
    return (inside + outside) / 2


def sign_flip(totals: FloatArray1D | IntArray1D) -> float:
    """Exact two-sided test that clusters lean to neither side, by flipping their signs.

    If the two judges are exchangeable within a cluster, its difference is as likely to have either
    sign. With single items this is McNemar's exact test.

    Parameters
    ----------
    totals : array, shape (n_clusters,)
        Whole-numbered sum of the differences of each cluster.

    Returns
    -------
    float
        1 where every cluster sums to 0.

    Examples
    --------
    >>> sign_flip(np.array([1, -1, -1, -1, -1, -1, -1, -1]))
    0.0703125
    """
    whole = np.abs(np.asarray(totals, dtype=np.int64))
    sizes, counts = np.unique(whole[whole > 0], return_counts=True)
    if not sizes.size:
        return 1.0
    half = np.array([0.5, 0.5])
    kinds = [
        Kind(np.array([0, size], dtype=np.int64), half, int(count))
        for size, count in zip(sizes.tolist(), counts.tolist(), strict=True)
    ]
    top = int(whole.sum())
    # the sum of +-T is 2 S - top, S the sum of those that came out positive
    seen = abs(int(np.sum(np.asarray(totals, dtype=np.int64))))
    return 1.0 if seen == 0 else min(1.0, 2 * upper_tail(kinds, (seen + top) // 2))


@dataclass(frozen=True, slots=True)
class Compared:
    """Two judges on common items.

    Parameters
    ----------
    table : PairedCounts
        The pairs.
    difference : float or Undefined
        Rate of the first less that of the second.
    interval : Interval or Undefined
        Newcombe's for independent items, the adjusted t over clusters else.
    p_value : float or Undefined
        Exact.
    p_method : str
        Which test.
    n_clusters : int
        Clusters of the items.
    """

    table: PairedCounts
    difference: float | Undefined
    interval: Interval | Undefined
    p_value: float | Undefined
    p_method: str
    n_clusters: int


def compare_pairs(
    first: BoolArray1D,
    second: BoolArray1D,
    clusters: IntArray1D | None = None,
    *,
    level: float = 0.95,
) -> Compared:
    """Compare two judges, or one at two dates, on the items that both have.

    Parameters
    ----------
    first, second : array of bool, shape (n_items,)
        Whether the event (a miss, a false alarm, an UNSAFE verdict) happened on each item.
    clusters : array of int, shape (n_items,), optional
        Cluster index of each item; each its own where it is left out.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Compared
        Undefined for no items.

    References
    ----------
    McNemar 1947; Newcombe 1998; estimators.md, section 4; decision note 0523.
    """
    a, b = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    table = PairedCounts(
        both=int(np.count_nonzero(a & b)),
        first=int(np.count_nonzero(a & ~b)),
        second=int(np.count_nonzero(~a & b)),
        neither=int(np.count_nonzero(~a & ~b)),
    )
    if table.difference is None:
        why = Undefined("no item that both have")
        return Compared(table, why, why, why, MCNEMAR, 0)
    index = np.arange(a.size) if clusters is None else np.asarray(clusters, dtype=np.int64)
    moved = a.astype(np.float64) - b.astype(np.float64)
    sums = cluster_sums(moved, index)
    if sums.n_clusters == a.size:
        found = mcnemar(table.first, table.second)
        inner = newcombe_paired(table, level=level)
        return Compared(table, table.difference, inner, found, MCNEMAR, a.size)
    return Compared(
        table,
        table.difference,
        adjusted_t(sums, level=level),
        sign_flip(np.round(sums.totals)),
        SIGN_FLIP,
        sums.n_clusters,
    )
