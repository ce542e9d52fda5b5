from __future__ import annotations

import asyncio
import signal

import pytest
from engine_world import PromptJudge, make_plan, open_ledger, parse

from judgeaudit.core.errors import QuotaExhaustedError
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.door import run_plan_sync


@pytest.fixture
def plan():
    return make_plan(2)


def test_it_works_inside_a_running_event_loop(tmp_path, plan):
    """As in a notebook, whose cells run inside a loop."""
    judge = PromptJudge()

    async def cell():
        with open_ledger(tmp_path / "l", plan) as ledger:
            return run_plan_sync(plan, judge, ledger, parse=parse)

    assert asyncio.run(cell()).answered == plan.n_calls
    assert judge.closed == 1


def test_signal_handlers_are_put_back(tmp_path, plan):
    before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with open_ledger(tmp_path / "l", plan) as ledger:
        run_plan_sync(plan, PromptJudge(), ledger, parse=parse, close_judge=False)
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before


def test_errors_reach_the_caller_and_the_judge_is_closed(tmp_path, plan):
    def fault(_nth, _call):
        raise QuotaExhaustedError("out of credit")

    judge = PromptJudge(fault)
    with open_ledger(tmp_path / "l", plan) as ledger, pytest.raises(QuotaExhaustedError):
        run_plan_sync(plan, judge, ledger, parse=parse)
    assert judge.closed == 1


def test_an_interrupt_before_the_start_asks_nothing(tmp_path, plan):
    control, judge = RunControl(), PromptJudge()
    control.interrupt()
    with open_ledger(tmp_path / "l", plan) as ledger:
        summary = run_plan_sync(plan, judge, ledger, parse=parse, control=control)
    assert (judge.requests, summary.interrupted) == (0, True)
