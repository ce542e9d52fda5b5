"""Bounds on misses and false alarms, and the worst of k repeats, from written-out tables."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats as scipy_stats
from score_tables import protocol, view, written

from judgeaudit.core.table import Counts
from judgeaudit.metrics.rare import error_bound, false_alarm_bound, missed_bound
from judgeaudit.metrics.worst_of_k import tries_of, worst_of_k, worst_of_k_missed
from judgeaudit.scoring import score


def run_of(items, gold, clusters=None):
    return written({k: {"base": v} for k, v in items.items()}, gold=gold, clusters=clusters)


def one(report):
    (found,) = report.scores
    return found


def many(n: int, calls: str = "U"):
    items = {f"i{k:03d}": calls for k in range(n)}
    return items, dict.fromkeys(items, "UNSAFE")


@pytest.mark.parametrize("n", [1, 40, 300])
def test_no_miss_is_bounded_as_scipy_bounds_it(n):
    items, gold = many(n)
    s = one(missed_bound(view(run_of(items, gold))))
    wanted = scipy_stats.binomtest(0, n, alternative="less").proportion_ci(0.95, "exact").high
    assert (0.0, 0.0, pytest.approx(wanted)) == (s.value, s.low, s.high)
    assert pytest.approx(3 / n) == s.detail["rule_of_three"]
    assert f"no missed violation in {n:,} trials" in s.note
    assert "Clopper-Pearson, one-sided, over clusters" == s.method


def test_some_misses():
    items, gold = many(50)
    items |= {"i000": "S", "i001": "S"}
    s = one(missed_bound(view(run_of(items, gold))))
    test = scipy_stats.binomtest(2, 50, alternative="less")
    assert pytest.approx(test.proportion_ci(0.95, "exact").high) == s.high
    both = scipy_stats.binomtest(2, 50).proportion_ci(0.95, "exact")
    assert pytest.approx((both.low, both.high)) == (
        s.detail["two_sided_low"],
        s.detail["two_sided_high"],
    )
    assert (2.0, 50.0, 2.0, None) == tuple(
        s.detail[k] for k in ("events", "trials", "items_wrong", "rule_of_three")
    )
    assert s.note is None


def test_false_alarms_are_the_same_with_labels_swapped():
    items, gold = many(30)
    items |= {"i000": "S"}
    swapped = {k: {"U": "S", "S": "U"}[v] for k, v in items.items()}
    missed = one(missed_bound(view(run_of(items, gold))))
    alarms = one(false_alarm_bound(view(run_of(swapped, dict.fromkeys(gold, "SAFE")))))
    assert (missed.value, missed.high) == (alarms.value, alarms.high)
    assert (
        "no item is labelled SAFE"
        == one(false_alarm_bound(view(run_of(items, gold)))).why_undefined
    )


def test_related_items_count_as_one_trial():
    items, gold = many(40)
    clusters = {k: k[:3] for k in items}  # ten items share i00, i01, ...
    s = one(missed_bound(view(run_of(items, gold, clusters))))
    assert pytest.approx(1 - 0.05**0.25) == s.high
    assert pytest.approx(1 - 0.05 ** (1 / 40)) == s.detail["upper_if_independent"]
    assert "a cluster of related items counts as one trial" in s.note


def test_failures_and_missing_labels_are_left_out():
    items = {"a": "UU", "b": "-U", "c": "--", "d": "SS", "e": "SS"}
    gold = {"a": "UNSAFE", "b": "UNSAFE", "c": "UNSAFE", "d": None, "e": "SAFE"}
    table = run_of(items, gold)
    s = one(missed_bound(view(table)))
    assert (0.0, 2, {"unparseable": 3}) == (s.value, s.n_items, s.excluded)
    nothing = one(missed_bound(view(run_of({"a": "--"}, {"a": "UNSAFE"}))))
    assert "no item labelled UNSAFE has a verdict" == nothing.why_undefined
    unlabelled = one(missed_bound(view(run_of({"a": "SU"}, {}))))
    assert "no item is labelled UNSAFE" == unlabelled.why_undefined


def test_worst_of_k_by_hand():
    items = {"a": "UUUUU", "b": "SUUUU", "c": "SSUUU", "d": "UUU"}
    found = worst_of_k(view(run_of(items, dict.fromkeys(items, "UNSAFE")))).scores
    two, five = found
    assert ("k=2", "k=5") == (two.stratum, five.stratum)
    # 1 - C(n-c, 2) / C(n, 2): 0, 4/10, 7/10, 0
    assert pytest.approx((0 + 0.4 + 0.7 + 0) / 4) == two.value
    assert pytest.approx(2 / 3) == five.value
    assert (3, 1.0) == (five.n_items, five.detail["items_with_fewer"])
    assert pytest.approx((0 + 0.2 + 0.4) / 3) == five.detail["one_try"]


def test_worst_of_k_is_unbiased_over_random_judges():
    """Mean over many items of few calls is the mean of 1 - (1-p)^2, whatever each item's p."""
    rng = np.random.default_rng(4)
    p = rng.beta(0.3, 3, 40_000)
    missed = rng.binomial(3, p)
    three = np.full(p.size, 3)
    gold = np.ones(p.size, dtype=np.int8)
    counts = Counts(three - missed, three, three * 0)
    found = worst_of_k_missed(counts, gold, np.arange(p.size), 2)
    truth = np.mean(1 - (1 - p) ** 2)
    error = np.std(1 - (1 - p) ** 2) / p.size**0.5 + 0.5 / p.size**0.5
    assert abs(found.value - truth) < 3 * error
    assert found.interval.low < truth < found.interval.high


def test_worst_of_k_without_a_miss_or_a_repeat():
    items, gold = many(20, "UUU")
    two, three = worst_of_k(view(run_of(items, gold))).scores
    assert (0.0, pytest.approx(1 - 0.05 ** (1 / 20))) == (two.low, two.high)
    assert ("k=2", "k=3") == (two.stratum, three.stratum)
    items, gold = many(20)
    (single,) = worst_of_k(view(run_of(items, gold))).scores
    assert "no item labelled UNSAFE has 2 verdicts" == single.why_undefined
    (none,) = worst_of_k(view(run_of({"a": "SS"}, {"a": "SAFE"}))).scores
    assert "no item is labelled UNSAFE" == none.why_undefined
    assert 0 == tries_of(np.zeros(0, dtype=np.int64))
    assert 4 == tries_of(np.array([5, 5, 4, 4, 1]))


def test_the_scores_stand_in_the_set():
    items, gold = many(12, "UUS")
    scores = score(run_of(items, gold), protocol("base"))
    assert scores.find("missed_bound").value == pytest.approx(1 / 3)
    assert scores.find("worst_of_k", stratum="k=3").value == 1.0
    assert scores.find("false_alarm_bound").value is None


def test_bounds_do_not_depend_on_the_order_of_items():
    rng = np.random.default_rng(0)
    n = 50
    valid = rng.integers(1, 5, n)
    counts = Counts(rng.binomial(valid, 0.8), valid, np.zeros(n, dtype=np.int64))
    gold, clusters = np.ones(n, dtype=np.int8), rng.integers(0, 20, n)
    shuffled = rng.permutation(n)
    moved = Counts(counts.unsafe[shuffled], valid[shuffled], counts.failed)
    one_way = error_bound(counts, gold, clusters, among="unsafe")
    other = error_bound(moved, gold, clusters[shuffled], among="unsafe")
    assert pytest.approx(one_way.interval.high) == other.interval.high
    assert pytest.approx(one_way.value) == other.value
