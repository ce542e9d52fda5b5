"""Direction ratio and its companions."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from score_tables import view, written

from judgeaudit.metrics.direction import direction, direction_ratio, forward, moved, reverse
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.intervals import wilson
from judgeaudit.stats.pairs import ItemValues

CALLS = st.text(alphabet="SU-", max_size=4)


def pairs_of(strict, lenient):
    return list(product(strict.replace("-", ""), lenient.replace("-", "")))


@given(st.lists(st.tuples(CALLS, CALLS), min_size=1, max_size=6))
def test_against_enumerated_pairs(items):
    table = written({f"i{k}": {"strict": s, "lenient": q} for k, (s, q) in enumerate(items)})
    run = view(table)
    shares = [pairs_of(s, q) for s, q in items if pairs_of(s, q)]
    f = sum(p.count(("U", "S")) / len(p) for p in shares)
    r = sum(p.count(("S", "U")) / len(p) for p in shares)
    score = direction(run).scores[0]
    expected = None if f + r == 0 else pytest.approx(f / (f + r))
    assert expected == score.value
    if shares:
        assert pytest.approx(f / len(shares)) == forward(run).scores[0].value
        assert pytest.approx(r / len(shares)) == reverse(run).scores[0].value
        assert pytest.approx(f + r) == score.detail["flips"]


def test_noise_alone_is_one_half():
    half = ItemValues(np.full(30, 0.5), np.ones(30, dtype=bool))
    found = direction_ratio(*moved(half, half), np.arange(30))
    assert pytest.approx(0.5) == found.value
    assert pytest.approx(0.0) == found.detail["two_r_minus_1"]


def test_nothing_moved_is_not_one():
    items = {f"i{k}": {"strict": "UU", "lenient": "UU"} for k in range(9)}
    score = direction(view(written(items))).scores[0]
    assert "no verdict moved" == score.why_undefined
    assert (0.0, 1.0) == (score.low, score.high)
    assert score.p_value is None


def test_flips_in_clusters_count_less():
    one = ItemValues(np.ones(12), np.ones(12, dtype=bool))
    zero = ItemValues(np.zeros(12), np.ones(12, dtype=bool))
    alone = direction_ratio(*moved(one, zero), np.arange(12))
    grouped = direction_ratio(*moved(one, zero), np.repeat(np.arange(4), 3))
    assert wilson(12, 12).low == pytest.approx(alone.interval.low)
    assert wilson(4, 4).low == pytest.approx(grouped.interval.low)


def test_sign_test_takes_the_first_verdict_of_each():
    items = {f"a{k}": {"strict": "-U", "lenient": "SU"} for k in range(8)}
    items |= {"b": {"strict": "SU", "lenient": "US"}, "c": {"strict": "--", "lenient": "SS"}}
    score = direction(view(written(items))).scores[0]
    assert (9, 8) == (score.detail["pairs_moved"], score.detail["pairs_forward"])
    assert pytest.approx((comb(9, 8) + 1) / 2**9) == score.p_value


def test_the_exact_bound_without_a_reverse_flip():
    items = {f"a{k}": {"strict": "U", "lenient": "S"} for k in range(7)}
    score = direction(view(written(items))).scores[0]
    assert pytest.approx(0.05 ** (1 / 7)) == score.detail["one_pair_lower"]


def test_no_item_under_both():
    table = written({"a": {"strict": "U"}, "b": {"lenient": "S"}})
    score = direction(view(table)).scores[0]
    assert "no item has a verdict under both strict and lenient" == score.why_undefined
    empty = ItemValues(np.zeros(2), np.zeros(2, dtype=bool))
    assert isinstance(direction_ratio(empty, empty, np.arange(2)).interval, Undefined)
