"""The records refuse what must never exist."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from judgeaudit.core.hashing import canonical_json, sha256_of, stable_seed
from judgeaudit.core.records import Call, JudgePrompt, JudgeSpec, Message, Score, ScoreSet, Verdict

FAILURES = ["refusal", "truncated", "unparseable", "ambiguous", "error"]


@pytest.mark.parametrize("outcome", FAILURES)
def test_a_failure_cannot_carry_a_label(outcome):
    with pytest.raises(ValidationError, match="a label is there exactly when"):
        Verdict(outcome=outcome, label="SAFE")


def test_a_verdict_cannot_lack_a_label():
    with pytest.raises(ValidationError, match="a label is there exactly when"):
        Verdict(outcome="verdict")


@pytest.mark.parametrize("bad", [math.nan, math.inf, -0.1, 1.1])
def test_a_confidence_is_a_number_between_0_and_1(bad):
    with pytest.raises(ValidationError):
        Verdict(outcome="verdict", label="SAFE", confidence=bad)


def test_records_are_frozen_and_refuse_unknown_keys():
    verdict = Verdict(outcome="verdict", label="SAFE")
    with pytest.raises(ValidationError):
        verdict.label = "UNSAFE"
    with pytest.raises(ValidationError):
        Verdict(outcome="verdict", label="SAFE", colour="red")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"value": None, "low": 0.0, "high": 1.0}, "has a value or says why"),
        ({"value": 0.1, "why_undefined": "x", "low": 0.0, "high": 1.0}, "has a value or says why"),
        ({"value": 0.1}, "has an interval or says why"),
        ({"value": 0.1, "low": 0.0, "why_no_interval": "x"}, "two ends"),
        ({"value": 0.1, "why_no_interval": "x", "p_value": 0.1}, "names its null"),
        ({"value": math.nan, "why_no_interval": "x"}, "finite"),
    ],
)
def test_a_score_is_complete_or_refused(fields, message):
    with pytest.raises(ValidationError, match=message):
        Score(metric="jitter", **fields)


def test_a_score_set_finds_by_name():
    one = Score(metric="jitter", condition="base", value=0.1, why_no_interval="one cluster")
    assert one == ScoreSet(scores=(one,)).find("jitter", "base")
    assert ScoreSet(scores=(one,)).find("jitter", "T1") is None


def test_the_placebo_and_base_are_different_calls_of_one_prompt():
    same = {"item": "d/s/1", "repeat": 0, "prompt_sha256": "p", "judge_sha256": "j"}
    base, placebo = Call(condition="base", **same), Call(condition="T0", **same)
    assert base.id != placebo.id
    assert base.seed != placebo.seed


def test_a_judge_is_another_judge_when_anything_of_it_changes():
    judge = JudgeSpec(backend="litellm", model="openai/x")
    others = [
        judge.model_copy(update={"model": "openai/y"}),
        judge.model_copy(update={"api_base": "http://127.0.0.1:1/v1"}),
        judge.model_copy(update={"decoding": {"temperature": 0.5}}),
        judge.model_copy(update={"output_format": "json_mode"}),
        judge.model_copy(update={"template_sha256": "t"}),
    ]
    assert 1 + len(others) == len({judge.sha256, *(o.sha256 for o in others)})


def test_a_prompt_is_its_messages():
    prompt = JudgePrompt(messages=(Message(role="user", content="x"),))
    assert prompt.sha256 == sha256_of([{"role": "user", "content": "x"}])


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.booleans()))
def test_canonical_json_does_not_depend_on_key_order(data):
    shuffled = dict(reversed(list(data.items())))
    assert canonical_json(data) == canonical_json(shuffled)


def test_canonical_json_refuses_nan():
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"x": math.nan})


def test_seeds_are_the_same_in_every_process():
    assert stable_seed("d/s/1", "T1", 0, 2) == 2063100197
    assert 0 <= stable_seed("x") < 2**31
