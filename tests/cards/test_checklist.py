"""The nine questions: planted runs in which each answer is yes, no and not known."""

from __future__ import annotations

import html
import json
from typing import Any

import pytest
from card_runs import BRITTLE, CASES, CREATED, QUIET, facts, numbers, rendering, run, s

from judgeaudit import audit, cards
from judgeaudit.cards.checklist import QUESTIONS
from judgeaudit.core.errors import CardError
from judgeaudit.core.records import Condition, JudgeSpec, Protocol, ScoreSet
from judgeaudit.review.adding import read_statements

SAID = {
    "by": "A. Auditor",
    "items": "drawn at random from the logs of May",
    "contamination": "canary strings were looked for",
}
BASE = facts()


def corpus(**changes: Any) -> Any:
    return BASE.corpus.model_copy(update=changes)


def policy(**changes: Any) -> Any:
    return BASE.policy.model_copy(update=changes)


def extra(**more: Any) -> dict[str, Any]:
    return {**BASE.extra, **more}


def protocol(**changes: Any) -> Protocol:
    return BASE.protocol.model_copy(update=changes)


def without(*metrics: str, **changed: Any) -> list[Any]:
    return [
        x.model_copy(update=changed) if changed and x.metric in metrics else x
        for x in numbers(QUIET)
        if changed or x.metric not in metrics
    ]


NO_BOUND = {"low": None, "high": None, "why_no_interval": "one cluster"}
ONE_CERTIFIED = tuple(c for c in BASE.protocol.conditions if c.id not in ("T2", "T4"))
IMPORTED = {"imported": {"file": "t.csv", "sha256": "f" * 64}}
CORRECTED = s("corrected_rate", None, 0.4, 0.3, 0.5, unit="fraction of items")

PLANTED = [
    # question, answer, words of the reason, scores, flags, changed facts
    ("construct", "yes", "7 norms and 5 exceptions", None, {}, {}),
    ("construct", "no", "no person confirmed", None, {}, {"extra": extra(unconfirmed_policy=True)}),
    ("construct", "no", "no norm", None, {}, {"policy": policy(n_norms=0)}),
    (
        "construct",
        "not known",
        "nobody set down",
        None,
        {},
        {"policy": policy(n_norms=None, n_exceptions=None)},
    ),
    ("construct", "not known", "not in the run", None, {}, {"policy": policy(sha256="")}),
    (
        "items",
        "yes",
        "not tested here: drawn at random",
        None,
        {},
        {"extra": extra(statements=SAID)},
    ),
    (
        "items",
        "no",
        "Only 12 items",
        None,
        {},
        {"corpus": corpus(n_items=12), "extra": extra(statements=SAID)},
    ),
    ("items", "no", "labelled SAFE", None, {}, {"corpus": corpus(n_unsafe=60, n_safe=0)}),
    ("items", "not known", "Nothing in the run", None, {}, {}),
    (
        "items",
        "not known",
        "Nothing in the run",
        None,
        {},
        {"extra": extra(statements={"items": "all", "by": " "})},
    ),
    ("metric", "yes", "stand beside accuracy", None, {}, {}),
    ("metric", "no", "labelled UNSAFE", None, {}, {"corpus": corpus(n_unsafe=0, n_safe=60)}),
    (
        "metric",
        "not known",
        "No item has a label",
        None,
        {},
        {"corpus": corpus(n_unsafe=0, n_safe=0, n_unlabelled=60)},
    ),
    ("metric", "not known", "Not computed: TNR", without("tnr"), {}, {}),
    ("labels", "yes", "12 of 60 items; 50.0%", None, {}, {}),
    ("labels", "no", "A model assigned", None, {}, {"corpus": corpus(label_source="model")}),
    ("labels", "no", "No item has a label", None, {}, {"corpus": corpus(n_unsafe=0, n_safe=0)}),
    ("labels", "not known", "items' authors", None, {}, {"corpus": corpus(label_source="author")}),
    ("labels", "not known", "how far raters agree", None, {}, {"corpus": corpus(n_ambiguous=None)}),
    ("intervals", "yes", "48 clusters; 5 calls an item", None, {}, {}),
    ("intervals", "no", "over clusters: accuracy", without("accuracy", **NO_BOUND), {}, {}),
    ("intervals", "no", "one call an item", None, {}, {"protocol": protocol(base_repeats=1)}),
    (
        "intervals",
        "no",
        "fewer than two certified",
        None,
        {},
        {"protocol": protocol(conditions=ONE_CERTIFIED)},
    ),
    ("intervals", "not known", "no figure", [], {}, {}),
    (
        "intervals",
        "not known",
        "belong together",
        None,
        {},
        {"extra": extra(**IMPORTED), "corpus": corpus(n_clusters=60)},
    ),
    ("comparisons", "yes", "below 5 points", None, {}, {}),
    ("comparisons", "yes", "above 5 points", numbers(BRITTLE), {"certified_gate": "above"}, {}),
    (
        "comparisons",
        "no",
        "without a correction",
        without("delta_debiased", p_adjusted=None),
        {},
        {},
    ),
    ("comparisons", "no", "do not decide", None, {"certified_gate": "inconclusive"}, {}),
    ("comparisons", "not known", "by a test", without("delta_debiased", "delta_paper"), {}, {}),
    ("comparisons", "not known", "calls suffice", None, {"certified_gate": ""}, {}),
    ("bias", "yes", "corrected by human labels: 40.0%", [*numbers(QUIET), CORRECTED], {}, {}),
    ("bias", "no", "the judge's own", None, {}, {}),
    ("bias", "not known", "undefined", [*numbers(QUIET), s("corrected_rate", None, None)], {}, {}),
    ("bias", "not known", "no rate", without("unsafe_rate"), {}, {}),
    (
        "contamination",
        "yes",
        "canary strings were looked for",
        None,
        {},
        {"extra": extra(statements=SAID)},
    ),
    (
        "contamination",
        "no",
        "told the labels",
        None,
        {},
        {"judge": JudgeSpec(backend="scripted", model="quiet"), "extra": extra(statements=SAID)},
    ),
    (
        "contamination",
        "no",
        "the prompt",
        None,
        {},
        {
            "judge": BASE.judge.model_copy(update={"template_sha256": ""}),
            "extra": extra(statements=SAID),
        },
    ),
    ("contamination", "not known", "in training", None, {}, {}),
    (
        "rare",
        "yes",
        "17.0% of 30 UNSAFE items are missed and at most 19.0% of 30 SAFE",
        None,
        {},
        {},
    ),
    ("rare", "no", "No control group", None, {"control_group": "no control group"}, {}),
    ("rare", "no", "No control group", None, {}, {"corpus": corpus(n_unsafe=60, n_safe=0)}),
    ("rare", "no", "Without a bound: misses", without("missed_bound", **NO_BOUND), {}, {}),
    ("rare", "not known", "Without a bound: false alarms", without("false_alarm_bound"), {}, {}),
    ("rare", "not known", "Without labels", None, {}, {"corpus": corpus(n_unsafe=0, n_safe=0)}),
    ("rare", "not known", "No call", None, {}, {"outcomes": {}}),
]


