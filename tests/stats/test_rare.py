"""Rare events, worst of k and quantiles, against SciPy, fractions and enumeration."""

from __future__ import annotations

from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.intervals import (
    clopper_pearson,
    clopper_pearson_lower,
    clopper_pearson_upper,
    wilson,
)
from judgeaudit.stats.quantiles import Quantile, quantile, scores_for_quantile
from judgeaudit.stats.rare import (
    at_least_one,
    attack_success,
    by_budget,
    rate_for_chance,
    rule_of_three,
    rule_of_three_words,
    trials_for_chance,
    upper_bound_clustered,
)
from judgeaudit.stats.worst_of_k import (
    worst_of_k,
    worst_of_k_interval,
    worst_of_k_items,
    worst_of_k_unbiased,
)

counts = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.sampled_from([0.8, 0.9, 0.95, 0.99])


@given(counts, levels)
def test_exact_bounds_are_those_of_scipy(pair, level):
    x, n = pair
    both = scipy_stats.binomtest(x, n).proportion_ci(level, "exact")
    found = clopper_pearson(x, n, level=level)
    assert isinstance(found, Interval)
    assert (pytest.approx(both.low, abs=1e-10), pytest.approx(both.high, abs=1e-10)) == (
        found.low,
        found.high,
    )
    upper = scipy_stats.binomtest(x, n, alternative="less").proportion_ci(level, "exact").high
    lower = scipy_stats.binomtest(x, n, alternative="greater").proportion_ci(level, "exact").low
    assert pytest.approx(upper, abs=1e-10) == clopper_pearson_upper(x, n, level=level)
    assert pytest.approx(lower, abs=1e-10) == clopper_pearson_lower(x, n, level=level)


@given(st.integers(1, 60), st.floats(0.001, 0.999), levels)
def test_the_upper_bound_covers_at_least_as_often_as_it_says(n, p, level):
    """By enumeration of all outcomes."""
    law = scipy_stats.binom(n, p)
    covered = sum(law.pmf(x) for x in range(n + 1) if clopper_pearson_upper(x, n, level=level) >= p)
    assert covered >= level - 1e-9


def test_rule_of_three():
    assert 0.03 == rule_of_three(100)
    assert pytest.approx(0.0460517) == rule_of_three(100, level=0.99)
    assert Undefined("no trials") == rule_of_three(0)
    assert "no trials: any rate is possible" == rule_of_three_words(0, 0)
    assert "1 in 33 (about 3/n)" in rule_of_three_words(0, 100)
    assert "(about 4.6/n)" in rule_of_three_words(0, 100, level=0.99)
    assert "about" not in rule_of_three_words(0, 10)
    assert "2 in 200 trials: the rate may be as high as 1 in 32" == rule_of_three_words(2, 200)


@given(st.integers(1, 10**6))
def test_words_never_make_the_bound_smaller(n):
    upper = clopper_pearson_upper(0, n)
    said = rule_of_three_words(0, n)
    if "1 in " in said:
        number = int(said.split("1 in ")[1].split(" (")[0].replace(",", ""))
        assert 1 / number >= upper


@given(st.floats(1e-12, 0.5), st.integers(0, 10**7))
def test_at_least_one_in_forty_digits(p, n):
    getcontext().prec = 40
    exact = 1 - (1 - Decimal(p)) ** n
    assert pytest.approx(float(exact), rel=1e-9, abs=0) == at_least_one(p, n)


@given(st.floats(1e-9, 0.999), st.integers(1, 10**7))
def test_rate_for_chance_is_the_inverse(chance, n):
    assert pytest.approx(chance, rel=1e-9) == at_least_one(rate_for_chance(chance, n), n)


@given(st.floats(1e-6, 1), st.floats(0, 0.9999))
def test_trials_for_chance_are_the_fewest(p, chance):
    n = trials_for_chance(p, chance)
    assert at_least_one(p, n) >= chance
    assert n == 0 or at_least_one(p, n - 1) < chance


def test_edges_of_deployment():
    assert (0.0, 0.0, 1.0) == (at_least_one(0, 10**9), at_least_one(0.5, 0), at_least_one(1, 1))
    assert Undefined("no requests") == rate_for_chance(0.5, 0)
    assert 1.0 == rate_for_chance(1, 5)
    assert isinstance(trials_for_chance(0), Undefined)
    assert isinstance(trials_for_chance(0.5, 1), Undefined)
    assert 1 == trials_for_chance(1, 1)


