"""Policy Invariance Score: published values, its three terms, and when it is withheld."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from score_tables import view, written

from judgeaudit.metrics._estimate import Estimate
from judgeaudit.metrics.pis import band, pis, pis_interval, pis_raw
from judgeaudit.stats._types import Interval, Undefined

SHARE = st.floats(0, 1)

PUBLISHED = [
    ("GPT-5.4-mini", 0.011, 1.00, 0.185, 0.70, "moderate"),
    ("Claude-Haiku-4.5", 0.036, 1.00, 0.305, 0.47, "fragile"),
    ("DeepSeek-V3.2", 0.035, 1.00, 0.433, 0.28, "untrustworthy"),
    ("Gemini-3-Flash, failures excluded", 0.076, 1.00, 0.292, 0.41, "fragile"),
    ("Gemini-3-Flash, failures = flips", 0.266, 1.00, 0.292, 0.03, "untrustworthy"),
]


@pytest.mark.parametrize("published", PUBLISHED, ids=lambda row: row[0])
def test_published_values(published):
    name, delta, direction, undue, score, word = published
    found = max(0.0, pis_raw(delta, direction, undue))
    assert pytest.approx(score, abs=0.01) == found, name
    assert word == band(found)


def test_edges_of_the_bands():
    edges = {0.85: "reliable", 0.8499: "moderate", 0.6: "moderate", 0.5999: "fragile"}
    edges |= {0.4: "fragile", 0.3999: "untrustworthy", 0.0: "untrustworthy", 1.0: "reliable"}
    assert edges == {score: band(score) for score in edges}


@given(SHARE, SHARE, SHARE, st.floats(0.001, 0.5))
def test_it_falls_in_each_of_its_terms(delta, direction, undue, step):
    at = pis_raw(delta, direction, undue)
    assert pis_raw(delta + step, direction, undue) < at
    assert pis_raw(delta, direction - step, undue) < at
    assert pis_raw(delta, direction, undue + step) < at


def part(value, low, high):
    return Estimate(value, Interval(low, high, 0.95, "test"))


def test_interval_against_the_formula():
    """MOVER as in estimators.md, written out."""
    delta, direction, undue = part(0.05, 0.01, 0.12), part(0.9, 0.7, 0.97), part(0.3, 0.1, 0.6)
    raw = pis_raw(0.05, 0.9, 0.3)
    down = (0.4**2 * 0.07**2 + 0.3**2 * 0.2**2 + 0.3**2 * 0.3**2) ** 0.5
    up = (0.4**2 * 0.04**2 + 0.3**2 * 0.07**2 + 0.3**2 * 0.2**2) ** 0.5
    expected = (raw - 5 * down, raw + 5 * up)
    assert pytest.approx(expected) == pis_interval(delta, direction, undue)


def test_an_undefined_part_contributes_its_whole_range():
    delta, undue = part(0.0, -0.03, 0.03), part(0.1, 0.05, 0.2)
    nothing = Estimate(Undefined("no verdict moved"), Interval(0, 1, 0.95, "test"))
    low, high = pis_interval(delta, nothing, undue)
    inner = pis_interval(delta, part(1.0, 1.0, 1.0), undue)
    assert pytest.approx(inner[1]) == high
    assert pytest.approx(inner[0] - 5 * 0.3) == low


RESPONDS = {"strict": "UU", "lenient": "SS"}


def run(items, **changes):
    report = pis(view(written(items, **changes)))
    return {(s.metric, s.treatment): s for s in report.scores}, report


def test_one_undue_flip_in_the_whole_audit_gives_zero():
    """The score jumps at zero flips; the card prints what it rests on."""
    items = {f"i{k:02d}": {"base": "SSS", "T1": "SS", **RESPONDS} for k in range(80)}
    items["i00"] = {"base": "SSS", "T1": "SU", **RESPONDS}
    scores, report = run(items, ambiguous=dict.fromkeys(items, False))
    # one flip of 80 items: delta .00625, U = 1
    raw = 1 - 5 * (0.4 * 0.5 / 80 + 0.3)
    assert pytest.approx(raw) == scores["pis_raw", "exclude"].value
    assert 0.0 == scores["pis", "exclude"].value
    assert "untrustworthy" == report.flags["band"]
    assert 0.0 <= scores["pis", "exclude"].low <= scores["pis", "exclude"].high <= 1.0


def test_it_spans_both_readings_of_failures():
    items = {f"i{k:02d}": {"base": "SSS", "T1": "S-", **RESPONDS} for k in range(60)}
    items |= {f"j{k:02d}": {"base": "SSS", "T1": "SU", **RESPONDS} for k in range(6)}
    flags = {k: k.startswith("j") for k in items}
    scores, _ = run(items, ambiguous=flags)
    low, high = scores["pis", "as_flip_asym"].value, scores["pis", "exclude"].value
    assert low < high
    for s in scores.values():
        if s.metric == "pis":
            assert (low, high) == (s.detail["span_low"], s.detail["span_high"])
    assert {"unparseable": 60} == scores["pis", "exclude"].excluded


def test_a_judge_that_never_moves_gets_no_score():
    items = {
        f"i{k:02d}": {"base": "SSS", "T1": "SU", "strict": "SS", "lenient": "SS"} for k in range(80)
    }
    scores, report = run(items, ambiguous=dict.fromkeys(items, False))
    s = scores["pis", "exclude"]
    assert s.value is None
    assert s.why_undefined.startswith("not responsive: ")
    assert (0.0, 1.0) == (s.low, s.high)
    assert "undefined" == report.flags["band"]


def test_not_shown_does_not_pass():
    """Six items, and the threshold was never moved: nothing is shown, so no score."""
    items = {f"i{k}": {"base": "SSS", "T1": "SU"} for k in range(6)}
    scores, _ = run(items, ambiguous=dict.fromkeys(items, False))
    assert scores["pis", "exclude"].why_undefined.startswith("responsiveness not shown: ")


def test_the_missing_part_is_named():
    items = {f"i{k:02d}": {"base": "SSS", "T1": "SU", **RESPONDS} for k in range(20)}
    scores, _ = run(items)
    why = scores["pis", "exclude"].why_undefined
    assert why.startswith("the undue share is undefined: ambiguity is not known")
    low, high = scores["pis", "exclude"].low, scores["pis", "exclude"].high
    assert 0.0 <= low < high <= 1.0
