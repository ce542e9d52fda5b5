"""Cards of planted judges, with the figures that `scoring` computes."""

from __future__ import annotations

import csv
import functools
import json
import re
from pathlib import Path

import jsonschema
import pytest
from card_runs import KINDS, Run, facts

from judgeaudit import cards
from judgeaudit.cards.texts_en import FAMILIES, METRICS
from judgeaudit.core.records import Condition, Protocol
from judgeaudit.core.table import VerdictTable
from judgeaudit.scoring import ON_REQUEST, score

ROWS = list[tuple[str, str, int, int, str, str | None]]


def run_of(table: VerdictTable, *, base: int, repeats: int) -> Run:
    conditions = tuple(
        Condition(id=c, kind=KINDS[c], side="trajectory" if c == "vacuum" else "policy")  # type: ignore[arg-type]
        for c in KINDS
        if c in table.conditions
    )
    protocol = Protocol(preset="test", base_repeats=base, repeats=repeats, conditions=conditions)
    outcomes = {c.id: table.outcome_counts(c.id) for c in conditions}
    calls = sum(sum(o.values()) for o in outcomes.values())
    return Run(
        facts(protocol=protocol, outcomes=outcomes, n_planned=calls, n_answered=calls),
        score(table, protocol),
    )


@functools.cache
def planted(folder: Path, name: str) -> Run:
    with (folder / f"{name}.verdicts.csv").open(encoding="utf-8") as f:
        rows: ROWS = [
            (r["item_id"], r["condition"], 0, int(r["repeat"]), r["outcome"], r["label"] or None)
            for r in csv.DictReader(f)
        ]
    with (folder / f"{name}.items.csv").open(encoding="utf-8") as f:
        items = list(csv.DictReader(f))
    table = VerdictTable.from_rows(
        rows,
        clusters={r["item_id"]: r["cluster_id"] for r in items},
        ambiguous={r["item_id"]: r["clear"] == "0" for r in items},
    )

    def depth(condition: str) -> int:
        return 1 + max(r[3] for r in rows if r[1] == condition)

    return run_of(table, base=depth("base"), repeats=depth("T1"))


@pytest.mark.parametrize(
    ("judge", "code", "words"),
    [
        ("a_quiet", "low_score_open", "it is not settled whether"),
        ("b_noisy_null", "low_score_quiet", "hardly changes its verdicts"),
        ("c_brittle_t4", "untrustworthy", "the rewording T4 (exceptions in front) changes 10.9"),
        ("d_sharpening", "low_score_quiet", "steadies its verdicts rather than turning them"),
        ("e_parse_fail", "untrustworthy", "depend on how the policy is worded"),
        ("f_zero_flips", "not_responsive", "does not respond to the policy when its threshold"),
        ("g_clustered", "untrustworthy", "the rewording T4"),
        ("h_paper_design", "untrustworthy", "depend on how the policy is worded"),
    ],
)
def test_what_was_planted_is_what_is_said(shared, judge, code, words):
    card = planted(shared / "goldens" / "simulated", f"judge_{judge}").card()
    assert code == card.headline.code
    assert words in card.headline.sentence


@pytest.mark.parametrize("judge", ["e_parse_fail", "f_zero_flips", "h_paper_design"])
def test_their_cards_are_whole(shared, judge):
    r = planted(shared / "goldens" / "simulated", f"judge_{judge}")
    text = cards.to_json(r.card())
    jsonschema.Draft202012Validator(cards.schema()).validate(json.loads(text))
    assert r.card() == cards.from_json(text)
    for shown in (r.html, r.md):
        assert not re.search(r"\b(None|nan|NaN|inf)\b", shown)


def test_failed_calls_leave_the_finding_open(shared):
    r = planted(shared / "goldens" / "simulated", "judge_e_parse_fail")
    found = {w.code: w.sentence for w in r.card().warnings}
    assert "between +1.1 and +27.0 points, on both sides" in found["not_identified"]
    assert {"failures", "pis_span"} <= set(found)
    assert "anywhere in the range" in r.html


def test_one_call_a_condition_is_said(shared):
    r = planted(shared / "goldens" / "simulated", "judge_h_paper_design")
    assert "cannot be estimated because: one call under the condition" in r.html
    assert "one_call" in {w.code for w in r.card().warnings}


def test_every_metric_that_is_computed_has_a_place(shared):
    r = planted(shared / "goldens" / "simulated", "judge_c_brittle_t4")
    placed = {m for f in FAMILIES for m in (*f.shown, *f.folded)} | {"outcome_rate"}
    computed = {s.metric for s in r.scores.scores} | set(ON_REQUEST)
    assert computed - placed == set()
    assert computed - set(METRICS) == set()


def table_of(answer, *, items: int = 60, base: int = 3, repeats: int = 2) -> VerdictTable:
    """Make a table of `answer(item, condition, repeat) -> (outcome, label)`."""
    rows: ROWS = []
    keys = [f"d/s/{k:03d}" for k in range(items)]
    for k, key in enumerate(keys):
        for c in KINDS:
            for r in range(base if c == "base" else repeats):
                rows.append((key, c, 0, r, *answer(k, c, r)))
    return VerdictTable.from_rows(
        rows,
        gold={key: "UNSAFE" if k % 2 else "SAFE" for k, key in enumerate(keys)},
        ambiguous={key: k % 5 == 0 for k, key in enumerate(keys)},
    )


def test_an_always_safe_judge_is_told_off_for_both_faults():
    r = run_of(table_of(lambda *_: ("verdict", "SAFE")), base=3, repeats=2)
    sentence = r.card().headline.sentence
    assert sentence.startswith(
        "This judge does not respond to the policy and is no better than chance on these items"
    )
    assert "it answers SAFE every time" in sentence
    assert "PIS not given" not in r.html
    assert "which any judge that always says SAFE gets" in r.html


def test_a_judge_without_fault_is_not_condemned():
    def answer(k: int, condition: str, _: int) -> tuple[str, str]:
        unsafe = k % 2 == 1
        if condition in ("lenient", "no_policy", "vacuum"):
            unsafe = k % 4 == 1 and condition == "lenient"
        if condition == "inverted":
            unsafe = not unsafe
        return "verdict", "UNSAFE" if unsafe else "SAFE"

    card = run_of(table_of(answer, items=120), base=3, repeats=2).card()
    # no flip at all: the score is undefined, and said to be
    assert (card.headline.code, card.headline.stance) == ("no_score", "with_care")
    assert "hardly changes its verdicts (0.0 [" in card.headline.sentence
    assert (
        "it misses none of 60 unsafe items (5% is not ruled out) and wrongly flags none of 60 safe"
        in card.headline.sentence
    )


def test_27_of_30_failed_calls_with_real_scores():
    rows: ROWS = [
        (f"d/s/{k}", c, 0, r, *(("verdict", "SAFE") if k == 0 else ("error", None)))
        for k in range(10)
        for c, r in (("base", 0), ("base", 1), ("T1", 0))
    ]
    r = run_of(VerdictTable.from_rows(rows), base=2, repeats=1)
    expected = (
        "This judge cannot be judged on this run: 27 of 30 calls ended without a verdict "
        "(27 error); mend the calls and run it again."
    )
    assert expected == r.card().headline.sentence
