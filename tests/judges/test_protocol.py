"""What every judge backend must do, whatever stands behind it."""

from __future__ import annotations

import asyncio
import contextlib

import pytest
from judge_world import PROMPT, call
from loopback import Loopback

from judgeaudit.core.records import Item, JudgeSpec, Reply, Trajectory, Turn
from judgeaudit.judges.base import JUDGES, Judge, PlantedJudge
from judgeaudit.judges.parsing import parse

ITEM = Item(
    dataset="a",
    subset="b",
    id="1",
    cluster="c",
    trajectory=Trajectory(turns=(Turn(role="user", content="Hello."),)),
    label="UNSAFE",
)


@pytest.fixture
def litellm_spec():
    with Loopback() as server:
        yield JudgeSpec(backend="litellm", model="openai/toy", api_base=server.api_base), server


@pytest.fixture
def direct_spec():
    with Loopback() as server:
        yield JudgeSpec(backend="direct", model="toy", api_base=server.api_base), server


@pytest.fixture
def scripted_spec():
    return JudgeSpec(backend="scripted", model="quiet"), None


@pytest.fixture
def replay_spec(tmp_path):
    path = tmp_path / "answers.jsonl"
    line = (
        '{"item": "a/b/1", "condition": "base", "repeat": 0, "text": "{\\"verdict\\": \\"SAFE\\"}"}'
    )
    path.write_text(line, encoding="utf-8")
    return JudgeSpec(backend="replay", model=str(path)), None


@pytest.fixture(params=["litellm", "direct", "scripted", "replay"])
def case(request):
    return request.getfixturevalue(f"{request.param}_spec")


def make(spec: JudgeSpec) -> Judge:
    judge = JUDGES[spec.backend](spec)
    if isinstance(judge, PlantedJudge):
        judge.learn([ITEM])
    return judge


async def asked(judge: Judge, times: int = 1) -> list[Reply]:
    try:
        return [await judge.ask(PROMPT, call()) for _ in range(times)]
    finally:
        await judge.aclose()


def test_every_backend_of_this_room_is_in_this_suite():
    # suites of their own: `local` needs weights, `control` labelled items to learn from, `hardened`
    # a judge inside
    assert set(JUDGES.names()) - {"local", "control", "hardened"} == {
        "direct",
        "litellm",
        "replay",
        "scripted",
    }


def test_the_spec_is_the_one_it_was_made_from_and_stays_so(case):
    spec, _ = case
    judge = make(spec)
    assert judge.spec == spec
    asyncio.run(asked(judge))
    assert judge.spec == spec
    assert judge.spec.sha256 == spec.sha256


def test_one_call_is_one_request_and_its_reply_can_be_read_and_stored(case):
    spec, server = case
    (reply,) = asyncio.run(asked(make(spec)))
    assert parse(reply).outcome == "verdict"
    assert reply.attempts == 1
    assert reply == Reply.model_validate_json(reply.model_dump_json())
    if server is not None:
        assert server.n_requests == 1


def test_each_ask_is_a_request_of_its_own(case):
    spec, server = case
    replies = asyncio.run(asked(make(spec), times=3))
    assert len({r.text for r in replies}) == 1
    if server is not None:
        assert server.n_requests == 3


def test_closing_twice_or_before_the_first_call_is_fine(case):
    async def story() -> None:
        judge = make(case[0])
        await judge.aclose()
        await judge.aclose()

    asyncio.run(story())


def test_it_works_again_in_another_event_loop(case):
    for _ in range(2):
        (reply,) = asyncio.run(asked(make(case[0])))
        assert reply.text


def test_its_repr_is_one_line_without_contents(case):
    judge = make(case[0])
    shown = repr(judge)
    assert case[0].model in shown
    assert "\n" not in shown
    with contextlib.suppress(NotImplementedError):
        asyncio.run(judge.aclose())
