"""Abstention: the area by enumeration, its error by leaving out, thresholds by simulation."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.abstaining import (
    expected_gain,
    operating_point,
    penalised,
    penalty_threshold,
    risk_upper,
)
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.selective import (
    aurc,
    oracle_aurc,
    oracle_aurc_limit,
    risk_coverage,
)


def area_of(wrong) -> float:
    return float(np.mean(np.cumsum(wrong) / np.arange(1, len(wrong) + 1)))


def area_over_orders(sure, wrong) -> float:
    """Mean area over all orders of the cases that keep falling confidence."""
    cases = list(zip(sure, wrong, strict=True))
    kept = [
        area_of([w for _, w in order])
        for order in permutations(cases)
        if all(a[0] >= b[0] for a, b in pairwise(order))
    ]
    return float(np.mean(kept))


cases = st.lists(st.tuples(st.sampled_from([0.5, 0.7, 0.9]), st.booleans()), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(cases)
def test_the_area_is_the_mean_over_all_orders_of_ties(rows):
    sure, wrong = (np.array(c) for c in zip(*rows, strict=True))
    found = aurc(sure, wrong, np.arange(len(rows)))
    assert pytest.approx(area_over_orders(sure, wrong)) == found.value
    assert pytest.approx(area_of(sorted(wrong))) == found.oracle
    assert found.chance == wrong.mean()
    assert -1e-12 <= found.excess <= 1


def test_chance_is_the_mean_over_random_orders():
    wrong = np.array([1, 0, 0, 1, 0], dtype=bool)
    areas = [area_of(order) for order in permutations(wrong)]
    assert pytest.approx(np.mean(areas)) == aurc(np.arange(5.0), wrong, np.arange(5)).chance
    assert pytest.approx(min(areas)) == oracle_aurc(5, 2)


@given(cases, st.randoms(use_true_random=False))
def test_neither_order_nor_scale_of_confidence_matters(rows, random):
    sure, wrong = (np.array(c) for c in zip(*rows, strict=True))
    order = np.array(random.sample(range(len(rows)), len(rows)))
    where = np.arange(len(rows)) // 2
    found = aurc(sure, wrong, where)
    again = aurc(np.exp(9 * sure[order]), wrong[order], where[order])
    assert pytest.approx((found.value, found.excess)) == (again.value, again.excess)
    assert type(found.interval) is type(again.interval)
    if isinstance(found.interval, Interval):
        assert pytest.approx(found.interval.low, abs=1e-9) == again.interval.low
        assert found.interval.low <= found.value <= found.interval.high


def test_better_confidence_has_a_smaller_area():
    wrong = np.arange(40) % 4 == 0
    areas = []
    for share in (0.0, 0.5, 1.0):
        told = np.arange(40) < 40 * share
        areas.append(aurc(np.where(told, 1.0 - wrong, 0.5), wrong, np.arange(40)).value)
    assert areas == sorted(areas, reverse=True)
    assert pytest.approx(oracle_aurc(40, 10)) == areas[-1]
    assert pytest.approx(0.25) == areas[0]


def test_the_oracle_tends_to_its_limit():
    assert pytest.approx(oracle_aurc_limit(0.3), abs=1e-4) == oracle_aurc(50_000, 15_000)
    assert (0.0, 1.0) == (oracle_aurc_limit(0.0), oracle_aurc_limit(1.0))


@pytest.mark.parametrize("digits", [1, 6])
def test_influences_are_those_of_leaving_a_case_out(digits):
    """The interval's error against the jackknife's, with many ties and with none."""
    rng = np.random.default_rng(2)
    sure = np.round(rng.random(300), digits)
    wrong = rng.random(300) > sure
    keep = [np.delete(np.arange(300), k) for k in range(300)]
    for part, ends in (("value", "interval"), ("excess", "excess_interval")):
        whole = aurc(sure, wrong, np.arange(300))
        left = np.array([getattr(aurc(sure[k], wrong[k], k), part) for k in keep])
        error = (299 / 300 * np.sum((left - left.mean()) ** 2)) ** 0.5
        interval = getattr(whole, ends)
        # the jackknife is a little too wide itself, two pseudo-observations widen ours
        assert 0.97 <= (interval.high - interval.low) / (2 * 1.968 * error) < 1.2


def test_no_case_and_one_case():
    nothing = aurc(np.empty(0), np.empty(0, dtype=bool), np.empty(0, dtype=int))
    assert isinstance(nothing, Undefined)
    assert 0 == risk_coverage(np.empty(0), np.empty(0, dtype=bool)).risk.size
    one = aurc(np.array([0.9]), np.array([True]), np.array([0]))
    assert (1.0, 1.0, 0.0) == (one.value, one.oracle, one.excess)
    assert isinstance(one.interval, Undefined)


def test_right_wrong_and_abstained_stay_apart():
    sure = np.array([0.95, 0.95, 0.75, 0.6, 0.9])
    wrong = np.array([False, True, False, True, False])
    found = penalised(sure, wrong, np.arange(5), penalty=3)
    assert (2, 1, 2) == (found.right, found.wrong, found.abstained)
    assert pytest.approx((2 - 3) / 5) == found.value
    assert pytest.approx((3 - 6) / 5) == found.always
    assert -3 <= found.interval.low <= found.value <= found.interval.high <= 1
    assert isinstance(penalised(sure[:0], wrong[:0], np.arange(0), penalty=1), Undefined)


def test_answering_at_the_threshold_earns_nothing():
    for penalty in (0, 0.25, 1, 9):
        assert pytest.approx(0, abs=1e-12) == expected_gain(penalty_threshold(penalty), penalty)
    with pytest.raises(ValueError, match="0 or larger"):
        penalty_threshold(-1)


def world(seed: int, n: int = 800) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A calibrated judge; two cases a cluster."""
    rng = np.random.default_rng(seed)
    sure = 0.5 + 0.5 * rng.random(n)
    return sure, rng.random(n) > sure, np.arange(n) // 2


