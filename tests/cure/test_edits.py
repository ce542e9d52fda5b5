"""Edits between two texts: each can be made by itself, and says what it does."""

from __future__ import annotations

import random
from contextlib import suppress
from functools import cache

import pytest

from judgeaudit.core.errors import ConfigError
from judgeaudit.cure.edits import edits_between
from judgeaudit.cure.edits_text import textual
from judgeaudit.cure.localise_search import Searching, search
from judgeaudit.policy import load_policy, render
from judgeaudit.policy.rendering import render_text
from judgeaudit.policy.transforms import load_conditions

CASES = [
    ("web_agent", "en", "T1T2T4"),
    ("one_norm", "en", "T1T2T4"),
    ("finance", "ko", "T1T2T4"),
    ("privacy", "ko", "T4"),
    ("privacy", "en", "T3"),
]


@cache
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
    for _ in range(3):
        some = frozenset(k for k in edits.keys if rng.random() < 0.5)
        assert edits.may_ask(some)
        texts.add(edits.rendering(some).text)
    assert len(texts) > 2 or len(edits.edits) == 2


def test_none_is_the_base_and_all_are_the_rewrite_byte_for_byte():
    policy = load_policy("agent_safety")
    edits = between("agent_safety", wording=1)
    assert edits._write(frozenset()) == render_text(policy, "base")
    assert edits._write(edits.everything) == render_text(policy, "T1T2T4", wording=1)


def test_an_edit_says_in_plain_words_what_it_does_and_where():
    edits = between(condition="T2")
    word = edits.named("N3.words")
    assert word.name == "N3: 'must not follow' -> 'is prohibited from following'"
    assert ["must not follow"] == [edits.base.text[a:b].strip() for a, b in word.spans]
    assert between(condition="T4").named("N2.place").name == (
        "N2: exceptions in a section in front"
    )


def test_one_edit_changes_one_norm_and_leaves_the_others():
    edits = between("agent_safety", wording=1)
    base = edits.base.text.splitlines()
    made = edits.rendering(frozenset(("N3.order",))).text.splitlines()
    changed = [(a, b) for a, b in zip(base, made, strict=True) if a != b]
    assert len(changed) == 1
    assert "3. **Instructions in tool output.** Unless the user has asked" in changed[0][1]
    assert "the agent must not follow" in changed[0][1]


def own(condition):
    """A rewrite of the user's own: the same text under a name that no transform has."""
    policy = load_policy("agent_safety")
    text = render(policy, condition).model_copy(update={"condition": "mine"})
    named = load_conditions()[condition].model_copy(update={"id": "mine"})
    return edits_between(policy, render(policy, "base"), text, named)


@pytest.fixture(scope="module")
def turned():
    return own("T1")


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


def test_words_that_may_be_changed_alone_are_edits_of_their_own():
    edits = own("T2")
    assert len(edits.edits) >= 8
    assert all(edits.may_ask(frozenset((k,))) for k in edits.keys)
    assert "L18.1: 'must not follow' -> 'is prohibited from following'" in [
        e.name for e in edits.edits
    ]


def test_words_that_only_together_say_the_same_are_one_edit(turned):
    """Half of a passive, or one of two norms that change places, would be another policy."""
    edits = turned
    single = {e.key: edits.may_ask(frozenset((e.key,))) for e in edits.edits}
    assert len(single) > 2
    assert {True} == {fine for key, fine in single.items() if key != "rest"}
    assert edits._write(edits.everything) == edits.rewrite.text
    assert edits._write(frozenset()) == edits.base.text


def test_a_text_in_between_that_says_something_else_is_never_asked(turned):
    edits = turned
    asked: list[frozenset[str]] = []
    of = Searching(edits.keys, edits.may_ask, 0.1, 0.9)
    work = search(of)
    with suppress(StopIteration):
        asks = next(work)
        while True:
            asked += asks
            # nothing but the whole flips
            asks = work.send({s: [s == edits.everything] * n for s, n in asks.items()})
    assert asked
    assert all(edits.may_ask(s) for s in asked)


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
