"""What is the direct door's own: addresses, keys, redirects, odd bodies, connections, loops.

What it shares with the LiteLLM door is tested in `test_via_litellm*.py`, over both.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import subprocess
import sys
import threading
import warnings

import pytest
from judge_world import PROMPT, SENTINEL, ask, call, judge_of, spec_of
from loopback import Answer, Loopback, always, completion, error, says

from judgeaudit.core.errors import ConfigError, PermanentError, QuotaExhaustedError, TransientError
from judgeaudit.core.records import AuditSpec, JudgeSpec, Reply
from judgeaudit.judges import _wire
from judgeaudit.judges._choice import judge_spec, price_of
from judgeaudit.judges.base import JUDGES, ProbedJudge, RoomyJudge, TimedJudge
from judgeaudit.judges.direct import DirectJudge
from judgeaudit.judges.parsing import parse
from judgeaudit.policy.prompts import load_judge_template

MODEL = "direct:toy"
SOMEWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def asked(answer: Answer, **spec) -> Reply:
    with Loopback(always(answer)) as server:
        reply = ask(server, model=MODEL, **spec)
    assert server.n_requests == 1
    return reply


def failed(answer: Answer, kind, **spec):
    with Loopback(always(answer)) as server, pytest.raises(kind) as caught:
        ask(server, model=MODEL, **spec)
    assert server.n_requests == 1
    assert type(caught.value) is kind
    return caught.value


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


# -- what comes back -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "text", "reasoning", "refusal"),
    [
        ([{"type": "text", "text": "Verdict: "}, {"type": "text", "text": "SAFE"}],
         "Verdict: SAFE", None, None),
        (["Verdict: ", "SAFE"], "Verdict: SAFE", None, None),
        ([{"type": "output_text", "text": "SAFE"}], "SAFE", None, None),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
          {"type": "text", "text": "SAFE"}], "SAFE", "hm", None),
        ([{"type": "refusal", "refusal": "I can't."}], None, None, "I can't."),
        ([{"type": "image_url", "image_url": {}}, 7, None], None, None, None),
        ([], None, None, None),
        ({"text": "SAFE"}, None, None, None),
        (17, None, None, None),
        ("<think>SAFE?</think>UNSAFE", "UNSAFE", "SAFE?", None),
        ("\n<thinking>a</thinking>\nUNSAFE", "\nUNSAFE", "a", None),
        ("<think>cut in mid-thought", "<think>cut in mid-thought", None, None),
    ],
)  # fmt: skip
def test_content_of_any_form(content, text, reasoning, refusal):
    body = completion("x", message={"content": content})
    reply = asked(Answer(body=body))
    assert (text, reasoning, refusal) == (reply.text, reply.reasoning, reply.refusal)


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_in_a_field_of_its_own(field):
    reply = asked(Answer(body=completion("SAFE", message={field: "hm"})))
    assert (reply.text, reply.reasoning) == ("SAFE", "hm")


@pytest.mark.parametrize(
    "usage",
    [
        None, 7, "many", [], {}, {"prompt_tokens": "11", "completion_tokens": 7},
        {"prompt_tokens": -1, "completion_tokens": 7}, {"prompt_tokens": 11.5},
        {"prompt_tokens": True, "completion_tokens": True}, {"prompt_tokens": 1 << 80},
        {"prompt_tokens": 0, "completion_tokens": 0}, {"prompt_tokens": {"a": 1}},
    ],
)  # fmt: skip
def test_a_usage_that_is_none_is_unknown_and_the_answer_stays(usage):
    reply = asked(Answer(body=completion("Verdict: SAFE", usage=usage)))
    assert (reply.prompt_tokens, reply.completion_tokens) == (None, None)
    assert parse(reply).label == "SAFE"


def test_half_a_usage_is_half_known():
    used = {"prompt_tokens": 11, "completion_tokens": None}
    reply = asked(Answer(body=completion("SAFE", usage=used)))
    assert (reply.prompt_tokens, reply.completion_tokens) == (11, None)


def test_fields_of_other_types_are_unknown():
    body = completion("SAFE", model=["x"], id=7, system_fingerprint={})  # type: ignore[arg-type]
    body["choices"][0]["finish_reason"] = 3
    reply = asked(Answer(body=body))
    for name in ("served_model", "request_id", "system_fingerprint", "finish_reason"):
        assert getattr(reply, name) is None, name
    assert reply.text == "SAFE"


@pytest.mark.parametrize(
    "body",
    [
        '{"choices": [7]}',
        '{"choices": {"0": {"message": {"content": "SAFE"}}}}',
        '{"choices": [{"message": "SAFE"}]}',
        "[" * 100_000,
        '{"choices": ' + "9" * 5000 + "}",
        'data: {"choices": [{"delta": {"content": "SAFE"}}]}\n\ndata: [DONE]\n\n',
    ],
    ids=["number", "object", "text", "deep", "long number", "stream"],
)
def test_a_body_that_is_no_completion_may_be_asked_again(body):
    assert failed(Answer(body=body), TransientError).code == "unreadable_body"


def raw_server(payload: bytes):
    """Serve these bytes to one connection, whatever it says."""
    import socket

    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(payload)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    return listening, thread


def ask_raw(payload: bytes, scheme: str = "http") -> Reply:
    listening, thread = raw_server(payload)
    base = f"{scheme}://127.0.0.1:{listening.getsockname()[1]}/v1"

    async def one() -> Reply:
        judge = DirectJudge(JudgeSpec(backend="direct", model="toy", api_base=base))
        try:
            return await judge.ask(PROMPT, call())
        finally:
            await judge.aclose()

    try:
        return asyncio.run(one())
    finally:
        thread.join(5)
        listening.close()


def http(body: bytes, *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", f"content-length: {len(body)}", "connection: close", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


def test_a_broken_byte_in_a_rationale_leaves_the_verdict():
    body = b'{"choices": [{"message": {"content": "{\\"verdict\\": \\"SAFE\\", \\"rationale\\": \\"\xff\\"}"}}]}'
    assert parse(ask_raw(http(body))).label == "SAFE"
    assert parse(ask_raw(http(b"\xef\xbb\xbf" + body))).label == "SAFE"


def test_what_is_no_http_is_unreadable():
    with pytest.raises(TransientError) as caught:
        ask_raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n")
    assert caught.value.code == "unreadable_body"
    assert "it is no HTTP" in str(caught.value)


def test_a_body_without_end_is_not_read_to_its_end(monkeypatch):
    monkeypatch.setattr(_wire, "LARGEST", 10_000)
    fault = failed(Answer(body=completion("x" * 20_000)), TransientError)
    assert fault.code == "unreadable_body"


def test_a_packed_body_counts_by_what_it_unpacks_to(monkeypatch):
    monkeypatch.setattr(_wire, "LARGEST", 1 << 20)
    bomb = gzip.compress(b" " * (8 << 20))
    assert len(bomb) < 10_000
    with pytest.raises(TransientError) as caught:
        ask_raw(http(bomb, "content-encoding: gzip"))
    assert caught.value.code in {"unreadable_body", "connection"}


# -- errors as servers without codes word them ---------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body", "kind", "code", "what"),
    [
        # vLLM
        (400, {"object": "error", "type": "BadRequestError", "param": None, "code": 400,
               "message": "This model's maximum context length is 4096 tokens. However, you requested 9001"},
         PermanentError, "context_length_exceeded", "does not fit"),
        (404, {"object": "error", "type": "NotFoundError", "param": None, "code": 404,
               "message": "The model `x` does not exist."},
         PermanentError, "NotFoundError", "does not exist"),
        (400, {"error": {"type": "BadRequestError", "param": None, "code": 400, "message":
               "[{'type': 'extra_forbidden', 'loc': ('body', 'top_z'), 'msg': 'Extra inputs'}]"}},
         PermanentError, "unsupported_parameter", "parameter top_z"),
        # llama.cpp
        (400, {"error": {"code": 400, "type": "exceed_context_size_error",
               "message": "the request exceeds the available context size"}},
         PermanentError, "context_length_exceeded", "does not fit"),
        (503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}},
         TransientError, "unavailable_error", "Loading model"),
        # Ollama
        (404, {"error": "model 'x' not found"}, PermanentError, None, "model 'x' not found"),
        # FastAPI in front of something
        (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "top_z"], "msg": "no"}]},
         PermanentError, "unsupported_parameter", "parameter top_z"),
        (429, {"detail": "Too many requests"}, TransientError, None, "Too many requests"),
        # a list round it
        (429, [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "wait"}}],
         TransientError, "RESOURCE_EXHAUSTED", "wait"),
        (400, {"error": {"message": "Unrecognized request argument supplied: top_z",
                         "type": "invalid_request_error", "code": None}},
         PermanentError, "unsupported_parameter", "parameter top_z"),
        (402, {"error": {"message": "Insufficient credits", "code": 402}},
         QuotaExhaustedError, "insufficient_quota", "no credit"),
        (401, "", PermanentError, None, "Check the key in OPENAI_API_KEY"),
        (500, "<html>oops</html>", TransientError, None, "HTTP 500"),
        (500, {"error": {"message": None, "code": []}}, TransientError, None, "HTTP 500"),
    ],
)  # fmt: skip
def test_an_error_of_any_form(status, body, kind, code, what):
    fault = failed(Answer(status, body if isinstance(body, str) else json.dumps(body)), kind)
    assert (status, code) == (fault.status, fault.code)
    assert what in str(fault)


def test_a_prompt_that_an_error_quotes_does_not_decide_what_it_is():
    said = f"Invalid input: {'x' * 300} the prompt is too long, unsupported parameter: 'n'"
    assert failed(error(400, said, "invalid_value"), PermanentError).code == "invalid_value"


@pytest.mark.parametrize("status", [200, 400])
def test_a_content_filter_is_an_answer_with_any_status(status):
    body = {"error": {"message": "filtered", "code": "content_filter"}}
    assert parse(asked(Answer(status, json.dumps(body)))).outcome == "refusal"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_told_and_not_followed(status):
    to = {"location": f"https://elsewhere.invalid/v1/chat/completions?token={SENTINEL}"}
    fault = failed(Answer(status, "", to), PermanentError)
    assert "elsewhere.invalid/v1/chat/completions." in str(fault)
    assert "SENTINEL" not in str(fault)
    assert (fault.status, fault.code) == (status, "redirected")


def test_an_address_with_the_wrong_scheme_is_said_to_have_no_tls():
    with pytest.raises(TransientError, match=r"no TLS connection.*http or https") as caught:
        ask_raw(http(b"plain"), scheme="https")
    assert caught.value.code == "unreachable"


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