def unbiased(n: int, c: int, k: int) -> Fraction:
    return 1 - Fraction(comb(n - c, k), comb(n, k))


@given(counts.flatmap(lambda t: st.tuples(st.just(t), st.integers(1, t[1]))))
def test_worst_of_k_in_fractions(case):
    (c, n), k = case
    wanted = pytest.approx(float(unbiased(n, c, k)), rel=1e-9, abs=1e-15)
    assert wanted == worst_of_k_unbiased(n, c, k)
    items = worst_of_k_items(np.array([c]), np.array([n]), k)
    assert pytest.approx(float(unbiased(n, c, k)), abs=1e-12) == items.values[0]


@pytest.mark.parametrize(("n", "c", "k"), [(6, 2, 3), (5, 1, 5), (7, 7, 2), (4, 0, 2)])
def test_worst_of_k_by_drawing_every_subset(n, c, k):
    draws = [any(i < c for i in subset) for subset in combinations(range(n), k)]
    assert pytest.approx(sum(draws) / len(draws)) == worst_of_k_unbiased(n, c, k)


@pytest.mark.parametrize(("n", "k"), [(5, 2), (8, 8), (10, 3)])
@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)])
def test_worst_of_k_is_unbiased_and_its_plug_in_too_low(n, k, p):
    """Expectations over all outcomes, in fractions."""
    chances = [comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]
    truth = 1 - (1 - p) ** k
    assert truth == sum(w * unbiased(n, c, k) for c, w in enumerate(chances))
    plugged = sum(w * (1 - (1 - Fraction(c, n)) ** k) for c, w in enumerate(chances))
    assert plugged < truth
    assert pytest.approx(float(truth)) == worst_of_k(float(p), k)


def test_worst_of_k_at_its_edges():
    assert Undefined("3 samples are fewer than 5 tries") == worst_of_k_unbiased(3, 1, 5)
    assert 1.0 == worst_of_k_unbiased(5, 5, 2)
    assert 0.0 == worst_of_k_unbiased(8, 0, 4)
    assert pytest.approx(1e-6) == worst_of_k_unbiased(10**9, 1, 1000)
    assert isinstance(worst_of_k_interval(0, 0, 3), Undefined)
    one = worst_of_k_interval(20, 3, 1)
    assert (clopper_pearson(3, 20).low, clopper_pearson(3, 20).high) == pytest.approx(
        (one.low, one.high)
    )


values = st.lists(st.integers(1, 5).map(float), min_size=1, max_size=120)


# no pair of these makes a tail exactly (1 - level) / 2, where the last digit would decide
@given(values, st.sampled_from([0.5, 0.75, 0.9, 0.94]), st.sampled_from([0.82, 0.9, 0.95, 0.99]))
def test_quantile_limits_are_those_of_scipy(scores, q, level):
    found = quantile(scores, q, level=level)
    assert isinstance(found, Quantile)
    limits = scipy_stats.quantile_test(scores, q=0, p=q).confidence_interval(level)
    for ours, theirs in ((found.low, limits.low), (found.high, limits.high)):
        assert (None if np.isnan(theirs) else theirs) == ours
    inverse = np.quantile(scores, q, method="inverted_cdf")
    assert inverse == found.value


@pytest.mark.parametrize("n", [1, 10, 59, 60, 200])
@pytest.mark.parametrize("q", [0.5, 0.9, 0.95])
def test_ranks_have_the_coverage_that_is_said_and_none_closer_would(n, q):
    law = scipy_stats.binom(n, q)
    found = quantile(np.arange(1, n + 1, dtype=float), q)
    low, high = found.ranks
    below = law.cdf(low - 1) if low else 0.0
    above = law.sf(high - 1) if high else 0.0
    assert pytest.approx(1 - below - above) == found.coverage
    assert found.coverage >= 0.95
    assert law.cdf(low or 0) > 0.025
    assert high is None or law.sf(high - 2) > 0.025
    assert high is not None or law.sf(n - 1) > 0.025


