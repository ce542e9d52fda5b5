"""Juries: from the ledgers of runs, from a table, by command, and what is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.metrics.jury import Jury, jury_scores
from judgeaudit.review.jury import jury_of_runs, jury_of_table


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> list[Path]:
    """Audit three planted judges over the same items."""
    out = tmp_path_factory.mktemp("jury")
    return [
        audit.run(
            judge=f"scripted:{name}", corpus="sample", preset="quick", out=out / name, seed=1
        ).folder
        for name in ("quiet", "brittle_t4", "noisy")
    ]


def test_runs_become_a_jury(runs):
    found = jury_of_runs(runs)
    alone = {p.name: audit.score(p).find("accuracy") for p in runs}
    for name, s in alone.items():
        mine = found.find("jury_accuracy", stratum=name)
        assert (s.value, s.low, s.high, s.n_items) == (
            mine.value,
            mine.low,
            mine.high,
            mine.n_items,
        )
    assert found.find("jury_accuracy", stratum="majority").value is not None
    pair = found.find("jury_flip_overlap", stratum="quiet and brittle_t4")
    assert pair.value is None or pair.low <= pair.value <= pair.high
    assert 3 == sum(s.metric == "jury_error_overlap" for s in found.scores)
    assert 2 == sum(s.metric == "jury_gain" for s in found.scores)
    assert "latent" in found.flags
    assert "jury" not in found.flags
    assert found == jury_of_runs(runs)


def test_one_judge_asked_twice_agrees_with_itself_and_is_named_by_folder(runs, tmp_path):
    again = audit.run(
        judge="scripted:quiet", corpus="sample", preset="quick", out=tmp_path / "again", seed=1
    ).folder
    found = jury_of_runs([runs[0], again])
    s = found.find("jury_agreement_observed", stratum="quiet (quiet) and quiet (again)")
    assert s.value > 0.9
    assert "fewer than three judges" in found.reasons["latent"]


def test_items_that_not_all_have_are_left_out_and_said(runs, tmp_path):
    few = audit.run(
        judge="scripted:quiet",
        corpus="sample",
        preset="quick",
        limit=10,
        out=tmp_path / "few",
        seed=1,
    ).folder
    found = jury_of_runs([runs[1], few])
    assert 10 == found.find("jury_accuracy", stratum="quiet").n_items
    assert "10 items are in all runs, which have 16 and 10." == found.reasons["jury"]


def imported(tmp_path: Path, name: str, text: str) -> Path:
    (tmp_path / f"{name}.csv").write_text("item_id,condition,verdict,gold\n" + text)
    return audit.import_verdicts(tmp_path / f"{name}.csv", out=tmp_path / name, judge=name).folder


def test_runs_that_do_not_fit_are_refused(runs, tmp_path):
    one = imported(tmp_path, "one", "a,base,SAFE,SAFE\nb,base,UNSAFE,UNSAFE\n")
    other = imported(tmp_path, "other", "a,base,SAFE,SAFE\nb,base,UNSAFE,SAFE\n")
    with pytest.raises(ConfigError, match="label of 'imported/table/b'"):
        jury_of_runs([one, other])
    with pytest.raises(ConfigError, match="no item in common"):
        jury_of_runs([runs[0], one])
    with pytest.raises(ConfigError, match="named twice"):
        jury_of_runs([one, one / "ledger.sqlite"])
    with pytest.raises(ConfigError, match="a jury of 1"):
        jury_of_runs([one])


TABLE = """id,a,b,c,truth,source
1,1,1,0,1,x
2,0,0,0,0,y
3,1,0,1,1,z
4,0,1,0,0,w
5,1,1,1,1,v
6,0,,0,0,v
7,1,refusal,0,,
8,0,0,1,1,
"""
WORDS = ["1=UNSAFE", "0=SAFE"]


def test_a_table_becomes_a_jury(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    found = jury_of_table(
        tmp_path / "t.csv", ["a", "b", "c"], gold="truth", cluster="source", words=WORDS
    )
    a, b = (found.find("jury_accuracy", stratum=n) for n in "ab")
    assert (pytest.approx(6 / 7), 7, 6) == (a.value, a.n_items, a.n_clusters)
    assert (pytest.approx(3 / 6), 6) == (b.value, b.n_items)
    # the majority: 1 UU-, 2, 3 U-U, 4 wrong for none (0, 1, 0 is SAFE), 6 of two, 8 wrong
    assert pytest.approx(6 / 7) == found.find("jury_accuracy", stratum="majority").value
    pair = found.find("jury_error_overlap", stratum="a and b")
    # a errs on 8; b on 3, 4, 8
    assert pytest.approx(1 / 3) == pair.value
    assert (1.0, 1.0, 3.0) == tuple(pair.detail[k] for k in ("both", "first", "second"))


def test_an_item_with_several_rows_is_refused(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("Item,a,b\ni1,SAFE,SAFE\ni2,SAFE,UNSAFE\ni1,UNSAFE,SAFE\n")
    with pytest.raises(CorpusError, match=r"item 'i1' has a row here and in .*--cluster"):
        jury_of_table(table, ("a", "b"))
    found = jury_of_table(table, ("a", "b"), cluster="Item")
    s = found.find("jury_agreement_observed", stratum="a and b")
    assert (3, 2) == (s.n_items, s.n_clusters)


def test_a_copy_of_a_run_is_no_second_judge(runs, tmp_path):
    shutil.copytree(runs[0], tmp_path / "copy")
    with pytest.raises(ConfigError, match="copies of one another"):
        jury_of_runs([runs[0], tmp_path / "copy"])


def test_without_labels_a_jury_has_agreement_and_reasons(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    found = jury_of_table(tmp_path / "t.csv", ["a", "b"], words=WORDS)
    assert found.find("jury_agreement_kappa", stratum="a and b").value is not None
    for metric in ("jury_accuracy", "jury_gain", "jury_error_overlap", "latent_accuracy"):
        assert all(s.why_undefined for s in found.scores if s.metric == metric)


def test_tables_that_do_not_fit_are_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    with pytest.raises(ConfigError, match="no column 'd'"):
        jury_of_table(path, ["a", "d"], words=WORDS)
    with pytest.raises(CorpusError, match=r"t.csv:2.*nobody said what that means"):
        jury_of_table(path, ["a", "b"])
    with pytest.raises(ConfigError, match="stands twice"):
        jury_of_table(path, ["a", "a"], words=WORDS)
    path.write_text("a,b\n,\n")
    with pytest.raises(CorpusError, match="no row holds a verdict"):
        jury_of_table(path, ["a", "b"])


@pytest.mark.parametrize("n", [0, 1, 2])
def test_every_figure_of_a_tiny_jury_has_a_number_or_a_reason(n):
    votes = np.ones((n, 3))
    made = Jury(("a", "b", "c"), votes, votes > 0, np.ones(n, dtype=np.int8), np.arange(n))
    for s in jury_scores(made).scores:
        assert (s.value is None) == (s.why_undefined is not None)
        assert (s.low is None) == (s.why_no_interval is not None)


def cli(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "judgeaudit", "jury", *words],
        cwd=cwd, env=os.environ, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.slow
def test_the_command(runs, tmp_path):
    folders = [str(r) for r in runs]
    told = cli(tmp_path, *folders)
    assert (0, "") == (told.returncode, told.stderr)
    assert "jury_accuracy (majority)" in told.stdout
    assert "take" not in told.stdout.splitlines()[0]
    assert "latent: " in told.stdout
    listed = json.loads(cli(tmp_path, *folders, "--json").stdout)
    assert jury_of_runs(runs).model_dump(mode="json") == listed
    (tmp_path / "t.csv").write_text(TABLE)
    table = (
        "--table",
        "t.csv",
        "--judge",
        "a",
        "--judge",
        "b",
        "--label",
        "1=UNSAFE",
        "--label",
        "0=SAFE",
    )
    assert "jury_error_overlap (a and b)" in cli(tmp_path, *table, "--gold", "truth").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "jury needs either runs or --table"),
        (("x", "--table", "t.csv"), "jury needs either runs or --table"),
        (("x", "y", "--gold", "g"), "--gold goes with --table"),
        (("x", "y"), "there is no ledger here"),
    ],
)
def test_wrong_words_end_with_two(tmp_path, words, said):
    told = cli(tmp_path, *words)
    assert 2 == told.returncode
    assert said in told.stderr
    assert 1 == len(told.stderr.splitlines())
