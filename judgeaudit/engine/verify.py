"""Check a ledger against its own hash chain."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from judgeaudit.engine.schema import translated
from judgeaudit.engine.writer import chain, genesis, plain_text

if TYPE_CHECKING:
    from judgeaudit.engine.view import LedgerView

__all__ = ["broken_links"]

_ANSWERS: Final = """
SELECT v.batch, v.call, v.outcome, v.label, v.confidence, v.attempts, v.seconds, v.prompt_tokens,
       v.completion_tokens, v.cost, s.model, s.fingerprint, r.text, r.finish_reason, r.refusal,
       r.reasoning, r.request_id, r.rationale, r.note, r.extra
FROM verdicts v JOIN served s ON s.id = v.served LEFT JOIN replies r ON r.call = v.call
ORDER BY v.batch, v.call
"""
_FAILURES: Final = """
SELECT batch, call, class, status, code, message, attempts FROM failures ORDER BY batch, id
"""


def broken_links(view: LedgerView) -> list[str]:
    """Recompute the hash chain over all batches.

    Returns
    -------
    list of str
        One line for each batch that does not fit its rows; empty for a whole ledger. Each batch
        is checked from the head stored before it, so a change is named where it was made.

    Raises
    ------
    LedgerError
        If the file cannot be read to its end.
    """
    with translated(view.path):
        return list(_check(view.connection))


def _check(db: sqlite3.Connection) -> Iterator[str]:
    answers = _grouped(db.execute(_ANSWERS))
    failures = _grouped(db.execute(_FAILURES))
    next_answers, next_failures = next(answers, None), next(failures, None)
    before, last = genesis(db), 0
    for number, session, at, elapsed, n_answers, n_failures, head in db.execute(
        "SELECT * FROM batches ORDER BY id"
    ):
        mine: list[tuple[Any, ...]] = []
        bad: list[tuple[Any, ...]] = []
        if next_answers is not None and next_answers[0] == number:
            mine, next_answers = next_answers[1], next(answers, None)
        if next_failures is not None and next_failures[0] == number:
            bad, next_failures = next_failures[1], next(failures, None)
        if number != last + 1:
            yield f"batches {last + 1} to {number - 1} are missing"
        elif (len(mine), len(bad)) != (n_answers, n_failures):
            yield (
                f"batch {number} of {at} has {len(mine)} answers and {len(bad)} failures, "
                f"{n_answers} and {n_failures} were written"
            )
        elif chain(before, (number, session, at, elapsed), mine, bad) != head:
            yield f"batch {number} of {at} was changed after it was written"
        before, last = head, number
    if next_answers is not None or next_failures is not None:
        yield "there are rows that belong to no batch"


def _grouped(rows: sqlite3.Cursor) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
    for number, group in itertools.groupby(rows, key=lambda row: row[0]):
        yield number, [tuple(map(plain_text, row[1:])) for row in group]
