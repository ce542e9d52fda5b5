"""What the standard error of the pooled excess is made of: against calls drawn again."""

from __future__ import annotations

import numpy as np
import pytest

from judgeaudit.core.table import Counts
from judgeaudit.stats import pairs
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.precision import precision_of


def drawn(rng, p, k) -> Counts:
    n = len(p)
    return Counts(rng.binomial(k, p), np.full(n, k), np.zeros(n, np.int64))


def pooled(base, others) -> float:
    return float(np.mean([pairs.delta_paper(base, o).values for o in others]))


def world(rng, n, m=3, moved=0.1):
    p = rng.beta(0.5, 0.5, n)
    return p, [np.where(rng.random(n) < moved, 1 - p, p) for _ in range(m)]


@pytest.mark.parametrize(("base_calls", "slack"), [(3, 0.15), (4, 0.05), (5, 0.05)])
def test_noise_of_calls_is_what_drawing_them_again_gives(base_calls, slack):
    """Base and condition calls apart, unbiased from four base calls on; near it for three."""
    rng = np.random.default_rng(3)
    n, runs = 200, 400
    p, q = world(rng, n)
    found = [
        precision_of(drawn(rng, p, base_calls), [drawn(rng, x, 2) for x in q], np.arange(n)).parts
        for _ in range(runs)
    ]
    said = {k: n * np.mean([f[k] for f in found]) for k in ("base calls", "condition calls")}
    exact = [drawn(rng, x, 1_000_000) for x in q]
    base = n * np.var([pooled(drawn(rng, p, base_calls), exact) for _ in range(2000)], ddof=1)
    both = n * np.var(
        [pooled(drawn(rng, p, base_calls), [drawn(rng, x, 2) for x in q]) for _ in range(2000)],
        ddof=1,
    )
    assert said["base calls"] == pytest.approx(base, rel=0.05 + slack)
    assert said["condition calls"] + said["base calls"] == pytest.approx(both, rel=0.05 + slack)


def test_between_items_is_the_spread_of_what_is_true():
    rng = np.random.default_rng(4)
    n, runs = 400, 300
    p, q = world(rng, n)
    truth = np.var(np.mean([(x - p) * (1 - 2 * p) for x in q], axis=0), ddof=1)
    found = [
        precision_of(drawn(rng, p, 5), [drawn(rng, x, 2) for x in q], np.arange(n)).parts["items"]
        for _ in range(runs)
    ]
    error = np.std(found, ddof=1) / runs**0.5
    assert abs(np.mean(found) - truth / n) < 4 * error


def test_gains_are_what_more_calls_give():
    """The promised standard error is the one of a run with one call in ten more."""
    rng = np.random.default_rng(6)
    p, q = world(rng, 4000)
    index = np.arange(4000)

    def runs(k):
        return [
            precision_of(drawn(rng, p, k), [drawn(rng, x, 10) for x in q], index) for _ in range(60)
        ]

    before, after = runs(10), runs(14)
    now = before[0]
    assert 40.0 == now.calls
    ratio = np.mean([f.variance for f in after]) / np.mean([f.variance for f in before])
    promised = np.mean([f.gains["base calls"] for f in before])
    assert promised > 0.03
    assert 1 - ratio**0.5 == pytest.approx(promised, abs=0.005)
    assert now.gains["items"] == pytest.approx(1 - 1.1**-0.5)
    assert now.best in now.gains


def test_parts_add_up_and_clusters_stand_apart():
    rng = np.random.default_rng(7)
    p, q = world(rng, 60)
    base, others = drawn(rng, p, 5), [drawn(rng, x, 2) for x in q]
    alone = precision_of(base, others, np.arange(60))
    assert "clusters" not in alone.parts
    assert sum(alone.parts.values()) == pytest.approx(alone.variance)
    twins = np.repeat(np.arange(60), 2)

    def twice(c):
        return Counts(np.repeat(c.unsafe, 2), np.repeat(c.valid, 2), np.repeat(c.failed, 2))

    both = precision_of(twice(base), [twice(o) for o in others], twins)
    assert sum(both.parts.values()) == pytest.approx(both.variance)
    # an item and its copy are one item: twice as many tell no more
    assert both.variance == pytest.approx(alone.variance)
    assert both.parts["clusters"] == pytest.approx(both.variance / 2, rel=0.02)


def test_what_cannot_be_told():
    rng = np.random.default_rng(8)
    p, q = world(rng, 10)
    few = Undefined("fewer than two items with three base calls and two a condition")
    assert Undefined("no certified condition is pooled") == precision_of(
        drawn(rng, p, 5), [], np.arange(10)
    )
    assert few == precision_of(drawn(rng, p, 2), [drawn(rng, q[0], 2)], np.arange(10))
    assert few == precision_of(drawn(rng, p, 5), [drawn(rng, q[0], 1)], np.arange(10))
    assert Undefined("fewer than two clusters") == precision_of(
        drawn(rng, p, 5), [drawn(rng, q[0], 2)], np.zeros(10, np.int64)
    )
    nothing = np.zeros(10)
    assert Undefined("no item's excess differs from another's") == precision_of(
        drawn(rng, nothing, 5), [drawn(rng, nothing, 2)], np.arange(10)
    )
