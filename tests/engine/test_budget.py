"""A budget stops a run at its cap, keeps everything, and never takes the unknown for nothing."""

from __future__ import annotations

import asyncio

import pytest
from engine_world import FAST, PromptJudge, busy, fails, make_plan, open_ledger, parse

from judgeaudit.core.errors import ConfigError, JudgeError, TransientError
from judgeaudit.core.records import JudgePrompt, Message, Reply
from judgeaudit.engine.budget import Amount, Budget, Caps, spent_before
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.meter import Meter, answer_cap
from judgeaudit.engine.runner import run_plan

PRICE = Price(1e-4, 1e-4)  # a call of 20 and 5 tokens costs 0.0025


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


def spend(path, plan, judge, caps, *, price=None, **limits):
    async def story():
        with open_ledger(path, plan) as ledger:
            return await run_plan(
                plan,
                judge,
                ledger,
                limits=Limits(**{"concurrency": 8, **FAST, **limits}),
                budget=Budget(caps, spent_before(ledger, price)),
                price=price,
                parse=parse,
            )

    return asyncio.run(story())


def facts(path):
    with Ledger.open_readonly(path) as view:
        return view.facts()


def test_a_cap_on_requests_is_kept_exactly_with_all_retries_and_sessions(path):
    plan = make_plan(4)
    judge = PromptJudge(fails(1, busy()), delay=0.001)
    with pytest.raises(JudgeError, match="the budget of 25 requests is spent") as caught:
        spend(path, plan, judge, Caps(calls=25))
    assert 3 == caught.value.exit_code
    assert "raise --budget-calls and run the same command again" in str(caught.value)
    assert 25 == judge.requests == facts(path).requests
    with pytest.raises(JudgeError, match="the budget of 40 requests is spent"):
        spend(path, plan, judge, Caps(calls=40))
    assert 40 == judge.requests == facts(path).requests
    kept = facts(path).n_answered
    again = PromptJudge()
    summary = spend(path, plan, again, Caps(calls=1000))
    assert (plan.n_calls - kept, 0) == (again.requests, summary.left)


def test_a_cap_in_money_is_never_passed_and_nearly_used_up(path):
    plan = make_plan(8)
    judge = PromptJudge(delay=0.001, cost=0.0025)
    with pytest.raises(JudgeError, match=r"the budget of US\$0.1 is spent: US\$0.0") as caught:
        spend(path, plan, judge, Caps(usd=0.1), price=PRICE)
    assert "--budget-usd" in str(caught.value)
    found = facts(path)
    # the bound of a request: 50 tokens of an answer and 1.1 times the prompt's
    assert 0.1 - 0.0075 - 0.0025 <= found.cost <= 0.1
    assert judge.requests == found.n_answered == found.requests
    assert 2 <= judge.most_in_flight


def test_a_cap_in_tokens_is_never_passed_and_counts_earlier_sessions(path):
    plan = make_plan(8)
    for cap in (500, 900):
        judge = PromptJudge(delay=0.001)
        with pytest.raises(JudgeError, match=f"the budget of {cap} tokens is spent"):
            spend(path, plan, judge, Caps(tokens=cap))
        found = facts(path)
        used = found.prompt_tokens + found.completion_tokens
        assert cap - 100 <= used <= cap


def test_a_budget_that_suffices_stops_nothing(path):
    plan = make_plan(2)
    caps = Caps(usd=0.0025 * plan.n_calls + 0.006, calls=plan.n_calls)
    summary = spend(path, plan, PromptJudge(cost=0.0025), caps, price=PRICE)
    assert plan.n_calls == summary.answered


def test_answers_whose_tokens_are_not_told_are_charged_what_was_reserved(path):
    class Silent(PromptJudge):
        async def ask(self, prompt, call):
            reply = await super().ask(prompt, call)
            silent = {"prompt_tokens": None, "completion_tokens": None, "cost": None}
            return reply.model_copy(update=silent)

    plan, judge = make_plan(8), Silent()
    with pytest.raises(JudgeError, match="is spent"):
        spend(path, plan, judge, Caps(usd=0.1), price=PRICE)
    assert 0 < judge.requests <= 0.1 / (50 * PRICE.completion)
    assert facts(path).cost is None


