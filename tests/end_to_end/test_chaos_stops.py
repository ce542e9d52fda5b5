"""Real processes told to stop: by a budget, by Ctrl-C, by SIGTERM; and run inside an event loop."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from chaos_world import (
    IN_FLIGHT,
    answered,
    card,
    command,
    committed,
    environment,
    ledger_verb,
    one_line,
    run,
    start,
)
from loopback import MODEL, Answer, Loopback, completion, verdict_of

from judgeaudit import audit
from judgeaudit.engine.ledger import Ledger

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

ITEMS = 8
QUICK, STEADY, SLOW = 0.02, 0.5, 300.0


def counted(body: dict[str, Any], _n: int, _k: int) -> Answer:
    """Answer by the prompt alone, and count its tokens as a real server would."""
    sent = sum(len(m["content"]) for m in body["messages"]) // 4
    usage = {"prompt_tokens": sent, "completion_tokens": 7, "total_tokens": sent + 7}
    return Answer(body=completion(json.dumps({"verdict": verdict_of(body)}), usage=usage))


class World:
    def __init__(self, at: Loopback, folder: Path) -> None:
        self.at, self.calm = at, folder / "calm"
        done = run(command(at.api_base, self.calm, ITEMS))
        assert 0 == done.returncode, done.stderr
        self.planned = at.n_requests

    def finishes(self, out: Path, kept: int, *more: str) -> None:
        """The same command asks what is left, and the card is that of a run left alone."""
        before = self.at.n_requests
        done = run(command(self.at.api_base, out, ITEMS, *more))
        assert 0 == done.returncode, done.stderr
        assert self.planned - kept == self.at.n_requests - before
        assert card(self.calm) == card(out)


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with Loopback(counted, latency=QUICK, keep=False) as at:
        yield World(at, tmp_path_factory.mktemp("stops"))


def facts(out: Path):
    with Ledger.open_readonly(out / "ledger.sqlite") as view:
        return view.facts()


def test_a_budget_of_requests_is_kept_exactly_and_more_of_it_goes_on(world, tmp_path):
    out, before = tmp_path / "run", world.at.n_requests
    done = run(command(world.at.api_base, out, ITEMS, "--budget-calls", "40"))
    assert 3 == done.returncode
    said = one_line(done)
    assert "the budget of 40 requests is spent. All answers so far are kept" in said
    assert "raise --budget-calls and run the same command again" in said
    assert 40 == world.at.n_requests - before == len(committed(out / "ledger.sqlite"))
    # what there is can be looked at: a card of an audit that is not done
    assert 0 == run([*command("", out, 0)[:3], "card", str(out)]).returncode
    made = card(out)
    assert (40, world.planned) == (made["facts"]["n_answered"], made["facts"]["n_planned"])
    # again with the same budget: not one request more
    assert 3 == run(command(world.at.api_base, out, ITEMS, "--budget-calls", "40")).returncode
    assert 40 == world.at.n_requests - before
    world.finishes(out, 40, "--budget-calls", str(world.planned))


def test_a_budget_of_tokens_is_not_passed_and_nearly_used_up(world, tmp_path):
    out, before, cap = tmp_path / "run", world.at.n_requests, 40_000
    more = ("--budget-tokens", str(cap), "--max-tokens", "60")
    done = run(command(world.at.api_base, out, ITEMS, *more))
    assert 3 == done.returncode, done.stderr
    said = one_line(done)
    assert f"the budget of {cap:,} tokens is spent: " in said
    assert "raise --budget-tokens" in said
    asked, found = world.at.n_requests - before, facts(out)
    assert 0 < asked == found.n_answered == found.requests < world.planned
    # by at most what one more request was thought to use
    assert cap - 4_000 <= found.prompt_tokens + found.completion_tokens <= cap


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text(f'["openai/{MODEL}"]\nprompt = 1000\ncompletion = 1000\n')
    return path


def test_a_budget_in_money_is_not_passed_and_is_told(world, tmp_path, prices):
    out, before, cap = tmp_path / "run", world.at.n_requests, 40.0
    more = ("--budget-usd", str(cap), "--prices", str(prices), "--max-tokens", "60")
    done = run(command(world.at.api_base, out, ITEMS, *more))
    assert 3 == done.returncode, done.stderr
    said = one_line(done)
    assert "the budget of US$40 is spent: US$" in said
    assert "raise --budget-usd" in said
    asked, found = world.at.n_requests - before, facts(out)
    assert 0 < asked == found.n_answered < world.planned
    tokens = found.prompt_tokens + found.completion_tokens
    assert pytest.approx(tokens * 1000 / 1e6) == found.cost
    assert cap - 4.0 <= found.cost <= cap
    assert "whole" in ledger_verb("verify", out).stdout


def test_a_budget_in_money_without_a_price_refuses_to_guess(world, tmp_path):
    before = world.at.n_requests
    done = run(command(world.at.api_base, tmp_path / "run", ITEMS, "--budget-usd", "5"))
    assert 2 == done.returncode
    assert "needs the price of 'openai/loopback-1', which is not known" in one_line(done)
    assert "--prices" in one_line(done)
    assert before == world.at.n_requests
    assert not (tmp_path / "run").exists()


def begun(world: World, out: Path) -> subprocess.Popen[str]:
    """A run that has answers and, by a server that takes its time, seconds of calls to go."""
    world.at.latency = STEADY
    process = start(command(world.at.api_base, out, ITEMS))
    while answered(out / "ledger.sqlite") < 20:
        assert process.poll() is None
        time.sleep(0.01)
    return process


@pytest.fixture
def quick_again(world):
    yield
    world.at.latency = QUICK


@pytest.mark.usefixtures("quick_again")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_the_calls_in_flight_end(world, tmp_path, number):
    out, before = tmp_path / "run", world.at.n_requests
    process = begun(world, out)
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=120)
    world.at.latency = QUICK
    assert 130 == process.returncode, stderr
    assert "finishing the calls in flight" in stderr
    assert "Traceback" not in stderr
    kept = len(committed(out / "ledger.sqlite"))
    # everything that was asked was waited for
    assert kept == world.at.n_requests - before < world.planned
    assert f"Interrupted: {world.planned - kept} of {world.planned} calls are left." in stdout
    assert kept == card(out)["facts"]["n_answered"]
    world.finishes(out, kept)


@pytest.mark.usefixtures("quick_again")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_drops_them(world, tmp_path, number):
    out, before = tmp_path / "run", world.at.n_requests
    process = begun(world, out)
    world.at.latency = SLOW
    try:
        done = before
        while world.at.in_flight < IN_FLIGHT or world.at.n_requests != done:
            done = world.at.n_requests
            time.sleep(0.2)
        began = time.monotonic()
        process.send_signal(number)
        assert process.stderr is not None
        while "finishing the calls in flight" not in (line := process.stderr.readline()):
            assert line
        assert process.poll() is None
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=SLOW / 2)
        assert time.monotonic() - began < SLOW
    finally:
        world.at.latency = QUICK
    assert 130 == process.returncode, stderr
    assert "stopping now; what was answered is kept" in stderr
    assert "Traceback" not in stderr
    assert "Interrupted: " in stdout
    kept = len(committed(out / "ledger.sqlite"))
    assert IN_FLIGHT == world.at.n_requests - before - kept
    world.finishes(out, kept)


INSIDE = """
import asyncio
from judgeaudit import audit

