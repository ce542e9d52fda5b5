"""A full disk under a whole audit: said in one line, exit 3, and the same command goes on."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest
from chaos_world import (
    IN_FLIGHT,
    answered,
    card,
    command,
    committed,
    one_line,
    run,
    server,
    start,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

ITEMS = 12


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("disk")
    # so slow that a busy machine sees the moment it waits for before the run is over
    with server("--latency", "0.25") as at:
        done = run(command(at.api_base, folder / "calm", ITEMS))
        assert 0 == done.returncode, done.stderr
        yield at, folder / "calm", at.settled()


@pytest.fixture
def disk(tmp_path):
    """A disk of 8 MB, where this process may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(folder)]
    if os.getuid() or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("a small disk needs the right to mount one")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(disk):
    with (disk / "filler").open("ab", buffering=0) as filler, contextlib.suppress(OSError):
        while filler.write(bytes(4096)):
            pass


def finishes(world, out, kept, asked):
    at, calm, planned = world
    done = run(command(at.api_base, out, ITEMS))
    assert 0 == done.returncode, done.stderr
    assert planned - len(kept) == at.settled() - asked
    assert card(calm) == card(out)


def test_a_disk_that_fills_up_in_mid_run(world, disk):
    at, _, planned = world
    out, before = disk / "run", at.settled()
    process = start(command(at.api_base, out, ITEMS))
    while answered(out / "ledger.sqlite") < 20:
        assert process.poll() is None
        time.sleep(0.01)
    fill(disk)
    stdout, stderr = process.communicate(timeout=120)
    done = subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)
    assert 3 == done.returncode, stderr
    said = one_line(done)
    assert "the disk is full. What was committed is kept; free some space" in said
    asked = at.settled()
    kept = committed(out / "ledger.sqlite")
    assert 20 <= len(kept) < planned
    assert 0 <= asked - before - len(kept) <= IN_FLIGHT
    (disk / "filler").unlink()
    finishes(world, out, kept, asked)


def test_a_full_disk_at_the_beginning_leaves_nothing(world, disk):
    at, _, _ = world
    fill(disk)
    asked = at.settled()
    done = run(command(at.api_base, disk / "run", ITEMS))
    assert 3 == done.returncode, done.stderr
    assert "full" in one_line(done) or "No space left" in one_line(done)
    assert asked == at.settled()
    assert not list((disk / "run").glob("*"))
    (disk / "filler").unlink()
    finishes(world, disk / "run", (), asked)


def test_a_full_disk_at_the_end_costs_the_card_alone(world, disk):
    at, _, planned = world
    out = disk / "run"
    process = start(command(at.api_base, out, ITEMS))
    # only so much room that the ledger fits, and the card (100 KB and more) does not
    while answered(out / "ledger.sqlite") < planned - 2 * IN_FLIGHT:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    at.settled()
    kept = committed(out / "ledger.sqlite")
    free = os.statvfs(disk)
    room = 300_000
    (disk / "filler").write_bytes(bytes(free.f_bavail * free.f_frsize - room))
    asked = at.settled()
    done = run(command(at.api_base, out, ITEMS))
    assert 3 == done.returncode, done.stderr
    assert "the card cannot be written: No space left on device" in one_line(done)
    assert planned - len(kept) == at.settled() - asked
    assert planned == len(committed(out / "ledger.sqlite"))
    assert [] == [p.name for p in out.iterdir() if p.name.startswith((".card", "card"))]
    (disk / "filler").unlink()
    finishes(world, out, range(planned), at.settled())


def test_a_file_that_may_not_grow(world, tmp_path):
    """Where nobody may mount a disk, the bound of a process on its files does the same."""
    at, _, planned = world
    out, before = tmp_path / "run", at.settled()
    limited = (
        "import resource, os, sys; n = int(sys.argv[1]); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (n, n)); os.execv(sys.argv[2], sys.argv[2:])"
    )
    words = command(at.api_base, out, ITEMS)
    done = run([sys.executable, "-c", limited, str(260_000), *words])
    assert 3 == done.returncode, done.stderr
    assert "What was committed is kept" in one_line(done)
    asked = at.settled()
    kept = committed(out / "ledger.sqlite")
    assert 0 < len(kept) < planned
    assert 0 <= asked - before - len(kept) <= IN_FLIGHT
    finishes(world, out, kept, asked)