def test_a_request_that_timed_out_may_have_to_be_paid_for(path):
    """One that the server refused has not."""
    plan = make_plan(3)
    caps = Caps(usd=0.02 + 0.0025 * plan.n_calls, calls=None)
    refused = PromptJudge(fails(1, busy()), cost=0.0025)
    assert plan.n_calls == spend(path, plan, refused, caps, price=PRICE).answered
    late = PromptJudge(fails(1, lambda: TransientError("late", code="timeout")), cost=0.0025)
    with pytest.raises(JudgeError, match="is spent"):
        spend(path.with_name("late"), plan, late, caps, price=PRICE, concurrency=1)


def test_a_stated_price_counts_more_than_the_librarys(path):
    plan = make_plan(1, "paper")
    stated = Price(2e-4, 1e-3, stated=True)
    summary = spend(path, plan, PromptJudge(cost=7.0), Caps(usd=1.0), price=stated)
    assert pytest.approx(8 * 0.009) == summary.cost == facts(path).cost


def test_a_known_price_fills_a_cost_that_is_not_told(path):
    plan = make_plan(1, "paper")
    summary = spend(path, plan, PromptJudge(cost=None), Caps(usd=1.0), price=PRICE)
    assert pytest.approx(8 * 0.0025) == summary.cost


def test_a_small_request_waits_for_reservations_and_not_for_ever():
    async def story():
        budget = Budget(Caps(tokens=100))
        one, two = Amount(0, 60, 1), Amount(0, 60, 1)
        assert await budget.reserve(one) is None
        waiting = asyncio.create_task(budget.reserve(two))
        await asyncio.sleep(0)
        assert not waiting.done()
        budget.settle(one, Amount(0, 10, 1))
        assert await waiting is None
        third = asyncio.create_task(budget.reserve(one))
        await asyncio.sleep(0)
        budget.settle(two, Amount(0, 60, 1))
        assert "the budget of 100 tokens is spent: 70 in 2 requests" in str(await third)

    asyncio.run(story())


def test_what_earlier_answers_did_not_tell_is_no_gift(path):
    plan = make_plan(1, "paper")
    spend(path, plan, PromptJudge(cost=None), Caps(calls=100))
    with Ledger.open_readonly(path) as view:
        assert Amount(0.0, 200, 8) == spent_before(view, None)
        assert pytest.approx(0.02) == spent_before(view, PRICE).usd


@pytest.mark.parametrize("caps", [{"usd": 0}, {"tokens": -1}, {"calls": 0}])
def test_a_cap_must_be_positive(caps):
    with pytest.raises(ConfigError, match="the budget is"):
        Caps(**caps)


def prompt(n):
    return JudgePrompt(messages=(Message(role="user", content="x" * n),))


def test_the_meter_bounds_what_it_has_seen_and_learns_the_likely():
    meter = Meter(None)
    guess = meter.forecast(prompt(1000))
    assert (601, 2048) == (guess.prompt_most, guess.answer_most)
    for n, asked, answered in ((1000, 400, 30), (1000, 200, 50), (100, 50, 10)):
        meter.learn(prompt(n), Reply(text="", prompt_tokens=asked, completion_tokens=answered))
    later = meter.forecast(prompt(1000))
    assert (551, 100) == (later.prompt_most, later.answer_most)
    assert 300 < later.likely < 500
    assert 77 == Meter(77).forecast(prompt(10)).answer_most


def test_the_meter_learns_nothing_from_a_server_that_does_not_count():
    meter = Meter(None)
    before = meter.forecast(prompt(50))
    meter.learn(prompt(50), Reply(text="SAFE"))
    assert before == meter.forecast(prompt(50))


def test_the_cap_of_an_answer_is_read_from_the_decoding():
    assert (7, 9, None, None) == (
        answer_cap({"max_tokens": 7}),
        answer_cap({"max_completion_tokens": 9, "max_tokens": 7}),
        answer_cap({}),
        answer_cap({"max_tokens": None}),
    )
