"""Whole audits by the command line against a server in a process of its own, to be disturbed."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from loopback import MODEL

from judgeaudit import audit
from judgeaudit.core.errors import LedgerError
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.plan import Plan
from judgeaudit.engine.verify import faults

LOOPBACK = Path(__file__).resolve().parent / "loopback.py"
LONG = os.environ.get("JUDGEAUDIT_SLOW") == "full"
"""Whether to take the long form: JUDGEAUDIT_SLOW=full."""

IN_FLIGHT = 8
TIME_AND_TRANSPORT = ("seconds", "started", "ended", "requests", "ledger_head")


class Server:
    """The loopback server in another process."""

    def __init__(self, api_base: str) -> None:
        self.api_base = api_base

    def _get(self, path: str) -> dict[str, int]:
        with urllib.request.urlopen(f"{self.api_base[:-3]}{path}", timeout=30) as answer:
            found: dict[str, int] = json.load(answer)
        return found

    @property
    def requests(self) -> int:
        return self._get("/stats")["requests"]

    def by_prompt(self) -> dict[str, int]:
        return self._get("/prompts")

    def settled(self) -> int:
        """Wait until nothing is in flight; return the requests so far."""
        while (stats := self._get("/stats"))["in_flight"]:
            time.sleep(0.01)
        return stats["requests"]


@contextlib.contextmanager
def server(*words: str) -> Iterator[Server]:
    """Run the loopback server until the test is over."""
    with subprocess.Popen(
        [sys.executable, str(LOOPBACK), "--seconds", "3000", *words],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield Server(process.stdout.readline().strip())
        finally:
            process.terminate()


def environment(**more: str) -> dict[str, str]:
    env = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    return env | {"OPENAI_API_KEY": "sk-chaos", "HF_HUB_OFFLINE": "1"} | more


def command(api_base: str, out: Path, n_items: int, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "judgeaudit", "audit", "--judge", f"openai/{MODEL}"),
        *("--api-base", api_base, "--preset", "quick", "--limit", str(n_items)),
        *("--control-items", "4", "--concurrency", str(IN_FLIGHT), "--out", str(out), *more),
    ]


def plan_of(api_base: str, n_items: int) -> Plan:
    """Return the plan of that command."""
    choices: dict[str, Any] = {
        "judge": f"openai/{MODEL}",
        "api_base": api_base,
        "preset": "quick",
        "limit": n_items,
        "control_items": 4,
    }
    return audit.prepare(audit.choose(None, choices)).plan


def run(words: list[str], **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, capture_output=True, text=True, env=environment(**env), check=False
    )


def ledger_verb(*words: object) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, "-m", "judgeaudit", "ledger", *map(str, words)])


def start(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()
    )


def committed(ledger: Path) -> set[int]:
    """Return the positions with a committed answer; the ledger must be whole, or not there."""
    if not ledger.exists():
        return set()
    try:
        with Ledger.open_readonly(ledger) as view:
            assert faults(view) == []
            return {call for (call,) in view.connection.execute("SELECT call FROM verdicts")}
    except LedgerError as error:
        # killed while it was made: nothing is in it yet
        assert "empty: no run was recorded" in str(error)  # noqa: PT017
        return set()


def answered(ledger: Path) -> int:
    """Return how many answers a ledger holds that is being written."""
    try:
        with Ledger.open_readonly(ledger) as view:
            return view.n_answered
    except LedgerError:
        return 0  # not yet made


def content(ledger: Path) -> str:
    with Ledger.open_readonly(ledger) as view:
        assert faults(view) == []
        return view.content_sha256()


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return the line with which a run ended; there is no other sign of trouble."""
    assert "Traceback" not in done.stderr
    lines = [k for k in done.stderr.splitlines() if k.startswith("judgeaudit: ")]
    assert 1 == len(lines), done.stderr
    assert lines[0] == done.stderr.splitlines()[-1]
    return lines[0]


def card(out: Path) -> dict[str, Any]:
    """Return a card but for time and transport figures."""
    made: dict[str, Any] = json.loads((out / "card.json").read_text("utf-8"))
    del made["created"]
    for name in TIME_AND_TRANSPORT:
        del made["facts"][name]
    return made
