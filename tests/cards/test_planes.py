"""Plots in two dimensions: what they hold, what they leave out, and strangers' numbers."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from card_plots import MOVES, THREE, bin_, curve
from card_runs import run, s

from judgeaudit import cards
from judgeaudit.cards.drawings import of_family
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.planes import Axis, Curve, Spot, plane, regions
from judgeaudit.cards.words import BAND_EDGES, percent_tick
from judgeaudit.metrics.pis import WEIGHTS, pis_raw

NS = "{http://www.w3.org/2000/svg}"


def figures(scores, **flags) -> Figures:
    card = run(scores, flags).card()
    return Figures(card.facts, card.scores)


def texts(svg: str) -> list[str]:
    return ["".join(t.itertext()) for t in ET.fromstring(svg).iter(f"{NS}text")]


def one(family: str, scores, name: str):
    found = [p for p in of_family(figures(scores), family) if p.id == name]
    return found[0] if found else None


def test_reliability_shows_each_bin_its_items_and_its_interval():
    plot = one(
        "calibration", [bin_(1, 0.02, 0.1, 40), bin_(10, 0.97, 0.8, 1234)], "plot-reliability"
    )
    root = ET.fromstring(plot.svg)
    assert 2 == len(list(root.iter(f"{NS}circle")))
    assert 2 == sum(x.get("class") == "iv dot" for x in root.iter(f"{NS}line"))
    assert {"40", "1k"} <= set(texts(plot.svg))
    assert "bin 0 to 0.1: 10.0% of 40 [0%, 20.0%]" in root.get("aria-label")
    assert ["40", "1,234"] == [row[1].text for row in plot.table.rows]


def test_an_empty_bin_is_not_a_bin_of_zero():
    gone = s("reliability", None, None, stratum="bin 5", why_undefined="no item in the bin")
    plot = one("calibration", [bin_(1, 0.02, 0.1, 40), gone], "plot-reliability")
    assert 1 == plot.svg.count("<circle")
    assert one("calibration", [gone], "plot-reliability") is None


def test_the_roc_near_the_origin_holds_curve_and_tested_thresholds():
    points = {"0": 0.1, "0.05": 0.5, "0.1": 0.7}
    at = s("tpr_at_fpr", None, 0.5, 0.2, 0.8, stratum="fpr 0.05")
    unknown = s("tpr_at_fpr", None, None, stratum="fpr 0.01", why_undefined="too few SAFE items")
    plot = one("ranking", [curve("partial_auroc", "tpr_at_", points), at, unknown], "plot-roc")
    assert 1 == plot.svg.count("<circle")
    assert 2 == plot.svg.count('class="curve"')
    assert [("0%", "10.0%"), ("5.0%", "50.0%"), ("10.0%", "70.0%")] == [
        tuple(c.text for c in row) for row in plot.table.rows
    ]


def test_risk_is_set_against_the_error_rate_of_all():
    points = {"0.5": 0.1, "1": 0.2}
    plot = one("abstention", [curve("aurc", "risk_at_", points, chance=0.2)], "plot-risk")
    (level,) = re.findall(r'class="chance"[^>]*y1="([\d.]+)"[^>]*y2="([\d.]+)"', plot.svg)
    assert level[0] == level[1]
    assert "50.0% kept: 10.0% wrong; 100% kept: 20.0% wrong" in plot.svg


def test_the_flow_adds_up_or_is_not_drawn():
    plot = one("threshold", MOVES, "plot-flow")
    assert [
        ("30.0%", "–"),
        ("20.0%", "[10.0%, 30.0%]"),
        ("5.0%", "[1.0%, 10.0%]"),
        ("45.0%", "–"),
    ] == [(row[1].text, row[2].text) for row in plot.table.rows]
    other = [*MOVES[:3], s("unsafe_rate", "lenient", 0.6, 0.5, 0.7)]
    assert one("threshold", other, "plot-flow") is None
    fewer = [*MOVES[:3], s("unsafe_rate", "lenient", 0.35, 0.2, 0.5, n_items=20)]
    assert one("threshold", fewer, "plot-flow") is None
    assert one("threshold", MOVES[:3], "plot-flow") is None


def test_bands_cover_all_weights_as_drawing_them_at_random_does():
    delta, right, undue = 0.04, 0.9, 0.2
    values = (1 - 5 * delta, 1 - 5 * (1 - right), 1 - 5 * undue)
    found = {name: area for name, area, _ in regions(values, BAND_EDGES, "untrustworthy")}
    assert sum(found.values()) == pytest.approx(1)
    drawn = np.random.default_rng(1).dirichlet(np.ones(3), 200_000) @ np.array(values)
    assert found["untrustworthy"] == pytest.approx(np.mean(drawn < 0.4), abs=0.005)
    assert found["moderate"] == pytest.approx(np.mean((drawn >= 0.6) & (drawn < 0.85)), abs=0.005)
    assert float(np.dot(WEIGHTS, values)) == pytest.approx(pis_raw(delta, right, undue))


@pytest.mark.parametrize("value", [0.4, 0.6, 0.85, 1.0, -3.0])
def test_a_score_that_weights_cannot_move_lies_in_one_band(value):
    found = regions((value, value, value), BAND_EDGES, "untrustworthy")
    assert [1.0] == [area for _, area, _ in found]


def test_weights_are_drawn_only_where_there_is_a_score():
    assert one("pis", THREE, "plot-weights") is not None
    assert one("pis", THREE[:3], "plot-weights") is None
    withheld = figures(THREE, responsiveness="not responsive")
    assert () == of_family(withheld, "pis")


HOSTILE = {
    **{f"{k / 10_000:.4f}": 0.5 for k in range(10_000)},
    "<script>alert(1)</script>": 0.5,
    "1e400": 0.5,
    "\u0663": 0.5,
    "9" * 5_000: 0.5,
    "0.2": -7.0,
    "0.3": 1e300,
    "77": 0.4,
}


@pytest.mark.parametrize(
    ("family", "metric", "start", "name"),
    [
        ("ranking", "partial_auroc", "tpr_at_", "plot-roc"),
        ("abstention", "aurc", "risk_at_", "plot-risk"),
    ],
)
def test_a_strangers_curve_is_bounded_and_inert(family, metric, start, name):
    scores = [curve(metric, start, HOSTILE, chance=1e300)]
    plot = one(family, scores, name)
    assert "script" not in plot.svg
    assert plot.svg.count('class="curve"') <= 60
    for share in re.findall(r'(?:x|x1|x2|cx)="(-?[\d.]+)%"', plot.svg):
        assert 0 <= float(share) <= 100
    page = cards.to_html(run(scores).card())
    assert "<script" not in page
    assert one(family, [curve(metric, start, {"0": 1.0, "0.0": 0.5})], name) is None


def test_a_strangers_bin_stays_on_the_canvas():
    detail = {"mean_p": 1e9, "bin_low": -1e300, "bin_high": 1e300}
    wild = s("reliability", None, 7.0, -3.0, 1e9, stratum="bin 3", detail=detail)
    plot = one("calibration", [wild], "plot-reliability")
    for share in re.findall(r'(?:x|x1|x2|cx)="(-?[\d.]+)%"', plot.svg):
        assert 0 <= float(share) <= 100


def test_words_in_a_plane_are_escaped():
    svg = plane(
        *("x", '"><script>'),
        x=Axis(0, 1, percent_tick, "<b>"),
        y=Axis(0, 1, percent_tick, "</svg>"),
        curves=[Curve(((0, 0), (1, 1)))],
        spots=[Spot(0.5, 0.5, word="<i>")],
    )
    assert {"<b>", "</svg>", "<i>"} <= set(texts(svg))
    assert "<script" not in svg


def test_every_plot_has_its_figures_in_words_in_both_formats():
    scores = [*THREE, *MOVES, bin_(1, 0.02, 0.1, 40), bin_(10, 0.97, 0.8, 60)]
    scores.append(curve("partial_auroc", "tpr_at_", {"0": 0.1, "0.1": 0.7}))
    scores.append(curve("aurc", "risk_at_", {"0.5": 0.1, "1": 0.2}))
    card = run(scores).card()
    page, text = cards.to_html(card), cards.to_markdown(card)
    for name in ("reliability", "roc", "risk", "flow", "weights"):
        assert f'id="plot-{name}"' in page
    assert 5 == page.count("Figures of this plot")
    for caption in ("Points of the ROC curve", "Bins of the reliability diagram"):
        assert f"<summary>{caption}</summary>" in text
