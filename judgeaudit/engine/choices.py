"""From the choices of an audit to the bounds of its run: limits, price, budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec, Item, JudgeSpec
from judgeaudit.engine.budget import Budget, Caps, spent_before
from judgeaudit.engine.deciding import decider_of
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.prices import read_prices
from judgeaudit.judges import _choice as choice
from judgeaudit.judges.base import JUDGES, Judge, PlantedJudge, TimedJudge

if TYPE_CHECKING:
    from judgeaudit.engine.control import Decide
    from judgeaudit.engine.plan import Plan
    from judgeaudit.engine.view import LedgerView

__all__ = ["budget_of", "decide_of", "judge_of", "limits_of", "price_of"]

_FREE: Final = frozenset({"local", "scripted", "replay"})


def judge_of(spec: JudgeSpec, items: Sequence[Item], attempt_seconds: float) -> Judge:
    """Make the judge that a spec names; one with planted faults is told the items.

    Raises
    ------
    ConfigError
        If it cannot be served here.
    """
    judge: Judge = JUDGES[spec.backend](spec)
    if isinstance(judge, PlantedJudge):
        judge.learn(items)
    if isinstance(judge, TimedJudge):
        judge.attempt_seconds = attempt_seconds
    return judge


def limits_of(spec: AuditSpec, judge: JudgeSpec) -> Limits:
    """Return the limits within which an audit's judge is asked."""
    return Limits(
        concurrency=spec.concurrency or choice.concurrency_for(judge),
        attempts=spec.attempts,
        attempt_seconds=spec.attempt_seconds,
        call_seconds=spec.call_seconds,
        adaptive=spec.adaptive,
        requests_per_minute=spec.requests_per_minute,
        tokens_per_minute=spec.tokens_per_minute,
        retry_truncated=spec.retry_truncated,
    )


def price_of(spec: AuditSpec, judge: JudgeSpec) -> Price | None:
    """Find the price of a judge: the user's own, else the library's, else none.

    Raises
    ------
    ConfigError
        If a budget in money is asked for and the price is not known: nobody guesses it.
    """
    stated = read_prices(spec.prices) if spec.prices is not None else {}
    if judge.backend in _FREE:
        return Price(0.0, 0.0)
    known = choice.price_of(judge)
    price = stated.get(spec.judge) or stated.get(judge.model) or (Price(*known) if known else None)
    if price is None and spec.budget_usd is not None:
        listed = f"; {spec.prices} lists {', '.join(sorted(stated))}" if stated else ""
        raise ConfigError(
            f"a budget in US dollars needs the price of {spec.judge!r}, which is not known{listed}",
            mend="State it in a file given as --prices, or cap with --budget-calls or "
            "--budget-tokens instead",
        )
    return price


def budget_of(spec: AuditSpec, ledger: LedgerView, price: Price | None) -> Budget | None:
    """Return what is left of an audit's budget; None where nothing is capped."""
    caps = Caps(usd=spec.budget_usd, tokens=spec.budget_tokens, calls=spec.budget_calls)
    return Budget(caps, spent_before(ledger, price)) if caps else None


def decide_of(spec: AuditSpec, plan: Plan, ledger: LedgerView) -> Decide | None:
    """Return what says when an audit may stop; None where it asks every call.

    Raises
    ------
    ConfigError
        If the plan cannot be decided early.
    """
    if spec.until is None:
        return None
    if spec.executor != "local":
        raise ConfigError(
            f"a run until decided asks items one after the other, which {spec.executor} does not",
            mend="Leave --executor out",
        )
    return decider_of(plan, ledger)
