"""Calibration in bins: ECE, its top-label variant, ACE, the Brier score and its five terms."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D

__all__ = [
    "Bins",
    "BrierTerms",
    "ace",
    "brier_terms",
    "ece",
    "edges_of",
    "equal_count",
    "equal_width",
    "top_label",
]


@dataclass(frozen=True, slots=True)
class Bins:
    """Items in bins of their probability, empty bins included; arrays of shape (n_bins,).

    Parameters
    ----------
    n : array of float
        Items.
    mean_p, frequency : array of float
        Mean probability, and share of items where the event happened; 0 in an empty bin.
    index : array of int, shape (n_items,)
        Bin of each item.
    edges : array of float, shape (n_bins + 1,)
        Limits of the bins; of equal-count bins the smallest probability of each, and the largest.
    """

    n: FloatArray1D
    mean_p: FloatArray1D
    frequency: FloatArray1D
    index: IntArray1D
    edges: FloatArray1D

    @property
    def there(self) -> BoolArray1D:
        """Bins that hold an item."""
        return self.n > 0

    @property
    def gap(self) -> FloatArray1D:
        """Frequency less mean probability: above 0 where the event is more common than told."""
        return self.frequency - self.mean_p


def edges_of(bins: int, low: float = 0.0) -> FloatArray1D:
    """Limits of bins of equal width, rounded to 12 decimals so that 0.3 is the limit 3 of 10.

    Parameters
    ----------
    bins : int
        Number of bins.
    low : float
        Where they begin; 0.5 for the probability of a top label.
    """
    return np.round(np.linspace(low, 1.0, bins + 1), 12)


def _binned(
    p: FloatArray1D, y: BoolArray1D, index: IntArray1D, edges: FloatArray1D, bins: int
) -> Bins:
    n = np.bincount(index, minlength=bins).astype(np.float64)
    mean, frequency = np.zeros(bins), np.zeros(bins)
    np.divide(np.bincount(index, weights=p, minlength=bins), n, out=mean, where=n > 0)
    np.divide(np.bincount(index, weights=y, minlength=bins), n, out=frequency, where=n > 0)
    return Bins(n, mean, frequency, index, edges)


def equal_width(
    p: FloatArray1D, y: BoolArray1D, bins: int | FloatArray1D = 10, *, low: float = 0.0
) -> Bins:
    """Bins [lo, hi) of equal width, the last closed.

    Parameters
    ----------
    p : array of float, shape (n_items,)
        Probability of the event.
    y : array of bool, shape (n_items,)
        Whether it happened.
    bins : int or array of float
        Number of bins, or their limits.
    low : float
        Where they begin.

    Returns
    -------
    Bins

    References
    ----------
    estimators.md, section 12.
    """
    edges = edges_of(bins, low) if isinstance(bins, int) else np.asarray(bins, dtype=np.float64)
    last = edges.size - 2
    index = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, last).astype(np.int64)
    return _binned(p, y, index, edges, last + 1)


def equal_count(p: FloatArray1D, y: BoolArray1D, bins: int = 10) -> Bins:
    """Bins of equal count: a stable sort cut into pieces, the first ones one longer.

    Parameters
    ----------
    p, y
        As in `equal_width`.
    bins : int
        Number of bins; some are empty where there are fewer items.

    Returns
    -------
    Bins
    """
    order = np.argsort(p, kind="stable")
    size, more = divmod(p.size, bins)
    counts = np.full(bins, size)
    counts[:more] += 1
    index = np.empty(p.size, dtype=np.int64)
    index[order] = np.repeat(np.arange(bins), counts)
    starts = np.concatenate(([0], np.cumsum(counts)))
    at = np.minimum(starts, max(0, p.size - 1))
    edges = p[order][at] if p.size else np.zeros(bins + 1)
    return _binned(p, y, index, edges, bins)


def ece(bins: Bins) -> float:
    """Compute the expected calibration error: gaps of the bins, weighted by their items.

    Examples
    --------
    >>> p, y = np.array([0.0, 0.25, 0.5, 0.75, 1.0]), np.array([0, 0, 1, 1, 0]) == 1
    >>> round(ece(equal_width(p, y, 4)), 12)
    0.3
    """
    return float(bins.n @ np.abs(bins.gap) / bins.n.sum())


def ace(bins: Bins) -> float:
    """Adaptive calibration error: the unweighted mean of the gaps of bins of equal count.

    References
    ----------
    Nixon et al. 2019, CVPR Workshops.
    """
    return float(np.abs(bins.gap[bins.there]).mean())


def top_label(p: FloatArray1D, y: BoolArray1D) -> tuple[FloatArray1D, BoolArray1D]:
    """Turn probabilities of UNSAFE into those of the likelier label, and whether it was right.

    Parameters
    ----------
    p, y
        As in `equal_width`; 0.5 counts as UNSAFE.

    Returns
    -------
    confidence : array of float, shape (n_items,)
        0.5 to 1, rounded to 12 decimals as the limits of bins are.
    right : array of bool, shape (n_items,)
    """
    sure = np.round(np.maximum(p, 1.0 - p), 12).astype(np.float64)
    right: BoolArray1D = (p >= 0.5) == y
    return sure, right


@dataclass(frozen=True, slots=True)
class BrierTerms:
    """The Brier score and what it is made of: REL - RES + UNC + WBV - WBC.

    Parameters
    ----------
    brier : float
        Mean squared distance between probability and outcome, 0 best, 1 worst.
    reliability, resolution, uncertainty : float
        Murphy's terms: squared gaps of the bins; how far frequencies of bins lie from the overall
        one; the variance of the outcome.
    within_variance, within_covariance : float
        What binning hides: variance of the probabilities inside bins, and twice their covariance
        with the outcome there.

    References
    ----------
    Murphy 1973, J. Appl. Met. 12; Stephenson, Coelho and Jolliffe 2008, Weather Forecast. 23.
    """

    brier: float
    reliability: float
    resolution: float
    uncertainty: float
    within_variance: float
    within_covariance: float


def brier_terms(p: FloatArray1D, y: BoolArray1D, bins: Bins) -> BrierTerms:
    """Compute the Brier score and all five terms.

    Parameters
    ----------
    p, y
        As in `equal_width`; one item or more.
    bins : Bins
        Of the same items.
    """
    n = float(p.size)
    rate = float(np.mean(y))
    away = p - bins.mean_p[bins.index]
    return BrierTerms(
        brier=float(np.mean((p - y) ** 2)),
        reliability=float(bins.n @ bins.gap**2 / n),
        resolution=float(bins.n @ np.where(bins.there, bins.frequency - rate, 0) ** 2 / n),
        uncertainty=rate * (1 - rate),
        within_variance=float(away @ away / n),
        within_covariance=float(2 * (away @ (y - bins.frequency[bins.index])) / n),
    )
