"""Array aliases and the two things an interval function can return."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["BoolArray1D", "FloatArray1D", "IntArray1D", "Interval", "Undefined", "limits"]

FloatArray1D = NDArray[np.float64]
IntArray1D = NDArray[np.int64]
BoolArray1D = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval that names its method.

    Parameters
    ----------
    low, high : float
        Limits, in the unit of the estimate.
    level : float, optional
        Nominal coverage, 0 to 1; None for a region that holds no sampling error.
    method : str
        What made it ("adjusted t over clusters").
    """

    low: float
    high: float
    level: float | None
    method: str


@dataclass(frozen=True, slots=True)
class Undefined:
    """What stands in the place of a number that does not exist: the reason.

    Parameters
    ----------
    reason : str
        In plain words, without a full stop ("one call under the condition").
    """

    reason: str


def limits(interval: Interval | Undefined) -> tuple[float | None, float | None]:
    """Return both limits of an interval; None and None where it is undefined."""
    return (None, None) if isinstance(interval, Undefined) else (interval.low, interval.high)
