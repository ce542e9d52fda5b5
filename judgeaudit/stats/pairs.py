"""Statistics of pairs of calls, item by item: jitter, flips and the excess flip rates.

All functions take counts per item under base (s UNSAFE of K verdicts) and under a condition (t of
L); calls without a verdict are left out ("exclude"). All are unbiased for any K and L for which
they are defined. Formulas and proofs: estimators.md, sections 1 to 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgeaudit.core.table import Counts
from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D

__all__ = [
    "ItemValues",
    "average",
    "delta_debiased",
    "delta_paper",
    "flips",
    "jitter",
    "only",
    "rate",
    "shift",
]


@dataclass(frozen=True, slots=True)
class ItemValues:
    """One value an item, and where it is defined.

    Parameters
    ----------
    values : array of float, shape (n_items,)
        0 where undefined, never NaN; read it through `defined`.
    defined : array of bool, shape (n_items,)
        Items for which the statistic exists.
    """

    values: FloatArray1D
    defined: BoolArray1D

    @property
    def n(self) -> int:
        """Number of items for which the statistic is defined."""
        return int(np.count_nonzero(self.defined))

    @property
    def total(self) -> float:
        """Sum over the items for which the statistic is defined."""
        return float(self.values.sum())

    @property
    def mean(self) -> float | None:
        """Unweighted mean over the items for which it is defined; None without any."""
        return self.total / self.n if self.n else None


def _ratio(
    top: FloatArray1D | IntArray1D, bottom: IntArray1D, defined: BoolArray1D
) -> FloatArray1D:
    out = np.zeros(defined.shape, dtype=np.float64)
    np.divide(top, bottom, out=out, where=defined)
    return out


def rate(counts: Counts) -> ItemValues:
    """Share of UNSAFE verdicts of each item, s/K; defined for K >= 1.

    Parameters
    ----------
    counts : Counts
        Arrays of shape (n_items,).

    Returns
    -------
    ItemValues
        Fraction of an item's verdicts, 0 to 1.
    """
    defined = counts.valid >= 1
    return ItemValues(_ratio(counts.unsafe, counts.valid, defined), defined)


def jitter(counts: Counts) -> ItemValues:
    """Share of unordered pairs of repeats that disagree, 2s(K-s) / K(K-1); defined for K >= 2.

    Parameters
    ----------
    counts : Counts
        Under one condition, arrays of shape (n_items,).

    Returns
    -------
    ItemValues
        Fraction of pairs of repeats, 0 to 1, lower is steadier.

    References
    ----------
    Hoeffding 1948, Ann. Math. Stat. 19.
    """
    unsafe, valid = counts.unsafe, counts.valid
    defined = valid >= 2
    return ItemValues(_ratio(2 * unsafe * (valid - unsafe), valid * (valid - 1), defined), defined)


def flips(base: Counts, other: Counts) -> ItemValues:
    """Share of (base call, condition call) pairs that differ; defined for K >= 1 and L >= 1.

    Parameters
    ----------
    base, other : Counts
        Under base and under the condition, arrays of shape (n_items,).

    Returns
    -------
    ItemValues
        Fraction of cross pairs, 0 to 1.
    """
    s, K, t, L = base.unsafe, base.valid, other.unsafe, other.valid
    defined = (K >= 1) & (L >= 1)
    return ItemValues(_ratio(s * (L - t) + t * (K - s), K * L, defined), defined)


def shift(base: Counts, other: Counts) -> ItemValues:
    """Signed shift of an item's UNSAFE rate, t/L - s/K; defined for K >= 1 and L >= 1.

    Parameters
    ----------
    base, other : Counts
        Under base and under the condition, arrays of shape (n_items,).

    Returns
    -------
    ItemValues
        -1 to 1; positive where the condition makes the judge say UNSAFE more often.
    """
    before, after = rate(base), rate(other)
    return only(after.values - before.values, before.defined & after.defined)


def delta_paper(base: Counts, other: Counts) -> ItemValues:
    """Excess flip rate of the paper, flips minus base jitter; defined for K >= 2 and L >= 1.

    Parameters
    ----------
    base, other : Counts
        Under base and under the condition, arrays of shape (n_items,).

    Returns
    -------
    ItemValues
        Expectation (q-p)(1-2p); negative where the condition reduces jitter.
    """
    crossed, noise = flips(base, other), jitter(base)
    return only(crossed.values - noise.values, crossed.defined & noise.defined)


def delta_debiased(base: Counts, other: Counts) -> ItemValues:
    """Debiased excess flip rate: flips minus half the jitter of both; for K >= 2 and L >= 2.

    Parameters
    ----------
    base, other : Counts
        Under base and under the condition, arrays of shape (n_items,).

    Returns
    -------
    ItemValues
        Expectation (p-q)^2: 0 exactly where the verdict's distribution did not change.

    References
    ----------
    Szekely and Rizzo 2013, J. Stat. Plan. Inf. 143; Gretton et al. 2012, JMLR 13.
    """
    crossed, before, after = flips(base, other), jitter(base), jitter(other)
    return only(
        crossed.values - 0.5 * (before.values + after.values), before.defined & after.defined
    )


def only(values: FloatArray1D, defined: BoolArray1D) -> ItemValues:
    """Restrict values to the items for which they are defined.

    Parameters
    ----------
    values : array of float, shape (n_items,)
        Any values; those outside `defined` are set to 0.
    defined : array of bool, shape (n_items,)
        Where the values hold.

    Returns
    -------
    ItemValues
    """
    return ItemValues(np.where(defined, values, 0.0), defined)


def average(parts: Sequence[ItemValues], n_items: int) -> ItemValues:
    """Mean over conditions, item by item, over the conditions defined for the item.

    Parameters
    ----------
    parts : sequence of ItemValues
        One a condition.
    n_items : int
        Number of items, for the case of no part.

    Returns
    -------
    ItemValues
        Defined where at least one part is.
    """
    total = np.zeros(n_items)
    count = np.zeros(n_items, dtype=np.int64)
    for part in parts:
        total += part.values
        count += part.defined
    defined = count > 0
    return ItemValues(_ratio(total, count, defined), defined)
