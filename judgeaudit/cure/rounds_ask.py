"""What all that asks in rounds has in common: one bar, one budget over the rounds' ledgers."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from judgeaudit.core.records import AuditSpec
from judgeaudit.engine.budget import Amount, Budget, Caps, spent_before
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.progress import Progress
from judgeaudit.engine.schema import check_kind, connect
from judgeaudit.engine.view import LedgerView

__all__ = ["OneBar", "StoppedError", "begun", "budget_over"]


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
