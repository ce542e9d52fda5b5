"""A run on Ray, for real: workers and the driver killed, a budget for all, the same card."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from engine_world import PromptJudge, ask_all, make_plan

from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.verify import faults

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed"),
]

CHILD = Path(__file__).resolve().parents[1] / "support" / "ray_child.py"
IN_FLIGHT = 6
N_ITEMS = 12


def start(folder, delay, budget=0):
    return subprocess.Popen(
        [sys.executable, str(CHILD), str(folder), str(N_ITEMS), str(delay), str(budget)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def asked(folder):
    log = folder / "asked"
    return [line.split() for line in log.read_text().splitlines()] if log.exists() else []


def wait_for(process, condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def finish(process):
    out, err = process.communicate(timeout=180)
    return process.returncode, out.splitlines()[-1] if out else "", err


def content(path):
    with Ledger.open_readonly(path) as view:
        assert faults(view) == []
        return view.content_sha256(), view.n_answered


@pytest.fixture
def calm(tmp_path):
    """Return what one process makes of the same plan."""
    plan = make_plan(N_ITEMS)
    ask_all(tmp_path / "calm.sqlite", plan, PromptJudge())
    return content(tmp_path / "calm.sqlite")


def test_a_worker_that_is_killed_costs_only_what_it_had_in_flight(tmp_path, calm):
    folder = tmp_path / "run"
    folder.mkdir()
    n = make_plan(N_ITEMS).n_calls
    process = start(folder, 0.05)
    wait_for(process, lambda: len(asked(folder)) > n // 3)
    os.kill(int(asked(folder)[-1][0]), signal.SIGKILL)
    code, said, err = finish(process)
    assert (0, f"answered {n} left 0") == (code, said), err
    assert "was lost; another goes on from its ledger" in err
    assert calm == content(folder / "ledger.sqlite")
    ids = [name for _, name in asked(folder)]
    assert n == len(set(ids))
    assert len(ids) - n <= IN_FLIGHT
    assert 3 == len({pid for pid, _ in asked(folder)})
    assert {"ledger.sqlite", "asked"} == {p.name for p in folder.iterdir()}


def test_a_driver_that_is_killed_is_gone_on_with(tmp_path, calm):
    folder = tmp_path / "run"
    folder.mkdir()
    n = make_plan(N_ITEMS).n_calls
    process = start(folder, 0.05)
    wait_for(process, lambda: len(asked(folder)) > n // 3)
    process.kill()
    process.communicate()
    code, _, err = finish(start(folder, 0.0))
    assert 0 == code, err
    assert calm == content(folder / "ledger.sqlite")
    ids = [name for _, name in asked(folder)]
    assert n == len(set(ids))
    assert len(ids) - n <= IN_FLIGHT


def test_a_budget_is_for_all_workers_together(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    code, said, err = finish(start(folder, 0.01, budget=50))
    assert 3 == code, err
    assert "the budget of 50 requests is spent" in said
    assert 50 == len(asked(folder)) == content(folder / "ledger.sqlite")[1]


AUDIT = """
import sys
from judgeaudit import audit
audit.run(judge="scripted:brittle_t4?latency=0.02", preset="quick", limit=12, concurrency=8,
          created="2030-01-01T00:00:00Z", **eval(sys.argv[1]))
"""


def kill_the_worker_of(shard, process):
    lock = shard.with_name(shard.name + ".lock")
    wait_for(process, lambda: lock.exists() and lock.read_text().strip())
    time.sleep(0.3)
    os.kill(int(lock.read_text()), signal.SIGKILL)


def test_the_card_is_the_same_byte_for_byte(tmp_path):
    """But for when the run was, how long it took, and where it was made."""
    cards = []
    for name, more in (("local", {}), ("ray", {"executor": "ray", "workers": 2})):
        words = repr({"out": str(tmp_path / name), **more})
        process = subprocess.Popen(
            [sys.executable, "-c", AUDIT, words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        if name == "ray":
            kill_the_worker_of(tmp_path / "ray" / "ledger.sqlite.shards" / "1.sqlite", process)
        code, _, err = finish(process)
        assert 0 == code, err
        card = json.loads((tmp_path / name / "card.json").read_text())
        for timed in ("seconds", "started", "ended", "ledger_head"):
            del card["facts"][timed]
        del card["facts"]["extra"]["command"]
        cards.append(json.dumps(card, sort_keys=True).encode())
    assert cards[0] == cards[1]
