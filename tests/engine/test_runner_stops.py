"""A run that must stop, stops: and keeps what it has."""

from __future__ import annotations

import asyncio

import pytest
from engine_world import PromptJudge, ask_all, busy, fails, make_plan, open_ledger, parse

from judgeaudit.core.errors import (
    ConfigError,
    JudgeError,
    PermanentError,
    QuotaExhaustedError,
    TransientError,
)
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.runner import run_plan
from judgeaudit.engine.verify import broken_links


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


def too_long():
    return PermanentError("too long", status=400, code="context_length_exceeded")


def test_quota_stops_the_judge_at_once_and_keeps_everything(path):
    plan = make_plan(6)
    hit = plan.call(20).id

    def fault(_nth, call):
        if call.id == hit:
            raise QuotaExhaustedError("out of credit", status=429, code="insufficient_quota")

    judge = PromptJudge(fault, delay=0.001)
    with pytest.raises(QuotaExhaustedError, match="out of credit") as caught:
        ask_all(path, plan, judge, concurrency=4)
    assert caught.value.exit_code == 3
    assert judge.requests <= 20 + 4
    assert judge.asked[hit] == 1
    with Ledger.open_readonly(path) as view:
        assert view.n_answered == judge.requests - 1
        assert [f["class"] for f in view.failures()] == ["quota"]
    again = PromptJudge()
    ask_all(path, plan, again)
    assert again.requests == plan.n_calls - (judge.requests - 1)


def test_the_first_calls_failing_alike_stop_the_run(path):
    plan = make_plan(20)
    judge = PromptJudge(fails(9, too_long))
    with pytest.raises(JudgeError, match="the first 20 calls all failed in the same way: 400, too"):
        ask_all(path, plan, judge, concurrency=4)
    assert 20 <= judge.requests <= 24


def test_first_calls_failing_in_different_ways_do_not_stop_it(path):
    plan = make_plan(6)
    seen = iter(range(10**6))

    def fault(_nth, _call):
        if (n := next(seen)) < 25:
            raise (too_long() if n % 2 == 0 else PermanentError("no", code="content_filter"))

    summary = ask_all(path, plan, PromptJudge(fault), concurrency=64)
    assert (summary.failed, summary.answered) == (25, plan.n_calls - 25)


def test_an_outage_in_mid_run_stops_it(path):
    plan = make_plan(20)
    seen = iter(range(10**6))

    def fault(_nth, _call):
        if next(seen) >= 100:
            raise TransientError("no route", code="unreachable")

    judge = PromptJudge(fault)
    with pytest.raises(
        JudgeError, match=r"20 calls in a row failed: no route\. All answers so far"
    ):
        ask_all(path, plan, judge, concurrency=4, attempts=2)
    with Ledger.open_readonly(path) as view:
        assert view.n_answered == 100


@pytest.mark.parametrize(
    ("error", "requests"),
    [
        (lambda: TransientError("no server answers", code="unreachable"), 2),
        (lambda: PermanentError("bad key", status=401), 1),
        (lambda: PermanentError("no such model", status=404), 1),
    ],
)
def test_a_hopeless_first_call_is_a_mistake_in_the_settings(path, error, requests):
    plan, judge = make_plan(5), PromptJudge(fails(99, error))
    with pytest.raises(ConfigError, match="the first call failed: ") as caught:
        ask_all(path, plan, judge)
    assert (caught.value.exit_code, judge.requests) == (2, requests)


def test_a_first_call_that_fails_otherwise_stops_the_run_and_a_rerun_gets_past_it(path):
    plan = make_plan(5)
    judge = PromptJudge(fails(99, busy(), only=lambda c: c.id == plan.call(0).id))
    with pytest.raises(JudgeError, match="the first call failed: 503, busy") as caught:
        ask_all(path, plan, judge, attempts=3)
    assert (caught.value.exit_code, judge.requests) == (3, 3)
    summary = ask_all(path, plan, judge, attempts=3)
    assert (summary.answered, summary.failed) == (plan.n_calls - 1, 1)
    assert judge.order[-1] == plan.call(0)


