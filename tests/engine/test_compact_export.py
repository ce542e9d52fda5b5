"""Compaction, killed and not; export as lines and as Parquet."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from engine_world import PromptJudge, ask_all, make_plan, open_ledger

from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.core.records import Reply, Verdict
from judgeaudit.engine.compact import compact
from judgeaudit.engine.export import export
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.merge import merge
from judgeaudit.engine.verify import faults
from judgeaudit.engine.writer import Answer

CHILD = Path(__file__).resolve().parents[1] / "support" / "ledger_child.py"
ODD = "half a pair \ud83d, a NUL \x00, two lines\u2028and 한국어"


@pytest.fixture
def plan():
    return make_plan(12)


@pytest.fixture
def path(tmp_path, plan):
    path = tmp_path / "run.sqlite"
    order = list(range(plan.n_calls))
    random.Random(1).shuffle(order)
    with open_ledger(path, plan) as ledger:
        for k in order[:-5]:
            verdict = Verdict(outcome="verdict", label="SAFE", confidence=0.5)
            ledger.append([Answer(k, Reply(text=f"{ODD} {k} " + "x" * 500), verdict, 1, 0.5)])
    return path


def state(path):
    with Ledger.open_readonly(path) as view:
        assert faults(view) == []
        return view.content_sha256(), view.head(), view.n_answered


def test_it_shrinks_and_every_row_and_the_chain_stay(path, plan):
    before = state(path)
    was, now = compact(path)
    assert was > now == path.stat().st_size
    assert before == state(path)
    ask_all(path, plan, PromptJudge())
    assert plan.n_calls == state(path)[2]
    assert [path.name] == [p.name for p in path.parent.iterdir()]


def test_a_wal_that_a_kill_left_is_folded_in(tmp_path, plan):
    whole = tmp_path / "whole"
    with open_ledger(whole, plan) as ledger:
        ledger.append([Answer(0, Reply(text="x"), Verdict(outcome="refusal"), 1, 0.5)])
        for suffix in ("", "-wal"):
            shutil.copy(tmp_path / f"whole{suffix}", tmp_path / f"died{suffix}")
    compact(tmp_path / "died")
    assert state(whole) == state(tmp_path / "died")
    assert not (tmp_path / "died-wal").exists()


def test_what_is_in_use_or_not_whole_is_left_as_it_is(path, plan, monkeypatch):
    with open_ledger(path, plan), pytest.raises(LedgerError, match="another run is writing"):
        compact(path)
    monkeypatch.setattr("judgeaudit.engine.compact._PATIENCE", 0.1)
    writer = open_ledger(path, plan)
    with Ledger.open_readonly(path) as view:
        rows = view.connection.execute("SELECT * FROM calls")
        rows.fetchone()
        writer.close()  # the reader keeps the -wal
        with pytest.raises(LedgerError, match="another program reads this ledger"):
            compact(path)
        rows.close()
    db = sqlite3.connect(path)
    db.execute("DROP TRIGGER verdicts_no_update")
    db.execute("UPDATE verdicts SET label = 'UNSAFE' WHERE call = 3")
    db.commit()
    db.close()
    with pytest.raises(LedgerError, match="it is not whole: batch"):
        compact(path)
    with Ledger.open_readonly(path) as view:
        assert 1 == len(faults(view))
    assert [path.name] == [p.name for p in path.parent.iterdir()]
    with pytest.raises(LedgerError, match="there is no ledger here"):
        compact(path.with_name("none"))


def kill_at_random(words, n_kills, check):
    moments = random.Random()  # other moments in every run, on purpose
    for _ in range(n_kills):
        process = subprocess.Popen(
            [sys.executable, str(CHILD), *map(str, words)], stdout=subprocess.PIPE, text=True
        )
        process.stdout.readline()
        time.sleep(moments.uniform(0, 0.25))
        process.kill()
        process.communicate()
        check()


@pytest.mark.slow
def test_killed_in_mid_compaction_the_ledger_is_whole(path):
    before = state(path)

    def check():
        assert before == state(path)

    kill_at_random(["compact", path], 5, check)
    compact(path)
    assert before == state(path)
    assert [path.name] == [p.name for p in path.parent.iterdir()]


@pytest.mark.slow
def test_killed_in_mid_merge_the_sources_are_whole_and_the_target_is_or_is_not_there(
    path, tmp_path, plan
):
    other = tmp_path / "other.sqlite"
    open_ledger(other, plan).close()
    before = state(path), state(other)
    target = tmp_path / "merged.sqlite"

    def check():
        assert before == (state(path), state(other))
        if target.exists():
            assert before[0][0] == state(target)[0]

    kill_at_random(["merge", target, path, other], 5, check)
    target.unlink(missing_ok=True)
    merge([path, other], target)
    assert before[0][0] == state(target)[0]
    assert {"run.sqlite", "other.sqlite", "merged.sqlite"} == {p.name for p in tmp_path.iterdir()}


def test_lines_hold_every_character_and_read_back(path, tmp_path, plan):
    assert plan.n_calls == export_to(path, tmp_path / "x.jsonl", "jsonl")
    rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text("ascii").splitlines()]
    with Ledger.open_readonly(path) as view:
        assert list(view.rows()) == rows
    assert plan.n_calls == len(rows)
    assert ODD in next(r["text"] for r in rows if r["text"])


def test_parquet_holds_the_same_rows_with_types(path, tmp_path, plan, monkeypatch):
    import pandas as pd

    monkeypatch.setattr("judgeaudit.engine.export._GROUP", 50)
    assert plan.n_calls == export_to(path, tmp_path / "x.parquet", "parquet")
    frame = pd.read_parquet(tmp_path / "x.parquet")
    assert plan.n_calls == len(frame)
    assert ("int64", "float64") == (str(frame["position"].dtype), str(frame["seconds"].dtype))
    with Ledger.open_readonly(path) as view:
        rows = list(view.rows())
    assert [r["item"] for r in rows] == frame["item"].tolist()
    assert [r["outcome"] for r in rows] == [
        None if pd.isna(v) else v for v in frame["outcome"].tolist()
    ]
    said = frame["text"].dropna().iloc[0]
    assert "half a pair \\ud83d, a NUL \x00, two lines\u2028and 한국어" in said


def export_to(path, target, form, **more):
    with Ledger.open_readonly(path) as view:
        return export(view, target, form, **more)


def test_only_what_is_asked_for(path, tmp_path):
    n = export_to(path, tmp_path / "x.jsonl", "jsonl", condition="T1", item="toy//3")
    rows = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert n == len(rows) == 2
    assert {("T1", "toy//3")} == {(r["condition"], r["item"]) for r in rows}


def test_what_cannot_be_exported_is_said_and_leaves_nothing(path, tmp_path):
    with pytest.raises(ConfigError, match="no call with item 'x' and condition 'T1'"):
        export_to(path, tmp_path / "x", "jsonl", item="x", condition="T1")
    with pytest.raises(ConfigError, match="unknown format 'csv'"):
        export_to(path, tmp_path / "x", "csv")
    with pytest.raises(LedgerError, match="the file cannot be written"):
        export_to(path, tmp_path / "run.sqlite" / "x", "jsonl")
    assert [path.name] == [p.name for p in tmp_path.iterdir()]


def test_the_rows_of_a_condition_are_sorted_once_and_found_by_key(path):
    """The plan of the query has no sort over all calls, however many pages are read."""
    with Ledger.open_readonly(path) as view:
        seen = []
        view.connection.set_trace_callback(seen.append)
        rows = list(view.rows(condition="base"))
        view.connection.set_trace_callback(None)
        assert sorted(r["position"] for r in rows) == [r["position"] for r in rows]
        pages = [s for s in seen if "LEFT JOIN replies" in s]
        assert len(pages) == 1
        plan = view.connection.execute(f"EXPLAIN QUERY PLAN {pages[0]}").fetchall()
        steps = " / ".join(str(p[3]) for p in plan)
        assert "SEARCH c USING INTEGER PRIMARY KEY" in steps
        assert "TEMP B-TREE" not in steps
