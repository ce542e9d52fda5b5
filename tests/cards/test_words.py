"""A rounded figure never claims more than the figure."""

from __future__ import annotations

import doctest
import importlib

import pytest
from card_runs import s
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.cards import words


@pytest.mark.parametrize(
    "name",
    ["clean", "words", "plots", "render", "cautions", "headline", "lookup", "jsonio", "effects"],
)
def test_examples_in_docstrings(name):
    module = importlib.import_module(f"judgeaudit.cards.{name}")
    assert doctest.testmod(module).failed == 0


@given(st.floats(0, 1))
def test_percent_says_all_or_nothing_only_when_exact(x):
    assert (words.percent(x) == "100%") == (x == 1)
    assert (words.percent(x) == "0%") == (x == 0)
    assert (words.rough(x) == "100%") == (x == 1)
    assert (words.rough(x) == "0%") == (x == 0)


@given(st.floats(0, 1))
def test_a_score_is_not_rounded_into_another_band(x):
    x = float(f"{x:.12g}")
    assert words.band_of(x) == words.band_of(float(words.unit_score(x)))


@pytest.mark.parametrize(
    ("x", "band"),
    [
        (0.85, "reliable"),
        (0.849, "moderate"),
        (0.60, "moderate"),
        (0.599, "fragile"),
        (0.40, "fragile"),
        (0.399, "untrustworthy"),
        (0.70, "moderate"),
        (0.47, "fragile"),
        (0.41, "fragile"),
        (0.28, "untrustworthy"),
        (0.03, "untrustworthy"),
    ],
)
def test_bands_have_the_published_edges(x, band):
    assert band == words.band_of(x)


@pytest.mark.parametrize(
    ("p", "expected"),
    [
        (0.0, "p < 1e-9"),
        (9.9e-10, "p < 1e-9"),
        (2.34e-5, "p = 2e-5"),
        (0.00012, "p = 0.00012"),
        (0.049, "p = 0.049"),
        (0.9999, "p > 0.999"),
        (1.0, "p = 1"),
    ],
)
def test_p_values(p, expected):
    assert expected == words.p_value(p)


@pytest.mark.parametrize(
    ("metric", "unit", "kind"),
    [
        ("delta_paper", "fraction of call pairs", "points"),
        ("undue_clear_delta_debiased", "", "points"),
        ("signed_shift", "fraction", "points"),
        ("rms_shift", "", "distance"),
        ("direction_ratio", "fraction of flips", "score"),
        ("pis", "score 0-1", "score"),
        ("undue_risk_ratio", "ratio", "ratio"),
        ("accuracy", "", "share"),
        ("vacuum_unsafe_rate", "", "share"),
        ("new_metric", "fraction of items", "share"),
        ("new_metric", "seconds", "plain"),
    ],
)
def test_each_metric_has_its_kind_of_number(metric, unit, kind):
    assert kind == words.kind_of(metric, unit)


def test_an_undefined_score_says_why_and_shows_no_interval():
    score = s("pis", None, None, 0.0, 1.0, why_undefined="no verdict moved")
    assert words.estimate(score) == "cannot be estimated because: no verdict moved"
    assert words.interval(score) == "–"
    assert words.spoken_interval(score) == ""
    assert words.ends(score) is None


