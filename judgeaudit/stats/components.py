"""Where the variance of a verdict comes from: components by symmetric differences.

Half the chance that two calls disagree is the variance of all that differs between them. So each
component is a difference of such chances over pairs of calls that share more or less (Koch 1967):
the same item under the same wording, another wording, another condition, another item, another
cluster. No call is compared with itself, so every component is unbiased, also in tables that are
not balanced; an estimate may be negative, and is not clipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import IntArray1D, Interval, Undefined
from judgeaudit.stats.intervals import t_quantile

__all__ = ["PARTS", "Components", "variance_components"]

Float2D = NDArray[np.float64]
Float3D = NDArray[np.float64]

PARTS: Final = (
    *("cluster", "item", "condition", "item x condition", "wording", "item x wording", "repeat"),
)
"""The components, from the widest to the call itself."""

_GROUPS: Final = 40
_NOTHING: Final = 1e-9
_ONE = "one wording a condition: not told from the condition"


@dataclass(frozen=True, slots=True)
class Components:
    """Components of the variance of one call's verdict.

    Parameters
    ----------
    total : float
        Variance of a call when cluster, item, condition, wording and call are all drawn anew.
    parts : dict of str to float or Undefined
        By name as of `PARTS`, in the units of `total`; those that cannot be told apart say where
        they are counted. The others add up to `total`.
    shares : dict of str to Interval or Undefined
        Interval of each part's share of the total, where there is one; over clusters, for these
        conditions and wordings.
    unrepeated : tuple of int
        Conditions (as numbered) without an item that was asked twice: their calls' noise is taken
        to be that of the others.
    n_items, n_clusters : int
        That the estimate rests on.
    """

    total: float
    parts: dict[str, float | Undefined]
    shares: dict[str, Interval | Undefined]
    unrepeated: tuple[int, ...]
    n_items: int
    n_clusters: int

    def share(self, name: str) -> float | Undefined:
        """Return a part's share of the total; may be negative, for the estimates are unbiased."""
        part = self.parts[name]
        return part if isinstance(part, Undefined) else part / self.total


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums over clusters, one set a group of clusters: all that the components are made of.

    First axis: groups. `same` and `same_n`: flips of two calls of one item, by pair of columns;
    `first`, `n`, `cross_*`: sums within clusters that all pairs over clusters are reckoned from.
    """

    same: Float3D
    same_n: Float3D
    near: Float2D
    near_n: Float2D
    first: Float2D
    n: Float2D
    cross_ss: Float3D
    cross_sn: Float3D
    cross_nn: Float3D

    def without(self, group: int | None) -> _Sums:
        """Add the groups up, all but one."""
        keep = np.ones(self.n.shape[0], dtype=bool)
        if group is not None:
            keep[group] = False
        return _Sums(*(getattr(self, f)[keep].sum(axis=0) for f in self.__slots__))


def _sums(unsafe: NDArray[np.integer], valid: NDArray[np.integer], clusters: IntArray1D) -> _Sums:
    """Sum up; `clusters` are numbered 0..G-1."""
    n_clusters = int(clusters.max()) + 1
    n_groups, width = min(_GROUPS, n_clusters), valid.shape[1]
    there = valid >= 1
    mean = np.divide(unsafe, valid, out=np.zeros(unsafe.shape), where=there)
    item_group = clusters % n_groups
    same = np.zeros((n_groups, width, width))
    same_n = np.zeros((n_groups, width, width))
    for a in range(width):
        twice = valid[:, a] >= 2
        k, s_a = valid[:, a].astype(np.float64), unsafe[:, a].astype(np.float64)
        own = np.divide(2 * s_a * (k - s_a), k * (k - 1), out=np.zeros(k.size), where=twice)
        for b in range(width):
            both = twice if a == b else there[:, a] & there[:, b]
            m_a, m_b = mean[:, a], mean[:, b]
            flips = own if a == b else np.where(both, m_a + m_b - 2 * m_a * m_b, 0.0)
            same[:, a, b] = np.bincount(item_group, flips, n_groups)
            same_n[:, a, b] = np.bincount(item_group, both, n_groups)
    empty = np.zeros((n_groups, width))
    near, near_n, first, n = empty.copy(), empty.copy(), empty.copy(), empty.copy()
    cross = [np.zeros((n_groups, width, width)) for _ in range(3)]
    s, c = np.empty((n_clusters, width)), np.empty((n_clusters, width))
    for a in range(width):
        s[:, a] = np.bincount(clusters, mean[:, a], n_clusters)
        c[:, a] = np.bincount(clusters, there[:, a], n_clusters)
        # ordered pairs of two items of one cluster: m_i + m_j - 2 m_i m_j
        squares = np.bincount(clusters, mean[:, a] ** 2, n_clusters)
        pairs = 2 * s[:, a] * (c[:, a] - 1) - 2 * (s[:, a] ** 2 - squares)
        for group in range(n_groups):
            near[group, a] = pairs[group::n_groups].sum()
    for group in range(n_groups):
        # every fortieth cluster: copies are small whatever the number of items
        own_s, own_c = s[group::n_groups].copy(), c[group::n_groups].copy()
        near_n[group] = (own_c * (own_c - 1)).sum(axis=0)
        first[group], n[group] = own_s.sum(axis=0), own_c.sum(axis=0)
        for out, x, y in zip(cross, (own_s, own_s, own_c), (own_s, own_c, own_c), strict=True):
            out[group] = np.einsum("ga,gb->ab", x, y)
    return _Sums(same, same_n, near, near_n, first, n, *cross)


def _half(top: NDArray[np.float64], bottom: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half a mean; NaN where there is no pair, and never leaves this module as such."""
    return np.divide(0.5 * top, bottom, out=np.full_like(top, np.nan), where=bottom > 0)


