"""A whole audit through the command line, killed at random moments, against a real server."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from loopback import MODEL, Loopback

N_ITEMS = 12
PER_ITEM = 3 + 5 * 2
CONTROLS = 4 * 2 * 2


def command(api_base: str, out: Path) -> list[str]:
    return [
        *(sys.executable, "-m", "judgeaudit", "audit", "--judge", f"openai/{MODEL}"),
        *("--api-base", api_base, "--preset", "quick", "--limit", str(N_ITEMS)),
        *("--control-items", "4", "--concurrency", "8", "--out", str(out)),
    ]


def environment() -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    return env | {"OPENAI_API_KEY": "sk-sentinel-4711", "HF_HUB_OFFLINE": "1"}


def finish(api_base: str, out: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(api_base, out), capture_output=True, text=True, env=environment(), check=False
    )


def answered(out: Path) -> int:
    from judgeaudit.engine.ledger import Ledger

    path = out / "ledger.sqlite"
    if not path.exists():
        return 0
    try:
        with Ledger.open_readonly(path) as view:
            return view.n_answered
    except Exception:  # noqa: BLE001 - not yet made
        return 0


def kill_when_at_least(n: int, api_base: str, out: Path) -> int:
    """Start the audit, kill -9 once `n` replies are committed; return how many there are."""
    with subprocess.Popen(
        command(api_base, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=environment(),
    ) as child:  # fmt: skip
        while child.poll() is None and answered(out) < n:
            time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
        child.wait()
    return answered(out)


def without_time_and_transport(card: dict[str, Any]) -> dict[str, Any]:
    card = json.loads(json.dumps(card))
    del card["created"]
    for name in ("seconds", "started", "ended", "requests", "ledger_head"):
        del card["facts"][name]
    return card


@pytest.mark.slow
def test_a_killed_audit_loses_nothing_and_asks_nothing_twice(tmp_path):
    planned = N_ITEMS * PER_ITEM + CONTROLS
    moments = sorted(random.Random().sample(range(1, planned - 20), 3))
    with Loopback("hash", latency=0.02, keep=False) as server:
        whole = finish(server.api_base, tmp_path / "whole")
        assert 0 == whole.returncode, whole.stderr
        assert planned == server.n_requests
        for n in moments:
            kill_when_at_least(n, server.api_base, tmp_path / "killed")
        kept = answered(tmp_path / "killed")
        before = server.n_requests
        last = finish(server.api_base, tmp_path / "killed")
        assert 0 == last.returncode, last.stderr
        # what was committed is not asked again
        assert planned - kept == server.n_requests - before
        # in all, only what was in flight at a kill was asked twice
        assert server.n_requests - planned <= planned + 3 * 8
    cards = [json.loads((tmp_path / d / "card.json").read_text()) for d in ("whole", "killed")]
    assert planned == cards[1]["facts"]["n_answered"]
    assert without_time_and_transport(cards[0]) == without_time_and_transport(cards[1])
    assert cards[0]["facts"]["ledger_sha256"] == cards[1]["facts"]["ledger_sha256"]
    for made in tmp_path.rglob("*"):
        if made.is_file():
            assert b"sk-sentinel-4711" not in made.read_bytes(), made
    assert "sk-sentinel-4711" not in whole.stdout + whole.stderr


@pytest.mark.slow
def test_a_second_process_is_kept_out_and_told_who_holds_the_ledger(tmp_path):
    out = tmp_path / "run"
    # so slow that the first cannot be done before the second has been told
    with Loopback("hash", latency=2.0, keep=False) as server:
        with subprocess.Popen(
            command(server.api_base, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=environment(),
        ) as child:  # fmt: skip
            while child.poll() is None and answered(out) < 1:
                time.sleep(0.02)
            second = finish(server.api_base, out)
            child.send_signal(signal.SIGINT)
            child.wait()
        assert 2 == second.returncode
        assert str(child.pid) in second.stderr
        assert "Traceback" not in second.stderr
        assert 130 == child.returncode


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (["--temperature", "0.5"], "judge.decoding.temperature: not there → 0.5"),
        (["--limit", "11"], "corpus.n_items: 12 → 11"),
        (["--seed", "3"], "protocol.seed: 0 → 3"),
    ],
)
def test_a_ledger_of_another_run_is_refused_by_what_differs(tmp_path, change, said):
    out = tmp_path / "run"
    base = [
        *(sys.executable, "-m", "judgeaudit", "audit", "--judge", "scripted:quiet", "--quiet"),
        *("--preset", "quick", "--limit", "12", "--out", str(out)),
    ]
    done = subprocess.run(base, capture_output=True, text=True, env=environment(), check=False)
    assert 0 == done.returncode, done.stderr
    again = subprocess.run(
        base + change, capture_output=True, text=True, env=environment(), check=False
    )
    assert 2 == again.returncode
    assert said in again.stderr
    assert 1 == len(again.stderr.strip().splitlines())
