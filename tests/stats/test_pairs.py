"""Pair statistics against enumerated pairs, and their expectation against the formulas."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.core.table import Counts
from judgeaudit.stats import pairs

CALLS = st.lists(st.integers(0, 1), min_size=0, max_size=6)


def as_counts(calls):
    return Counts(np.array([sum(calls)]), np.array([len(calls)]), np.array([0]))


def share_apart(couples):
    couples = list(couples)
    return sum(a != b for a, b in couples) / len(couples) if couples else None


def value(found):
    return found.values[0] if found.defined[0] else None


@given(CALLS, CALLS)
def test_against_enumerated_pairs(base, other):
    b, o = as_counts(base), as_counts(other)
    crossed = share_apart(product(base, other))
    noise, after = share_apart(combinations(base, 2)), share_apart(combinations(other, 2))
    assert pytest.approx(noise) == value(pairs.jitter(b))
    assert pytest.approx(crossed) == value(pairs.flips(b, o))
    paper = None if crossed is None or noise is None else crossed - noise
    assert pytest.approx(paper, abs=1e-12) == value(pairs.delta_paper(b, o))
    debiased = None
    if crossed is not None and noise is not None and after is not None:
        debiased = crossed - (noise + after) / 2
    assert pytest.approx(debiased, abs=1e-12) == value(pairs.delta_debiased(b, o))
    moved = np.mean(other) - np.mean(base) if base and other else None
    assert pytest.approx(moved) == value(pairs.shift(b, o))


@given(CALLS, CALLS)
def test_label_swap_changes_no_disagreement(base, other):
    b, o = as_counts(base), as_counts(other)
    swapped = as_counts([1 - y for y in base]), as_counts([1 - y for y in other])
    for function in (pairs.flips, pairs.delta_paper, pairs.delta_debiased):
        assert pytest.approx(value(function(b, o))) == value(function(*swapped))


def expectation(function, p, q, K, L):
    """Exact mean over all outcomes of K base calls and L calls under the condition."""
    total = Fraction(0)
    for s, t in product(range(K + 1), range(L + 1)):
        chance = comb(K, s) * p**s * (1 - p) ** (K - s) * comb(L, t) * q**t * (1 - q) ** (L - t)
        b, o = (Counts(np.array([x]), np.array([n]), np.array([0])) for x, n in ((s, K), (t, L)))
        total += chance * Fraction(float(function(b, o).values[0])).limit_denominator(10**6)
    return total


@pytest.mark.parametrize(("K", "L"), [(2, 2), (3, 2), (5, 3)])
@pytest.mark.parametrize(
    ("p", "q"),
    [(Fraction(7, 10), Fraction(19, 20)), (Fraction(1, 2), Fraction(9, 10)), (Fraction(3, 5),) * 2],
)
def test_unbiased(K, L, p, q):
    """Expectations of estimators.md, section 3, as exact fractions."""
    assert p + q - 2 * p * q == expectation(pairs.flips, p, q, K, L)
    assert (q - p) * (1 - 2 * p) == expectation(pairs.delta_paper, p, q, K, L)
    assert (p - q) ** 2 == expectation(pairs.delta_debiased, p, q, K, L)
    noise = expectation(lambda b, _: pairs.jitter(b), p, q, K, L)
    assert 2 * p * (1 - p) == noise


def test_the_paper_is_defined_with_one_call_and_the_debiased_is_not():
    b, o = as_counts([0, 1, 1]), as_counts([1])
    assert pairs.delta_paper(b, o).defined[0]
    assert not pairs.delta_debiased(b, o).defined[0]
    assert not pairs.jitter(o).defined[0]


def test_average_is_over_the_conditions_that_an_item_has():
    one = pairs.ItemValues(np.array([0.2, 0.4, 0.0]), np.array([True, True, False]))
    two = pairs.ItemValues(np.array([0.6, 0.0, 0.0]), np.array([True, False, False]))
    pooled = pairs.average([one, two], 3)
    assert [0.4, 0.4, 0.0] == pytest.approx(pooled.values.tolist())
    assert [True, True, False] == pooled.defined.tolist()
    assert pytest.approx(0.4) == pooled.mean
    assert pairs.average([], 3).mean is None


def test_a_constant_judge_has_no_excess():
    full = Counts(np.full(9, 5), np.full(9, 5), np.zeros(9, int))
    for function in (pairs.flips, pairs.delta_paper, pairs.delta_debiased, pairs.shift):
        assert 0.0 == function(full, full).mean
