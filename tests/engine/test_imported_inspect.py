"""A scorer's scores in a log of Inspect AI become verdicts, and what is none becomes an outcome."""

from __future__ import annotations

import json
import math
import re

import pytest
from import_world import cells, facts, table
from inspect_world import FIXTURE, sample, write_eval, write_json

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, CorpusError, JudgeAuditError
from judgeaudit.engine.ledger import Ledger

CI = {"format": "inspect", "one_condition": "base", "label": ["C=SAFE", "I=UNSAFE"]}


def take(file, out, **choices):
    return audit.import_verdicts(file, out=out / "run", **{**CI, **choices})


def calls(made) -> dict[tuple[str, int], str]:
    return {(item, repeat): code for (item, _, _, repeat), code in cells(made).items()}


def scored(tmp_path, *scores, **choices):
    """Import a log whose samples have these scores; None: none, a text: the error of the run."""
    samples = [
        sample(
            k,
            scores={"safe": s} if isinstance(s, dict) else {},
            error={"message": s} if isinstance(s, str) else None,
        )
        for k, s in enumerate(scores, 1)
    ]
    return take(write_json(tmp_path / "x.json", samples), tmp_path, **choices)


# -- a log of the current release ------------------------------------------------------------------


def test_epochs_are_repeats_and_what_is_no_verdict_is_an_outcome(tmp_path):
    made = take(
        FIXTURE, tmp_path, scorer="careful", gold="metadata.harmful",
        gold_label=["true=UNSAFE", "false=SAFE"], gold_source="author", strata=["metadata.kind"],
    )  # fmt: skip
    assert calls(made) == {
        ("1", 0): "SAFE",
        ("1", 1): "SAFE",  # a person changed it to I afterwards: that is no verdict of the judge
        ("2", 0): "UNSAFE",
        ("2", 1): "UNSAFE",
        ("3", 0): "unparseable",  # NaN: the grader gave no grade
        ("3", 1): "unparseable",
        ("4", 0): "error",  # the run of the sample failed
        ("4", 1): "error",
    }
    assert frozenset() == made.guessed
    notes = " ".join(made.notes)
    assert (
        "Samples without a value by the scorer (grader_failed), counted as unparseable: 2." in notes
    )
    assert "Samples whose run ended in an error, counted as errors: 2." in notes
    assert "Samples whose score was edited later, read as the scorer gave it: 1." in notes
    assert ["SAFE", "UNSAFE", "SAFE", None] == [
        {0: "SAFE", 1: "UNSAFE"}.get(int(g)) if g in {0, 1} else None for g in table(made).gold
    ]


def test_the_ledger_knows_who_scored(tmp_path):
    made = take(FIXTURE, tmp_path, scorer="careful")
    found = facts(made)
    assert "careful (mockllm/grader)" == found.judge.model
    known = found.extra["imported"]["inspect"]
    assert ("careful", {"mockllm/grader": 6}) == (known["scorer"], known["asked"])
    (log,) = known["logs"]
    assert {"inspect_ai": "0.3.285"} == log["packages"]
    assert ("shop", "success", 8, 8) == (log["task"], log["status"], log["samples"], log["planned"])
    assert {"careful": "{}", "several": "{}", "sometimes": "{}"} == log["scorers"]
    assert made.sha256 == log["sha256"]
    with Ledger.open_readonly(made.folder / "ledger.sqlite") as view:
        assert "Looked at.\nGRADE: C" == next(iter(view.rows()))["text"]


def test_score_and_card_work_on_it(tmp_path):
    made = take(FIXTURE, tmp_path, scorer="careful", gold="metadata.harmful",
                gold_label=["true=UNSAFE", "false=SAFE"])  # fmt: skip
    scores = {(s.metric, s.condition): s for s in audit.score(made.folder).scores}
    assert 0.0 == scores["jitter", "base"].value
    card = audit.card(made.folder)
    assert "careful (mockllm/grader)" == card.facts.judge.model
    assert {"verdict": 4, "unparseable": 2, "error": 2} == card.facts.outcomes["base"]


def test_one_value_of_several_and_a_threshold(tmp_path):
    made = take(FIXTURE, tmp_path, scorer="several.harm", unsafe_above=0.5, label=())
    assert ["SAFE", "UNSAFE", "SAFE", "error"] == [calls(made)[str(n), 0] for n in (1, 2, 3, 4)]
    with Ledger.open_readonly(made.folder / "ledger.sqlite") as view:
        assert "0.1" == next(iter(view.rows()))["text"]  # without words, the score is what was said


def test_a_score_that_was_not_given_is_an_error(tmp_path):
    made = take(FIXTURE, tmp_path, scorer="sometimes", label=["true=SAFE"])
    assert ["error", "SAFE", "error", "error"] == [calls(made)[str(n), 0] for n in (1, 2, 3, 4)]


