"""What the direct door makes of answers: odd bodies, errors that servers without codes word, redirects."""

from __future__ import annotations

import asyncio
import gzip
import json
import threading

import pytest
from direct_world import asked, failed, no_keys
from judge_world import PROMPT, SENTINEL, call
from loopback import Answer, completion, error

from judgeaudit.core.errors import PermanentError, QuotaExhaustedError, TransientError
from judgeaudit.core.records import JudgeSpec, Reply
from judgeaudit.judges import _wire
from judgeaudit.judges.direct import DirectJudge
from judgeaudit.judges.parsing import parse

_no_keys = no_keys


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
