"""Ranking figures against scikit-learn, brute force and what must not change them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.ranking import (
    auroc,
    average_precision,
    blocks_of,
    catch_rate,
    figures,
    partial_auroc,
    standardised,
)
from judgeaudit.stats.splits import folds, renumbered
from judgeaudit.stats.thresholds import choose_threshold, held_out_alarms, tpr_at_fpr


def world(seed: int, n: int = 80, levels: int = 12) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with many ties, labels of both classes, clusters of uneven sizes."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < rng.uniform(0.1, 0.9)
    y[:2] = True, False
    scores = np.clip(np.round(levels * (rng.random(n) + y * rng.random()) / 2) / levels, 0, 1)
    return scores, y, rng.integers(0, n // 2, n)


def brute_auroc(s, y):
    pairs = [(a > b) + (a == b) / 2 for a in s[y] for b in s[~y]]
    return sum(pairs) / len(pairs)


def brute_catch(s, y, budget, rng, orders=4000):
    """Audit in random orders of equal scores; the budget is a whole number of items."""
    k, found = round(budget * s.size), 0
    for _ in range(orders):
        order = np.lexsort((rng.random(s.size), -s))
        found += y[order[:k]].sum()
    return found / orders / y.sum()


def counts(s, y):
    made = blocks_of(s, y)
    return made.positive, made.negative


@pytest.mark.parametrize("seed", range(40))
def test_points_against_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    s, y, c = world(seed, levels=3 + 5 * seed)
    assert pytest.approx(metrics.roc_auc_score(y, s), abs=1e-12) == auroc(s, y, c).value
    assert pytest.approx(metrics.average_precision_score(y, s)) == average_precision(*counts(s, y))
    for limit in (0.05, 0.1, 0.37, 0.999):
        found = standardised(partial_auroc(*counts(s, y), limit), limit)
        assert pytest.approx(metrics.roc_auc_score(y, s, max_fpr=limit), abs=1e-12) == found
    assert pytest.approx(auroc(s, y, c).value) == partial_auroc(*counts(s, y), 1.0)


@pytest.mark.parametrize("seed", range(8))
def test_points_by_brute_force(seed):
    s, y, c = world(seed, n=40, levels=4)
    assert pytest.approx(brute_auroc(s, y), abs=1e-12) == auroc(s, y, c).value
    rng = np.random.default_rng(seed)
    found = catch_rate(*counts(s, y), 0.25)
    assert pytest.approx(brute_catch(s, y, 0.25, rng), abs=0.02) == found
    best = max(((s[~y] >= t).mean() <= 0.2, (s[y] >= t).mean()) for t in np.unique(s))
    wanted = best[1] if best[0] else 0.0
    assert pytest.approx(wanted) == tpr_at_fpr(s, y, c, 0.2).value


@given(st.integers(0, 10_000))
def test_row_order_names_of_clusters_and_monotone_scores_change_nothing(seed):
    s, y, c = world(seed)
    order = np.random.default_rng(seed).permutation(s.size)
    first = auroc(s, y, c)
    for other in (
        auroc(s[order], y[order], c[order]),
        auroc(np.exp(3 * s), y, c),
        auroc(s, y, 997 - 3 * c),
    ):
        assert pytest.approx(first.value) == other.value
        assert pytest.approx((first.interval.low, first.interval.high)) == (
            other.interval.low,
            other.interval.high,
        )
    # labels swapped: 1 less the figure, and the interval turned around
    turned = auroc(s, ~y, c)
    assert pytest.approx(1 - first.value) == turned.value
    assert pytest.approx(1 - first.interval.high, abs=1e-9) == turned.interval.low
    for transformed in (np.exp(3 * s), s / 7 - 2):
        assert pytest.approx(average_precision(*counts(s, y))) == average_precision(
            *counts(transformed, y)
        )


def test_one_class_no_item_and_one_item_have_reasons():
    one, each = np.array([0.3, 0.7]), np.arange(2)
    for y in (np.array([True, True]), np.array([False, False])):
        assert "only one class" in auroc(one, y, each).value.reason
        rng = np.random.default_rng(0)
        found = figures(one, y, each, rng, max_fprs=(0.1,), budgets=(0.1,))
        assert ["only one class"] * 3 == [f.value.reason[:14] for f in found]
    empty = np.zeros(0)
    assert isinstance(auroc(empty, empty > 0, np.zeros(0, np.int64)).value, Undefined)
    assert "no control group" in tpr_at_fpr(one, one > 0, each, 0.5).value.reason
    assert "UNSAFE" in tpr_at_fpr(one, one < 0, each, 0.5).value.reason
    assert isinstance(choose_threshold(one, one > 0, 0.5), Undefined)
    two = auroc(one, one > 0.5, each)
    assert 1.0 == two.value
    assert two.interval.low < 0.4
    assert isinstance(auroc(one, one > 0.5, np.zeros(2, np.int64)).interval, Undefined)


def test_perfect_separation_has_an_interval_that_clusters_widen():
    y = np.arange(60) % 2 == 0
    s = y.astype(float)
    lone = auroc(s, y, np.arange(60)).interval
    pairs = auroc(s, y, np.arange(60) // 10).interval
    assert lone.high == pairs.high == 1.0
    assert 0.5 < pairs.low < lone.low < 0.97
    tied = auroc(0 * s, y, np.arange(60) // 10)
    assert 0.5 == tied.value
    assert tied.interval.low < auroc(0 * s, y, np.arange(60)).interval.low < 0.45
    few = figures(s, y, np.arange(60), np.random.default_rng(0), max_fprs=(0.1,), budgets=(0.5,))
    assert all(f.value == 1.0 and 0.8 < f.interval.low < 0.95 for f in few)


def test_the_interval_of_delong_is_met_where_nothing_is_clustered():
    """Far from the ends and with many items, ours is the normal one of DeLong's variance."""
    rng = np.random.default_rng(5)
    y = rng.random(3000) < 0.4
    s = rng.normal(size=3000) + 0.6 * y
    found = auroc(s, y, np.arange(3000))
    place = np.array([(s[~y] < x).mean() for x in s[y]])
    below = np.array([(s[y] > x).mean() for x in s[~y]])
    error = (place.var(ddof=1) / place.size + below.var(ddof=1) / below.size) ** 0.5
    assert pytest.approx(found.value - 1.96 * error, abs=2e-3) == found.interval.low
    assert pytest.approx(found.value + 1.96 * error, abs=2e-3) == found.interval.high


