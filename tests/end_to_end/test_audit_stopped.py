"""An audit that is stopped says in one line what is kept and how to go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from loopback import BEHAVIOURS, MODEL, Loopback

from judgeaudit import audit
from judgeaudit.core.errors import JudgeError, QuotaExhaustedError
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.verify import broken_links

# whole programs, started, stopped and started again: minutes, and mostly waiting
pytestmark = pytest.mark.slow


def choices(server: Loopback, out: Path) -> dict[str, object]:
    return {
        "judge": f"openai/{MODEL}", "api_base": server.api_base, "preset": "quick", "limit": 4,
        "control_items": 2, "out": out, "concurrency": 4,
    }  # fmt: skip


def command(server: Loopback, out: Path) -> list[str]:
    flags = [f"--{k.replace('_', '-')}={v}" for k, v in choices(server, out).items()]
    return [sys.executable, "-m", "judgeaudit", "audit", *flags]


def answered(out: Path) -> int:
    with Ledger.open_readonly(out / audit.LEDGER) as view:
        assert broken_links(view) == []
        return view.n_answered


def runs_dry(after: int):
    def behaviour(body, n, k):
        return BEHAVIOURS["hash" if n <= after else "quota"](body, n, k)

    return behaviour


def test_an_empty_account_says_what_is_kept_and_how_to_go_on(tmp_path):
    out = tmp_path / "my run"
    with Loopback(runs_dry(10)) as server:
        with pytest.raises(QuotaExhaustedError) as caught:
            audit.run(**choices(server, out))
        n = answered(out)
        said = str(caught.value)
        assert (
            f"{n} of {audit.prepare(audit.choose(None, choices(server, out))).plan.n_calls}" in said
        )
        assert "the same command" in said
        assert f"judgeaudit card '{out}' makes the card of what is there" in said
        assert "\n" not in said
        assert not (out / "card.json").exists()
        made = audit.card(out)
        assert n == made.facts.n_answered
        server.behaviour = BEHAVIOURS["hash"]
        assert audit.run(**choices(server, out)).exit_code == 0


def test_a_spent_budget_says_what_is_kept(tmp_path):
    with Loopback() as server, pytest.raises(JudgeError) as caught:
        audit.run(**choices(server, tmp_path), budget_calls=9)
    said = str(caught.value)
    assert f"{answered(tmp_path)} of " in said
    assert said.count("same command") == 1
    assert f"judgeaudit card {tmp_path} makes" in said


def test_a_run_without_an_answer_offers_no_card(tmp_path):
    with Loopback("500") as server, pytest.raises(JudgeError) as caught:
        audit.run(**choices(server, tmp_path), attempts=1)
    assert "makes the card" not in str(caught.value)


# a metric of another package: the interrupt comes in the middle of scoring
WHILE_SCORING = """
import signal, sys
from judgeaudit.cli.main import run
from judgeaudit.metrics import METRICS

NAME = sys.argv.pop()

@METRICS.register("zz_interrupted")
def metric(view):
    signal.raise_signal(getattr(signal, NAME))
    raise AssertionError("the signal was lost")

run()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_an_interrupt_while_scoring_is_one_line_and_130(tmp_path, name):
    out = tmp_path / "run"
    flags = ["audit", "--judge=scripted:quiet", "--preset=quick", "--limit=2", f"--out={out}"]
    done = subprocess.run(
        [sys.executable, "-c", WHILE_SCORING, *flags, "--quiet", name],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (130, ""), done.stderr
    said = f"interrupted while scoring; nothing is lost; judgeaudit card {out} makes the card"
    assert done.stderr == f"judgeaudit: {said}\n"
    assert not (out / "card.json").exists()
    assert answered(out) == audit.card(out).facts.n_planned


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_end_drains_the_run(tmp_path, number):
    with (
        Loopback("hash", latency=0.3) as server,
        subprocess.Popen(
            command(server, tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as child,
    ):
        while child.poll() is None and server.n_requests < 6:
            time.sleep(0.02)
        child.send_signal(number)
        out, err = child.communicate(timeout=120)
        asked = server.n_requests
    assert child.returncode == 130, err
    assert "The same command goes on from here" in out
    assert answered(tmp_path) == asked


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs terminals")
def test_a_terminal_that_is_closed_drains_the_run(tmp_path):
    screen, terminal = os.openpty()
    take = f"import fcntl, os, termios; fcntl.ioctl({terminal}, termios.TIOCSCTTY, 0)"
    with Loopback("hash", latency=0.3) as server:
        start = f"{take}; os.execvp({sys.executable!r}, {command(server, tmp_path)!r})"
        with subprocess.Popen(
            [sys.executable, "-c", start], stdin=terminal, stdout=terminal, stderr=terminal,
            pass_fds=(terminal,), start_new_session=True,
        ) as child:  # fmt: skip
            os.close(terminal)
            while child.poll() is None and server.n_requests < 6:
                time.sleep(0.02)
            os.close(screen)
            code = child.wait(120)
        asked = server.n_requests
    assert code == 130
    assert answered(tmp_path) == asked
    assert (tmp_path / "card.json").exists()


def test_nohup_is_heard(tmp_path):
    with (
        Loopback("hash", latency=0.05) as server,
        subprocess.Popen(
            command(server, tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),  # noqa: PLW1509
        ) as child,
    ):  # fmt: skip
        while child.poll() is None and server.n_requests < 3:
            time.sleep(0.02)
        child.send_signal(signal.SIGHUP)
        assert child.wait(120) == 0


def test_nobody_at_the_address_is_one_line_and_leaves_no_ledger(tmp_path):
    with Loopback() as server:
        pass
    done = subprocess.run(
        [*command(server, tmp_path / "run"), "--quiet"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    said = f"no server answers at {server.api_base} (connection refused)"
    assert done.stderr.splitlines() == [
        f"judgeaudit: openai/{MODEL}: {said}. Start the server, or correct its address"
    ]
    assert not (tmp_path / "run").exists()
