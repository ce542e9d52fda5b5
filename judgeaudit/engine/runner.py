"""The runner: asks every open call of a plan, and is the only place that retries."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgeaudit.core.errors import (
    ConfigError,
    JudgeError,
    LedgerError,
    PermanentError,
    QuotaExhaustedError,
    TransientError,
)
from judgeaudit.core.records import Call, JudgePrompt, Label, Reply, Verdict
from judgeaudit.engine.attempt import Asker, DrainedError, Tally
from judgeaudit.engine.breaker import RESUME, Breaker
from judgeaudit.engine.budget import BudgetLike
from judgeaudit.engine.control import Decide, RunControl
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.failures import UNREACHABLE, describe, failure_row
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Gate, Limits, backoff, hands
from judgeaudit.engine.longer import both, cut_words
from judgeaudit.engine.meter import Meter, answer_cap
from judgeaudit.engine.plan import Plan
from judgeaudit.engine.progress import Progress, SilentProgress
from judgeaudit.engine.summary import RunSummary
from judgeaudit.engine.throttle import Throttle, ThrottleLike
from judgeaudit.engine.watch import Watch
from judgeaudit.engine.writer import Answer, Failure, Row
from judgeaudit.judges._confidence import sourced
from judgeaudit.judges.base import Judge, RoomyJudge

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from tenacity import RetryCallState

__all__ = ["Parse", "RunSummary", "run_plan"]

Parse = Callable[[Reply], Verdict]

_TRIES_AT_FIRST = 2


@dataclass(slots=True, eq=False)
class _Run:
    plan: Plan
    ledger: Ledger
    limits: Limits
    asker: Asker
    progress: Progress
    parse: Parse
    breaker: Breaker
    source: str = "stated"
    decide: Decide | None = None
    todo: Iterator[int] = field(default_factory=lambda: iter(()))
    workers: list[asyncio.Task[None]] = field(default_factory=list)
    outcomes: Counter[str] = field(default_factory=Counter)
    cost: float | None = 0.0

    async def work(self, n_open: int) -> None:
        """Run the pool until nothing is left, or something stops it."""
        # the first call alone: a wrong address, key or name costs one call, and clients warm up
        await self._pool(min(1, n_open), most=1)
        await self._pool(min(hands(self.limits.concurrency), n_open - 1))

    async def _pool(self, n: int, most: int | None = None) -> None:
        if n < 1 or self.asker.draining.is_set():
            return
        self.ledger.batch_by(min(n, self.limits.concurrency))
        calls = itertools.islice(self.todo, most)
        self.workers = [asyncio.create_task(self._worker(calls)) for _ in range(n)]
        try:
            await asyncio.wait(self.workers, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in self.workers:
                task.cancel()
            ends = await asyncio.gather(*self.workers, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):
                raise end

    def drain(self) -> None:
        """Make no new request; calls in flight go on."""
        self.asker.draining.set()

    def stop(self) -> None:
        """Drop the calls in flight."""
        self.asker.draining.set()
        for task in self.workers:
            task.cancel()

    async def _worker(self, calls: Iterator[int]) -> None:
        for position in calls:
            if self.asker.draining.is_set():
                return
            await self._one(position)

    async def _one(self, position: int) -> None:
        prompt, call = self.plan.prompt(position), self.plan.call(position)
        tally = Tally()
        try:
            reply = await self._ask(prompt, call, tally)
        except DrainedError:
            # asked, failed, and not asked again: that must not vanish either
            if tally.error is not None:
                await self._failed(position, tally.error, tally)
        except QuotaExhaustedError as error:
            # before the failure is recorded: this, not the breaker's words, is why the run stops
            self._out_of_credit(error)
            await self._failed(position, error, tally)
        except Exception as error:  # noqa: BLE001 - one call's failure is a record, not the run's
            await self._failed(position, error, tally)
        else:
            await self._answered(position, reply, tally)

    def _out_of_credit(self, error: QuotaExhaustedError) -> None:
        self.asker.give_up(
            QuotaExhaustedError(
                error.what,
                where=error.where,
                mend=error.mend or RESUME,
                status=error.status,
                code=error.code,
            )
        )

    async def _ask(self, prompt: JudgePrompt, call: Call, tally: Tally) -> Reply:
        # nearly all are answered at once, and tenacity costs as much as all else that a call takes
        try:
            return await self.asker.ask(prompt, call, tally)
        except TransientError as error:
            first = [error]
        return await self._retried(first, prompt, call, tally)

    async def _retried(
        self, first: list[TransientError], prompt: JudgePrompt, call: Call, tally: Tally
    ) -> Reply:
        from tenacity import AsyncRetrying, retry_if_exception_type

        async def ask(prompt: JudgePrompt, call: Call, tally: Tally) -> Reply:
            if first:  # it was made already: what follows is decided by the same rules
                raise first.pop()
            return await self.asker.ask(prompt, call, tally)

        # fresh for each call: tenacity keeps state in it, and calls run side by side
        retrying = AsyncRetrying(
            retry=retry_if_exception_type(TransientError),
            wait=self._wait,
            stop=self._enough,
            sleep=self.asker.pause,
            reraise=True,
        )
        return await retrying(ask, prompt, call, tally)

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, TransientError) else None
        return backoff(self.limits, state.attempt_number, asked)

    def _enough(self, state: RetryCallState) -> bool:
        tally: Tally = state.args[2]
        spent = time.monotonic() - tally.began
        return (
            tally.attempts >= self.limits.attempts
            or spent + state.upcoming_sleep >= self.limits.call_seconds
            or self.asker.draining.is_set()
            # a wrong address is told at once; an outage in mid-run is waited for
            or (
                self.breaker.untried
                and tally.attempts >= _TRIES_AT_FIRST
                and tally.error is not None
                and tally.error.code == UNREACHABLE
            )
        )

    async def _answered(self, position: int, reply: Reply, tally: Tally) -> None:
        verdict = self._read(reply)
        if verdict.outcome == "error":
            # an answer that is no answer: recorded as a failure, and asked again by a rerun
            await self._failed(position, PermanentError(verdict.note or "no answer"), tally)
            return
        if verdict.outcome == "truncated" and self.limits.retry_truncated is not None:
            reply, verdict = await self._longer(position, reply, verdict, tally)
        seconds = reply.seconds or tally.seconds
        await self._commit(Answer(position, reply, verdict, tally.attempts, seconds))
        self.breaker.answered()
        if reply.cost is None:
            self.cost = None
        elif self.cost is not None:
            self.cost += reply.cost
        self._count(verdict.outcome, reply.cost)
        self._look(position, verdict.label)

    def _look(self, position: int, label: Label | None) -> None:
        if self.decide is not None and self.decide(position, label):
            self.drain()

    def _read(self, reply: Reply) -> Verdict:
        try:
            return sourced(self.parse(reply), reply, self.source)
        except Exception as error:  # noqa: BLE001 - the answer was paid for and must be kept
            return Verdict(outcome="unparseable", note=f"the parser failed: {describe(error)}")

    async def _longer(
        self, position: int, cut: Reply, verdict: Verdict, tally: Tally
    ) -> tuple[Reply, Verdict]:
        """Ask once more with a larger cap; where that fails, the cut answer stays the answer."""
        cap = self.limits.retry_truncated
        row = Failure(
            position, "truncated", None, cut.finish_reason, cut_words(cut), tally.attempts
        )
        tally.attempts, tally.began, tally.error, tally.cap = 0, 0.0, None, cap
        prompt, call = self.plan.prompt(position), self.plan.call(position)
        try:
            reply = await self._ask(prompt, call, tally)
            read = self._read(reply)
        except Exception as error:  # noqa: BLE001 - what was paid for is kept
            if isinstance(error, QuotaExhaustedError):
                self._out_of_credit(error)
            # the requests of the cut answer, and those that failed since
            tally.attempts += row.attempts
            why = "the run was stopped" if isinstance(error, DrainedError) else describe(error)
            note = f"asked again with a cap of {cap} tokens: {why}"
            return cut, verdict.model_copy(update={"note": note})
        await self._commit(row)
        note = f"asked again with a cap of {cap} tokens, since the first answer was cut"
        if read.note:
            note += f"; {read.note}"
        return both(cut, reply), read.model_copy(update={"note": note})

    async def _failed(self, position: int, error: Exception, tally: Tally) -> None:
        await self._commit(failure_row(position, error, tally.attempts))
        self._count("error", None)
        self._look(position, None)
        why = self.breaker.failed(error)
        if why is not None:
            self.asker.give_up(why)

    async def _commit(self, row: Row) -> None:
        await self.ledger.submit(row)

    def _count(self, outcome: str, cost: float | None) -> None:
        self.outcomes[outcome] += 1
        self.progress.count(outcome, cost)


def _check_belonging(plan: Plan, judge: Judge, ledger: Ledger, limits: Limits) -> None:
    if ledger.plan_sha256 != plan.sha256:
        raise LedgerError("the ledger is of another plan", where=str(ledger.path))
    if judge.spec.sha256 != plan.judge_sha256:
        raise ConfigError(f"the plan is for the judge {plan.judge.model!r}, not for this one")
    larger, cap = limits.retry_truncated, answer_cap(plan.judge.decoding)
    if larger is not None and not isinstance(judge, RoomyJudge):
        raise ConfigError(
            f"a judge of the backend {plan.judge.backend!r} cannot be asked for a longer answer",
            mend="Leave --retry-truncated out",
        )
    if larger is not None and cap is not None and larger <= cap:
        raise ConfigError(
            f"--retry-truncated {larger} is no more than the cap of {cap} tokens",
            mend="Give a larger one",
        )


async def run_plan(
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
    only: NDArray[np.bool_] | None = None,
) -> RunSummary:
    """Ask every call of the plan that the ledger has no answer for.

    Parameters
    ----------
    plan : Plan
        The calls, in the order of asking.
    judge : Judge
        Makes one request a time it is asked; not closed here.
    ledger : Ledger
        Open for writing, of the same plan.
    limits : Limits, optional
        Concurrency, deadlines, retries.
    progress : Progress, optional
        Told of every committed call; silent by default.
    control : RunControl, optional
        Drains or stops the run from outside.
    gate : Gate, optional
        Shut by a Retry-After; for runs that share nothing else.
    throttle : ThrottleLike, optional
        Window, rates and gate, shared by all judges of one provider; made from `limits` by
        default.
    budget : BudgetLike, optional
        Caps on what the run may use, with what it used already.
    price : Price, optional
        Of the judge's tokens.
    parse : callable, optional
        Reply -> Verdict; by default the parser of the judge's output format.
    decide : Decide, optional
        Where it says so, calls in flight end and no other is made.
    only : array of bool, shape (n_calls,), optional
        Calls that are this run's share; the others are left alone.

    Returns
    -------
    RunSummary
        Also where the run was interrupted. Cancelling this coroutine drops the calls in flight,
        commits what was answered, and raises `CancelledError`.

    Raises
    ------
    ConfigError
        The very first call of a new run found no server, a refused key, an unknown model or a
        refused parameter.
    QuotaExhaustedError
        The account is out of credit; everything answered is kept.
    JudgeError
        The first call failed in another way, too many in a row failed, all failed, the budget is
        spent, or the server asks for too long a wait.
    LedgerError
        The ledger cannot be written any more (a full disk).
    """
    if parse is None:
        from judgeaudit.judges import parsing

        parse = parsing.parser_of(plan.judge.output_format)
    limits = limits or Limits()
    progress = progress or SilentProgress()
    control = control or RunControl()
    _check_belonging(plan, judge, ledger, limits)
    began = time.monotonic()
    positions = ledger.open_positions()
    planned = plan.n_calls
    if only is not None:
        positions, planned = positions[only[positions]], int(only.sum())
    before = planned - int(positions.size)
    breaker = Breaker(limits, fresh=before == 0)
    throttle = throttle or Throttle(limits, gate=gate)
    meter = Meter(answer_cap(plan.judge.decoding))
    watch = Watch(progress.note, first=limits.watch_seconds, served=ledger.served_models())
    asker = Asker(judge, limits, throttle, meter, watch, budget, price)
    source = str(ledger.meta.extra.get("confidence", "stated"))
    run = _Run(plan, ledger, limits, asker, progress, parse, breaker, source, decide)
    run.todo = (int(p) for p in positions)
    control.bind(asyncio.get_running_loop(), run.drain, run.stop)
    progress.begin(planned, before)
    if decide is not None and decide.decided():
        run.drain()
    watching = asyncio.create_task(watch.run())
    try:
        await run.work(int(positions.size))
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        control.unbind()
        progress.end()
        if ledger.broken is None:
            ledger.flush()
    failed = run.outcomes.pop("error", 0)
    answered = run.outcomes.total()
    if asker.fatal is not None:
        raise asker.fatal
    if failed and not answered and not before and not control.interrupts:
        error = await asyncio.to_thread(ledger.failures)
        raise JudgeError(
            f"all {failed:,} calls failed; the last: {error[-1]['message']}", mend=RESUME
        )
    if failed:
        run.outcomes["error"] = failed
    return RunSummary(
        planned=planned,
        answered_before=before,
        answered=answered,
        failed=failed,
        requests=asker.requests,
        outcomes=dict(run.outcomes),
        cost=run.cost,
        seconds=time.monotonic() - began,
        interrupted=control.interrupts > 0 and before + answered + failed < planned,
    )
