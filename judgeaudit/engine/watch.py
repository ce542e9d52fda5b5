"""What is watched while a run goes on: calls that hang, and a model that is swapped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final

from judgeaudit.core.records import Call, Reply

__all__ = ["Watch", "told"]

_FIRST: Final = 30.0
_LOOK: Final = 1.0


class Watch:
    """Knows the calls in flight and names the oldest when it has been out for long.

    It is named when it is `first` seconds old, and again each time its age has doubled.

    Parameters
    ----------
    note : callable
        Told one line.
    first : float
        Seconds.
    served : sequence of str
        Models that answered in earlier sessions of the run, the last one last.
    clock : callable, optional
        Seconds that only grow.
    """

    def __init__(
        self,
        note: Callable[[str], None],
        *,
        first: float = _FIRST,
        served: Sequence[str] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._note = note
        self._first = first
        self._clock = clock
        # in order of asking, as dicts keep it
        self._flying: dict[int, tuple[Call, int, float]] = {}
        self._said: tuple[int, float] = (-1, 0.0)
        self._next = 0
        self._model = served[-1] if served else None
        self._models = set(served)

    def begin(self, call: Call, attempt: int) -> int:
        """Take note of a request; return its number."""
        self._next += 1
        self._flying[self._next] = (call, attempt, self._clock())
        return self._next

    def end(self, number: int) -> None:
        """Take note of its end."""
        del self._flying[number]

    def served(self, call: Call, reply: Reply) -> None:
        """Say once of each model that it answered in the place of the one before."""
        model = reply.served_model
        if model is None or model in self._models:
            return
        self._models.add(model)
        if self._model is not None:
            self._note(
                f"the served model changed from {self._model!r} to {model!r} at {told(call)}: "
                "answers of two models are mixed"
            )
        self._model = model

    def oldest(self) -> str | None:
        """Name the oldest call in flight; None while nothing is in flight."""
        if not self._flying:
            return None
        call, attempt, began = self._flying[next(iter(self._flying))]
        again = f", attempt {attempt}" if attempt > 1 else ""
        others = len(self._flying) - 1
        more = f"; {others} more in flight" if others else ""
        return f"{told(call)}, asked {self._clock() - began:.0f} s ago{again}{more}"

    def look(self) -> None:
        """Name the oldest call if it is time to."""
        if not self._flying:
            return
        number = next(iter(self._flying))
        age = self._clock() - self._flying[number][2]
        before, due = self._said
        if age >= (due if number == before else self._first):
            self._said = (number, 2 * age)
            self._note(f"still waiting for {self.oldest()}")

    async def run(self) -> None:
        """Look once a second until cancelled."""
        while True:
            await asyncio.sleep(_LOOK)
            self.look()


def told(call: Call) -> str:
    """Name a call as a person would.

    Examples
    --------
    >>> told(Call(item="a//1", condition="T1", repeat=0, prompt_sha256="", judge_sha256=""))
    "item 'a//1' under T1, repeat 1"
    """
    wording = f", wording {call.wording}" if call.wording else ""
    return f"item {call.item!r} under {call.condition}{wording}, repeat {call.repeat + 1}"
