"""`judgeaudit view`: the address it prints, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager

import pytest
from viewer_world import small_ledger


@contextmanager
def viewing(*words):
    command = [sys.executable, "-m", "judgeaudit", "view", *map(str, words), "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        try:
            yield child
        finally:
            if child.poll() is None:
                child.kill()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return small_ledger(tmp_path_factory.mktemp("run") / "ledger.sqlite").parent


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_interrupted(run, number):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with viewing(run, "--port", port) as child:
        url = child.stdout.readline().strip()
        assert url.startswith(f"http://127.0.0.1:{port}/?token=")
        with urllib.request.urlopen(url) as answer:
            assert 200 == answer.status
        os.kill(child.pid, number)
        out, err = child.communicate(timeout=60)
    assert (130, "") == (child.returncode, out)
    assert err.endswith("judgeaudit: interrupted\n")
    assert "Traceback" not in err
    assert ["ledger.sqlite"] == sorted(p.name for p in run.iterdir())


def test_a_folder_without_a_ledger_is_a_mistake(tmp_path):
    with viewing(tmp_path) as child:
        out, err = child.communicate(timeout=60)
    assert (2, "") == (child.returncode, out)
    assert "there is no ledger here" in err


def test_a_port_that_is_taken_is_a_mistake(run):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with viewing(run, "--port", taken.getsockname()[1]) as child:
            _, err = child.communicate(timeout=60)
    assert 2 == child.returncode
    assert "cannot be had" in err
