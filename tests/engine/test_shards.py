"""Shards, and what workers share; without Ray."""

from __future__ import annotations

import asyncio
import pickle
from collections import Counter

import numpy as np
import pytest
from engine_world import PromptJudge, make_meta, make_plan, open_ledger, parse

from judgeaudit.core.errors import (
    ConfigError,
    JudgeError,
    LedgerError,
    PermanentError,
    QuotaExhaustedError,
)
from judgeaudit.engine.budget import Amount, Caps
from judgeaudit.engine.executors import _collect, shards_of
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.remote import Provider, as_error, plain_error
from judgeaudit.engine.runner import run_plan


@pytest.mark.parametrize("n", [1, 2, 3, 50])
def test_each_call_is_in_one_shard_and_no_cluster_in_two(n):
    plan = make_plan(9)  # 5 clusters, the last of one item
    shards = shards_of(plan, n)
    assert min(n, 5) == len(shards)
    assert (np.sum(shards, axis=0) == 1).all()
    homes = {}
    for k, only in enumerate(shards):
        for position in np.flatnonzero(only).tolist():
            item, _ = plan.place(int(plan.cells[position]))
            homes.setdefault(item.cluster, set()).add(k)
    assert all(len(h) == 1 for h in homes.values())
    loads = [int(s.sum()) for s in shards]
    # whoever has least gets the next cluster, so none is ahead by more than the largest
    clusters = Counter(plan.place(int(c))[0].cluster for c in plan.cells)
    assert max(loads) - min(loads) <= max(clusters.values())


def test_a_plan_travels_and_stays_the_same():
    plan = make_plan(3)
    other = pickle.loads(pickle.dumps(plan))
    assert plan.sha256 == other.sha256
    assert plan.prompt(5) == other.prompt(5)
    assert make_meta(plan) == pickle.loads(pickle.dumps(make_meta(plan)))


@pytest.mark.parametrize(
    "error",
    [
        QuotaExhaustedError("out", status=429, code="insufficient_quota", mend="pay"),
        PermanentError("no", where="m", status=400),
        JudgeError("spent", code="budget"),
        ConfigError("wrong", mend="mend"),
        LedgerError("held", where="x"),
    ],
)
def test_errors_travel_as_plain_records(error):
    back = as_error(pickle.loads(pickle.dumps(plain_error(error))))
    assert (type(error), str(error), error.exit_code) == (type(back), str(back), back.exit_code)


def test_what_a_lost_worker_held_is_free_again_and_counted_as_spent():
    async def story():
        provider = Provider(Limits(concurrency=2, adaptive=False), Caps(calls=5), Amount())
        want = Amount(0.0, 10, 1)
        for _ in range(2):
            assert await provider.reserve("lost", want) is None
            await provider.enter("lost", 10)
        other = asyncio.create_task(provider.enter("other", 10))
        await asyncio.sleep(0.01)
        assert not other.done()
        await provider.forget("lost")
        ticket = await asyncio.wait_for(other, 1)
        # news of the dead, late: it changes nothing
        await provider.leave("lost", ticket, "answered", 0.1, 10)
        await provider.settle("lost", want, Amount())
        for _ in range(3):
            assert await provider.reserve("other", want) is None
            await provider.settle("other", want, want)
        spent = await provider.reserve("other", want)
        assert "the budget of 5 requests is spent" in str(as_error(spent))

    asyncio.run(story())


def ask_share(path, plan, only):
    judge = PromptJudge()

    async def story():
        with open_ledger(path, plan) as ledger:
            return await run_plan(plan, judge, ledger, parse=parse, only=only)

    return asyncio.run(story()), judge


def test_a_share_is_asked_and_nothing_else(tmp_path):
    plan = make_plan(6)
    first, second = shards_of(plan, 2)
    summary, judge = ask_share(tmp_path / "l", plan, first)
    assert int(first.sum()) == judge.requests == summary.answered == summary.planned
    assert 0 == summary.left
    again, _ = ask_share(tmp_path / "l", plan, first | second)
    assert (int(first.sum()), int(second.sum())) == (again.answered_before, again.answered)


def test_ledgers_of_an_earlier_session_are_collected_and_twice_changes_nothing(tmp_path):
    plan = make_plan(6)
    path, shards = tmp_path / "ledger.sqlite", tmp_path / "shards"
    for k, only in enumerate(shards_of(plan, 3)):
        ask_share(shards / f"{k}.sqlite", plan, only)
    one = (shards / "0.sqlite").read_bytes()
    _collect(path, shards)
    with Ledger.open_readonly(path) as view:
        assert plan.n_calls == view.n_answered
        content, requests = view.content_sha256(), view.facts().requests
    assert not shards.exists()
    # killed after the merge and before the shards were gone
    shards.mkdir()
    (shards / "0.sqlite").write_bytes(one)
    _collect(path, shards)
    with Ledger.open_readonly(path) as view:
        assert (content, requests) == (view.content_sha256(), view.facts().requests)
    ask_share(tmp_path / "calm", plan, np.ones(plan.n_calls, dtype=bool))
    with Ledger.open_readonly(tmp_path / "calm") as view:
        assert content == view.content_sha256()
    assert {"ledger.sqlite", "calm"} == {p.name for p in tmp_path.iterdir()}


def test_a_single_shard_becomes_the_ledger(tmp_path):
    plan = make_plan(2)
    ask_share(tmp_path / "s" / "0.sqlite", plan, shards_of(plan, 1)[0])
    _collect(tmp_path / "l", tmp_path / "s")
    with Ledger.open_readonly(tmp_path / "l") as view:
        assert plan.n_calls == view.n_answered
