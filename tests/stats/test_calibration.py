"""Calibration: what is claimed of a calibrated judge, what is found of another, and the edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.stats._types import Undefined
from judgeaudit.stats.calibration import (
    ace,
    brier_terms,
    ece,
    equal_count,
    equal_width,
    top_label,
)
from judgeaudit.stats.floor import floor_of
from judgeaudit.stats.shares import mean_interval
from judgeaudit.stats.splits import folds
from judgeaudit.stats.temperature import (
    cross_fitted,
    fit_temperature,
    log_losses,
    logits_of,
    sigmoid,
)

SEEDS = 200
ALPHA = 0.05


def shown(p, y, clusters, seed):
    rng = np.random.default_rng([seed, 1])
    return floor_of(p, y, equal_width(p, y, 10), clusters, rng).p_value <= ALPHA


def rejections(n, off=0.0, each=1, rho=0.0, tens=False):
    """How often miscalibration is claimed, over 200 seeds, of a judge that is off by so much."""
    from scipy.special import ndtr

    clusters, count = np.arange(n) // each, 0
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, n])
        p = rng.integers(0, 11, n) / 10 if tens else rng.random(n)
        shared = rng.standard_normal(n)[clusters]
        u = ndtr(rho**0.5 * shared + (1 - rho) ** 0.5 * rng.standard_normal(n))
        count += shown(p, u < np.clip(p + off, 0, 1), clusters, seed)
    return count


def at_most(rate):
    """Most of 200 that a true rate may give: its mean and 3 standard errors."""
    return SEEDS * rate + 3 * (SEEDS * rate * (1 - rate)) ** 0.5


@pytest.mark.parametrize(
    ("n", "tens"), [(40, False), (100, False), (200, False), (500, False), (40, True), (500, True)]
)
def test_no_miscalibration_is_claimed_for_a_calibrated_judge(n, tens):
    assert rejections(n, tens=tens) <= at_most(ALPHA)


@pytest.mark.parametrize("n", [40, 500])
def test_nor_where_labels_of_a_cluster_go_together(n):
    assert rejections(n, each=5, rho=0.5) <= at_most(ALPHA)


def test_a_judge_that_is_off_by_a_tenth_is_found():
    assert rejections(500, off=0.1) >= 0.95 * SEEDS


def test_a_test_without_clusters_would_claim_too_much():
    """What the clustered part is for: the same labels, taken as independent."""
    from scipy.special import ndtr

    count = 0
    for seed in range(SEEDS):
        rng = np.random.default_rng([seed, 5])
        p = np.repeat(rng.random(25), 20)
        y = ndtr(np.repeat(rng.standard_normal(25), 20)) < p
        count += shown(p, y, np.arange(500), seed)
    assert count > 0.5 * SEEDS


def test_the_floor_is_what_brute_force_finds_and_the_runs_of_a_large_table_keep_it():
    rng = np.random.default_rng(0)
    p = rng.beta(0.4, 0.8, 900)
    drawn = [
        ece(equal_width(p, rng.random(900) < p, 10))  # one calibrated judge after another
        for _ in range(400)
    ]
    y = rng.random(900) < p
    found = floor_of(p, y, equal_width(p, y, 10), np.arange(900), rng)
    assert pytest.approx(np.mean(drawn), rel=0.05) == found.mean
    many = np.tile(p, 10)
    y = rng.random(9000) < many
    runs = floor_of(many, y, equal_width(many, y, 10), np.arange(9000), rng).mean
    assert pytest.approx(np.mean(drawn) / 10**0.5, rel=0.06) == runs


@given(st.integers(0, 10_000), st.integers(1, 60))
def test_the_interval_leaves_0_out_exactly_where_miscalibration_is_shown(seed, n):
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(n), 1 + seed % 3)
    y = rng.random(n) < p ** rng.uniform(0.2, 4)
    for made, equal in ((equal_width(p, y, 10), False), (equal_count(p, y, 7), True)):
        found = floor_of(p, y, made, np.arange(n) // 2, rng, equal_weights=equal)
        error = ace(made) if equal else ece(made)
        assert (found.interval.low > 0) == (found.p_value <= 0.05)
        assert found.interval.low <= error <= found.interval.high + 1e-12
        assert 0 < found.p_value <= 1


@given(st.integers(0, 10_000), st.integers(1, 80), st.integers(1, 20))
def test_bins_against_brute_force(seed, n, bins):
    rng = np.random.default_rng(seed)
    p, y = np.round(rng.random(n), 2), rng.random(n) < 0.5
    total = 0.0
    for k in range(bins):
        low, high = round(k / bins, 12), round((k + 1) / bins, 12)
        here = (p >= low) & ((p < high) | (k == bins - 1))
        if here.any():
            total += here.sum() / n * abs(p[here].mean() - y[here].mean())
    made = equal_width(p, y, bins)
    assert pytest.approx(total, abs=1e-12) == ece(made)
    order = np.argsort(p, kind="stable")
    parts = [k for k in np.array_split(order, bins) if k.size]
    assert pytest.approx(np.mean([abs(p[k].mean() - y[k].mean()) for k in parts])) == ace(
        equal_count(p, y, bins)
    )
    terms = brier_terms(p, y, made)
    whole = terms.reliability - terms.resolution + terms.uncertainty
    whole += terms.within_variance - terms.within_covariance
    assert pytest.approx(np.mean((p - y) ** 2)) == terms.brier
    assert pytest.approx(terms.brier, abs=1e-12) == whole


def test_brier_and_log_loss_against_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    p, y = rng.random(200), rng.random(200) < 0.4
    terms = brier_terms(p, y, equal_width(p, y, 10))
    assert pytest.approx(metrics.brier_score_loss(y, p)) == terms.brier
    z, clipped = logits_of(p)
    assert 0 == clipped
    assert pytest.approx(metrics.log_loss(y, p)) == log_losses(z, y).mean()


def test_swapped_labels_and_row_order_leave_the_errors_as_they_are():
    rng = np.random.default_rng(3)
    p, y = rng.random(300), rng.random(300) < 0.4
    order = rng.permutation(300)
    for m in (4, 15):
        first = ece(equal_width(p, y, m))
        assert pytest.approx(first) == ece(equal_width(p[order], y[order], m))
        assert pytest.approx(first) == ece(equal_width(1 - p, ~y, m))
        assert pytest.approx(ece(equal_width(*top_label(p, y), m))) == ece(
            equal_width(*top_label(1 - p, ~y), m)
        )


def test_top_label_counts_one_half_as_unsafe():
    sure, right = top_label(np.array([0.5, 0.5, 0.1, 0.9]), np.array([True, False, False, False]))
    assert [0.5, 0.5, 0.9, 0.9] == sure.tolist()
    assert [True, False, True, False] == right.tolist()


def test_temperature_against_a_minimiser_and_its_edges():
    from scipy.optimize import minimize_scalar

    rng = np.random.default_rng(4)
    z = rng.normal(0, 2, 400)
    y = rng.random(400) < sigmoid(z / 2)
    each = np.arange(400)
    found = fit_temperature(z, y, each)
    best = minimize_scalar(lambda t: log_losses(z / t, y).mean(), bounds=(0.05, 20))
    assert pytest.approx(best.x, abs=1e-3) == found.value
    assert found.interval.low < 2 < found.interval.high
    # it does not hang on which label is called UNSAFE, nor on the order of rows
    assert pytest.approx(found.value) == fit_temperature(-z, ~y, each).value
    assert pytest.approx(found.value) == fit_temperature(z[::-1], y[::-1], each).value
    copies = fit_temperature(np.repeat(z, 4), np.repeat(y, 4), np.repeat(each, 4))
    assert pytest.approx(found.value) == copies.value
    assert pytest.approx(found.interval.low, rel=0.01) == copies.interval.low
    assert "one class" in fit_temperature(z, y | True, each).value.reason
    assert "0.5" in fit_temperature(0 * z, y, each).value.reason
    assert "separate" in fit_temperature(np.where(y, 1.0, -1.0), y, each).value.reason
    assert "no guide" in fit_temperature(np.where(y, -1.0, 1.0), y, each).value.reason
    alone = fit_temperature(z, y, 0 * each)
    assert isinstance(alone.interval, Undefined)


def test_clipped_probabilities_are_counted():
    z, clipped = logits_of(np.array([0.0, 1e-7, 0.3, 1.0]))
    assert 3 == clipped
    assert np.isfinite(z).all()
    assert pytest.approx(0.3) == sigmoid(z)[2]


def test_no_item_has_a_part_in_its_own_temperature():
    rng = np.random.default_rng(6)
    z = rng.normal(0, 2, 300)
    y = rng.random(300) < sigmoid(z / 1.7)
    fold = folds(np.arange(300) // 3, 5, rng, y)
    scaled, temperatures = cross_fitted(z, y, fold)
    for k in range(5):
        here = fold == k
        own = fit_temperature(z[~here], y[~here], np.arange((~here).sum())).value
        assert pytest.approx(own) == temperatures[k]
        assert pytest.approx(z[here] / own) == scaled[here]
    assert log_losses(scaled, y).mean() < log_losses(z, y).mean()
    assert isinstance(cross_fitted(z, y, 0 * fold), Undefined)


def test_intervals_of_means_cover():
    """Brier scores of 200 tables, independent and in clusters; and the edges."""
    hits = dict.fromkeys((1, 5), 0)
    for each in hits:
        for seed in range(SEEDS):
            rng = np.random.default_rng([seed, each])
            clusters = np.arange(100) // each
            q = np.repeat(rng.beta(1, 4, 100 // each), each)
            values = np.clip(q + rng.normal(0, 0.02, 100), 0, 1)
            found = mean_interval(values, clusters)
            hits[each] += found.low <= 0.2 <= found.high
    assert all(h >= 0.91 * SEEDS for h in hits.values()), hits
    assert isinstance(mean_interval(np.zeros(3), np.zeros(3, np.int64)), Undefined)
    none = mean_interval(np.zeros(50), np.arange(50))
    assert none.low == 0.0 < none.high < 0.15


def test_an_error_of_0_has_an_interval_that_is_no_point():
    p, y, rng = np.zeros(100), np.zeros(100, np.bool_), np.random.default_rng(0)
    found = floor_of(p, y, equal_width(p, y, 10), np.arange(100), rng)
    assert (0.0, 1.0) == (found.interval.low, found.p_value)
    assert pytest.approx(1 - 0.05**0.01) == found.interval.high
