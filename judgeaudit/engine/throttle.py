"""What all calls to one provider pass through: its window, its rates, its Retry-After."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from judgeaudit.engine.limits import Gate, Limits
from judgeaudit.engine.window import Bucket, End, Window

__all__ = ["Pause", "Throttle", "ThrottleLike", "Ticket"]

Pause = Callable[[float], Awaitable[None]]
"""Waits so many seconds, or raises because the run is stopping."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """Leave to make one request.

    Parameters
    ----------
    cuts : int
        State of the window when it was given.
    tokens : int
        Tokens that were taken from the rate for it.
    """

    cuts: int
    tokens: int


class ThrottleLike(Protocol):
    """What the runner needs of a throttle; one in another process has the same face."""

    async def enter(self, tokens: int, pause: Pause) -> Ticket:
        """Wait for leave to make one request."""
        ...

    def leave(self, ticket: Ticket, end: End, seconds: float, tokens: int | None = None) -> None:
        """Tell how the request ended."""
        ...

    def hold(self, seconds: float) -> None:
        """Let nobody pass for so long: the provider said so."""
        ...


@dataclass(slots=True, eq=False)
class _Waiter:
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[None]
    served: bool = False


class Throttle:
    """Shared by all judges that one provider serves, also from several event loops.

    Parameters
    ----------
    limits : Limits
        `concurrency` (the most in flight), `adaptive`, `requests_per_minute` and
        `tokens_per_minute`.
    gate : Gate, optional
        Shut by a Retry-After.
    clock : callable, optional
        Seconds that only grow.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        gate: Gate | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.gate = gate or Gate()
        self.window = Window(limits.concurrency, adaptive=limits.adaptive)
        self._requests = _bucket(limits.requests_per_minute)
        self._tokens = _bucket(limits.tokens_per_minute)
        self._clock = clock
        self._in_flight = 0
        self._waiters: deque[_Waiter] = deque()
        self._lock = threading.Lock()

    @property
    def in_flight(self) -> int:
        """Requests that have leave and have not ended."""
        return self._in_flight

    async def enter(self, tokens: int, pause: Pause) -> Ticket:
        """Wait for the rates, an open gate and a place in the window; return the leave.

        Parameters
        ----------
        tokens : int
            What the request is thought to use.
        pause : Pause
            Waits; what it raises ends the wait, and what was taken is given back.
        """
        wait = self._take(tokens)
        try:
            if wait > 0:
                await pause(wait)
            while True:
                if self.gate.shut_for > 0:
                    await self.gate.passed(pause)
                await self._place()
                if self.gate.shut_for <= 0:
                    break
                self._free()
        except BaseException:
            self._correct(-1, -tokens)
            raise
        return Ticket(self.window.cuts, tokens)

    def leave(self, ticket: Ticket, end: End, seconds: float, tokens: int | None = None) -> None:
        """Tell how the request ended.

        Parameters
        ----------
        ticket : Ticket
            Of `enter`.
        end : End
            How.
        seconds : float
            How long it took.
        tokens : int, optional
            What it really used; None: not known.
        """
        with self._lock:
            full = self._in_flight >= self.window.width
            self.window.ended(end, seconds, cuts=ticket.cuts, full=full)
        if tokens is not None:
            self._correct(0, tokens - ticket.tokens)
        self._free()

    def hold(self, seconds: float) -> None:
        """Let nobody pass for so long."""
        self.gate.hold(seconds)

    def _take(self, tokens: int) -> float:
        if self._requests is None and self._tokens is None:
            return 0.0
        with self._lock:
            now = self._clock()
            waits = [0.0]
            if self._requests is not None:
                waits.append(self._requests.take(now, 1))
            if self._tokens is not None:
                waits.append(self._tokens.take(now, tokens))
        return max(waits)

    def _correct(self, requests: int, tokens: int) -> None:
        with self._lock:
            if self._requests is not None and requests:
                self._requests.correct(requests)
            if self._tokens is not None and tokens:
                self._tokens.correct(tokens)

    async def _place(self) -> None:
        with self._lock:
            if not self._waiters and self._in_flight < self.window.width:
                self._in_flight += 1
                return
            loop = asyncio.get_running_loop()
            waiter = _Waiter(loop, loop.create_future())
            self._waiters.append(waiter)
        try:
            await waiter.future
        except BaseException:
            with self._lock:
                served = waiter.served
                if not served:
                    self._waiters.remove(waiter)
            if served:
                self._free()
            raise

    def _free(self) -> None:
        here = _running_loop()
        with self._lock:
            self._in_flight -= 1
            while self._waiters and self._in_flight < self.window.width:
                waiter = self._waiters.popleft()
                waiter.served = True
                # the place is theirs from now on; a dead loop must not keep it
                try:
                    if waiter.loop is here:  # to wake a loop from itself costs two system calls
                        _settle(waiter.future)
                    else:
                        waiter.loop.call_soon_threadsafe(_settle, waiter.future)
                except RuntimeError:
                    continue
                self._in_flight += 1


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _bucket(per_minute: float | None) -> Bucket | None:
    return None if per_minute is None else Bucket(per_minute)
