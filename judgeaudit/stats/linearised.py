"""Intervals for smooth functions of sums over clusters: coefficients of agreement and their like.

A coefficient is a smooth function f of totals over items. Its error is that of the linear part of
f: a cluster's influence is the derivative of f along the cluster's sums (the infinitesimal
jackknife). As for the adjusted t, two pseudo-items of the size of a cluster are added, spread
evenly over what an item can be, so that the interval does not collapse where all agree; and the
interval is made on Fisher's z scale, so that it stays inside -1 and 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.clusters import cluster_sums, kish_clusters
from judgeaudit.stats.intervals import t_quantile

__all__ = ["LINEARISED", "Pseudo", "gradient", "linearised"]

LINEARISED = "linearised over clusters, adjusted t on Fisher's z"

Smooth = Callable[[NDArray[np.complex128]], complex]
_STEP = 1e-100
_ONE_CLUSTER = "fewer than two clusters"


@dataclass(frozen=True, slots=True)
class Pseudo:
    """All that one item can be, for the pseudo-items.

    Parameters
    ----------
    rows : array of float, shape (n_kinds, n_totals)
        What an item of each kind adds to the totals. Two pseudo-items are spread evenly over the
        kinds.
    """

    rows: NDArray[np.float64]


def gradient(f: Smooth, at: FloatArray1D) -> FloatArray1D:
    """Differentiate a rational function by complex steps, exact to rounding.

    Parameters
    ----------
    f : callable
        Of a complex array of the shape of `at`; no comparison, no absolute value inside.
    at : array of float, shape (n_totals,)
        Where.

    Returns
    -------
    array of float, shape (n_totals,)

    References
    ----------
    Squire and Trapp 1998, SIAM Review 40.

    Examples
    --------
    >>> gradient(lambda t: t[0] * t[1], np.array([2.0, 3.0])).tolist()
    [3.0, 2.0]
    """
    out = np.empty(at.size)
    for k in range(at.size):
        moved = at.astype(np.complex128)
        moved[k] += 1j * _STEP
        out[k] = f(moved).imag / _STEP
    return out


def linearised(
    f: Smooth,
    totals: FloatArray1D,
    project: Callable[[FloatArray1D], FloatArray1D],
    clusters: IntArray1D,
    pseudo: Pseudo,
    *,
    level: float = 0.95,
) -> Interval | Undefined:
    """Interval of f(totals), a coefficient in [-1, 1], over clusters of items.

    Parameters
    ----------
    f : callable
        The coefficient as a function of the totals; rational.
    totals : array of float, shape (n_totals,)
        Sums over items.
    project : callable
        Takes weights of the totals, returns each item's share in the weighted sum, (n_items,).
    clusters : array of int, shape (n_items,)
        Cluster index of each item that counts.
    pseudo : Pseudo
        What an item can be.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Always holds f(totals). Undefined for fewer than two clusters.

    References
    ----------
    Agresti and Min 2005, Stat. Med. 24; Bell and McCaffrey 2002, Survey Methodology 28; Kish
    1965; decision note 0530.
    """
    sizes = cluster_sums(np.ones(clusters.size), clusters).sizes
    groups = sizes.size
    if groups < 2:
        return Undefined(_ONE_CLUSTER)
    n, number = float(sizes.sum()), kish_clusters(sizes)
    size = n / (groups * number) ** 0.5
    kinds = pseudo.rows.shape[0]
    padded = totals + 2 * size / kinds * pseudo.rows.sum(axis=0)
    centre = f(padded.astype(np.complex128)).real
    slope = gradient(f, padded)
    # an item of average influence moves nothing: f hardly changes when all totals grow alike
    level_off = float(slope @ padded) / (n + 2 * size)
    sums = cluster_sums(project(slope), clusters)
    gaps = (sums.totals - sizes * level_off) * (1 - 1 / groups) / (1 - sizes / n)
    made_up = size * (pseudo.rows @ slope - level_off)
    spread = float(np.sum(gaps * gaps)) + 2 / kinds * float(np.sum(made_up * made_up))
    half = t_quantile(0.5 + level / 2, max(1.0, number - 1)) * spread**0.5
    point = f(totals.astype(np.complex128)).real
    low, high = _on_z(centre, half)
    return Interval(min(low, point), max(high, point), level, LINEARISED)


def _on_z(centre: float, half: float) -> tuple[float, float]:
    if not -1 < centre < 1:
        return centre - half, centre + half
    z, wide = math.atanh(centre), half / (1 - centre * centre)
    return math.tanh(z - wide), math.tanh(z + wide)
