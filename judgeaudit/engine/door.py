"""The synchronous door: a run in a thread of its own, so that it works inside a notebook too."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final, TypeVar

from judgeaudit.engine.budget import BudgetLike
from judgeaudit.engine.control import Control, Decide, RunControl
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Gate, Limits
from judgeaudit.engine.plan import Plan
from judgeaudit.engine.progress import Progress, SilentProgress
from judgeaudit.engine.runner import Parse, RunSummary, run_plan
from judgeaudit.engine.throttle import ThrottleLike
from judgeaudit.judges.base import Judge

__all__ = ["HANGUP", "in_thread", "run_plan_closing", "run_plan_sync", "signals"]

T = TypeVar("T")

HANGUP: Final[signal.Signals | None] = getattr(signal, "SIGHUP", None)
"""The terminal was closed; not every system has it."""

_CLOSING: Final = 30.0


async def run_plan_closing(
    plan: Plan, judge: Judge, ledger: Ledger, *, close_judge: bool = True, **bounds: Any
) -> RunSummary:
    """Run a plan, and close its judge on the event loop that its connections belong to.

    Parameters
    ----------
    plan, judge, ledger, bounds
        As of `run_plan`.
    close_judge : bool
        False: the caller closes it, on the same loop.
    """
    try:
        return await run_plan(plan, judge, ledger, **bounds)
    finally:
        if close_judge:
            # a connection that does not close must not keep the answers from their reader
            with suppress(TimeoutError):
                async with asyncio.timeout(_CLOSING):
                    await judge.aclose()


def run_plan_sync(
    plan: Plan,
    judge: Judge,
    ledger: Ledger,
    *,
    limits: Limits | None = None,
    progress: Progress | None = None,
    control: RunControl | None = None,
    gate: Gate | None = None,
    throttle: ThrottleLike | None = None,
    budget: BudgetLike | None = None,
    price: Price | None = None,
    parse: Parse | None = None,
    decide: Decide | None = None,
    close_judge: bool = True,
) -> RunSummary:
    """Run a plan and return when it is done; `run_plan` for callers without `await`.

    The run has an event loop in a thread of its own, also where a loop is running already. While
    it lasts, and if called from the main thread, the first Ctrl-C (or SIGTERM, or SIGHUP of a
    terminal that was closed) finishes the calls in flight, the second drops them, the third is
    left to Python.

    Parameters
    ----------
    plan, judge, ledger, limits, progress, control, gate, throttle, budget, price, parse, decide
        As of `run_plan`.
    close_judge : bool
        Whether to close the judge at the end. Its connections belong to this run's event loop,
        so they cannot be closed later.

    Returns
    -------
    RunSummary
        `interrupted` says whether a signal ended the run early.

    Raises
    ------
    JudgeAuditError
        As of `run_plan`.
    """
    control = control or RunControl()
    progress = progress or SilentProgress()
    limits = limits or Limits()

    async def story() -> RunSummary:
        return await run_plan_closing(
            plan,
            judge,
            ledger,
            limits=limits,
            progress=progress,
            control=control,
            gate=gate,
            throttle=throttle,
            budget=budget,
            price=price,
            parse=parse,
            decide=decide,
            close_judge=close_judge,
        )

    with signals(control, progress, limits):
        return in_thread(story)


def in_thread(story: Callable[[], Awaitable[T]]) -> T:
    """Run in an event loop of its own, in a thread of its own: also where one is running."""
    done: list[T] = []
    raised: list[BaseException] = []

    async def told() -> T:
        return await story()

    def target() -> None:
        try:
            done.append(asyncio.run(told()))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            raised.append(error)

    thread = threading.Thread(target=target, name="judgeaudit-loop", daemon=True)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return done[0]


@contextmanager
def signals(control: Control, progress: Progress, limits: Limits) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and SIGHUP interrupt a run while this lasts; in the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: dict[int, Any] = {}

    def on_signal(number: int, _frame: FrameType | None) -> None:
        # a shell and the kernel may both tell of a closed terminal: that is no impatience
        if number == HANGUP and control.interrupts:
            return
        asked = control.interrupt()
        if asked == 1:
            progress.note(
                "stopping: finishing the calls in flight (at most "
                f"{limits.attempt_seconds:.0f} s); interrupt again to stop now"
            )
        else:
            progress.note("stopping now; what was answered is kept")
            _restore(before)

    for number in (signal.SIGINT, signal.SIGTERM, *([] if HANGUP is None else [HANGUP])):
        before[number] = signal.getsignal(number)
        if number == HANGUP and before[number] == signal.SIG_IGN:  # under nohup
            del before[number]
            continue
        # a handler that was not set from Python (None) could not be put back
        if before[number] is None:
            del before[number]
            continue
        signal.signal(number, on_signal)
    try:
        yield
    finally:
        _restore(before)


def _restore(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
