"""A body that is odd around a good answer keeps the answer; what cannot be trusted is unknown."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from judge_world import SENTINEL, ask
from loopback import Answer, Loopback, always, completion

from judgeaudit.core.errors import TransientError
from judgeaudit.judges._salvage import answer_in
from judgeaudit.judges.parsing import parse

MODELS = ("openai/toy", "hosted_vllm/toy", "deepseek/toy")
SAID = '{"verdict": "UNSAFE", "confidence": 0.9}'
TEXT = {"type": "text", "text": SAID}
BROKEN_USAGE = [
    [],
    [1],
    "many",
    5,
    True,
    {"prompt_tokens": -5, "completion_tokens": -1, "total_tokens": -6},
    {"prompt_tokens": 1.5, "completion_tokens": 7, "total_tokens": 18},
    {"prompt_tokens": {"a": None}, "completion_tokens": [None]},
    {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None},
    {"prompt_tokens": 10**30, "completion_tokens": 10**30},
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("usage", BROKEN_USAGE, ids=str)
def test_a_broken_usage_keeps_the_answer_and_is_unknown(usage, model):
    body = completion(SAID) | {"usage": usage}
    with Loopback(always(Answer(body=body))) as server:
        reply = ask(server, model=model)
    assert (parse(reply).outcome, parse(reply).label) == ("verdict", "UNSAFE")
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cost) == (None, None, None)
    assert reply.finish_reason == "stop"
    assert server.n_requests == 1


def test_details_of_nothing_leave_the_counts_alone():
    details = {"prompt_tokens_details": {"cached_tokens": None}, "completion_tokens_details": None}
    body = completion(SAID)
    body["usage"] |= details
    with Loopback(always(Answer(body=body))) as server:
        reply = ask(server)
    assert (reply.prompt_tokens, reply.completion_tokens) == (11, 7)


def test_a_text_of_no_tokens_has_an_unknown_number():
    body = completion(SAID) | {"usage": {"prompt_tokens": 11, "completion_tokens": None}}
    with Loopback(always(Answer(body=body))) as server:
        reply = ask(server)
    assert (reply.prompt_tokens, reply.completion_tokens) == (11, None)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "content",
    [
        [TEXT],
        [{"type": "text", "text": SAID[:10]}, {"type": "text", "text": SAID[10:]}],
        [{"type": "image_url", "image_url": {}}, TEXT],
        [SAID],
        TEXT,
        [{"type": "output_text", "text": SAID}],
        [{"type": "text"}, TEXT],
    ],
    ids=str,
)
def test_a_text_in_parts_is_joined(content, model):
    with Loopback(always(Answer(body=completion(content)))) as server:
        reply = ask(server, model=model)
    assert reply.text == SAID
    assert parse(reply).label == "UNSAFE"
    assert (reply.prompt_tokens, reply.completion_tokens) == (11, 7)
    assert (reply.served_model, reply.request_id) == ("loopback-1", "chatcmpl-loopback")
    assert server.n_requests == 1


def test_thoughts_and_refusals_in_parts_are_no_answer():
    thought = {"type": "thinking", "thinking": '{"verdict": "SAFE"}'}
    with Loopback(always(Answer(body=completion([thought, TEXT])))) as server:
        reply = ask(server)
    assert (reply.text, reply.reasoning) == (SAID, '{"verdict": "SAFE"}')
    refusal = {"type": "refusal", "refusal": "I will not."}
    with Loopback(always(Answer(body=completion([refusal])))) as server:
        reply = ask(server)
    assert (reply.text, reply.refusal, parse(reply).outcome) == (None, "I will not.", "refusal")


@pytest.mark.parametrize("content", [[], [{"type": "image_url"}], [{"type": "text", "text": None}]])
def test_parts_without_a_text_are_no_verdict(content):
    with Loopback(always(Answer(body=completion(content)))) as server:
        verdict = parse(ask(server))
    assert (verdict.outcome, verdict.label) == ("unparseable", None)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("content", [5, True, [5], [[TEXT]]], ids=str)
def test_a_content_that_is_no_text_at_all_is_a_failure_with_a_name(content, model):
    odd = always(Answer(body=completion(content)))
    with Loopback(odd) as server, pytest.raises(TransientError) as caught:
        ask(server, model=model)
    assert caught.value.code == "unreadable_body"


def test_a_body_that_reports_an_error_beside_an_answer_is_a_failure():
    body = completion([TEXT]) | {"error": {"message": "boom", "code": 502}}
    with Loopback(always(Answer(body=body))) as server, pytest.raises(TransientError):
        ask(server)


def test_an_answer_in_parts_holds_no_key_that_the_server_echoes(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SENTINEL)
    part = {"type": "text", "text": f"you sent {SENTINEL}"}
    with Loopback(always(Answer(body=completion([part])))) as server:
        assert ask(server).text == "you sent [key]"


def failed(**names: object) -> BaseException:
    """Raise an error in a function that holds such a thing."""

    def reading(body: object) -> None:
        raise TypeError(f"cannot read {type(body).__name__}")

    try:
        reading(names["body"])
    except TypeError as exc:
        return exc
    raise AssertionError


def test_only_a_completion_is_taken_out_of_a_traceback():
    found = answer_in(failed(body=completion([TEXT])))
    assert isinstance(found, SimpleNamespace)
    assert found.choices[0].message.content == SAID
    for other in ({"choices": []}, {"choices": [{"text": SAID}]}, [TEXT], {"choices": SAID}, None):
        assert answer_in(failed(body=other)) is None
