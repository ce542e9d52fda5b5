"""What an audit may share with others that run beside it."""

from __future__ import annotations

from dataclasses import dataclass

from judgeaudit.engine.budget import BudgetLike
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.limits import Gate
from judgeaudit.engine.throttle import ThrottleLike

__all__ = ["Shared"]


@dataclass(frozen=True, slots=True)
class Shared:
    """What an audit is given instead of making its own; None: it makes its own.

    Parameters
    ----------
    control : RunControl, optional
        Drains or stops the run from outside.
    throttle : ThrottleLike, optional
        Window, rates and Retry-After, of all judges of one provider that have the same limits.
    gate : Gate, optional
        Retry-After alone, of judges of one provider whose limits differ.
    budget : BudgetLike, optional
        A cap on all of them together.
    """

    control: RunControl | None = None
    throttle: ThrottleLike | None = None
    gate: Gate | None = None
    budget: BudgetLike | None = None
