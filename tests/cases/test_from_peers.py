"""Inputs that broke other judge-audit packages, file by file: the rule and the numbers hold here.

What needs a part that judgeaudit does not have yet stands in `LATER`, by file and with the reason.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path

import numpy as np
import pytest
from peer_tables import NEAR, accuracy, corpus_of, exact, ratings_of, stated
from score_tables import protocol

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.core.records import Reply, Trajectory, Turn
from judgeaudit.core.table import VerdictTable
from judgeaudit.corpora import load
from judgeaudit.corpora._read import open_source, records
from judgeaudit.judges.parsing import parse
from judgeaudit.judges.replay import read_replies
from judgeaudit.policy.prompts import build_prompt, load_judge_template
from judgeaudit.scoring import score
from judgeaudit.stats.calibration import ece, equal_width
from judgeaudit.stats.intervals import clopper_pearson_upper, wilson
from judgeaudit.stats.selective import risk_coverage

LATER = {
    "08_tied_confidence.csv": ["isotonic calibration is no metric of judgeaudit"],
    "09_judge_replies.jsonl": ["graded scales (`score_replies`)"],
}


def test_every_file_has_a_test_here(folder: Path):
    """A new case, or one that nobody asks for, fails."""
    asked = {
        node.args[0].value
        for node in ast.walk(ast.parse(Path(__file__).read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "case"
        and isinstance(node.args[0], ast.Constant)
    }
    there = {p.name for p in folder.iterdir()} - {"README.md", "answers.json"}
    assert there == asked
    assert set(LATER) <= there


def test_zero_flips(case):
    found = case("01_zero_flips.csv")
    wanted = found.answers
    scores = score(found.table(), protocol("base", "T1"))
    flips, jitter = scores.find("flip_rate", "T1"), scores.find("jitter", "base")
    assert (0.0, wanted["T1_flip_rate"]["n"]) == (flips.value, flips.n_items)
    assert (0.0, wanted["jitter_rate"]["n"]) == (jitter.value, jitter.n_items)
    assert pytest.approx(wanted["wilson95"], abs=NEAR) == [flips.low, flips.high]
    assert pytest.approx(wanted["wilson95"], abs=NEAR) == [jitter.low, jitter.high]
    bound = jitter.detail["zero_event_upper"]
    assert pytest.approx(wanted["one_sided95_upper"], abs=NEAR) == bound
    assert pytest.approx(wanted["clopper_pearson95"], abs=NEAR) == exact(0, 100)
    for s in scores.scores:  # no interval of a rate of 0 is a point, or ends below 0.029
        if s.value == 0 and s.low is not None:
            assert s.high - s.low >= 0.029, s.metric
    delta = scores.find("delta_paper", "T1")
    assert 0.0 == delta.value
    assert delta.low < 0 < delta.high
    assert delta.detail["gate_upper"] >= clopper_pearson_upper(0, 100)


def test_one_class(case):
    found = case("02_one_class.csv")
    accuracy(found, found.answers)
    scores = score(found.table(), protocol("base"))
    assert "no item is labelled UNSAFE" == scores.find("tpr").why_undefined
    assert 1.0 == scores.find("tnr").value
    assert pytest.approx(found.answers["clopper_pearson95"], abs=NEAR) == exact(40, 40)
    assert "undefined" == scores.flags["band"]
    assert "below" != scores.flags["certified_gate"]
    assert pytest.approx(0.10, abs=NEAR) == ece(equal_width(*stated(found), 10))


def test_unicode_line_separators(case, tmp_path):
    found = case("03_unicode_line_separators.jsonl")
    accuracy(found, found.answers)
    rows = found.rows()
    read = records(open_source(str(found.path)))
    assert rows == [r.value for r in read]
    assert found.answers["rows"] == len(read)
    corpus = corpus_of(rows, tmp_path / "own.jsonl")
    texts = {i.id: i.trajectory.turns[0].content for i in corpus.items}
    assert {r["item_id"]: r["text"] for r in rows} == texts
    lines = [
        {"item": r["item_id"], "condition": "base", "repeat": 0, "text": r["text"]} for r in rows
    ]
    recording = tmp_path / "replies.jsonl"
    recording.write_text("\n".join(json.dumps(x, ensure_ascii=False) for x in lines), "utf-8")
    replies = read_replies(recording)
    assert {r["item_id"]: r["text"] for r in rows} == {k[0]: v.text for k, v in replies.items()}


def test_bom_crlf_and_quotes(case, tmp_path):
    found = case("04_bom_crlf_quoted.csv")
    accuracy(found, found.answers)
    rows = found.rows()
    assert found.answers["columns"] == list(rows[0])
    corpus = corpus_of(rows, tmp_path / "own.jsonl", sep="\r\n", bom=True)
    assert found.answers["ids"] == [i.id for i in corpus.items]
    assert "line one\r\nline two, with comma" == corpus.items[0].trajectory.turns[0].content
    ratings = ratings_of(
        rows, tmp_path / "l.csv", rater="text", label="judge_label", sep="\r\n", bom=True
    )
    assert ratings.read_bytes().startswith(b"\xef\xbb\xbfitem_id,")
    rated = load("jsonl", data=tmp_path / "own.jsonl", labels=ratings)
    assert ["UNSAFE", "SAFE", "UNSAFE", "UNSAFE"] == [i.label for i in rated.items]
    assert any("4 of 4 items carry imported labels" in note for note in rated.facts.notes)


def test_label_case(case, tmp_path):
    """One label in the readers; the table itself refuses another spelling, naming the item."""
    found = case("05_label_case.csv")
    accuracy(found, found.answers)
    rows = found.rows()
    spelt = {r["judge_label"] for r in rows}
    assert len(spelt) > 2
    for read in (
        corpus_of(rows, tmp_path / "a.jsonl", label="judge_label"),
        load(
            "jsonl",
            data=tmp_path / "a.jsonl",
            labels=ratings_of(rows, tmp_path / "l.csv", rater="repeat", label="judge_label"),
        ),
    ):
        labels = {i.id: i.label for i in read.items}
        assert {r["item_id"]: r["judge_label"].strip().upper() for r in rows} == labels
        assert found.answers["n"] == len(labels)
    for spelling in spelt - {"SAFE", "UNSAFE"}:
        with pytest.raises(ConfigError, match="item i01"):
            VerdictTable.from_rows([("i01", "base", 0, 0, "verdict", spelling)])
        with pytest.raises(ConfigError, match="item i01: gold label"):
            VerdictTable.from_rows(
                [("i01", "base", 0, 0, "verdict", "SAFE")], gold={"i01": spelling}
            )


def test_duplicate_key(case, tmp_path):
    found = case("06_duplicate_key_conflict.csv")
    item, condition, repeat = found.answers["duplicate_key"]
    with pytest.raises(ConfigError) as caught:
        found.table()
    assert f"item {item}, condition {condition}, repeat {repeat}" in str(caught.value)
    assert "in rows 4 and 21" in str(caught.value)
    rows = found.rows()
    own = tmp_path / "own.jsonl"
    with pytest.raises(CorpusError) as caught:
        corpus_of(rows, own)
    assert f"{own}:21" in str(caught.value)
    assert f"{own}:4" in str(caught.value)
    corpus_of(rows[:-1], own)
    ratings = ratings_of(rows, tmp_path / "l.csv", rater="condition", label="judge_label")
    with pytest.raises(CorpusError) as caught:
        load("jsonl", data=own, labels=ratings)
    for said in (f"rates item '{item}' twice", f"{ratings}:5", f"{ratings}:22"):
        assert said in str(caught.value)
    recording = tmp_path / "replies.jsonl"
    recording.write_text(
        "".join(
            json.dumps(
                {
                    "item": r["item_id"],
                    "condition": r["condition"],
                    "repeat": int(r["repeat"]),
                    "text": r["judge_label"].upper(),
                }
            )
            + "\n"
            for r in rows
        )
    )
    with pytest.raises(ConfigError, match="answered twice, in lines 4 and 21") as caught:
        read_replies(recording)
    assert str((item, condition, 0, repeat)) in str(caught.value)


def test_unequal_repeats(case):
    found = case("07_unequal_repeats_zero_excess.csv")
    wanted, table = found.answers, found.table()
    scores = score(table, protocol("base", "T2"))
    counts = {c: table.counts(c) for c in ("base", "T2")}
    assert {wanted["base_repeats"]} == set(counts["base"].valid.tolist())
    assert {wanted["T2_repeats"]} == set(counts["T2"].valid.tolist())
    for metric, condition, value in (
        ("jitter", "base", wanted["jitter_rate_pairwise"]),
        ("flip_rate", "T2", wanted["flip_rate_pairwise_base_vs_T2"]),
        ("delta_paper", "T2", wanted["excess_flip_rate"]),
    ):
        s = scores.find(metric, condition)
        assert wanted["items"] == s.n_items
        assert pytest.approx(value, abs=NEAR) == s.value, metric
    # what is not reported: any disagreement among the calls of an item
    any_flip = {c: np.mean((n.unsafe > 0) & (n.unsafe < n.valid)) for c, n in counts.items()}
    assert pytest.approx(wanted["naive_any_flip_base"]) == any_flip["base"]
    assert pytest.approx(wanted["naive_any_flip_T2"]) == any_flip["T2"]


def test_tied_confidence_in_any_order(case):
    found = case("08_tied_confidence.csv")
    rows = found.rows()
    rng = np.random.default_rng(8)

    def scored(order):
        table = VerdictTable.from_rows(
            [
                (r["item_id"], "base", 0, 0, "verdict", r["judge_label"].upper())
                for r in (rows[k] for k in order)
            ],
            gold={r["item_id"]: r["human_label"].upper() for r in rows},
        )
        return score(table, protocol("base"))

    first = scored(range(len(rows)))
    assert found.answers["n"] == first.find("accuracy").n_items
    assert pytest.approx(found.answers["accuracy"], abs=NEAR) == first.find("accuracy").value
    order = rng.permutation(len(rows))
    assert first == scored(order)
    sure, right = stated(found)
    for at in (np.arange(len(rows)), order):
        assert pytest.approx(found.answers["ece10_equal_width"], abs=NEAR) == ece(
            equal_width(sure[at], right[at], 10)
        )
        assert pytest.approx(found.answers["brier"], abs=NEAR) == np.mean((sure - right)[at] ** 2)
        curve = risk_coverage(sure[at], ~right[at])
        # equal confidences are one threshold: only its five points are ever chosen
        ends = [9, 19, 29, 39, 49]
        assert pytest.approx([0.2, 0.3, 0.3, 0.35, 0.4]) == curve.risk[ends].tolist()


def test_judge_replies(case):
    found = case("09_judge_replies.jsonl")
    rows = found.rows()
    assert found.answers["rows"] == len(rows)
    cells = []
    for r in rows:
        verdict = parse(Reply(text=r["reply"]))
        label = verdict.label.lower() if verdict.label else None
        assert r["want"] == label, r
        assert (label is None) == (verdict.outcome != "verdict"), r
        cells.append((r["item_id"], "base", 0, 0, verdict.outcome, verdict.label))
    # kept and counted: none is dropped, none becomes a verdict
    failures = sum(r["want"] is None for r in rows)
    s = score(VerdictTable.from_rows(cells), protocol("base")).find("outcome_rate", "base")
    assert (failures, len(rows)) == (s.numerator, s.denominator)


def test_calibrated_judge_is_as_accurate_as_it_is(case):
    found = case("x1_perfectly_calibrated_n40.csv")
    wanted = {"n": found.answers["n"], "agreement": found.answers["accuracy"]}
    accuracy(found, wanted)
    sure, right = stated(found)
    assert pytest.approx(found.answers["ece10_equal_width"], abs=NEAR) == ece(
        equal_width(sure, right, 10)
    )
    assert pytest.approx(found.answers["brier"], abs=NEAR) == np.mean((sure - right) ** 2)


def test_confidence_values(case):
    """Stated in an answer as JSON, or as text where JSON has no such number."""
    found = case("x2_confidence_values.csv")
    kinds: dict[str, list[str]] = {"valid": [], "missing": [], "invalid": []}
    for r in found.rows():
        said = r["confidence"]
        bare = f'{{"verdict": "{r["judge_label"]}", "confidence": {said}}}'
        quoted = json.dumps({"verdict": r["judge_label"], "confidence": said})
        for reply in [quoted] if said in {"", "nan", "inf", "0,9"} else [bare, quoted]:
            verdict = parse(Reply(text=reply))
            # the verdict counts whatever became of the confidence
            assert r["judge_label"].upper() == verdict.label
            if verdict.confidence is not None:
                assert float(said) == verdict.confidence
                kind = "valid"
            else:
                kind = "invalid" if verdict.note else "missing"
                assert kind == "missing" or said in (verdict.note or "")
        kinds[kind].append(r["item_id"])
    assert {name: [entry.split()[0] for entry in found.answers[name]] for name in kinds} == kinds
    s = score(found.table(), protocol("base")).find("accuracy")
    assert (found.answers["rows"], 1.0) == (s.n_items, s.value)


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_no_json_are_no_confidence(name):
    verdict = parse(Reply(text=f'{{"verdict": "SAFE", "confidence": {name}}}'))
    assert verdict.confidence is None


def test_template_braces(case):
    found = case("x3_template_braces.json")
    given = json.loads(found.path.read_text("utf-8"))
    from judgeaudit import policy as policies

    rendering = policies.render(policies.load_policy("agent_safety"), "base")
    rendering = rendering.model_copy(update={"text": given["policy"]})
    trajectory = Trajectory(turns=(Turn(role="user", content=given["trajectory"]),))
    prompt = build_prompt(load_judge_template(), rendering, trajectory, fence_key="x3")
    text = "\n".join(m.content for m in prompt.messages)
    assert 1 == text.count(given["policy"])
    assert 1 == text.count(given["trajectory"])


def test_no_rows(case, tmp_path):
    empty, header = case("x4_empty.jsonl"), case("x4_header_only.csv")
    for name, subset in (("jsonl", None), ("rjudge", None), ("assebench", "security")):
        with pytest.raises(CorpusError, match="the file is empty") as caught:
            load(name, data=empty.path, subset=subset)
        assert 2 == caught.value.exit_code
    with pytest.raises(ConfigError, match="the recording is empty"):
        read_replies(empty.path)
    for text in (empty.path.read_text(), "item_id,rater,label\n"):
        labels = tmp_path / "labels.csv"
        labels.write_text(text)
        with pytest.raises(CorpusError, match=r"empty|no ratings"):
            load("sample", labels=labels)
    assert [] == header.rows()
    scores = score(header.table(), protocol())
    assert all(s.value is None for s in scores.scores)
    assert ("undefined", "inconclusive", "not identified", "not shown") == tuple(
        scores.flags[f] for f in ("band", "certified_gate", "identified", "responsiveness")
    )


def test_one_row(case):
    found = case("x4_one_row.csv")
    scores = score(found.table(), protocol("base", "T1"))
    s = scores.find("accuracy")
    assert (1.0, 1.0, 1) == (s.value, s.numerator, s.n_items)
    inner = wilson(1, 1)
    assert pytest.approx([inner.low, inner.high], abs=NEAR) == [s.low, s.high]
    assert pytest.approx([0.025, 1.0], abs=NEAR) == exact(1, 1)
    assert "one call an item" == scores.find("jitter", "base").why_undefined
    assert "undefined" == scores.flags["band"]


def test_rare_class(case):
    found = case("x5_rare_class.csv")
    accuracy(found, found.answers)
    scores = score(found.table(), protocol("base"))
    recall, wanted = scores.find("tpr"), found.answers["unsafe_recall"]
    assert (wanted["k"], wanted["n"]) == (recall.numerator, recall.n_items)
    assert pytest.approx(wanted["clopper_pearson95"], abs=NEAR) == exact(wanted["k"], wanted["n"])
    assert recall.low < 0.25  # three positives: close to anything
    assert recall.high > 0.9
    false = found.answers["false_positive_rate"]
    specificity = scores.find("tnr")
    assert false["n"] == specificity.n_items
    assert pytest.approx(1 - false["k"] / false["n"], abs=NEAR) == specificity.value
