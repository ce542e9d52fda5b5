"""What a real server may do wrong, end to end: the outcome in the ledger, the requests it cost.

One item a fault: the server reads its name in the trajectory. Two base calls an item, two
requests a call at most.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from loopback import BEHAVIOURS, MODEL, Answer, Behaviour, Loopback, error, first, verdict_of

from judgeaudit import audit
from judgeaudit.core.table import CODES
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.plan import Plan

K = 2
WAIT = 1.0


class Fault(NamedTuple):
    """What the server does with an item, and how its two calls must end."""

    behaviour: Behaviour
    requests: int
    outcomes: tuple[str, str]
    failure: str | None = None


def slow_down(_body: dict[str, Any], _n: int, _k: int) -> Answer:
    return error(429, "Rate limit reached", "rate_limit_exceeded", Retry_After=f"{WAIT:.0f}")


def named(name: str, requests: int, outcome: str, failure: str | None = None) -> Fault:
    return Fault(BEHAVIOURS[name], requests, (outcome, outcome), failure)


FAULTS: dict[str, Fault] = {
    # asked again, as often as allowed, and then an error
    "always500": named("500", 2 * K, "error", "server"),
    "always503": named("503", 2 * K, "error", "server"),
    "always429": named("429_bare", 2 * K, "error", "rate_limit"),
    "hang": named("hang", 2 * K, "error", "timeout"),
    "reset": named("reset", 2 * K, "error", "connection"),
    "cut": named("cut", 2 * K, "error", "connection"),
    "malformed": named("malformed", 2 * K, "error", "unreadable"),
    "page": named("not_json", 2 * K, "error", "unreadable"),
    # once, then well: one request more, and a verdict
    "once500": Fault(first(BEHAVIOURS["500"]), K + 1, ("verdict", "verdict")),
    "once429": Fault(first(slow_down), K + 1, ("verdict", "verdict")),
    "oncereset": Fault(first(BEHAVIOURS["reset"]), K + 1, ("verdict", "verdict")),
    "oncemalformed": Fault(first(BEHAVIOURS["malformed"]), K + 1, ("verdict", "verdict")),
    # nothing that asking again could mend
    "badrequest": named("bad_request", K, "error", "bad_request"),
    "toolong": named("context_length", K, "error", "context_too_long"),
    # answers, of which none is asked again
    "empty": named("empty", K, "unparseable"),
    "null": named("null_content", K, "unparseable"),
    "nochoices": named("no_choices", K, "unparseable"),
    "refusal": named("refusal", K, "refusal"),
    "filtered": named("content_filter", K, "refusal"),
    "length": named("length", K, "truncated"),
    "fenced": named("think_then_fence", K, "verdict"),
    "well": named("hash", K, "verdict"),
    "fine": named("hash", K, "verdict"),
}
FAILED = {name for name, fault in FAULTS.items() if fault.failure}


class Faults:
    """The server's behaviour; counts the requests of each item, and when they came."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.verdicts: dict[str, str] = {}
        self.times: dict[str, list[float]] = {}
        self.mended = False
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any], n: int, k: int) -> Answer:
        """Read the item's name in the prompt and do what it says."""
        found = re.findall(r"order no-(\w+)", json.dumps(body["messages"]))
        assert 1 == len(set(found))
        name = found[0]
        with self._lock:
            self.requests[name] += 1
            self.times.setdefault(name, []).append(time.monotonic())
            self.verdicts[name] = verdict_of(body)
        chosen = BEHAVIOURS["hash"] if self.mended else FAULTS[name].behaviour
        return chosen(body, n, k)


def write_corpus(path: Path) -> Path:
    lines = [
        json.dumps(
            {
                "id": name,
                "trajectory": {
                    "turns": [
                        {"role": "user", "content": f"Send order no-{name}."},
                        {"role": "agent", "thought": None, "action": f"send({len(name)})"},
                    ]
                },
                "label": "SAFE",
                "label_source": "author",
            }
        )
        for name in FAULTS
    ]
    path.write_text("\n".join(lines), "utf-8")
    return path


def choices(corpus: Path, out: Path, api_base: str) -> dict[str, Any]:
    return {
        "judge": f"openai/{MODEL}", "api_base": api_base, "corpus": "jsonl", "data": str(corpus),
        "base_repeats": K, "out": str(out), "attempts": 2, "attempt_seconds": 3,
        "call_seconds": 60, "concurrency": 8,
    }  # fmt: skip


def name_of(item: str) -> str:
    return item.rpartition("/")[2]


