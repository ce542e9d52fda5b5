"""Wilson's interval for rare events: coverage reckoned exactly, and what must not change."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.clusters import cluster_sums, unevenness
from judgeaudit.stats.intervals import (
    clopper_pearson_lower,
    clopper_pearson_upper,
    clustered_wilson,
    effective_number,
    wilson,
)
from judgeaudit.stats.rare_wilson import rare_wilson


def ends(interval: Interval | Undefined) -> tuple[float, float]:
    assert isinstance(interval, Interval)
    return interval.low, interval.high


def single(x: int, n: int) -> tuple[float, float]:
    """Limits for x events in n clusters of one trial each."""
    values = np.zeros(n)
    values[:x] = 1.0
    return ends(rare_wilson(cluster_sums(values, np.arange(n))))


def least_coverage(limits: list[tuple[float, float]], n: int) -> float:
    """Least coverage over rates of .001 to .5, from binomial chances, without a draw."""
    least = 1.0
    for rate in np.linspace(0.001, 0.5, 500):
        covered = sum(
            math.comb(n, x) * rate**x * (1 - rate) ** (n - x)
            for x, (low, high) in enumerate(limits)
            if low <= rate <= high
        )
        least = min(least, covered)
    return least


@pytest.mark.parametrize("n", [30, 60, 120])
def test_it_covers_what_wilson_does_not(n):
    plain = [ends(wilson(x, n)) for x in range(n + 1)]
    assert least_coverage(plain, n) < 0.91
    assert least_coverage([single(x, n) for x in range(n + 1)], n) >= 0.9295


@given(st.integers(1, 80), st.data())
def test_of_single_trials_it_is_wilson_or_the_exact_bound(n, data):
    x = data.draw(st.integers(0, n))
    low, high = single(x, n)
    inner = ends(wilson(x, n))
    assert pytest.approx(min(inner[0], clopper_pearson_lower(x, n, level=0.96)), abs=1e-9) == low
    assert pytest.approx(max(inner[1], clopper_pearson_upper(x, n, level=0.96)), abs=1e-9) == high


def test_zero_events_are_as_wilson_has_them():
    assert pytest.approx(ends(wilson(0, 100)), abs=1e-12) == single(0, 100)


def test_even_clusters_take_nothing_for_granted():
    rng = np.random.default_rng(1)
    values, clusters = (rng.random(60) < 0.3).astype(float), np.arange(60) // 3
    sums = cluster_sums(values, clusters)
    assert 0.0 == unevenness(sums.sizes)
    assert effective_number(sums) == effective_number(sums, unseen=0.5)


def test_a_huge_cluster_widens_it():
    """Of 100 items 40 are one cluster: sizes 40 and 1, mean 100/61."""
    values = np.zeros(100)
    values[[50, 60, 70, 80]] = 1.0
    clusters = np.concatenate([np.zeros(40), np.arange(1, 61)]).astype(int)
    sums = cluster_sums(values, clusters)
    mean = 100 / 61
    assert pytest.approx((40 - mean) ** 2 + 60 * (1 - mean) ** 2) == unevenness(sums.sizes)
    plain, found = ends(clustered_wilson(sums)), ends(rare_wilson(sums))
    assert found[1] - found[0] > 1.1 * (plain[1] - plain[0])


def test_edges():
    nothing = cluster_sums(np.zeros(0), np.zeros(0, int))
    assert Undefined("no trials") == rare_wilson(nothing)
    assert 0.0 == unevenness(nothing.sizes)
    low, high = ends(rare_wilson(cluster_sums(np.ones(1), np.zeros(1, int))))
    assert 0.0 < low < high == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.05, 0.1])
@pytest.mark.parametrize("together", [0.0, 0.3])
def test_it_covers_where_clusters_are_uneven(rate, together):
    """One cluster in twelve is ten times as large; some move as one. Nominal .95, 2,000 tables."""
    rng, hits = np.random.default_rng(4), 0
    for _ in range(2000):
        sizes = np.where(rng.random(266) < 1 / 12, rng.integers(8, 16, 266), 1)
        clusters = np.repeat(np.arange(266), sizes)
        united = (rng.random(266) < together)[clusters]
        drawn = np.where(united, rng.random(266)[clusters], rng.random(clusters.size))
        low, high = ends(rare_wilson(cluster_sums((drawn < rate).astype(float), clusters)))
        hits += low <= rate <= high
    assert hits / 2000 >= 0.93 - 3 * (0.93 * 0.07 / 2000) ** 0.5
