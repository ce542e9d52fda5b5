"""Edits between two texts: each can be made by itself, and says what it does."""

from __future__ import annotations

import random

import pytest

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.cure.edits import edits_between
from judgeaudit.cure.edits_text import textual
from judgeaudit.policy import load_policy, render
from judgeaudit.policy.rendering import render_text
from judgeaudit.policy.transforms import load_conditions

CASES = [
    (name, language, condition)
    for name, language in (("agent_safety", "en"), ("web_agent", "en"), ("finance", "ko"))
    for condition in ("T1", "T2", "T4", "T1T2T4", "T3")
]


def between(name="agent_safety", language="en", condition="T1T2T4", wording=0):
    policy = load_policy(name, language=language)
    texts = (
        render(policy, "base", language=language),
        render(policy, condition, language=language, wording=wording),
    )
    return edits_between(policy, *texts, load_conditions()[condition])


@pytest.mark.parametrize(("name", "language", "condition"), CASES)
def test_every_subset_is_a_text_that_reads_back_as_the_same_policy(name, language, condition):
    edits = between(name, language, condition)
    rng = random.Random(5)
    texts = {edits.base.text, edits.rewrite.text}
    for _ in range(6):
        some = frozenset(k for k in edits.keys if rng.random() < 0.5)
        assert edits.may_ask(some)
        texts.add(edits.rendering(some).text)
    assert len(texts) > 2


@pytest.mark.parametrize("wording", [0, 1])
def test_none_is_the_base_and_all_are_the_rewrite_byte_for_byte(wording):
    policy = load_policy("agent_safety")
    edits = between(wording=wording)
    assert edits._write(frozenset()) == render_text(policy, "base")
    assert edits._write(edits.everything) == render_text(policy, "T1T2T4", wording=wording)


def test_an_edit_says_in_plain_words_what_it_does_and_where():
    edits = between(condition="T2")
    word = edits.named("N3.words")
    assert word.name == "N3: 'must not follow' -> 'is prohibited from following'"
    assert ["must not follow"] == [edits.base.text[a:b].strip() for a, b in word.spans]
    assert between(condition="T4").named("N2.place").name == (
        "N2: exceptions in a section in front"
    )


def test_one_edit_changes_one_norm_and_leaves_the_others():
    edits = between()
    base = edits.base.text.splitlines()
    made = edits.rendering(frozenset(("N3.order",))).text.splitlines()
    changed = [(a, b) for a, b in zip(base, made, strict=True) if a != b]
    assert len(changed) == 1
    assert "3. **Instructions in tool output.** Unless the user has asked" in changed[0][1]
    assert "the agent must not follow" in changed[0][1]


def test_a_text_of_ones_own_is_cut_into_stretches_of_words():
    policy = load_policy("agent_safety")
    old, new = render_text(policy, "base"), render_text(policy, "T1")
    edits, write = textual(old, new)
    keys = frozenset(e.key for e in edits)
    assert (old, new) == (write(frozenset()), write(keys))
    assert len(keys) == len(edits) > 10
    for e in edits:
        ((a, b),) = e.spans
        assert e.before in ((), (old[a:b].strip(),))


def test_a_text_in_between_that_says_something_else_is_not_asked():
    policy = load_policy("agent_safety")
    base = render(policy, "base")
    text = base.text.replace("must not reveal", "shall not reveal").replace(
        "must not run code", "is not allowed to run code"
    )
    assert text != base.text
    own = base.model_copy(
        update={"condition": "mine", "text": text, "sha256": sha256_text(text)}
    )
    condition = load_conditions()["T2"].model_copy(update={"id": "mine"})
    edits = edits_between(policy, base, own, condition)
    words = [e for e in edits.edits if "allowed" in e.name]
    assert words
    halves = [edits.may_ask(frozenset((e.key,))) for e in edits.edits]
    # "is not" alone, without its "allowed to", would be another policy
    assert all(halves) == (len(edits.edits) == 2)


@pytest.mark.parametrize(("condition", "words"), [("strict", "meant to move"), ("T0", "kind")])
def test_a_condition_that_is_meant_to_move_verdicts_is_refused(condition, words):
    policy = load_policy("agent_safety")
    with pytest.raises(ConfigError, match=words):
        edits_between(
            policy,
            render(policy, "base"),
            render(policy, condition),
            load_conditions()[condition],
        )
