"""Temperature scaling: one number that makes probabilities bolder or more timid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.clusters import kish_clusters
from judgeaudit.stats.intervals import t_quantile

__all__ = [
    "CLIP",
    "HOTTEST",
    "TEMPERATURE_T",
    "Fitted",
    "cross_fitted",
    "fit_temperature",
    "log_losses",
    "logits_of",
    "sigmoid",
]

CLIP: Final = 1e-6
"""Probabilities are moved this far from 0 and 1 before their logit is taken."""
HOTTEST: Final = 20.0
"""Temperatures are sought between 1/20 and 20."""
TEMPERATURE_T: Final = "t on the log scale, variance over clusters"

_ONE_CLASS = "only one class occurs among the items with a probability"


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fitted temperature; above 1 the probabilities were too bold."""

    value: float | Undefined
    interval: Interval | Undefined


def sigmoid(z: FloatArray1D) -> FloatArray1D:
    """Turn logits into probabilities, without overflow."""
    from scipy.special import expit

    out: FloatArray1D = expit(z)
    return out


def logits_of(p: FloatArray1D) -> tuple[FloatArray1D, int]:
    """Turn probabilities into logits.

    Parameters
    ----------
    p : array of float, shape (n_items,)
        Clipped to [1e-6, 1 - 1e-6].

    Returns
    -------
    logits : array of float, shape (n_items,)
    clipped : int
        How many were moved; a warning is due, for their logits are made up.
    """
    inside = np.clip(p, CLIP, 1 - CLIP)
    return np.log(inside) - np.log1p(-inside), int(np.count_nonzero(inside != p))


def log_losses(logits: FloatArray1D, y: BoolArray1D) -> FloatArray1D:
    """Negative log-likelihood of each item, nats, shape (n_items,)."""
    out: FloatArray1D = np.logaddexp(0, np.where(y, -logits, logits))
    return out


def fit_temperature(
    logits: FloatArray1D,
    y: BoolArray1D,
    clusters: IntArray1D,
    *,
    level: float = 0.95,
    near: float = 1.0,
) -> Fitted:
    """Fit the temperature T that makes sigmoid(logit / T) most likely.

    Parameters
    ----------
    logits : array of float, shape (n_items,)
        Of the probability of UNSAFE.
    y : array of bool, shape (n_items,)
        Whether the item is UNSAFE.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Confidence level.
    near : float
        Temperature to begin the search at; the result does not hang on it.

    Returns
    -------
    Fitted
        Undefined where one class occurs, all logits are 0, or no temperature between 1/20 and 20
        is best: the logits separate the classes, or are worse than none.

    References
    ----------
    Guo et al. 2017, ICML.
    """
    if y.all() or not y.any():
        return Fitted(Undefined(_ONE_CLASS), Undefined(_ONE_CLASS))
    if not logits.any():
        why = Undefined("every probability is 0.5")
        return Fitted(why, why)

    told = float(logits[y].sum())

    def slopes(b: float) -> tuple[float, float]:
        q = sigmoid(b * logits)
        return float(logits @ q) - told, float(np.dot(q * (1 - q), squares))

    squares = logits * logits
    low, high = 1 / HOTTEST, HOTTEST
    if slopes(low)[0] >= 0:
        return _beyond("no temperature up to 20 is best: the probabilities are no guide")
    if slopes(high)[0] <= 0:
        return _beyond("no temperature from 1/20 is best: the probabilities separate the classes")
    # the loss is convex in 1/T, so Newton's step is right where it stays inside the bracket
    b = min(high, max(low, 1 / near))
    for _ in range(100):
        slope, curve = slopes(b)
        low, high = (b, high) if slope < 0 else (low, b)
        new = b - slope / curve if curve > 0 else -1.0
        new = new if low < new < high else (low + high) / 2
        done = abs(new - b) <= 1e-10 * b
        b = new
        if done:
            break
    return Fitted(1 / b, _interval(logits, y, clusters, b, level))


def _beyond(why: str) -> Fitted:
    return Fitted(Undefined(why), Undefined(why))


def _interval(
    logits: FloatArray1D, y: BoolArray1D, clusters: IntArray1D, b: float, level: float
) -> Interval | Undefined:
    sizes = np.bincount(clusters)
    sizes = sizes[sizes > 0]
    groups = sizes.size
    if groups < 2:
        return Undefined("fewer than two clusters")
    q = sigmoid(b * logits)
    sums = np.bincount(clusters, weights=(q - y) * logits)
    curve = float((q * (1 - q)) @ (logits * logits))
    error = (groups / (groups - 1) * float(sums @ sums)) ** 0.5 / curve / b
    half = t_quantile(0.5 + level / 2, max(1.0, kish_clusters(sizes) - 1)) * error
    low, high = (float(np.exp(np.clip(s * half - np.log(b), -700, 700))) for s in (-1, 1))
    return Interval(low, high, level, TEMPERATURE_T)


def cross_fitted(
    logits: FloatArray1D, y: BoolArray1D, fold: IntArray1D, *, near: float = 1.0
) -> tuple[FloatArray1D, FloatArray1D] | Undefined:
    """Scale the logits of each fold by the temperature that was fitted on the others.

    Parameters
    ----------
    logits, y
        As in `fit_temperature`.
    fold : array of int, shape (n_items,)
        Folds that keep clusters whole.
    near : float
        Temperature to begin each search at; the result does not hang on it.

    Returns
    -------
    scaled : array of float, shape (n_items,)
        Logits after scaling; no item had a part in its own temperature.
    temperatures : array of float, shape (n_folds,)

    Or Undefined where one of them is.
    """
    scaled = np.empty(logits.shape)
    numbers = np.flatnonzero(np.bincount(fold))
    if numbers.size < 2:
        return Undefined("fewer than two clusters")
    found: list[float] = []
    for number in numbers:
        here = fold == number
        alone = np.zeros(int(np.count_nonzero(~here)), np.int64)
        fitted = fit_temperature(logits[~here], y[~here], alone, near=near)
        if isinstance(fitted.value, Undefined):
            return fitted.value
        scaled[here] = logits[here] / fitted.value
        found.append(fitted.value)
    return scaled, np.array(found)
