"""Memory of a run: the whole engine against a bare loop over the same door, a process each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bench_world import peak_mb, server, show, size

pytestmark = [pytest.mark.bench, pytest.mark.timeout(1800)]

HERE = Path(__file__).resolve().parent


def work(arm: str, api_base: str, folder: Path, n_items: int) -> float:
    sys.path.insert(0, str(HERE))
    from engine_world import open_ledger
    from test_cpu_a_verdict import bare_aiohttp, long_plan, spec_at

    from judgeaudit.engine.door import run_plan_sync
    from judgeaudit.engine.limits import Limits
    from judgeaudit.judges.direct import DirectJudge

    # the prompts are those of the bare loop, too: the plan makes them as they are asked for
    plan = long_plan(n_items, spec_at(api_base, "direct"))
    if arm == "bare":
        bare_aiohttp(plan, api_base, folder / "bare.jsonl", 64)
    elif arm == "engine":
        with open_ledger(folder / "l.sqlite", plan) as ledger:
            run_plan_sync(plan, DirectJudge(plan.judge), ledger, limits=Limits(concurrency=64))
    return peak_mb()


def test_memory_above_a_bare_loop(tmp_path):
    """Ledger, writer, window and provenance take at most 30 MB beside what a bare loop takes."""
    n, found = size("MEMORY_ITEMS", 250), {}
    with server(0.0) as api_base:
        for arm in ("neither", "bare", "engine"):
            words = [sys.executable, __file__, arm, api_base, str(tmp_path), str(n)]
            env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
            done = subprocess.run(words, capture_output=True, text=True, check=False, env=env)
            assert 0 == done.returncode, done.stderr
            found[arm] = float(done.stdout)
    above = found["engine"] - found["bare"]
    show(
        f"peak memory in MB, {n} items under each condition, 64 in flight",
        [
            ("imports and plan alone", "bare aiohttp", "judgeaudit", "above bare", "target"),
            (found["neither"], found["bare"], found["engine"], above, "30"),
        ],
        __file__,
    )
    assert above < 30


if __name__ == "__main__":
    print(work(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])))