def _mean(values: Sequence[float]) -> float:
    known = [v for v in values if not np.isnan(v)]
    return sum(known) / len(known) if known else float("nan")


def _solve(sums: _Sums, of: IntArray1D) -> tuple[dict[str, float], float]:
    """Turn chances of disagreement into components; NaN where one cannot be told.

    Parameters
    ----------
    sums : _Sums
        Added up.
    of : array of int
        Condition of each column.
    """
    same, near = _half(sums.same, sums.same_n), _half(sums.near, sums.near_n)
    pairs = np.outer(sums.n, sums.n) - sums.cross_nn
    ups = np.outer(sums.first, sums.n) - sums.cross_sn
    far = _half(ups + ups.T - 2 * (np.outer(sums.first, sums.first) - sums.cross_ss), pairs)
    conditions = np.unique(of)
    cols = {int(c): np.flatnonzero(of == c).tolist() for c in conditions}
    repeat = _mean([_mean([same[a, a] for a in at]) for at in cols.values()])
    among = {c: [(a, b) for a in at for b in at if a < b] for c, at in cols.items()}
    several = any(among.values())

    def apart(matrix: Float2D) -> float:
        return _mean(
            [
                _mean([matrix[a, b] for a in cols[c] for b in cols[d]])
                for c in cols
                for d in cols
                if c < d
            ]
        )

    own = {c: _mean([far[a, a] for a in at]) for c, at in cols.items()}
    base = _mean(list(own.values()))
    # a condition with one wording adds nothing to these two: it is counted with the condition
    wording = _mean([_mean([far[p] for p in among[c]]) - own[c] if among[c] else 0.0 for c in cols])
    mixed = _mean(
        [
            _mean([same[p] for p in among[c]]) - _mean([same[a, a] for a in cols[c]])
            if among[c]
            else 0.0
            for c in cols
        ]
    )
    item_wording = mixed - wording
    total, shared = apart(far), apart(same)
    if len(cols) == 1:
        total, shared = base + wording, repeat + wording + item_wording
    condition = total - base - wording
    item_condition = shared - repeat - wording - item_wording - condition
    within = _mean([_mean([near[a] for a in at]) for at in cols.values()])
    cluster = base - within
    rest = within if not np.isnan(cluster) else base
    one = float("nan") if len(cols) == 1 else 0.0
    return {
        "cluster": cluster,
        "item": rest - repeat - item_wording - item_condition,
        "condition": condition + one,
        "item x condition": item_condition + one,
        "wording": wording if several else float("nan"),
        "item x wording": item_wording if several else float("nan"),
        "repeat": repeat,
    }, total


