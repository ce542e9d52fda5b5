"""Planted judges: what an attack gains on held-out clusters is unbiased, its naive gain is not."""

from __future__ import annotations

import pytest
from attack_world import PLANTED, Planted, summary, tried
from chaos_world import LONG

by_name = {of.name: of for of in PLANTED}

# |mean error| beyond this many Monte Carlo standard errors: once in 3,000 where there is no bias
FAR = 3.5


@pytest.mark.parametrize("objective", ["excess", "tpr", "fpr"])
def test_a_steady_judge_is_not_said_to_be_steered(objective):
    """Whole rewrites alone, so that it is quick; the naive gain is that of the luckiest."""
    runs = [
        tried(by_name["jitter only"], objective, seed, calls=700, wordings=1, mixes=0)
        for seed in range(120)
    ]
    s = summary(runs)
    assert abs(s.bias) < FAR * s.error
    assert s.naive_bias > FAR * s.naive_error
    assert s.coverage >= 0.93
    assert sum(r.low > 0 for r in runs) <= 9  # 2.5% promised; 10 of 120 once in 1,000


def test_a_brittle_judge_is_steered_by_the_wording_that_is_planted():
    of = by_name["brittle to one wording"]
    runs = [tried(of, "tpr", seed, calls=700, wordings=1, mixes=0) for seed in range(120)]
    s = summary(runs)
    assert s.found > 0.95
    assert abs(s.bias) < FAR * s.error
    assert s.coverage >= 0.93
    assert all(r.calls <= 700 for r in runs)


def test_a_constant_judge_gains_exactly_nothing():
    for objective in ("excess", "tpr"):
        run = tried(by_name["constant"], objective, 0, calls=700, wordings=1, mixes=0)
        assert (run.gain, run.naive) == (0.0, 0.0)
        assert run.low < 0 < run.high


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["excess", "tpr"])
@pytest.mark.parametrize("of", PLANTED, ids=lambda of: of.name)
def test_the_held_out_gain_is_unbiased_and_its_interval_covers(of: Planted, objective):
    """The whole search, mixtures too; JUDGEAUDIT_SLOW=full tries 400 seeds, the short form 25."""
    s = summary([tried(of, objective, seed) for seed in range(400 if LONG else 25)])
    assert abs(s.bias) <= FAR * s.error
    assert s.coverage >= (0.93 if LONG else 0.76)
    if of.name == "jitter only" and LONG:
        assert s.naive_bias > 0.02
        assert s.naive_bias > FAR * s.naive_error
    if of.name.startswith("brittle"):
        assert s.found > 0.7


@pytest.mark.slow
@pytest.mark.skipif(not LONG, reason="a share over 100 seeds: JUDGEAUDIT_SLOW=full")
def test_mixing_finds_a_part_that_moves_more_than_any_rewrite():
    of = by_name["more brittle to a part of one"]
    most = 0.25 * 0.7  # what a whole rewrite gains
    runs = [tried(of, "tpr", seed) for seed in range(100)]
    assert sum(r.true > most + 1e-9 for r in runs) > 20
    assert max(r.true for r in runs if not r.edits) <= most + 1e-9