def test_epochs_may_be_items_and_share_a_cluster(tmp_path):
    made = take(FIXTURE, tmp_path, scorer="careful", item="sample_epoch")
    assert {"1#1", "1#2", "2#1", "2#2", "3#1", "3#2", "4#1", "4#2"} == {i for i, _ in calls(made)}
    assert 4 == facts(made).corpus.n_clusters


# -- what a value means ----------------------------------------------------------------------------


def test_nothing_is_guessed_of_a_value(tmp_path):
    with pytest.raises(CorpusError) as caught:
        scored(tmp_path, {"value": "P"})
    assert "the verdict is 'P', and nobody said what that means" in str(caught.value)
    assert "x.json, sample 1, epoch 1" in str(caught.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("value", "labels", "becomes"),
    [
        ("C", ["C=SAFE", "I=UNSAFE"], "SAFE"),
        ("C", ["C=UNSAFE"], "UNSAFE"),
        ("P", ["P=ambiguous"], "ambiguous"),
        ("N", ["N=refusal"], "refusal"),
        (1.0, ["1=UNSAFE"], "UNSAFE"),
        (0, ["0=SAFE"], "SAFE"),
        (True, ["true=UNSAFE"], "UNSAFE"),
        ("unsafe", [], "UNSAFE"),
        (math.nan, [], "error"),
        (math.inf, [], "error"),
        (None, [], "error"),
    ],
)
def test_values(tmp_path, value, labels, becomes):
    made = scored(tmp_path, {"value": value}, label=labels)
    assert {("1", 0): becomes} == calls(made)


@pytest.mark.parametrize(
    ("score", "becomes"),
    [
        ({"value": math.nan, "reason": "grader_failed"}, "unparseable"),
        ({"value": math.nan, "metadata": {"unscored_reason": "grader_failed"}}, "unparseable"),
        ({"value": math.nan, "reason": "scoring_failed"}, "error"),
        # older releases scored an answer without a grade as incorrect
        ({"value": "I", "explanation": "Grade not found in model output: hm"}, "unparseable"),
        ({"value": "I", "explanation": "I looked for a grade."}, "UNSAFE"),
        # a score that people added is taken, and told
        ({"value": "I", "history": [{"value": "I", "provenance": {"author": "me"}}]}, "UNSAFE"),
        ({"value": "I", "history": [{"value": "C"}, {"value": "I"}]}, "SAFE"),
        ("the sandbox is gone", "error"),
        (None, "error"),
    ],
)
def test_outcomes(tmp_path, score, becomes):
    made = scored(tmp_path, score, {"value": "C"})
    assert {("1", 0): becomes, ("2", 0): "SAFE"} == calls(made)


def test_labels_and_raters_come_from_fields_that_are_named(tmp_path):
    def made_of(k, one, two):
        scores = {"safe": {"value": "C"}, "ann": {"value": one}, "bob": {"value": two}}
        return sample(k, scores=scores, target="UNSAFE")

    log = write_eval(tmp_path / "x.eval", [made_of(1, "C", "C"), made_of(2, "C", "I")])
    plain = take(log, tmp_path / "a", scorer="safe")
    assert 0 == facts(plain).corpus.n_safe + facts(plain).corpus.n_unsafe  # a target is no truth
    rated = take(log, tmp_path / "b", scorer="safe", rater=["scores.ann", "scores.bob"])
    assert (1, 0, 1) == (facts(rated).corpus.n_safe, facts(rated).corpus.n_unsafe, facts(rated).corpus.n_ambiguous)  # fmt: skip
    target = take(log, tmp_path / "c", scorer="safe", gold="sample.target")
    assert 2 == facts(target).corpus.n_unsafe


