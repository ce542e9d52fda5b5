"""Real processes: killed, interrupted, locked out, on a full disk."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from engine_world import PromptJudge, make_plan, open_ledger, parse

from judgeaudit.core.errors import LedgerError
from judgeaudit.engine.door import run_plan_sync
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.verify import broken_links

CHILD = Path(__file__).resolve().parents[1] / "support" / "engine_child.py"


def start(ledger, log, n_items, delay, concurrency=8):
    return subprocess.Popen(
        [sys.executable, str(CHILD), *map(str, (ledger, log, n_items, delay, concurrency))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def asked(log):
    return log.read_text().splitlines() if log.exists() else []


def wait_for_calls(process, log, n):
    deadline = time.monotonic() + 30
    while len(asked(log)) < n:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def undisturbed(path, n_items):
    plan = make_plan(n_items)
    with open_ledger(path, plan) as ledger:
        run_plan_sync(plan, PromptJudge(), ledger, parse=parse)
        return ledger.content_sha256()


def test_killed_at_random_moments_nothing_is_lost_doubled_or_asked_again(tmp_path):
    n_items, in_flight = 14, 8
    ledger, log = tmp_path / "run.sqlite", tmp_path / "asked"
    plan = make_plan(n_items)
    moments = random.Random()  # other moments in every run, on purpose
    kills, settled = 0, Counter()
    for _ in range(3):
        process = start(ledger, log, n_items, 0.02)
        goal = len(asked(log)) + moments.randrange(1, 50)
        wait_for_calls(process, log, goal)
        process.kill()
        process.communicate()
        kills += 1
        with Ledger.open_readonly(ledger) as view:
            answered = {plan.call(r["position"]).id for r in view.rows() if r["outcome"]}
        so_far = Counter(asked(log))
        # what was committed before this kill was not asked again since
        for name, times in settled.items():
            assert so_far[name] == times
        settled = Counter({name: so_far[name] for name in answered})
    process = start(ledger, log, n_items, 0.0)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    with Ledger.open_readonly(ledger) as view:
        assert view.n_answered == plan.n_calls
        assert broken_links(view) == []
        content = view.content_sha256()
    total = Counter(asked(log))
    assert set(total) == {plan.call(k).id for k in range(plan.n_calls)}
    for name, times in settled.items():
        assert total[name] == times
    assert total.total() <= plan.n_calls + kills * in_flight
    assert content == undisturbed(tmp_path / "calm.sqlite", n_items)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["asked", "calm.sqlite", "run.sqlite"]


def test_killed_while_the_ledger_is_made_it_is_whole_or_not_there(tmp_path):
    ledger, log = tmp_path / "run.sqlite", tmp_path / "asked"
    plan = make_plan(400)
    process = start(ledger, log, 400, 10)
    while not ledger.exists():
        assert process.poll() is None, process.communicate()
    process.kill()
    process.communicate()
    with open_ledger(ledger, plan) as opened:
        assert opened.n_planned == plan.n_calls
        assert opened.n_answered == 0


def test_the_lock_names_its_holder_and_vanishes_with_it(tmp_path):
    ledger, log = tmp_path / "run.sqlite", tmp_path / "asked"
    plan = make_plan(4)
    process = start(ledger, log, 4, 30)
    wait_for_calls(process, log, 1)
    with pytest.raises(LedgerError, match=rf"another run .* \(process {process.pid}\)"):
        open_ledger(ledger, plan)
    with Ledger.open_readonly(ledger) as view:
        assert view.n_planned == plan.n_calls
    process.kill()
    process.communicate()
    with open_ledger(ledger, plan), pytest.raises(LedgerError, match=f"process {os.getpid()}"):
        open_ledger(ledger, plan)
    open_ledger(ledger, plan).close()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_does_not_keep_the_lock(tmp_path):
    ledger = tmp_path / "run.sqlite"
    plan = make_plan(1)
    opened = open_ledger(ledger, plan)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        signal.pause()
    try:
        opened.close()
        open_ledger(ledger, plan).close()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_drains_and_exits_130(tmp_path, number):
    ledger, log = tmp_path / "run.sqlite", tmp_path / "asked"
    process = start(ledger, log, 20, 0.1)
    wait_for_calls(process, log, 20)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "finishing the calls in flight" in err
    n = len(asked(log))
    assert out.startswith(f"answered {n} left ")
    with Ledger.open_readonly(ledger) as view:
        assert view.n_answered == n
        assert broken_links(view) == []


def test_a_second_interrupt_stops_now(tmp_path):
    ledger, log = tmp_path / "run.sqlite", tmp_path / "asked"
    process = start(ledger, log, 20, 0)
    wait_for_calls(process, log, 10)
    process.communicate(timeout=30)
    slow = start(ledger, log, 21, 0)
    out, _ = slow.communicate(timeout=30)
    assert slow.returncode == 2
    assert "belongs to another run" in out
    ledger.unlink()
    log.unlink()
    process = start(ledger, log, 20, 60, 1)
    wait_for_calls(process, log, 1)
    process.send_signal(signal.SIGINT)
    assert "asking" in process.stderr.readline()
    assert "finishing" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "stopping now" in err
    assert out.startswith("answered 0 left ")


@contextlib.contextmanager
def small_disk(folder, size):
    folder.mkdir()
    mounted = (
        os.getuid() == 0
        and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)],
            capture_output=True,
            check=False,
        ).returncode
        == 0
    )
    if not mounted:
        pytest.skip("a small disk needs the right to mount one")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_stops_the_run_and_keeps_what_was_committed(tmp_path):
    plan = make_plan(60)
    with small_disk(tmp_path / "disk", "16m") as disk:
        ledger = disk / "run.sqlite"
        judge = PromptJudge()
        opened = open_ledger(ledger, plan)
        (disk / "filler").write_bytes(bytes((16 << 20) - used(disk) - 100_000))
        with opened, pytest.raises(LedgerError, match="is full"):
            run_plan_sync(plan, judge, opened, limits=Limits(concurrency=4), parse=parse)
        with Ledger.open_readonly(ledger) as view:
            kept = view.n_answered
            assert judge.requests - 4 <= kept < plan.n_calls
            assert kept > 0
            assert broken_links(view) == []
        (disk / "filler").unlink()
        again = PromptJudge()
        with open_ledger(ledger, plan) as opened:
            run_plan_sync(plan, again, opened, parse=parse)
            assert opened.n_answered == plan.n_calls
            assert broken_links(opened) == []
        assert again.requests == plan.n_calls - kept


def used(folder):
    stat = os.statvfs(folder)
    return (stat.f_blocks - stat.f_bfree) * stat.f_frsize


def test_a_ledger_that_does_not_fit_leaves_nothing_behind(tmp_path):
    with small_disk(tmp_path / "disk", "64k") as disk:
        with pytest.raises(LedgerError, match="is full"):
            open_ledger(disk / "run.sqlite", make_plan(60))
        assert list(disk.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    folder = tmp_path / "ro"
    with small_disk(folder, "1m"):
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        with pytest.raises(LedgerError, match="cannot be written here"):
            open_ledger(folder / "run.sqlite", make_plan(1))
        with pytest.raises(LedgerError, match="folder for the ledger cannot be made"):
            open_ledger(folder / "deeper" / "run.sqlite", make_plan(1))
