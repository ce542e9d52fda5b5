"""Excess flip rates when calls ended without a verdict: the readings of section 8.

Every function takes counts per item: UNSAFE verdicts, calls with a verdict and calls that failed,
under base (s, K, a) and under a condition (t, L, b). This is the only place of judgeaudit where an
outcome without a verdict becomes a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from judgeaudit.core.table import Counts
from judgeaudit.stats._types import FloatArray1D, IntArray1D
from judgeaudit.stats.pairs import ItemValues, average, jitter, only

__all__ = ["as_flip_asym", "as_flip_sym", "bounds_delta_paper", "category_debiased"]


def _over(top: IntArray1D, bottom: IntArray1D) -> FloatArray1D:
    return np.asarray(top / np.maximum(bottom, 1), dtype=np.float64)


def _calls(counts: Counts) -> IntArray1D:
    return counts.valid + counts.failed


def _flips_with_failures(base: Counts, other: Counts) -> FloatArray1D:
    s, K, t, L = base.unsafe, base.valid, other.unsafe, other.valid
    pairs = _calls(base) * _calls(other)
    return _over(s * (L - t) + t * (K - s) + pairs - K * L, pairs)


def as_flip_asym(base: Counts, other: Counts) -> ItemValues:
    """Excess flip rate where a cross pair with a failure counts as a flip.

    The jitter that is subtracted comes from base pairs with two verdicts. Needs two base verdicts
    and one call under the condition. Inflated: failures that have nothing to do with the wording
    count as flips.

    Parameters
    ----------
    base, other : Counts
        Under base and under the condition, arrays of shape (n_items,).

    Returns
    -------
    ItemValues
        Fraction of pairs.
    """
    noise = jitter(base)
    values = _flips_with_failures(base, other) - noise.values
    return only(values, noise.defined & (_calls(other) >= 1))


def as_flip_sym(base: Counts, other: Counts) -> ItemValues:
    """Excess flip rate where any pair with a failure disagrees, pairs of base calls included.

    Needs two base calls and one call under the condition, with a verdict or without.

    Parameters
    ----------
    base, other : Counts
        Under base and under the condition, arrays of shape (n_items,).

    Returns
    -------
    ItemValues
        Fraction of pairs.
    """
    s, K, calls = base.unsafe, base.valid, _calls(base)
    apart = 2 * s * (K - s) + calls * (calls - 1) - K * (K - 1)
    values = _flips_with_failures(base, other) - _over(apart, calls * (calls - 1))
    return only(values, (calls >= 2) & (_calls(other) >= 1))


def category_debiased(base: Counts, other: Counts) -> ItemValues:
    """Debiased distance between three-way distributions: SAFE, UNSAFE, no verdict.

    Needs two calls under base and two under the condition, with a verdict or without.

    Parameters
    ----------
    base, other : Counts
        Under base and under the condition, arrays of shape (n_items,).

    Returns
    -------
    ItemValues
        Expectation half the squared distance; 0 exactly where the distribution did not change.
    """
    pairs = _calls(base) * _calls(other)
    alike = sum(x * y for x, y in zip(_split(base), _split(other), strict=True))
    values = _over(pairs - alike, pairs) - 0.5 * (_apart(base) + _apart(other))
    return only(values, (_calls(base) >= 2) & (_calls(other) >= 2))


def _split(counts: Counts) -> tuple[IntArray1D, IntArray1D, IntArray1D]:
    return counts.unsafe, counts.valid - counts.unsafe, counts.failed


def _apart(counts: Counts) -> FloatArray1D:
    """Share of pairs of calls in different categories."""
    pairs = _calls(counts) * (_calls(counts) - 1)
    return _over(pairs - sum(x * (x - 1) for x in _split(counts)), pairs)


def bounds_delta_paper(base: Counts, conditions: Sequence[Counts]) -> tuple[ItemValues, ItemValues]:
    """Smallest and largest paper's excess flip rate over all completions of the failed calls.

    With several conditions the value of an item is the mean over those called for it; one
    completion of the base calls is then shared by all of them, which makes the bounds sharp.

    Parameters
    ----------
    base : Counts
        Under base, arrays of shape (n_items,).
    conditions : sequence of Counts
        One a condition, of the same shape.

    Returns
    -------
    tuple of ItemValues
        Lower and upper bound of each item; needs two base calls and one call under a condition.

    References
    ----------
    Horowitz and Manski 2000, JASA 95.
    """
    n = base.unsafe.size
    calls = _calls(base)
    low, high = np.full(n, np.inf), np.full(n, -np.inf)
    defined = np.zeros(n, dtype=np.bool_)
    for extra in range(int(base.failed.max(initial=0)) + 1):
        # beyond an item's own failures its last completion repeats, which changes no extreme
        s = base.unsafe + np.minimum(extra, base.failed)
        noise = jitter(replace(base, unsafe=s, valid=calls)).values
        lows, highs = [], []
        for other in conditions:
            L = _calls(other)
            there = (calls >= 2) & (L >= 1)
            # for given base verdicts the rate is linear in t: its extremes are at the ends
            ends = [
                _over(s * (L - t) + t * (calls - s), calls * L) - noise
                for t in (other.unsafe, other.unsafe + other.failed)
            ]
            lows.append(only(np.minimum(*ends), there))
            highs.append(only(np.maximum(*ends), there))
        lower, upper = average(lows, n), average(highs, n)
        defined = lower.defined
        low, high = np.minimum(low, lower.values), np.maximum(high, upper.values)
    return only(low, defined), only(high, defined)
