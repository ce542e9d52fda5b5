"""Judges that are an endpoint of one's own: what is sent, what is heard, what is a failure."""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from judge_world import PROMPT, call
from loopback import Answer, Loopback, always, error, first

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, JudgeError, PermanentError, TransientError
from judgeaudit.core.records import AuditSpec, JudgePrompt, Reply
from judgeaudit.judges._choice import judge_spec
from judgeaudit.judges.base import JUDGES
from judgeaudit.judges.endpoint import EndpointJudge, endpoint_spec
from judgeaudit.judges.parsing import parse
from judgeaudit.policy import load_judge_template

WHOLE = JudgePrompt(messages=PROMPT.messages, policy="the {{ seed }} policy", trajectory="run")


def address(server: Loopback) -> str:
    # where the server takes its chat requests: any address will do for an endpoint
    return f"{server.api_base}/chat/completions"


def asked(server: Loopback, named: str | None = None, seconds: float = 5.0) -> Reply:
    async def one() -> Reply:
        spec = endpoint_spec(named or address(server))
        judge = EndpointJudge(spec, attempt_seconds=seconds)
        try:
            return await judge.ask(WHOLE, call())
        finally:
            await judge.aclose()

    return asyncio.run(one())


def says(body) -> Answer:
    return Answer(body=body if isinstance(body, dict) else json.dumps(body))


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("JUDGEAUDIT_HTTP_KEY", raising=False)


@pytest.mark.parametrize(
    ("body", "outcome", "label", "confidence"),
    [
        ({"verdict": "UNSAFE", "confidence": 0.9, "rationale": "x"}, "verdict", "UNSAFE", 0.9),
        ({"label": "safe"}, "verdict", "SAFE", None),
        ({"text": "Verdict: UNSAFE"}, "verdict", "UNSAFE", None),
        ("SAFE", "verdict", "SAFE", None),
        ({"verdict": "NOT UNSAFE"}, "unparseable", None, None),
        ({"text": "SAFE or UNSAFE"}, "unparseable", None, None),
    ],
)
def test_the_documented_answer_is_read(body, outcome, label, confidence):
    with Loopback(always(says(body))) as server:
        read = parse(asked(server))
    assert (read.outcome, read.label, read.confidence) == (outcome, label, confidence)
    sent = server.seen[0].body
    assert sent == {
        "messages": [m.model_dump() for m in PROMPT.messages],
        "policy": "the {{ seed }} policy",
        "trajectory": "run",
    }


def form(tmp_path, url: str, text: str) -> str:
    path = tmp_path / "judge.toml"
    path.write_text(f'url = "{url}"\n{text}', encoding="utf-8")
    return str(path)


FORM = """
request = { input = ["{{ trajectory }}"], rules = "Rules: {{ policy }}", n = "{{ seed }}", k = 3 }
verdict = "/results/0/flag~1ged"
confidence = "/results/0/p"
model = "/model"
labels = { true = "UNSAFE", false = "SAFE" }
"""


@pytest.mark.parametrize(
    ("flagged", "outcome", "label"),
    [(True, "verdict", "UNSAFE"), (False, "verdict", "SAFE"), ("SAFE", "unparseable", None)],
)
def test_a_file_states_another_form_of_request_and_answer(tmp_path, flagged, outcome, label):
    body = {"results": [{"flag/ged": flagged, "p": 0.6}], "model": "mod-2"}
    with Loopback(always(says(body))) as server:
        reply = asked(server, form(tmp_path, address(server), FORM))
    read = parse(reply)
    assert (read.outcome, read.label) == (outcome, label)
    assert reply.served_model == "mod-2"
    sent = server.seen[0].body
    # a slot in the policy's own text stays text
    assert sent["rules"] == "Rules: the {{ seed }} policy"
    assert sent["input"] == ["run"]
    assert (sent["n"], sent["k"]) == (call().seed, 3)


