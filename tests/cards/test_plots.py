"""Plots are well-formed, described in words, and draw nothing that is not known."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest
from card_runs import CASES, QUIET, numbers, run, s

from judgeaudit.cards.drawings import of_family, outcome_plots, pis_gauge
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.plots import Mark, Row, Stack, gauge, intervals, stacked, ticks
from judgeaudit.cards.words import percent_tick, points_tick

NS = "{http://www.w3.org/2000/svg}"


def figures(r) -> Figures:
    card = r.card()
    return Figures(card.facts, card.scores)


def drawn(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def texts(root: ET.Element) -> list[str]:
    return ["".join(t.itertext()) for t in root.iter(f"{NS}text")]


def test_each_plot_is_well_formed_and_described(any_run):
    f = figures(any_run)
    plots = [p for fam in ("semantic", "threshold", "ambiguity") for p in of_family(f, fam)]
    for plot in [*plots, *outcome_plots(f)]:
        root = drawn(plot.svg)
        assert root.get("role") == "img"
        assert root.get("aria-label", "").startswith(plot.title)
        assert root.get("width") == "100%"


def test_places_are_shares_of_the_width():
    svg = intervals(
        "x", [Row("a", "0.5", (Mark(0.5, 0.25, 0.75),))], "d", number=percent_tick, least=(0, 1)
    )
    root = drawn(svg)
    circle = next(root.iter(f"{NS}circle"))
    line = next(x for x in root.iter(f"{NS}line") if x.get("class") == "iv dot")
    assert circle.get("cx") == "50.00%"
    assert (line.get("x1"), line.get("x2")) == ("25.00%", "75.00%")


def test_nothing_leaves_the_canvas(any_run):
    f = figures(any_run)
    plots = [p for fam in ("semantic", "threshold", "ambiguity") for p in of_family(f, fam)]
    for plot in [*plots, *outcome_plots(f)]:
        for share in re.findall(r'(?:x|x1|x2|cx|width)="(-?[\d.]+)%"', plot.svg):
            assert 0 <= float(share) <= 100


def test_an_undefined_figure_is_written_out_and_not_drawn():
    rows = [Row("a", "–", (Mark(None),), "no verdict moved"), Row("b", "0%", (Mark(0.0, 0, 0.1),))]
    root = drawn(intervals("x", rows, "d", number=percent_tick))
    assert "cannot be estimated" in texts(root)
    assert len(list(root.iter(f"{NS}circle"))) == 1


def test_an_undefined_rate_is_not_a_bar_of_zero():
    scores = [
        s("undue_clear", None, None, why_undefined="no clear item"),
        s("undue_ambiguous", None, 0.0, 0.0, 0.1),
    ]
    (plot,) = of_family(figures(run(scores)), "ambiguity")
    assert len(re.findall('class="bar"', plot.svg)) == 1
    assert "clear items cannot be estimated" in plot.svg


def test_the_excess_plot_holds_placebo_pool_threshold_and_both_estimators():
    (plot,) = of_family(figures(CASES["fragile"]()), "semantic")
    said = texts(drawn(plot.svg))
    labels = [t for t in said if t.startswith("T")]
    assert labels == [
        "T0: placebo, base again",
        "T1: syntax and order",
        "T2: words",
        "T4: exceptions in front",
        "T1+T2+T4, pooled",
        "T3: irrelevant context",
    ]
    assert len(re.findall('class="dot"', plot.svg)) == 6
    assert len(re.findall('class="ring"', plot.svg)) == 6
    assert len(re.findall('class="zone"', plot.svg)) == 6


def test_one_call_a_condition_leaves_the_debiased_mark_out():
    scores = [
        s(x.metric, x.condition, None, why_undefined="one call under the condition")
        if x.metric == "delta_debiased"
        else x
        for x in numbers(QUIET)
    ]
    (plot,) = of_family(figures(run(scores)), "semantic")
    assert 'class="ring"' not in plot.svg
    assert len(re.findall('class="dot"', plot.svg)) == 6


def test_outcomes_add_up():
    (plot,) = outcome_plots(figures(CASES["failed"]()))
    root = drawn(plot.svg)
    widths: dict[str, float] = {}
    for rect in root.iter(f"{NS}rect"):
        y = rect.get("y") or ""
        widths[y] = widths.get(y, 0) + float((rect.get("width") or "").rstrip("%"))
    assert [round(w, 1) for w in widths.values()] == [100.0, 100.0]
    assert [k for k, _ in plot.key] == ["verdict", "refusal", "error"]


def test_a_judge_that_fails_the_gate_has_no_gauge():
    assert pis_gauge(figures(CASES["always_safe"]())) == ""


def test_an_undefined_score_has_no_gauge():
    assert pis_gauge(figures(run([s("pis", None, None, 0.0, 1.0)]))) == ""


def test_an_interval_is_drawn_within_the_range_of_its_quantity():
    wide = [s("undue_clear", None, 0.08, -0.5, 1.6, unit="fraction of call pairs")]
    (plot,) = of_family(figures(run(wide)), "ambiguity")
    assert "8.3%" not in plot.svg
    assert "8.0% [0%, 100%]" in plot.svg


def test_the_gauge_marks_the_value():
    assert 'cx="47.00%"' in gauge(0.47, 0.2, 0.7, "d")


@pytest.mark.parametrize(
    ("lo", "hi", "expected"),
    [
        (0.0, 1.0, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-0.054, 0.104, [-0.05, 0.0, 0.05, 0.1]),
        (0.0, 0.0004, [0.0, 0.0001, 0.0002, 0.0003, 0.0004]),
        (-1.0, 1.0, [-1.0, -0.5, 0.0, 0.5, 1.0]),
    ],
)
def test_ticks_are_round(lo, hi, expected):
    assert expected == ticks(lo, hi)


def test_tick_words():
    assert [points_tick(x) for x in (-0.05, 0.0, 0.1)] == ["−5", "0", "+10"]
    assert [percent_tick(x) for x in (0, 0.025, 1)] == ["0%", "2.5%", "100%"]


def test_labels_are_escaped():
    hostile = '"><script>alert(1)</script>'
    svg = stacked("x", [Stack(hostile, hostile, (("verdict", 1.0),))], hostile)
    assert "<script" not in svg
    assert next(iter(texts(drawn(svg)))).startswith('"><script>')