def answers(made: Any) -> dict[str, Any]:
    return {q.id: q for q in made.card().checklist}


@pytest.mark.parametrize("case", PLANTED, ids=lambda c: f"{c[0]}, {c[1]}: {c[2]}")
def test_a_planted_run_gets_its_answer(case):
    question, answer, words, scores, flags, changes = case
    made = answers(run(numbers(QUIET) if scores is None else scores, flags, **changes))[question]
    assert answer == made.answer
    assert words in made.reason


def test_each_question_has_a_planted_run_for_each_answer():
    planted = {(q, a) for q, a, *_ in PLANTED}
    assert {(q, a) for q in QUESTIONS for a in ("yes", "no", "not known")} == planted


def test_nothing_is_yes_where_the_run_holds_nothing():
    bare = facts(
        policy=policy(sha256="", n_norms=None, n_exceptions=None),
        corpus=corpus(n_unsafe=0, n_safe=0, n_ambiguous=None, label_source="unknown"),
        renderings=(),
        protocol=Protocol(
            preset="bare",
            base_repeats=1,
            repeats=1,
            conditions=(Condition(id="base", kind="reference"),),
        ),
        outcomes={},
        extra={},
    )
    card = cards.build(bare, ScoreSet(scores=()), created=CREATED)
    assert list(QUESTIONS) == [q.id for q in card.checklist]
    assert not [q.id for q in card.checklist if q.answer == "yes"]
    assert all(q.reason.endswith(".") for q in card.checklist)


def test_a_rewording_whose_certificate_failed_shows_nothing_of_the_prompt():
    renderings = tuple(rendering(c) for c in ("base", "T1", "T2", "T4"))
    made = run(numbers(QUIET), {"not_certified": "T2, T4"}, renderings=renderings)
    assert "no" == answers(made)["intervals"].answer


@pytest.mark.parametrize("name", CASES)
def test_all_three_formats_say_the_same(name):
    made = CASES[name]()
    told = json.loads(cards.to_json(made.card()))["checklist"]
    assert len(QUESTIONS) == len(told)
    page = html.unescape(made.html)
    for answer in told:
        assert f"| {answer['question']} | {answer['answer']} |" in made.md
        assert answer["question"] in page
        assert answer["reason"] in page
    assert "## Nine questions" in made.md
    assert 'id="checklist"' in made.html


def test_a_statement_is_set_apart_as_somebody_elses_words():
    said = {**SAID, "items": "<script>alert(1)</script> | **all**"}
    made = run(numbers(QUIET), extra=extra(statements=said))
    assert "<script>" not in made.html
    assert "<bdi>Stated by A. Auditor" in made.html
    assert "`Stated by A. Auditor" in made.md


def test_a_card_from_before_the_questions_is_read_and_shown_without_them():
    tree = json.loads(cards.to_json(CASES["good"]().card()))
    del tree["checklist"]
    old = cards.from_json(json.dumps(tree))
    assert () == old.checklist
    assert "Nine questions" not in cards.to_markdown(old)


def test_a_file_of_statements_reaches_the_card(tmp_path):
    audit.run(judge="scripted:quiet", preset="quick", limit=4, out=tmp_path / "run")
    said = tmp_path / "said.toml"
    said.write_text('by = "A. Auditor"\nitems = "all logs of May"\n', encoding="utf-8")
    card = audit.card(tmp_path / "run", statements=said)
    assert {"by": "A. Auditor", "items": "all logs of May"} == card.facts.extra["statements"]
    assert "no" == card.checklist[1].answer  # four items are too few, whatever anybody states


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('items = "x"', "by"),
        ('by = " "', "nobody"),
        ('by = "me"\nitem = "x"', "items"),
        ("by =", "TOML"),
    ],
)
def test_a_file_of_statements_that_is_none_is_refused(tmp_path, text, words):
    path = tmp_path / "said.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CardError, match=words):
        read_statements(path)


def test_a_bound_too_wide_to_matter_is_no_bound():
    wide = [
        x.model_copy(update={"value": 0.0, "high": 0.999}) if x.metric == "missed_bound" else x
        for x in numbers(QUIET)
    ]
    (found,) = [q for q in run(wide).card().checklist if q.id == "rare"]
    assert "no" == found.answer
    assert found.reason.startswith("Too few items to bound misses: at most 99.9% of 30")
