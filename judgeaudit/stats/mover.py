"""MOVER: an interval for a sum or a ratio, from the intervals of its parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import hypot

from judgeaudit.stats._types import Undefined

__all__ = ["Term", "mover_ratio", "mover_sum"]


@dataclass(frozen=True, slots=True)
class Term:
    """One term, weight times estimate, with the interval of the estimate.

    Parameters
    ----------
    weight : float
        May be negative.
    estimate : float, optional
        None where undefined: the term then counts with its whole range [low, high], linearly.
    low, high : float
        Interval of the estimate.
    """

    weight: float
    estimate: float | None
    low: float
    high: float


def mover_sum(terms: Iterable[Term]) -> tuple[float, float]:
    """Interval of a weighted sum by the method of variance estimates recovery.

    Parameters
    ----------
    terms : iterable of Term
        Distances between an estimate and its limits are floored at 0: the adjusted t interval
        need not contain its estimate.

    Returns
    -------
    tuple of float
        Lower and upper limit, not clipped.

    References
    ----------
    Zou and Donner 2008, Stat. Med. 27, 1693.
    """
    centre = below = above = linear_low = linear_high = 0.0
    for term in terms:
        ends = sorted((term.weight * term.low, term.weight * term.high))
        if term.estimate is None:
            linear_low += ends[0]
            linear_high += ends[1]
            continue
        at = term.weight * term.estimate
        centre += at
        below = hypot(below, max(0.0, at - ends[0]))
        above = hypot(above, max(0.0, ends[1] - at))
    return centre + linear_low - below, centre + linear_high + above


def mover_ratio(
    top: tuple[float, float, float], bottom: tuple[float, float, float]
) -> tuple[float, float] | Undefined:
    """Interval of a ratio of two independent, non-negative rates.

    Parameters
    ----------
    top, bottom : tuple of float
        (estimate, low, high) of numerator and denominator.

    Returns
    -------
    tuple of float or Undefined
        Undefined where the interval of the denominator reaches 0, so that the ratio has no
        upper limit.

    References
    ----------
    Donner and Zou 2012, Stat. Methods Med. Res. 21, 347.
    """
    a, la, ua = top
    b, lb, ub = bottom
    if lb <= 0:
        return Undefined("the interval of the denominator reaches 0, so the ratio has no upper end")
    cross = a * b
    inner_low = max(0.0, cross**2 - la * ub * (2 * a - la) * (2 * b - ub))
    inner_high = max(0.0, cross**2 - ua * lb * (2 * a - ua) * (2 * b - lb))
    # the lower root in its rationalised form, which also holds where ub > 2b
    low = la * (2 * a - la) / (cross + inner_low**0.5) if la > 0 else 0.0
    return low, (cross + inner_high**0.5) / (lb * (2 * b - lb))
