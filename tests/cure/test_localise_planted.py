"""Planted judges: `localise` names exactly what is planted, and nothing where nothing is."""

from __future__ import annotations

import pytest
from chaos_world import LONG
from localise_world import PLANTED, named, tried

CALLS = 1000
SEEDS = 100 if LONG else 6


@pytest.mark.parametrize(
    "of", [PLANTED[k] for k in (5, 13)], ids=lambda of: f"{of.model}-{of.condition}"
)
def test_what_is_planted_is_named_and_nothing_else(of):
    found, calls = tried(of, 7, CALLS)
    assert of.causes == named(found)
    assert calls <= CALLS
    if not of.causes:
        assert (0, found.n_begun) == (found.n_real, found.n_gone)


def test_a_budget_that_ends_names_nothing_wrong_and_says_what_was_left():
    found, calls = tried(PLANTED[5], 3, 100)
    assert calls <= 100
    assert found.n_begun == 1
    assert named(found) in ({frozenset()}, frozenset(), PLANTED[5].causes)


@pytest.mark.slow
@pytest.mark.parametrize("of", PLANTED, ids=lambda of: f"{of.model}-{of.condition}")
def test_of_a_hundred_seeds_at_least_95_name_it_exactly(of):
    """JUDGEAUDIT_SLOW=full tries a hundred; the short form six, of which one may fail."""
    right = sum(named(tried(of, seed, CALLS)[0]) == of.causes for seed in range(SEEDS))
    assert right >= (95 if LONG else SEEDS - 1)
