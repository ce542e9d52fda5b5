"""Has a judge changed between two blocks of calls on the same items? Exact tests on calls.

If nothing changed, the calls of one item are exchangeable: given how many of all its calls bear a
mark (UNSAFE, or wrong), the number among the later ones is hypergeometric, independently over
items. Blocks may be of any sizes, and differ from item to item.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import Final, Literal

import numpy as np

from judgeaudit.stats._types import FloatArray1D, IntArray1D, Undefined
from judgeaudit.stats.lattice import Kind, upper_tail

__all__ = ["Blocks", "Question", "changed"]

Question = Literal["moved", "more"]
"""Whether marks moved either way on any items, or whether there are more of them later."""

_STEPS: Final = 8
"""Squared shifts are counted in eighths: any function of the later marks gives an exact test."""

_MOST_CELLS: Final = 4_000_000
_SMALL_TAIL: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Blocks:
    """Marks among the earlier and the later calls of each item; arrays of shape (n_items,).

    Parameters
    ----------
    before, n_before : array of int
        Marks among the earlier calls, and these calls.
    after, n_after : array of int
        Marks among the later calls, and these calls.
    """

    before: IntArray1D
    n_before: IntArray1D
    after: IntArray1D
    n_after: IntArray1D


def changed(blocks: Blocks, question: Question) -> float | Undefined:
    """Test that the earlier and the later calls of every item are exchangeable.

    Parameters
    ----------
    blocks : Blocks
        Marks and calls; an item without a call in both blocks says nothing.
    question : {"moved", "more"}
        "moved" sums squared shifts of the share of marks, so that swaps which leave every rate as
        it was are found; with one call in each block a swap cannot be told from jitter. "more"
        sums the later marks; with one call in each block it is McNemar's exact one-sided test.

    Returns
    -------
    float or Undefined
        One-sided p-value, never 0. Undefined where no item has the calls that are needed.

    References
    ----------
    estimators.md, section 4; McNemar 1947; decision note 0801.

    Examples
    --------
    >>> one, none = np.ones(7, dtype=np.int64), np.zeros(7, dtype=np.int64)
    >>> round(changed(Blocks(none, one, one, one), "more") * 2**7, 9)
    1.0
    >>> changed(Blocks(none, one, one, one), "moved")
    Undefined(reason='no item has two calls in one of the two runs')
    """
    asked = (blocks.n_before > 0) & (blocks.n_after > 0)
    if not asked.any():
        return Undefined("no item has a verdict in both runs")
    if question == "moved":
        asked &= blocks.n_before + blocks.n_after > 2
        if not asked.any():
            return Undefined("no item has two calls in one of the two runs")
    early, late = blocks.n_before[asked], blocks.n_after[asked]
    later, total = blocks.after[asked], blocks.before[asked] + blocks.after[asked]
    span = int(max(early.max(), late.max())) + 1
    code = ((early * span + late) * (2 * span) + total) * span + later
    kinds: dict[tuple[int, int, int], Kind] = {}
    counts: dict[tuple[int, int, int], int] = {}
    observed = 0
    for key, count in zip(*(a.tolist() for a in np.unique(code, return_counts=True)), strict=True):
        rest, t = divmod(key, span)
        rest, both = divmod(rest, 2 * span)
        shape = (*divmod(rest, span), both)
        least, score, values, weights = _null(question, *shape)
        if len(values) < 2:
            continue
        observed += count * score[t - least]
        counts[shape] = counts.get(shape, 0) + count
        kinds[shape] = Kind(values, weights, counts[shape])
    if not kinds:
        return 1.0
    return max(_tail(list(kinds.values()), observed), sys.float_info.min)


def _tail(kinds: list[Kind], at: int) -> float:
    """P(sum >= at): all kinds transformed at once, which serves nights with hundreds of kinds.

    Its absolute error is about 1e-14; a small tail is left to the slower way, whose relative
    error is small.
    """
    top = sum(kind.range * kind.count for kind in kinds)
    atoms = max(kind.values.size for kind in kinds)
    if at <= 0 or at > top or (top + 1) * len(kinds) * atoms > _MOST_CELLS:
        return upper_tail(kinds, at)
    period = top + 1
    values = np.zeros((len(kinds), atoms), dtype=np.int64)
    weights = np.zeros((len(kinds), atoms))
    for k, kind in enumerate(kinds):
        values[k, : kind.values.size] = kind.values
        weights[k, : kind.values.size] = kind.weights
    turns = np.exp(-2j * np.pi / period * np.arange(period))
    frequency = np.arange(period // 2 + 1)
    whole = np.ones(frequency.size, dtype=np.complex128)
    for k, kind in enumerate(kinds):
        whole *= (weights[k] @ turns[values[k][:, None] * frequency % period]) ** kind.count
    chances = np.fft.irfft(whole, n=period)
    found = float(chances[at:].sum())
    return min(1.0, found) if found > _SMALL_TAIL else upper_tail(kinds, at)


@lru_cache(maxsize=200_000)
def _null(
    question: Question, early: int, late: int, both: int
) -> tuple[int, tuple[int, ...], IntArray1D, FloatArray1D]:
    """Null distribution of one kind of item: least t, score of each t, atoms, probabilities."""
    least = max(0, both - early)
    support = range(least, min(late, both) + 1)
    if question == "more":
        raw = list(support)
    else:
        raw = [round(_STEPS * (t / late - (both - t) / early) ** 2) for t in support]
    low = min(raw)
    score = tuple(v - low for v in raw)
    ways: dict[int, int] = {}
    for t, v in zip(support, score, strict=True):
        ways[v] = ways.get(v, 0) + comb(late, t) * comb(early, both - t)
    every, atoms = comb(early + late, both), sorted(ways)
    weights = np.array([ways[v] / every for v in atoms], dtype=np.float64)
    return least, score, np.array(atoms, dtype=np.int64), weights
