"""Tail probability of a sum of independent whole-numbered variables, of a few kinds each.

The sum's distribution is the convolution of many short ones. It is evaluated through its
characteristic function, after an exponential tilt that puts the observed sum in the middle: so the
tail has a small *relative* error, also at 1e-19, where plain convolution by FFT knows only that it
is below 1e-15. Cost hardly grows with the number of variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import FloatArray1D, IntArray1D

__all__ = ["Kind", "upper_tail"]

_NEGLIGIBLE = 41.5
"""-ln of 1e-18: mass that may be wrapped round, and factors that may be dropped."""


@dataclass(frozen=True, slots=True)
class Kind:
    """Independent variables that share one distribution.

    Parameters
    ----------
    values : array of int, shape (n_atoms,)
        Values, smallest 0.
    weights : array of float, shape (n_atoms,)
        Their probabilities, all above 0.
    count : int
        How many such variables there are.
    """

    values: IntArray1D
    weights: FloatArray1D
    count: int

    @property
    def range(self) -> int:
        """Largest value."""
        return int(self.values.max())


def upper_tail(kinds: Sequence[Kind], at: int) -> float:
    """P(sum >= at).

    Parameters
    ----------
    kinds : sequence of Kind
        The variables of the sum.
    at : int
        The value from which the tail is taken.

    Returns
    -------
    float
        Between 0 and 1; relative error about 1e-10 where the tail is the smaller one.

    References
    ----------
    Daniels 1954, Ann. Math. Stat. 25 (exponential tilting); Good 1957, Ann. Math. Stat. 28.
    """
    top = sum(kind.range * kind.count for kind in kinds)
    if at <= 0:
        return 1.0
    if at > top:
        return 0.0
    mean = sum(kind.count * float(kind.weights @ kind.values) for kind in kinds)
    if at > mean:
        return min(1.0, _tail_above_mean(kinds, at, top))
    mirrored = [Kind(kind.range - kind.values, kind.weights, kind.count) for kind in kinds]
    return max(0.0, 1.0 - _tail_above_mean(mirrored, top - at + 1, top))


def _tail_above_mean(kinds: Sequence[Kind], at: int, top: int) -> float:
    if at == top:
        largest = sum(
            kind.count * float(np.log(kind.weights[kind.values == kind.range].sum()))
            for kind in kinds
        )
        return float(np.exp(largest))
    tilt, log_factor, tilted, variances = _tilt(kinds, at)
    widest = max(kind.range for kind in kinds)
    # Bernstein's inequality: beyond this distance from its mean the tilted sum has no mass
    reach = (2 * _NEGLIGIBLE * float(variances.sum())) ** 0.5 + 2 / 3 * _NEGLIGIBLE * widest
    period, divisor = _period(kinds, min(top + 1, 2 * int(reach) + 3))
    last = top - at if period > top else period // 2
    order = np.argsort(-variances, kind="stable")
    frequency, transform = _transform([tilted[k] for k in order], period, divisor)
    phase = 2 * np.pi / period
    step = -tilt + 1j * phase * frequency
    whole = -tilt * (last + 1) + 1j * phase * ((frequency * (last + 1)) % period)
    # the sum over u = 0..last of exp(u * step): the part of the tail that each frequency carries
    below = np.expm1(step)
    geometric = np.divide(
        np.expm1(whole), below, out=np.full(step.shape, last + 1.0, np.complex128), where=below != 0
    )
    turn = np.exp(1j * phase * ((frequency * (at % period)) % period))
    parts = (transform * turn * geometric).real
    # frequencies f and period - f are conjugate: all but 0 and the middle one stand for two
    twice = (frequency != 0) & (2 * frequency != period)
    return float(np.exp(log_factor) * (parts.sum() + parts[twice].sum()) / period)


def _tilt(kinds: Sequence[Kind], at: int) -> tuple[float, float, list[Kind], FloatArray1D]:
    """Weight each value v by exp(tilt * v) so that the sum's mean becomes `at`.

    Any tilt gives the right answer; a good one gives it with small relative error.
    """
    sizes = np.array([kind.values.size for kind in kinds])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    counts = np.array([kind.count for kind in kinds], dtype=np.float64)
    values = np.concatenate([kind.values for kind in kinds]).astype(np.float64)
    logs = np.log(np.concatenate([kind.weights for kind in kinds]))

    def at_tilt(tilt: float) -> tuple[FloatArray1D, FloatArray1D, FloatArray1D, FloatArray1D]:
        powers = logs + tilt * values
        peaks = np.maximum.reduceat(powers, starts)
        weights = np.exp(powers - np.repeat(peaks, sizes))
        sums = np.add.reduceat(weights, starts)
        weights /= np.repeat(sums, sizes)
        means = np.add.reduceat(weights * values, starts)
        squares = np.add.reduceat(weights * (values - np.repeat(means, sizes)) ** 2, starts)
        return weights, peaks + np.log(sums), means, counts * squares

    low, high = 0.0, np.inf
    tilt = 0.0
    weights, totals, means, variances = at_tilt(tilt)
    for _ in range(200):
        gap = at - float(counts @ means)
        spread = float(variances.sum())
        if gap * gap <= 1e-4 * spread or high - low <= 1e-12 * low:
            break
        low, high = (tilt, high) if gap > 0 else (low, tilt)
        newton = tilt + gap / spread if spread > 0 else np.inf
        middle = 0.5 * (low + high) if np.isfinite(high) else max(2 * low, 1 / values.max())
        tilt = newton if low < newton < min(high, 4 * middle) else middle
        weights, totals, means, variances = at_tilt(tilt)
    tilted = [
        Kind(kind.values, weights[start : start + size], kind.count)
        for kind, start, size in zip(kinds, starts, sizes, strict=True)
    ]
    return tilt, float(counts @ totals) - tilt * at, tilted, variances


def _period(kinds: Sequence[Kind], enough: int) -> tuple[int, int]:
    """Pick the length of the transform, at least `enough`, and a divisor of it.

    A kind whose values have a common step repeats itself after period / step frequencies, so that
    a short table of them serves all; the divisor collects steps for that. What is left over of
    the length is made of small primes, for the sake of the transform.
    """
    divisor = 1
    for kind in kinds:
        wider = lcm(divisor, gcd(*kind.values.tolist()))
        if 8 * wider <= enough:
            divisor = wider
    wanted = -(-enough // divisor)
    power = max(0, wanted.bit_length() - 3)
    return divisor * next(m << power for m in (4, 5, 6, 7, 8) if m << power >= wanted), divisor


def _transform(
    kinds: Sequence[Kind], period: int, divisor: int
) -> tuple[IntArray1D, NDArray[np.complex128]]:
    """Characteristic function of the sum at the frequencies where it is not negligible.

    |phi| <= 1 for every kind, so a frequency whose product has fallen below 1e-18 / period is
    dropped for good: all that are dropped add less than 1e-18.
    """
    floor = -_NEGLIGIBLE - np.log(period)
    frequency = np.arange(period // 2 + 1)
    sizes, angles = np.zeros(frequency.size), np.zeros(frequency.size)
    for kind in kinds:
        step = gcd(divisor, *kind.values.tolist())
        short, values = period // step, kind.values // step
        at: IntArray1D | slice
        if frequency.size * values.size > short:
            spread = np.bincount(values % short, weights=kind.weights, minlength=short)
            phi, at = np.fft.fft(spread), frequency % short
        else:
            turns = (values[:, None] * frequency[None, :]) % short
            phi, at = kind.weights @ np.exp(-2j * np.pi / short * turns), slice(None)
        with np.errstate(divide="ignore"):
            sizes += (kind.count * np.log(np.abs(phi)))[at]
        angles += (kind.count * np.angle(phi))[at]
        kept = sizes > floor
        if not kept.all():
            frequency, sizes, angles = frequency[kept], sizes[kept], angles[kept]
    return frequency, np.exp(sizes + 1j * angles)
