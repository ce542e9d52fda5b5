"""What goes along with an event: a ridge logistic regression, and a test that counts clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D
from judgeaudit.stats.splits import folds

__all__ = ["held_out", "ridge_logistic", "sign_flip_p"]

FloatArray2D = NDArray[np.float64]

_STEPS = 50
_DRAWS = 4999


def ridge_logistic(x: FloatArray2D, y: BoolArray1D, penalty: float = 1.0) -> FloatArray1D:
    """Fit a logistic regression whose slopes are shrunk; the intercept is free.

    Parameters
    ----------
    x : array of float, shape (n_items, n_features)
        Best of unit variance: the penalty is the same for each.
    y : array of bool, shape (n_items,)
        The event.
    penalty : float
        On half the sum of squared slopes, above 0; it keeps them finite where a feature separates.

    Returns
    -------
    array of float, shape (1 + n_features,)
        Intercept and slopes, on the scale of log odds.
    """
    n, k = x.shape
    wide = np.column_stack([np.ones(n), x])
    ridge = np.diag([1e-6, *np.full(k, penalty)])
    beta = np.zeros(k + 1)
    for _ in range(_STEPS):
        p = 1 / (1 + np.exp(-np.clip(wide @ beta, -30, 30)))
        slope = wide.T @ (y - p) - ridge @ beta
        curve = (wide * (p * (1 - p))[:, None]).T @ wide + ridge
        step = np.linalg.solve(curve, slope)
        size = float(np.abs(step).max())
        beta += step * min(1.0, 2.0 / max(size, 1e-12))  # no leap: the curve may be flat out there
        if size < 1e-8:
            break
    return np.asarray(beta, dtype=np.float64)


def held_out(
    x: FloatArray2D,
    y: BoolArray1D,
    clusters: IntArray1D,
    *,
    k: int = 5,
    penalty: float = 1.0,
    seed: int = 0,
) -> FloatArray1D:
    """Predict the log odds of each item from items of other clusters alone.

    Scales are learnt on those, too. Intercepts are left out, so that items of a fold whose training
    items held fewer events do not rank below others for that alone.

    Parameters
    ----------
    x, y, penalty
        As of `ridge_logistic`.
    clusters : array of int, shape (n_items,)
        Cluster of each item; none is in two folds.
    k : int
        Folds.
    seed : int
        Of the deal.

    Returns
    -------
    array of float, shape (n_items,)
    """
    fold = folds(clusters, k, np.random.default_rng(seed), y)
    out = np.zeros(y.size)
    for number in np.unique(fold):
        test = fold == number
        train = ~test
        centre = x[train].mean(axis=0) if train.any() else np.zeros(x.shape[1])
        scale = x[train].std(axis=0) if train.any() else np.ones(x.shape[1])
        scale = np.where(scale > 0, scale, 1.0)
        if not y[train].any() or y[train].all():
            continue  # nothing to learn: all alike
        beta = ridge_logistic((x[train] - centre) / scale, y[train], penalty)
        out[test] = ((x[test] - centre) / scale) @ beta[1:]
    return out


def sign_flip_p(
    x: FloatArray1D, y: BoolArray1D, clusters: IntArray1D, *, seed: int = 0, draws: int = _DRAWS
) -> float:
    """Test whether a feature and an event go together, the cluster being what is independent.

    The covariance is a sum over clusters; under the null each term might as well have had the
    other sign.

    Parameters
    ----------
    x : array of float, shape (n_items,)
        The feature.
    y : array of bool, shape (n_items,)
        The event.
    clusters : array of int, shape (n_items,)
        Cluster of each item.
    seed, draws : int
        Of the random signs.

    Returns
    -------
    float
        Two-sided; at least 1 / (draws + 1).

    References
    ----------
    Cameron, Gelbach and Miller 2008, Rev. Econ. Stat. 90 (wild signs over clusters).
    """
    terms = (x - x.mean()) * (y - y.mean())
    index = np.unique(clusters, return_inverse=True)[1].reshape(-1)
    sums = np.bincount(index, weights=terms)
    seen = abs(float(sums.sum()))
    rng = np.random.default_rng(seed)
    signs = rng.integers(0, 2, size=(draws, sums.size), dtype=np.int8) * 2 - 1
    drawn = np.abs(signs @ sums)
    return float((1 + np.count_nonzero(drawn >= seen - 1e-12)) / (draws + 1))