def plan_that_begins_well(given: dict[str, Any]) -> Plan:
    """The first call probes the server alone: it must not be one that fails."""
    for seed in range(100):
        given["seed"] = seed
        plan = audit.prepare(audit.choose(None, {**given, "conditions": ("base",)})).plan
        if name_of(plan.call(0).item) in {"well", "fine"}:
            return plan
    raise AssertionError


def run(given: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    flags = [w for k, v in given.items() for w in ("--" + k.replace("_", "-"), str(v))]
    env = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, "-m", "judgeaudit", "audit", *flags, "--condition", "base"],
        capture_output=True, text=True, check=False, env=env | {"OPENAI_API_KEY": "sk-none"},
    )  # fmt: skip


def outcomes(out: Path) -> dict[str, tuple[str, ...]]:
    names = {v: k for k, v in CODES.items()}
    with Ledger.open_readonly(out / "ledger.sqlite") as view:
        table = view.table()
    return {
        name_of(item): tuple(names[c] for c in table.codes[i].reshape(-1).tolist())
        for i, item in enumerate(table.items)
    }


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """The audit among all faults; then the server is mended, and the same command runs again."""
    folder = tmp_path_factory.mktemp("faults")
    out = folder / "run"
    behaviour = Faults()
    with Loopback(behaviour) as server:
        given = choices(write_corpus(folder / "own.jsonl"), out, server.api_base)
        plan = plan_that_begins_well(given)
        assert 0 == server.n_requests
        first_run = run(given)
        with Ledger.open_readonly(out / "ledger.sqlite") as view:
            failures = [{**f, "item": plan.call(f["call"]).item} for f in view.failures()]
        before = {
            "outcomes": outcomes(out),
            "requests": Counter(behaviour.requests),
            "failures": failures,
            "card": json.loads((out / "card.json").read_text("utf-8")),
            "n": server.n_requests,
        }
        behaviour.mended = True
        behaviour.requests.clear()
        second_run = run(given)
    return {
        "runs": (first_run, second_run), "before": before, "behaviour": behaviour, "out": out,
    }  # fmt: skip


@pytest.mark.slow
def test_the_run_ends_well_and_says_what_failed(world):
    first_run, _ = world["runs"]
    for done in world["runs"]:
        assert 0 == done.returncode, done.stderr
        assert "Traceback" not in done.stderr + done.stdout
    assert str(K * len(FAILED)) in first_run.stdout + first_run.stderr
    facts = world["before"]["card"]["facts"]
    assert K * len(FAULTS) == facts["n_planned"]
    assert K * (len(FAULTS) - len(FAILED)) == facts["n_answered"]
    assert world["before"]["n"] == facts["requests"]


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_its_outcome_and_its_requests(world, name):
    fault, before = FAULTS[name], world["before"]
    said = before["outcomes"][name]
    assert fault.outcomes == tuple("verdict" if c in {"SAFE", "UNSAFE"} else c for c in said)
    assert fault.requests == before["requests"][name]
    if fault.outcomes[0] == "verdict":
        assert {world["behaviour"].verdicts[name]} == set(said)
    failures = [f for f in before["failures"] if name_of(f["item"]) == name]
    if fault.failure is None:
        assert [] == failures
    else:
        assert [(fault.failure, fault.requests // K)] * K == [
            (f["class"], f["attempts"]) for f in failures
        ]


def test_retry_after_is_a_floor(world):
    times = sorted(world["behaviour"].times["once429"])
    assert max(b - a for a, b in pairwise(times)) >= WAIT


def test_no_failure_becomes_a_verdict_in_the_scores(world):
    rates = {
        s["stratum"]: s["numerator"]
        for s in world["before"]["card"]["scores"]["scores"]
        if s["metric"] == "outcome_rate" and s["condition"] == "base"
    }
    counted = Counter(o for f in FAULTS.values() for o in f.outcomes)
    verdicts = counted.pop("verdict")
    assert sum(counted.values()) == rates.pop(None)
    assert counted == Counter({k: int(v) for k, v in rates.items() if v})
    (accuracy,) = (
        s for s in world["before"]["card"]["scores"]["scores"] if s["metric"] == "accuracy"
    )
    assert verdicts == K * accuracy["n_items"]


def test_the_same_command_asks_again_what_failed_and_nothing_else(world):
    asked = world["behaviour"].requests
    assert dict.fromkeys(FAILED, K) == dict(asked)
    again = outcomes(world["out"])
    for name in FAULTS:
        if name in FAILED:
            assert {world["behaviour"].verdicts[name]} == set(again[name])
        else:
            assert world["before"]["outcomes"][name] == again[name]
