"""One story, told in two ways: blocking its caller, or on the caller's own event loop.

A story is a coroutine that awaits nothing but its way. Told `Blocking`, each step is done when it
is awaited, so that the coroutine ends at once (`at_once`) and needs no event loop; asking alone has
one, in a thread of its own. Told `OnLoop`, requests are made on the loop that runs the story, and
what would hold that loop up (files, scoring) in a thread beside it. See
`docs/decisions/0408-one-story-two-ways.md`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeVar

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec
from judgeaudit.engine.door import in_thread, run_plan_closing, run_plan_sync
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.plan import Plan
from judgeaudit.engine.summary import RunSummary
from judgeaudit.judges.base import Judge

__all__ = ["Blocking", "OnLoop", "Way", "at_once"]

T = TypeVar("T")


class Way(Protocol):
    """How the steps of a story are taken."""

    async def aside(self, work: Callable[[], T]) -> T:
        """Do what blocks; it is over when this returns or raises, also where it was cancelled."""
        ...

    async def talk(self, story: Callable[[], Awaitable[T]]) -> T:
        """Do what needs an event loop."""
        ...

    async def ask(self, plan: Plan, judge: Judge, ledger: Ledger, **bounds: Any) -> RunSummary:
        """Run a plan and close its judge; `bounds` as of `run_plan`."""
        ...

    def check_patience(self, spec: AuditSpec) -> None:
        """Refuse an audit whose calls are made elsewhere and cannot be waited for in this way."""
        ...


class Blocking:
    """For callers without `await`, also inside a running event loop: a notebook's cell."""

    async def aside(self, work: Callable[[], T]) -> T:
        """Do it here."""
        return work()

    async def talk(self, story: Callable[[], Awaitable[T]]) -> T:
        """Do it on an event loop in a thread of its own."""
        return in_thread(story)

    async def ask(self, plan: Plan, judge: Judge, ledger: Ledger, **bounds: Any) -> RunSummary:
        """Run a plan in a thread; Ctrl-C drains it, see `run_plan_sync`."""
        return run_plan_sync(plan, judge, ledger, **bounds)

    def check_patience(self, spec: AuditSpec) -> None:
        """Refuse nothing: Ctrl-C ends any wait."""


class OnLoop:
    """For coroutines: everything that is awaited is awaited on the caller's loop."""

    async def aside(self, work: Callable[[], T]) -> T:
        """Do it in a thread; a cancellation is passed on once the thread is done."""
        # a thread cannot be stopped, and must not go on behind the back of who was told it ended
        future = asyncio.get_running_loop().run_in_executor(None, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            while not future.done():
                try:
                    await asyncio.wait([future])
                except asyncio.CancelledError:
                    continue
            future.exception()  # looked at: else the loop would complain that nobody did
            raise

    async def talk(self, story: Callable[[], Awaitable[T]]) -> T:
        """Do it here."""
        return await story()

    async def ask(self, plan: Plan, judge: Judge, ledger: Ledger, **bounds: Any) -> RunSummary:
        """Run a plan here; a cancellation drops the calls in flight and keeps what was answered."""
        return await run_plan_closing(plan, judge, ledger, **bounds)

    def check_patience(self, spec: AuditSpec) -> None:
        """Refuse what would hold a thread for hours that no cancellation ends.

        Raises
        ------
        ConfigError
            The audit waits for batches, or runs on Ray.
        """
        if spec.batch and not spec.batch_wait:
            return
        what = "waiting for batches" if spec.batch else f"the executor {spec.executor!r}"
        mend = "Give batch_wait=False and look again later, or call" if spec.batch else "Call"
        raise ConfigError(
            f"{what} cannot be cancelled on an event loop",
            mend=f"{mend} audit.run in a thread: await asyncio.to_thread(audit.run, ...)",
        )


def at_once(story: Coroutine[Any, None, T]) -> T:
    """Return what a story ends in that was told `Blocking`."""
    try:
        story.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    story.close()
    raise RuntimeError("a story that is told at once waited for something")
