"""The responsiveness gate: three states, each with its evidence."""

from __future__ import annotations

import numpy as np
import pytest
from score_tables import drawn, view, written

from judgeaudit.core.table import Counts
from judgeaudit.metrics.responsiveness import (
    contrast,
    responsiveness,
    responsiveness_of,
    verdict_on,
)
from judgeaudit.metrics.unsafe_rate import vacuum
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.exact import ExactTest


def table(n, **conditions):
    return written({f"i{k:03d}": conditions for k in range(n)})


def test_a_judge_that_follows_the_threshold():
    found = responsiveness_of(view(table(40, base="SSS", strict="UU", lenient="SS")))
    assert "responsive" == found.state
    moved = found.contrasts["responsiveness_threshold"]
    assert ("moves", 1.0) == (moved.state, moved.estimate.value)
    assert found.reason.startswith("The verdict moves from strict to lenient (UNSAFE rate falls by")


def test_a_judge_that_goes_the_wrong_way_responds():
    """It reads the policy; the direction ratio, and so the score, punish it."""
    found = responsiveness_of(view(table(40, base="SSS", strict="SS", lenient="UU")))
    assert "responsive" == found.state
    assert "UNSAFE rate rises by 1.000" in found.reason


def test_a_constant_judge():
    silent = dict.fromkeys(("base", "strict", "lenient", "no_policy", "inverted"), "SS")
    found = responsiveness_of(view(table(60, **silent)))
    assert "not responsive" == found.state
    assert {"does not move"} == {c.state for c in found.contrasts.values()}
    assert found.reason.startswith("The verdict does not move from strict to lenient")


def test_too_few_items_show_nothing():
    """With 40 items that never move up to 7 in 100 could: not shown, not `not responsive`."""
    silent = dict.fromkeys(("base", "strict", "lenient"), "SS")
    found = responsiveness_of(view(table(40, **silent)))
    assert "not shown" == found.state
    assert "The verdict is not shown to move" in found.reason


def test_one_contrast_that_moves_is_enough_and_the_others_are_named():
    """Threshold-blind, yet it follows the norms."""
    found = responsiveness_of(
        view(table(60, base="SSS", strict="SS", lenient="SS", no_policy="SS", inverted="UU"))
    )
    assert "responsive" == found.state
    states = {name: c.state for name, c in found.contrasts.items()}
    assert "moves" == states.pop("responsiveness_inverted")
    assert {"does not move"} == set(states.values())
    assert "it does not move from strict to lenient" in found.reason


def test_nothing_called_is_not_shown():
    report = responsiveness(view(table(5, base="SSS", T1="SS")))
    assert "not shown" == report.flags["responsiveness"]
    assert all(s.value is None for s in report.scores)
    assert "not called: strict and lenient" == report.scores[0].why_undefined


def test_a_shift_below_the_practical_threshold_is_none():
    """2,000 items, 1 in 100 moved: significant, and still practically no movement."""
    items = {
        f"i{k:04d}": {"strict": "UU" if k < 20 else "SS", "lenient": "SS"} for k in range(2000)
    }
    found = responsiveness_of(view(written(items)))
    c = found.contrasts["responsiveness_threshold"]
    assert c.p_adjusted < 1e-4
    assert ("does not move", "not responsive") == (c.state, found.state)


def test_a_small_shift_of_every_item_counts():
    """On the squared scale .16 is .026; the signed shift keeps it from being ruled out."""
    rng = np.random.default_rng(0)
    n = 2000
    chances = {"base": np.full(n, 0.5), "no_policy": np.full(n, 0.34)}
    found = responsiveness_of(view(drawn(chances, {"base": 5, "no_policy": 2}, rng)))
    c = found.contrasts["responsiveness_no_policy"]
    assert c.estimate.interval.high < 0.05
    assert c.upper > 0.15
    assert ("moves", "responsive") == (c.state, found.state)


def counts(unsafe, valid, n=50):
    return Counts(np.full(n, unsafe), np.full(n, valid), np.zeros(n, dtype=np.int64))


@pytest.mark.parametrize(
    ("first", "second", "statistic"),
    [
        (counts(0, 3), counts(2, 2), "delta_debiased"),
        (counts(0, 3), counts(1, 1), "delta_paper"),
        (counts(0, 1), counts(1, 1), "shift"),
    ],
)
def test_the_best_statistic_that_the_calls_allow(first, second, statistic):
    found = contrast(first, second, np.arange(50), signed=False)
    assert statistic == found.statistic
    assert isinstance(found.test, ExactTest)
    assert found.test.p_value < 1e-6
    assert "moves" == verdict_on({"x": found}, threshold=0.05)["x"].state


def test_noise_is_called_responsive_at_most_as_often_as_the_level_says():
    rng = np.random.default_rng(1)
    repeats = {"base": 5, "strict": 2, "lenient": 2, "no_policy": 2, "inverted": 2}
    hits = 0
    for _ in range(150):
        p = rng.beta(0.5, 0.5, 40)
        run = view(drawn(dict.fromkeys(repeats, p), repeats, rng))
        hits += responsiveness_of(run).state == "responsive"
    assert hits / 150 <= 0.05 + 4 * (0.05 * 0.95 / 150) ** 0.5


def test_vacuum_is_a_false_alarm_rate():
    items = {f"i{k}": {"vacuum": "SSU" if k < 5 else "SS-"} for k in range(20)}
    score = vacuum(view(written(items))).scores[0]
    assert pytest.approx(5 / 60) == score.value
    assert {"unparseable": 15} == score.excluded
    absent = vacuum(view(table(3, base="S"))).scores[0]
    assert "condition vacuum was not called" == absent.why_undefined


def test_without_a_verdict_under_both():
    found = contrast(counts(0, 0, 3), counts(1, 1, 3), np.arange(3), signed=True)
    assert isinstance(found.estimate.value, Undefined)
    assert found.upper is None
    assert "not shown" == verdict_on({"x": found}, threshold=0.05)["x"].state


def test_with_very_few_clusters_the_bound_is_said_within_its_range_and_kept_raw():
    found = responsiveness_of(view(table(2, base="SSS", strict="US", lenient="SS")))
    c = found.contrasts["responsiveness_threshold"]
    assert c.upper is not None
    assert c.upper > 1
    assert "at most 1.000" in found.reason
    (score, *_) = responsiveness(view(table(2, base="SSS", strict="US", lenient="SS"))).scores
    assert c.upper == score.detail["upper"]
