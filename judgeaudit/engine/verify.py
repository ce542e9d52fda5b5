"""Check a ledger against its own hash chain."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from judgeaudit.core.hashing import sha256_text
from judgeaudit.engine.chain import Batch, chain, genesis, plain_text
from judgeaudit.engine.schema import translated

if TYPE_CHECKING:
    from judgeaudit.engine.view import LedgerView

__all__ = ["broken_links", "faults", "replayed"]

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
    before, last = genesis(db), 0
    for batch, (n_answers, n_failures, head), mine, bad in replayed(db):
        number, session, at, elapsed = batch
        if number < 0:
            yield "there are rows that belong to no batch"
            return
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


def replayed(
    db: sqlite3.Connection,
) -> Iterator[tuple[Batch, tuple[int, int, bytes], list[tuple[Any, ...]], list[tuple[Any, ...]]]]:
    """Iterate over what was written, batch by batch, in the form in which it was hashed.

    Yields
    ------
    tuple
        The batch, what it says of itself (answers, failures, head), its answers by position, and
        its failures in order of writing. Rows that belong to no batch come last, as a batch of
        number -1.
    """
    answers = _grouped(db.execute(_ANSWERS))
    failures = _grouped(db.execute(_FAILURES))
    next_answers, next_failures = next(answers, None), next(failures, None)
    for number, session, at, elapsed, n_answers, n_failures, head in db.execute(
        "SELECT * FROM batches ORDER BY id"
    ):
        mine: list[tuple[Any, ...]] = []
        bad: list[tuple[Any, ...]] = []
        if next_answers is not None and next_answers[0] == number:
            mine, next_answers = next_answers[1], next(answers, None)
        if next_failures is not None and next_failures[0] == number:
            bad, next_failures = next_failures[1], next(failures, None)
        yield (number, session, at, elapsed), (n_answers, n_failures, head), mine, bad
    if next_answers is not None or next_failures is not None:
        yield (-1, 0, "", 0.0), (0, 0, b""), [], []


def faults(view: LedgerView) -> list[str]:
    """Check a whole ledger: the file, its texts, its counts and its hash chain.

    Returns
    -------
    list of str
        One line for each fault; empty for a whole ledger.

    Raises
    ------
    LedgerError
        If the file cannot be read to its end.
    """
    with translated(view.path):
        db = view.connection
        found = [str(line) for (line,) in db.execute("PRAGMA quick_check") if line != "ok"]
        for number, digest, body in db.execute("SELECT id, sha256, body FROM parts"):
            if sha256_text(plain_text(body)) != digest.hex():
                found.append(f"text {number} is not what its hash says")
        (wordless,) = db.execute(
            "SELECT count(*) FROM verdicts WHERE call NOT IN (SELECT call FROM replies)"
        ).fetchone()
        if wordless:
            found.append(f"{wordless} answers have lost their words")
        return found + list(_check(db))


def _grouped(rows: sqlite3.Cursor) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
    for number, group in itertools.groupby(rows, key=lambda row: row[0]):
        yield number, [tuple(map(plain_text, row[1:])) for row in group]
