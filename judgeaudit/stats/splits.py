"""Splits of items that keep clusters whole: halves, folds, groups of a jackknife."""

from __future__ import annotations

import numpy as np

from judgeaudit.stats._types import BoolArray1D, IntArray1D

__all__ = ["folds", "renumbered"]


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
