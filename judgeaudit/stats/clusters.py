"""Sums over clusters, the unit of every standard error."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgeaudit.stats._types import FloatArray1D, IntArray1D

__all__ = ["ClusterSums", "cluster_sums", "kish_clusters", "n_distinct", "unevenness"]


@dataclass(frozen=True, slots=True)
class ClusterSums:
    """Sums of an item statistic per cluster; clusters without a defined item are left out.

    Parameters
    ----------
    totals : array of float, shape (n_clusters,)
        T_g, sum of the item values.
    sizes : array of float, shape (n_clusters,)
        m_g, number of items (or of trials).
    contributing : int
        Clusters with at least one value other than 0.
    """

    totals: FloatArray1D
    sizes: FloatArray1D
    contributing: int

    @property
    def n_clusters(self) -> int:
        """G, the number of clusters that have a defined item."""
        return int(self.sizes.size)

    @property
    def n(self) -> float:
        """N, the number of items (or of trials)."""
        return float(self.sizes.sum())

    @property
    def total(self) -> float:
        """Sum of all item values."""
        return float(self.totals.sum())


def cluster_sums(
    values: FloatArray1D, clusters: IntArray1D, sizes: FloatArray1D | None = None
) -> ClusterSums:
    """Sum item values over clusters.

    Parameters
    ----------
    values : array of float, shape (n_items,)
        Item values, all defined.
    clusters : array of int, shape (n_items,)
        Cluster index of each item, 0 or larger; any labels do.
    sizes : array of float, shape (n_items,), optional
        Trials of each item; one each where it is left out.

    Returns
    -------
    ClusterSums
    """
    index = np.asarray(clusters)
    if not _is_dense(index):
        index = np.unique(index, return_inverse=True)[1].reshape(-1)
    totals = np.bincount(index, weights=values)
    counts = np.bincount(index) if sizes is None else np.bincount(index, weights=sizes)
    moved = np.bincount(index, weights=values != 0)
    there = counts > 0
    return ClusterSums(
        totals=np.asarray(totals[there], dtype=np.float64),
        sizes=counts[there].astype(np.float64),
        contributing=int(np.count_nonzero(moved)),
    )


def _is_dense(index: IntArray1D) -> bool:
    """Say whether labels are few and small enough for bincount, which is linear in the largest."""
    return not index.size or bool(index.min() >= 0 and index.max() <= 8 * index.size + 1024)


def n_distinct(index: IntArray1D) -> int:
    """Count the labels that occur; `np.unique` takes a hundred times as long for a million rows.

    Parameters
    ----------
    index : array of int, shape (n,)
        Cluster or item of each row.

    Examples
    --------
    >>> n_distinct(np.array([3, 0, 3]))
    2
    """
    labels = np.asarray(index)
    if not _is_dense(labels):
        return int(np.unique(labels).size)
    return int(np.count_nonzero(np.bincount(labels)))


def kish_clusters(sizes: FloatArray1D | IntArray1D) -> float:
    """Count clusters as Kish does, (sum m_g)^2 / sum m_g^2: uneven ones count less.

    Parameters
    ----------
    sizes : array of float or int, shape (n_clusters,)
        m_g, items (or trials) of each cluster.

    Returns
    -------
    float
        Between 1 and the number of clusters, which even sizes reach.

    References
    ----------
    Kish 1965, Survey Sampling.
    """
    total = float(np.sum(sizes))
    return total * total / float(np.sum(np.square(sizes, dtype=np.float64)))


def unevenness(sizes: FloatArray1D) -> float:
    """Sum of squared distances of the cluster sizes from their mean; 0 for even ones.

    Parameters
    ----------
    sizes : array of float, shape (n_clusters,)
        m_g, items (or trials) of each cluster.

    Returns
    -------
    float
        What events that go together in whole clusters add to the variance of a total, beyond
        what they add where clusters are even, in units of one event's variance.
    """
    return float(np.sum((sizes - sizes.mean()) ** 2)) if sizes.size else 0.0
