"""Merge ledgers of one plan that were made on several machines."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import numpy as np

from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.engine.chain import chain, plain_text
from judgeaudit.engine.identity import differences
from judgeaudit.engine.lock import holder
from judgeaudit.engine.rebuild import Rebuild
from judgeaudit.engine.schema import translated
from judgeaudit.engine.verify import faults, replayed
from judgeaudit.engine.view import LedgerView

__all__ = ["merge"]

_SHOWN: Final = 8
# places in a row of `answer_row`: what an answer says, and what only its transport was
_SAYS: Final = (1, 2, 3, 9, 10, 11, 12, 13, 14, 16, 17, 18)
_REQUEST: Final = (5, 15)

_ANSWER: Final = """
SELECT v.call, v.outcome, v.label, v.confidence, v.attempts, v.seconds, v.prompt_tokens,
       v.completion_tokens, v.cost, s.model, s.fingerprint, r.text, r.finish_reason, r.refusal,
       r.reasoning, r.request_id, r.rationale, r.note, r.extra
FROM verdicts v JOIN served s ON s.id = v.served LEFT JOIN replies r ON r.call = v.call
WHERE v.call = ?
"""


def merge(sources: Sequence[Path], target: Path, *, held: Path | None = None) -> Path:
    """Merge ledgers of the same plan into a new one; the sources stay as they are.

    All sessions, batches, failures and times are kept, in the order of the sources. One answer
    that several hold (a copied ledger) is taken once. Where two machines asked the same call and
    got the same answer, the first counts and the other is kept as a failure of class `duplicate`,
    so that its requests are still counted.

    Parameters
    ----------
    sources : sequence of Path
        Ledger files, two or more; not being written.
    target : Path
        New ledger file.
    held : Path, optional
        The source that the caller itself has locked.

    Raises
    ------
    LedgerError
        If they are not of one plan (the message says what differs), one is damaged, or two answer
        one call differently: choosing between draws would bias the audit.
    """
    if len(sources) < 2:
        raise ConfigError("a merge needs two ledgers or more")
    with ExitStack() as stack:
        for path in sources:
            if path != held and (process := holder(path)) is not None:
                raise LedgerError(
                    f"it is being written (process {process})",
                    where=str(path),
                    mend="Wait for that run",
                )
        views = [stack.enter_context(LedgerView(path)) for path in sources]
        first = views[0]
        for view in views[1:]:
            _check_same_plan(first, view)
        for view in views:
            _check_whole(view)
        with Rebuild(target) as made:
            with translated(target):
                made.plan(first.connection)
                merging = _Merging(views, made)
                for number in range(len(views)):
                    merging.add(number)
            return made.finish()


def _check_same_plan(first: LedgerView, other: LedgerView) -> None:
    found = differences(first.meta, other.meta)
    if not found and first.plan_sha256 != other.plan_sha256:
        found = ["the calls or their order"]
    if found:
        more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise LedgerError(
            f"it is of another run than {first.path}: {'; '.join(found[:_SHOWN])}{more}",
            where=str(other.path),
            mend="Only ledgers of one plan can be merged",
        )


def _check_whole(view: LedgerView) -> None:
    found = faults(view)
    if found:
        raise LedgerError(
            f"it is not whole: {found[0]}",
            where=str(view.path),
            mend="Salvage it first (judgeaudit ledger salvage)",
        )


class _Merging:
    """What was taken over so far: who answered each call, and which batches."""

    def __init__(self, views: Sequence[LedgerView], made: Rebuild) -> None:
        self._views = views
        self._made = made
        self._owner = np.full(views[0].n_planned, -1, dtype=np.int16)
        self._batches: set[bytes] = set()

    def add(self, number: int) -> None:
        """Take a source over."""
        db = self._views[number].connection
        sessions = self._made.sessions_of(db)
        begun = dict(db.execute("SELECT id, started || versions FROM sessions"))
        for (_, session, at, elapsed), _, mine, failures in replayed(db):
            key = chain(begun[session].encode(), (0, 0, at, elapsed), mine, failures)
            if key in self._batches:
                continue  # the same batch, in a copy of a ledger
            self._batches.add(key)
            answers, again = self._sorted_out(number, mine)
            if answers or again or failures:
                self._made.batch(
                    sessions[session], at, elapsed, answers=answers, failures=[*failures, *again]
                )

    def _sorted_out(
        self, number: int, rows: list[tuple[Any, ...]]
    ) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        answers, again = [], []
        for row in rows:
            before = int(self._owner[row[0]])
            if before < 0:
                self._owner[row[0]] = number
                answers.append(row)
            elif not _copied(self._views[before], self._views[number], row):
                words = f"answered alike in {self._views[before].path.name}"
                again.append((row[0], "duplicate", None, None, words, row[4]))
        return answers, again


def _copied(first: LedgerView, second: LedgerView, row: tuple[Any, ...]) -> bool:
    """Say whether a second answer is the very same one; refuse one that says something else."""
    other = tuple(map(plain_text, first.connection.execute(_ANSWER, (row[0],)).fetchone()))
    if any(other[k] != row[k] for k in _SAYS):
        (place,) = first.rows_at([row[0]])
        raise LedgerError(
            f"{first.path} and {second.path} answer one call differently: "
            f"{place['item']!r} under {place['condition']}, repeat {place['repeat'] + 1}, "
            f"{_said(other)} and {_said(row)}",
            mend="Two draws of one planned call cannot both count; leave one of the ledgers out",
        )
    return all(other[k] == row[k] for k in _REQUEST)


def _said(row: tuple[Any, ...]) -> str:
    return str(row[2] if row[1] == "verdict" else row[1])
