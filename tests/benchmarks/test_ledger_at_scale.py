"""The ledger at 5 million rows: bytes, bounded memory, quick resume; against plain JSON lines."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench_world import cpu, peak_mb, show, size
from engine_world import open_ledger, plan_for

from judgeaudit.core.records import Condition, Protocol, Reply, Verdict
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.writer import Answer

pytestmark = [pytest.mark.bench, pytest.mark.timeout(3600)]

TEXT = '{"verdict": "%s", "confidence": 0.9, "rationale": "The agent asked before it paid."}'


def big_plan(rows):
    """Lay out so many calls: 2,000 items under 5 conditions, with as many repeats as it takes."""
    kinds = {"base": "reference", "T1": "certified", "T2": "certified", "T4": "certified"}
    kinds["strict"] = "threshold"
    items = max(1, min(2000, rows // 5))
    repeats = max(1, rows // (items * len(kinds)))
    conditions = tuple(Condition(id=k, kind=v) for k, v in kinds.items())
    return plan_for(
        items,
        Protocol(preset="big", base_repeats=repeats, repeats=repeats, conditions=conditions),
    )


def answers(n):
    """Make answers with the fields of a real one, its own request id included."""
    made = [
        (Reply(text=TEXT % label, finish_reason="stop", served_model="m-2026-01-01",
               system_fingerprint="fp", prompt_tokens=1500, completion_tokens=30, cost=0.0004,
               seconds=0.8), Verdict(outcome="verdict", label=label, confidence=0.9))
        for label in ("SAFE", "UNSAFE")
    ]  # fmt: skip
    for k in range(n):
        reply, verdict = made[k % 2]
        yield Answer(
            k, reply.model_copy(update={"request_id": f"chatcmpl-{k:024d}"}), verdict, 1, 0.8
        )


def in_a_process(part, path, rows):
    """Run one part in a process of its own, so that its peak memory is its own."""
    done = subprocess.run(
        [sys.executable, __file__, part, str(path), str(rows)],
        capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def part_write(path, rows):
    plan = big_plan(rows)
    ledger = open_ledger(path, plan)
    start, planned = peak_mb(), path.stat().st_size

    def work():
        with ledger:
            rest = answers(plan.n_calls - 1000)  # some are left to be resumed
            while some := list(itertools.islice(rest, 4096)):
                ledger.append(some)

    used, _ = cpu(work)
    return {"cpu": used, "mb": peak_mb() - start, "n": plan.n_calls - 1000, "planned": planned}


def part_resume(path, rows):
    plan = big_plan(rows)
    start = peak_mb()
    found = []

    def work():
        with open_ledger(path, plan) as ledger:
            found.append(int(ledger.open_positions().size))

    used, _ = cpu(work)
    return {"cpu": used, "mb": peak_mb() - start, "left": found[0]}


def part_jsonl_write(path, rows):
    plan = big_plan(rows)

    def work():
        with path.open("w") as out:
            for a in answers(plan.n_calls - 1000):
                line = {
                    "call": plan.call(a.call).id,
                    **a.reply.model_dump(),
                    "label": a.verdict.label,
                }
                out.write(json.dumps(line) + "\n")
                out.flush()

    used, _ = cpu(work)
    return {"cpu": used, "mb": 0}


def part_jsonl_resume(path, rows):
    plan = big_plan(rows)
    start = peak_mb()
    left = []

    def work():
        with path.open() as lines:
            done = {json.loads(line)["call"] for line in lines}
        left.append(sum(plan.call(k).id not in done for k in range(0, plan.n_calls, 50)))

    used, _ = cpu(work)
    return {"cpu": used, "mb": peak_mb() - start}


def part_table(path, _rows):
    start = peak_mb()
    shape = []

    def work():
        with Ledger.open_readonly(path) as view:
            shape.extend(view.table().codes.shape)

    used, _ = cpu(work)
    return {"cpu": used, "mb": peak_mb() - start}


def part_rows(path, _rows):
    start = peak_mb()
    n = []

    def work():
        with Ledger.open_readonly(path) as view:
            n.append(sum(1 for _ in view.rows(condition="T2")))

    used, _ = cpu(work)
    return {"cpu": used, "mb": peak_mb() - start, "n": n[0]}


def part_first_page(path, _rows):
    def work():
        with Ledger.open_readonly(path) as view:
            for _ in itertools.islice(view.rows(condition="T2"), 1000):
                pass

    used, _ = cpu(work)
    return {"cpu": used, "mb": 0}


def test_bytes_a_verdict(tmp_path):
    """Beside the answer itself, prompts stored once, a verdict takes at most 1 KB."""
    rows = 20_000
    wrote = in_a_process("write", tmp_path / "l.sqlite", rows)
    on_disk = (tmp_path / "l.sqlite").stat().st_size
    raw = len(TEXT % "SAFE")
    beside = on_disk / wrote["n"] - raw
    show(
        f"bytes a verdict, {wrote['n']:,} verdicts, plan and texts included",
        [
            ("on disk", "raw answer", "beside it", "target"),
            (on_disk / wrote["n"], raw, beside, "1024"),
        ],
        __file__,
    )
    assert beside < 1024


def test_five_million_rows(tmp_path):
    rows = size("ROWS", 5_000_000)
    small = min(rows, size("JSONL_ROWS", 500_000))
    path = tmp_path / "l.sqlite"
    wrote = in_a_process("write", path, rows)
    resume = in_a_process("resume", path, rows)
    table = in_a_process("table", path, rows)
    page = in_a_process("first_page", path, rows)
    some = in_a_process("rows", path, rows)
    lines = in_a_process("jsonl_write", tmp_path / "l.jsonl", small)
    again = in_a_process("jsonl_resume", tmp_path / "l.jsonl", small)
    assert 1000 == resume["left"]

    def row(name, part, n, peer=None):
        micro = 1e6 * part["cpu"] / n
        ratio = "" if peer is None else micro / (1e6 * peer["cpu"] / small)
        return (name, part["cpu"], micro, ratio, part["mb"])

    show(
        f"{rows:,} rows, {path.stat().st_size / rows:.0f} bytes a row; peer: JSON lines, {small:,}",
        [
            ("part", "CPU s", "CPU us a row", "ratio to JSON lines", "MB above start"),
            row("write", wrote, rows, lines),
            row("resume", resume, rows, again),
            row("table for scoring", table, rows),
            row("first page of a condition", page, 1000),
            row("all rows of a condition", some, some["n"]),
            row("JSON lines: write", lines, small),
            row("JSON lines: resume", again, small),
        ],
        __file__,
    )
    assert resume["cpu"] / rows < again["cpu"] / small
    assert wrote["mb"] < 120
    assert resume["mb"] < 40 * rows / 1e6 + 60
    assert some["mb"] < 8 * rows / 1e6 + 60


if __name__ == "__main__":
    part, where, count = sys.argv[1:]
    print(json.dumps(globals()[f"part_{part}"](Path(where), int(count))))
