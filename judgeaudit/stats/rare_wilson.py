"""Wilson's interval where events are rare: exact ends against its dips near 0 and 1."""

from __future__ import annotations

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.clusters import ClusterSums
from judgeaudit.stats.intervals import (
    clopper_pearson_lower,
    clopper_pearson_upper,
    effective_number,
    wilson,
)

__all__ = ["WILSON_RARE", "rare_wilson"]

WILSON_RARE = "Wilson widened to exact bounds, design effect over clusters"

_GUARD = 0.8
"""Share of 1 - level that one exact bound may miss: Wilson's dips below .93 vanish from n = 30."""

_UNSEEN = 0.05
"""Correlation of events within clusters that is taken for granted where clusters are uneven."""


def rare_wilson(sums: ClusterSums, *, level: float = 0.95) -> Interval | Undefined:
    """Wilson's interval over clusters for events that are rare, by far or by wish.

    Near 0 and 1 Wilson's interval covers down to .84 at a nominal .95, for it takes a single event
    for the sign of a rate that it is not. Here no end lies inside the exact one-sided bound of
    Clopper and Pearson at 1 - 0.8 (1 - level), which is .96. Where clusters are uneven, the events
    of a large one may go together without any sample showing it; a correlation of .05 is counted.

    Parameters
    ----------
    sums : ClusterSums
        Events and trials of each cluster; a trial's event lies between 0 and 1.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Interval or Undefined
        Undefined for no trials.

    References
    ----------
    Brown, Cai and DasGupta 2001, Stat. Sci. 16, section 4.1 (the dips, and exact ends against
    them); decision note 0520.
    """
    n = sums.n
    if n <= 0:
        return Undefined("no trials")
    number = effective_number(sums, level=level, unseen=_UNSEEN)
    events = sums.total / n * number
    inner = wilson(events, number, level=level)
    assert isinstance(inner, Interval)
    bound = 1 - _GUARD * (1 - level)
    return Interval(
        min(inner.low, clopper_pearson_lower(events, number, level=bound)),
        max(inner.high, clopper_pearson_upper(events, number, level=bound)),
        level,
        WILSON_RARE,
    )
