"""How large an error of calibration is by chance alone, and what that leaves to be shown.

With few items in a bin its frequency misses its mean probability even if every probability is
right; the expected calibration error of a perfect judge is above 0. Two sources of chance are
simulated, and what is claimed must stand out from both: labels drawn from the probabilities, item
by item; and sums of clusters that vary as they were seen to.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Interval
from judgeaudit.stats.calibration import Bins
from judgeaudit.stats.clusters import kish_clusters
from judgeaudit.stats.intervals import clopper_pearson_upper

__all__ = ["CALIBRATED", "FLOOR_TEST", "NOISE_OF_BINS", "Floor", "floor_of"]

NOISE_OF_BINS: Final = "distance that the bins' noise can bridge, simulated"
FLOOR_TEST: Final = "Monte Carlo, labels drawn from the probabilities and noise of clusters"
CALIBRATED: Final = "every probability is the chance of its outcome"
DRAWS: Final = 999

_EXACT: Final = 1000
_RUNS: Final = 16


@dataclass(frozen=True, slots=True)
class Floor:
    """An error of calibration against what chance makes of a calibrated judge.

    Parameters
    ----------
    mean : float
        Mean error of a perfectly calibrated judge with these probabilities, items independent.
    mean_clusters : float
        Mean error that noise between clusters makes.
    p_value : float
        The larger of both p-values.
    interval : Interval
        Error less and plus the larger of both upper quantiles. By the triangle inequality it holds
        at least as often as stated; the upper end is the zero-event bound of the clusters or more,
        its lower end is above 0 exactly where the p-value is at most
        1 - level.
    """

    mean: float
    mean_clusters: float
    p_value: float
    interval: Interval


def floor_of(
    p: FloatArray1D,
    y: BoolArray1D,
    bins: Bins,
    clusters: IntArray1D,
    rng: np.random.Generator,
    *,
    equal_weights: bool = False,
    level: float = 0.95,
    draws: int = DRAWS,
) -> Floor:
    """Simulate the error of calibration under perfect calibration.

    Parameters
    ----------
    p : array of float, shape (n_items,)
        Probability of the event.
    y : array of bool, shape (n_items,)
        Whether it happened.
    bins : Bins
        Of the same items.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    rng : numpy.random.Generator
        Seeded by the caller.
    equal_weights : bool
        Each bin counts the same (ACE) instead of by its items (ECE).
    level : float
        Confidence level; with 999 draws any of two decimals is met exactly.
    draws : int
        Simulated data sets.

    Returns
    -------
    Floor

    References
    ----------
    Broecker and Smith 2007, Weather Forecast. 22 (consistency of reliability diagrams); decision
    note 0526.
    """
    size = bins.n.size
    weight = np.zeros(size)
    weight[bins.there] = 1 / p.size
    if equal_weights:
        weight[bins.there] = 1 / (bins.n[bins.there] * np.count_nonzero(bins.there))
    error = float(weight @ np.abs(bins.n * bins.gap))
    drawn = np.abs(_labels(p, bins, rng, draws)) @ weight
    noise = np.abs(_clusters(y - p, bins, clusters, rng, draws)) @ weight
    kept = max(1, int((1 - level) * (draws + 1) + 1e-9))
    slack = 1e-12
    reach = max(float(np.sort(x)[-kept]) for x in (drawn, noise))
    p_value = max(
        (1 + int(np.count_nonzero(x >= error - slack))) / (draws + 1) for x in (drawn, noise)
    )
    low = error - reach
    # an error of 0 among G clusters bounds it as no event among G does
    sizes = np.bincount(clusters)
    least = clopper_pearson_upper(0, kish_clusters(sizes[sizes > 0]), level=level)
    return Floor(
        mean=float(drawn.mean()),
        mean_clusters=float(noise.mean()),
        p_value=p_value,
        interval=Interval(
            low if low > slack else 0.0, min(1.0, max(least, error + reach)), level, NOISE_OF_BINS
        ),
    )


def _labels(
    p: FloatArray1D, bins: Bins, rng: np.random.Generator, draws: int
) -> NDArray[np.float64]:
    """Draw sums of outcome less probability by bin, labels drawn from the probabilities.

    Among more than a thousand items, neighbours in a bin share their mean probability, in 16 runs
    of equal width a bin: the variance of an item grows by at most a quarter of the square of a
    run's width, 1e-5 in ten bins, which errs on the safe side.
    """
    size = bins.n.size
    if p.size <= _EXACT:
        # labels are drawn by rank, so that the order of rows changes nothing
        order = np.argsort(p, kind="stable")
        q, index, count = p[order], bins.index[order], None
    else:
        width = np.diff(bins.edges)
        part = np.divide(_RUNS, width, out=np.zeros(size), where=width > 0)
        run = ((p - bins.edges[bins.index]) * part[bins.index]).astype(np.int64)
        key = bins.index * _RUNS + np.clip(run, 0, _RUNS - 1)
        total = np.bincount(key, minlength=size * _RUNS)
        there = total > 0
        mean = np.bincount(key, weights=p, minlength=size * _RUNS)[there] / total[there]
        q, count = np.clip(mean, 0, 1), total[there]
        index = np.repeat(np.arange(size), _RUNS)[there]
    member = np.zeros((q.size, size))
    member[np.arange(q.size), index] = 1
    if count is None:
        return (rng.random((draws, q.size)) < q).astype(np.float64) @ member - q @ member
    hits = rng.binomial(count, q, size=(draws, q.size)).astype(np.float64)
    return hits @ member - (count * q) @ member


def _clusters(
    gaps: FloatArray1D,
    bins: Bins,
    clusters: IntArray1D,
    rng: np.random.Generator,
    draws: int,
) -> NDArray[np.float64]:
    """Draw sums by bin that vary between clusters as outcome less probability does; t-distributed.

    Gaps are taken from 0, their mean under calibration, so a bin of one cluster has a variance.
    """
    size = bins.n.size
    sizes = np.bincount(clusters)
    df = max(1.0, kish_clusters(sizes[sizes > 0]) - 1)
    if np.count_nonzero(sizes) == gaps.size:
        squares = np.bincount(bins.index, weights=gaps * gaps, minlength=size)
        root = np.diag(np.sqrt(squares).astype(np.float64))
    else:
        sums: NDArray[np.float64] = (
            np.bincount(clusters * size + bins.index, weights=gaps, minlength=sizes.size * size)
            .astype(np.float64)
            .reshape(-1, size)
        )
        root = _root(sums.T @ sums)
    scale = (df / rng.chisquare(df, size=draws)) ** 0.5
    out: NDArray[np.float64] = rng.standard_normal((draws, size)) @ root.T * scale[:, None]
    return out


def _root(cov: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cholesky's root of a matrix that may be singular: an empty bin has neither row nor column."""
    size = len(cov)
    root = np.zeros((size, size))
    floor = 1e-14 * float(cov.diagonal().max(initial=0.0))
    for k in range(size):
        rest = float(cov[k, k] - root[k, :k] @ root[k, :k])
        if rest <= floor:
            continue
        root[k, k] = rest**0.5
        root[k + 1 :, k] = (cov[k + 1 :, k] - root[k + 1 :, :k] @ root[k, :k]) / root[k, k]
    return root
