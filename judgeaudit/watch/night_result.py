"""How a thrifty night ended: looks, wordings that were asked again, what it cost."""

from __future__ import annotations

from typing import Final, Literal

from judgeaudit.core.records._base import Record
from judgeaudit.watch.causes import Cause

__all__ = ["EXIT", "Asked", "Ending", "LookSeen", "NightResult", "Reworded"]

Ending = Literal["pass", "fail", "inconclusive", "broken", "interrupted"]
"""How a night may end."""

EXIT: Final[dict[Ending, int]] = {
    "pass": 0,
    "fail": 1,
    "broken": 3,
    "inconclusive": 4,
    "interrupted": 130,
}


class LookSeen(Record):
    """What was known after a look; see `stats.thrift.Look`."""

    look: int
    outcome: Literal["pass", "fail", "undecided"]
    anchors: int
    calls: int
    alpha: float
    p_moved: float | None
    p_worse: float | None
    worse: float | None
    low: float | None
    high: float | None


class Reworded(Record):
    """A condition whose prompts are others than at the baseline, asked again on the first look.

    Parameters
    ----------
    p_value, p_adjusted : float, optional
        That verdicts under it moved; and after Holm's correction over these conditions.
    """

    condition: str
    n_prompts: int
    p_value: float | None
    p_adjusted: float | None
    moved: bool
    why_undefined: str | None = None


class Asked(Record):
    """What was asked, and what was not.

    Parameters
    ----------
    calls : int
        Answered tonight.
    anchors : int
        Asked of those that are frozen.
    with_verdict : int
        Of these, how many got a base verdict tonight.
    unchanged : tuple of str
        Conditions whose prompts are the baseline's: not asked, their verdicts stand while base
        verdicts do.
    in_batches : bool
        Whether calls were made at the price of batches.
    cost : float, optional
        Where it is known.
    """

    calls: int
    anchors: int
    with_verdict: int
    frozen: int
    unchanged: tuple[str, ...]
    in_batches: bool
    cost: float | None = None


class NightResult(Record):
    """How a night ended.

    Parameters
    ----------
    outcome : str
        "fail": a change is shown; "pass": none is, and a worsening as large as the drift of the
        design is ruled out; "inconclusive": neither, after all looks; "broken": no call was
        answered; "interrupted": the same command goes on.
    """

    outcome: Ending
    sentence: str
    drift: float
    alpha: float
    looks: tuple[LookSeen, ...]
    reworded: tuple[Reworded, ...] = ()
    causes: tuple[Cause, ...] = ()
    asked: Asked

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 3 broken, 4 inconclusive, 130 interrupted."""
        return EXIT[self.outcome]
