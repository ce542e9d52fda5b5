"""The adjusted t, the plain t and the gate bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.stats._types import Interval, Undefined, limits
from judgeaudit.stats.adjusted_t import (
    adjusted_t,
    adjusted_t_difference,
    cluster_t,
    gate,
    gate_upper,
)
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.intervals import clopper_pearson_upper, t_quantile

ITEMS = st.lists(st.tuples(st.floats(-1, 1), st.integers(0, 4)), min_size=2, max_size=25)


def slow_adjusted_t(values, clusters):
    """Append the pseudo-clusters as weighted rows and take a cluster-robust mean, row by row.

    Gaps of real clusters are scaled for the share of the items that they hold; degrees of freedom
    are Kish's number of clusters less one, and a tenth of the flips' variance is counted as shared
    within clusters, as far as their sizes differ.
    """
    groups = sorted(set(clusters))
    totals = [sum(v for v, c in zip(values, clusters, strict=True) if c == g) for g in groups]
    sizes = [sum(c == g for c in clusters) for g in groups]
    share = [m / len(values) for m in sizes]
    average = len(values) / len(groups)
    around = sum(s * m for s, m in zip(share, sizes, strict=True))  # around an item, on average
    size = (average * around) ** 0.5
    even = 1 - 1 / len(groups)
    rows = [(t, m, 1.0, even / (1 - s)) for t, m, s in zip(totals, sizes, share, strict=True)]
    rows += [(size, size, 0.5, 1.0), (-size, size, 0.5, 1.0), (0.0, size, 1.0, 1.0)]
    n = sum(w * m for _, m, w, _ in rows)
    centre = sum(w * t for t, _, w, _ in rows) / n
    variance = sum(w * (a * (t - m * centre)) ** 2 for t, m, w, a in rows)
    variance += 0.1 * abs(centre) * (1 - abs(centre)) * sum((m - average) ** 2 for m in sizes)
    variance /= n**2
    df = max(1.0, 1 / sum(s * s for s in share) - 1)
    half = t_quantile(0.975, df) * variance**0.5
    return centre - half, centre + half


@given(ITEMS)
def test_adjusted_t_against_its_pseudo_clusters(items):
    values, clusters = [v for v, _ in items], [c for _, c in items]
    sums = cluster_sums(np.array(values), np.array(clusters))
    found = adjusted_t(sums)
    if len(set(clusters)) < 2:
        assert isinstance(found, Undefined)
    else:
        assert pytest.approx(slow_adjusted_t(values, clusters), abs=1e-10) == limits(found)


def test_even_clusters_have_the_interval_of_the_design():
    """Section 4 to the letter: no leverage, G - 1 degrees of freedom."""
    totals, m = np.array([0.0, 3.0, 0.5, -0.25, 0.0, 1.0]), 4
    values = np.repeat(totals / m, m)
    groups, n = totals.size, totals.size * m
    centre = totals.sum() / (n + 2 * m)
    spread = np.sum((totals - m * centre) ** 2) + m**2 * (1 + 2 * centre**2)
    half = t_quantile(0.975, groups - 1) * spread**0.5 / (n + 2 * m)
    found = adjusted_t(cluster_sums(values, np.repeat(np.arange(groups), m)))
    assert pytest.approx((centre - half, centre + half), abs=1e-12) == limits(found)


def test_one_huge_cluster_widens_the_interval():
    """100 items, 40 of them in one cluster that flipped half: more doubt than G - 1 says."""
    values = np.zeros(100)
    values[:20] = 1.0
    clusters = np.concatenate([np.zeros(40), np.arange(1, 61)]).astype(int)
    found = adjusted_t(cluster_sums(values, clusters))
    even = adjusted_t(cluster_sums(values, np.arange(100)))
    assert isinstance(found, Interval)
    assert isinstance(even, Interval)
    assert found.high - found.low > 3 * (even.high - even.low)


def test_zero_flips_do_not_collapse_it():
    sums = cluster_sums(np.zeros(60), np.arange(60))
    assert pytest.approx((-0.032274119, 0.032274119)) == limits(adjusted_t(sums))
    assert (0.0, 0.0) == limits(cluster_t(sums))
    assert pytest.approx(1 - 0.05 ** (1 / 60)) == gate_upper(sums)


def test_cluster_t_of_single_items_is_the_t_interval():
    values = np.array([0.2, -0.1, 0.4, 0.0, 0.3])
    half = t_quantile(0.975, 4) * values.std(ddof=1) / 5**0.5
    expected = (values.mean() - half, values.mean() + half)
    assert pytest.approx(expected) == limits(cluster_t(cluster_sums(values, np.arange(5))))


def test_one_cluster_has_no_interval():
    sums = cluster_sums(np.array([0.1, 0.2]), np.zeros(2, int))
    for function in (adjusted_t, cluster_t, gate_upper, adjusted_t_difference):
        assert Undefined("fewer than two clusters") == function(sums)


def test_gate_bound_excludes_nothing_when_every_cluster_is_an_event():
    assert gate_upper(cluster_sums(np.ones(6), np.arange(6))) >= 1


def test_gate_bound_counts_clusters_not_items():
    """30 clusters of 4, one of them all events: one event of 30, not four."""
    values = np.zeros(120)
    values[:4] = 1.0
    sums = cluster_sums(values, np.arange(120) // 4)
    bound = clopper_pearson_upper(1, 30)
    assert limits(adjusted_t(sums))[1] < bound
    assert pytest.approx(bound) == gate_upper(sums)


def test_gate():
    assert "above" == gate(0.06, 0.2, 0.05)
    assert "below" == gate(-0.01, 0.04, 0.05)
    assert "inconclusive" == gate(0.05, 0.05, 0.05)
    assert "inconclusive" == gate(None, None, 0.05)


def test_difference_of_two_judges_is_twice_the_half():
    d = np.array([2.0, -1.0, 0.5, 0.0, -2.0])
    found = adjusted_t_difference(cluster_sums(d, np.arange(5)))
    half = adjusted_t(cluster_sums(d / 2, np.arange(5)))
    assert isinstance(found, Interval)
    assert isinstance(half, Interval)
    assert pytest.approx((2 * half.low, 2 * half.high)) == (found.low, found.high)


@given(ITEMS, st.permutations(range(5)))
def test_relabelled_clusters_change_nothing(items, names):
    values = np.array([v for v, _ in items])
    clusters = np.array([c for _, c in items])
    other = np.array([names[c] * 1000 - 2000 for c in clusters])
    first, second = cluster_sums(values, clusters), cluster_sums(values, other)
    assert pytest.approx(limits(adjusted_t(first)), abs=1e-12) == limits(adjusted_t(second))


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 120])
@pytest.mark.parametrize("flip", [0.0, 0.03, 0.1])
def test_adjusted_t_covers(n, flip):
    """Nominal 0.95 for a planted judge with hard flips: as estimators.md says, at least .90."""
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(1000):
        values = (rng.random(n) < flip).astype(float)
        values += rng.choice([-1 / 3, 0.0, 1 / 3], size=n, p=[0.05, 0.9, 0.05])
        values = np.clip(values, -1, 1)
        interval = adjusted_t(cluster_sums(values, np.arange(n)))
        assert isinstance(interval, Interval)
        truth = flip - flip * 0.05 / 3  # clipping takes a third off a flip with + jitter
        hits += interval.low <= truth <= interval.high
    assert hits / 1000 >= 0.905 - 4 * (0.95 * 0.05 / 1000) ** 0.5
