"""Splits of items that keep clusters whole: halves, folds, groups of a jackknife."""

from __future__ import annotations

import numpy as np

from judgeaudit.stats._types import BoolArray1D, IntArray1D

__all__ = ["folds", "part", "renumbered"]


def renumbered(clusters: IntArray1D) -> IntArray1D:
    """Renumber clusters 0..G-1 by first appearance, so that their names change no split.

    Parameters
    ----------
    clusters : array of int, shape (n_items,)
        Any labels.

    Returns
    -------
    array of int, shape (n_items,)

    Examples
    --------
    >>> renumbered(np.array([7, 2, 7, 5])).tolist()
    [0, 1, 0, 2]
    """
    _, first, index = np.unique(clusters, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[index.reshape(-1)]


def folds(
    clusters: IntArray1D,
    k: int,
    rng: np.random.Generator,
    positive: BoolArray1D | None = None,
) -> IntArray1D:
    """Deal clusters at random to k folds, those that hold positives apart from those without.

    Parameters
    ----------
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    k : int
        Number of folds; where there are fewer clusters, as many folds as clusters are used.
    rng : numpy.random.Generator
        Seeded by the caller.
    positive : array of bool, shape (n_items,), optional
        Items of the class that each fold should have its share of.

    Returns
    -------
    array of int, shape (n_items,)
        Fold of each item; the same for all items of a cluster.
    """
    index = renumbered(clusters)
    groups = int(index.max(initial=-1)) + 1
    kind = np.zeros(groups, dtype=np.int64)
    if positive is not None:
        has = np.bincount(index, weights=positive, minlength=groups) > 0
        lacks = np.bincount(index, weights=~positive, minlength=groups) > 0
        kind = 2 * has + lacks
    order = np.lexsort((rng.permutation(groups), kind))
    fold = np.empty(groups, dtype=np.int64)
    fold[order] = np.arange(groups) % max(1, k)
    return fold[index]


def part(
    clusters: IntArray1D,
    share: float,
    rng: np.random.Generator,
    positive: BoolArray1D | None = None,
) -> BoolArray1D:
    """Draw a share of the clusters at random, the same share of those that hold positives.

    Parameters
    ----------
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    share : float
        Share of clusters that is drawn, above 0 and below 1; at least one is drawn and one left.
    rng : numpy.random.Generator
        Seeded by the caller.
    positive : array of bool, shape (n_items,), optional
        Items of the class that both parts should have their share of.

    Returns
    -------
    array of bool, shape (n_items,)
        Whether an item's cluster was drawn.
    """
    index = renumbered(clusters)
    groups = int(index.max(initial=-1)) + 1
    kind = np.zeros(groups, dtype=np.int64)
    if positive is not None:
        has = np.bincount(index, weights=positive, minlength=groups) > 0
        lacks = np.bincount(index, weights=~positive, minlength=groups) > 0
        kind = 2 * has + lacks
    # positions along the sorted kinds: every stretch of them gives its share
    order = np.lexsort((rng.permutation(groups), kind))
    steps = np.floor(np.arange(1, groups + 1) * share) - np.floor(np.arange(groups) * share)
    drawn = np.zeros(groups, dtype=bool)
    drawn[order] = steps > 0
    if groups > 1 and not drawn.any():
        drawn[order[0]] = True
    if groups > 1 and drawn.all():
        drawn[order[-1]] = False
    return drawn[index]
