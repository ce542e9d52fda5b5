"""Scores against a population's answers: by enumeration of voters, unbiased, and at the edges."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.soft_labels import distance_items, smoothed, soft_scores

P = np.array([[0.1, 0.9], [0.5, 0.5], [0.7, 0.3]])
VOTES = np.array([[1.0, 3.0], [2.0, 2.0], [5.0, 0.0]])


def test_scores_are_means_over_voters():
    brier, log = [], []
    for p, votes in zip(P, VOTES, strict=True):
        answers = np.repeat([0, 1], votes.astype(int))
        brier.append(np.mean([np.sum((p - np.eye(2)[y]) ** 2) / 2 for y in answers]))
        log.append(np.mean([-np.log(p[y]) for y in answers]))
    found = soft_scores(P, VOTES, np.arange(3))
    assert pytest.approx(np.mean(brier)) == found.brier
    assert pytest.approx(np.mean(log)) == found.log
    assert (3, 3, 0) == (found.n_items, found.n_clusters, found.n_clipped)


def test_the_population_itself_is_the_best_judge():
    many = np.array([[400.0, 600.0], [900.0, 100.0]])
    own = many / 1000
    best = soft_scores(own, many, np.arange(2))
    for other in (own[::-1], np.full((2, 2), 0.5), own + np.array([0.05, -0.05])):
        worse = soft_scores(other, many, np.arange(2))
        assert worse.brier > best.brier
        assert worse.log > best.log
        assert worse.distance > best.distance
    assert pytest.approx(best.brier_floor, abs=1e-3) == best.brier


@pytest.mark.parametrize("q", [0.2, 0.5, 0.9])
def test_floor_and_distance_are_unbiased_for_two_voters_and_two_repeats(q):
    """Over all ways in which two people and two calls can answer, with their chances."""
    p, floor, distance = 0.35, 0.0, 0.0
    for a, b, c, d in product((0, 1), repeat=4):
        chance = np.prod([q if y else 1 - q for y in (a, b)] + [p if y else 1 - p for y in (c, d)])
        votes = np.array([[2.0 - a - b, a + b]])
        repeats = np.array([[2.0 - c - d, c + d]])
        found = soft_scores(repeats / 2, votes, np.arange(1), repeats=repeats)
        floor += chance * found.brier_floor
        distance += chance * found.distance
    assert pytest.approx(q * (1 - q)) == floor
    assert pytest.approx((p - q) ** 2) == distance


def test_several_answers():
    p = np.array([[0.2, 0.3, 0.5]])
    found = soft_scores(p, np.array([[1.0, 0.0, 1.0]]), np.arange(1))
    of_each = [np.sum((p[0] - np.eye(3)[y]) ** 2) / 2 for y in (0, 2)]
    assert pytest.approx(np.mean(of_each)) == found.brier
    assert pytest.approx(-np.log([0.2, 0.5]).mean()) == found.log


@given(st.permutations([0, 1, 2]))
def test_order_and_names_of_answers(order):
    found = soft_scores(P, VOTES, np.arange(3))
    again = soft_scores(P[order, ::-1], VOTES[order, ::-1], np.array(order) + 5)
    for name in ("brier", "log", "distance"):
        assert pytest.approx(getattr(found, name)) == getattr(again, name)
        mine, theirs = found.intervals[name], again.intervals[name]
        assert pytest.approx((mine.low, mine.high)) == (theirs.low, theirs.high)


def test_shares_of_repeats_are_smoothed_for_the_log_alone():
    repeats = np.array([[3.0, 0.0]])
    found = soft_scores(repeats / 3, np.array([[0.0, 4.0]]), np.arange(1), repeats=repeats)
    assert pytest.approx(-np.log(smoothed(repeats)[0, 1])) == found.log
    assert 1.0 == found.brier
    sharp = soft_scores(np.array([[1.0, 0.0]]), np.array([[0.0, 4.0]]), np.arange(1))
    assert pytest.approx(-np.log(1e-6)) == sharp.log
    assert 1 == sharp.n_clipped


def test_what_is_missing_says_why():
    nobody = soft_scores(P, np.zeros((3, 2)), np.arange(3))
    assert all(isinstance(v, Undefined) for v in (nobody.brier, nobody.log, nobody.distance))
    one_each = soft_scores(P, np.eye(2)[[0, 1, 1]], np.arange(3))
    assert isinstance(one_each.brier, float)
    assert "no item has two votes" == one_each.distance.reason
    once = soft_scores(np.eye(2), VOTES[:2], np.arange(2), repeats=np.eye(2))
    assert "judged twice" in once.distance.reason
    unanswered = soft_scores(P, VOTES, np.arange(3), answered=np.array([True, False, False]))
    assert 1 == unanswered.n_items
    assert isinstance(unanswered.intervals["brier"], Undefined)
    assert not distance_items(P, np.zeros((3, 2))).defined.any()


def test_intervals_hold_their_value_and_stay_inside():
    found = soft_scores(np.eye(2)[[0] * 30], np.array([[0.0, 5.0]] * 30), np.arange(30))
    for name, top in (("brier", 1.0), ("distance", 1.0), ("log", np.inf)):
        interval = found.intervals[name]
        assert isinstance(interval, Interval)
        assert interval.low <= getattr(found, name) <= interval.high <= top
