"""Wilson, Clopper-Pearson, Wilson-Kish and the clustered Wilson interval."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.intervals import (
    clopper_pearson,
    clopper_pearson_lower,
    clopper_pearson_upper,
    clustered_wilson,
    effective_number,
    kish_number,
    normal_quantile,
    rate_upper,
    t_quantile,
    wilson,
    wilson_kish,
    zero_event_interval,
)


def ends(interval: Interval | Undefined) -> tuple[float, float]:
    assert isinstance(interval, Interval)
    return interval.low, interval.high


def test_quantiles():
    assert pytest.approx(1.9599639845400543, abs=1e-14) == normal_quantile(0.975)
    assert pytest.approx(12.706204736432095, abs=1e-9) == t_quantile(0.975, 1)


@pytest.mark.parametrize(
    ("file", "x", "n"), [("01_zero_flips.csv", 0, 100), ("02_one_class.csv", 40, 40)]
)
def test_wilson_and_clopper_pearson_of_peers(shared: Path, file, x, n):
    answers = json.loads((shared / "cases/from_peers/answers.json").read_text("utf-8"))[file]
    wanted = answers.get("wilson95") or answers["agreement_wilson95"]
    assert pytest.approx(wanted, abs=1e-9) == list(ends(wilson(x, n)))
    wanted = answers["clopper_pearson95"]
    assert pytest.approx(wanted, abs=1e-9) == list(ends(clopper_pearson(x, n)))


def test_clopper_pearson_inside():
    """2 of 3: the recall of the peers' rare class."""
    expected = (0.09429932405024594, 0.9915962413403874)
    assert pytest.approx(expected, abs=1e-9) == ends(clopper_pearson(2, 3))


def test_one_sided_bounds_solve_their_binomial_equation():
    """The bound is the rate under which x or fewer (or more) events have chance 5%."""
    for x, n in ((1, 20), (3, 11), (7, 8)):
        high = clopper_pearson_upper(x, n)
        tail = sum(math.comb(n, k) * high**k * (1 - high) ** (n - k) for k in range(x + 1))
        assert pytest.approx(0.05) == tail
        low = clopper_pearson_lower(x, n)
        tail = sum(math.comb(n, k) * low**k * (1 - low) ** (n - k) for k in range(x, n + 1))
        assert pytest.approx(0.05) == tail


def test_edges():
    assert Undefined("no trials") == wilson(0, 0)
    assert Undefined("no trials") == clopper_pearson(0, 0)
    assert Undefined("no trials") == zero_event_interval(0)
    assert Undefined("no trials") == clustered_wilson(cluster_sums(np.zeros(0), np.zeros(0, int)))
    assert (0.0, 1.0) == (clopper_pearson_lower(0, 0), clopper_pearson_upper(0, 0))
    assert (1.0, 0.0) == (clopper_pearson_upper(5, 5), clopper_pearson_lower(0, 5))
    assert pytest.approx(0.05 ** (1 / 7)) == clopper_pearson_lower(7, 7)
    assert 0.0 == ends(wilson(0, 3))[0]
    assert 1.0 == ends(wilson(3, 3))[1]
    assert pytest.approx(1 - 0.05 ** (1 / 60)) == ends(zero_event_interval(60))[1]
    assert pytest.approx(1 - 0.05 ** (1 / 60)) == rate_upper(-0.4, 60)


def test_a_single_trial_has_an_interval():
    """One row: agreement 1 of 1 is [0.21, 1], not a point."""
    low, high = ends(clustered_wilson(cluster_sums(np.ones(1), np.zeros(1, int))))
    assert pytest.approx(0.2065493143772374) == low
    assert 1.0 == high


@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_clustered_wilson_of_single_binary_trials_is_wilson(trials):
    values = np.array(trials, dtype=float)
    sums = cluster_sums(values, np.arange(values.size))
    found = ends(clustered_wilson(sums))
    assert pytest.approx(ends(wilson(values.sum(), values.size)), abs=1e-9) == found


def test_effective_number_of_identical_clusters():
    """Ten clusters of five that always agree inside hold hardly more than ten trials."""
    values = np.repeat([1.0, 0, 1, 0, 1, 0, 1, 0, 1, 0], 5)
    sums = cluster_sums(values, np.repeat(np.arange(10), 5))
    assert effective_number(sums) < 10.5
    alternating = cluster_sums(np.tile([1.0, 0.0], 50), np.repeat(np.arange(10), 10))
    assert effective_number(alternating) > 50


def test_effective_number_stays_between_one_and_the_trials():
    rng = np.random.default_rng(0)
    for _ in range(200):
        clusters = rng.integers(0, rng.integers(1, 6), size=rng.integers(1, 12))
        values = rng.integers(0, 2, size=clusters.size).astype(float)
        sums = cluster_sums(values, clusters)
        assert 1 <= effective_number(sums) <= clusters.size


def test_kish_number():
    assert 0.0 == kish_number(np.zeros(3))
    assert pytest.approx(4.0) == kish_number(np.ones(4))
    assert pytest.approx(0.75) == kish_number(np.array([0.25, 0.5]))
    assert pytest.approx(36 / 12) == kish_number(np.array([2.0, 2.0, 2.0]))


def test_wilson_kish():
    hits, weights = np.array([1.0, 0.0, 1.0]), np.array([1.0, 1.0, 1.0])
    interval, number = wilson_kish(hits, weights, np.arange(3))
    assert 3.0 == number
    assert pytest.approx(ends(wilson(2, 3))) == ends(interval)
    # lower end without a miss, in closed form
    interval, number = wilson_kish(weights, weights, np.arange(3))
    assert pytest.approx(3 / (3 + normal_quantile(0.975) ** 2)) == interval.low
    interval, number = wilson_kish(np.zeros(3), np.zeros(3), np.arange(3))
    assert (0.0, 1.0, 0.0) == (interval.low, interval.high, number)


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.02, 0.2, 0.5, 0.9])
@pytest.mark.parametrize("correlation", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("sizes", [[1] * 100, [1, 2, 3, 4, 5] * 20])
def test_clustered_wilson_covers(rate, correlation, sizes):
    """At a nominal 0.95, 1,000 tables, clusters of binary trials that go together."""
    rng = np.random.default_rng(7)
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    hits = 0
    for _ in range(1000):
        if correlation == 0:
            p = np.full(len(sizes), rate)
        elif correlation == 1:
            p = (rng.random(len(sizes)) < rate).astype(float)
        else:
            spread = (1 - correlation) / correlation
            p = rng.beta(rate * spread, (1 - rate) * spread, len(sizes))
        values = (rng.random(clusters.size) < p[clusters]).astype(float)
        low, high = ends(clustered_wilson(cluster_sums(values, clusters)))
        hits += low <= rate <= high
    # Wilson itself covers .93 here and there; four standard errors below that
    assert hits / 1000 >= 0.93 - 4 * (0.95 * 0.05 / 1000) ** 0.5