def test_the_operating_point_is_chosen_on_one_half_and_told_of_the_other():
    sure, wrong, where = world(0)
    found = operating_point(sure, wrong, where, target=0.1)
    assert found.chosen_risk <= found.chosen_upper <= 0.1
    # the figures of the other half, once more by hand
    names = np.random.default_rng(0).permutation(400)[:200]
    other = ~np.isin(where, names)
    answered = sure[other] >= found.threshold
    assert pytest.approx(answered.mean()) == found.coverage
    assert pytest.approx(wrong[other][answered].mean()) == found.risk
    assert found.right + found.wrong + found.abstained == np.count_nonzero(other)
    assert found.upper >= found.risk
    # a lower threshold would have broken the bound
    lower = (
        sure[~other]
        >= np.sort(sure[~other])[np.searchsorted(np.sort(sure[~other]), found.threshold) - 40]
    )
    sums = cluster_sums(wrong[~other][lower] * 1.0, where[~other][lower])
    assert risk_upper(sums) > 0.1


def test_the_operating_point_that_is_not_there():
    sure, wrong, where = world(1, n=40)
    found = operating_point(sure, np.ones(40, dtype=bool), where, target=0.05)
    assert "no threshold keeps the risk below 0.05" in found.reason
    few = operating_point(sure[:6], wrong[:6], where[:6], target=0.5)
    assert "fewer than 4 clusters" in few.reason


def test_a_bound_without_errors_counts_clusters():
    sums = cluster_sums(np.zeros(40), np.arange(40) // 4)
    assert pytest.approx(1 - 0.05 ** (1 / 10)) == risk_upper(sums)
    assert 1.0 == risk_upper(cluster_sums(np.zeros(0), np.zeros(0, dtype=int)))


@pytest.mark.slow
def test_intervals_and_bounds_hold():
    """A calibrated judge, 200 cases in pairs: AURC and the tested risk against their truth."""
    big = world(99, n=400_000)
    truth = aurc(*big).value
    hits = kept = points = 0
    for seed in range(300):
        sure, wrong, where = world(seed, n=200)
        interval = aurc(sure, wrong, where).interval
        hits += interval.low <= truth <= interval.high
        found = operating_point(sure, wrong, where, target=0.2)
        if not isinstance(found, Undefined):
            points += 1
            kept += (1 - found.threshold) / 2 <= found.upper
    assert hits >= 0.91 * 300
    assert points > 200
    assert kept >= 0.92 * points
