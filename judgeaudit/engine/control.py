"""How a run is told to stop: once drains, twice stops now; or by what it has found."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

from judgeaudit.core.records import Label

__all__ = ["Control", "Controls", "Decide", "RunControl"]


class Decide(Protocol):
    """Told of every call that ended, by position and label; says whether the run may stop."""

    def __call__(self, position: int, label: Label | None, /) -> bool:
        """Take note of a call, and say whether the run may stop."""
        ...

    def decided(self) -> bool:
        """Say whether it might have stopped before."""
        ...


class Control(Protocol):
    """What a signal handler needs of a control, of one run or of several."""

    @property
    def interrupts(self) -> int:
        """How often it was asked to stop."""
        ...

    def interrupt(self) -> int:
        """Ask to drain, or to stop now; return how often it was asked."""
        ...


class RunControl:
    """Stops a run from outside; safe from any thread and from a signal handler.

    `interrupt` once: calls in flight are finished and committed, no new one is made. Twice: calls
    in flight are dropped, what was answered is committed. Both keep the ledger whole.
    """

    def __init__(self) -> None:
        self.interrupts = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._drain: Callable[[], None] = _nothing
        self._stop: Callable[[], None] = _nothing

    def interrupt(self) -> int:
        """Ask to drain (first time) or to stop now (afterwards); return how often it was asked."""
        self.interrupts += 1
        self._tell()
        return self.interrupts

    def bind(
        self, loop: asyncio.AbstractEventLoop, drain: Callable[[], None], stop: Callable[[], None]
    ) -> None:
        """Connect to a run; an interrupt that came before takes effect at once."""
        self._loop, self._drain, self._stop = loop, drain, stop
        if self.interrupts:
            self._tell()

    def unbind(self) -> None:
        """Disconnect from the run."""
        self._loop = None

    def _tell(self) -> None:
        loop = self._loop
        if loop is None:
            return
        try:
            loop.call_soon_threadsafe(self._drain if self.interrupts == 1 else self._stop)
        except RuntimeError:  # the loop has just been closed: the run is over
            self._loop = None


class Controls:
    """Stops several runs at once.

    Parameters
    ----------
    each : sequence of RunControl
        Theirs.
    """

    def __init__(self, each: Sequence[RunControl]) -> None:
        self.each = tuple(each)

    @property
    def interrupts(self) -> int:
        """How often it was asked to stop."""
        return max((c.interrupts for c in self.each), default=0)

    def interrupt(self) -> int:
        """Ask all to drain (first time) or to stop now; return how often it was asked."""
        return max((c.interrupt() for c in self.each), default=0)


def _nothing() -> None:
    return None