_WHY: Final = {
    "cluster": "no cluster has two items: not told from the item",
    "condition": "one condition",
    "item x condition": "one condition",
    "wording": _ONE,
    "item x wording": _ONE,
}


def variance_components(
    unsafe: NDArray[np.integer],
    valid: NDArray[np.integer],
    conditions: IntArray1D,
    clusters: IntArray1D,
    *,
    level: float = 0.95,
) -> Components | Undefined:
    """Split the variance of a verdict into cluster, item, condition, wording and repeat.

    Parameters
    ----------
    unsafe, valid : array of int, shape (n_items, n_columns)
        UNSAFE verdicts, and verdicts, of each item under each column: a wording of a condition.
    conditions : array of int, shape (n_columns,)
        The condition of each column.
    clusters : array of int, shape (n_items,)
        Cluster of each item, any labels.
    level : float
        Confidence level of the intervals of shares: jackknife over groups of clusters.

    Returns
    -------
    Components or Undefined
        Undefined where no item was asked twice under one wording, there are fewer than two
        clusters, or no two calls disagree.

    References
    ----------
    Koch 1967, Technometrics 9, 93; Searle, Casella and McCulloch 1992, Variance Components.
    """
    asked = (valid > 0).any(axis=1)
    if not asked.any():
        return Undefined("no call ended in a verdict")
    if not asked.all():
        unsafe, valid, clusters = unsafe[asked], valid[asked], clusters[asked]
    index = np.unique(clusters, return_inverse=True)[1].reshape(-1).astype(np.int64)
    if int(index.max()) < 1:
        return Undefined("fewer than two clusters")
    sums = _sums(unsafe, valid, index)
    whole = sums.without(None)
    parts, total = _solve(whole, conditions)
    if np.isnan(parts["repeat"]):
        return Undefined("no item was asked twice under one wording")
    if np.isnan(total) or np.isnan(parts["item"]):
        return Undefined("no two conditions share an item")
    if total <= 0:
        return Undefined("no two calls disagree")
    repeated = [c for c in np.unique(conditions) if whole.same_n[at(conditions, c)].sum() > 0]
    return Components(
        total=float(total),
        parts={
            name: Undefined(_WHY[name]) if np.isnan(value) else float(value)
            for name, value in parts.items()
        },
        shares=_intervals(sums, conditions, parts, total, level),
        unrepeated=tuple(int(c) for c in np.unique(conditions) if c not in repeated),
        n_items=int(asked.sum()),
        n_clusters=int(index.max()) + 1,
    )


def at(conditions: IntArray1D, condition: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Index the diagonal entries of a condition's columns."""
    columns = np.flatnonzero(conditions == condition)
    return columns, columns


def _intervals(
    sums: _Sums, conditions: IntArray1D, parts: dict[str, float], total: float, level: float
) -> dict[str, Interval | Undefined]:
    n_groups = sums.n.shape[0]
    if n_groups < 10:
        few = Undefined("fewer than ten clusters")
        return dict.fromkeys(parts, few)
    left = [_solve(sums.without(k), conditions) for k in range(n_groups)]
    quantile = t_quantile(0.5 + level / 2, n_groups - 1)
    out: dict[str, Interval | Undefined] = {}
    for name, part in parts.items():
        values = np.array([p[name] / t if t > 0 else np.nan for p, t in left])
        if np.isnan(part) or np.isnan(values).any():
            out[name] = Undefined(_WHY.get(name, "not defined without some clusters"))
            continue
        spread = float(np.sum((values - values.mean()) ** 2)) * (n_groups - 1) / n_groups
        half = quantile * spread**0.5
        if half < _NOTHING:  # what was never seen may still happen: an interval is no point
            out[name] = Undefined("the same whichever clusters are left out")
            continue
        share = part / total
        out[name] = Interval(share - half, share + half, level, "jackknife over clusters")
    return out
