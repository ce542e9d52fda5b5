"""Undue flips, what composition alone would give, and the risk ratio."""

from __future__ import annotations

import numpy as np
import pytest
from score_tables import drawn, view, written

from judgeaudit.metrics import undue
from judgeaudit.metrics._estimate import Estimate
from judgeaudit.stats._types import Interval, Undefined

CLEAR = {"base": "SSSS", "T1": "SU", "T2": "SS", "T3": "UU"}
VAGUE = {"base": "SSSS", "T1": "UU", "T2": "SU", "T3": "SS"}


def scores(items, ambiguous, **names):
    run = view(written(items, ambiguous=ambiguous), **names)
    reports = (undue.share(run), undue.null(run), undue.clear_items(run), undue.ratio(run))
    return {s.metric: s for report in reports for s in report.scores}


def test_by_hand():
    """Flips: clear .5 under T1 and 1 under T3; ambiguous 1 under T1 and .5 under T2."""
    items = {"a": CLEAR, "b": VAGUE, "c": CLEAR}
    found = scores(items, {"a": False, "b": True, "c": False})
    share = found["undue_share"]
    assert pytest.approx(1.0) == share.numerator
    assert pytest.approx(4.5) == share.denominator
    assert pytest.approx(1.0 / 4.5) == share.value
    # six of nine cells are clear, four of them certified
    assert pytest.approx(4 / 9) == found["undue_null"].value
    assert found["undue_null"].low is None
    assert pytest.approx(0.25) == found["undue_clear"].value
    assert pytest.approx(0.75) == found["undue_ambiguous"].value
    assert pytest.approx(1 / 3) == found["undue_risk_ratio"].value
    assert pytest.approx(0.5) == share.detail["undue_per_clear_item"]
    assert "only 4.5 flips" in share.note


def test_items_of_unknown_ambiguity_count_in_neither_number():
    items = {"a": CLEAR, "b": VAGUE, "c": CLEAR}
    found = scores(items, {"a": False, "b": True})
    assert pytest.approx(0.5 / 3.0) == found["undue_share"].value
    assert 2 == found["undue_share"].n_items


def test_unknown_ambiguity_is_a_reason():
    found = scores({"a": CLEAR, "b": VAGUE}, {})
    for score in found.values():
        assert score.value is None
        assert "ambiguity is not known" in score.why_undefined


def test_nothing_flipped():
    """U_share is undefined, U_clear is 0 with an exact bound."""
    items = {f"i{k}": {"base": "SS", "T1": "SS", "T3": "SS"} for k in range(30)}
    found = scores(items, dict.fromkeys(items, False))
    assert "nothing flipped" == found["undue_share"].why_undefined
    assert (0.0, 1.0) == (found["undue_share"].low, found["undue_share"].high)
    clear = found["undue_clear"]
    assert (0.0, 0.0) == (clear.value, clear.low)
    assert pytest.approx(1 - 0.05 ** (1 / 30)) == clear.high
    assert found["undue_ambiguous"].why_undefined.startswith("no ambiguous item")
    assert found["undue_risk_ratio"].value is None


def test_a_quiet_judge_has_the_share_that_composition_gives():
    """Flips of pure jitter fall anywhere: U_share is near U_0 without any effect."""
    rng = np.random.default_rng(0)
    names = {"base": 4, "T1": 3, "T2": 3, "T4": 3, "T3": 3}
    p = np.full(2000, 0.05)
    table = drawn(dict.fromkeys(names, p), names, rng, ambiguous=(np.arange(2000) % 10 < 3))
    run = view(table)
    share, null = undue.share(run).scores[0], undue.null(run).scores[0]
    assert pytest.approx(0.525) == null.value
    assert share.low < null.value < share.high


def test_risk_ratio_without_an_upper_end():
    clear = Estimate(0.1, Interval(0.05, 0.2, 0.95, "w"), n_items=9)
    vague = Estimate(0.1, Interval(0.0, 0.3, 0.95, "w"), n_items=9)
    found = undue.risk_ratio(clear, vague)
    assert 1.0 == found.value
    assert isinstance(found.interval, Undefined)
    nothing = Estimate(0.0, Interval(0.0, 0.3, 0.95, "w"), n_items=9)
    assert "no ambiguous item flipped" == undue.risk_ratio(clear, nothing).value.reason


def test_without_a_certified_condition():
    found = scores({"a": {"base": "SS", "T3": "SU"}}, {"a": False})
    assert "no certified condition was called" == found["undue_share"].why_undefined