def test_epochs_in_which_the_agent_differs_are_told(tmp_path):
    other = [{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Go away."}]
    log = write_eval(tmp_path / "x.eval", [sample(1, 1), sample(1, 2, messages=other), sample(2, 1), sample(2, 2)])  # fmt: skip
    made = take(log, tmp_path)
    assert "in which the agent did something else from epoch to epoch: 1;" in " ".join(made.notes)
    same = write_eval(tmp_path / "y.eval", [sample(1, 1), sample(1, 2)])
    told = " ".join(take(same, tmp_path / "same").notes)
    assert "did something else" not in told


# -- several logs ----------------------------------------------------------------------------------


def test_a_folder_of_logs_is_an_audit_of_wordings(tmp_path):
    """One run of the scorer a wording, the wording an argument of the task."""
    folder = tmp_path / "logs"
    folder.mkdir()
    for name, value in (("plain", "C"), ("passive", "I")):
        samples = [
            sample(k, e, scores={"safe": {"value": value}}) for k in range(6) for e in (1, 2)
        ]
        write_eval(folder / f"{name}.eval", samples, task_args={"wording": name})
    made = take(
        folder, tmp_path, one_condition=None, condition="task_args.wording",
        map=["plain=base", "passive=T2"], assume_certified=True,
    )  # fmt: skip
    assert {"plain": "base", "passive": "T2"} == made.conditions
    assert 24 == made.n_calls
    flips = [s for s in audit.score(made.folder).scores if s.metric == "flip_rate"]
    assert 1.0 == flips[0].value
    assert 2 == len(facts(made).extra["imported"]["inspect"]["logs"])


def test_missing_samples_and_unfinished_runs_are_told(tmp_path):
    more = {"dataset": {"sample_ids": [1, 2, 3]}, "config": {"epochs": 2}}
    log = write_json(tmp_path / "x.json", [sample(1)], **more)
    data = json.loads(log.read_text())
    log.write_text(json.dumps({**data, "status": "cancelled"}))
    notes = take(log, tmp_path).notes
    assert "x.json: the run's status is cancelled." in notes
    assert "x.json: 5 of 6 planned samples are missing." in notes


# -- refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({}, "the log has several scorers: careful, several, sometimes. Say which is the judge"),
        ({"scorer": "carefull"}, "did you mean 'careful'?"),
        ({"scorer": "several"}, "hold several values: harm, help. Say which is the verdict: --scorer several.harm"),
        ({"scorer": "several.hurt"}, "have no 'hurt'; there is harm, help"),
        ({"scorer": "careful.x"}, "have no 'x'; there is 'C'"),
        ({"scorer": "careful", "one_condition": None}, "no column is known to be the condition"),
        ({"scorer": "careful", "gold": "metadata.hurt"}, "there is no column 'metadata.hurt'"),
        ({"format": "inspekt"}, "unknown format 'inspekt'; did you mean 'inspect'?"),
        ({"scorer": "careful", "format": None}, "--scorer goes with --format inspect"),
    ],
)  # fmt: skip
def test_what_is_not_clear_is_refused(tmp_path, choices, message):
    with pytest.raises((ConfigError, CorpusError), match=re.escape(message)):
        take(FIXTURE, tmp_path, **choices)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("scores", [3, ["C"]])
def test_scores_that_are_no_object_are_refused(tmp_path, scores):
    with pytest.raises(CorpusError, match="no object"):
        take(write_json(tmp_path / "x.json", [sample(scores=scores)]), tmp_path)


def test_hostile_words_are_kept_or_refused_in_one_line(tmp_path):
    samples = [
        sample(1, scores={"safe": {"value": "C", "explanation": "a\ud83d\x00\x1b[2J b"}}),
        sample(2, scores={"safe": {"value": "I", "explanation": "x" * 5_000_000}}),
        sample(3, scores={"safe": {"value": "C", "explanation": {"not": "a text"}}}, metadata={"\ud83d": 1, "deep": {"a": {"b": {"c": {"d": {"e": 1}}}}}}),
    ]  # fmt: skip
    made = take(write_json(tmp_path / "x.json", samples), tmp_path)
    assert ["SAFE", "UNSAFE", "SAFE"] == [calls(made)[str(n), 0] for n in (1, 2, 3)]
    audit.card(made.folder)
    bad = write_json(tmp_path / "y.json", [sample("\x1b]0;owned\x07")])
    with pytest.raises(JudgeAuditError) as caught:
        take(bad, tmp_path / "bad")
    assert "\x1b" not in str(caught.value)


REAL = {
    "2025-09-23T08-09-58-04-00_security-guide_LuxZJVwvymC3S3SyoJczxB.eval": {"SAFE": 11, "UNSAFE": 5},
    "2025-11-07T10-59-47-05-00_websearch-addition-problem_LqPDntDnkk4h2fSqQ8i6CE.eval": {"SAFE": 1},
    "log_read_sample.json": {"SAFE": 1},
    "log_streaming.eval": {"SAFE": 3, "UNSAFE": 1},
    "log_message_deduplication.eval": {"UNSAFE": 1},
}  # fmt: skip


@pytest.mark.parametrize("name", REAL)
def test_a_real_log_is_imported(shared, tmp_path, name):
    """C and I are what Inspect's own accuracy counts: 0.6875 of 16, 0.75 of 4."""
    folder = shared / "data" / "inspect_logs"
    if not folder.is_dir():
        pytest.skip("the real logs of Inspect are not on this machine")
    made = take(folder / name, tmp_path, label=["C=SAFE", "I=UNSAFE", "0=UNSAFE"])
    found = list(calls(made).values())
    assert REAL[name] == {v: found.count(v) for v in sorted(set(found))}
    audit.card(made.folder)


def test_the_grader_of_a_real_log_is_known(shared, tmp_path):
    folder = shared / "data" / "inspect_logs"
    if not folder.is_dir():
        pytest.skip("the real logs of Inspect are not on this machine")
    made = take(folder / next(iter(REAL)), tmp_path)
    assert (
        "model_graded_fact (openai/gpt-4o-mini as gpt-4o-mini-2024-07-18)"
        == facts(made).judge.model
    )
