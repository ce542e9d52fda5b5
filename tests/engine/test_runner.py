from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from engine_world import PromptJudge, make_plan, open_ledger, parse

from judgeaudit.core.errors import (
    ConfigError,
    JudgeError,
    PermanentError,
    QuotaExhaustedError,
    TransientError,
)
from judgeaudit.core.records import Verdict
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Gate, Limits
from judgeaudit.engine.runner import run_plan
from judgeaudit.engine.verify import broken_links

FAST = {"backoff_first": 0.001, "backoff_most": 0.002}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


def run(path, plan, judge, *, control=None, gate=None, reader=parse, **limits):
    async def story():
        with open_ledger(path, plan) as ledger:
            return await run_plan(
                plan,
                judge,
                ledger,
                limits=Limits(**{"concurrency": 8, **FAST, **limits}),
                control=control,
                gate=gate,
                parse=reader,
            )

    return asyncio.run(story())


def fails(times, error, only=lambda _: True):
    """Fail the first `times` requests of each chosen call."""

    def fault(nth, call):
        if nth <= times and only(call):
            raise error()

    return fault


def busy(**more):
    return lambda: TransientError("busy", status=503, **more)


def test_every_call_is_asked_once_and_committed(path):
    plan, judge = make_plan(4), PromptJudge()
    summary = run(path, plan, judge)
    assert set(judge.asked.values()) == {1}
    assert judge.requests == plan.n_calls == summary.answered == summary.requests
    assert (summary.left, summary.failed, summary.interrupted) == (0, 0, False)
    assert summary.cost == pytest.approx(0.001 * plan.n_calls)
    with Ledger.open_readonly(path) as view:
        assert view.n_answered == plan.n_calls
        assert broken_links(view) == []
        assert all(r["outcome"] == "verdict" for r in view.rows())


def test_calls_are_asked_in_the_order_of_the_plan(path):
    plan, judge = make_plan(6), PromptJudge()
    run(path, plan, judge, concurrency=1)
    assert judge.order == [plan.call(k) for k in range(plan.n_calls)]


def test_no_more_calls_are_in_flight_than_allowed(path):
    plan, judge = make_plan(6), PromptJudge(delay=0.002)
    run(path, plan, judge, concurrency=5)
    assert judge.most_in_flight == 5


def test_a_transient_failure_is_asked_again_and_counted(path):
    plan = make_plan(2)
    judge = PromptJudge(fails(2, busy()))
    summary = run(path, plan, judge)
    assert set(judge.asked.values()) == {3}
    assert (summary.requests, summary.answered) == (3 * plan.n_calls, plan.n_calls)
    with Ledger.open_readonly(path) as view:
        assert {r["attempts"] for r in view.rows()} == {3}
        assert view.failures() == []
        assert view.facts().requests == 3 * plan.n_calls


def test_attempts_are_capped_exactly_and_a_rerun_asks_the_failed_ones_again(path):
    plan = make_plan(3)
    judge = PromptJudge(fails(99, busy(), only=lambda c: c.condition == "T4"))
    summary = run(path, plan, judge, attempts=4)
    assert Counter(judge.asked.values()) == {1: plan.n_calls - 6, 4: 6}
    assert (summary.failed, summary.outcomes["error"], summary.left) == (6, 6, 6)
    with Ledger.open_readonly(path) as view:
        assert [(f["class"], f["status"], f["attempts"]) for f in view.failures()] == [
            ("server", 503, 4)
        ] * 6
        assert view.table().outcome_counts("T4")["error"] == 6
        assert view.facts().outcomes["T4"] == {"error": 6}
    again = PromptJudge()
    assert run(path, plan, again).answered == again.requests == 6
    with Ledger.open_readonly(path) as view:
        assert view.table().outcome_counts("T4") == {
            "verdict": 6,
            **dict.fromkeys(("refusal", "truncated", "unparseable", "ambiguous", "error"), 0),
        }
        assert broken_links(view) == []


@pytest.mark.parametrize("error", [PermanentError, KeyError])
def test_a_permanent_or_unexpected_failure_is_not_asked_again(path, error):
    plan = make_plan(3)
    judge = PromptJudge(fails(99, lambda: error("no such thing"), only=lambda c: c.repeat == 1))
    summary = run(path, plan, judge)
    assert set(judge.asked.values()) == {1}
    n = sum(plan.call(k).repeat == 1 for k in range(plan.n_calls))
    assert summary.failed == n
    with Ledger.open_readonly(path) as view:
        kinds = {"bad_request"} if error is PermanentError else {"unexpected"}
        assert {f["class"] for f in view.failures()} == kinds
        assert all("no such thing" in f["message"] for f in view.failures())


