"""The oldest call in flight is named; a swapped model is told at once and stands on the card."""

from __future__ import annotations

import asyncio
import json

import pytest
from engine_world import PromptJudge, make_plan, open_ledger, parse
from loopback import Answer, Loopback, completion, error, in_turn, verdict_of

from judgeaudit import audit
from judgeaudit.core.records import Call, Reply
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.progress import SilentProgress
from judgeaudit.engine.runner import run_plan
from judgeaudit.engine.watch import Watch


def call(item, **more):
    return Call(
        **{"item": item, "condition": "T1", "repeat": 0, **more},
        prompt_sha256="p",
        judge_sha256="j",
    )


class World:
    def __init__(self, **options):
        self.now, self.said = 0.0, []
        self.watch = Watch(self.said.append, clock=lambda: self.now, **options)

    def at(self, now):
        self.now = now
        self.watch.look()
        return len(self.said)


def test_the_oldest_is_named_at_its_age_and_at_each_doubling():
    world = World(first=10)
    first = world.watch.begin(call("a//1"), 1)
    world.now = 5.0
    second = world.watch.begin(call("a//2", wording=1, repeat=2), 3)
    assert [0, 1, 1, 2] == [world.at(t) for t in (9.9, 10, 19, 20)]
    assert world.said[0] == (
        "still waiting for item 'a//1' under T1, repeat 1, asked 10 s ago; 1 more in flight"
    )
    world.watch.end(first)
    assert 3 == world.at(21)
    assert world.said[2] == (
        "still waiting for item 'a//2' under T1, wording 1, repeat 3, asked 16 s ago, attempt 3"
    )
    world.watch.end(second)
    assert 3 == world.at(1000)
    assert world.watch.oldest() is None


def test_each_new_model_is_told_once():
    world = World()
    for model in ("m-1", None, "m-1", "m-2", "m-1", "m-2"):
        world.watch.served(call("a//1"), Reply(text="", served_model=model))
    (said,) = world.said
    assert said.startswith("the served model changed from 'm-1' to 'm-2' at item 'a//1' under T1")


def test_a_model_that_changed_between_sessions_is_told():
    world = World(served=["m-1"])
    world.watch.served(call("a//1"), Reply(text="", served_model="m-9"))
    assert "from 'm-1' to 'm-9'" in world.said[0]


class Told(SilentProgress):
    def __init__(self):
        self.lines = []

    def note(self, line):
        self.lines.append(line)


def test_a_run_that_hangs_says_on_what(tmp_path, monkeypatch):
    monkeypatch.setattr("judgeaudit.engine.watch._LOOK", 0.02)
    plan, told = make_plan(1, "paper"), Told()
    stuck = plan.call(5)

    class Stuck(PromptJudge):
        async def ask(self, prompt, call):
            if call == stuck and not self.asked[call.id]:
                self.asked[call.id] += 1
                await asyncio.sleep(0.4)
            return await super().ask(prompt, call)

    async def story():
        with open_ledger(tmp_path / "l", plan) as ledger:
            limits = Limits(watch_seconds=0.1)
            await run_plan(plan, Stuck(), ledger, limits=limits, progress=told, parse=parse)

    asyncio.run(story())
    assert told.lines
    assert f"still waiting for item '{stuck.item}' under {stuck.condition}" in told.lines[0]


def served_as(model):
    def behaviour(body, n, _k):
        text = json.dumps({"verdict": verdict_of(body)})
        answer = completion(text, model=model)
        return Answer(body=answer, headers={"x-request-id": f"req-{n}"})

    return behaviour


@pytest.fixture
def environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def test_a_swapped_model_request_ids_and_retries_reach_ledger_and_card(environment, tmp_path):
    busy = error(503, "overloaded", None)
    answers = [served_as("gpt-a-2026-01-01")] * 20
    answers += [lambda *_: busy, served_as("gpt-a-2026-02-02")]
    with Loopback(in_turn(*answers)) as server:
        result = audit.run(
            judge="openai/gpt-a",
            api_base=server.api_base,
            preset="quick",
            limit=12,
            conditions=("base", "T1"),
            concurrency=1,
            out=tmp_path,
        )
        assert 61 == server.n_requests
    assert {"gpt-a-2026-01-01": 20, "gpt-a-2026-02-02": 40} == result.facts.served_models
    codes = {w.code: w.sentence for w in result.card.warnings}
    assert "gpt-a-2026-01-01" in codes["served_changed"]
    assert "“openai/gpt-a” is a name that the provider can point to" in codes["floating_alias"]
    assert 61 == result.facts.requests
    with Ledger.open_readonly(tmp_path / "ledger.sqlite") as view:
        rows = list(view.rows())
    ids = {f"req-{n}" for n in range(1, 62)} - {"req-21"}
    assert ids == {r["request_id"] for r in rows}
    assert {"req-22"} == {r["request_id"] for r in rows if r["attempts"] == 2}
    assert all(r["seconds"] > 0 and r["system_fingerprint"] for r in rows)
