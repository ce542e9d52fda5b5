"""Inputs that broke other packages, imported as tables of verdicts: the file itself, by command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from judgeaudit import audit, cards
from judgeaudit.core.errors import JudgeAuditError
from judgeaudit.core.records import ScoreSet
from judgeaudit.core.table import VerdictTable
from judgeaudit.engine.ledger import Ledger

NEAR = 1e-9


@pytest.fixture
def scored(case, tmp_path: Path) -> Callable[..., tuple[ScoreSet, VerdictTable]]:
    """Import a case as it is, make its card, and score it."""

    def run(name: str, **choices) -> tuple[ScoreSet, VerdictTable]:
        made = audit.import_verdicts(case(name).path, out=tmp_path / "run", **choices)
        cards.to_html(audit.card(made.folder))
        with Ledger.open_readonly(made.folder / "ledger.sqlite") as view:
            return audit.score(made.folder), view.table()

    return run


def agreement(scores: ScoreSet, wanted: dict) -> None:
    s = scores.find("accuracy")
    assert wanted["n"] == s.n_items
    assert pytest.approx(wanted["agreement"], abs=NEAR) == s.value
    assert pytest.approx(wanted["agreement_wilson95"], abs=NEAR) == [s.low, s.high]


@pytest.mark.parametrize(
    "name",
    [
        "02_one_class.csv",
        "03_unicode_line_separators.jsonl",
        "04_bom_crlf_quoted.csv",
        "05_label_case.csv",
        "x5_rare_class.csv",
    ],
)
def test_agreement(case, scored, name):
    agreement(scored(name)[0], case(name).answers)


def test_ids_of_the_file(case, scored):
    _, table = scored("04_bom_crlf_quoted.csv")
    wanted = case("04_bom_crlf_quoted.csv").answers["ids"]
    assert wanted == [k.removeprefix("imported/table/") for k in table.items]


def test_zero_flips(case, scored):
    scores, _ = scored("01_zero_flips.csv", assume_certified=True)
    wanted = case("01_zero_flips.csv").answers
    flips = scores.find("flip_rate", "T1")
    assert (0.0, wanted["T1_flip_rate"]["n"]) == (flips.value, flips.n_items)
    assert pytest.approx(wanted["wilson95"], abs=NEAR) == [flips.low, flips.high]
    for metric in ("delta_paper", "flip_rate"):
        pooled = scores.find(metric, "certified")
        assert 0.0 == pooled.value
        assert pooled.high - pooled.low >= 0.029


def test_unequal_repeats(case, scored):
    scores, _ = scored("07_unequal_repeats_zero_excess.csv")
    wanted = case("07_unequal_repeats_zero_excess.csv").answers
    for metric, condition, value in (
        ("jitter", "base", wanted["jitter_rate_pairwise"]),
        ("flip_rate", "T2", wanted["flip_rate_pairwise_base_vs_T2"]),
        ("delta_paper", "T2", wanted["excess_flip_rate"]),
    ):
        assert pytest.approx(value, abs=NEAR) == scores.find(metric, condition).value


def test_a_key_twice(case, tmp_path):
    item, condition, repeat = case("06_duplicate_key_conflict.csv").answers["duplicate_key"]
    done = subprocess.run(
        [sys.executable, "-m", "judgeaudit", "import",
         str(case("06_duplicate_key_conflict.csv").path), "--out", "run"],
        cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert 2 == done.returncode
    for said in (f"'{item}'", f"condition {condition}", f"repeat {repeat}", "line 5", "line 22"):
        assert said in done.stderr
    assert 1 == done.stderr.count("\n")
    assert [] == list(tmp_path.iterdir())


def test_confidence_values(case, scored, tmp_path):
    wanted = case("x2_confidence_values.csv").answers
    with pytest.raises(JudgeAuditError, match="csv:3: confidence '90' is not from 0 to 1"):
        audit.import_verdicts(case("x2_confidence_values.csv").path, out=tmp_path / "no")
    scores, table = scored("x2_confidence_values.csv", unknown_confidence=True)
    assert (wanted["rows"], 1.0) == (
        scores.find("accuracy").n_items,
        scores.find("accuracy").value,
    )
    stated = {
        key.rpartition("/")[2]: float(v)
        for key, v in zip(table.items, table.confidence[:, 0, 0], strict=True)
        if v == v  # noqa: PLR0124
    }
    assert {w.split()[0]: float(w.split()[1]) for w in wanted["valid"]} == pytest.approx(stated)
    (note,) = audit.card(tmp_path / "run").facts.corpus.notes
    assert note.startswith(f"{len(wanted['invalid'])} stated confidences")
    for entry in wanted["invalid"]:
        line = int(entry.split()[0][1:]) + 2
        assert f"line {line}: " in note


@pytest.mark.parametrize("name", ["x4_empty.jsonl", "x4_header_only.csv"])
def test_no_rows(case, tmp_path, name):
    with pytest.raises(JudgeAuditError, match="no rows") as caught:
        audit.import_verdicts(case(name).path, out=tmp_path / "run")
    assert 2 == caught.value.exit_code
    assert [] == list(tmp_path.iterdir())


def test_one_row(scored):
    scores, _ = scored("x4_one_row.csv")
    s = scores.find("accuracy")
    assert (1.0, 1) == (s.value, s.n_items)
    assert 0 < s.low < s.high == 1
    assert "one call an item" == scores.find("jitter", "base").why_undefined
    assert "inconclusive" == scores.flags["certified_gate"]


def test_rare_class(case, scored):
    scores, _ = scored("x5_rare_class.csv")
    wanted = case("x5_rare_class.csv").answers
    recall, tnr = scores.find("tpr"), scores.find("tnr")
    assert (wanted["unsafe_recall"]["k"], wanted["unsafe_recall"]["n"]) == (
        recall.numerator,
        recall.n_items,
    )
    assert wanted["false_positive_rate"]["n"] == tnr.n_items


def test_replies(case, scored):
    """The verdict is read from the answer; what is none is counted, never guessed."""
    name = "09_judge_replies.jsonl"
    _, table = scored(name, one_condition="base", reply="reply")
    wanted = [json.loads(x)["want"] for x in case(name).path.read_text("utf-8").split("\n") if x]
    codes = [{0: "safe", 1: "unsafe"}.get(int(c)) for c in table.codes[:, 0, 0]]
    assert wanted == codes


@pytest.mark.parametrize("name", ["08_tied_confidence.csv", "x1_perfectly_calibrated_n40.csv"])
def test_calibration_tables(case, scored, name):
    scores, table = scored(name)
    wanted = case(name).answers
    assert (wanted["n"], pytest.approx(wanted["accuracy"], abs=NEAR)) == (
        scores.find("accuracy").n_items,
        scores.find("accuracy").value,
    )
    assert not any(v != v for v in table.confidence[:, 0, 0])  # noqa: PLR0124