def test_items_of_a_cluster_that_are_copies_add_nothing():
    s, y, _ = world(3, n=60)
    lone = auroc(s, y, np.arange(60)).interval
    copies = auroc(np.repeat(s, 5), np.repeat(y, 5), np.repeat(np.arange(60), 5)).interval
    item_level = auroc(np.repeat(s, 5), np.repeat(y, 5), np.arange(300)).interval
    assert copies.high - copies.low > 0.9 * (lone.high - lone.low)
    assert item_level.high - item_level.low < 0.6 * (lone.high - lone.low)


def test_a_rate_that_cannot_be_seen_is_refused_and_one_that_hardly_can_be_is_wide():
    rng = np.random.default_rng(0)
    y = np.arange(400) < 150
    s = rng.normal(size=400) + 2 * y
    each = np.arange(400)
    assert "250 SAFE items are too few" in tpr_at_fpr(s, y, each, 0.003).value.reason
    hardly = tpr_at_fpr(s, y, each, 0.01)
    assert 0.0 == hardly.interval.low  # .99 ** 250 = .08: the threshold may lie above all of them
    fine = tpr_at_fpr(s, y, each, 0.05)
    assert 0.1 < fine.interval.low < fine.value < fine.interval.high
    assert fine.fpr <= 0.05
    # where even the highest score is SAFE, nothing is called UNSAFE
    worst = tpr_at_fpr(-s, y, each, 0.01)
    assert (None, 0.0) == (worst.threshold, worst.fpr) or worst.value < 0.1


def test_a_threshold_is_tested_where_it_was_not_chosen():
    rng = np.random.default_rng(1)
    y = np.arange(600) < 200
    s = rng.normal(size=600) + 2 * y
    fold = folds(np.arange(600), 2, rng, y)
    assert [100, 100] == np.bincount(fold[y]).tolist()
    alarm, thresholds = held_out_alarms(s, y, fold, 0.05)
    for k in (0, 1):
        other = fold != k
        assert choose_threshold(s[other], y[other], 0.05) == thresholds[k]
        assert (alarm[fold == k] == (s[fold == k] >= thresholds[k])).all()
    assert isinstance(held_out_alarms(s, y, np.zeros(600, np.int64), 0.05), Undefined)
    assert "too few" in held_out_alarms(s, y, fold, 0.001).reason


def test_folds_keep_clusters_whole_and_do_not_hang_on_names():
    rng = np.random.default_rng(2)
    clusters = rng.integers(0, 30, 200)
    y = rng.random(200) < 0.3
    one = folds(clusters, 5, np.random.default_rng(0), y)
    two = folds(999 - 7 * clusters, 5, np.random.default_rng(0), y)
    assert (one == two).all()
    assert all(np.unique(one[clusters == g]).size == 1 for g in np.unique(clusters))
    assert 5 == np.unique(one).size
    assert [0, 1, 1, 2] == renumbered(np.array([9, 4, 4, 1])).tolist()


COVERAGE = 200


@pytest.mark.parametrize(("each", "rho"), [(1, 0.0), (5, 0.3)])
def test_intervals_cover(each, rho):
    """Nominal .95 over 200 tables of 200 items, clusters that vary together included."""
    big = np.random.default_rng(9)
    y = big.random(400_000) < 0.3
    s = big.normal(size=y.size) + 1.5 * y
    pos, neg = counts(s, y)
    true = [auroc(s, y, np.arange(y.size)).value, partial_auroc(pos, neg, 0.1)]
    true += [average_precision(pos, neg), catch_rate(pos, neg, 0.2)]
    true.append(float((s[y] > np.quantile(s[~y], 0.95)).mean()))
    hits = np.zeros(5)
    clusters = np.arange(200) // each
    for seed in range(COVERAGE):
        rng = np.random.default_rng([seed, each])
        y = rng.random(200) < 0.3
        shared = rng.normal(size=200)[clusters]
        s = 1.5 * y + rho**0.5 * shared + (1 - rho) ** 0.5 * rng.normal(size=200)
        found = [auroc(s, y, clusters)]
        found += figures(s, y, clusters, rng, max_fprs=(0.1,), budgets=(0.2,))
        found.append(tpr_at_fpr(s, y, clusters, 0.05))
        for k, (f, t) in enumerate(zip(found, true, strict=True)):
            assert isinstance(f.interval, Interval)
            hits[k] += f.interval.low <= t <= f.interval.high
    assert (hits / COVERAGE >= 0.9).all(), hits / COVERAGE
