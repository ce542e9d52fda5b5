"""One request of a call: leave to make it, its deadline, and what its end says."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from judgeaudit.core.errors import JudgeAuditError, JudgeError, PermanentError, TransientError
from judgeaudit.core.records import Call, JudgePrompt, Reply
from judgeaudit.engine.breaker import RESUME
from judgeaudit.engine.failures import classify
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.meter import Meter
from judgeaudit.engine.throttle import ThrottleLike
from judgeaudit.engine.window import End
from judgeaudit.judges.base import Judge

__all__ = ["Asker", "DrainedError", "Tally"]

_BUSY = frozenset({"server", "timeout", "connection"})


class DrainedError(Exception):
    """A wait was cut short because the run is stopping."""


@dataclass(slots=True)
class Tally:
    """One call while it is being asked."""

    attempts: int = 0
    began: float = 0.0
    seconds: float = 0.0
    error: TransientError | None = None


@dataclass(slots=True, eq=False)
class Asker:
    """Makes single requests; never retries.

    Parameters
    ----------
    judge, limits, throttle, meter
        Who is asked, within what.
    draining : asyncio.Event
        Set once no new request may be made.
    fatal : JudgeAuditError, optional
        Why the run must stop, if it must.
    requests : int
        Requests made.
    """

    judge: Judge
    limits: Limits
    throttle: ThrottleLike
    meter: Meter
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    fatal: JudgeAuditError | None = None
    requests: int = 0

    def give_up(self, error: JudgeAuditError) -> None:
        """Stop the run for this reason, unless it is stopping for another."""
        if self.fatal is None:
            self.fatal = error
            self.draining.set()

    async def pause(self, seconds: float) -> None:
        """Wait; raise `DrainedError` as soon as the run is stopping."""
        try:
            async with asyncio.timeout(seconds):
                await self.draining.wait()
        except TimeoutError:
            return
        raise DrainedError

    async def ask(self, prompt: JudgePrompt, call: Call, tally: Tally) -> Reply:
        """Make one request, once throttle and budget give leave."""
        forecast = self.meter.forecast(prompt)
        ticket = await self.throttle.enter(forecast.likely, self.pause)
        end: End = "other"
        used: int | None = 0  # nothing, where no request is made
        began = time.monotonic()
        try:
            self._check(tally, began)
            used = None
            reply = await self._request(prompt, call, tally, began)
            end, used = "answered", _tokens(reply)
        except TransientError as error:
            kind = classify(error)
            if kind == "rate_limit":
                end = "limited"
            elif kind in _BUSY:
                end = "failed"
            raise
        finally:
            self.throttle.leave(ticket, end, time.monotonic() - began, used)
        self.meter.learn(prompt, reply)
        return reply

    def _check(self, tally: Tally, now: float) -> None:
        if self.draining.is_set():
            raise DrainedError
        most = self.limits.requests
        if most is not None and self.requests >= most:
            self.give_up(JudgeError(f"the budget of {most} requests is spent", mend=RESUME))
            raise DrainedError
        if tally.attempts == 0:
            tally.began = now
        elif tally.error is not None and now >= tally.began + self.limits.call_seconds:
            raise tally.error

    async def _request(self, prompt: JudgePrompt, call: Call, tally: Tally, now: float) -> Reply:
        left = min(self.limits.attempt_seconds, tally.began + self.limits.call_seconds - now)
        tally.attempts += 1
        self.requests += 1
        try:
            async with asyncio.timeout(left):
                reply = await self.judge.ask(prompt, call)
        except TimeoutError:
            tally.error = TransientError(f"no answer within {left:.3g} s", code="timeout")
            raise tally.error from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            # a client library cancelled itself: that must not end the worker unnoticed
            tally.error = TransientError("the client dropped the request", code="cancelled")
            raise tally.error from None
        except TransientError as error:
            tally.error = error
            self._hold(error)
            raise
        if not isinstance(reply, Reply):
            raise PermanentError(f"the judge returned a {type(reply).__name__}, not a Reply")
        tally.seconds = time.monotonic() - now
        return reply

    def _hold(self, error: TransientError) -> None:
        if error.retry_after is None or error.retry_after <= 0:
            return
        if error.retry_after > self.limits.longest_wait:
            self.give_up(
                JudgeError(
                    f"the server asks to wait {error.retry_after:.0f} s, longer than the "
                    f"{self.limits.longest_wait:.0f} s allowed: {error.what}",
                    mend=RESUME,
                    status=error.status,
                )
            )
        else:
            self.throttle.hold(error.retry_after)


def _tokens(reply: Reply) -> int | None:
    if reply.prompt_tokens is None or reply.completion_tokens is None:
        return None
    return reply.prompt_tokens + reply.completion_tokens
