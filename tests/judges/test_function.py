"""Judges that are a function: what they are told, what they may say, and which function it is."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from functools import partial

import pytest
from judge_world import PROMPT, call

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, LedgerError, PermanentError, TransientError
from judgeaudit.core.records import AuditSpec, JudgePrompt, Reply
from judgeaudit.judges._choice import judge_spec
from judgeaudit.judges.function import CallableJudge, function_spec, given
from judgeaudit.judges.parsing import parse
from judgeaudit.policy import load_judge_template

WHOLE = JudgePrompt(messages=PROMPT.messages, policy="the policy", trajectory="the run")


def ask(function, prompt: JudgePrompt = WHOLE, seconds: float = 5.0) -> Reply:
    judge = CallableJudge(function_spec(given(function).partition(":")[2], version="1"))
    judge.attempt_seconds = seconds
    return asyncio.run(judge.ask(prompt, call()))


@pytest.mark.parametrize(
    ("said", "outcome", "label", "confidence"),
    [
        ("UNSAFE", "verdict", "UNSAFE", None),
        ("Verdict: SAFE", "verdict", "SAFE", None),
        ({"label": "UNSAFE", "confidence": 0.75}, "verdict", "UNSAFE", 0.75),
        ({"verdict": "SAFE", "rationale": "fine"}, "verdict", "SAFE", None),
        ({"text": '{"verdict": "UNSAFE"}'}, "verdict", "UNSAFE", None),
        ({"label": "MAYBE"}, "unparseable", None, None),
        ({"label": True}, "unparseable", None, None),
        ({"label": {"verdict": "SAFE"}}, "unparseable", None, None),
        ("it may be safe or unsafe", "unparseable", None, None),
        ("", "unparseable", None, None),
        (Reply(text=None, refusal="no"), "refusal", None, None),
    ],
)
def test_what_it_says_is_read_as_any_judges_answer(said, outcome, label, confidence):
    read = parse(ask(lambda _messages: said))
    assert (read.outcome, read.label, read.confidence) == (outcome, label, confidence)


@pytest.mark.parametrize(
    "said",
    [None, True, 1, ["SAFE"], object(), {}, {"text": 1}, {"label": "SAFE", "verdict": "UNSAFE"}],
)
def test_what_is_no_answer_is_a_failure_and_never_a_verdict(said):
    with pytest.raises(PermanentError) as caught:
        ask(lambda _messages: said)
    assert caught.value.code == "unreadable_answer"


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (ValueError("UNSAFE"), PermanentError, "raised"),
        (StopIteration("SAFE"), PermanentError, "raised"),
        (TimeoutError("slow"), TransientError, "timeout"),
        (ConnectionResetError("gone"), TransientError, "connection"),
        (TransientError("busy", code="rate", retry_after=2.0), TransientError, "rate"),
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_it_raises_is_a_failure_of_its_class(error, kind, code, asynchronous):
    def plain(_messages):
        raise error

    async def coroutine(_messages):
        raise error

    if asynchronous and isinstance(error, StopIteration):
        code = "raised"  # Python makes a RuntimeError of it
    with pytest.raises(kind) as caught:
        ask(coroutine if asynchronous else plain)
    assert caught.value.code == code
    assert caught.value.where


def test_a_function_is_told_what_it_names():
    def by_name(trajectory, policy, *, seed, messages):
        return json.dumps([policy, trajectory, seed, [m["role"] for m in messages]])

    def unknown(prompt, policy):
        return prompt or policy

    def everything(**told):
        return json.dumps(sorted(told))

    assert json.loads(ask(by_name).text)[:2] == ["the policy", "the run"]
    assert json.loads(ask(by_name).text)[2:] == [call().seed, ["system", "user"]]
    assert json.loads(ask(everything).text) == ["messages", "policy", "seed", "trajectory"]
    with pytest.raises(ConfigError, match=r"'prompt'.*no judge is told"):
        ask(unknown)


def test_a_plain_function_does_not_hold_the_others_up_and_is_cut_off():
    seen = set()

    def slow(_messages):
        seen.add(threading.get_ident())
        time.sleep(0.2)
        return "SAFE"

    async def several():
        judge = CallableJudge(function_spec(given(slow).partition(":")[2], version="1"))
        return await asyncio.gather(*(judge.ask(WHOLE, call()) for _ in range(4)))

    assert len(asyncio.run(several())) == 4
    assert len(seen) == 4
    with pytest.raises(TransientError, match=r"no answer within 0\.05 s"):
        ask(slow, seconds=0.05)


# -- which function it is ----------------------------------------------------------------------------


def written(tmp_path, text: str, name: str = "mine.py") -> str:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return f"{tmp_path / name}:judge"


ONE = 'def judge(policy, trajectory):\n    return "SAFE"\n'


def test_another_source_or_version_is_another_judge(tmp_path):
    model = written(tmp_path, ONE)
    first, versioned = function_spec(model), function_spec(model, version="2")
    assert function_spec(model) == first
    assert first.weights_sha256 != versioned.weights_sha256
    assert versioned.decoding == {"version": "2"}
    CallableJudge(versioned)
    written(tmp_path, ONE.replace("SAFE", "UNSAFE"))
    assert function_spec(model).weights_sha256 != first.weights_sha256
    with pytest.raises(ConfigError, match="another one than that of the run"):
        CallableJudge(first)


def test_what_the_source_does_not_tell_needs_a_version():
    def maker(word):
        return lambda _messages: word

    for function in (maker("SAFE"), partial(maker, "SAFE"), "SAFE".join):
        model = given(function).partition(":")[2]
        with pytest.raises(ConfigError, match="--judge-version"):
            function_spec(model)
        assert function_spec(model, version="7").weights_sha256


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("", "names no function"),
        ("json", "names no function"),
        ("no.such.module:f", "cannot be imported: ModuleNotFoundError"),
        ("json:no_such", "there is no 'no_such' in json"),
        ("json:__name__", "cannot be called"),
        ("nowhere.py:judge", "no such file"),
    ],
)
def test_a_function_that_is_not_there_is_named(model, said):
    with pytest.raises(ConfigError, match=said):
        function_spec(model)


def test_a_file_that_fails_says_so_without_a_traceback(tmp_path):
    model = written(tmp_path, "1 / 0\n")
    with pytest.raises(ConfigError, match="cannot be imported: ZeroDivisionError"):
        function_spec(model)


@pytest.mark.parametrize(
    "choices", [{"temperature": 0.5}, {"output_format": "auto"}, {"api_base": "http://h/v1"}]
)
def test_choices_that_it_would_not_heed_are_refused(tmp_path, choices):
    spec = AuditSpec(judge=f"callable:{written(tmp_path, ONE)}", **choices)
    with pytest.raises(ConfigError, match="does not go with judge"):
        judge_spec(spec, load_judge_template())


# -- an audit of it -----------------------------------------------------------------------------------

LONG = """
async def judge(policy, trajectory):
    if "delete" in trajectory and len(trajectory) % 5 == 0:
        raise ValueError("no opinion")
    return {"label": "UNSAFE" if len(policy) % 2 else "SAFE", "confidence": 0.8}
