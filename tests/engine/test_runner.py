"""Every call is asked as often as it must be, and no more."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from engine_world import PromptJudge, ask_all, busy, fails, make_plan, open_ledger, parse

from judgeaudit.core.errors import (
    ConfigError,
    LedgerError,
    PermanentError,
    TransientError,
)
from judgeaudit.core.records import Verdict
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Gate
from judgeaudit.engine.runner import run_plan
from judgeaudit.engine.verify import broken_links


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


def test_every_call_is_asked_once_and_committed(path):
    plan, judge = make_plan(4), PromptJudge()
    summary = ask_all(path, plan, judge)
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
    ask_all(path, plan, judge, concurrency=1)
    assert judge.order == [plan.call(k) for k in range(plan.n_calls)]


def test_no_more_calls_are_in_flight_than_allowed(path):
    plan, judge = make_plan(6), PromptJudge(delay=0.002)
    ask_all(path, plan, judge, concurrency=5)
    assert judge.most_in_flight == 5


def test_a_transient_failure_is_asked_again_and_counted(path):
    plan = make_plan(2)
    judge = PromptJudge(fails(2, busy()))
    summary = ask_all(path, plan, judge)
    assert set(judge.asked.values()) == {3}
    assert (summary.requests, summary.answered) == (3 * plan.n_calls, plan.n_calls)
    with Ledger.open_readonly(path) as view:
        assert {r["attempts"] for r in view.rows()} == {3}
        assert view.failures() == []
        assert view.facts().requests == 3 * plan.n_calls


def test_attempts_are_capped_exactly_and_a_rerun_asks_the_failed_ones_again(path):
    plan = make_plan(3)
    judge = PromptJudge(fails(99, busy(), only=lambda c: c.condition == "T1"))
    summary = ask_all(path, plan, judge, attempts=4)
    assert Counter(judge.asked.values()) == {1: plan.n_calls - 6, 4: 6}
    assert (summary.failed, summary.outcomes["error"], summary.left) == (6, 6, 6)
    with Ledger.open_readonly(path) as view:
        assert [(f["class"], f["status"], f["attempts"]) for f in view.failures()] == [
            ("server", 503, 4)
        ] * 6
        assert view.table().outcome_counts("T1")["error"] == 6
        assert view.facts().outcomes["T1"] == {"error": 6}
    again = PromptJudge()
    assert ask_all(path, plan, again).answered == again.requests == 6
    with Ledger.open_readonly(path) as view:
        assert view.table().outcome_counts("T1") == {
            "verdict": 6,
            **dict.fromkeys(("refusal", "truncated", "unparseable", "ambiguous", "error"), 0),
        }
        assert broken_links(view) == []


@pytest.mark.parametrize("error", [PermanentError, KeyError])
def test_a_permanent_or_unexpected_failure_is_not_asked_again(path, error):
    plan = make_plan(3)
    judge = PromptJudge(fails(99, lambda: error("no such thing"), only=lambda c: c.repeat == 1))
    summary = ask_all(path, plan, judge)
    assert set(judge.asked.values()) == {1}
    n = sum(plan.call(k).repeat == 1 for k in range(plan.n_calls))
    assert summary.failed == n
    with Ledger.open_readonly(path) as view:
        kinds = {"bad_request"} if error is PermanentError else {"unexpected"}
        assert {f["class"] for f in view.failures()} == kinds
        assert all("no such thing" in f["message"] for f in view.failures())


def test_retries_off_means_one_request(path):
    plan = make_plan(1, "paper")
    judge = PromptJudge(fails(1, busy(), only=lambda c: c.id != plan.call(0).id))
    assert ask_all(path, plan, judge, attempts=1).failed == 7
    assert set(judge.asked.values()) == {1}


def test_a_call_has_a_wall_clock_deadline(path):
    plan = make_plan(1, "paper")
    judge = PromptJudge(fails(99, busy(), only=lambda c: c.condition == "T1"))
    ask_all(
        path, plan, judge, attempts=1000, call_seconds=0.2, backoff_first=0.04, backoff_most=0.04
    )
    (n,) = (judge.asked[plan.call(k).id] for k in range(8) if plan.call(k).condition == "T1")
    assert n < 50


def test_an_attempt_has_a_wall_clock_deadline(path):
    class Hanging(PromptJudge):
        async def ask(self, prompt, call):
            if call.condition == "T1":
                self.asked[call.id] += 1
                await asyncio.Event().wait()
            return await super().ask(prompt, call)

    plan, judge = make_plan(1, "paper"), Hanging()
    summary = ask_all(path, plan, judge, attempts=3, attempt_seconds=0.03)
    assert (summary.failed, judge.requests) == (1, 7 + 3)
    with Ledger.open_readonly(path) as view:
        (failure,) = view.failures()
    assert (failure["class"], failure["message"]) == ("timeout", "no answer within 0.03 s")


def test_a_client_that_drops_its_own_request_loses_no_call(path):
    plan = make_plan(3)
    judge = PromptJudge(fails(1, asyncio.CancelledError))
    assert ask_all(path, plan, judge).answered == plan.n_calls
    assert set(judge.asked.values()) == {2}


def test_one_retry_after_holds_all_calls(path):
    """While the gate is shut no request at all is made, whoever was told."""
    gate, shut = Gate(), []

    class Limited(PromptJudge):
        async def ask(self, prompt, call):
            shut.append(gate.shut_for)
            if len(shut) == 10:
                raise TransientError("slow down", status=429, retry_after=0.3)
            return await super().ask(prompt, call)

    plan = make_plan(4)
    summary = ask_all(path, plan, Limited(delay=0.01), gate=gate, concurrency=4)
    assert summary.answered == plan.n_calls
    assert summary.requests == len(shut) == plan.n_calls + 1
    assert set(shut) == {0.0}
    assert summary.seconds >= 0.3


def test_a_gate_is_shared_between_runs_of_one_provider(path):
    gate, shut = Gate(), []
    gate.hold(0.1)
    judge = PromptJudge(lambda _nth, _call: shut.append(gate.shut_for))
    plan = make_plan(1, "paper")
    assert ask_all(path, plan, judge, gate=gate).answered == plan.n_calls
    assert shut == [0.0] * plan.n_calls


def test_a_parser_that_fails_does_not_cost_the_answer(path):
    def reader(reply):
        raise ZeroDivisionError("in the parser")

    plan, judge = make_plan(1, "paper"), PromptJudge()
    assert ask_all(path, plan, judge, reader=reader).outcomes == {"unparseable": 8}
    with Ledger.open_readonly(path) as view:
        assert all(r["text"] and "in the parser" in r["note"] for r in view.rows())


def test_a_judge_that_returns_something_else_makes_failures(path):
    class Odd(PromptJudge):
        async def ask(self, prompt, call):
            reply = await super().ask(prompt, call)
            return "SAFE" if call.condition == "T1" else reply

    summary = ask_all(path, make_plan(1, "paper"), Odd())
    assert (summary.answered, summary.failed) == (7, 1)
    with Ledger.open_readonly(path) as view:
        assert view.failures()[0]["message"] == "the judge returned a str, not a Reply"


def test_outcomes_without_a_verdict_are_answers(path):
    kinds = iter(["refusal", "truncated", "unparseable", "ambiguous"] * 2)
    plan, judge = make_plan(1, "paper"), PromptJudge()
    summary = ask_all(path, plan, judge, reader=lambda _: Verdict(outcome=next(kinds)))
    assert (summary.answered, summary.left) == (8, 0)
    assert set(summary.outcomes.values()) == {2}


def test_an_unknown_price_makes_the_sum_unknown(path):
    plan = make_plan(1, "paper")
    assert ask_all(path, plan, PromptJudge(cost=None)).cost is None
    with Ledger.open_readonly(path) as view:
        assert view.facts().cost is None


def test_a_finished_run_asks_nothing(path):
    plan = make_plan(2)
    ask_all(path, plan, PromptJudge())
    again = PromptJudge()
    summary = ask_all(path, plan, again)
    assert (again.requests, summary.answered_before, summary.left) == (0, plan.n_calls, 0)


def test_another_plan_or_another_judge_is_refused(path, tmp_path):
    plan, other = make_plan(1), make_plan(2)

    async def story():
        with open_ledger(path, plan) as ledger:
            with pytest.raises(LedgerError, match="of another plan"):
                await run_plan(other, PromptJudge(), ledger, parse=parse)
            judge = PromptJudge()
            judge.spec = judge.spec.model_copy(update={"model": "else"})
            with pytest.raises(ConfigError, match="the plan is for the judge 'hash'"):
                await run_plan(plan, judge, ledger, parse=parse)

    asyncio.run(story())
