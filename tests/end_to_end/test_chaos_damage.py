"""A damaged ledger: nothing lost, or a line that names the salvage, which says what is missing.

After it the same command asks the missing calls and no others. The short form spoils a few files;
JUDGEAUDIT_SLOW=full many.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from chaos_world import (
    IN_FLIGHT,
    LONG,
    answered,
    card,
    command,
    committed,
    ledger_verb,
    one_line,
    run,
    server,
    start,
)
from engine_world import make_plan, open_ledger

from judgeaudit.core.errors import LedgerError
from judgeaudit.core.records import Reply, Verdict
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.salvage import salvage
from judgeaudit.engine.verify import faults, refuse_damaged
from judgeaudit.engine.writer import Answer, Failure

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]

ITEMS = 12
PAGE = 4096
SEED = int(os.environ.get("JUDGEAUDIT_CHAOS_SEED", "2030"))
FUZZ = int(os.environ.get("JUDGEAUDIT_CHAOS_FUZZ", "400" if LONG else "60"))


class World:
    def __init__(self, at, folder: Path) -> None:
        self.at, self.calm = at, folder / "calm"
        done = run(command(at.api_base, self.calm, ITEMS))
        assert 0 == done.returncode, done.stderr
        self.planned = at.settled()
        self.half = self.stopped(folder / "half", signal.SIGINT)

    def stopped(self, out: Path, how: signal.Signals) -> Path:
        """Begin an audit and end it half-way, by hand or by kill -9."""
        process = start(command(self.at.api_base, out, ITEMS))
        while answered(out / "ledger.sqlite") < self.planned // 2:
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(how)
        process.communicate()
        assert process.returncode == (130 if how == signal.SIGINT else -how)
        self.at.settled()
        return out


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    # so slow that half a run is seen before the whole of it is there
    with server("--latency", "0.1") as at:
        yield World(at, tmp_path_factory.mktemp("damage"))


def scores(out: Path) -> object:
    made = card(out)
    return [made["headline"], made["scores"]]


def goes_on(world: World, out: Path, truth: set[int], *, may_be_well: bool = False) -> str:
    """Go on from a damaged ledger as a user would; return how it went."""
    at, ledger = world.at, out / "ledger.sqlite"
    asked = at.settled()
    done = run(command(at.api_base, out, ITEMS))
    if may_be_well and done.returncode == 0:
        assert world.planned - len(truth) == at.settled() - asked
        assert card(world.calm) == card(out)
        return "nothing was lost"
    assert 2 == done.returncode, done.stderr
    assert "judgeaudit ledger salvage" in one_line(done)
    assert asked == at.settled()
    # the damage is noticed as often as somebody tries
    again = run(command(at.api_base, out, ITEMS))
    assert (2, one_line(done)) == (again.returncode, one_line(again))
    checked = ledger_verb("verify", out)
    assert checked.returncode in {1, 2}
    assert "salvage" in checked.stdout + checked.stderr
    saved = ledger_verb("salvage", out)
    if saved.returncode == 2 and "--plan" in saved.stderr:
        # as the message says: begin the same run elsewhere, with one call
        other = out.with_name(out.name + "-plan")
        assert 3 == run(command(at.api_base, other, ITEMS, "--budget-calls", "1")).returncode
        saved = ledger_verb("salvage", out, "--plan", other)
        asked = at.settled()
    assert 0 == saved.returncode, saved.stderr
    kept = committed(ledger)
    report = json.loads((out / "ledger.sqlite.salvage.json").read_text())
    assert kept <= truth
    assert len(kept) == report["saved"]
    # the record of a killed run lags by the batch that was being committed, and says so
    lag = len(truth) - len(kept) - report["lost_answers"]
    assert 0 <= lag <= (IN_FLIGHT if report["by_record"] else 0)
    assert f"{len(kept)} answers saved" in saved.stdout
    assert f"{world.planned - len(kept)} of {world.planned} planned calls are open" in saved.stdout
    if len(kept) < len(truth):
        least = "at least " if report["by_record"] else ""
        assert f"\n{least}{report['lost_answers']} answers and " in saved.stdout
    assert (out / "ledger.sqlite.damaged").exists()
    done = run(command(at.api_base, out, ITEMS))
    assert 0 == done.returncode, done.stderr
    assert world.planned - len(kept) == at.settled() - asked
    assert scores(world.calm) == scores(out)
    if not (report["wordless"] or report["read_again"] or report["batches"]):
        assert card(world.calm) == card(out)
    return f"{len(truth) - len(kept)} of {len(truth)} answers were lost"


def copy_of_half(world: World, tmp_path: Path) -> tuple[Path, Path, set[int]]:
    out = tmp_path / "run"
    shutil.copytree(world.half, out)
    ledger = out / "ledger.sqlite"
    return out, ledger, committed(ledger)


@pytest.mark.parametrize("cut", [1, 2000, PAGE + 1000])
def test_a_file_that_was_cut_in_the_midst_of_a_page(world, tmp_path, cut):
    out, ledger, truth = copy_of_half(world, tmp_path)
    os.truncate(ledger, ledger.stat().st_size - cut)
    print(f"\ncut by {cut}: {goes_on(world, out, truth)}")


@pytest.mark.parametrize("k", range(12 if LONG else 3))
def test_changed_bytes_in_the_last_page(world, tmp_path, k):
    out, ledger, truth = copy_of_half(world, tmp_path)
    dice = random.Random(SEED + k)
    data = bytearray(ledger.read_bytes())
    for _ in range(dice.choice([1, 8, 64])):
        data[len(data) - 1 - dice.randrange(PAGE)] ^= 1 << dice.randrange(8)
    ledger.write_bytes(bytes(data))
    print(f"\nbits flipped, {k}: {goes_on(world, out, truth, may_be_well=True)}")


def test_a_last_page_of_rubbish(world, tmp_path):
    out, ledger, truth = copy_of_half(world, tmp_path)
    data = ledger.read_bytes()
    ledger.write_bytes(data[:-PAGE] + random.Random(SEED).randbytes(PAGE))
    print(f"\nrubbish: {goes_on(world, out, truth)}")


@pytest.mark.parametrize("also", [(), ("-shm",)])
def test_a_wal_that_somebody_removed_after_a_kill(world, tmp_path, also):
    out = world.stopped(tmp_path / "run", signal.SIGKILL)
    ledger = out / "ledger.sqlite"
    truth = committed(ledger)
    for suffix in ("-wal", *also):
        ledger.with_name(ledger.name + suffix).unlink()
    print(f"\nwal removed: {goes_on(world, out, truth)}")


@pytest.mark.parametrize("where", [0.1, 0.6])
def test_a_wal_that_changed_after_a_kill(world, tmp_path, where):
    out = world.stopped(tmp_path / "run", signal.SIGKILL)
    ledger = out / "ledger.sqlite"
    truth = committed(ledger)
    wal = ledger.with_name(ledger.name + "-wal")
    data = bytearray(wal.read_bytes())
    data[int(where * len(data))] ^= 0xFF
    wal.write_bytes(bytes(data))
    print(f"\nwal changed: {goes_on(world, out, truth)}")


def test_a_salvage_that_is_killed_goes_on(world, tmp_path):
    out, ledger, truth = copy_of_half(world, tmp_path)
    os.truncate(ledger, ledger.stat().st_size - 3 * PAGE - 7)
    dice = random.Random(SEED)
    words = [*command(world.at.api_base, out, ITEMS)[:3], "ledger", "salvage", str(out)]
    for _ in range(8 if LONG else 3):
        process = start(words)
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if list(out.glob("*.lock")):
                time.sleep(dice.uniform(0, 0.1))
                process.kill()
        process.communicate()
        # the name is never free: a run would begin anew
        assert ledger.exists()
    if ledger_verb("verify", out).returncode:
        saved = ledger_verb("salvage", out)
        assert 0 == saved.returncode, saved.stderr
    kept = committed(ledger)
    assert kept <= truth
    asked = world.at.settled()
    done = run(command(world.at.api_base, out, ITEMS))
    assert 0 == done.returncode, done.stderr
    assert world.planned - len(kept) == world.at.settled() - asked
    assert scores(world.calm) == scores(out)


def written(path: Path) -> dict[int, dict[str, object]]:
    """Write a ledger of 300 answers and 10 failures, and return its answers."""
    dice = random.Random(1)

    def answer(call):
        label = dice.choice(["SAFE", "UNSAFE"])
        text = json.dumps({"verdict": label, "rationale": "words " * 20})
        reply = Reply(text=text, request_id=f"r{call}", prompt_tokens=9)
        return Answer(call, reply, Verdict(outcome="verdict", label=label), 1, 0.2)

    with open_ledger(path, make_plan(24)) as ledger:
        for k in range(0, 300, 10):
            ledger.append([answer(j) for j in range(k, k + 10)])
        ledger.append([Failure(k, "server", 503, None, "busy", 2) for k in range(290, 300)])
    return rows(path)


def rows(path: Path) -> dict[int, dict[str, object]]:
    with Ledger.open_readonly(path) as view:
        assert faults(view) == []
        return {r["position"]: r for r in view.rows() if r["outcome"]}


def trouble(path: Path) -> str | None:
    """Return what a run would say that was to go on from a ledger."""
    try:
        with Ledger.open_readonly(path) as view:
            refuse_damaged(view)
    except LedgerError as error:
        return str(error)
    return None


@pytest.mark.parametrize("last_page", [True, False])
def test_flipped_bits_never_pass_unnoticed_nor_make_another_verdict(tmp_path, last_page):
    """Each file is noticed or unharmed; each label that is saved is the one that was written."""
    whole = written(tmp_path / "whole")
    data = (tmp_path / "whole").read_bytes()
    path, new = tmp_path / "spoilt", tmp_path / "new"
    unharmed = saved = refused = 0
    for seed in range(FUZZ):
        dice = random.Random(1000 * SEED + seed)
        spoilt = bytearray(data)
        page = len(data) // PAGE - 1 if last_page else dice.randrange(1, len(data) // PAGE)
        for _ in range(dice.choice([1, 1, 3, 30])):
            spoilt[page * PAGE + dice.randrange(PAGE)] ^= 1 << dice.randrange(8)
        path.write_bytes(bytes(spoilt))
        if (said := trouble(path)) is None:
            assert whole == rows(path)
            unharmed += 1
            continue
        assert "judgeaudit ledger salvage" in said
        new.unlink(missing_ok=True)
        try:
            found = salvage(path, new)
        except LedgerError as error:
            said = str(error)
            assert "--plan" in said or "where its tables are" in said
            refused += 1
            continue
        kept = rows(new)
        assert len(kept) == found.saved
        assert all(whole[k]["label"] == row["label"] for k, row in kept.items())
        # what the batches say may itself be damaged: never too little is told
        assert 300 - len(kept) <= found.lost_answers
        saved += 1
    print(f"\n{FUZZ} files: {unharmed} unharmed, {saved} saved, {refused} without their plan")
    assert saved
    assert unharmed


def test_a_second_writer_of_a_killed_ledger_keeps_the_promise(world, tmp_path):
    """A compaction between the kill and the resume neither loses nor hides anything."""
    out = world.stopped(tmp_path / "run", signal.SIGKILL)
    ledger = out / "ledger.sqlite"
    truth = committed(ledger)
    assert 0 == ledger_verb("compact", out).returncode
    assert truth == committed(ledger)
    asked = world.at.settled()
    done = run(command(world.at.api_base, out, ITEMS))
    assert 0 == done.returncode, done.stderr
    assert world.planned - len(truth) == world.at.settled() - asked <= world.planned
    assert len(truth) >= world.planned // 2 - IN_FLIGHT


def test_a_compaction_does_not_hide_that_a_wal_is_gone(world, tmp_path):
    out = world.stopped(tmp_path / "run", signal.SIGKILL)
    ledger = out / "ledger.sqlite"
    truth = committed(ledger)
    ledger.with_name(ledger.name + "-wal").unlink()
    done: subprocess.CompletedProcess[str] = ledger_verb("compact", out)
    assert 2 == done.returncode
    assert "committed answers are gone" in one_line(done)
    print(f"\n{goes_on(world, out, truth)}")
