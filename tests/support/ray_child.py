"""Run a small audit on Ray in a process of its own.

`ray_child.py FOLDER N_ITEMS DELAY BUDGET_CALLS`: asks a deterministic judge that logs each request
to FOLDER/asked before it is made; a budget of 0 is none. The last line of standard output says how
the run ended.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from engine_world import PromptJudge, make_meta, make_plan

from judgeaudit.core.errors import JudgeAuditError
from judgeaudit.core.records import AuditSpec, Call, JudgePrompt, Reply
from judgeaudit.engine.executors import run_on_ray
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.plan import Plan
from judgeaudit.engine.progress import make_progress

IN_FLIGHT = 6


class Logged(PromptJudge):
    def __init__(self, log: str, delay: float) -> None:
        super().__init__(delay=delay)
        self.log = os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY)

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        os.write(self.log, f"{os.getpid()} {call.id}\n".encode())
        return await super().ask(prompt, call)


def main() -> int:
    folder, n, delay, budget = sys.argv[1:5]
    plan = make_plan(int(n))
    log = str(Path(folder) / "asked")

    def make_judge(_plan: Plan, _limits: Limits) -> Logged:
        return Logged(log, float(delay))

    spec = AuditSpec(judge="scripted:x", workers=2, budget_calls=int(budget) or None)
    try:
        summary = run_on_ray(
            plan,
            make_meta(plan),
            Path(folder) / "ledger.sqlite",
            spec,
            limits=Limits(concurrency=IN_FLIGHT, adaptive=False),
            progress=make_progress("plain"),
            make_judge=make_judge,
        )
    except JudgeAuditError as error:
        print(f"error {error}", flush=True)
        return error.exit_code
    print(f"answered {summary.answered} left {summary.left}", flush=True)
    return 130 if summary.interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
