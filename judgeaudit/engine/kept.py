"""What a run that stopped half-way leaves behind, in words for the one who reads why it stopped."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from judgeaudit.core.errors import JudgeError, LedgerError
from judgeaudit.engine.ledger import Ledger

__all__ = ["make_card", "say_kept", "scoring"]


def make_card(folder: Path) -> str:
    """Return the command that makes a card of what a run holds."""
    return f"judgeaudit card {shlex.quote(str(folder))}"


def say_kept(error: JudgeError, ledger: Path) -> None:
    """Add to an error how many answers are kept, and how to go on; nothing where none is.

    Parameters
    ----------
    error : JudgeError
        Why the run stopped; its `mend` is changed.
    ledger : path
        The run's ledger; closed.
    """
    with suppress(LedgerError, OSError), Ledger.open_readonly(ledger) as view:
        n, planned = view.n_answered, view.n_planned
        if not n:
            return
        said = [f"{n:,} of {planned:,} answers are in {ledger.parent}"]
        if "same command" not in (error.mend or ""):
            said.append("the same command goes on")
        said.append(f"{make_card(ledger.parent)} makes the card of what is there")
        told = "; ".join(said)
        error.mend = f"{error.mend}. {told}" if error.mend else told


@contextmanager
def scoring(folder: Path) -> Iterator[None]:
    """Say of an interrupt that comes after the last call that nothing is lost by it.

    Raises
    ------
    KeyboardInterrupt
        With the line to print.
    """
    try:
        yield
    except KeyboardInterrupt:
        said = f"nothing is lost; {make_card(folder)} makes the card"
        raise KeyboardInterrupt(f"interrupted while scoring; {said}") from None
