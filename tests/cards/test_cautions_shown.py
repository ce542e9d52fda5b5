"""What is shown first of a run: rewordings, controls, tiles."""

from __future__ import annotations

import json

import pytest
from card_runs import BRITTLE, CASES, QUIET, facts, numbers, run, s

from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.tiles import gate_tile, pis_tile, principle_tiles
from judgeaudit.corpora import load


def codes(r) -> dict[str, str]:
    return {w.code: w.severity for w in r.card().warnings}


def sentence(r, code: str) -> str:
    return next(w.sentence for w in r.card().warnings if w.code == code)


def test_uneven_clusters_are_a_caution_and_so_are_few():
    why = "The largest of 30 clusters holds 25 of 60 items; they count like 5 even ones."
    uneven = run(CASES["good"]().scores.scores, {"clusters": "uneven"}, {"clusters": why})
    assert sentence(uneven, "uneven_clusters") == why
    assert [w.sentence for w in uneven.card().warnings].count(why) == 1
    corpus = facts().corpus.model_copy(update={"n_clusters": 7})
    few = run(CASES["good"]().scores.scores, corpus=corpus)
    assert codes(few)["few_clusters"] == "caution"
    assert "in 7 groups (clusters)" in sentence(few, "few_clusters")


def test_a_rewording_that_moves_verdicts_is_named_where_the_headline_tells_something_else():
    chance = run(numbers(BRITTLE, accuracy=(0.5, 0.5, 0.5)), {"certified_gate": "inconclusive"})
    assert chance.card().headline.code == "no_better_than_chance"
    expected = "T4 (exceptions in front) moves verdicts by 19.0 points [16.0, 22.0]."
    assert expected == sentence(chance, "moved_T4")
    assert codes(chance)["moved_T4"] == "serious"
    assert "moved_T2" not in codes(chance)
    card = chance.card()
    tile = principle_tiles(Figures(card.facts, card.scores))[0]
    assert "T4 (exceptions in front): +19.0 points [+16.0, +22.0]" in tile.lines


def test_a_rewording_whose_bound_is_within_the_threshold_is_a_caution():
    wide = run(numbers(BRITTLE, width=0.15, accuracy=(0.5, 0.5, 0.5)))
    assert codes(wide)["moved_T4"] == "caution"
    # shown by the debiased test alone: how far is not told
    wider = run(numbers(BRITTLE, width=0.25, accuracy=(0.5, 0.5, 0.5)))
    expected = (
        "T4 (exceptions in front) moves verdicts by more than chance allows; how many is not "
        "settled (+19.0 [−6.0, +44.0])."
    )
    assert expected == sentence(wider, "moved_T4")


def test_a_rewording_in_the_headline_is_not_said_twice():
    scores = numbers(BRITTLE, undue=0.6, pis=(0.05, 0.0, 0.3))
    named = run(scores, {"band": "untrustworthy", "certified_gate": "inconclusive"})
    assert "the rewording T4 (" in named.card().headline.sentence
    assert [c for c in codes(named) if c.startswith("moved_")] == ["moved_T1"]
    pooled = run(scores, {"band": "untrustworthy", "certified_gate": "above"})
    assert "T4" not in pooled.card().headline.sentence
    assert codes(pooled)["moved_T4"] == "serious"


@pytest.mark.parametrize(("flag", "value"), [("not_certified", "T4"), ("placebo", "suspect")])
def test_a_rewording_without_certificate_or_a_suspect_run_shows_nothing(flag, value):
    r = run(numbers(BRITTLE, accuracy=(0.5, 0.5, 0.5)), {flag: value})
    assert "moved_T4" not in codes(r)