async def main():
    await asyncio.sleep(0)
    result = audit.run(judge={judge!r}, api_base={api_base!r}, preset="quick", limit={items},
                       control_items=4, concurrency=8, out={out!r})
    # the loop of the notebook is still the one that runs, and still runs
    await asyncio.sleep(0.01)
    again = audit.run(judge="scripted:quiet", preset="quick", limit=4, out={out!r} + "-2")
    print(result.facts.n_answered, again.facts.n_answered, len(asyncio.all_tasks()))

asyncio.run(main())
"""


def test_inside_a_running_event_loop_nothing_is_left_open(world, tmp_path):
    """As in a notebook; every warning of ours, of asyncio and of unclosed things is an error."""
    out, before = tmp_path / "run", world.at.n_requests
    script = INSIDE.format(
        judge=f"openai/{MODEL}", api_base=world.at.api_base, items=ITEMS, out=str(out)
    )
    strict = ["-X", "dev", "-W", "error"]
    # what libraries deprecate while they are imported is not of this audit's making
    lenient = [w for kind in LIBRARIES for w in ("-W", kind)]
    done = subprocess.run(
        [sys.executable, *strict, *lenient, "-c", script],
        capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    assert 0 == done.returncode, done.stderr
    # asyncio's debug mode tells of steps that took long, which a busy machine makes of any
    said = [k for k in done.stderr.splitlines() if not re.match(r"Executing <.* took ", k)]
    assert [] == said
    assert f"{world.planned} " in done.stdout
    assert done.stdout.endswith(" 1\n")
    assert world.planned == world.at.n_requests - before
    assert audit.card(out).headline == audit.card(world.calm).headline


LIBRARIES = ("ignore::DeprecationWarning", "ignore::UserWarning")
