"""Leave to ask: places, waiters that go away, several loops, and a real server that limits."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from engine_world import PromptJudge, ask_all, make_plan, open_ledger, parse
from loopback import Answer, Loopback, error, hash_verdict

from judgeaudit.core.records import JudgeSpec
from judgeaudit.engine.door import run_plan_sync
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.runner import run_plan
from judgeaudit.engine.throttle import Throttle
from judgeaudit.judges.via_litellm import LiteLLMJudge


async def pause(seconds):
    await asyncio.sleep(seconds)


def fixed(n):
    return Throttle(Limits(concurrency=n, adaptive=False))


def test_a_place_is_handed_on_and_a_waiter_that_goes_away_keeps_none():
    async def story():
        throttle = fixed(1)
        first = await throttle.enter(1, pause)
        waiters = [asyncio.create_task(throttle.enter(1, pause)) for _ in range(3)]
        await asyncio.sleep(0)
        waiters[0].cancel()
        throttle.leave(first, "answered", 0.1)
        waiters[1].cancel()  # it has been handed the place, and has not run yet
        await asyncio.sleep(0.01)
        ticket = await asyncio.wait_for(waiters[2], 1)
        assert 1 == throttle.in_flight
        throttle.leave(ticket, "answered", 0.1)
        assert 0 == throttle.in_flight

    asyncio.run(story())


def test_it_is_shared_by_event_loops_of_several_threads():
    throttle, most, lock = fixed(3), [0], threading.Lock()
    done = []

    async def caller():
        for _ in range(20):
            ticket = await throttle.enter(1, pause)
            with lock:
                most[0] = max(most[0], throttle.in_flight)
            await asyncio.sleep(0.001)
            throttle.leave(ticket, "answered", 0.001)
            done.append(1)

    async def loop():
        await asyncio.gather(*(caller() for _ in range(4)))

    threads = [threading.Thread(target=asyncio.run, args=(loop(),)) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(30)
    assert (240, 3, 0) == (len(done), most[0], throttle.in_flight)


def test_a_wait_that_is_cut_short_gives_its_rate_back():
    async def story():
        now = [0.0]
        limits = Limits(concurrency=1, requests_per_minute=60, tokens_per_minute=6000)
        throttle = Throttle(limits, clock=lambda: now[0])
        throttle.leave(await throttle.enter(100, pause), "answered", 0.1, 100)
        waits = []

        async def drained(seconds):
            waits.append(seconds)
            raise InterruptedError

        for _ in range(3):
            with pytest.raises(InterruptedError):
                await throttle.enter(100, drained)
        assert waits == pytest.approx([1.0, 1.0, 1.0], rel=0.05)
        assert 0 == throttle.in_flight

    asyncio.run(story())


def test_two_judges_of_one_provider_share_its_window(tmp_path):
    plan = make_plan(4)
    judges = [PromptJudge(delay=0.002), PromptJudge(delay=0.002)]
    throttle, seen = fixed(3), []

    def fault(_nth, _call):
        seen.append(judges[0].in_flight + judges[1].in_flight)

    async def one(k):
        judges[k].fault = fault
        with open_ledger(tmp_path / f"{k}.sqlite", plan) as ledger:
            limits = Limits(concurrency=8)
            return await run_plan(
                plan, judges[k], ledger, limits=limits, throttle=throttle, parse=parse
            )

    async def both():
        return await asyncio.gather(one(0), one(1))

    assert [plan.n_calls] * 2 == [s.answered for s in asyncio.run(both())]
    assert max(seen) <= 3


def test_requests_a_minute_are_kept(tmp_path):
    plan = make_plan(1, "paper")
    times = []
    judge = PromptJudge(lambda _n, _c: times.append(time.monotonic()))
    # 10 a second and 10 at once: the last 8 of 18 calls need 0.8 s more
    plan = make_plan(2, "quick", conditions=["base"], base_repeats=9)
    summary = ask_all(tmp_path / "l", plan, judge, requests_per_minute=600)
    assert 18 == summary.answered
    assert times[-1] - times[0] >= 0.8 * 0.95


def test_tokens_a_minute_are_kept_and_learned_from_answers(tmp_path):
    times = []
    judge = PromptJudge(lambda _n, _c: times.append(time.monotonic()))  # 25 tokens a call
    plan = make_plan(2, "quick", conditions=["base"], base_repeats=9)
    summary = ask_all(
        tmp_path / "l", plan, judge, tokens_per_minute=12_000, concurrency=1
    )  # 200 a second
    assert 18 == summary.answered
    # 450 tokens, of which 200 at once
    assert 1.0 <= times[-1] - times[0]


def run(path, server, *, concurrency, n_items=5):
    spec = JudgeSpec(backend="litellm", model="openai/loopback-1", api_base=server.api_base)
    plan = make_plan(n_items, "quick", spec=spec)
    limits = Limits(concurrency=concurrency, backoff_first=0.02, backoff_most=0.05, attempts=50)
    throttle = Throttle(limits)
    with open_ledger(path, plan) as ledger:
        run_plan_sync(plan, LiteLLMJudge(spec), ledger, limits=limits, throttle=throttle)
    return plan, throttle


def test_a_server_that_takes_four_at_once_is_soon_asked_no_more(tmp_path):
    """Every request beyond the fourth in flight is refused, as a provider would."""
    refused = []

    def limited(body, n, k):
        if server.in_flight > 4:
            refused.append(n)
            return error(429, "too many at once", "rate_limit_exceeded")
        return hash_verdict(body, n, k)

    with Loopback(limited, latency=0.02) as server:
        plan, throttle = run(tmp_path / "l", server, concurrency=64)
        total = server.n_requests
    with Ledger.open_readonly(tmp_path / "l") as view:
        assert plan.n_calls == view.n_answered
        assert total == view.facts().requests
    assert throttle.window.width <= 12
    # the first burst is refused, later ones hardly
    late = [n for n in refused if n > total // 2]
    assert len(late) < 0.35 * total / 2


def test_a_server_that_bears_it_gets_the_whole_width(tmp_path):
    def patient(body, n, k):
        return Answer(body=hash_verdict(body, n, k).body, delay=0.15)

    with Loopback(patient) as server:
        run(tmp_path / "l", server, concurrency=24, n_items=12)
        assert server.most_in_flight > 16