def test_retries_off_means_one_request(path):
    plan, judge = make_plan(1, "paper"), PromptJudge(fails(1, busy()))
    with pytest.raises(JudgeError, match="all 8 calls failed; the last: busy"):
        run(path, plan, judge, attempts=1)
    assert set(judge.asked.values()) == {1}


def test_a_call_has_a_wall_clock_deadline(path):
    plan = make_plan(1, "paper")
    judge = PromptJudge(fails(99, busy(), only=lambda c: c.condition == "T1"))
    run(path, plan, judge, attempts=1000, call_seconds=0.2, backoff_first=0.04, backoff_most=0.04)
    (n,) = (judge.asked[plan.call(k).id] for k in range(8) if plan.call(k).condition == "T1")
    assert 2 <= n <= 11


def test_an_attempt_has_a_wall_clock_deadline(path):
    class Hanging(PromptJudge):
        async def ask(self, prompt, call):
            if call.condition == "T2":
                self.asked[call.id] += 1
                await asyncio.Event().wait()
            return await super().ask(prompt, call)

    plan, judge = make_plan(1, "paper"), Hanging()
    summary = run(path, plan, judge, attempts=3, attempt_seconds=0.03)
    assert (summary.failed, judge.requests) == (1, 7 + 3)
    with Ledger.open_readonly(path) as view:
        (failure,) = view.failures()
    assert (failure["class"], failure["message"]) == ("timeout", "no answer within 0.03 s")


def test_a_client_that_drops_its_own_request_loses_no_call(path):
    plan = make_plan(3)
    judge = PromptJudge(fails(1, asyncio.CancelledError))
    assert run(path, plan, judge).answered == plan.n_calls
    assert set(judge.asked.values()) == {2}


def test_quota_stops_the_judge_at_once_and_keeps_everything(path):
    plan = make_plan(6)
    hit = plan.call(20).id

    def fault(_nth, call):
        if call.id == hit:
            raise QuotaExhaustedError("out of credit", status=429, code="insufficient_quota")

    judge = PromptJudge(fault, delay=0.001)
    with pytest.raises(QuotaExhaustedError, match="out of credit") as caught:
        run(path, plan, judge, concurrency=4)
    assert caught.value.exit_code == 3
    assert judge.requests <= 20 + 4
    assert judge.asked[hit] == 1
    with Ledger.open_readonly(path) as view:
        assert view.n_answered == judge.requests - 1
        assert [f["class"] for f in view.failures()] == ["quota"]
    again = PromptJudge()
    run(path, plan, again)
    assert again.requests == plan.n_calls - (judge.requests - 1)


def test_the_first_calls_failing_alike_stop_the_run(path):
    plan = make_plan(20)
    judge = PromptJudge(fails(9, lambda: PermanentError("bad parameter", status=400)))
    with pytest.raises(JudgeError, match="the first 20 calls all failed in the same way: 400, bad"):
        run(path, plan, judge, concurrency=4)
    assert 20 <= judge.requests <= 24


def test_first_calls_failing_in_different_ways_do_not_stop_it(path):
    plan = make_plan(6)
    seen = iter(range(10**6))

    def fault(_nth, _call):
        if (n := next(seen)) < 25:
            raise PermanentError(f"reason {n % 2}", status=400 + n % 2 * 13)

    summary = run(path, plan, PromptJudge(fault), concurrency=64)
    assert (summary.failed, summary.answered) == (25, plan.n_calls - 25)


def test_an_outage_in_mid_run_stops_it(path):
    plan = make_plan(20)
    seen = iter(range(10**6))

    def fault(_nth, _call):
        if next(seen) >= 100:
            raise TransientError("no route", code="unreachable")

    judge = PromptJudge(fault)
    with pytest.raises(JudgeError, match="20 calls in a row failed: no route. All answers so far"):
        run(path, plan, judge, concurrency=4, attempts=2)
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
        run(path, plan, judge)
    assert (caught.value.exit_code, judge.requests) == (2, requests)


def test_in_a_resumed_run_it_is_an_outage(path):
    plan = make_plan(5)
    judge = PromptJudge(fails(99, lambda: PermanentError("x"), only=lambda c: c.repeat > 0))
    run(path, plan, judge, give_up_after=1000)
    refused = PromptJudge(fails(99, lambda: PermanentError("bad key", status=401)))
    with pytest.raises(JudgeError, match="the first call failed: 401, bad key") as caught:
        run(path, plan, refused)
    assert (caught.value.exit_code, refused.requests) == (3, 1)


