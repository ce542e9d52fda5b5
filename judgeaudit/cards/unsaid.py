"""Figures whose number would mislead, and is not printed; the JSON holds it."""

from __future__ import annotations

from typing import Final

from judgeaudit.core.records import Score

__all__ = ["NO_FIGURE", "is_bare_precision", "is_no_share", "is_rough_share", "no_share"]

NO_FIGURE: Final = "cannot be estimated"
"""How a figure that has no value is worded, before the reason."""

_TRIFLE: Final = 0.05
_SHARES: Final = ("variance_share", "precision_share")


def is_no_share(score: Score) -> bool:
    """Say whether a share of a variance came out outside 0 to 1, where no share lies."""
    return score.metric in _SHARES and score.value is not None and not 0 <= score.value <= 1


def is_rough_share(score: Score) -> bool:
    """Say whether it lies so far outside that the other shares cannot be believed either."""
    return is_no_share(score) and not -_TRIFLE <= (score.value or 0) < 0


def no_share(x: float) -> str:
    """Word a share of variance outside 0 to 1, which is no share; a trifle below 0 is none.

    Examples
    --------
    >>> no_share(-0.003), no_share(-0.57)
    ('0% (clipped: it came out just below 0)', 'cannot be estimated: it came out below 0')
    """
    if -_TRIFLE <= x < 0:
        return "0% (clipped: it came out just below 0)"
    return f"{NO_FIGURE}: it came out {'below 0' if x < 0 else 'above 100%'}"


def is_bare_precision(score: Score) -> bool:
    """Say whether a precision is 100% for no reason but that no false alarm was seen.

    At a share of UNSAFE that deployment may have, the estimate is then 100% however few safe items
    there were: only its lower limit says anything.
    """
    stated = score.metric == "ppv" and (score.stratum or "").startswith("base rate ")
    return stated and score.value == 1 and score.low is not None
