"""The command line in batches, killed where it hurts: nothing is submitted or taken in twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from loopback_batch import BatchServer

from judgeaudit import audit
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.verify import faults

# whole programs, started, stopped and started again: minutes, and mostly waiting
pytestmark = pytest.mark.slow

N = 4 * (3 + 2)
SMALL = (
    *("--judge", "direct:toy", "--preset", "quick", "--limit", "4", "--max-tokens", "40"),
    *("--condition", "base", "--condition", "T1"),
)


@pytest.fixture
def server():
    with BatchServer() as server:
        yield server


def start(*words, cwd):
    env = {k: v for k, v in os.environ.items() if k != "OPENAI_API_KEY"}
    return subprocess.Popen(
        [sys.executable, "-m", "judgeaudit", *words],
        cwd=cwd,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def say(*words, cwd, code=0):
    child = start(*words, cwd=cwd)
    out, err = child.communicate(timeout=120)
    assert code == child.returncode, (words, out, err)
    return out + err


def flags(server, *more):
    return ("audit", *SMALL, "--api-base", server.api_base, "--out", "run", "--batch",
            "--batch-interval", "0.05", *more)  # fmt: skip


def whole(folder, server):
    with Ledger.open_readonly(folder / "run" / "ledger.sqlite") as view:
        assert [] == faults(view)
        assert N == view.n_answered
        assert [] == view.failures()
    assert N == len(server.asked)
    assert {1} == set(server.asked.values())


def kill(child):
    child.kill()
    child.communicate(timeout=30)
    assert -signal.SIGKILL == child.returncode


@pytest.mark.parametrize("moment", ["made", "uploaded"])
def test_killed_while_the_server_has_it_and_the_manifest_does_not(server, tmp_path, moment):
    server.create_delay = server.upload_delay = 0.0
    setattr(server, "create_delay" if moment == "made" else "upload_delay", 30.0)
    child = start(*flags(server), cwd=tmp_path)
    assert getattr(server, moment).wait(100)
    kill(child)
    manifest = json.loads((tmp_path / "run" / "batch" / "manifest.json").read_text())
    assert [{"made": "submitting", "uploaded": "uploading"}[moment]] == [
        e["state"] for e in manifest["entries"]
    ]
    assert len(server.batches) == (moment == "made")
    server.create_delay = server.upload_delay = 0.0
    said = say(*flags(server), cwd=tmp_path)
    assert ("the server has it as batch_1" in said) == (moment == "made")
    assert 1 == len(server.batches)
    assert 1 == len([n for n, _ in server.files.values() if not n.startswith("batch_")])
    whole(tmp_path, server)


@pytest.mark.slow
def test_killed_again_and_again_until_it_is_done(server, tmp_path):
    """Each life ends later than the one before, wherever that may be."""
    server.looks = 3
    lives = 0
    while True:
        child = start(*flags(server, "--batch-requests", "7"), cwd=tmp_path)
        try:
            child.communicate(timeout=1.2**lives)
        except subprocess.TimeoutExpired:
            child.kill()
            child.communicate(timeout=30)
        if child.returncode == 0:  # it may also have ended at the very moment of the kill
            break
        assert -signal.SIGKILL == child.returncode
        lives += 1
    assert lives > 0
    assert 3 == len(server.batches)
    whole(tmp_path, server)
    facts = audit.card(tmp_path / "run").facts
    assert {"batch_1": 7, "batch_2": 7, "batch_3": 6} == facts.extra["batches"]
    assert N == facts.requests


def test_interrupted_while_it_waits(server, tmp_path):
    server.looks = 10**9
    child = start(*flags(server), cwd=tmp_path)
    assert child.stderr is not None
    for line in child.stderr:
        if "next look in 0.05 s" in line:
            break
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert 130 == child.returncode
    assert f"{N} calls are with the provider" in out
    for batch in server.batches.values():
        batch["_looks"] = 0
    say(*flags(server), cwd=tmp_path)
    assert 1 == len(server.batches)
    whole(tmp_path, server)


@pytest.mark.slow
def test_step_by_step(server, tmp_path):
    write = ("batch", "write", *SMALL, "--api-base", server.api_base, "--out", "run")
    said = say(*write, cwd=tmp_path)
    assert f"run/batch/0001.jsonl: {N} requests" in said
    assert "calls    in batches of at most 50,000 requests and 200 MB" in said
    assert "every open call is in a batch file already" in say(*write, cwd=tmp_path)
    assert f"0001  {N} calls  not submitted" in say("batch", "status", "run", cwd=tmp_path)
    server.looks = 1
    assert "0001  batch_1" in say("batch", "submit", "run", cwd=tmp_path)
    assert "in_progress" in say("batch", "status", "run", cwd=tmp_path)
    said = say("batch", "status", "run", cwd=tmp_path)
    assert f"completed, {N} of {N} done; judgeaudit batch ingest takes it in" in said
    (tmp_path / "mine.jsonl").write_bytes(
        server.files[server.batches["batch_1"]["output_file_id"]][1] + b'{"custom_id": "x"}\n'
    )
    said = say("batch", "ingest", "run", "mine.jsonl", cwd=tmp_path, code=1)
    assert f"mine.jsonl: {N} answered" in said
    assert f"refused mine.jsonl:{N + 1}: custom_id 'x' is of no call" in said
    whole(tmp_path, server)
    assert "taken in (batch_1" in say("batch", "status", "run", cwd=tmp_path)
    assert "no batch is with the provider" in say("batch", "ingest", "run", cwd=tmp_path)
    assert "nothing to cancel" in say("batch", "cancel", "run", cwd=tmp_path)
    assert "batch 0001 is over" in say("batch", "bind", "run", "0001", "x", cwd=tmp_path, code=2)
    assert "card.html" in say("card", "run", cwd=tmp_path)
    assert f"{N} in batches" in (tmp_path / "run" / "card.md").read_text()


def test_without_waiting_the_same_command_goes_on(server, tmp_path):
    server.looks = 1
    said = say(*flags(server, "--no-wait"), cwd=tmp_path)
    assert f"{N} calls are with the provider, in batches: judgeaudit batch status run" in said
    assert "Card:" not in said
    assert "Card: run/card.html" in say(*flags(server, "--no-wait"), cwd=tmp_path)
    whole(tmp_path, server)


def test_the_price_is_printed_with_the_plan(server, tmp_path):
    (tmp_path / "p.toml").write_text('["direct:toy"]\nprompt = 1\ncompletion = 2\nbatch = 0.5\n')
    said = say(*flags(server, "--plan", "--prices", "p.toml"), cwd=tmp_path)
    assert "at 0.5 times the price of single requests (as the price file says)" in said
    assert {} == server.files
