"""Killed at random moments: while asking, opening, ending, compacting, merging.

The short form kills 5 times; JUDGEAUDIT_SLOW=full (or JUDGEAUDIT_CHAOS_KILLS=30) 30 times. The
moments are drawn from JUDGEAUDIT_CHAOS_SEED.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from chaos_world import (
    IN_FLIGHT,
    LONG,
    Server,
    answered,
    card,
    command,
    committed,
    content,
    ledger_verb,
    plan_of,
    run,
    server,
    start,
)
from loopback import prompt_key

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]

KILLS = int(os.environ.get("JUDGEAUDIT_CHAOS_KILLS", "30" if LONG else "5"))
SEED = int(os.environ.get("JUDGEAUDIT_CHAOS_SEED", "2030"))
ITEMS = 60 if KILLS > 10 else 20
LEDGER_CHILD = Path(__file__).resolve().parents[1] / "support" / "ledger_child.py"


def killed(words: list[str], when, pause: float) -> bool:
    """Start a command and kill -9 it a moment after `when()`; say whether it was still alive."""
    process = start(words)
    while process.poll() is None and not when():
        time.sleep(0.01)
    time.sleep(pause)
    process.kill()
    process.communicate()
    return process.returncode == -9


def compact_killed(ledger: Path, dice: random.Random) -> None:
    """Kill compactions of a ledger, one after the other, in the midst of their work."""
    before, answers = content(ledger), committed(ledger)
    for _ in range(max(2, KILLS // 5)):
        child = subprocess.Popen(
            [sys.executable, str(LEDGER_CHILD), "compact", str(ledger)],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert child.stdout is not None
        assert "ready\n" == child.stdout.readline()
        time.sleep(dice.uniform(0, 0.2))
        child.kill()
        child.communicate()
        assert answers == committed(ledger)
        assert before == content(ledger)


def keys_of(plan) -> list[str]:
    """Return the server's name for each planned call's prompt."""
    by_cell = {}
    for position, cell in enumerate(plan.cells.tolist()):
        if cell not in by_cell:
            messages = [m.model_dump(mode="json") for m in plan.prompt(position).messages]
            by_cell[cell] = prompt_key({"messages": messages})
    return [by_cell[cell] for cell in plan.cells.tolist()]


def requests_that_should_stay(asked: dict[str, int], keys: list[str], answers: set[int]):
    """Return the requests so far of prompts of which every planned call is answered."""
    open_ = Counter(k for position, k in enumerate(keys) if position not in answers)
    return {key: n for key, n in asked.items() if not open_[key]}


class Chaos:
    """An audit that is killed again and again, with what the server saw of it."""

    def __init__(self, at: Server, out: Path) -> None:
        self.at, self.out, self.ledger = at, out, out / "ledger.sqlite"
        self.keys = keys_of(plan_of(at.api_base, ITEMS))
        self.began = at.settled()
        self.answers: set[int] = set()
        self.dropped = 0
        self.settled: dict[str, int] = {}
        self.before = at.by_prompt()

    def kill(self, when, pause: float) -> None:
        assert killed(command(self.at.api_base, self.out, ITEMS), when, pause)
        self.look(IN_FLIGHT)

    def look(self, most_dropped: int) -> None:
        """Nothing answered was lost or asked again; at most what was in flight was in vain."""
        requests = self.at.settled() - self.began
        answers = committed(self.ledger)
        assert self.answers <= answers
        in_vain = requests - self.dropped - len(answers)
        assert 0 <= in_vain <= most_dropped
        now = Counter(self.at.by_prompt())
        now.subtract(self.before)
        assert all(now[key] == n for key, n in self.settled.items())
        self.answers, self.dropped = answers, self.dropped + in_vain
        self.settled = requests_that_should_stay(now, self.keys, answers)

    @property
    def asked(self) -> int:
        return self.at.requests - self.began - self.dropped


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A server, and an audit that nobody disturbed."""
    folder = tmp_path_factory.mktemp("chaos")
    with server("--latency", "0.02") as at:
        done = run(command(at.api_base, folder / "calm", ITEMS))
        assert 0 == done.returncode, done.stderr
        planned = at.settled()
        assert planned == len(committed(folder / "calm" / "ledger.sqlite"))
        yield at, folder / "calm", planned