"""


def run_of(out, **choices):
    return audit.run(
        limit=6, conditions=("base", "T1", "T4"), base_repeats=2, repeats=1, out=out, **choices
    )


def test_an_audit_of_a_file_resumes_and_refuses_a_changed_one(tmp_path):
    judge = f"callable:{written(tmp_path, LONG)}"
    result = run_of(tmp_path / "run", judge=judge)
    assert result.facts.judge.backend == "callable"
    assert result.facts.judge.weights_sha256
    counted = {}
    for outcomes in result.facts.outcomes.values():
        for name, n in outcomes.items():
            counted[name] = counted.get(name, 0) + n
    assert set(counted) <= {"verdict", "error"}
    assert sum(counted.values()) == 6 * 4
    again = run_of(tmp_path / "run", judge=judge)
    assert again.facts.ledger_sha256 == result.facts.ledger_sha256
    written(tmp_path, LONG.replace("0.8", "0.7"))
    with pytest.raises(LedgerError, match=r"judge\.weights_sha256"):
        run_of(tmp_path / "run", judge=judge)


def always_unsafe(trajectory):
    return "UNSAFE" if trajectory else None


def test_a_function_itself_is_a_judge(tmp_path):
    result = run_of(tmp_path / "run", judge=always_unsafe)
    assert result.facts.judge.model == f"{__name__}:always_unsafe"
    assert {k: v["verdict"] for k, v in result.facts.outcomes.items()} == {
        "base": 12,
        "T1": 6,
        "T4": 6,
    }
