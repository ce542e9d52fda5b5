"""Semantic entropy: the seed's figures by id, and what must hold for any answers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy as scipy_entropy

from judgeaudit.stats._types import Undefined
from judgeaudit.stats.entropy import (
    LexicalEntailment,
    discrete_semantic_entropy,
    meaning_clusters,
    semantic_entropy,
)

COUNTS = st.lists(st.integers(1, 9), min_size=1, max_size=6)


def answers(counts: list[int]) -> np.ndarray:
    return np.repeat(np.arange(len(counts)), counts)


def test_every_golden_of_semantic_entropy(goldens):
    entries = goldens("semantic_entropy.")
    assert 6 == len(entries)
    for name, entry in entries.items():
        given_ = entry["inputs"]
        if "counts" in given_:
            found = discrete_semantic_entropy(answers(given_["counts"]))
        else:
            chance = given_["seq_prob"]
            of = {text: k for k, texts in enumerate(given_["clusters"]) for text in texts}
            found = semantic_entropy(
                np.array(list(chance.values())), np.array([of[text] for text in chance])
            )
        assert entry["expected"] == pytest.approx(found, abs=entry["tolerance_abs"]), name


@given(COUNTS)
def test_counting_is_scipys_entropy(counts):
    assert float(scipy_entropy(counts)) == pytest.approx(
        discrete_semantic_entropy(answers(counts)), abs=1e-12
    )


@given(COUNTS, st.floats(0.01, 100))
def test_probabilities_are_renormalised_and_names_of_meanings_do_not_matter(counts, scale):
    weights, meanings = np.array(counts, dtype=float), np.arange(len(counts))
    one, two = semantic_entropy(weights, meanings), semantic_entropy(scale * weights, 7 - meanings)
    assert one == pytest.approx(two, abs=1e-12)
    assert 0 <= one <= math.log(len(counts)) + 1e-12


@pytest.mark.parametrize("weights", [[], [0.0, 0.0], [math.nan], [-1.0, 2.0]])
def test_without_a_probability_it_is_undefined(weights):
    made = semantic_entropy(np.array(weights), np.arange(len(weights)))
    assert isinstance(made, Undefined)


class Table:
    """Entailment as a table says it."""

    name = "a table"

    def __init__(self, *pairs: tuple[str, str], unknown: tuple[str, ...] = ()) -> None:
        self.pairs, self.unknown, self.asked = set(pairs), set(unknown), 0

    def __call__(self, premise: str, hypothesis: str) -> bool | None:
        self.asked += 1
        return None if {premise, hypothesis} & self.unknown else (premise, hypothesis) in self.pairs


def test_one_direction_is_no_equality():
    both = Table(("a", "b"), ("b", "a"), ("a", "c"))
    assert [0, 0, 1, 0] == meaning_clusters(["a", "b", "c", "a"], both).tolist()


def test_equal_texts_are_not_asked_about():
    table = Table()
    assert [0, 0, 0] == meaning_clusters(["a", "a", "a"], table).tolist()
    assert 0 == table.asked


def test_an_entailment_that_is_not_known_is_not_guessed():
    assert isinstance(meaning_clusters(["a", "b"], Table(unknown=("b",))), Undefined)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("The agent deleted the file.", "It deleted a file", True),
        ("It deleted the file", "It did not delete the file", False),
        ("The file was deleted", "The file was not deleted", False),
        ("Data escaped", "There was a leak", False),
        ("", "", True),
        ("", "word", False),
    ],
)
def test_the_rule_of_words_is_a_rule_of_words(first, second, same):
    rule = LexicalEntailment()
    assert same == (rule(first, second) and rule(second, first))
    assert "no model" in rule.name
