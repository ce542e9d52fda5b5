"""Sources of confidence against errors: oracles, ties, one class, and what is undefined."""

from __future__ import annotations

import numpy as np
import pytest

from judgeaudit.metrics._estimate import Estimate
from judgeaudit.metrics.knowledge import Source, knowledge_of, knowledge_scores
from judgeaudit.stats._types import Interval, Undefined


@pytest.mark.parametrize("seed", range(12))
def test_it_is_scikit_learns_auroc_and_brier_score(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 80))
    said, right = np.round(rng.random(n), 1), rng.random(n) < 0.6
    right[:2] = [True, False]
    auroc, gap, brier = knowledge_of(Source("s", said), right, np.arange(n))
    assert metrics.roc_auc_score(right, said) == pytest.approx(auroc.value)
    assert metrics.brier_score_loss(right, said) == pytest.approx(brier.value)
    assert said.mean() - right.mean() == pytest.approx(gap.value)


def test_ece_of_the_top_label_by_hand():
    said = np.array([0.55, 0.6, 0.6, 0.95, 1.0])
    right = np.array([True, False, True, True, True])
    # bins [.5, .6): one; [.6, .7): two; [.9, 1]: two
    by_hand = (abs(0.55 - 1) * 1 + abs(0.6 - 0.5) * 2 + abs(0.975 - 1) * 2) / 5
    gap = knowledge_of(Source("s", said), right, np.arange(5))[1]
    assert by_hand == pytest.approx(gap.detail["ece_top_label"])


def test_calls_without_a_confidence_are_left_out_of_that_source_alone():
    said = np.array([np.nan, 0.9, 0.2, 0.8])
    right = np.array([False, True, False, True])
    auroc, *_ = knowledge_of(Source("s", said), right, np.arange(4))
    assert (1.0, 3) == (auroc.value, auroc.n_items)


@pytest.mark.parametrize(
    ("right", "why"), [([True] * 4, "always right"), ([False] * 4, "never right")]
)
def test_one_class_has_no_auroc_and_still_a_gap(right, why):
    auroc, gap, _ = knowledge_of(Source("s", np.full(4, 0.5)), np.array(right), np.arange(4))
    assert isinstance(auroc.value, Undefined)
    assert why in auroc.value.reason
    assert isinstance(gap.value, float)


def test_one_call_has_no_interval_and_none_has_no_figure():
    one = knowledge_of(Source("s", np.array([0.7])), np.array([True]), np.array([0]))
    assert isinstance(one[1].interval, Undefined)
    none = knowledge_of(Source("s", np.array([np.nan])), np.array([True]), np.array([0]))
    assert all(isinstance(e.value, Undefined) for e in none)


def test_what_is_no_probability_is_compared_but_not_calibrated():
    made = knowledge_of(
        Source("entropy", np.array([-0.5, 0.0]), probability=False),
        np.array([False, True]),
        np.arange(2),
    )
    assert 1.0 == made[0].value
    assert isinstance(made[1].value, Undefined)
    assert isinstance(made[2].value, Undefined)


def test_neither_row_order_nor_a_monotone_change_moves_the_auroc():
    rng = np.random.default_rng(4)
    said, right, clusters = rng.random(60), rng.random(60) < 0.7, rng.integers(0, 20, 60)
    order = rng.permutation(60)
    plain = knowledge_of(Source("s", said), right, clusters)[0]
    mixed = knowledge_of(Source("s", said[order]), right[order], clusters[order])[0]
    bent = knowledge_of(Source("s", said**3), right, clusters)[0]
    assert plain.value == pytest.approx(mixed.value)
    assert plain.value == pytest.approx(bent.value)


@pytest.mark.parametrize(("gap", "found"), [(0.0, False), (0.1, True)])
def test_overconfidence_is_found_where_it_is_and_not_where_it_is_not(gap, found):
    """200 calibrated judges raise at most the nominal 5% of alarms (binomial: 19); one off by .1 is
    found at 500 items."""
    alarms = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        said = rng.uniform(0.6, 1.0, 500)
        right = rng.random(500) < said - gap
        made: Estimate = knowledge_of(Source("s", said), right, np.arange(500))[1]
        assert isinstance(made.interval, Interval)
        alarms += made.interval.low > 0 or made.interval.high < 0
    assert alarms >= 195 if found else alarms <= 19


def test_datasets_have_rows_of_their_own_only_where_there_are_several():
    said, right = np.array([0.9, 0.1, 0.2, 0.8]), np.array([True, False, True, False])
    index = np.arange(4)
    one = knowledge_scores([Source("s", said)], right, index, index, ["a"] * 4)
    two = knowledge_scores([Source("s", said)], right, index, index, ["a", "a", "b", "b"])
    assert {"s"} == {s.stratum for s in one}
    values = {s.stratum: s.value for s in two if s.metric == "knowledge_auroc"}
    assert {"s": 0.75, "s, on a": 1.0, "s, on b": 0.0} == values


def test_the_brier_scores_interval_stays_within_0_and_1():
    brier = knowledge_of(
        Source("s", np.array([0.9, 0.2, 0.8])), np.array([True, False, False]), np.arange(3)
    )[2]
    assert isinstance(brier.interval, Interval)
    assert 0 <= brier.interval.low < brier.value < brier.interval.high <= 1
