"""Run a small audit in a process of its own, to be killed or interrupted from outside.

`engine_child.py LEDGER ASKED_LOG N_ITEMS DELAY [CONCURRENCY]`: each request is written to the log
before it is made; the last line of standard output says how the run ended.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from engine_world import PromptJudge, make_plan, open_ledger, parse

from judgeaudit.core.errors import JudgeAuditError
from judgeaudit.core.records import Call, JudgePrompt, Reply
from judgeaudit.engine.door import run_plan_sync
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.progress import make_progress


class Logged(PromptJudge):
    def __init__(self, log: int, delay: float) -> None:
        super().__init__(delay=delay)
        self.log = log

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        os.write(self.log, f"{call.id}\n".encode())
        return await super().ask(prompt, call)


def main() -> int:
    ledger, log, n, delay = sys.argv[1:5]
    limits = Limits(concurrency=int(sys.argv[5]) if len(sys.argv) > 5 else 8)
    plan = make_plan(int(n))
    judge = Logged(os.open(log, os.O_CREAT | os.O_APPEND | os.O_WRONLY), float(delay))
    try:
        with open_ledger(Path(ledger), plan) as opened:
            summary = run_plan_sync(
                plan, judge, opened, limits=limits, progress=make_progress("plain"), parse=parse
            )
    except JudgeAuditError as error:
        print(f"error {error}", flush=True)
        return error.exit_code
    print(f"answered {summary.answered} left {summary.left}", flush=True)
    return 130 if summary.interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