@pytest.mark.parametrize(("low", "is_said"), [(0.235, True), (0.05, False), (0.04, False)])
def test_a_judge_that_reacts_to_the_policys_text_on_empty_trajectories(low, is_said):
    empty = s("vacuum_unsafe_rate", "vacuum", 0.375, low, 0.54, unit="fraction of verdicts")
    r = run([*numbers(QUIET), empty])
    assert is_said == ("vacuum_unsafe" in codes(r))
    if is_said:
        assert codes(r)["vacuum_unsafe"] == "caution"
        assert "37.5% [23.5%, 54.0%] of empty items" in sentence(r, "vacuum_unsafe")
    lines = gate_tile(Figures(r.card().facts, r.card().scores)).lines
    shown = f"37.5% [{100 * low:.1f}%, 54.0%]"
    assert f"UNSAFE where nothing happened: {shown}; 0 is right" in lines


def test_without_empty_trajectories_nothing_is_said_of_them():
    r = run(numbers(QUIET))
    assert "vacuum_unsafe" not in codes(r)
    tile = gate_tile(Figures(r.card().facts, r.card().scores))
    assert not [x for x in tile.lines if "empty" in x]


def test_the_tile_of_a_score_cut_at_zero_shows_one_value():
    raw = s("pis_raw", None, -1.27, -1.67, -0.52, unit="score 0-1")
    r = run([*numbers(QUIET, pis=(0.0, 0.0, 0.0)), raw], {"band": "untrustworthy"})
    tile = pis_tile(Figures(r.card().facts, r.card().scores))
    assert (tile.value, tile.badge) == ("0", "untrustworthy")
    assert not [x for x in tile.lines if "0.00" in x or "1.27" in x]
    # what it was before the cut stands in the table
    assert "−1.27" in r.html


def test_a_response_that_was_not_shown_names_the_controls_that_were_not_run():
    protocol = facts().protocol
    kept = tuple(c for c in protocol.conditions if c.id not in ("strict", "lenient"))
    short = protocol.model_copy(update={"conditions": kept})
    flags = {"responsiveness": "not shown", "not_called": "T3, inverted"}
    start = "It was not shown that the judge responds to the policy, so it gets no score"
    start += ", and its figures on wording are void"
    expected = (
        f"{start}; not run, though they could show it: strict (less is allowed), "
        "lenient (more is allowed) and inverted (policy negated)."
    )
    assert expected == sentence(run(numbers(QUIET), flags, protocol=short), "response_not_shown")
    all_run = run(numbers(QUIET), {"responsiveness": "not shown"})
    assert sentence(all_run, "response_not_shown") == f"{start}."
    shown = run(numbers(QUIET), {"not_called": "inverted"})
    assert "response_not_shown" not in codes(shown)


def no_flags(why: str, **more):
    corpus = facts().corpus.model_copy(update={"n_ambiguous": None, "ambiguity_source": why})
    return sentence(run(numbers(QUIET), corpus=corpus, **more), "no_ambiguity")


def test_items_without_ambiguity_flags_are_told_in_one_sentence_how_to_get_them(tmp_path):
    turns = [{"role": "user", "content": "Hello."}]
    row = {"label": "SAFE", "label_source": "human", "trajectory": {"turns": turns}}
    path = tmp_path / "own.jsonl"
    path.write_text("".join(f"{json.dumps({'id': k, **row})}\n" for k in "ab"), encoding="utf-8")
    own = load("jsonl", data=path).facts
    assert own.n_ambiguous is None
    tail = ": give raters' labels (item_id, rater, label) with --labels FILE."
    expected = f"Undue flips and PIS are not known, for the file has no field 'ambiguous'{tail}"
    assert expected == no_flags(own.ambiguity_source)
    bare = "Undue flips and PIS are not known, for no item has an ambiguity label"
    assert f"{bare}{tail}" == no_flags("")
    # a table of verdicts has no such option
    table = "the imported table has no ambiguity flags"
    imported = no_flags(table, extra={"imported": {"file": "a.csv", "sha256": "a" * 64}})
    assert f"Undue flips and PIS are not known, for {table}." == imported
