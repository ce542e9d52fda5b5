"""What all that asks in rounds has in common: one bar, one budget over the rounds' ledgers."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing, suppress
from pathlib import Path

from judgeaudit.core.records import AuditSpec, Item
from judgeaudit.engine.budget import Amount, Budget, Caps, spent_before
from judgeaudit.engine.choices import judge_of, limits_of, price_of
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.door import run_plan_closing
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.plan import Plan
from judgeaudit.engine.progress import Progress
from judgeaudit.engine.schema import check_kind, connect
from judgeaudit.engine.view import LedgerView
from judgeaudit.judges.base import Judge

__all__ = ["OneBar", "Seat", "StoppedError", "begun", "budget_over"]


class StoppedError(Exception):
    """The user interrupted a round; what was answered is kept."""


class OneBar:
    """Shows all rounds as one run, against the calls that they may take at most."""

    def __init__(self, inner: Progress, most: int) -> None:
        self._inner, self._most, self._begun = inner, most, False

    def begin(self, planned: int, answered: int) -> None:
        """Start at the first round that is asked."""
        del planned
        if not self._begun:
            self._inner.begin(self._most, answered)
        self._begun = True

    def count(self, outcome: str, cost: float | None) -> None:
        """Count a call."""
        self._inner.count(outcome, cost)

    def note(self, line: str) -> None:
        """Say a line."""
        self._inner.note(line)

    def end(self) -> None:
        """Go on: another round may follow."""

    def close(self) -> None:
        """Stop."""
        if self._begun:
            self._inner.end()


class Seat:
    """The judge of a run, asked round by round within the limits and one budget of all rounds.

    Parameters
    ----------
    view : LedgerView
        The run; its judge is asked, as it was asked there.
    folder : Path
        Of the rounds' ledgers.
    spec : AuditSpec
        Limits and budget.
    most : int
        Calls at most, for the bar.
    progress, control
        As of `run_plan`.
    """

    def __init__(
        self,
        view: LedgerView,
        folder: Path,
        spec: AuditSpec,
        *,
        most: int,
        progress: Progress,
        control: RunControl,
    ) -> None:
        self._folder, self._spec, self._control = folder, spec, control
        self._progress = OneBar(progress, most)
        self.judge_spec = view.meta.judge
        self.price = price_of(spec, self.judge_spec)
        truncated = view.meta.extra.get("retry_truncated")
        self._limits = limits_of(
            spec.model_copy(update={"retry_truncated": truncated}), self.judge_spec
        )
        self._judge: Judge | None = None
        self._budget: Budget | None = None

    def judge(self, items: Iterable[Item], *, fresh: bool) -> Judge:
        """Return the judge, made once; `fresh` as of `judge_of`."""
        if self._judge is None:
            seconds = self._spec.attempt_seconds
            self._judge = judge_of(self.judge_spec, tuple(items), seconds, fresh=fresh)
        return self._judge

    async def ask(self, judge: Judge, plan: Plan, ledger: Ledger) -> None:
        """Make the calls of a round.

        Raises
        ------
        StoppedError
            If the user interrupts it.
        """
        if self._budget is None:
            self._budget = budget_over(self._folder, self._spec, self.price)
        summary = await run_plan_closing(
            plan,
            judge,
            ledger,
            close_judge=False,
            limits=self._limits,
            progress=self._progress,
            control=self._control,
            budget=self._budget,
            price=self.price,
        )
        if summary.interrupted:
            raise StoppedError

    async def aclose(self) -> None:
        """Close the judge, on the loop on which it was asked."""
        self._progress.close()
        if self._judge is not None:
            with suppress(TimeoutError):
                await self._judge.aclose()


def begun(path: Path) -> bool:
    """Say whether a round's ledger holds a plan; one whose writer was killed is put in order.

    A writer that was killed while it made the ledger left none: its place is free.
    """
    with closing(connect(path, "mode=rw")) as db:
        if not check_kind(db, path):
            return False
    if path.with_name(path.name + ".lock").exists():
        Ledger.reopen(path).close()
    return True


def budget_over(folder: Path, spec: AuditSpec, price: Price | None) -> Budget | None:
    """Return the budget of all rounds in a folder, less what they used; None without caps."""
    caps = Caps(usd=spec.budget_usd, tokens=spec.budget_tokens, calls=spec.budget_calls)
    if not caps:
        return None
    used = Amount()
    for path in sorted(folder.glob("round-*.sqlite")):
        with LedgerView(path) as view:
            used += spent_before(view, price)
    return Budget(caps, used)
