"""A long run in one process against a real server: memory stays, nothing warns, the ledger is whole.

The short form makes 5,000 calls; JUDGEAUDIT_SLOW=full 200,000; JUDGEAUDIT_SOAK_CALLS any number.
Through the direct door where there is one, else through LiteLLM (JUDGEAUDIT_SOAK_DOOR).
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
from bench_world import server
from engine_world import open_ledger, plan_for

from judgeaudit.core.records import Condition, JudgeSpec, Protocol
from judgeaudit.engine.choices import judge_of
from judgeaudit.engine.door import run_plan_sync
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.progress import LineProgress
from judgeaudit.engine.verify import faults
from judgeaudit.judges.base import JUDGES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(4 * 3600)]

LONG = os.environ.get("JUDGEAUDIT_SLOW") == "full"
CALLS = int(os.environ.get("JUDGEAUDIT_SOAK_CALLS", "200000" if LONG else "5000"))
DOOR = os.environ.get("JUDGEAUDIT_SOAK_DOOR", "direct" if "direct" in JUDGES else "litellm")
WARM_UP = 2_000
MOST_MB = 50.0
MODEL = {"direct": "loopback-1", "litellm": "openai/loopback-1"}


def plan_at(api_base: str):
    kinds = {"base": "reference", "T1": "certified", "T2": "certified", "T4": "certified"}
    kinds["strict"] = "threshold"
    items = max(1, min(2000, CALLS // 5))
    repeats = max(1, CALLS // (5 * items))
    conditions = tuple(Condition(id=k, kind=v) for k, v in kinds.items())  # type: ignore[arg-type]
    return plan_for(
        items,
        Protocol(preset="soak", base_repeats=repeats, repeats=repeats, conditions=conditions),
        JudgeSpec(
            backend=DOOR, model=MODEL[DOOR], api_base=api_base, decoding={"temperature": 1.0}
        ),
    )


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Watched(LineProgress):
    """Reads the memory of the process now and then."""

    def __init__(self, stream) -> None:
        super().__init__(stream)
        self.mb: list[float] = []

    def count(self, outcome, cost):
        super().count(outcome, cost)
        if self.done == WARM_UP or (self.done > WARM_UP and self.done % 1000 == 0):
            self.mb.append(resident_mb())


def soak(path: Path, api_base: str) -> dict[str, object]:
    plan = plan_at(api_base)
    with warnings.catch_warnings(record=True) as warned, path.with_suffix(".log").open("w") as log:
        warnings.simplefilter("always")
        if DOOR == "litellm":
            # what it deprecates while it is imported is not of the run
            import judgeaudit.judges._litellm  # noqa: F401
        judge = judge_of(plan.judge, plan.items, 120.0)
        warned.clear()
        progress = Watched(log)
        began, used = time.monotonic(), time.process_time()
        with open_ledger(path, plan) as ledger:
            summary = run_plan_sync(
                plan, judge, ledger, limits=Limits(concurrency=32), progress=progress
            )
        used, spent = time.process_time() - used, time.monotonic() - began
        gc.collect()  # what was never closed says so when it goes
        said = [f"{w.category.__name__}: {w.message}" for w in warned]
    return {
        "planned": plan.n_calls,
        "answered": summary.answered,
        "requests": summary.requests,
        "mb": progress.mb,
        "warnings": sorted(set(said)),
        "ms": 1000 * used / plan.n_calls,
        "seconds": spent,
    }


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")
def test_soak(tmp_path):
    path = tmp_path / "soak.sqlite"
    with server(0.0) as api_base:
        env = os.environ | {"OPENAI_API_KEY": "sk-soak", "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, __file__, str(path), api_base],
            capture_output=True, text=True, check=False, env=env,
        )  # fmt: skip
    assert 0 == done.returncode, done.stderr
    assert "" == done.stderr
    found = json.loads(done.stdout)
    assert found["planned"] == found["answered"] == found["requests"]
    assert [] == found["warnings"]
    grown = max(found["mb"]) - found["mb"][0]
    print(
        f"\n{found['planned']} calls through {DOOR}: {found['mb'][0]:.0f} MB after {WARM_UP} "
        f"calls, {grown:+.1f} MB at most since; {found['ms']:.2f} ms CPU a verdict, "
        f"{found['seconds']:.0f} s"
    )
    assert grown < MOST_MB
    with Ledger.open_readonly(path) as view:
        assert found["planned"] == view.n_answered
        assert [] == faults(view)
    words = [sys.executable, "-m", "judgeaudit", "ledger", "verify", str(path)]
    verified = subprocess.run(words, capture_output=True, text=True, check=False)
    assert f"whole: {found['planned']:,} of {found['planned']:,} calls answered" in verified.stdout


if __name__ == "__main__":
    print(json.dumps(soak(Path(sys.argv[1]), sys.argv[2])))