@pytest.mark.parametrize(
    ("metric", "unit", "low", "high", "shown"),
    [
        ("jitter", "fraction of call pairs", -0.499, 0.61, "[0%, 61.0%]"),
        ("accuracy", "fraction of items", 0.4, 1.2, "[40.0%, 100%]"),
        ("delta_paper", "fraction of call pairs", -1.3, 4.452, "[−100.0, +100.0]"),
        ("delta_debiased", "", -0.2, 0.1, "[−20.0, +10.0]"),
        ("responsiveness_threshold", "difference of UNSAFE rates", -2, 2, "[−100.0, +100.0]"),
        ("rms_shift", "", -0.1, 0.4, "[0.0, 40.0]"),
        ("pis", "score 0-1", -0.4, 1.4, "[0.00, 1.00]"),
        ("pis_raw", "score 0-1", -0.4, 1.4, "[−0.40, 1.40]"),
        ("undue_risk_ratio", "ratio", -0.1, 3.0, "[0.00×, 3.00×]"),
        ("seconds", "seconds", -1.5, 7.0, "[-1.5, 7]"),
    ],
)
def test_a_shown_interval_stays_within_the_range_of_its_quantity(metric, unit, low, high, shown):
    score = s(metric, None, 0.05, low, high, unit=unit)
    assert shown.replace("-1.5", "−1.5") == words.interval(score)
    assert (score.low, score.high) == (low, high)


def test_a_gate_bound_is_worded_within_its_range():
    assert words.bound(s("delta_paper", "T4", 0.1, detail={"gate_upper": 0.0612})) == (
        "at most 6.1 points"
    )
    assert words.bound(s("responsiveness_threshold", None, 0.1, detail={"upper": 4.452})) == (
        "at most 100.0 points"
    )
    assert words.bound(s("delta_paper", "T4", 0.1)) == ""
    assert words.bound(s("delta_paper", "T4", None, detail={"gate_upper": 0.5})) == ""
    assert "gate bound: at most 6.1 points" in words.method(
        s("delta_paper", "T4", 0.1, detail={"gate_upper": 0.0612})
    )


def test_a_score_without_interval_says_why():
    score = s("rms_shift", "T1", 0.1, why_no_interval="a root of a clipped mean")
    assert words.estimate(score) == "10.0 points"
    assert words.interval(score) == "none: a root of a clipped mean"


def test_the_basis_names_all_that_the_number_rests_on():
    score = s(
        "undue_share",
        None,
        0.3,
        numerator=12.6,
        denominator=42,
        n_items=1200,
        n_clusters=1,
        excluded={"refusal": 3, "error": 2, "truncated": 0},
    )
    expected = "1,200 items, 1 cluster, 12.6 of 42, left out: 2 error, 3 refusal"
    assert expected == words.basis(score)


def test_the_method_names_test_null_and_treatment():
    score = s(
        "delta_debiased",
        "T4",
        0.1,
        0.05,
        0.15,
        p_value=1e-12,
        p_adjusted=4e-12,
        p_method="exact, Holm",
        null="no item changes",
        treatment="as_flip_asym",
    )
    expected = (
        "adjusted t over clusters; 95%; p < 1e-9 (p < 1e-9 adjusted), exact, Holm, "
        "null: no item changes; failures: as_flip_asym"
    )
    assert expected == words.method(score)


@pytest.mark.parametrize(
    ("x", "expected"),
    [(None, "unknown"), (0.0, "US$0.00"), (0.004, "under US$0.01"), (3, "US$3.00")],
)
def test_an_unknown_cost_is_not_zero(x, expected):
    assert expected == words.money(x)


def test_a_score_cut_at_zero_tells_what_was_cut():
    cut = s("pis", None, 0.0, 0.0, 0.0, unit="score 0-1")
    raw = s("pis_raw", None, -1.2703, -1.674, -0.52, unit="score 0-1")
    assert words.uncut(cut, raw) == "cut at 0; uncut −1.27 [−1.67, −0.52]"
    bare = s("pis_raw", None, -1.2703, unit="score 0-1")
    assert words.uncut(cut, bare) == "cut at 0; uncut −1.27"
    # a score of exactly 0, or above it, lost nothing
    for value, uncut in ((0.0, 0.0), (0.2, 0.2), (0.0, None)):
        given_ = s("pis_raw", None, uncut, -0.3, 0.4, unit="score 0-1")
        assert words.uncut(s("pis", None, value, 0.0, 0.4), given_) == ""
    assert words.uncut(None, raw) == words.uncut(cut, None) == ""
