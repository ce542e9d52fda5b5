"""Coverage counts words, and the count is what the module says it is."""

from __future__ import annotations

import pytest

from judgeaudit.policy import load_policy, render
from judgeaudit.policy.coverage import content_words, coverage, not_in_text


def test_a_policy_covers_its_own_text_under_every_rewording():
    policy = load_policy("agent_safety")
    base = render(policy, "base").text
    for condition in ("base", "T1", "T2"):
        found = coverage(render(policy, condition).text, base)
        assert [] == [c.sentence for c in found if c.state != "covered"], condition
    assert () == not_in_text(policy, base)


def test_a_dropped_norm_is_not_covered():
    policy = load_policy("agent_safety")
    fewer = policy.model_copy(update={"norms": policy.norms[:-1]})
    found = coverage(render(policy, "base").text, render(fewer, "base").text)
    lost = [c for c in found if c.state == "not covered"]
    assert any("report" in c.sentence for c in lost)
    only = render(fewer, "base").text
    added = [a.where for a in not_in_text(policy, only)]
    assert "norm 'reporting'" in added
    assert all("reporting" in where for where in added)


def test_a_title_demands_nothing():
    """Small models copy a sentence into a title, and drop its exception from the norm."""
    text = "The agent must not delete a message, unless the owner has approved the deletion.\n"
    rendered = (
        "1. **Do not delete a message, unless the owner has approved the deletion.** "
        "The agent must not delete a message.\n"
    )
    (found,) = coverage(text, rendered)
    assert "partly" == found.state


def test_a_phrase_that_was_made_up_is_named():
    policy = load_policy("agent_safety")
    text = render(policy, "base").text.replace("outside a sandbox", "at night")
    assert ["scope of norm 'code'"] == [a.where for a in not_in_text(policy, text)]


@pytest.mark.parametrize(
    ("sentence", "state", "missing"),
    [
        ("The agent must answer a complaint within 2 days.", "covered", ()),
        ("The agent must answer a complaint within 3 days.", "partly", ("3",)),
        ("A complaint about parking is void and goes to the mayor.", "not covered", ()),
    ],
)
def test_states(sentence, state, missing):
    rendered = "1. **Complaints.** The agent must answer every complaint within 2 days.\n"
    (found,) = coverage(sentence, rendered)
    assert (state, missing) == (found.state, found.missing)


def test_korean_words_are_compared_by_syllables():
    assert {"개인", "인정", "정보", "보를"} == content_words(["개인정보를"])
    (found,) = coverage(
        "개인정보를 외부에 제공하지 않는다.", "- 외부에 개인정보를 제공해서는 안 된다.\n"
    )
    assert found.share > 0.5


def test_headings_and_empty_sentences_count_for_nothing():
    assert () == coverage("# Rules\n\nYou must not.\n", "x\n")
    assert () == coverage("", "")
