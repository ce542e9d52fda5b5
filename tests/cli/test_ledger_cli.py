"""`judgeaudit ledger`: what each verb prints, writes, and ends with."""

from __future__ import annotations

import json
import sqlite3

import pytest
from engine_world import PromptJudge, ask_all, make_plan, open_ledger
from typer.testing import CliRunner

from judgeaudit.cli.ledger import app


def run(*words, code=0):
    done = CliRunner().invoke(app, [str(w) for w in words])
    assert code == done.exit_code, (done.output, done.exception)
    return done.stdout


@pytest.fixture
def folder(tmp_path):
    """Return the folder of a finished run."""
    plan = make_plan(4)
    (tmp_path / "run").mkdir()
    ask_all(tmp_path / "run" / "ledger.sqlite", plan, PromptJudge())
    return tmp_path / "run"


def test_info_says_what_a_run_holds(folder):
    said = run("info", folder)
    assert "answered" in said
    assert "verdict" in said
    found = json.loads(run("info", "--json", folder / "ledger.sqlite"))
    n = make_plan(4).n_calls
    assert (n, n, {"verdict": n}, {}, n) == tuple(
        found[k] for k in ("planned", "answered", "outcomes", "failures", "requests")
    )
    assert (None, {"hash-1": n}) == (found["written by process"], found["served models"])


def test_verify_is_0_for_a_whole_ledger_and_1_for_a_changed_one(folder):
    assert run("verify", folder).startswith("whole: ")
    db = sqlite3.connect(folder / "ledger.sqlite")
    db.execute("DROP TRIGGER replies_no_update")
    db.execute("UPDATE replies SET text = 'SAFE' WHERE call = 2")
    db.commit()
    db.close()
    said = run("verify", folder, code=1)
    assert "was changed after it was written" in said
    assert "not whole: 1 faults" in said


def test_export_goes_to_a_file_by_its_name_or_to_standard_output(folder, tmp_path):
    assert "rows" in run("export", folder, "--out", tmp_path / "x.parquet")
    assert b"PAR1" == (tmp_path / "x.parquet").read_bytes()[:4]
    lines = run("export", folder, "--out", "-", "--condition", "T1").splitlines()
    assert {"T1"} == {json.loads(line)["condition"] for line in lines}
    assert 8 == len(lines)


def test_merge_compact_and_salvage(folder, tmp_path):
    open_ledger(tmp_path / "b.sqlite", make_plan(4)).close()
    n = make_plan(4).n_calls
    said = run("merge", folder, tmp_path / "b.sqlite", "--out", tmp_path / "m.sqlite")
    assert said.startswith(f"{n} of {n} calls answered")
    assert "bytes before" in run("compact", folder)
    said = run("salvage", folder, "--out", tmp_path / "s.sqlite")
    assert f"{n} answers saved, {n} of them proved" in said
    assert (tmp_path / "s.sqlite.salvage.json").exists()
    assert run("verify", tmp_path / "s.sqlite").startswith("whole: ")
