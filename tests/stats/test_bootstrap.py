"""The paper's interval: where it is made, where it is refused."""

from __future__ import annotations

import numpy as np
import pytest

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.bootstrap import bca, resampled_means
from judgeaudit.stats.clusters import cluster_sums


def flips(n, flipped, rng):
    values = np.zeros(n)
    values[:flipped] = rng.choice([0.5, 1.0, -0.25], flipped)
    return values


def test_refused_below_ten_contributing_clusters():
    values = np.zeros(100)
    values[:9] = 1.0
    found = bca(cluster_sums(values, np.arange(100)), np.random.default_rng(0))
    assert Undefined("fewer than 10 contributing clusters") == found
    # a cluster whose values cancel does contribute
    values = np.tile([0.5, -0.5], 15)
    values[0] = 0.6
    assert isinstance(
        bca(cluster_sums(values, np.repeat(np.arange(15), 2)), np.random.default_rng(0)), Interval
    )


def test_constant_data_are_undefined_not_nan():
    found = bca(cluster_sums(np.ones(20), np.arange(20)), np.random.default_rng(0))
    assert Undefined("all clusters give the same value") == found


def test_the_same_seed_gives_the_same_interval():
    sums = cluster_sums(flips(80, 20, np.random.default_rng(1)), np.arange(80))
    first, second = (bca(sums, np.random.default_rng(5)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("clusters", [np.arange(90), np.repeat(np.arange(30), 3)])
def test_against_scipy(clusters):
    """The same interval within the noise of 10,000 resamples."""
    from scipy.stats import bootstrap

    values = np.random.default_rng(2).permutation(flips(90, 24, np.random.default_rng(2)))
    sums = cluster_sums(values, clusters)
    found = bca(sums, np.random.default_rng(3))
    reference = bootstrap(
        (sums.totals, sums.sizes),
        lambda t, m, axis: t.sum(axis=axis) / m.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=10_000,
        rng=np.random.default_rng(4),
    ).confidence_interval
    assert isinstance(found, Interval)
    assert pytest.approx(tuple(reference), abs=0.008) == (found.low, found.high)


def test_both_ways_of_drawing_have_one_distribution():
    """Few kinds are drawn by their numbers, many one by one."""
    few = cluster_sums(np.repeat([0.0, 1.0], [150, 50]), np.arange(200))
    values = few.totals + np.linspace(0, 1e-9, 200)  # all different: drawn one by one
    many = cluster_sums(values, np.arange(200))
    drawn = [resampled_means(s, np.random.default_rng(6)) for s in (few, many)]
    assert pytest.approx(drawn[0].mean(), abs=0.002) == drawn[1].mean()
    assert pytest.approx(drawn[0].std(), rel=0.05) == drawn[1].std()
    assert pytest.approx((0.25 * 0.75 / 200) ** 0.5, rel=0.05) == drawn[0].std()
