"""The exact test against full enumeration, and its machinery."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgeaudit.core.table import Counts
from judgeaudit.stats import exact
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.exact import ExactTest, no_effect
from judgeaudit.stats.lattice import Kind, upper_tail

VALUES = {
    "delta_paper": (exact._paper, 2, 1),
    "delta_debiased": (exact._debiased, 2, 2),
    "shift": (exact._shift, 1, 1),
}

ITEM = st.tuples(st.integers(1, 5), st.integers(1, 4)).flatmap(
    lambda kl: st.tuples(
        st.integers(0, kl[0]), st.just(kl[0]), st.integers(0, kl[1]), st.just(kl[1])
    )
)


def counts_of(items):
    s, k, t, n = (np.array(column, dtype=np.int64) for column in zip(*items, strict=True))
    none = np.zeros_like(s)
    return Counts(s, k, none), Counts(t, n, none)


def slow_p(items, statistic, side):
    """Convolve the null distributions of all items as exact fractions."""
    value, least_k, least_l = VALUES[statistic]
    used = [i for i in items if i[1] >= least_k and i[3] >= least_l]
    if not used:
        return None
    law = {Fraction(0): Fraction(1)}
    observed = Fraction(0)
    for s, k, t, n in used:
        observed += value(s, k, t, n)
        step = defaultdict(Fraction)
        for u in range(max(0, s + t - k), min(n, s + t) + 1):
            ways = comb(n, u) * comb(k, s + t - u)
            step[value(s + t - u, k, u, n)] += Fraction(ways, comb(k + n, s + t))
        after = defaultdict(Fraction)
        for x, p in law.items():
            for y, q in step.items():
                after[x + y] += p * q
        law = after
    up = sum(p for x, p in law.items() if x >= observed)
    down = sum(p for x, p in law.items() if x <= observed)
    return {"upper": up, "lower": down, "two": min(1, 2 * min(up, down))}[side]


@settings(max_examples=80)
@given(
    st.lists(ITEM, min_size=1, max_size=7),
    st.sampled_from(sorted(VALUES)),
    st.sampled_from(["upper", "lower", "two"]),
)
def test_against_exact_fractions(items, statistic, side):
    """Mixed numbers of calls, every statistic, both sides: to 1e-11 of p itself."""
    found = no_effect(*counts_of(items), statistic=statistic, side=side)
    expected = slow_p(items, statistic, side)
    if expected is None:
        assert isinstance(found, Undefined)
    else:
        assert isinstance(found, ExactTest)
        assert "exact by convolution" == found.method
        assert pytest.approx(float(expected), rel=1e-11) == found.p_value


def test_many_items_keep_their_relative_precision():
    """60 items, p near 1e-20: a plain convolution by FFT would know 1e-16 only."""
    items = [(0, 4, 3, 3)] * 20 + [(0, 4, 2, 2)] * 10 + [(1, 4, 1, 3)] * 20 + [(2, 4, 2, 3)] * 10
    found = no_effect(*counts_of(items), statistic="delta_debiased")
    expected = float(slow_p(items, "delta_debiased", "upper"))
    assert expected < 1e-15
    assert isinstance(found, ExactTest)
    assert pytest.approx(expected, rel=1e-10) == found.p_value
    assert (60, 60) == (found.n_items, found.n_informative)


def test_one_call_each_is_the_sign_test():
    items = [(1, 1, 0, 1)] * 9 + [(0, 1, 1, 1)] * 2 + [(1, 1, 1, 1)] * 5
    found = no_effect(*counts_of(items), statistic="shift", side="lower")
    expected = sum(comb(11, k) for k in range(3)) / 2**11
    assert isinstance(found, ExactTest)
    assert pytest.approx(expected, rel=1e-12) == found.p_value
    assert (16, 11) == (found.n_items, found.n_informative)


def test_nothing_to_learn_is_p_one():
    items = [(0, 3, 0, 2), (3, 3, 2, 2)]
    found = no_effect(*counts_of(items), statistic="delta_debiased")
    assert ExactTest(1.0, 2, 0, "exact by convolution") == found


def test_undefined_without_the_calls():
    found = no_effect(*counts_of([(1, 3, 1, 1)]), statistic="delta_debiased")
    assert isinstance(found, Undefined)
    assert "two calls under the condition" in found.reason


def test_p_is_never_zero():
    items = [(0, 5, 5, 5)] * 4000
    found = no_effect(*counts_of(items), statistic="delta_debiased")
    assert isinstance(found, ExactTest)
    assert 0 < found.p_value < 1e-300


def random_items(rng, n, calls):
    k, m = rng.choice(calls, n), rng.choice(calls, n)
    p = np.where(rng.random(n) < 0.5, rng.beta(0.5, 0.5, n), rng.integers(0, 2, n))
    return list(zip(rng.binomial(k, p), k, rng.binomial(m, p), m, strict=True))


def test_the_grid_for_unlike_denominators_is_close(monkeypatch):
    """Where the common denominator is too large, p moves by less than one in a hundred."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        pair = counts_of(random_items(rng, 120, [2, 3, 4]))
        whole = no_effect(*pair, statistic="delta_paper")
        with monkeypatch.context() as patch:
            patch.setattr(exact, "_LARGEST_GRID", 1)
            patch.setattr(exact, "_ROUGH_GRID", 700)  # 12 does not divide it
            rough = no_effect(*pair, statistic="delta_paper")
        assert isinstance(whole, ExactTest)
        assert isinstance(rough, ExactTest)
        assert "grid" in rough.method
        assert pytest.approx(whole.p_value, rel=0.01, abs=1e-6) == rough.p_value


