"""Ledgers of one plan become one ledger: nothing lost, nothing doubled, nothing chosen."""

from __future__ import annotations

import asyncio
import itertools
import shutil
import sqlite3

import pytest
from engine_world import PromptJudge, ask_all, busy, fails, make_plan, open_ledger, parse

from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.core.records import Reply, Verdict
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.merge import merge
from judgeaudit.engine.verify import faults
from judgeaudit.engine.writer import Answer, Failure


def answer(call, label="SAFE", request="r", **more):
    verdict = Verdict(outcome="verdict", label=label, confidence=0.5)
    reply = Reply(text=f"{label} \ud83d", request_id=f"{request}{call}", **more)
    return Answer(call, reply, verdict, 2, 0.25)


def answer_of(plan, position):
    judge = PromptJudge()
    reply = asyncio.run(judge.ask(plan.prompt(position), plan.call(position)))
    return Answer(position, reply, parse(reply), 1, 0.1)


@pytest.fixture
def plan():
    return make_plan(3)


def write(path, plan, *batches):
    with open_ledger(path, plan) as ledger:
        for rows in batches:
            ledger.append(rows)
    return path


def content(path):
    with Ledger.open_readonly(path) as view:
        return view.content_sha256()


def test_shards_become_the_ledger_of_one_machine(tmp_path, plan):
    every = [answer(k, cost=0.5, served_model=f"m{k % 2}") for k in range(plan.n_calls)]
    failed = Failure(4, "server", 503, None, "busy", 3)
    whole = write(tmp_path / "whole", plan, [failed], every)
    shards = [
        write(tmp_path / f"s{k}", plan, [failed] if k == 1 else [], every[k::3]) for k in range(3)
    ]
    merged = merge(shards, tmp_path / "merged")
    assert content(whole) == content(merged)
    with Ledger.open_readonly(whole) as a, Ledger.open_readonly(merged) as b:
        assert faults(b) == []
        one, two = a.facts(), b.facts()
        for name in ("requests", "cost", "outcomes", "served_models", "failures", "n_answered"):
            assert getattr(one, name) == getattr(two, name)
        assert {r["request_id"] for r in a.rows()} == {r["request_id"] for r in b.rows()}
    with open_ledger(merged, plan) as ledger:
        assert 0 == ledger.open_positions().size
    assert {"whole", "s0", "s1", "s2", "merged"} == {p.name for p in tmp_path.iterdir()}


def test_the_order_and_the_grouping_of_a_merge_do_not_matter(tmp_path, plan):
    shards = [write(tmp_path / f"s{k}", plan, [answer(k), answer(k + 3)]) for k in range(3)]
    seen = {
        content(merge(order, tmp_path / f"m{n}"))
        for n, order in enumerate(itertools.permutations(shards))
    }
    left = merge([merge(shards[:2], tmp_path / "ab"), shards[2]], tmp_path / "ab-c")
    right = merge([shards[0], merge(shards[1:], tmp_path / "bc")], tmp_path / "a-bc")
    assert seen == {content(left)} == {content(right)}


def test_a_copied_ledger_counts_once(tmp_path, plan):
    one = write(tmp_path / "a", plan, [answer(0), Failure(1, "server", 503, None, "busy", 1)])
    two = tmp_path / "b"
    shutil.copy(one, two)
    write(two, plan, [answer(2)])
    merged = merge([one, two], tmp_path / "m")
    again = merge([merged, two, one], tmp_path / "mm")
    for path in (two, merged, again):
        with Ledger.open_readonly(path) as view:
            facts = view.facts()
            assert (2, 5, {"server": 1}) == (facts.n_answered, facts.requests, facts.failures)
    assert content(two) == content(merged) == content(again)


def test_a_call_that_two_machines_answered_alike_is_kept_once_and_both_are_counted(tmp_path, plan):
    one = write(tmp_path / "a", plan, [answer(0)])
    two = write(tmp_path / "b", plan, [answer(0, request="other"), answer(1)])
    with Ledger.open_readonly(merge([one, two], tmp_path / "m")) as view:
        facts = view.facts()
        assert (2, 6, {"duplicate": 1}) == (facts.n_answered, facts.requests, facts.failures)
        assert {"r0", "r1", None} == {r["request_id"] for r in view.rows()} | {None}
        assert "answered alike in a" in view.failures()[0]["message"]


@pytest.mark.parametrize(
    "other", [answer(7, "UNSAFE"), answer(7)._replace(verdict=Verdict(outcome="refusal"))]
)
def test_two_draws_of_one_call_are_refused_by_name(tmp_path, plan, other):
    one = write(tmp_path / "a", plan, [answer(7)])
    two = write(tmp_path / "b", plan, [other])
    call = plan.call(7)
    said = f"answer one call differently: '{call.item}' under {call.condition}, repeat {call.repeat + 1}, SAFE and "
    with pytest.raises(LedgerError, match=said):
        merge([one, two], tmp_path / "m")
    assert {"a", "b"} == {p.name for p in tmp_path.iterdir()}


def test_other_runs_damaged_ones_and_running_ones_are_refused(tmp_path, plan):
    one = write(tmp_path / "a", plan, [answer(0)])
    other = write(tmp_path / "b", make_plan(3, seed=5), [answer(1)])
    with pytest.raises(LedgerError, match=r"it is of another run than .*: protocol.seed: 0 → 5"):
        merge([one, other], tmp_path / "m")
    with open_ledger(tmp_path / "c", plan) as running:
        running.append([answer(1)])
        with pytest.raises(LedgerError, match=r"it is being written \(process \d+\)"):
            merge([one, running.path], tmp_path / "m")
    db = sqlite3.connect(tmp_path / "c")
    db.execute("DROP TRIGGER replies_no_update")
    db.execute("UPDATE replies SET text = 'x'")
    db.commit()
    db.close()
    with pytest.raises(LedgerError, match=r"it is not whole: batch 1 of .* was changed"):
        merge([one, tmp_path / "c"], tmp_path / "m")
    with pytest.raises(ConfigError, match="two ledgers or more"):
        merge([one], tmp_path / "m")
    with pytest.raises(LedgerError, match="there is a file of this name already"):
        merge([one, one], tmp_path / "b")


def test_shards_that_were_really_run_with_faults_merge_whole(tmp_path):
    plan = make_plan(4)
    half = frozenset(plan.call(k).id for k in range(0, plan.n_calls, 2))
    ask_all(
        tmp_path / "a",
        plan,
        PromptJudge(fails(9, busy(), only=lambda c: c.id not in half)),
        attempts=1,
        concurrency=64,
    )
    open_ledger(tmp_path / "b", plan).close()
    with open_ledger(tmp_path / "b", plan) as ledger:
        ledger.append([answer_of(plan, k) for k in range(1, plan.n_calls, 2)])
    calm = tmp_path / "calm"
    ask_all(calm, plan, PromptJudge())
    merged = merge([tmp_path / "a", tmp_path / "b"], tmp_path / "m")
    assert content(calm) == content(merged)