def test_one_retry_after_holds_all_calls(path):
    """While the gate is shut no request at all is made, whoever was told."""
    plan = make_plan(4)
    starts = []
    told = []

    class Limited(PromptJudge):
        async def ask(self, prompt, call):
            now = asyncio.get_running_loop().time()
            starts.append(now)
            if len(starts) == 10:
                told.append(now)
                raise TransientError("slow down", status=429, retry_after=0.3)
            await asyncio.sleep(0.01)
            return await super().ask(prompt, call)

    summary = run(path, plan, Limited(), concurrency=4)
    assert summary.answered == plan.n_calls
    assert summary.requests == plan.n_calls + 1
    assert [t for t in starts if told[0] < t < told[0] + 0.3] == []
    released = sorted(t for t in starts if t >= told[0] + 0.3)[:4]
    assert len(set(released)) > 1


def test_a_gate_is_shared_between_runs_of_one_provider(path, tmp_path):
    gate = Gate()
    gate.hold(0.2)
    plan, judge = make_plan(1, "paper"), PromptJudge()
    summary = run(path, plan, judge, gate=gate)
    assert summary.seconds >= 0.2


def test_too_long_a_wait_stops_the_run(path):
    plan = make_plan(5)
    judge = PromptJudge(
        fails(99, busy(retry_after=7200), only=lambda c: c.id == plan.call(30).id), delay=0.001
    )
    with pytest.raises(JudgeError, match="asks to wait 7200 s, longer than the 600 s allowed"):
        run(path, plan, judge, concurrency=4)
    assert judge.requests < plan.n_calls
    with Ledger.open_readonly(path) as view:
        assert view.n_answered == judge.requests - 1


def test_a_drain_finishes_what_is_in_flight_and_asks_no_more(path):
    plan, control = make_plan(6), RunControl()

    def interrupt(_nth, _call):
        if judge.requests >= 30 and not control.interrupts:
            control.interrupt()

    judge = PromptJudge(interrupt, delay=0.005)
    summary = run(path, plan, judge, control=control, concurrency=6)
    assert summary.interrupted
    assert 30 <= judge.requests == summary.answered <= 36
    again = PromptJudge()
    assert run(path, plan, again).answered == plan.n_calls - summary.answered
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
    summary = run(path, plan, judge, control=control, concurrency=4)
    assert summary.interrupted
    assert judge.requests - 4 <= summary.answered < judge.requests
    with Ledger.open_readonly(path) as view:
        assert view.n_answered == summary.answered
        assert view.failures() == []


def test_cancelling_keeps_what_was_answered(path):
    plan, judge = make_plan(6), PromptJudge(delay=0.01)

    async def story():
        with open_ledger(path, plan) as ledger:
            task = asyncio.create_task(run_plan(plan, judge, ledger, parse=parse))
            while judge.requests < 40:
                await asyncio.sleep(0.001)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(story())
    with Ledger.open_readonly(path) as view:
        assert 0 < view.n_answered <= judge.requests
        assert broken_links(view) == []


def test_a_parser_that_fails_does_not_cost_the_answer(path):
    def reader(reply):
        raise ZeroDivisionError("in the parser")

    plan, judge = make_plan(1, "paper"), PromptJudge()
    assert run(path, plan, judge, reader=reader).outcomes == {"unparseable": 8}
    with Ledger.open_readonly(path) as view:
        assert all(r["text"] and "in the parser" in r["note"] for r in view.rows())


def test_outcomes_without_a_verdict_are_answers(path):
    kinds = iter(["refusal", "truncated", "unparseable", "ambiguous"] * 2)
    plan, judge = make_plan(1, "paper"), PromptJudge()
    summary = run(path, plan, judge, reader=lambda _: Verdict(outcome=next(kinds)))
    assert (summary.answered, summary.left) == (8, 0)
    assert set(summary.outcomes.values()) == {2}


def test_an_unknown_price_makes_the_sum_unknown(path):
    plan = make_plan(1, "paper")
    assert run(path, plan, PromptJudge(cost=None)).cost is None
    with Ledger.open_readonly(path) as view:
        assert view.facts().cost is None


def test_a_finished_run_asks_nothing(path):
    plan = make_plan(2)
    run(path, plan, PromptJudge())
    again = PromptJudge()
    summary = run(path, plan, again)
    assert (again.requests, summary.answered_before, summary.left) == (0, plan.n_calls, 0)
