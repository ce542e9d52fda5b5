"""Jitter, flips and excess from probabilities of UNSAFE instead of verdicts.

A verdict is a draw from its call's probability p_r, so p_r in its place leaves every statistic of
pairs unbiased and takes the noise of the draw off (Rao and Blackwell). Where nothing is sampled
before the verdict, all calls of a prompt share one probability, and one call tells all of it:
jitter is then 2p(1-p) without a second call.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D
from judgeaudit.stats.pairs import ItemValues, only

__all__ = [
    "SAME",
    "SoftCounts",
    "followed",
    "one_probability",
    "soft_counts",
    "soft_delta_debiased",
    "soft_delta_paper",
    "soft_flips",
    "soft_jitter",
    "soft_rate",
]

SAME: Final = 0.02
"""Root mean square by which probabilities of one prompt may differ and still count as one."""

Float3D = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SoftCounts:
    """Probabilities of an item under one condition, summed; arrays of shape (n_items,).

    Parameters
    ----------
    total, squares : array of float
        Sum of the probabilities, and of their squares.
    n : array of int
        Calls with a verdict and a probability.
    whole : bool
        Whether one probability is all there is to know of a prompt.
    """

    total: FloatArray1D
    squares: FloatArray1D
    n: IntArray1D
    whole: bool

    @property
    def mean(self) -> FloatArray1D:
        """Mean probability of each item, 0 where there is none."""
        out = np.zeros(self.n.shape)
        np.divide(self.total, self.n, out=out, where=self.n > 0)
        return out

    @property
    def paired(self) -> BoolArray1D:
        """Items for which the chance that two calls agree is known."""
        return self.n >= (1 if self.whole else 2)

    @property
    def both(self) -> FloatArray1D:
        """Chance that two calls are UNSAFE; from pairs of different calls unless `whole`."""
        if self.whole:
            return np.square(self.mean)
        pairs, out = self.n * (self.n - 1), np.zeros(self.n.shape)
        np.divide(self.total**2 - self.squares, pairs, out=out, where=pairs > 0)
        return out


def soft_counts(p: Float3D, valid: NDArray[np.bool_], *, whole: bool) -> SoftCounts:
    """Sum probabilities over the calls that ended in a verdict.

    Parameters
    ----------
    p : array of float, shape (n_items, n_wordings, n_repeats)
        Probability of UNSAFE of each call, NaN where there is none.
    valid : array of bool, same shape
        Calls that ended in a verdict.
    whole : bool
        Whether nothing is sampled before the verdict. With several wordings it does not help: their
        calls do differ.
    """
    there = valid & ~np.isnan(p)
    known = np.where(there, p, 0.0)
    axes = (1, 2)
    return SoftCounts(
        total=known.sum(axis=axes),
        squares=(known**2).sum(axis=axes),
        n=there.sum(axis=axes, dtype=np.int64),
        whole=whole and p.shape[1] == 1,
    )


def soft_rate(counts: SoftCounts) -> ItemValues:
    """Mean probability of UNSAFE of each item; defined for one call."""
    return only(counts.mean, counts.n >= 1)


def soft_jitter(counts: SoftCounts) -> ItemValues:
    """Chance that two calls of an item disagree; for two calls, or one that is `whole`."""
    return only(2 * (counts.mean - counts.both), counts.paired)


def soft_flips(base: SoftCounts, other: SoftCounts) -> ItemValues:
    """Chance that a base call and a call under the condition disagree; for one call of each."""
    p, q = base.mean, other.mean
    return only(p + q - 2 * p * q, (base.n >= 1) & (other.n >= 1))


def soft_delta_paper(base: SoftCounts, other: SoftCounts) -> ItemValues:
    """Excess flip rate of the paper, from probabilities."""
    crossed, noise = soft_flips(base, other), soft_jitter(base)
    return only(crossed.values - noise.values, crossed.defined & noise.defined)


def soft_delta_debiased(base: SoftCounts, other: SoftCounts) -> ItemValues:
    """Debiased excess flip rate, from probabilities; (p-q)^2 where both are `whole`."""
    crossed, before, after = soft_flips(base, other), soft_jitter(base), soft_jitter(other)
    defined = crossed.defined & before.defined & after.defined
    return only(crossed.values - 0.5 * (before.values + after.values), defined)


def one_probability(p: Float3D, valid: NDArray[np.bool_]) -> float | None:
    """Root mean square deviation of probabilities from their prompt's mean; None without pairs.

    Parameters
    ----------
    p, valid : array, shape (n_items, n_columns, n_repeats)
        As in `soft_counts`; one column a prompt.
    """
    there = valid & ~np.isnan(p)
    known = np.where(there, p, 0.0)
    n = there.sum(axis=2)
    several = n >= 2
    if not several.any():
        return None
    mean = np.divide(known.sum(axis=2), n, out=np.zeros(n.shape), where=n > 0)
    spread = np.where(there, (known - mean[:, :, None]) ** 2, 0.0).sum(axis=2)
    return float((spread[several].sum() / (n[several] - 1).sum()) ** 0.5)


def followed(p: Float3D, unsafe: NDArray[np.bool_], valid: NDArray[np.bool_]) -> float | None:
    """Say by how many standard errors verdicts do not follow their probabilities.

    The larger of two: whether as many are UNSAFE as should be, and whether they are as sure as they
    should be. A judge that always says the likelier word fails the second.

    Parameters
    ----------
    p, unsafe, valid : array, one shape
        Probabilities, verdicts and whether there is a verdict.

    Returns
    -------
    float or None
        None where all probabilities are 0 or 1, or there is none.
    """
    there = valid & ~np.isnan(p)
    q, y = p[there], unsafe[there].astype(np.float64)
    out = []
    for weight in (np.ones_like(q), 1 - 2 * q):
        variance = float(np.sum(weight**2 * q * (1 - q)))
        if variance > 0:
            out.append(abs(float(np.sum(weight * (y - q)))) / variance**0.5)
    return max(out) if out else None
