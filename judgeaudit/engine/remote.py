"""A share of a plan in another process: its worker, and the provider's limits that all share.

Nothing here imports Ray: the classes become actors in `executors`, and only plain records travel.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.errors import (
    ConfigError,
    DiskError,
    JudgeAuditError,
    JudgeError,
    LedgerError,
    PermanentError,
    QuotaExhaustedError,
)
from judgeaudit.engine.budget import Amount, Budget, Caps
from judgeaudit.engine.choices import judge_of
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.identity import RunMeta
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.plan import Plan
from judgeaudit.engine.progress import SilentProgress
from judgeaudit.engine.runner import run_plan
from judgeaudit.engine.summary import RunSummary
from judgeaudit.engine.throttle import Pause, Throttle, Ticket
from judgeaudit.engine.window import End
from judgeaudit.judges.base import Judge

__all__ = ["MakeJudge", "Provider", "Share", "Worker", "as_error", "plain_error"]

MakeJudge = Callable[[Plan, Limits], Judge]

_FOR_EVER = 1e9
_ERRORS: dict[str, type[JudgeAuditError]] = {
    c.__name__: c
    for c in (
        *(ConfigError, LedgerError, DiskError),
        *(JudgeError, PermanentError, QuotaExhaustedError),
    )
}


def plain_error(error: JudgeAuditError) -> dict[str, Any]:
    """Return an error as a plain record: exceptions of libraries do not survive the way."""
    kind = next(c.__name__ for c in type(error).__mro__ if c.__name__ in _ERRORS or c is object)
    out: dict[str, Any] = {"kind": kind, "what": error.what, "where": error.where}
    out["mend"] = error.mend
    if isinstance(error, JudgeError):
        out |= {"status": error.status, "code": error.code}
    return out


def as_error(record: dict[str, Any]) -> JudgeAuditError:
    """Rebuild an error from its record."""
    given = dict(record)
    return _ERRORS.get(given.pop("kind"), JudgeAuditError)(given.pop("what"), **given)


class Provider:
    """Window, rates, gate and budget of one provider, for all workers: a named actor.

    Parameters
    ----------
    limits : Limits
        For all workers together.
    caps, used
        Of the budget.
    """

    def __init__(self, limits: Limits, caps: Caps, used: Amount) -> None:
        self._throttle = Throttle(limits)
        self._budget = Budget(caps, used)
        self._tickets: dict[str, list[Ticket]] = {}
        self._reserved: dict[str, list[Amount]] = {}
        self._gone: set[str] = set()

    async def enter(self, who: str, tokens: int) -> Ticket:
        """Wait for leave to make one request."""
        ticket = await self._throttle.enter(tokens, asyncio.sleep)
        if who in self._gone:
            self._throttle.leave(ticket, "other", 0.0)
        else:
            self._tickets.setdefault(who, []).append(ticket)
        return ticket

    async def leave(
        self, who: str, ticket: Ticket, end: End, seconds: float, tokens: int | None
    ) -> None:
        """Take a leave back."""
        mine = self._tickets.get(who, [])
        if ticket in mine:
            mine.remove(ticket)
            self._throttle.leave(ticket, end, seconds, tokens)

    async def hold(self, seconds: float) -> None:
        """Let nobody pass for so long."""
        self._throttle.hold(seconds)

    async def reserve(self, who: str, want: Amount) -> dict[str, Any] | None:
        """Reserve an amount, or return why not."""
        spent = await self._budget.reserve(want)
        if spent is not None:
            return plain_error(spent)
        if who in self._gone:
            self._budget.settle(want, Amount())
        else:
            self._reserved.setdefault(who, []).append(want)
        return None

    async def settle(self, who: str, reserved: Amount, used: Amount) -> None:
        """Put what was really used in the place of a reservation."""
        mine = self._reserved.get(who, [])
        if reserved in mine:
            mine.remove(reserved)
            self._budget.settle(reserved, used)

    async def forget(self, who: str) -> None:
        """Free what a worker held that is no more; what it had in flight may have to be paid."""
        self._gone.add(who)
        for ticket in self._tickets.pop(who, []):
            self._throttle.leave(ticket, "other", 0.0)
        for amount in self._reserved.pop(who, []):
            self._budget.settle(amount, amount)

    async def ready(self) -> int:
        """Return the process id."""
        return os.getpid()


class _RemoteThrottle:
    """A throttle in another process."""

    def __init__(self, provider: Any, who: str) -> None:
        self._provider = provider
        self._who = who

    async def enter(self, tokens: int, pause: Pause) -> Ticket:
        """Wait for leave; what `pause` raises ends the wait."""
        leave = asyncio.ensure_future(_got(self._provider.enter.remote(self._who, tokens)))
        stopped = asyncio.ensure_future(pause(_FOR_EVER))
        try:
            await asyncio.wait({leave, stopped}, return_when=asyncio.FIRST_COMPLETED)
            if leave.done():
                return leave.result()
        finally:
            if not leave.done():
                # it will be given all the same: give it back then
                leave.add_done_callback(self._back)
            stopped.cancel()
        await stopped
        raise AssertionError("a pause for ever ended")

    def _back(self, leave: asyncio.Future[Ticket]) -> None:
        if not leave.cancelled() and leave.exception() is None:
            self.leave(leave.result(), "other", 0.0, 0)

    def leave(self, ticket: Ticket, end: End, seconds: float, tokens: int | None = None) -> None:
        """Tell how the request ended."""
        self._provider.leave.remote(self._who, ticket, end, seconds, tokens)

    def hold(self, seconds: float) -> None:
        """Let nobody pass for so long."""
        self._provider.hold.remote(seconds)


class _RemoteBudget:
    """A budget in another process."""

    def __init__(self, provider: Any, who: str) -> None:
        self._provider = provider
        self._who = who

    async def reserve(self, want: Amount) -> JudgeError | None:
        """Reserve an amount, or return why not."""
        spent = await self._provider.reserve.remote(self._who, want)
        if spent is None:
            return None
        error = as_error(spent)
        assert isinstance(error, JudgeError)
        return error

    def settle(self, reserved: Amount, used: Amount) -> None:
        """Put what was really used in the place of a reservation."""
        self._provider.settle.remote(self._who, reserved, used)


async def _got(ref: Any) -> Ticket:
    ticket: Ticket = await ref
    return ticket


@dataclass(frozen=True, slots=True)
class Share:
    """What a worker is given.

    Parameters
    ----------
    path : Path
        Its own ledger.
    only : array of bool, shape (n_calls,)
        Its calls.
    capped : bool
        Whether there is a budget.
    """

    meta: RunMeta
    path: Path
    only: NDArray[np.bool_]
    limits: Limits
    price: Price | None
    capped: bool
    make_judge: MakeJudge | None


class _Counted(SilentProgress):
    def __init__(self) -> None:
        self.fresh: list[tuple[str, float | None]] = []
        self.lines: list[str] = []

    def count(self, outcome: str, cost: float | None) -> None:
        """Keep one call until it is asked for."""
        self.fresh.append((outcome, cost))

    def note(self, line: str) -> None:
        """Keep a line until it is asked for."""
        self.lines.append(line)


class Worker:
    """Asks its share of a plan and writes its own ledger: an actor.

    Parameters
    ----------
    who : str
        Its name.
    provider : handle
        Of the `Provider`.
    """

    def __init__(self, who: str, provider: Any) -> None:
        self._who = who
        self._provider = provider
        self._control = RunControl()
        self._progress = _Counted()

    async def run(
        self, plan: Plan, share: Share
    ) -> tuple[RunSummary | None, dict[str, Any] | None]:
        """Ask the share; return what was done, or why it had to stop."""
        try:
            make = share.make_judge or _judge
            judge = make(plan, share.limits)
            try:
                with Ledger.open(share.path, share.meta, plan) as ledger:
                    summary = await run_plan(
                        plan,
                        judge,
                        ledger,
                        limits=share.limits,
                        progress=self._progress,
                        control=self._control,
                        throttle=_RemoteThrottle(self._provider, self._who),
                        budget=_RemoteBudget(self._provider, self._who) if share.capped else None,
                        price=share.price,
                        only=share.only,
                    )
            finally:
                await judge.aclose()
        except JudgeAuditError as error:
            return None, plain_error(error)
        return summary, None

    async def news(self) -> tuple[list[tuple[str, float | None]], list[str]]:
        """Return the calls counted and the lines said since the last time."""
        out = self._progress.fresh, self._progress.lines
        self._progress.fresh, self._progress.lines = [], []
        return out

    async def interrupt(self) -> None:
        """Drain (first time) or stop now."""
        self._control.interrupt()


def _judge(plan: Plan, limits: Limits) -> Judge:
    return judge_of(plan.judge, plan.items, limits.attempt_seconds)
