"""The explorer over a million calls: time to the first page, paging, and the server's memory."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from bench_world import show, size
from engine_world import open_ledger, plan_for

from judgeaudit.core.records import Condition, Protocol, Reply, Verdict
from judgeaudit.engine.writer import Answer

pytestmark = [pytest.mark.bench, pytest.mark.timeout(3600)]

KINDS = {"base": "reference", "T0": "placebo", "T1": "certified", "T2": "certified",
         "T3": "near", "T4": "certified", "strict": "threshold", "lenient": "threshold",
         "no_policy": "control", "inverted": "control"}  # fmt: skip
TURNS = {"T1": 0.02, "T2": 0.05, "T3": 0.08, "T4": 0.12, "strict": 0.2, "lenient": 0.2,
         "no_policy": 0.3, "inverted": 0.7}  # fmt: skip
TEXT = '{"verdict": "%s", "confidence": 0.9, "rationale": "The agent asked before it paid."}'


def write(path: Path, calls: int) -> None:
    """Write a finished run of so many calls: ten conditions, five calls a cell."""
    conditions = tuple(Condition(id=k, kind=v) for k, v in KINDS.items())
    protocol = Protocol(preset="big", base_repeats=5, repeats=5, conditions=conditions)
    plan = plan_for(max(1, calls // (5 * len(KINDS))), protocol)
    names, rng, said = [c.condition.id for c in plan.columns], random.Random(1), {}
    made = [
        (Reply(text=TEXT % label, finish_reason="stop", served_model="m-2026-01-01",
               prompt_tokens=1500, completion_tokens=30, cost=0.0004, seconds=0.8),
         Verdict(outcome="verdict", label=label, confidence=0.9))
        for label in ("SAFE", "UNSAFE")
    ]  # fmt: skip

    def rows():
        for k, cell in enumerate(plan.cells.tolist()):
            item, column = divmod(cell, len(names))
            if cell not in said:
                said[cell] = (item + (rng.random() < TURNS.get(names[column], 0))) % 2
            reply, verdict = made[said[cell] ^ (rng.random() < 0.01)]
            yield Answer(
                k, reply.model_copy(update={"request_id": f"chatcmpl-{k:024d}"}), verdict, 1, 0.8
            )

    with open_ledger(path, plan) as ledger:
        rest = rows()
        while some := list(itertools.islice(rest, 4096)):
            ledger.append(some)


class Asking:
    """One connection of a browser."""

    def __init__(self, url: str) -> None:
        place = urlsplit(url)
        self.link = http.client.HTTPConnection(place.hostname, place.port, timeout=120)
        self.headers = {"Authorization": f"Bearer {place.query.partition('=')[2]}"}

    def __call__(self, path: str) -> tuple[dict, float]:
        start = time.perf_counter()
        self.link.request("GET", path, headers=self.headers)
        body = self.link.getresponse().read()
        return json.loads(body), time.perf_counter() - start


def memory_mb(pid: int) -> float:
    line = next(x for x in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmHWM" in x)
    return int(line.split()[1]) / 1024


def cpu_seconds(pid: int) -> float:
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def viewing(path: Path) -> Iterator[tuple[int, Asking, dict[str, float]]]:
    """Start the command as a user does; yield once the first flips are there."""
    start = time.perf_counter()
    words = [sys.executable, "-m", "judgeaudit", "view", str(path), "--no-browser"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        ask = Asking(server.stdout.readline().strip())
        try:
            up = time.perf_counter() - start
            while not all(run["ready"] for run in ask("/api/progress")[0]):
                time.sleep(0.02)
            read = time.perf_counter() - start
            ask("/api/overview")
            assert ask("/api/flips")[0]["rows"]
            page, used = time.perf_counter() - start, cpu_seconds(server.pid)
            yield server.pid, ask, {"listens": up, "read": read, "page": page, "cpu": used}
        finally:
            ask.link.close()
            server.terminate()
    assert 130 == server.returncode


def test_a_million_calls(tmp_path):
    calls = size("VIEW_CALLS", 1_000_000)
    given = os.environ.get("JUDGEAUDIT_BENCH_VIEW_LEDGER")
    path = Path(given) if given else tmp_path / "ledger.sqlite"
    if not given:
        write(path, calls)
    opened = []
    for _ in range(3):
        with viewing(path) as (pid, _, times):
            opened.append((times, memory_mb(pid)))
    pages, flips, after = [], [], ""
    every = "transform=all&outcome=all"
    with viewing(path) as (pid, ask, _):
        total = ask(f"/api/flips?{every}")[0]["total"]
        for _ in range(100):
            page, used = ask(f"/api/flips?{every}&after={after}")
            pages.append(used)
            flips.append(ask(f"/api/flip?run=0&cell={page['rows'][0]['cell']}&{every}")[1])
            after = page["next"]
            if after is None:
                break
        jump = ask(f"/api/flips?{every}&start={total - 60}")[1]
        other = [
            ask(f"/api/flips?transform=kind:threshold&direction={d}&sort={s}")[1]
            for d in ("to_unsafe", "to_safe")
            for s in ("share", "plan")
        ]
        search = ask("/api/flips?q=Do+thing+77")[1]
        peak = memory_mb(pid)
    best = min(t["page"] for t, _ in opened)

    def line(name, values):
        values = sorted(values)
        return (name, statistics.median(values), values[-1])

    show(
        f"{calls:,} calls, {total:,} cells, {path.stat().st_size / 1e6:.0f} MB on disk; peak memory "
        f"{opened[0][1]:.0f} MB at the first page, {peak:.0f} MB after 200 pages and a search; "
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
        [
            ("what", "median s", "worst s"),
            line("command to address printed", [t["listens"] for t, _ in opened]),
            line("command to ledger read", [t["read"] for t, _ in opened]),
            line("command to first page of flips", [t["page"] for t, _ in opened]),
            line("the same, CPU time alone", [t["cpu"] for t, _ in opened]),
            line("next page of 50, 100 times", pages),
            line("a flip, whole, 100 times", flips),
            line("jump to the end", [jump]),
            line("other filters", other),
            line("search of all trajectories and replies", [search]),
        ],
        __file__,
    )
    # on a machine that does other work besides, CPU time is what can be measured
    busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    assert (min(t["cpu"] for t, _ in opened) if busy else best) < 2.0
    assert statistics.median(pages) < 0.1
    assert peak < 250
    assert calls * 4 >= total


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
