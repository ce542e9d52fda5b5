"""GEE logistic regression on pairs."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from judgeaudit.core.table import Counts
from judgeaudit.stats import gee
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.gee import GeeResult, gee_pairs


def judged(rng, n, flip):
    p = rng.beta(0.5, 0.5, n)
    q = np.where(rng.random(n) < flip, 1 - p, p)
    none = np.zeros(n, dtype=np.int64)
    return (
        Counts(rng.binomial(4, p), np.full(n, 4), none),
        Counts(rng.binomial(2, q), np.full(n, 2), none),
    )


def test_independent_clusters_of_one_size_give_the_raw_odds_ratio():
    """With one item a cluster and exchangeable weights the means are those of the pairs."""
    pytest.importorskip("statsmodels")
    base, other = judged(np.random.default_rng(0), 150, 0.4)
    found = gee_pairs(base, other, np.arange(150))
    assert isinstance(found, GeeResult)
    cross = np.mean((base.unsafe * (2 - other.unsafe) + other.unsafe * (4 - base.unsafe)) / 8)
    inside = np.mean(base.unsafe * (4 - base.unsafe) / 6)
    expected = np.log(cross / (1 - cross)) - np.log(inside / (1 - inside))
    assert pytest.approx(expected, abs=0.15) == found.log_odds_ratio
    assert found.low < found.log_odds_ratio < found.high
    assert found.p_value < 0.01
    assert 150 * (8 + 6) == found.n_pairs


def test_no_effect_is_not_significant():
    pytest.importorskip("statsmodels")
    base, other = judged(np.random.default_rng(1), 60, 0.0)
    found = gee_pairs(base, other, np.repeat(np.arange(20), 3))
    assert isinstance(found, GeeResult)
    assert found.p_value > 0.05


def test_a_kind_of_pair_that_never_disagrees():
    none, full = np.zeros(20, dtype=np.int64), np.full(20, 4)
    still = Counts(full, full, none)
    found = gee_pairs(still, Counts(none, full, none), np.arange(20))
    assert Undefined("a cross pair always disagrees") == found
    found = gee_pairs(still, still, np.arange(20))
    assert Undefined("a cross pair never disagrees") == found
    mixed = Counts(np.tile([0, 4], 10), full, none)
    assert Undefined("a base pair never disagrees") == gee_pairs(still, mixed, np.arange(20))


def test_few_clusters_are_refused():
    """The robust error is far too small there: two items alone would give p = .02."""
    base, other = judged(np.random.default_rng(2), 60, 0.5)
    found = gee_pairs(base, other, np.arange(60) % 9)
    assert Undefined("fewer than 10 contributing clusters") == found


def test_the_size_of_the_test_is_near_its_level():
    pytest.importorskip("statsmodels")
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(60):
        found = gee_pairs(*judged(rng, 50, 0.0), np.arange(50))
        assert isinstance(found, GeeResult)
        hits += found.p_value <= 0.05
    assert hits / 60 <= 0.05 + 4 * (0.05 * 0.95 / 60) ** 0.5


def test_without_statsmodels_it_says_how_to_get_it(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        gee.importlib.util, "find_spec", lambda n: None if n == "statsmodels" else find(n)
    )
    base, other = judged(np.random.default_rng(3), 20, 0.5)
    found = gee_pairs(base, other, np.arange(20))
    assert isinstance(found, Undefined)
    assert "judgeaudit[gee]" in found.reason
