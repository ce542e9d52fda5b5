"""The exact test of no effect.

Under the sharp null p_i = q_i the K + L calls of an item are exchangeable, so its UNSAFE verdicts
under the condition are hypergeometric given their sum. The null distribution of the sum over items
is then a convolution, on whole numbers after scaling by the common denominator: no seed, no
simulation error. Valid with clusters for *these* items; it does not speak about new ones.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb, floor, gcd, lcm
from typing import Literal

import numpy as np

from judgeaudit.core.table import Counts
from judgeaudit.stats._types import BoolArray1D, Undefined
from judgeaudit.stats.lattice import Kind, upper_tail

__all__ = ["ExactTest", "Side", "Statistic", "no_effect"]

Statistic = Literal["delta_paper", "delta_debiased", "shift"]
"""delta_paper and delta_debiased as in `pairs`; shift is t/L - s/K."""

Side = Literal["upper", "lower", "two"]

_LARGEST_GRID = 5040
"""Common denominators up to this one are used as they are (all K, L up to 5, for example)."""

_ROUGH_GRID = 720
"""Beyond it, kinds that do not fit are split between the two nearest points of such a grid."""


@dataclass(frozen=True, slots=True)
class ExactTest:
    """Result of the exact test.

    Parameters
    ----------
    p_value : float
        Chance, under no effect, of a sum at least as extreme as the observed one.
    n_items : int
        Items for which the statistic is defined.
    n_informative : int
        Items whose value is not fixed by the sum of their verdicts.
    method : str
        "exact by convolution"; says so where a grid was needed.
    """

    p_value: float
    n_items: int
    n_informative: int
    method: str


def _paper(s: int, K: int, t: int, L: int) -> Fraction:
    return Fraction(s * (L - t) + t * (K - s), K * L) - Fraction(2 * s * (K - s), K * (K - 1))


def _debiased(s: int, K: int, t: int, L: int) -> Fraction:
    return (
        Fraction(s * (L - t) + t * (K - s), K * L)
        - Fraction(s * (K - s), K * (K - 1))
        - Fraction(t * (L - t), L * (L - 1))
    )


def _shift(s: int, K: int, t: int, L: int) -> Fraction:
    return Fraction(t, L) - Fraction(s, K)


_VALUE: dict[Statistic, tuple[Callable[[int, int, int, int], Fraction], int, int, str]] = {
    "delta_paper": (_paper, 2, 1, "two base calls and one call under the condition"),
    "delta_debiased": (_debiased, 2, 2, "two base calls and two calls under the condition"),
    "shift": (_shift, 1, 1, "one base call and one call under the condition"),
}


@dataclass(frozen=True, slots=True)
class _Exact:
    """One kind of item: values above the smallest one, probabilities, and how many of each."""

    values: tuple[Fraction, ...]
    weights: tuple[float, ...]
    observed: Fraction
    count: int


def no_effect(
    base: Counts,
    other: Counts,
    *,
    statistic: Statistic,
    side: Side = "upper",
) -> ExactTest | Undefined:
    """Test, exactly, that no item's chance of UNSAFE differs between base and condition.

    Parameters
    ----------
    base, other : Counts
        Under base and under the condition, arrays of shape (n_items,); the numbers of verdicts may
        vary from item to item.
    statistic : {"delta_paper", "delta_debiased", "shift"}
        What is summed over the items for which it is defined.
    side : {"upper", "lower", "two"}
        Large sums, small sums, or twice the smaller tail.

    Returns
    -------
    ExactTest or Undefined
        Undefined where no item has the calls that the statistic needs.

    References
    ----------
    estimators.md, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> none, two = np.zeros(8, dtype=np.int64), np.full(8, 2)
    >>> before, after = Counts(none, two, none), Counts(two, two, none)
    >>> result = no_effect(before, after, statistic="delta_debiased")
    >>> round(result.p_value * 3**8, 9)
    1.0
    """
    _, base_calls, calls, words = _VALUE[statistic]
    defined = (base_calls <= base.valid) & (calls <= other.valid)
    n_items = int(np.count_nonzero(defined))
    if n_items == 0:
        return Undefined(f"no item has {words}")
    kinds = [kind for kind in _kinds(base, other, defined, statistic) if len(kind.values) > 1]
    informative = sum(kind.count for kind in kinds)
    method = "exact by convolution"
    if not kinds:
        return ExactTest(1.0, n_items, 0, method)
    grid, on_grid = _grid(kinds)
    if not on_grid:
        method = f"by convolution on a grid of 1/{grid.denominator}, to about a thousandth of p"
    up = down = 1.0
    if side != "lower":
        observed = sum((kind.observed for kind in kinds), Fraction(0))
        up = upper_tail([_on_grid(k, grid) for k in kinds], _whole(observed / grid, on_grid))
    if side != "upper":
        flipped = [_flip(kind) for kind in kinds]
        observed = sum((kind.observed for kind in flipped), Fraction(0))
        down = upper_tail([_on_grid(k, grid) for k in flipped], _whole(observed / grid, on_grid))
    p = {"upper": up, "lower": down, "two": min(1.0, 2 * min(up, down))}[side]
    # a p-value is never 0, only smaller than the smallest float
    return ExactTest(max(p, sys.float_info.min), n_items, informative, method)


def _kinds(
    base: Counts,
    other: Counts,
    defined: BoolArray1D,
    statistic: Statistic,
) -> list[_Exact]:
    """Group the items by (K, L, s + t); the value of an item depends on nothing else but t."""
    s, K = base.unsafe[defined], base.valid[defined]
    t, L = other.unsafe[defined], other.valid[defined]
    most_k, most_l = int(K.max()) + 1, int(L.max()) + 1
    code = ((K * most_l + L) * (most_k + most_l) + s + t) * most_l + t
    codes, counts = np.unique(code, return_counts=True)
    seen: dict[tuple[int, int, int], dict[int, int]] = {}
    for key, count in zip(codes.tolist(), counts.tolist(), strict=True):
        rest, unsafe = divmod(key, most_l)
        rest, both = divmod(rest, most_k + most_l)
        seen.setdefault((*divmod(rest, most_l), both), {})[unsafe] = count
    out = []
    for (first, second, both), times in seen.items():
        above, values, weights = _null(statistic, first, second, both)
        out.append(
            _Exact(
                values=values,
                weights=weights,
                observed=sum((c * above[v] for v, c in times.items()), Fraction(0)),
                count=sum(times.values()),
            )
        )
    return out


@lru_cache(maxsize=20_000)
def _null(
    statistic: Statistic, first: int, second: int, both: int
) -> tuple[dict[int, Fraction], tuple[Fraction, ...], tuple[float, ...]]:
    """Null distribution of one kind of item: by t, and as distinct values with probabilities.

    Values are counted from the smallest one: a constant moves observed and null sum alike.
    """
    value = _VALUE[statistic][0]
    support = range(max(0, both - first), min(second, both) + 1)
    x = {t: value(both - t, first, t, second) for t in support}
    least = min(x.values())
    above = {t: v - least for t, v in x.items()}
    ways: dict[Fraction, int] = {}
    for t, v in above.items():
        ways[v] = ways.get(v, 0) + comb(second, t) * comb(first, both - t)
    values = tuple(sorted(ways))
    total = comb(first + second, both)
    return above, values, tuple(ways[v] / total for v in values)


def _flip(kind: _Exact) -> _Exact:
    """Mirror a kind, so that its small values become the large ones."""
    largest = kind.values[-1]
    return _Exact(
        values=tuple(largest - v for v in reversed(kind.values)),
        weights=kind.weights[::-1],
        observed=kind.count * largest - kind.observed,
        count=kind.count,
    )


def _grid(kinds: list[_Exact]) -> tuple[Fraction, bool]:
    """Find the coarsest common step of all values, and whether it is fine enough for all.

    Commonest kinds first: those whose denominator would make the grid too fine are left off it.
    """
    denominator, everything = _denominator(kinds, _LARGEST_GRID)
    if everything:
        step = gcd(*(int(v * denominator) for kind in kinds for v in kind.values))
        return Fraction(step, denominator), True
    denominator, _ = _denominator(kinds, _ROUGH_GRID)
    return Fraction(1, denominator * (_ROUGH_GRID // denominator)), False


def _denominator(kinds: list[_Exact], largest: int) -> tuple[int, bool]:
    denominator, everything = 1, True
    for kind in sorted(kinds, key=lambda k: -k.count):
        wanted = lcm(denominator, *(v.denominator for v in kind.values))
        if wanted <= largest:
            denominator = wanted
        else:
            everything = False
    return denominator, everything


def _on_grid(kind: _Exact, grid: Fraction) -> Kind:
    """Write a kind in grid steps; a value between two steps is split so that its mean stays."""
    weights: dict[int, float] = {}
    for v, w in zip(kind.values, kind.weights, strict=True):
        steps = v / grid
        low, high = floor(steps), ceil(steps)
        share = float(steps - low)
        weights[low] = weights.get(low, 0.0) + w * (1 - share)
        if high != low:
            weights[high] = weights.get(high, 0.0) + w * share
    points = sorted(weights)
    return Kind(
        np.array(points, dtype=np.int64),
        np.array([weights[p] for p in points], dtype=np.float64),
        kind.count,
    )


def _whole(observed: Fraction, on_grid: bool) -> int:
    # off the grid the observed sum itself is spread; one step down keeps it in the tail
    return int(observed) if on_grid else floor(observed) - 1
