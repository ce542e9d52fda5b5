"""From what a user calls a judge to a spec; what cannot be asked is refused here."""

from __future__ import annotations

import pytest

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec
from judgeaudit.judges._choice import judge_spec, template_for
from judgeaudit.judges._litellm import price
from judgeaudit.policy.prompts import load_judge_template


def spec_of(**choices):
    return judge_spec(AuditSpec(**choices), load_judge_template("default"))


@pytest.mark.parametrize(
    "address",
    ["", "notaurl", "http://", "http://[::1", "http://h:port", "http://h:99999", "ftp://h"],
)
def test_an_address_that_is_none_is_refused_before_anything_is_planned(address):
    with pytest.raises(ConfigError, match="is no address of a server"):
        spec_of(judge="openai/x", api_base=address)


@pytest.mark.parametrize("judge", ["", "openai/", " / "])
def test_a_judge_needs_a_model(judge):
    with pytest.raises(ConfigError, match="names no model"):
        spec_of(judge=judge)


def test_a_replay_needs_a_recording():
    with pytest.raises(ConfigError, match="no recording is named"):
        spec_of(judge="replay:")


def test_a_reserved_parameter_is_refused_before_anything_is_planned():
    with pytest.raises(ConfigError, match="'stream' cannot be a decoding parameter"):
        spec_of(judge="openai/x", decoding={"stream": True})


@pytest.mark.parametrize(
    ("judge", "language", "expected"),
    [
        ("openai/x", "en", "default"),
        ("openai/x", "ko", "default_ko"),
        ("scripted:noisy", "ko", "default_ko"),
        ("local", "en", "verdict_only"),
        ("local:smollm2-135m", "ko", "verdict_only_ko"),
    ],
)
def test_a_judge_is_asked_in_the_language_of_the_policy(judge, language, expected):
    name = template_for(judge, language)
    assert name == expected
    assert load_judge_template(name).id == expected


def test_an_address_that_is_none_has_no_price():
    assert price("openai/gpt-4o-mini", "http://[::1") is None
