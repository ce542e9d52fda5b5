"""Notes beside a ledger: kept once they are acknowledged, never in the ledger, on the card."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from card_runs import numbers, run
from viewer_world import Client, serving, small_ledger

from judgeaudit.core.errors import LedgerError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.engine import triage
from judgeaudit.engine.triage import Mark
from judgeaudit.engine.view import LedgerView

MARK = Mark(time="2030-01-01T00:00:00Z", item="toy//1", condition="T4", prompt_sha256="0" * 64)


def cell_of(client, k=0):
    return client.json("/api/flips")["rows"][k]["cell"]


def summary(client):
    with LedgerView(client.server.explorer.runs[0].path) as view:
        return triage.summary(view)


def test_a_note_is_kept_beside_the_ledger_and_shown_again(own):
    run, cell = own.server.explorer.runs[0], cell_of(own)
    ledger = sha256_text(run.path.read_bytes().decode("latin-1"))
    status, said = own.note(run=0, cell=cell, kind="rewrite", note="\ud800 <b>\u2028\x00 말")
    assert 200 == status
    assert {"kind": "rewrite", "note": True} == said["row"]["mark"]
    assert 1 == own.json("/api/flips?triage=rewrite")["total"]
    assert 1 == own.json("/api/flips?triage=marked")["total"]
    assert 3 == own.json("/api/flips?triage=unmarked")["total"]
    assert 0 == own.json("/api/flips?triage=judge")["total"]
    assert 1 == own.json("/api/flips?q=%EB%A7%90")["total"]
    assert "\ud800 <b>\u2028\x00 말" == own.json(f"/api/flip?run=0&cell={cell}")["triage"]["note"]
    assert sha256_text(run.path.read_bytes().decode("latin-1")) == ledger
    with serving(run.path) as again:
        assert (
            "rewrite" == Client(again).json("/api/flips?triage=marked")["rows"][0]["mark"]["kind"]
        )


def test_the_last_word_counts_and_the_first_is_kept(own):
    cell = cell_of(own)
    for kind in ("rewrite", "judge", None):
        assert 200 == own.note(run=0, cell=cell, kind=kind, note="")[0]
    lines = triage.triage_path(own.server.explorer.runs[0].path).read_text().splitlines()
    assert ["rewrite", "judge", None] == [json.loads(line)["kind"] for line in lines]
    assert 0 == own.json("/api/flips?triage=marked")["total"]
    assert 0 == summary(own)["judge"]


def test_marks_of_another_prompt_say_nothing(own):
    run = own.server.explorer.runs[0]
    triage.add(run.path, MARK.model_copy(update={"kind": "judge"}))
    triage.add(run.path, MARK.model_copy(update={"kind": "judge", "item": "gone"}))
    assert 0 == own.json("/api/flips?triage=marked")["total"]
    found = summary(own)
    assert (0, 2) == (found["judge"], found["stale"])


def test_lines_that_cannot_be_read_are_counted_and_the_next_one_is_safe(own):
    path = triage.triage_path(own.server.explorer.runs[0].path)
    path.write_bytes(b'{"kind": "judge"}\n\n\xff\xfe\n' + b"[" * 100_000 + b'\n{"time": "2030')
    assert 200 == own.note(run=0, cell=cell_of(own), kind="label", note="x")[0]
    found = summary(own)
    assert (1, 1, 4) == (found["label"], found["notes"], found["unreadable"])
    assert 4 == own.json("/api/overview")["runs"][0]["unreadable_marks"]


def test_notes_of_several_writers_are_all_there(tmp_path):
    ledger = small_ledger(tmp_path / "ledger.sqlite")
    marks = [MARK.model_copy(update={"item": f"i{k}", "note": "n" * 3000}) for k in range(200)]
    threads = [
        threading.Thread(target=lambda part: [triage.add(ledger, m) for m in part], args=(marks[k::8],))
        for k in range(8)
    ]  # fmt: skip
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    found, unreadable = triage.read(ledger)
    assert (200, 0) == (len(found), unreadable)


def test_an_acknowledged_note_survives_a_kill(tmp_path):
    ledger = small_ledger(tmp_path / "ledger.sqlite")
    code = (
        "import sys; from pathlib import Path; from judgeaudit.engine import triage as t\n"
        f"m = t.Mark.model_validate_json({MARK.model_dump_json()!r})\n"
        "for k in range(10**6):\n"
        f"    t.add(Path({str(ledger)!r}), m.model_copy(update={{'item': f'i{{k}}'}}))\n"
        "    print(k, flush=True)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    for line in child.stdout:
        if int(line) >= 20:
            break
    os.kill(child.pid, signal.SIGKILL)
    told = [int(line), *map(int, child.stdout.read().split())][-1]
    child.wait()
    child.stdout.close()
    assert len(triage.read(ledger)[0]) >= told + 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    ledger = small_ledger(tmp_path / "ledger.sqlite")
    tmp_path.chmod(0o500)
    with pytest.raises(LedgerError, match="cannot be kept"):
        triage.add(ledger, MARK)
    tmp_path.chmod(0o700)


def test_a_note_that_cannot_be_kept_is_told_and_not_shown(own):
    triage.triage_path(own.server.explorer.runs[0].path).mkdir()
    status, said = own.note(run=0, cell=cell_of(own), kind="judge", note="")
    assert 503 == status
    assert "cannot be kept" in said["error"]
    assert not own.server.explorer.runs[0].marks


def test_each_ledger_of_a_folder_has_its_own_notes():
    paths = [triage.triage_path(Path("r") / n).name for n in ("ledger.sqlite", "b.sqlite")]
    assert ["triage.jsonl", "b.triage.jsonl"] == paths


def test_the_facts_of_a_card_count_them(own):
    run = own.server.explorer.runs[0]
    with LedgerView(run.path) as view:
        assert "triage" not in view.facts().extra
    for k, kind in enumerate(("rewrite", "judge", "judge")):
        own.note(run=0, cell=cell_of(own, k), kind=kind, note="seen" if k else "")
    with LedgerView(run.path) as view:
        said = view.facts().extra["triage"]
    assert {"rewrite": 1, "judge": 2, "label": 0, "notes": 2, "stale": 0, "unreadable": 0} == {
        k: v for k, v in said.items() if k != "sha256"
    }


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (None, []),
        ("x", []),
        ({"rewrite": 0, "judge": 0}, []),
        ({"rewrite": "3"}, []),
        ({"judge": 2}, [("note", "2 changes of verdict, not drawn at random: the judge is wrong in 2.")]),
        ({"rewrite": 1}, [("caution", "1 change of verdict, not drawn at random: the rewrite is wrong in 1.")]),
        ({"judge": 2, "label": 1}, [("caution", "the judge is wrong in 2 and the label is wrong in 1.")]),
    ],
)  # fmt: skip
def test_the_card_says_what_people_found(said, expected):
    card = run(numbers({}), extra={} if said is None else {"triage": said}).card()
    found = [w for w in card.warnings if w.code == "triage"]
    assert [severity for severity, _ in expected] == [w.severity for w in found]
    for (_, words), w in zip(expected, found, strict=True):
        assert w.sentence.endswith(words)
