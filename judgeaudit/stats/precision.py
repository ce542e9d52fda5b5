"""What the standard error of the pooled excess flip rate is made of, and what more calls buy.

With P2 = s(s-1) / K(K-1), the paper's excess flip rate of an item is q - p(1 + 2q) + 2 P2, with the
shares p and q of UNSAFE under base and (mean over conditions) under the conditions. It is linear in
the verdicts under a condition, so

    Var(x | base) = (1 - 2p)^2 sum_v q_v(1 - q_v) / L_v / m^2.

What the base calls add, given the q, is a polynomial in the chance pi of UNSAFE,

    (1 + 2q)^2 pi(1-pi)/K - 8 (1 + 2q) pi^2(1-pi)/K + 4 Var(P2),

and every power of pi up to the fourth has the unbiased estimate s(s-1).../K(K-1)...; so have the
powers of q. What is left lies between items: no number of calls an item touches it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from judgeaudit.core.table import Counts
from judgeaudit.stats import pairs
from judgeaudit.stats._types import FloatArray1D, IntArray1D, Undefined
from judgeaudit.stats.clusters import cluster_sums

__all__ = ["MORE", "Precision", "precision_of"]

MORE: Final = 0.1
"""Share of calls that is thought to be added."""


@dataclass(frozen=True, slots=True)
class Precision:
    """Parts of the variance of the pooled excess flip rate.

    Parameters
    ----------
    variance : float
        Squared standard error, over clusters.
    parts : dict of str to float
        "clusters" (items of one cluster move together), "items", "base calls", "condition calls";
        they add up to `variance`. Without clusters of several items "clusters" is left out.
    gains : dict of str to float
        By how much the standard error shrinks, as a fraction of itself, if one call in ten is
        added and all of them are spent on this: "items" (new ones, in clusters of the same kind),
        "base calls", "condition calls".
    calls : float
        Calls an item that the estimate rests on, base included.
    """

    variance: float
    parts: dict[str, float]
    gains: dict[str, float]
    calls: float

    @property
    def best(self) -> str:
        """What shrinks the standard error most."""
        return max(self.gains, key=lambda k: self.gains[k])


def precision_of(
    base: Counts, others: Sequence[Counts], clusters: IntArray1D
) -> Precision | Undefined:
    """Split the variance of the paper's excess flip rate, pooled over conditions.

    Parameters
    ----------
    base : Counts
        Under base, arrays of shape (n_items,).
    others : sequence of Counts
        Under each pooled condition.
    clusters : array of int, shape (n_items,)
        Cluster of each item.

    Returns
    -------
    Precision or Undefined
        Over the items with three verdicts under base and two under each condition.

    References
    ----------
    Hoeffding 1948, Ann. Math. Stat. 19: variances of U-statistics.
    """
    if not others:
        return Undefined("no certified condition is pooled")
    use = base.valid >= 3
    for other in others:
        use = use & (other.valid >= 2)
    if np.count_nonzero(use) < 2:
        return Undefined("fewer than two items with three base calls and two a condition")
    s, K = base.unsafe[use].astype(float), base.valid[use].astype(float)
    m = len(others)
    ts = [(o.unsafe[use].astype(float), o.valid[use].astype(float)) for o in others]
    x = np.mean([pairs.delta_paper(base, o).values[use] for o in others], axis=0)
    from_them = _base(s, K, ts)
    base_noise = from_them.noise(K)
    call_noise = np.zeros_like(x)
    for t, L in ts:
        call_noise += (1 - 2 * s / K) ** 2 * t * (L - t) / (L * L * (L - 1)) / (m * m)
    n = x.size
    sums = cluster_sums(x, clusters[use])
    G, mean = sums.n_clusters, float(x.mean())
    if G < 2:
        return Undefined("fewer than two clusters")
    variance = float(np.sum((sums.totals - sums.sizes * mean) ** 2)) * G / (G - 1) / n**2
    if variance <= 0:
        return Undefined("no item's excess differs from another's")
    between = float(np.sum((x - mean) ** 2)) / (n - 1) / n
    from_base, from_calls = float(base_noise.sum()) / n**2, float(call_noise.sum()) / n**2
    parts = {
        "items": between - from_base - from_calls,
        "base calls": from_base,
        "condition calls": from_calls,
    }
    if n > G:
        parts = {"clusters": variance - between, **parts}
    else:
        parts["items"] = variance - from_base - from_calls
    calls = float(np.mean(K) + sum(np.mean(o.valid[use]) for o in others))
    added, depth = MORE * calls, float(np.mean(K))
    gains = {
        "items": 1 - (1 + MORE) ** -0.5,
        "base calls": _gain(variance, from_base - float(from_them.noise(K + added).sum()) / n**2),
        "condition calls": _gain(variance, from_calls * added / (calls - depth + added)),
    }
    return Precision(variance, parts, gains, calls)


@dataclass(frozen=True, slots=True)
class _Base:
    """What the base calls add, item by item: powers of the chance of UNSAFE, and of the rates q."""

    p: tuple[FloatArray1D, FloatArray1D, FloatArray1D, FloatArray1D]
    q: FloatArray1D
    q2: FloatArray1D

    def noise(self, K: FloatArray1D) -> FloatArray1D:
        """Return the variance that K base calls add to the pooled excess of each item."""
        p1, p2, p3, p4 = self.p
        var_p2 = ((K - 2) * (K - 3) * p4 + 4 * (K - 2) * p3 + 2 * p2) / (K * (K - 1)) - p4
        first: FloatArray1D = (1 + 4 * self.q + 4 * self.q2) * (p1 - p2) / K
        return first - 8 * (1 + 2 * self.q) * (p2 - p3) / K + 4 * var_p2


def _base(
    s: FloatArray1D, K: FloatArray1D, ts: Sequence[tuple[FloatArray1D, FloatArray1D]]
) -> _Base:
    p1, p2 = s / K, s * (s - 1) / (K * (K - 1))
    p3 = p2 * (s - 2) / (K - 2)
    rates = [t / L for t, L in ts]
    squares = [t * (t - 1) / (L * (L - 1)) for t, L in ts]
    # the square of the mean rate: products of two calls that are not the same call
    total = np.sum(rates, axis=0)
    q2 = (total**2 - np.sum(np.square(rates), axis=0) + np.sum(squares, axis=0)) / len(ts) ** 2
    # three calls say nothing of the fourth power: [pi(1-pi)]^2 is then taken from base and
    # condition together, which is right where the two are alike
    twin = (p1 - p2) * np.mean([r - r2 for r, r2 in zip(rates, squares, strict=True)], axis=0)
    four = K >= 4
    p4 = np.where(four, p3 * (s - 3) / np.where(four, K - 3, 1.0), twin + 2 * p3 - p2)
    return _Base((p1, p2, p3, p4), np.mean(rates, axis=0), q2)


def _gain(variance: float, less: float) -> float:
    """Shrink the standard error by taking a part off the variance."""
    return float(1 - (max(0.0, variance - max(0.0, less)) / variance) ** 0.5)
