"""The window is kept full: it opens within a few rounds, and the disk is not waited for."""

from __future__ import annotations

import asyncio
import sqlite3

import pytest
from engine_world import PromptJudge, make_plan, open_ledger, parse

from judgeaudit.engine.door import run_plan_sync
from judgeaudit.engine.limits import Limits, hands
from judgeaudit.engine.throttle import Throttle


class Rounds(PromptJudge):
    """Answers only once the window is full, or nothing else is left: each time is a round."""

    def __init__(self, throttle, planned) -> None:
        super().__init__()
        self.throttle, self.left = throttle, planned
        self.rounds = 0
        self.waiting = []

    async def ask(self, prompt, call):
        mine = asyncio.get_running_loop().create_future()
        self.waiting.append(mine)
        # the first call of a run is asked alone
        full = min(self.throttle.window.width, self.left) if self.rounds else 1
        if len(self.waiting) >= full:
            self.rounds += 1
            self.left -= len(self.waiting)
            asked, self.waiting = self.waiting, []
            for future in asked:
                future.set_result(None)
        await mine
        return await super().ask(prompt, call)


@pytest.mark.parametrize("in_flight", [16, 64])
def test_a_run_takes_at_most_a_fifth_more_rounds_than_its_concurrency_allows(tmp_path, in_flight):
    plan = make_plan(150)
    limits = Limits(concurrency=in_flight)
    throttle = Throttle(limits)
    judge = Rounds(throttle, plan.n_calls)
    with open_ledger(tmp_path / "l", plan) as ledger:
        done = run_plan_sync(plan, judge, ledger, limits=limits, throttle=throttle, parse=parse)
    assert plan.n_calls == done.answered == judge.requests
    fewest = plan.n_calls / in_flight
    assert fewest <= judge.rounds <= 1.2 * fewest


class Locking(PromptJudge):
    """Keeps the ledger from being written until a number of calls have been asked."""

    def __init__(self, path, until) -> None:
        super().__init__()
        self.path, self.until = path, until
        self.n_asked = 0
        self.lock = None

    async def ask(self, prompt, call):
        self.n_asked += 1
        if self.n_asked == 2:  # the first is asked alone, and committed
            self.lock = sqlite3.connect(self.path, isolation_level=None, timeout=10)
            self.lock.execute("BEGIN IMMEDIATE")
        if self.n_asked == self.until:
            self.lock.execute("ROLLBACK")
            self.lock.close()
        return await super().ask(prompt, call)


def test_calls_are_asked_while_others_wait_for_the_disk(tmp_path):
    plan, path, limits = make_plan(20), tmp_path / "l", Limits(concurrency=32)
    # as many as are worked on at once: none of them can have been committed by then
    judge = Locking(path, until=1 + 32 + 16)
    with open_ledger(path, plan) as ledger:
        done = run_plan_sync(plan, judge, ledger, limits=limits, parse=parse)
    assert plan.n_calls == done.answered
    assert judge.most_in_flight <= 32


def test_up_to_sixteen_none_is_asked_before_one_is_committed():
    assert [1, 4, 16] == [hands(n) for n in (1, 4, 16)]
