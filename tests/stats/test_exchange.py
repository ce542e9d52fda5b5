"""Exact tests of a change, and evidence over endless nights: against slow counts and simulation."""

from __future__ import annotations

import itertools
from math import comb

import numpy as np
import pytest
from nightly_world import DRIFTS, SIZES, gate_rates, history_rates
from scipy import stats

from judgeaudit.stats import exchange
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.exchange import Blocks, changed
from judgeaudit.stats.lattice import Kind, upper_tail
from judgeaudit.stats.nightly import Pool, evidence, level_of_night, night_value


def blocks(*rows):
    return Blocks(*np.array(rows, dtype=np.int64).T)


def slow(b, question):
    """Go through all ways to deal each item's marks out again."""
    per_item = []
    observed = 0
    for x, n, y, m in zip(b.before, b.n_before, b.after, b.n_after, strict=True):
        both = int(x + y)
        ways = []
        for t in range(max(0, both - n), min(m, both) + 1):
            score = t if question == "more" else round(8 * (t / m - (both - t) / n) ** 2)
            ways.append((score, comb(int(m), t) * comb(int(n), both - t) / comb(int(n + m), both)))
            if t == y:
                observed += score
        per_item.append(ways)
    return sum(
        np.prod([w for _, w in path])
        for path in itertools.product(*per_item)
        if sum(s for s, _ in path) >= observed
    )


@pytest.mark.parametrize("question", ["moved", "more"])
def test_against_counting_all_ways(question):
    rng = np.random.default_rng(4)
    for _ in range(20):
        n, m = rng.integers(1, 5, 5), rng.integers(2, 5, 5)
        b = Blocks(rng.binomial(n, 0.4), n, rng.binomial(m, 0.6), m)
        assert pytest.approx(slow(b, question), rel=1e-9) == changed(b, question)


def test_one_call_each_is_mcnemars_one_sided_test():
    rows = [(0, 1, 1, 1)] * 7 + [(1, 1, 0, 1)] * 2 + [(1, 1, 1, 1)] * 20
    assert pytest.approx(stats.binomtest(7, 9, alternative="greater").pvalue) == changed(
        blocks(*rows), "more"
    )


def test_what_cannot_be_told_is_undefined():
    assert isinstance(changed(blocks((0, 1, 1, 1)), "moved"), Undefined)
    assert isinstance(changed(blocks((0, 0, 1, 1)), "more"), Undefined)
    assert 1.0 == changed(blocks((0, 3, 0, 3), (3, 3, 3, 3)), "moved")


def test_both_ways_to_a_tail_agree():
    rng = np.random.default_rng(1)
    kinds = [
        Kind(np.array([0, 2, 5]), rng.dirichlet(np.ones(3)), int(c)) for c in rng.integers(1, 9, 12)
    ]
    top = sum(k.range * k.count for k in kinds)
    for at in (1, top // 3, top // 2, 3 * top // 4, top):
        assert pytest.approx(upper_tail(kinds, at), rel=1e-6) == exchange._tail(kinds, at)


def test_an_e_value_has_mean_one_and_never_more():
    grid = (np.arange(200_000) + 0.5) / 200_000
    assert pytest.approx(1, abs=0.15) == float(np.mean([night_value(p) for p in grid[::20]]))
    # p-values that are larger than uniform ones give less
    assert float(np.mean([night_value(min(1.0, 2 * p)) for p in grid[::20]])) < 0.9
    falling = [night_value(p) for p in (1e-12, 1e-6, 1e-3, 0.05, 0.5, 1.0)]
    assert falling == sorted(falling, reverse=True)


def test_capital_that_is_not_bet_is_kept():
    found = evidence([None] * 50, alpha=0.05)
    assert pytest.approx(np.ones(50)) == found.values
    assert found.alarm is None


def test_uniform_p_values_seldom_alarm_in_a_thousand_nights():
    rng = np.random.default_rng(3)
    alarms = sum(
        evidence(rng.random(1000).tolist(), alpha=0.05).alarm is not None for _ in range(400)
    )
    assert alarms <= stats.binom(400, 0.05).ppf(0.999)
    assert alarms > 0


def test_nights_share_calls_and_their_p_values_are_independent():
    """Each night is held against all before it; if they leaned on each other, this would not hold."""
    rng = np.random.default_rng(8)
    pairs = []
    for _ in range(600):
        p = rng.beta(0.5, 0.5, 12)
        pool = Pool(12, "more")
        found = [pool.add(rng.binomial(2, p), np.full(12, 2)) for _ in range(3)]
        pairs.append(found[1:])
    both = np.array(pairs)
    assert abs(stats.spearmanr(both[:, 0], both[:, 1]).statistic) < 3.3 / 600**0.5
    for column in both.T:
        assert np.mean(column <= 0.05) <= stats.binom(600, 0.05).ppf(0.999) / 600


def test_levels_of_all_nights_together():
    missing = sum(1 - level_of_night(k, alpha=0.05) for k in range(1, 20_000))
    assert 0.0499 < missing <= 0.05


@pytest.mark.parametrize("drift", DRIFTS)
def test_gate_in_short(drift):
    ours, mcnemar = gate_rates(200, drift, 60)
    if drift == "none":
        assert ours * 60 <= stats.binom(60, 0.05).ppf(0.999)
    else:
        assert ours >= mcnemar - 0.05
        assert ours > 0.8


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("drift", DRIFTS)
def test_gate_over_400_nights(n, drift):
    """Table of docs/nightly.md: false alarms, and detection beside exact McNemar."""
    ours, mcnemar = gate_rates(n, drift, 400)
    if drift == "none":
        assert ours * 400 <= stats.binom(400, 0.05).ppf(0.999)
    else:
        assert ours >= mcnemar - 0.05


def test_monitoring_in_short():
    share, _ = history_rates(30, "none", 10, nights=30)
    assert share <= 0.2
    share, night = history_rates(60, "6 points", 6, nights=40)
    assert share >= 0.5
    assert night >= 29


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("n", SIZES)
def test_no_alarm_over_90_nights_without_a_change(n):
    """Table of docs/nightly.md: 400 histories of each number of anchors."""
    share, _ = history_rates(n, "none", 400)
    assert share * 400 <= stats.binom(400, 0.05).ppf(0.999)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize(
    ("drift", "least"), [("3 points", 0.6), ("6 points", 0.85), ("swaps", 0.85), ("slow", 0.9)]
)
def test_changes_are_found_within_90_nights(n, drift, least):
    """Table of docs/nightly.md, with fewer histories; a jump is found on its night or soon after."""
    share, night = history_rates(n, drift, 60)
    assert share >= least
    assert night >= 30 or drift == "slow"
    assert night <= 60
