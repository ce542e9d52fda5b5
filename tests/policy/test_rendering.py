"""Renderings: golden texts, and what holds of every one of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import Policy
from judgeaudit.policy import load_conditions, render

GOLDEN = Path(__file__).parent / "golden"
CONDITIONS = list(load_conditions())
WORDINGS = {"T1": 2, "T2": 4, "T3": 3}
CASES = [(c, w) for c in CONDITIONS for w in range(WORDINGS.get(c, 1))]


@pytest.mark.parametrize(("condition", "wording"), CASES)
def test_the_text_is_the_golden_text(policy: Policy, condition: str, wording: int):
    """A changed text is a changed instrument: set UPDATE_GOLDEN=1, and read it aloud."""
    text = render(policy, condition, wording=wording).text
    path = GOLDEN / f"agent_safety.{condition}.{wording}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_other_policy_has_its_golden_text(other: Policy, condition: str):
    text = render(other, condition).text
    path = GOLDEN / f"other.{condition}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text


def test_no_golden_text_is_left_over():
    expected = {f"agent_safety.{c}.{w}.md" for c, w in CASES} | {
        f"other.{c}.md" for c in CONDITIONS
    }
    assert expected == {p.name for p in GOLDEN.iterdir()}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_rendering_is_deterministic(policy: Policy, condition: str):
    assert render(policy, condition, wording=3) == render(policy, condition, wording=3)


def test_the_placebo_and_the_vacuum_have_the_base_text(policy: Policy):
    base = render(policy, "base")
    for condition in ("T0", "vacuum"):
        same = render(policy, condition)
        assert (base.text, base.sha256) == (same.text, same.sha256)


def test_every_other_condition_has_a_text_of_its_own(policy: Policy):
    # without a should, half the step to strict is the whole
    same = ("T0", "vacuum", "strict1")
    texts = [render(policy, c).text for c in CONDITIONS if c not in same]
    assert len(texts) == len(set(texts))


@pytest.mark.parametrize(("condition", "wording"), CASES)
def test_hash_and_certificate_are_bound_to_the_text(policy: Policy, condition: str, wording: int):
    r = render(policy, condition, wording=wording)
    base = render(policy, "base")
    assert r.certificate is not None
    assert sha256_text(r.text) == r.sha256 == r.certificate.rendering_sha256
    assert base.sha256 == r.certificate.base_sha256
    assert policy.sha256 == r.policy_sha256
    assert r.certificate.evidence == "structural"


@pytest.mark.parametrize(
    "condition", [c for c in CONDITIONS if c not in ("no_policy", "inverted", "altered_rule")]
)
def test_numbers_names_and_quantities_survive(other: Policy, policy: Policy, condition: str):
    for p, things in (
        (policy, ["20 US dollars", *(n.title for n in policy.norms)]),
        (other, ["2.5 seconds", "1,000 or more", "{{ hurry }} or {% now %}", "Records"]),
    ):
        text = render(p, condition).text
        assert [t for t in things if t not in text] == []


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("wording", range(4))
def test_the_typography_is_that_of_a_published_text(
    policy: Policy, other: Policy, condition: str, wording: int
):
    for p in (policy, other):
        text = render(p, condition, wording=wording).text
        assert text.endswith("\n")
        assert not text.endswith("\n\n")
        assert "\n\n\n" not in text
        for line in text.split("\n"):
            assert line == line.rstrip()
            assert not re.search(r"  |\s[.,;:]|\.\.|,\.|\( | \)", line), line
            sentences = re.sub(r"^(\d+\.|-) ", "", line).replace("*", "")
            assert not re.match(r"[a-z]", sentences), line
            assert not line or line.startswith("#") or line[-1] in ".:", line


@pytest.mark.parametrize("wording", range(8))
def test_t1_never_keeps_the_order_of_the_norms(policy: Policy, wording: int):
    text = render(policy, "T1", wording=wording).text
    titles = re.findall(r"^\d+\. \*\*(.*?)\.\*\*", text, re.MULTILINE)
    assert sorted(titles) == sorted(n.title for n in policy.norms)
    assert titles != [n.title for n in policy.norms]


def test_wordings_of_t2_differ_in_words_only(policy: Policy):
    texts = {render(policy, "T2", wording=w).text for w in range(4)}
    assert len(texts) == 4
    for text in texts:
        assert text.split("## Verdict")[1] == render(policy, "base").text.split("## Verdict")[1]


def test_unknown_conditions_and_languages_are_named(policy: Policy):
    with pytest.raises(PolicyError) as caught:
        render(policy, "T5")
    assert str(caught.value) == (
        "unknown condition 'T5'. Known: T0, T1, T1T2, T1T2T4, T2, T3, T4, altered_rule, base, "
        "inverted, lenient, lenient1, lenient2, no_policy, strict, strict1, strict2, vacuum"
    )
    with pytest.raises(PolicyError) as caught:
        render(policy, "base", language="ko")
    assert str(caught.value) == "the policy 'agent_safety' has no text in 'ko'. It has 'en'"
    with pytest.raises(PolicyError) as caught:
        render(policy, "base", wording=-1)
    assert str(caught.value) == "wording -1 is negative. Count wordings from 0"
