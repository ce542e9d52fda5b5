"""What one session of a run did."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RunSummary"]


@dataclass(frozen=True, slots=True)
class RunSummary:
    """What one session of a run did.

    Parameters
    ----------
    planned : int
        Calls in the plan.
    answered_before, answered, failed : int
        Calls answered in earlier sessions, answered now, and ended in an error now.
    requests : int
        Requests made now, retries included.
    outcomes : dict of str to int
        Outcomes of the calls of this session.
    cost : float, optional
        US dollars of this session's answers; None as soon as one price is not known.
    seconds : float
        Wall-clock time of this session.
    interrupted : bool
        Whether it was stopped before the end, by the user.
    in_batches : int
        Calls that the provider has in batches.
    """

    planned: int
    answered_before: int
    answered: int
    failed: int
    requests: int
    outcomes: dict[str, int]
    cost: float | None
    seconds: float
    interrupted: bool
    in_batches: int = 0

    @property
    def left(self) -> int:
        """Calls without an answer."""
        return self.planned - self.answered_before - self.answered
