"""One request of a call: leave to make it, its deadline, and what its end says."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import Final

from judgeaudit.core.errors import JudgeAuditError, JudgeError, PermanentError, TransientError
from judgeaudit.core.records import Call, JudgePrompt, Reply
from judgeaudit.engine.breaker import RESUME
from judgeaudit.engine.budget import Amount, BudgetLike
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.failures import classify
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.meter import Meter
from judgeaudit.engine.throttle import ThrottleLike
from judgeaudit.engine.watch import Watch
from judgeaudit.engine.window import End
from judgeaudit.judges.base import Judge, RoomyJudge

__all__ = ["Asker", "DrainedError", "Tally"]

_END: Final[dict[str, End]] = {
    "rate_limit": "limited",
    "server": "failed",
    "timeout": "failed",
    "connection": "failed",
}


class DrainedError(Exception):
    """A wait was cut short because the run is stopping."""


@dataclass(slots=True)
class Tally:
    """One call while it is being asked.

    Parameters
    ----------
    cap : int, optional
        Most tokens of an answer, where it is another one than the judge's own.
    """

    attempts: int = 0
    began: float = 0.0
    seconds: float = 0.0
    error: TransientError | None = None
    cap: int | None = None


@dataclass(slots=True, eq=False)
class Asker:
    """Makes single requests; never retries.

    Parameters
    ----------
    judge, limits, throttle, meter, watch
        Who is asked, within what, and who watches.
    budget : BudgetLike, optional
        What may be used; None: no cap.
    price : Price, optional
        Reckons what the budget reserves, and costs that a reply does not state.
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
    watch: Watch
    budget: BudgetLike | None = None
    price: Price | None = None
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
        """Make one request, once budget and throttle give leave."""
        forecast = self.meter.forecast(prompt, tally.cap)
        want = Amount.most(forecast, self.price)
        if self.budget is not None:
            spent = await self.budget.reserve(want)
            if spent is not None:
                self.give_up(spent)
                raise DrainedError
        used = Amount()  # nothing, where no request is made
        try:
            ticket = await self.throttle.enter(forecast.likely, self.pause)
            end: End = "other"
            tokens: int | None = 0
            began = time.monotonic()
            try:
                self._check(tally, began)
                used, tokens = want, None
                reply = self._priced(await self._request(prompt, call, tally, began))
                end, tokens = "answered", _tokens(reply)
                used = self._used(reply, want)
            except JudgeError as error:
                if isinstance(error, TransientError):
                    end = _END.get(classify(error), "other")
                if error.status is not None:
                    # the server says that it gave no answer; a timeout may have to be paid for
                    used = Amount(calls=1)
                raise
            finally:
                self.throttle.leave(ticket, end, time.monotonic() - began, tokens)
        finally:
            if self.budget is not None:
                self.budget.settle(want, used)
        self.meter.learn(prompt, reply)
        self.watch.served(call, reply)
        return reply

    def _priced(self, reply: Reply) -> Reply:
        price = self.price
        if price is None or (reply.cost is not None and not price.stated):
            return reply
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            return reply.model_copy(update={"cost": None}) if price.stated else reply
        cost = reply.prompt_tokens * price.prompt + reply.completion_tokens * price.completion
        return reply.model_copy(update={"cost": cost})

    def _used(self, reply: Reply, want: Amount) -> Amount:
        # what a server does not say is not nothing: the reservation stands for it
        tokens = _tokens(reply)
        usd = want.usd if reply.cost is None else reply.cost
        return Amount(usd, want.tokens if tokens is None else tokens, 1)

    def _check(self, tally: Tally, now: float) -> None:
        if self.draining.is_set():
            raise DrainedError
        if tally.attempts == 0:
            tally.began = now
        elif tally.error is not None and now >= tally.began + self.limits.call_seconds:
            raise tally.error

    async def _request(self, prompt: JudgePrompt, call: Call, tally: Tally, now: float) -> Reply:
        left = min(self.limits.attempt_seconds, tally.began + self.limits.call_seconds - now)
        tally.attempts += 1
        self.requests += 1
        flight = self.watch.begin(call, tally.attempts)
        try:
            async with asyncio.timeout(left):
                reply = await self._judged(prompt, call, tally.cap)
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
        finally:
            self.watch.end(flight)
        if not isinstance(reply, Reply):
            raise PermanentError(f"the judge returned a {type(reply).__name__}, not a Reply")
        tally.seconds = time.monotonic() - now
        return reply

    async def _judged(self, prompt: JudgePrompt, call: Call, cap: int | None) -> Reply:
        if cap is not None and isinstance(self.judge, RoomyJudge):
            return await self.judge.ask_longer(prompt, call, cap)
        return await self.judge.ask(prompt, call)

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