def test_an_items_own_failures_never_stop_a_run_that_answers(path):
    plan = make_plan(20)
    judge = PromptJudge(fails(9, too_long, only=lambda c: c.id != plan.call(0).id))
    summary = ask_all(path, plan, judge, concurrency=4)
    assert (summary.answered, summary.failed) == (1, plan.n_calls - 1)


def test_in_a_resumed_run_it_is_an_outage(path):
    plan = make_plan(5)
    judge = PromptJudge(fails(99, too_long, only=lambda c: c.repeat > 0))
    ask_all(path, plan, judge)
    refused = PromptJudge(fails(99, lambda: PermanentError("bad key", status=401)))
    with pytest.raises(JudgeError, match=r"the first call failed: 401, bad key") as caught:
        ask_all(path, plan, refused)
    assert (caught.value.exit_code, refused.requests) == (3, 1)


def test_too_long_a_wait_stops_the_run(path):
    plan = make_plan(5)
    judge = PromptJudge(
        fails(99, busy(retry_after=7200), only=lambda c: c.id == plan.call(30).id), delay=0.001
    )
    with pytest.raises(JudgeError, match="asks to wait 7200 s, longer than the 600 s allowed"):
        ask_all(path, plan, judge, concurrency=4)
    assert judge.requests < plan.n_calls
    with Ledger.open_readonly(path) as view:
        assert view.n_answered == judge.requests - 1


def test_a_drain_finishes_what_is_in_flight_and_asks_no_more(path):
    plan, control = make_plan(6), RunControl()

    def interrupt(_nth, _call):
        if judge.requests >= 30 and not control.interrupts:
            control.interrupt()

    judge = PromptJudge(interrupt, delay=0.005)
    summary = ask_all(path, plan, judge, control=control, concurrency=6)
    assert summary.interrupted
    assert 30 <= judge.requests == summary.answered <= 36
    again = PromptJudge()
    assert ask_all(path, plan, again).answered == plan.n_calls - summary.answered
    assert not set(again.asked) & set(judge.asked)


def test_a_drain_cuts_waits_short_and_records_what_had_failed(path):
    plan, control = make_plan(3), RunControl()
    judge = PromptJudge(fails(9, busy(), only=lambda c: c.repeat == 1))

    async def later():
        await asyncio.sleep(0.2)
        control.interrupt()

    async def story():
        with open_ledger(path, plan) as ledger:
            limits = Limits(concurrency=60, backoff_first=60)
            helper = asyncio.create_task(later())
            summary = await run_plan(
                plan, judge, ledger, limits=limits, control=control, parse=parse
            )
            await helper
            return summary

    summary = asyncio.run(asyncio.wait_for(story(), 20))
    n = sum(plan.call(k).repeat == 1 for k in range(plan.n_calls))
    assert (summary.failed, summary.answered) == (n, plan.n_calls - n)
    with Ledger.open_readonly(path) as view:
        assert {(f["class"], f["attempts"]) for f in view.failures()} == {("server", 1)}


def test_stopping_now_drops_what_is_in_flight_and_keeps_what_was_answered(path):
    plan, control = make_plan(6), RunControl()

    class Slow(PromptJudge):
        async def ask(self, prompt, call):
            reply = await super().ask(prompt, call)
            if self.requests > 40:
                control.interrupt()
                control.interrupt()
                await asyncio.Event().wait()
            return reply

    judge = Slow()
    summary = ask_all(path, plan, judge, control=control, concurrency=4)
    assert summary.interrupted
    assert judge.requests - 4 <= summary.answered < judge.requests
    with Ledger.open_readonly(path) as view:
        assert view.n_answered == summary.answered
        assert view.failures() == []


def test_cancelling_keeps_what_was_answered(path):
    class Watched(PromptJudge):
        async def ask(self, prompt, call):
            if self.requests >= 40:
                enough.set()
            return await super().ask(prompt, call)

    plan, judge, enough = make_plan(6), Watched(delay=0.01), asyncio.Event()

    async def story():
        with open_ledger(path, plan) as ledger:
            task = asyncio.create_task(run_plan(plan, judge, ledger, parse=parse))
            await enough.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(story())
    with Ledger.open_readonly(path) as view:
        assert 0 < view.n_answered <= judge.requests
        assert broken_links(view) == []
