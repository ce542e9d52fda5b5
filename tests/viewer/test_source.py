"""Reading beside a run: never in its way, and after its death."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from engine_world import open_ledger
from viewer_world import answers, small_ledger, small_plan

from judgeaudit.core.errors import LedgerError
from judgeaudit.viewer import Explorer
from judgeaudit.viewer.choosing import Filters
from judgeaudit.viewer.source import Source
from judgeaudit.viewer.wording import side_by_side


def test_a_reader_never_keeps_the_run_from_its_file(tmp_path):
    path, plan = tmp_path / "ledger.sqlite", small_plan()
    with open_ledger(path, plan) as ledger:
        ledger.append(answers(plan, 0, 20))
        explorer = Explorer([path])
        explorer.load().join()
        ledger.append(answers(plan, 20, 40))
        explorer.select(Filters())
    assert not path.with_name("ledger.sqlite-wal").exists()
    db = sqlite3.connect(path)
    assert ("delete",) == db.execute("PRAGMA journal_mode").fetchone()
    db.execute("BEGIN EXCLUSIVE")
    db.close()
    explorer.close()


def test_the_ledger_cannot_be_written_through_it(tmp_path):
    source = Source(small_ledger(tmp_path / "ledger.sqlite"))
    with source.read() as db, pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute("INSERT INTO meta VALUES ('x', 'y')")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_a_run_that_was_killed_is_read_with_its_last_answers(tmp_path):
    """Also where the folder cannot be written: then from a copy."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from engine_world import open_ledger\n"
        "from viewer_world import answers, small_plan\n"
        "plan = small_plan()\n"
        "ledger = open_ledger(Path(sys.argv[2]), plan)\n"
        "ledger.append(answers(plan, 0, 50))\n"
        "print('there', flush=True)\n"
        "sys.stdin.read()\n"
    )
    support = Path(__file__).resolve().parents[1] / "support"
    path = tmp_path / "run" / "ledger.sqlite"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(support), str(path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        assert "there" == child.stdout.readline().strip()
        os.kill(child.pid, signal.SIGKILL)
    assert path.with_name("ledger.sqlite-wal").stat().st_size
    shutil.copytree(path.parent, tmp_path / "other")
    for folder, mode in ((path.parent, 0o500), (tmp_path / "other", 0o700)):
        folder.chmod(mode)
        explorer = Explorer([folder / "ledger.sqlite"])
        explorer.load().join()
        assert [50] == [p["answered"] for p in explorer.progress()]
        explorer.close()
        folder.chmod(0o700)


@pytest.mark.parametrize(
    ("old", "new", "marked"),
    [
        ("a b c\nd\n", "a x c\nd\n", "words"),
        ("", "a", "words"),
        ("same", "same", "words"),
        ("\u2028a\x85b\n\n", "\u2028a\x85c\n\n", "words"),
        ("." * 40_000, "." * 39_999 + "!", "lines"),
        ("x\n" * 5000, "x\n" * 4999 + "y\n", "nothing"),
        ("a " * 200_000, "b", "lines"),
    ],
)
def test_two_texts_side_by_side_are_the_two_texts(old, new, marked):
    found = side_by_side(old, new)
    assert marked == found["marked"]
    assert old == "".join(t for _, left, _ in found["rows"] for _, t in left)
    assert new == "".join(t for _, _, right in found["rows"] for _, t in right)
    assert (old == new) == found["identical"]
    assert (old != new) == any(changed for changed, _, _ in found["rows"])


@pytest.mark.parametrize("part", [0.3, 0.6, 0.8, 0.95])
def test_a_damaged_ledger_is_told_and_never_waited_for(tmp_path, part):
    """Cut short, the rest zeros, as after a crash of the disk: an error, or what can be read."""
    path = small_ledger(tmp_path / "ledger.sqlite", n_items=200)
    whole = path.read_bytes()
    kept = int(len(whole) * part)
    path.write_bytes(whole[:kept] + bytes(len(whole) - kept))
    said = None
    try:
        explorer = Explorer([path])
    except LedgerError as error:
        said = str(error)
    if said is not None:
        assert "damaged" in said
        return
    explorer.load().join()
    (found,) = explorer.progress()
    assert found["ready"] != bool(found["error"])
    explorer.close()
