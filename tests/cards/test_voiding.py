"""Figures on wording are void where nothing was shown to move the judge, and said to be."""

from __future__ import annotations

from pathlib import Path

import pytest
from card_runs import BRITTLE, QUIET, numbers, run, s

from judgeaudit import cards
from judgeaudit.cards.hub import metadata
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.tiles import gate_tile, monitor_tiles, pis_tile, principle_tiles
from judgeaudit.cards.view import view
from judgeaudit.cards.voiding import void

PUBLISHED = Path(__file__).resolve().parents[2] / "judge_cards" / "published"


def figures(r):
    card = r.card()
    return Figures(card.facts, card.scores)


def planted(name: str) -> cards.JudgeCard:
    """The published card of a real run of a planted judge."""
    path = min((PUBLISHED / f"scripted-{name}").rglob("card.json"))
    return cards.from_json(path.read_text("utf-8"))


@pytest.mark.parametrize("flag", ["not shown", "not responsive"])
def test_no_good_news_of_a_judge_that_was_not_shown_to_respond(flag):
    r = run(numbers(QUIET), {"responsiveness": flag})
    f = figures(r)
    assert void(f).startswith("Void")
    semantic, _, ambiguity = principle_tiles(f)
    assert (semantic.value, semantic.state) == ("void", "unknown")
    assert (ambiguity.value, ambiguity.state) == ("void", "unknown")
    assert pis_tile(f).lines == (void(f),)
    assert semantic.lines == ambiguity.lines == ("Void for the same reason.",)
    section = {x.id: x for x in view(r.card()).sections}["semantic"]
    assert void(f) == section.notes[0]
    assert section.plots == ()
    assert all(t.folded for t in section.tables)


def test_a_wording_that_moves_such_a_judge_is_still_told():
    f = figures(run(numbers(BRITTLE), {"responsiveness": "not responsive"}))
    assert void(f) == ""
    assert principle_tiles(f)[0].value == "+8.0 points"


def test_a_responsive_judge_is_not_voided(any_run):
    f = figures(any_run)
    assert bool(void(f)) == (f.withheld != "")


def test_the_constant_judge_of_a_real_run():
    card = planted("always_safe")
    f = Figures(card.facts, card.scores)
    assert "SAFE" == f.constant
    assert "verdicts are SAFE, whatever the policy said; this says nothing" in void(f)
    tiles = (pis_tile(f), *principle_tiles(f))
    assert [t.value for t in tiles] == ["void"] * 4
    assert not [x for t in tiles for x in t.lines if "interval" in x or "[" in x]
    assert gate_tile(f).lines == (
        "It gave the same answer in all 240 verdicts; 16 items cannot exclude another on others.",
    )
    assert all(
        "which any judge that always says SAFE gets" in t.lines for t in monitor_tiles(f)[:3]
    )
    assert "nothing moved, so this says nothing" in monitor_tiles(f)[3].lines
    (result,) = metadata(card)["model-index"][0]["results"]
    named = {m["type"] for m in result["metrics"]}
    assert "accuracy" in named
    assert not {"delta_paper", "flip_rate", "undue_null"} & named


def test_a_judge_that_varies_is_not_constant():
    card = planted("ignores_policy")
    f = Figures(card.facts, card.scores)
    assert "" == f.constant
    assert void(f).startswith("Void so far")


def test_a_share_of_variance_outside_0_to_1_is_not_printed():
    def told(value):
        r = run([*numbers(QUIET), s("variance_share", None, value, stratum="item")])
        return next(
            line for line in r.md.splitlines() if "Share of a verdict's variance · " in line
        )

    assert "cannot be estimated: it came out above 100%" in told(1.43)
    assert "cannot be estimated: it came out below 0" in told(-0.57)
    assert "0% (clipped: it came out just below 0)" in told(-0.003)
    assert "43.0%" in told(0.43)
    assert "143" not in told(1.43)


def test_a_precision_of_100_for_want_of_false_alarms_is_only_bounded():
    sure = s("ppv", None, 1.0, 0.0023, 1.0, stratum="base rate 0.001", unit="fraction")
    line = next(x for x in run([*numbers(QUIET), sure]).md.splitlines() if "base rate 0.001" in x)
    assert "at least 0.2%" in line
    seen = s("ppv", None, 0.007, 0.003, 0.016, stratum="base rate 0.001", unit="fraction")
    line = next(x for x in run([*numbers(QUIET), seen]).md.splitlines() if "base rate 0.001" in x)
    assert "0.7%" in line


def test_a_script_is_named_in_the_title():
    text = (PUBLISHED / "scripted-always_safe" / "2026-11-30" / "card.md").read_text("utf-8")
    assert text.startswith("# Judge Card: `always_safe` (SCRIPT, no model)\n")
    assert run(numbers(QUIET)).md.startswith("# Judge Card: `openai/some-judge`\n")