@pytest.mark.parametrize(
    "body", [{"answer": "SAFE"}, {"results": []}, ["SAFE"], None, {"verdict": None}, 7]
)
def test_an_answer_without_a_verdict_is_a_failure(tmp_path, body):
    with Loopback(always(says(body))) as server, pytest.raises(TransientError) as caught:
        asked(server)
    assert caught.value.code == "unreadable_body"


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        (error(429, "slow down", "rate_limit", Retry_After="7"), TransientError, "slow down"),
        (error(503, "busy", None), TransientError, "busy"),
        (error(401, "who are you", None), PermanentError, "JUDGEAUDIT_HTTP_KEY"),
        (error(400, "no such field", None), PermanentError, "no such field"),
        (
            Answer(302, "", {"Location": "http://127.0.0.1:9/x"}),
            PermanentError,
            "sends requests on",
        ),
        (Answer(200, "<html>"), TransientError, "no"),
        (Answer(fault="reset"), TransientError, ""),
        (Answer(fault="hang"), TransientError, "no answer within"),
    ],
)
def test_failures_are_those_of_any_server(answer, kind, said):
    with Loopback(always(answer)) as server, pytest.raises(JudgeError) as caught:
        asked(server, seconds=0.5)
    assert type(caught.value) is kind
    assert re.search(said, str(caught.value))
    assert server.n_requests == 1
    if answer.status == 429:
        assert caught.value.retry_after == 7


def test_the_key_goes_out_as_a_bearer_token_and_into_no_answer(monkeypatch):
    monkeypatch.setenv("JUDGEAUDIT_HTTP_KEY", "sk-very-secret-token-1")
    body = {"verdict": "SAFE", "rationale": "you sent sk-very-secret-token-1"}
    with Loopback(always(says(body)), key="sk-very-secret-token-1") as server:
        reply = asked(server)
    assert parse(reply).label == "SAFE"
    assert "secret" not in reply.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('request = { a = "{{ nothing }}" }', "unknown slot 'nothing'"),
        ('request = { a = "{{ policy }}" }', "does not hold policy and trajectory"),
        ('verdict = "result"', "begins with /"),
        ('labels = { yes = "BAD" }', "labels"),
        ('speed = "fast"', "speed"),
    ],
)
def test_a_form_that_cannot_be_is_refused_with_file_and_key(tmp_path, text, said):
    with pytest.raises(ConfigError, match=said) as caught:
        endpoint_spec(form(tmp_path, "http://127.0.0.1:9/j", text))
    assert "judge.toml" in str(caught.value)


@pytest.mark.parametrize("url", ["http://me:pw@127.0.0.1/j", "ftp://h/j", "http://h/j?token=abc"])
def test_an_address_with_a_password_or_none_is_refused(tmp_path, url):
    with pytest.raises(ConfigError) as caught:
        endpoint_spec(form(tmp_path, url, ""))
    assert "pw" not in str(caught.value)
    assert "abc" not in str(caught.value)


def test_address_and_form_are_the_judges_identity(tmp_path):
    def spec(text: str):
        named = form(tmp_path, "http://127.0.0.1:9/j", text)
        return judge_spec(AuditSpec(judge=f"http:{named}"), load_judge_template())

    one = spec(FORM)
    assert (one.backend, one.model) == ("http", "127.0.0.1:9/j")
    assert spec(FORM) == one
    assert spec(FORM.replace("k = 3", "k = 4")).sha256 != one.sha256
    plain = judge_spec(AuditSpec(judge="http://127.0.0.1:9/j"), load_judge_template())
    assert plain.sha256 != one.sha256
    assert repr(JUDGES["http"](plain)) == "EndpointJudge('127.0.0.1:9/j at http://127.0.0.1:9/j')"


def test_an_audit_waits_as_told_and_goes_on(tmp_path):
    body = {"verdict": "SAFE", "confidence": 0.9}
    busy = error(429, "slow down", "rate_limit", Retry_After="0.1")
    with Loopback(first(always(busy), 1, always(says(body)))) as server:
        result = audit.run(
            judge=address(server),
            limit=4,
            conditions=("base", "T1"),
            base_repeats=2,
            repeats=1,
            out=tmp_path / "run",
        )
    assert result.exit_code == 0
    assert result.facts.outcomes["base"] == {"verdict": 8}
    # each of the eight prompts is refused once
    assert server.n_requests == 12 + 8