def test_large_numbers_of_calls_do_not_overflow():
    pair = counts_of(random_items(np.random.default_rng(1), 40, [17, 23, 40]))
    found = no_effect(*pair, statistic="delta_debiased")
    assert isinstance(found, ExactTest)
    assert 0 < found.p_value <= 1


@pytest.mark.slow
@pytest.mark.parametrize("statistic", ["delta_paper", "delta_debiased"])
@pytest.mark.parametrize(
    ("n", "K", "doubtful"),
    [(60, 3, 0.4), (500, 5, 0.1), (500, 5, 0.6)],
    ids=["small", "0519", "0519n"],
)
def test_size(statistic, n, K, doubtful):
    """At most 5% of 4,000 audits without an effect are rejected, within Monte-Carlo error.

    The two of 500 items are those of decision note 0519: little jitter, and much.
    """
    rng = np.random.default_rng(11)
    none, hits, audits = np.zeros(n, dtype=np.int64), 0, 4000
    for _ in range(audits):
        p = np.where(rng.random(n) < doubtful, rng.beta(0.5, 0.5, n), rng.integers(0, 2, n))
        base = Counts(rng.binomial(K, p), np.full(n, K), none)
        other = Counts(rng.binomial(2, p), np.full(n, 2), none)
        test = no_effect(base, other, statistic=statistic)
        assert isinstance(test, ExactTest)
        hits += test.p_value <= 0.05
    assert hits / audits <= 0.05 + 3 * (0.05 * 0.95 / audits) ** 0.5


def test_tail_ends():
    kinds = [Kind(np.array([0, 2]), np.array([0.25, 0.75]), 3)]
    assert 1.0 == upper_tail(kinds, 0)
    assert 0.0 == upper_tail(kinds, 7)
    assert pytest.approx(0.75**3) == upper_tail(kinds, 6)
    assert pytest.approx(1 - 0.25**3) == upper_tail(kinds, 1)
    assert pytest.approx(1 - 0.25**3) == upper_tail(kinds, 2)


def test_tail_of_many_coins():
    """A binomial of 10,000 against its own tail."""
    from scipy.special import betainc

    kinds = [Kind(np.array([0, 1]), np.array([0.7, 0.3]), 10_000)]
    for at in (2900, 3000, 3050, 3500):
        expected = betainc(at, 10_000 - at + 1, 0.3)
        assert pytest.approx(expected, rel=1e-9) == upper_tail(kinds, at)