def test_killed_at_random_moments_every_call_is_answered_once_and_paid_once(world, tmp_path):
    at, calm, planned = world
    dice = random.Random(SEED)
    chaos = Chaos(at, tmp_path / "run")
    halfway = tmp_path / "half"
    lock = chaos.out / "ledger.sqlite.lock"
    # the first while the ledger is made, the last while the card is, one in five while opening
    moments = sorted(dice.sample(range(1, planned - 2 * IN_FLIGHT), KILLS - 2))
    chaos.kill(lock.exists, dice.uniform(0, 0.1))
    for k, goal in enumerate(moments):
        if k % 5 == 4:
            lock.unlink(missing_ok=True)  # as a careful person would, so that it tells the opening
            chaos.kill(lock.exists, dice.uniform(0, 0.3))
        else:
            chaos.kill(lambda goal=goal: chaos.asked >= goal, dice.uniform(0, 0.03))
        if k == len(moments) // 2:
            compact_killed(chaos.ledger, dice)
            shutil.copytree(chaos.out, halfway)
    chaos.kill(lambda: answered(chaos.ledger) == planned, dice.uniform(0, 0.5))
    done = run(command(at.api_base, chaos.out, ITEMS))
    assert 0 == done.returncode, done.stderr
    chaos.look(0)
    assert planned == len(chaos.answers)
    assert at.requests - chaos.began == planned + chaos.dropped <= planned + KILLS * IN_FLIGHT
    assert card(calm) == card(chaos.out)
    compact_killed(chaos.ledger, dice)
    assert 0 == ledger_verb("compact", chaos.out).returncode
    assert "whole" in ledger_verb("verify", chaos.out).stdout
    left = {p.name for p in chaos.out.iterdir()}
    assert {"card.html", "card.json", "card.md", "ledger.sqlite"} == left
    print(
        f"\n{planned} calls, {KILLS} kills: {at.requests - chaos.began} requests, "
        f"{chaos.dropped} in flight at a kill"
    )
    merged_killed(world, halfway, tmp_path, dice)


def merged_killed(world, halfway: Path, tmp_path: Path, dice: random.Random) -> None:
    """Two machines went on from one half: their merge, killed, is whole or is not there."""
    at, calm, planned = world
    other = tmp_path / "other"
    shutil.copytree(halfway, other)
    first, second = halfway / "ledger.sqlite", other / "ledger.sqlite"
    n = len(committed(second))
    asked = at.settled()
    goal = asked + (planned - n) // 2
    assert killed(command(at.api_base, other, ITEMS), lambda: at.requests >= goal, 0.0)
    at.settled()
    before = [content(first), content(second)]
    target = tmp_path / "merged" / "ledger.sqlite"
    for _ in range(max(3, KILLS // 2)):
        target.unlink(missing_ok=True)
        words = [str(LEDGER_CHILD), "merge", str(target), str(first), str(second)]
        child = subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        assert "ready\n" == child.stdout.readline()
        time.sleep(dice.uniform(0, 0.4))
        child.kill()
        child.communicate()
        assert before == [content(first), content(second)]
        if target.exists():
            assert before[1] == content(target)
    target.unlink(missing_ok=True)
    done = ledger_verb("merge", halfway, other, "--out", target)
    assert 0 == done.returncode, done.stderr
    answers, asked = committed(target), at.settled()
    assert committed(second) == answers
    done = run(command(at.api_base, target.parent, ITEMS))
    assert 0 == done.returncode, done.stderr
    assert planned - len(answers) == at.settled() - asked
    assert card(calm) == card(target.parent)
