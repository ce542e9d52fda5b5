"""From the choices of an audit to the bounds of its run: limits, price, budget."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec, Item, JudgeSpec, JudgeTemplate
from judgeaudit.corpora.base import Corpus
from judgeaudit.engine.budget import Budget, Caps, spent_before
from judgeaudit.engine.deciding import decider_of
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.prices import read_prices
from judgeaudit.engine.settling import Settled, asettle, frozen, is_open
from judgeaudit.engine.votes import votes_extra
from judgeaudit.judges import _choice as choice
from judgeaudit.judges._confidence import source_of
from judgeaudit.judges._reach import check_reachable
from judgeaudit.judges.base import JUDGES, Judge, PlantedJudge, TimedJudge

if TYPE_CHECKING:
    from judgeaudit.engine.control import Decide
    from judgeaudit.engine.plan import Plan
    from judgeaudit.engine.view import LedgerView

__all__ = [
    "asettled_for",
    "budget_of",
    "decide_of",
    "judge_and_settled",
    "judge_of",
    "limits_of",
    "price_of",
    "told",
]

_FREE: Final = frozenset({"local", "scripted", "replay", "control"})


def judge_and_settled(
    spec: AuditSpec, template: JudgeTemplate, ledger: Path, found: Settled | None
) -> tuple[JudgeSpec, Settled | None]:
    """Make the spec of the judge that the choices name, as it is asked, and what that rests on.

    Parameters
    ----------
    spec : AuditSpec
        The choices.
    template : JudgeTemplate
        The prompt.
    ledger : path
        Of the run; where it has begun, that holds what the judge accepts.
    found : Settled, optional
        What the judge was just found to accept.
    """
    judge = choice.judge_spec(spec, template)
    found = (found or frozen(ledger)) if is_open(spec) else None
    return (found.of(judge) if found else judge), found


def told(
    judge: JudgeSpec, template: JudgeTemplate, found: Settled | None, corpus: Corpus
) -> dict[str, Any]:
    """Return what a ledger remembers of a judge beside its spec, and of raters' votes."""
    source = {"confidence": source_of(judge, template)}
    note = choice.note_made(judge)
    made = {} if note is None else {"judge_note": note}
    return (found.extra if found else {}) | source | made | votes_extra(corpus.items)


async def asettled_for(spec: AuditSpec, judge: JudgeSpec, found: Settled | None) -> Settled | None:
    """Ask a judge what it accepts; None where nothing is open, or it is known.

    Raises
    ------
    JudgeAuditError
        If it cannot be asked, or refuses what may not be left out.
    """
    if found is not None or not is_open(spec):
        return None

    def make(asked: JudgeSpec) -> Judge:
        return judge_of(asked, (), spec.attempt_seconds)

    return await asettle(spec, judge, limits_of(spec, judge), make)


def judge_of(
    spec: JudgeSpec, items: Sequence[Item], attempt_seconds: float, *, fresh: bool = False
) -> Judge:
    """Make the judge that a spec names; one with planted faults is told the items.

    Parameters
    ----------
    fresh : bool
        Whether no run of it has begun: then an address at which nobody answers is a mistake, and
        is found before a ledger is made.

    Raises
    ------
    ConfigError
        If it cannot be served here, or cannot be reached.
    """
    if fresh:
        check_reachable(spec)
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
    if choice.inside(judge).backend in _FREE:
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
    return price.batched() if price is not None and spec.batch else price


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
    if spec.batch:
        raise ConfigError(
            "a run until decided asks items one after the other, which batches do not",
            mend="Leave --batch out",
        )
    return decider_of(plan, ledger)
