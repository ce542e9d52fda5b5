"""What became of each cell against base: the same verdict, a wavering one, or a flip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.viewer.index import Counts, RunIndex

__all__ = ["FLIPPED", "OUTCOMES", "SAME", "UNANSWERED", "WAVERING", "Flips", "flips_of", "jitter"]

SAME: Final = 0
WAVERING: Final = 1
FLIPPED: Final = 2
UNANSWERED: Final = 3
OUTCOMES: Final = ("same", "wavering", "flipped", "unanswered")
"""Names by code. Flipped: most calls say the opposite of most base calls. Wavering: some pairs of
calls differ, the majorities do not (or there is none). Unanswered: no verdict on one side."""


@dataclass(frozen=True, slots=True)
class Flips:
    """Cells compared with base; arrays of shape (n_items, n_contrasts).

    Parameters
    ----------
    share : array of float32
        Share of the pairs (base call, condition call) that differ, 0-1; 0 where unanswered.
    outcome : array of int8
        Codes of `OUTCOMES`.
    shift : array of int8
        1 where UNSAFE is said more often than under base, -1 less often, 0 as often.
    failed : array of int32
        Calls of the cell that ended without a verdict.
    """

    share: NDArray[np.float32]
    outcome: NDArray[np.int8]
    shift: NDArray[np.int8]
    failed: NDArray[np.int32]


def flips_of(index: RunIndex, counts: Counts) -> Flips:
    """Compare every cell of a run with its item's base calls."""
    unsafe, valid = counts.unsafe, counts.valid
    b_unsafe = unsafe[:, index.base].sum(axis=1, keepdims=True).astype(np.int64)
    b_valid = valid[:, index.base].sum(axis=1, keepdims=True).astype(np.int64)
    c_unsafe = unsafe[:, index.contrasts].astype(np.int64)
    c_valid = valid[:, index.contrasts].astype(np.int64)
    pairs = b_valid * c_valid
    differ = b_unsafe * (c_valid - c_unsafe) + (b_valid - b_unsafe) * c_unsafe
    share = np.divide(differ, np.maximum(pairs, 1), dtype=np.float64).astype(np.float32)
    lean_b = np.sign(2 * b_unsafe - b_valid)
    lean_c = np.sign(2 * c_unsafe - c_valid)
    outcome = np.where(differ > 0, WAVERING, SAME)
    outcome = np.where(lean_b * lean_c < 0, FLIPPED, outcome)
    outcome = np.where(pairs == 0, UNANSWERED, outcome).astype(np.int8)
    # c_unsafe / c_valid against b_unsafe / b_valid, without dividing
    shift = np.sign(c_unsafe * b_valid - b_unsafe * c_valid).astype(np.int8)
    return Flips(share, outcome, shift, counts.failed[:, index.contrasts])


def jitter(unsafe: int, valid: int) -> float | None:
    """Return the share of pairs of repeats that disagree; None for fewer than two verdicts.

    Examples
    --------
    >>> jitter(1, 4)
    0.5
    """
    if valid < 2:
        return None
    return 2 * unsafe * (valid - unsafe) / (valid * (valid - 1))