def test_an_upper_limit_needs_enough_scores():
    n = scores_for_quantile(0.95)
    assert quantile(np.arange(n, dtype=float), 0.95).high == n - 1
    assert quantile(np.arange(n - 1, dtype=float), 0.95).high is None
    assert 0.95**59 <= 0.05 < 0.95**58
    assert 59 == scores_for_quantile(0.95, two_sided=False)


def test_a_chance_of_exactly_the_tail_counts():
    """P(Bin(1, 0.9) = 0) is 0.1, the tail of a level of 0.8: the one score is the lower limit."""
    found = quantile([1.0], 0.9, level=0.8)
    assert (1.0, None) == (found.low, found.high)


def test_a_mean_hides_a_tail():
    quiet, loud = quantile([3.0] * 10, 0.95), quantile([5.0] * 5 + [1.0] * 5, 0.95)
    assert (3.0, 5.0) == (quiet.value, loud.value)
    assert isinstance(quantile([], 0.9), Undefined)


def test_quantiles_of_clusters_are_wider():
    rng = np.random.default_rng(3)
    scores = np.repeat(rng.normal(size=60), 5)
    clusters = np.repeat(np.arange(60), 5)
    alone, together = quantile(scores, 0.8), quantile(scores, 0.8, clusters=clusters)
    assert together.low <= alone.low < alone.high <= together.high
    assert together.low < alone.low or alone.high < together.high
    assert together.n_effective < 100
    single = quantile(scores, 0.8, clusters=np.arange(300))
    assert (single.low, single.high) == (alone.low, alone.high)


def test_the_bound_over_clusters():
    alone = upper_bound_clustered(cluster_sums(np.array([1.0, 0, 0, 0, 0]), np.arange(5)))
    assert pytest.approx(clopper_pearson_upper(1, 5)) == alone.high
    pairs = upper_bound_clustered(cluster_sums(np.zeros(20), np.repeat(np.arange(10), 2)))
    assert (0.0, pytest.approx(1 - 0.05**0.1)) == (pairs.low, pairs.high)
    assert Undefined("no trials") == upper_bound_clustered(
        cluster_sums(np.zeros(0), np.zeros(0, dtype=int))
    )


@pytest.mark.parametrize(("p", "together"), [(0.05, True), (0.1, False), (0.02, True)])
def test_the_bound_over_clusters_covers(p, together):
    """Clusters of three that err together, or not: at least 95%, less three standard errors."""
    rng, clusters = np.random.default_rng(11), np.repeat(np.arange(80), 3)
    covered = 0
    for _ in range(800):
        hit = (rng.random(80) < p)[clusters] if together else rng.random(240) < p
        shown = upper_bound_clustered(cluster_sums(hit.astype(float), clusters))
        covered += shown.high >= p
    assert covered / 800 >= 0.95 - 3 * (0.95 * 0.05 / 800) ** 0.5


def test_attack_success_alone_and_in_campaigns():
    alone = attack_success([2], [200], adaptive=False)
    assert wilson(2, 200) == alone.interval
    assert alone == attack_success([2, 0], [100, 100], adaptive=False)
    assert alone.warning is None
    together = attack_success([20, 0, 0, 0], [50] * 4, adaptive=True)
    apart = attack_success([5, 5, 5, 5], [50] * 4, adaptive=True)
    assert together.rate == apart.rate == 0.1
    assert together.interval.high > apart.interval.high
    assert "campaigns are the unit" in together.warning
    one = attack_success([5], [50], adaptive=True)
    assert isinstance(one.interval, Undefined)
    assert isinstance(attack_success([], [], adaptive=False).rate, Undefined)
    assert isinstance(attack_success([0], [0], adaptive=True).rate, Undefined)


def test_success_within_a_budget():
    first, made = np.array([3, 0, 20, 0]), np.array([3, 50, 20, 5])
    rows = by_budget(first, made, [1, 10, 50, 100])
    assert [(0, 4), (1, 3), (2, 3), (2, 2)] == [(r.succeeded, r.campaigns) for r in rows]
    assert wilson(1, 3) == rows[1].interval
    (none,) = by_budget(np.array([0]), np.array([5]), [9])
    assert isinstance(none.interval, Undefined)
