"""Several judges on common items: panels, overlap of errors and flips, what a panel gains.

A judge enters by its chance of UNSAFE on each item (a verdict of 0 or 1, or a share of repeats),
so that all figures are those of one call a judge, drawn at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.adjusted_t import adjusted_t_difference
from judgeaudit.stats.clusters import cluster_sums, n_distinct
from judgeaudit.stats.intervals import clustered_wilson
from judgeaudit.stats.two_raters import Figure

__all__ = [
    "MOST_JUDGES",
    "Gain",
    "Overlap",
    "Panel",
    "gain_over_best",
    "overlap",
    "panel",
    "right_of",
    "vote_weights",
]

Float2D = NDArray[np.float64]
Bool2D = NDArray[np.bool_]

MOST_JUDGES: Final = 10
"""Judges of a panel at most: all patterns of their verdicts are enumerated."""

_SAME: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Panel:
    """What a panel says, item by item.

    Parameters
    ----------
    unsafe : array of float, shape (n_items,)
        Chance that it says UNSAFE; a tie counts half.
    tied : array of float, shape (n_items,)
        Chance of a tie.
    there : array of bool, shape (n_items,)
        Items on which at least one judge has a verdict.
    """

    unsafe: FloatArray1D
    tied: FloatArray1D
    there: BoolArray1D


def panel(chances: Float2D, there: Bool2D, weights: FloatArray1D | None = None) -> Panel:
    """Let judges vote: each with one call drawn at random, independently given the item.

    Parameters
    ----------
    chances : array of float, shape (n_items, n_judges)
        Chance that each judge says UNSAFE.
    there : array of bool, shape (n_items, n_judges)
        Where a judge has a verdict; the others of the panel decide without it.
    weights : array of float, shape (n_judges,), optional
        Weight of each vote; equal ones, a majority, where left out.

    Returns
    -------
    Panel

    Raises
    ------
    ValueError
        For more than `MOST_JUDGES` judges.

    Examples
    --------
    >>> votes, there = np.array([[1.0, 1.0, 0.0]]), np.ones((1, 3), bool)
    >>> panel(votes, there).unsafe.tolist(), panel(votes[:, 1:], there[:, 1:]).tied.tolist()
    ([1.0], [1.0])
    """
    n, judges = chances.shape
    if judges > MOST_JUDGES:
        raise ValueError(f"a panel has at most {MOST_JUDGES} judges")
    w = np.ones(judges) if weights is None else weights
    unsafe, tied = np.zeros(n), np.zeros(n)
    for pattern in range(1 << judges):
        says = (pattern >> np.arange(judges)) & 1 == 1
        # a judge without a verdict says nothing: it is counted in one of its two patterns
        each = np.where(there, np.where(says, chances, 1 - chances), ~says)
        chance = each.prod(axis=1)
        sway = np.where(there, np.where(says, w, -w), 0.0).sum(axis=1)
        unsafe += chance * ((sway > _SAME) + 0.5 * (np.abs(sway) <= _SAME))
        tied += chance * (np.abs(sway) <= _SAME)
    some = np.asarray(there.any(axis=1), dtype=np.bool_)
    return Panel(np.where(some, unsafe, 0.0), np.where(some, tied, 0.0), some)


def right_of(unsafe: FloatArray1D, gold: NDArray[np.int8]) -> FloatArray1D:
    """Chance of being right on each item; meaningless where there is no label."""
    return np.where(gold == 1, unsafe, 1 - unsafe)


def vote_weights(chances: Float2D, there: Bool2D, gold: NDArray[np.int8]) -> FloatArray1D:
    """Weight of each judge's vote, ln(a / (1 - a)) of its accuracy a on labelled items.

    The best weights for judges that err independently and as often on SAFE as on UNSAFE items. A
    judge that is worse than chance gets a negative weight; half a call right and half a call
    wrong are added, so that no weight is infinite.

    Parameters
    ----------
    chances, there : array, shape (n_items, n_judges)
        As of `panel`.
    gold : array of int8, shape (n_items,)
        1 UNSAFE, 0 SAFE, -1 no label.

    Returns
    -------
    array of float, shape (n_judges,)

    References
    ----------
    Nitzan and Paroush 1982, International Economic Review 23.
    """
    used = there & (gold >= 0)[:, None]
    right = np.where(used, right_of_all(chances, gold), 0.0).sum(axis=0) + 0.5
    total = used.sum(axis=0) + 1.0
    return np.asarray(np.log(right / (total - right)))


def right_of_all(chances: Float2D, gold: NDArray[np.int8]) -> Float2D:
    """Chance that each judge is right on each item, shape (n_items, n_judges)."""
    return np.where((gold == 1)[:, None], chances, 1 - chances)


@dataclass(frozen=True, slots=True)
class Overlap:
    """How far two judges do the same thing (err, flip) on the same items.

    Parameters
    ----------
    jaccard : Figure
        Items on which both do it over items on which at least one does, 0 to 1.
    expected : float or None
        The same if one did it independently of the other, at their rates.
    both, first, second : float
        Items on which both do it, and each does; chances added up.
    n_items, n_clusters : int
        Items that both judges have.
    """

    jaccard: Figure
    expected: float | None
    both: float
    first: float
    second: float
    n_items: int
    n_clusters: int


def overlap(
    first: FloatArray1D,
    second: FloatArray1D,
    clusters: IntArray1D,
    *,
    present: BoolArray1D,
    what: str = "errs",
    level: float = 0.95,
) -> Overlap:
    """Jaccard overlap of two judges' errors or flips.

    Parameters
    ----------
    first, second : array of float, shape (n_items,)
        Chance that each judge errs (flips) on an item.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    present : array of bool, shape (n_items,)
        Items that both have.
    what : str
        Verb of the reason, should neither ever do it.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Overlap
        Undefined where neither errs (flips); Wilson's interval over clusters.

    Examples
    --------
    >>> e = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    >>> overlap(e[:, 0], e[:, 1], np.arange(4), present=np.ones(4, bool)).jaccard.value
    0.3333333333333333
    """
    a, b, where = first[present], second[present], clusters[present]
    both = a * b
    either = a + b - both
    sums = cluster_sums(both, where, either)
    n = int(a.size)
    groups = n_distinct(where)
    if sums.n <= 0:
        why = Undefined("no common item" if not n else f"neither judge {what} on a common item")
        return Overlap(Figure(why, why), None, 0.0, 0.0, 0.0, n, groups)
    rates = float(a.mean()), float(b.mean())
    chance = rates[0] * rates[1]
    return Overlap(
        Figure(sums.total / sums.n, clustered_wilson(sums, level=level)),
        expected=chance / (rates[0] + rates[1] - chance),
        both=sums.total,
        first=float(a.sum()),
        second=float(b.sum()),
        n_items=n,
        n_clusters=groups,
    )


@dataclass(frozen=True, slots=True)
class Gain:
    """What a panel gains in accuracy over the best single judge, both chosen elsewhere.

    Parameters
    ----------
    value : float or Undefined
        Difference of accuracies, -1 to 1; positive where the panel is better.
    interval : Interval or Undefined
        Paired, over clusters.
    best : tuple of int
        The best single judge by each half of the clusters.
    panel_accuracy, best_accuracy : float or None
        On the same items.
    n_items, n_clusters : int
        Labelled items that all judges have, and their clusters.
    """

    value: float | Undefined
    interval: Interval | Undefined
    best: tuple[int, ...] = ()
    panel_accuracy: float | None = None
    best_accuracy: float | None = None
    n_items: int = 0
    n_clusters: int = 0


def gain_over_best(
    chances: Float2D,
    there: Bool2D,
    gold: NDArray[np.int8],
    clusters: IntArray1D,
    *,
    weighted: bool = False,
    seed: int = 0,
    level: float = 0.95,
) -> Gain:
    """Compare a panel with the best single judge, on clusters that had no part in the choice.

    Clusters are split in halves; the best judge (and the weights) of one half are tested on the
    other, and the other way round, so that every item is tested once.

    Parameters
    ----------
    chances, there : array, shape (n_items, n_judges)
        As of `panel`.
    gold : array of int8, shape (n_items,)
        1 UNSAFE, 0 SAFE, -1 no label.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    weighted : bool
        Weighted votes instead of a majority.
    seed : int
        Seed of the split.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Gain
        Undefined for fewer than four clusters of labelled items that all judges have.

    References
    ----------
    Decision note 0533.
    """
    used = there.all(axis=1) & (gold >= 0)
    chances, there, gold, clusters = chances[used], there[used], gold[used], clusters[used]
    names = np.unique(clusters)
    if names.size < 4:
        why = Undefined("fewer than four clusters of labelled items that all judges have")
        return Gain(why, why, n_items=gold.size, n_clusters=names.size)
    mine = np.isin(clusters, np.random.default_rng(seed).permutation(names)[: names.size // 2])
    alone = right_of_all(chances, gold)
    of_panel, of_best, best = np.zeros(gold.size), np.zeros(gold.size), []
    for train in (mine, ~mine):
        test = ~train
        weights = vote_weights(chances[train], there[train], gold[train]) if weighted else None
        of_panel[test] = right_of(panel(chances[test], there[test], weights).unsafe, gold[test])
        best.append(int(np.argmax(alone[train].mean(axis=0))))
        of_best[test] = alone[test, best[-1]]
    sums = cluster_sums(of_panel - of_best, clusters)
    return Gain(
        sums.total / sums.n,
        adjusted_t_difference(sums, level=level),
        best=tuple(best),
        panel_accuracy=float(of_panel.mean()),
        best_accuracy=float(of_best.mean()),
        n_items=gold.size,
        n_clusters=sums.n_clusters,
    )
