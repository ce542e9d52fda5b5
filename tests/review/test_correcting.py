"""Corrected rates of a run, from human labels on a random few of its items."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from judgeaudit import audit, cards
from judgeaudit.core.errors import JudgeAuditError


@pytest.fixture
def run(tmp_path: Path):
    """Import verdicts as a run; `verdicts` holds SAFE or UNSAFE, one or more calls an item."""

    def make(verdicts: dict[str, list[str]]) -> Path:
        with (tmp_path / "v.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "condition", "repeat", "verdict"])
            writer.writerows(
                [i, "base", r, v] for i, calls in verdicts.items() for r, v in enumerate(calls)
            )
        return audit.import_verdicts(tmp_path / "v.csv", out=tmp_path / "run").folder

    return make


def labels(folder: Path, text: str) -> Path:
    (folder / "labels.csv").write_text(text)
    return folder / "labels.csv"


def test_goldens(shared: Path, tmp_path: Path, run):
    """ppi_planted: every estimate and interval, from files through the run to the scores."""
    folder = shared / "goldens" / "simulated"
    wanted = json.loads((folder / "ppi_planted.expected.json").read_text("utf-8"))
    with (folder / "ppi_planted.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    made = run({r["item_id"]: ["SAFE" if r["judge_unsafe"] == "0" else "UNSAFE"] for r in rows})
    text = "item_id,label\n" + "".join(f"{r['item_id']},{r['human_unsafe']}\n" for r in rows)
    found = {
        s.metric: s
        for s in audit.correct(made, labels(tmp_path, text), words=["1=UNSAFE", "0=SAFE"])
    }
    for metric, name, ends in (
        ("corrected_rate", "poststratified_mover", "ci"),
        ("corrected_ppi_plus", "ppi_pp", "ci"),
        ("corrected_ppi", "ppi_lambda1", "ci"),
        ("human_rate", "human_only", "wilson"),
        ("corrected_rogan_gladen", "rogan_gladen", "ci_delta"),
    ):
        s = found[metric]
        assert wanted[name]["value"] == pytest.approx(s.value, abs=1e-9), metric
        assert wanted[name][ends] == pytest.approx([s.low, s.high], abs=1e-6), metric
    assert wanted["naive_judge_rate"] == pytest.approx(found["judge_rate"].value)
    assert (wanted["N_total"], wanted["n_labelled"]) == (
        found["corrected_rate"].n_items,
        found["human_rate"].n_items,
    )
    assert wanted["ppi_pp"]["lambda_"] == pytest.approx(
        found["corrected_ppi_plus"].detail["weight"], abs=1e-9
    )


def test_which_verdict_counts(tmp_path, run):
    made = run({"a": ["UNSAFE", "SAFE", "SAFE"], "b": ["SAFE"] * 3, "c": ["SAFE", "UNSAFE"]})
    file = labels(tmp_path, "item_id,label\na,safe\nb,safe\n")
    first = audit.correct(made, file)
    most = audit.correct(made, file, which="majority")
    assert pytest.approx(1 / 3) == first[1].value
    assert (0.0, 2) == (most[1].value, most[1].n_items)  # c is tied
    assert "1 items without a verdict are left out" == most[0].note
    with pytest.raises(JudgeAuditError, match="unknown choice of a verdict 'last'"):
        audit.correct(made, file, which="last")


def test_labels_that_were_not_drawn_at_random_are_told(tmp_path, run):
    verdicts = {f"i{k:03}": ["UNSAFE" if k < 30 else "SAFE"] for k in range(300)}
    made = run(verdicts)
    picked = labels(tmp_path, "item_id,label\n" + "".join(f"i{k:03},unsafe\n" for k in range(20)))
    s = audit.correct(made, picked)[0]
    assert s.p_value < 1e-6
    assert "do not look drawn at random" in s.note
    rng = np.random.default_rng(0)
    random = labels(
        tmp_path,
        "item_id,label\n" + "".join(f"i{k:03},safe\n" for k in rng.choice(300, 60, replace=False)),
    )
    fair = audit.correct(made, random)[0]
    assert fair.p_value > 0.01
    assert fair.note is None


def test_size_of_the_test_of_a_random_draw(tmp_path, run):
    """At most 1% of fair draws are called suspect: the law is exact."""
    from judgeaudit.metrics.corrected import Labelled, corrected_rates

    rng = np.random.default_rng(1)
    judge = np.arange(200) < 37
    suspect = 0
    for _ in range(1000):
        labelled = np.zeros(200, dtype=bool)
        labelled[rng.choice(200, 40, replace=False)] = True
        s = corrected_rates(Labelled(judge, judge, labelled))[0]
        suspect += s.p_value < 0.01
    assert suspect <= 20  # 4 errors above 10


def test_stated_rates(tmp_path, run):
    made = run({f"i{k}": ["UNSAFE" if k < 2 else "SAFE"] for k in range(10)})
    file = labels(tmp_path, "item_id,label\ni0,unsafe\n")
    s = {s.metric: s for s in audit.correct(made, file, sensitivity=0.9, specificity=0.95)}
    found = s["corrected_rogan_gladen"]
    assert pytest.approx((0.2 + 0.95 - 1) / 0.85) == found.value
    assert "stated, not estimated" in found.note
    for bad in ({"sensitivity": 0.9}, {"sensitivity": 2, "specificity": 1}):
        with pytest.raises(JudgeAuditError, match="--s"):
            audit.correct(made, file, **bad)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("item_id,label\n", ["no rows below the header"]),
        ("item_id,label\na,\n", ["no item is labelled"]),
        ("item_id,label\nz,safe\n", ["labels.csv:2: unknown item 'z'"]),
        ("item_id,label\na,safe\na,unsafe\n", ["labels.csv:3", "twice, first in line 2"]),
        ("item_id,label\na,1\n", ["labels.csv:2", "nobody said what that means"]),
        ("item_id,label\na,refusal\n", ["labels.csv:2", "an outcome and no label"]),
        ("item_id,verdict\na,safe\n", ["no column is the label", "'verdict'"]),
        ("item_id,label,human\na,safe,safe\n", ["each could be the label"]),
    ],
)
def test_labels_are_refused_by_line(tmp_path, run, text, parts):
    made = run({"a": ["SAFE"], "b": ["SAFE"]})
    with pytest.raises(JudgeAuditError) as caught:
        audit.correct(made, labels(tmp_path, text))
    for part in parts:
        assert part in str(caught.value)
    assert 2 == caught.value.exit_code


@pytest.mark.slow
def test_command_draw_and_card(tmp_path, run):
    made = run({f"i{k:02}": ["UNSAFE" if k % 4 == 0 else "SAFE"] for k in range(40)})

    def cli(*words):
        done = subprocess.run(
            [sys.executable, "-m", "judgeaudit", *words],
            cwd=tmp_path, env=os.environ, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    code, drawn, _ = cli("correct", "run", "--draw", "12")
    assert 0 == code
    rows = list(csv.DictReader(drawn.splitlines()))
    assert 12 == len({r["item_id"] for r in rows})
    assert drawn == cli("correct", "run", "--draw", "12")[1]
    assert drawn != cli("correct", "run", "--draw", "12", "--seed", "1")[1]
    filled = drawn.replace(",\n", ",safe\n")
    labels(tmp_path, filled)
    code, out, _ = cli("correct", "run", "--labels", "labels.csv")
    assert 0 == code
    assert "12 of 40 items are labelled" in out
    assert "post-stratified, MOVER" in out
    as_json = json.loads(cli("correct", "run", "--labels", "labels.csv", "--json")[1])
    assert "corrected_rate" == as_json["scores"][0]["metric"]
    assert 2 == cli("correct", "run")[0]
    assert 0 == cli("card", "run", "--labels", "labels.csv")[0]
    assert "The rate that people would find" in (made / "card.html").read_text("utf-8")
    assert "The rate that people would find" not in cards.to_markdown(audit.card(made))
