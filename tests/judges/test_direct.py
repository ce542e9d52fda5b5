"""What is the direct door's own: addresses, keys, redirects, odd bodies, connections, loops.

What it shares with the LiteLLM door is tested in `test_via_litellm*.py`, over both.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import warnings

import pytest
from direct_world import MODEL, SOMEWHERE, no_keys
from judge_world import PROMPT, ask, call, judge_of, spec_of
from loopback import Answer, Loopback, always, completion, says

from judgeaudit.core.errors import ConfigError, TransientError
from judgeaudit.core.records import AuditSpec, JudgeSpec, Reply
from judgeaudit.judges import _wire
from judgeaudit.judges._choice import judge_spec, price_of
from judgeaudit.judges.base import JUDGES, ProbedJudge, RoomyJudge, TimedJudge
from judgeaudit.judges.direct import DirectJudge
from judgeaudit.policy.prompts import load_judge_template

_no_keys = no_keys


# -- how it is named -----------------------------------------------------------------------------


def spec_from(**choices) -> JudgeSpec:
    return judge_spec(AuditSpec(**choices), load_judge_template("default"))


def test_a_user_names_it_with_its_address():
    spec = spec_from(judge="direct:qwen3:8b", api_base=SOMEWHERE, temperature=0.5)
    assert (spec.backend, spec.model, spec.api_base) == ("direct", "qwen3:8b", SOMEWHERE)
    judge = JUDGES[spec.backend](spec)
    assert isinstance(judge, DirectJudge)
    assert isinstance(judge, ProbedJudge)
    assert isinstance(judge, TimedJudge)
    assert isinstance(judge, RoomyJudge)
    assert repr(judge) == f"DirectJudge('qwen3:8b at {SOMEWHERE}')"


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"judge": "direct:"}, "names no model"),
        ({"judge": "direct:x"}, "has no address.*--api-base"),
        ({"judge": "direct/x", "api_base": SOMEWHERE}, "Write direct:x"),
        ({"judge": "direct:x", "api_base": "nowhere"}, "no address of a server"),
        ({"judge": "direct:x", "api_base": "http://me:pw@host/v1"}, "holds a password"),
        ({"judge": "direct:x", "api_base": SOMEWHERE, "decoding": {"stream": True}}, "'stream'"),
        (
            {"judge": "direct:x", "api_base": SOMEWHERE, "decoding": {"extra_body": {"n": 2}}},
            "'n' cannot be a decoding parameter",
        ),
    ],
)
def test_what_cannot_be_asked_is_refused_before_anything_is_planned(choices, said):
    with pytest.raises(ConfigError, match=said) as caught:
        spec_from(**choices)
    assert "me:pw" not in str(caught.value)


def test_two_doors_to_one_server_are_two_judges():
    one = spec_from(judge="direct:x", api_base=SOMEWHERE)
    other = spec_from(judge="openai/x", api_base=SOMEWHERE)
    assert one.sha256 != other.sha256


def test_its_price_is_not_known():
    assert price_of(spec_from(judge="direct:gpt-4o-mini", api_base=SOMEWHERE)) is None


@pytest.mark.parametrize("decoding", [{"top_p": float("nan")}, {"x": object()}, {"extra_body": 3}])
def test_a_decoding_that_no_request_can_carry_is_refused(decoding):
    spec = JudgeSpec(backend="direct", model="x", api_base=SOMEWHERE, decoding=decoding)
    with pytest.raises(ConfigError, match="the decoding is no JSON"):
        DirectJudge(spec)


@pytest.mark.parametrize("key", ["sk-SENTINEL\nX-Other: 1", "sk-SENTINEL\u200b0123"])
def test_a_key_that_no_header_can_carry_is_not_printed(key, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY") as caught:
        DirectJudge(JudgeSpec(backend="direct", model="x", api_base=SOMEWHERE))
    assert "SENTINEL" not in str(caught.value)


# -- what goes out -------------------------------------------------------------------------------


@pytest.mark.parametrize("tail", ["", "/", "?api-version=3"])
def test_the_path_is_put_together_once(tail):
    with Loopback() as server:

        async def one() -> None:
            spec = spec_of(server, model=MODEL).model_copy(
                update={"api_base": server.api_base + tail}
            )
            judge = judge_of(spec)
            await judge.ask(PROMPT, call())
            await judge.aclose()

        asyncio.run(one())
        assert server.seen[0].path == "/v1/chat/completions"


def test_more_room_is_asked_for_by_the_name_that_the_decoding_uses():
    async def one(server: Loopback, **spec) -> None:
        judge = judge_of(spec_of(server, model=MODEL, **spec))
        await judge.ask_longer(PROMPT, call(), 99)
        await judge.aclose()

    with Loopback() as server:
        asyncio.run(one(server, decoding={"max_tokens": 5}))
        asyncio.run(one(server, decoding={"max_completion_tokens": 5}))
    assert server.seen[0].body["max_tokens"] == 99
    assert server.seen[1].body["max_completion_tokens"] == 99
    assert "max_tokens" not in server.seen[1].body


def test_no_cookie_and_no_password_file_changes_a_later_request(tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password hunter2\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    answer = Answer(body=completion("SAFE"), headers={"set-cookie": "seen=1"})

    async def twice(server: Loopback) -> None:
        judge = judge_of(spec_of(server, model=MODEL))
        for _ in range(2):
            await judge.ask(PROMPT, call())
        await judge.aclose()

    with Loopback(always(answer)) as server:
        asyncio.run(twice(server))
    assert all("cookie" not in s.headers for s in server.seen)
    assert {s.headers["authorization"] for s in server.seen} == {"Bearer no-key"}


def test_a_proxy_of_the_environment_is_used_but_not_for_this_machine(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with Loopback() as server:
        assert ask(server, model=MODEL).text
        monkeypatch.setenv("http_proxy", server.url)
        proxied = JudgeSpec(backend="direct", model="toy", api_base="http://judge.invalid/v1")

        async def one() -> Reply:
            judge = DirectJudge(proxied)
            try:
                return await judge.ask(PROMPT, call())
            finally:
                await judge.aclose()

        assert asyncio.run(one()).text
        monkeypatch.setenv("no_proxy", "judge.invalid")
        with pytest.raises(TransientError) as caught:
            asyncio.run(one())
    assert caught.value.code == "unreachable"
    assert server.n_requests == 2


# -- connections and loops -----------------------------------------------------------------------


def test_a_connection_is_used_again():
    async def story(server: Loopback) -> int:
        judge = DirectJudge(spec_of(server, model=MODEL))
        for k in range(5):
            await judge.ask(PROMPT, call(repeat=k))
        (session,) = judge._wire._sessions.values()
        n = sum(len(held) for held in session.connector._conns.values())  # type: ignore[union-attr]
        await judge.aclose()
        return n

    with Loopback() as server:
        assert asyncio.run(story(server)) == 1


def test_one_judge_in_several_loops_and_threads():
    with Loopback(says("SAFE")) as server:
        judge = DirectJudge(spec_of(server, model=MODEL))
        replies: list[str | None] = []

        async def one() -> None:
            replies.append((await judge.ask(PROMPT, call())).text)
            await judge.aclose()

        threads = [threading.Thread(target=lambda: asyncio.run(one())) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        asyncio.run(one())
    assert replies == ["SAFE"] * 4
    assert judge._wire._sessions == {}


def test_after_it_was_closed_it_opens_again():
    async def story(server: Loopback) -> None:
        judge = DirectJudge(spec_of(server, model=MODEL))
        for _ in range(2):
            await judge.ask(PROMPT, call())
            await judge.aclose()

    with Loopback() as server:
        asyncio.run(story(server))
    assert server.n_requests == 2


def test_a_run_leaves_no_warning_behind():
    """In a process of its own, where every warning is shown, also those of its last breath."""
    code = """
