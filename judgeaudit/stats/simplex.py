"""Weights of a score as what they are, a choice: who wins over all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["RankingStability", "ranking_stability", "win_share"]

FloatArray2D = NDArray[np.float64]
FloatArray3D = NDArray[np.float64]

_NUDGE = 1e-6


def win_share(a: Sequence[float], b: Sequence[float]) -> float:
    """Share of weights, uniform over the simplex, under which A has the smaller penalty.

    Parameters
    ----------
    a, b : sequence of float
        Penalties of judges A and B (excess flips, 1 - direction ratio, undue share).

    Returns
    -------
    float
        0 to 1; 1 where A dominates. One half where both are equal.

    References
    ----------
    estimators.md, section 7.

    Examples
    --------
    >>> win_share([0.0, 0.0, 0.1], [0.1, 0.1, 0.2])
    1.0
    """
    d = np.asarray(b, dtype=np.float64) - np.asarray(a, dtype=np.float64)
    if not d.any():
        return 0.5
    if (d >= 0).all():
        return 1.0
    if (d <= 0).all():
        return 0.0
    # the closed form divides by differences, so equal ones are moved apart by a little
    scale = float(np.abs(d).max())
    d = d / scale
    order = np.argsort(d, kind="stable")
    for low, high in pairwise(order):
        if d[high] - d[low] < _NUDGE:
            d[high] = d[low] + _NUDGE
    share = 0.0
    for k in np.flatnonzero(d > 0):
        others = np.delete(d, k)
        share += d[k] ** (d.size - 1) / float(np.prod(d[k] - others))
    return min(1.0, max(0.0, float(share)))


@dataclass(frozen=True, slots=True)
class RankingStability:
    """How far a ranking depends on the weights.

    Parameters
    ----------
    order : tuple of int
        Judges from best to worst under the default weights.
    kept : float
        Share of weights that keep this order, 0 to 1.
    tau : float
        Mean of Kendall's tau between the order and that of each weight.
    wins : array of float, shape (n_judges, n_judges)
        Share of weights under which the row beats the column.
    draws : int
        Weights drawn.
    """

    order: tuple[int, ...]
    kept: float
    tau: float
    wins: FloatArray2D
    draws: int


def ranking_stability(
    penalties: FloatArray2D,
    weights: Sequence[float],
    rng: np.random.Generator,
    *,
    draws: int = 100_000,
    resampled: FloatArray3D | None = None,
) -> RankingStability:
    """Rank judges under weights drawn uniformly from the simplex.

    Parameters
    ----------
    penalties : array of float, shape (n_judges, n_parts)
        Penalties of each judge.
    weights : sequence of float
        Default weights, which give the order.
    rng : numpy.random.Generator
        Seeded by the caller.
    draws : int
        Weights drawn; at least 100,000 for publication.
    resampled : array of float, shape (n_resamples, n_judges, n_parts), optional
        Bootstrap draws of the penalties; each weight draw takes one, in turn, so that sampling
        error enters as well.

    Returns
    -------
    RankingStability

    References
    ----------
    estimators.md, section 7; Kendall 1938, Biometrika 30.
    """
    n = penalties.shape[0]
    default = penalties @ np.asarray(weights, dtype=np.float64)
    order = np.argsort(default, kind="stable")
    drawn = rng.dirichlet(np.ones(penalties.shape[1]), size=draws)
    if resampled is None:
        scores = drawn @ penalties.T
    else:
        chosen = resampled[np.arange(draws) % resampled.shape[0]]
        scores = np.einsum("dp,djp->dj", drawn, chosen)
    wins = np.zeros((n, n))
    agreed = np.zeros(draws)
    kept = np.ones(draws, dtype=np.bool_)
    for i in range(n):
        for j in range(i + 1, n):
            better, worse = order[i], order[j]
            gap = scores[:, worse] - scores[:, better]
            wins[better, worse] = float(np.mean(gap > 0))
            wins[worse, better] = float(np.mean(gap < 0))
            agreed += np.sign(gap)
            kept &= gap >= 0
    couples = n * (n - 1) / 2
    tau = float(np.mean(agreed)) / couples if couples else 1.0
    return RankingStability(tuple(order.tolist()), float(np.mean(kept)), tau, wins, draws)
