"""Holm, MOVER and weights."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.stats._types import Undefined
from judgeaudit.stats.mover import Term, mover_ratio, mover_sum
from judgeaudit.stats.multiplicity import holm
from judgeaudit.stats.simplex import ranking_stability, win_share

P = st.floats(0, 1)


def slow_holm(p_values):
    """Smallest level at which the step-down procedure rejects each, by its definition."""
    ordered = sorted(p_values)
    m = len(ordered)
    out = []
    for p in p_values:
        rank = ordered.index(p)
        steps = [min(1.0, (m - j) * ordered[j]) for j in range(rank + 1)]
        out.append(max(steps))
    return out


@given(st.lists(P, min_size=1, max_size=6))
def test_holm(p_values):
    names = [str(k) for k in range(len(p_values))]
    found = holm(dict(zip(names, p_values, strict=True)))
    assert slow_holm(p_values) == pytest.approx([found[k] for k in names])


def test_holm_leaves_out_what_has_no_p():
    assert {"T1": 0.04, "T2": 0.02} == holm({"T1": 0.04, "T4": None, "T2": 0.01})
    assert {} == holm({"T1": None})


def test_mover_sum_of_one_term_is_its_interval():
    assert (0.2, 0.6) == pytest.approx(mover_sum([Term(2.0, 0.2, 0.1, 0.3)]))
    assert (-0.6, -0.2) == pytest.approx(mover_sum([Term(-2.0, 0.2, 0.1, 0.3)]))


def test_mover_sum_floors_an_estimate_outside_its_interval():
    """The adjusted t need not contain the estimate; a negative distance is none."""
    low, high = mover_sum([Term(1.0, 0.9, 0.2, 0.8)])
    assert (0.2, 0.9) == pytest.approx((low, high))


def test_mover_sum_takes_an_undefined_term_whole():
    low, high = mover_sum([Term(1.0, 0.5, 0.4, 0.6), Term(-3.0, None, 0.0, 1.0)])
    assert (0.4 - 3, 0.6) == pytest.approx((low, high))


def test_mover_ratio_solves_its_equation():
    """The limits are the ratios R at which the interval of a - R b just touches 0."""
    a, b = (0.1, 0.04, 0.2), (0.2, 0.08, 0.45)  # the upper end of b exceeds 2b
    low, high = mover_ratio(a, b)
    at_low = a[0] - low * b[0] - ((a[0] - a[1]) ** 2 + low**2 * (b[2] - b[0]) ** 2) ** 0.5
    at_high = a[0] - high * b[0] + ((a[2] - a[0]) ** 2 + high**2 * (b[0] - b[1]) ** 2) ** 0.5
    assert 0.0 == pytest.approx(at_low, abs=1e-12)
    assert 0.0 == pytest.approx(at_high, abs=1e-12)
    assert low < 0.5 < high


def test_mover_ratio_without_an_upper_end():
    assert isinstance(mover_ratio((0.1, 0.0, 0.2), (0.1, 0.0, 0.2)), Undefined)
    assert mover_ratio((0.0, 0.0, 0.1), (0.2, 0.1, 0.3))[0] == 0.0


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3), st.permutations(range(3)))
def test_win_shares_add_up_and_do_not_depend_on_the_order_of_parts(a, order):
    b = [0.3, 0.5, 0.1]
    share = win_share(a, b)
    assert pytest.approx(1.0, abs=1e-4) == share + win_share(b, a)
    assert pytest.approx(share, abs=1e-4) == win_share([a[k] for k in order], [b[k] for k in order])


def test_win_share_against_drawn_weights():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(3), 200_000)
    for a, b in permutations([(0.04, 0.0, 0.3), (0.08, 0.02, 0.29), (0.01, 0.1, 0.2)], 2):
        drawn = np.mean(weights @ (np.array(b) - np.array(a)) > 0)
        assert pytest.approx(drawn, abs=0.006) == win_share(a, b)


def test_win_share_of_ties():
    assert 0.5 == win_share([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])
    # one part differs by +1, one by -1, one not at all: nobody is favoured
    assert pytest.approx(0.5, abs=1e-4) == win_share([0, 1, 0], [1, 0, 0])
    # two equal gains against one equal loss
    assert pytest.approx(0.75, abs=1e-4) == win_share([0, 0, 1], [1, 1, 0])


PENALTIES = np.array([[0.011, 0, 0.185], [0.036, 0, 0.305], [0.076, 0, 0.292]])


def test_ranking_stability():
    found = ranking_stability(PENALTIES, (0.4, 0.3, 0.3), np.random.default_rng(0))
    assert (0, 1, 2) == found.order
    expected = win_share(PENALTIES[1], PENALTIES[2])
    assert pytest.approx(expected, abs=0.006) == found.wins[1, 2]
    assert pytest.approx(expected, abs=0.006) == found.kept
    # of three couples one is turned in the rest of the simplex
    assert pytest.approx(1 - 2 * (1 - expected) / 3, abs=0.006) == found.tau


def test_ranking_stability_with_resampled_parts():
    """Sampling error can turn couples that no weight can."""
    rng = np.random.default_rng(1)
    resampled = PENALTIES + rng.normal(0, 0.2, (500, 3, 3))
    found = ranking_stability(PENALTIES, (0.4, 0.3, 0.3), rng, draws=20_000, resampled=resampled)
    assert found.wins[0, 1] < 1
    assert found.tau < 0.9


def test_one_judge_keeps_its_rank():
    found = ranking_stability(PENALTIES[:1], (0.4, 0.3, 0.3), np.random.default_rng(0), draws=10)
    assert ((0,), 1.0, 1.0) == (found.order, found.kept, found.tau)
