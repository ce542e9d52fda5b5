"""The endpoint: OpenAI's own client, faults of the judge inside, load, hostile input."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openai
import pytest
from hardened_world import (
    MESSAGES,
    ONE,
    SAID,
    TRAJECTORY,
    UNSAFE,
    Served,
    hardened,
    post,
    request_body,
)
from loopback import Answer, Loopback, always, error, every, hash_verdict, in_turn, says

from judgeaudit import cure
from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.serving.log import RequestLog, read_log

PANEL = {"wordings": ("T1", "T2", "T4"), "combine": "unanimous"}
SAFE = says('{"verdict": "SAFE"}')


def client(served: Served, **more) -> openai.OpenAI:
    return openai.OpenAI(
        base_url=served.base, api_key=more.pop("api_key", "none"), max_retries=0, **more
    )


def rows(served: Served) -> list[dict]:
    return [r for r in read_log(served.ledger) if r["event"] == "request"]


# ---- the official client ------------------------------------------------------------------


def test_the_official_client_lists_asks_and_streams(tmp_path):
    with Loopback(UNSAFE) as inside:
        config = hardened(tmp_path, inside.api_base, **PANEL)
        with Served(config) as served:
            api = client(served)
            assert [m.id for m in api.models.list()] == ["mended"]
            assert api.models.retrieve("mended").owned_by == "judgeaudit"
            made = api.chat.completions.create(model="mended", messages=MESSAGES, temperature=0.3)
            message = made.choices[0].message
            assert json.loads(message.content)["verdict"] == "UNSAFE"
            assert message.refusal is None
            assert (made.usage.prompt_tokens, made.usage.completion_tokens) == (33, 21)
            assert made.model_extra["judgeaudit"]["requests"] == 3
            assert made.model_extra["judgeaudit"]["ignored"] == ["temperature"]
            chunks = list(
                api.chat.completions.create(
                    model="mended",
                    messages=MESSAGES,
                    stream=True,
                    stream_options={"include_usage": True},
                )
            )
        text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
        assert json.loads(text)["verdict"] == "UNSAFE"
        assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
        assert chunks[-1].usage.total_tokens == 54
        assert inside.n_requests == 6
        assert [r["outcome"] for r in rows(served)] == ["verdict", "verdict"]
        # no text of what was judged
        assert "log files" not in served.ledger.read_text()


def test_errors_are_those_that_the_official_client_knows(tmp_path):
    config = hardened(tmp_path, "http://127.0.0.1:9/v1", **ONE)
    secret = "a-token-of-many-characters"
    with Served(config, token=secret) as served:
        with pytest.raises(openai.AuthenticationError, match="bearer token"):
            client(served).models.list()
        api = client(served, api_key=secret)
        assert [m.id for m in api.models.list()] == ["mended"]
        with pytest.raises(openai.NotFoundError) as wrong:
            api.chat.completions.create(model="gpt-none", messages=MESSAGES)
        assert wrong.value.code == "model_not_found"
        with pytest.raises(openai.BadRequestError) as bad:
            api.chat.completions.create(
                model="mended", messages=[{"role": "user", "content": "hi"}]
            )
        assert bad.value.code == "invalid_messages"
        with pytest.raises(openai.NotFoundError):
            api.embeddings.create(model="mended", input="x")
        # nobody listens inside: it passes, perhaps
        with pytest.raises(openai.InternalServerError) as down:
            api.chat.completions.create(model="mended", messages=MESSAGES)
        assert down.value.status_code == 503
        assert down.value.response.headers["retry-after"] == "1"


def test_the_client_gets_through_where_it_may_retry(tmp_path):
    flaky = in_turn(
        always(error(429, "slow down", "rate_limit_exceeded", Retry_After="1")),
        always(error(500, "oops", None)),
        UNSAFE,
    )
    with Loopback(flaky) as inside, Served(hardened(tmp_path, inside.api_base, **ONE)) as served:
        api = openai.OpenAI(base_url=served.base, api_key="none", max_retries=3)
        made = api.chat.completions.create(model="hardened", messages=MESSAGES)
    assert json.loads(made.choices[0].message.content)["verdict"] == "UNSAFE"
    assert [r["status"] for r in rows(served)] == [429, 503, 200]


# ---- outcomes: never a verdict out of a failure ----------------------------------------------


def test_parts_that_disagree_are_left_to_a_person(tmp_path):
    turn = in_turn(UNSAFE, SAFE, UNSAFE)
    with Loopback(turn) as inside, Served(hardened(tmp_path, inside.api_base, **PANEL)) as served:
        made = client(served).chat.completions.create(model="mended", messages=MESSAGES)
    message = made.choices[0].message
    assert message.content is None
    assert "abstains" in message.refusal
    assert made.model_extra["judgeaudit"]["abstains"] is True
    assert rows(served)[0]["label"] is None


@pytest.mark.parametrize(
    ("behaviour", "outcome"),
    [
        (says("I am not sure at all."), "unparseable"),
        (says("", finish_reason="length"), "truncated"),
        (says(None, message={"refusal": "I can't."}), "refusal"),
        (says('{"verdict": "SAFE"} or {"verdict": "UNSAFE"}'), "ambiguous"),
    ],
)
def test_an_answer_without_a_verdict_stays_without_one(tmp_path, behaviour, outcome):
    with (
        Loopback(behaviour) as inside,
        Served(hardened(tmp_path, inside.api_base, **ONE)) as served,
    ):
        api = client(served)
        made = api.chat.completions.create(model="mended", messages=MESSAGES)
        chunks = list(api.chat.completions.create(model="mended", messages=MESSAGES, stream=True))
    message = made.choices[0].message
    assert (message.content, made.model_extra["judgeaudit"]["outcome"]) == (None, outcome)
    assert outcome in message.refusal
    assert not any(c.choices[0].delta.content for c in chunks)
    assert any(outcome in (c.choices[0].delta.refusal or "") for c in chunks)


@pytest.mark.parametrize(
    ("answer", "status", "code"),
    [
        (error(429, "slow", "rate_limit_exceeded", Retry_After="7"), 429, "rate_limit_exceeded"),
        (error(429, "pay", "insufficient_quota"), 429, "insufficient_quota"),
        (error(500, "oops", None), 503, "judge_unavailable"),
        (error(401, "bad key", "invalid_api_key"), 502, "judge_error"),
        (Answer(body="<html>not JSON"), 503, "judge_unavailable"),
        (Answer(fault="reset"), 503, "judge_unavailable"),
    ],
    ids=["429", "quota", "500", "401", "malformed", "dropped"],
)
def test_a_fault_inside_is_an_error_outside(tmp_path, answer, status, code):
    inside = Loopback(always(answer))
    with inside, Served(hardened(tmp_path, inside.api_base, **ONE)) as served:
        found, body, headers = post(served, request_body())
    assert (found, body["error"]["code"]) == (status, code)
    assert ("Retry-After" in headers) == (status == 503 or code == "rate_limit_exceeded")
    if code == "rate_limit_exceeded":
        assert headers["Retry-After"] == "7"
    assert rows(served)[0]["code"] == code
    assert "outcome" not in rows(served)[0]


def test_a_slow_judge_is_given_up_in_time(tmp_path):
    inside = Loopback(UNSAFE, latency=5)
    with inside, Served(hardened(tmp_path, inside.api_base, **ONE), seconds=0.2) as served:
        found, body, _ = post(served, request_body())
    assert (found, body["error"]["code"]) == (503, "timeout")


# ---- load, and the end ------------------------------------------------------------------------


def test_seats_and_queue_bound_what_is_inside(tmp_path):
    with Loopback(hash_verdict, latency=0.3) as inside:
        config = hardened(tmp_path, inside.api_base, **ONE)
        with Served(config, concurrency=2, queue=3) as served, ThreadPoolExecutor(30) as pool:
            found = list(pool.map(lambda _: post(served, request_body()), range(30)))
    statuses = [s for s, _, _ in found]
    assert set(statuses) == {200, 429}
    assert statuses.count(200) >= 5
    assert inside.most_in_flight <= 2
    assert all(h["Retry-After"] == "1" for s, _, h in found if s == 429)
    assert sorted(r["status"] for r in rows(served)) == sorted(statuses)


@pytest.mark.slow
def test_load_with_faults_loses_nothing(tmp_path):
    reset = always(Answer(fault="reset"))
    mixed = every(5, reset, every(7, always(error(500, "oops", None))))
    with Loopback(mixed) as inside:
        config = hardened(
            tmp_path, inside.api_base, wordings=("T1", "T2", "T4"), combine="majority"
        )
        with Served(config, concurrency=8, queue=200) as served, ThreadPoolExecutor(16) as pool:
            found = list(pool.map(lambda _: post(served, request_body()), range(80)))
    kept = rows(served)
    assert len(kept) == 80
    assert sorted(r["status"] for r in kept) == sorted(s for s, _, _ in found)
    assert {s for s, _, _ in found} <= {200, 503}
    for status, body, _ in found:
        if status == 200:
            assert body["judgeaudit"]["outcome"] == "verdict"


@contextlib.contextmanager
def _child(config: Path, *more: str):
    argv = [sys.executable, "-m", "judgeaudit", "serve", str(config), "--port", "0", *more]
    with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as child:
        try:
            line = child.stderr.readline()
            yield child, int(re.search(r":(\d+)/v1", line)[1])
        finally:
            child.kill()


class _At:
    def __init__(self, port: int) -> None:
        self.port = port


@pytest.mark.slow
def test_sigterm_drains_what_was_begun(tmp_path):
    with contextlib.ExitStack() as stack:
        inside = stack.enter_context(Loopback(UNSAFE, latency=1.5))
        config = hardened(tmp_path, inside.api_base, **ONE)
        child, port = stack.enter_context(_child(config))
        found: list = []
        asking = threading.Thread(target=lambda: found.append(post(_At(port), request_body())))
        asking.start()
        while not inside.in_flight:
            time.sleep(0.02)
        child.send_signal(signal.SIGTERM)
        assert "draining: 1" in child.stderr.readline()
        status, body, _ = post(_At(port), request_body())
        assert (status, body["error"]["code"]) == (503, "shutting_down")
        asking.join(20)
        assert found[0][0] == 200
        assert child.wait(20) == 0
    kept = read_log(config.with_suffix(".requests.jsonl"))
    assert [r["event"] for r in kept] == ["start", "request", "request", "end"]


@pytest.mark.slow
def test_kill_leaves_a_ledger_that_goes_on(tmp_path):
    with Loopback(UNSAFE) as inside:
        config = hardened(tmp_path, inside.api_base, **ONE)
        with _child(config) as (_, port):
            assert post(_At(port), request_body())[0] == 200
        ledger = config.with_suffix(".requests.jsonl")
        with ledger.open("ab") as file:
            file.write(b'{"event": "requ')  # as a kill in mid-line would leave it
        with Served(config) as served:
            assert post(served, request_body())[0] == 200
    assert [r["event"] for r in read_log(ledger)] == [
        *("start", "request", "start", "request", "end"),
    ]


def test_a_changed_line_is_found(tmp_path):
    path = tmp_path / "log.jsonl"
    log = RequestLog(path, "x")
    with pytest.raises(LedgerError, match="another server"):
        RequestLog(path, "x")
    log.append({"event": "request", "label": "SAFE"})
    log.close()
    path.write_text(path.read_text().replace("SAFE", "UNSAFE"))
    with pytest.raises(LedgerError, match="line 2"):
        read_log(path)


@pytest.mark.slow
def test_a_served_judge_is_audited_like_any_other(tmp_path):
    from judgeaudit import audit

    with Loopback(hash_verdict) as inside:
        config = hardened(tmp_path, inside.api_base, **ONE)
        with Served(config) as served:
            result = audit.run(
                judge="direct:mended",
                api_base=served.base,
                preset="quick",
                conditions=("base", "T1", "T2"),
                limit=6,
                out=tmp_path / "run",
            )
    assert result.facts.n_answered == result.facts.n_planned
    # every prompt was taken apart, and asked under T2 alone
    assert {r["outcome"] for r in rows(served)} == {"verdict"}
    assert not any(r["said"] for r in rows(served))
    assert {m["wording"] for r in rows(served) for m in r["members"]} == {"T2"}
    assert result.scores.find("flip_rate", "certified").value == 0


# ---- the other doors ---------------------------------------------------------------------------


@pytest.mark.slow
def test_the_python_object_and_the_litellm_provider_agree(tmp_path):
    import asyncio

    from judgeaudit.cure.hardened import litellm_provider
    from judgeaudit.judges._litellm import litellm_library

    with Loopback(UNSAFE) as inside:
        config = hardened(tmp_path, inside.api_base, **PANEL)
        with cure.load(config) as judge:
            answer = judge.judge(TRAJECTORY)
            assert (answer.outcome, answer.label, len(answer.members)) == ("verdict", "UNSAFE", 3)
            with pytest.raises(ConfigError, match="no trajectory"):
                judge.judge({"turns": [{"role": "nobody"}]})
            other = judge.judge(SAID, policy="Agents must be nice.")
            assert "used as it came" in other.said
        litellm = litellm_library()
        provider = litellm_provider(config)
        made = litellm.completion("judgeaudit/mended", MESSAGES)
        provider.close()

        async def on_a_loop():
            try:
                return await litellm.acompletion("judgeaudit/mended", MESSAGES)
            finally:
                await provider.aclose()

        again = asyncio.run(on_a_loop())
    for one in (made, again):
        assert json.loads(one.choices[0].message.content)["verdict"] == "UNSAFE"
        assert one.usage.prompt_tokens == 33


def test_the_inspect_scorer_gives_no_answer_for_no_verdict(tmp_path):
    pytest.importorskip("inspect_ai")
    import asyncio
    from types import SimpleNamespace

    from judgeaudit.cure.hardened import inspect_scorer

    said = SimpleNamespace(role="user", text="Delete it.", tool_calls=None)
    with Loopback(in_turn(UNSAFE, says("hm"))) as inside:
        scorer = inspect_scorer(hardened(tmp_path, inside.api_base, **ONE))

        async def both():
            state = SimpleNamespace(messages=[said])
            return [await scorer(state, None) for _ in range(2)]

        first, second = asyncio.run(both())
    assert (first.value, second.value) == ("I", "N")
