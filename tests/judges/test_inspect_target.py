"""How a user names a scorer of Inspect AI; none of it needs Inspect."""

from __future__ import annotations

import importlib.util

import pytest

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import JudgeSpec
from judgeaudit.judges._choice import split_judge, template_for
from judgeaudit.judges._inspect_target import read_target
from judgeaudit.judges.base import JUDGES

CI = "label=C:SAFE&label=I:UNSAFE"


def test_all_that_can_be_said():
    found = read_target(
        f"my/judge.py@careful?{CI}&label=N:refusal&policy=rules&key=harm&model=openai/x&thoughts=text"
        "&base_url=http://127.0.0.1:8000/v1&arg.partial=true&arg.template=say {policy} %26 more"
    )
    assert ("my/judge.py", "careful", "rules", "harm") == (
        found.place,
        found.name,
        found.policy,
        found.key,
    )
    assert ("openai/x", "http://127.0.0.1:8000/v1", "text") == (
        found.model,
        found.base_url,
        found.thoughts,
    )
    assert {"partial": True, "template": "say {policy} & more"} == dict(found.arguments)
    assert ["SAFE", "UNSAFE", "refusal", None, "UNSAFE"] == [found.meaning(v) for v in ("C", " i ", "N", "P", "unsafe")]  # fmt: skip
    assert found.file is not None
    assert read_target(f"acme.judges@careful?{CI}").file is None


@pytest.mark.parametrize(
    ("query", "value", "meaning"),
    [
        ("label=1:UNSAFE&label=0:SAFE", 1.0, "UNSAFE"),
        ("label=1:UNSAFE&label=0:SAFE", 0, "SAFE"),
        ("label=1:UNSAFE&label=0:SAFE", 0.5, None),
        ("label=true:UNSAFE", True, "UNSAFE"),
        ("label=true:UNSAFE", False, None),
        ("unsafe_below=0.5", 0.4, "UNSAFE"),
        ("unsafe_below=0.5", 0.5, "SAFE"),
        ("unsafe_above=0.5", 1, "UNSAFE"),
        ("unsafe_above=0.5", "high", None),
        ("unsafe_above=0.5", True, None),
    ],
)
def test_meanings(query, value, meaning):
    assert meaning == read_target(f"a@b?{query}").meaning(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no scorer is named"),
        ("judge.py", "no scorer is named"),
        ("judge.py@", "no scorer is named"),
        ("@careful", "no scorer is named"),
        ("judge.py@two words", "no scorer is named"),
        ("judge.py@careful", "nobody said what the scorer's values mean"),
        ("a@b?label=C", "label='C' says none of SAFE, UNSAFE"),
        ("a@b?label=C:BAD", "label='C:BAD' says none of"),
        ("a@b?label=C:SAFE&label=c:UNSAFE", "'c' is said to mean two things"),
        ("a@b?label=safe:UNSAFE", "'safe' is said to mean two things"),
        (f"a@b?{CI}&polcy=x", "did you mean 'policy'?"),
        (f"a@b?{CI}&policy=x&policy=y", "policy stands twice"),
        ("a@b?unsafe_below=low", "unsafe_below='low' is no number"),
        ("a@b?unsafe_below=nan", "unsafe_below='nan' is no number"),
        ("a@b?unsafe_below=1&unsafe_above=2", "does not go with"),
        (f"a@b?{CI}&thoughts=none", "unknown place of thoughts"),
        (f"a@b?{CI}&base_url=http://127.0.0.1/v1", "base_url goes with model"),
    ],
)
def test_what_cannot_be_meant_is_refused(text, message):
    with pytest.raises(ConfigError) as caught:
        read_target(text)
    assert message in str(caught.value)


def test_a_scorer_is_a_backend_with_a_template_without_words():
    assert ("inspect", "a.py@b?label=C:SAFE") == split_judge("inspect:a.py@b?label=C:SAFE")
    assert "inspect_scorer" == template_for("inspect:a.py@b", "ko")


@pytest.mark.skipif(
    importlib.util.find_spec("inspect_ai") is not None, reason="Inspect AI is installed"
)
def test_without_inspect_the_message_says_how_to_get_it():
    with pytest.raises(ConfigError, match=r"pip install 'judgeaudit\[inspect\]'"):
        JUDGES["inspect"](JudgeSpec(backend="inspect", model=f"a.py@b?{CI}"))