import asyncio, sys
from judgeaudit.core.records import Call, JudgePrompt, JudgeSpec, Message
from judgeaudit.judges.direct import DirectJudge

spec = JudgeSpec(backend="direct", model="toy", api_base=sys.argv[1])
prompt = JudgePrompt(messages=(Message(role="user", content="x"),))

async def story():
    judge = DirectJudge(spec, attempt_seconds=float(sys.argv[2]))
    calls = [Call(item="i", condition="c", repeat=k, prompt_sha256="p", judge_sha256="j") for k in range(8)]
    ends = await asyncio.gather(*(judge.ask(prompt, c) for c in calls), return_exceptions=True)
    await judge.aclose()
    return sorted({type(e).__name__ for e in ends})

print(*asyncio.run(story()))
"""
    for behaviour, seconds, ends in (("safe", 9, "Reply"), ("hang", 0.3, "TransientError")):
        with Loopback(behaviour) as server:
            words = [sys.executable, "-W", "always", "-c", code, server.api_base, str(seconds)]
            done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert (done.stdout.strip(), done.stderr) == (ends, "")


def test_an_address_that_swallows_packets_is_no_server(monkeypatch):
    """A listener whose queue is full answers no further knock, as a firewall does not."""
    import socket

    monkeypatch.setattr(_wire, "_CONNECT", 0.3)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        port = listening.getsockname()[1]
        fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", port))
            fillers.append(filler)

        async def one() -> None:
            base = f"http://127.0.0.1:{port}/v1"
            judge = DirectJudge(JudgeSpec(backend="direct", model="toy", api_base=base))
            try:
                await judge.ask(PROMPT, call())
            finally:
                await judge.aclose()

        with pytest.raises(TransientError, match="no server answers") as caught:
            asyncio.run(one())
        for filler in fillers:
            filler.close()
    assert caught.value.code == "unreachable"


def test_closing_in_mid_request_ends_it_as_a_lost_connection():
    async def story(server: Loopback) -> None:
        judge = DirectJudge(spec_of(server, model=MODEL))
        asking = asyncio.create_task(judge.ask(PROMPT, call()))
        while server.in_flight == 0:  # noqa: ASYNC110 - the server is in another thread
            await asyncio.sleep(0.01)
        await judge.aclose()
        with pytest.raises(TransientError) as caught:
            await asking
        assert caught.value.code == "connection"

    with Loopback("hang") as server, warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(story(server))
