"""Check a ledger against its own hash chain."""

from __future__ import annotations

import hashlib
import itertools
import sqlite3
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from judgeaudit.core.errors import LedgerError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.engine.chain import Batch, chain, genesis, plain_text
from judgeaudit.engine.lock import holder, promised
from judgeaudit.engine.schema import SALVAGE, doubted

if TYPE_CHECKING:
    from judgeaudit.engine.view import LedgerView

__all__ = ["broken_links", "broken_promise", "faults", "refuse_damaged", "replayed", "wrong_plan"]

_PAGE: Final = 100_000
_RECENT: Final = 50_000
_TOLD: Final = 2

_ANSWERS: Final = """
SELECT v.batch, v.call, v.outcome, v.label, v.confidence, v.attempts, v.seconds, v.prompt_tokens,
       v.completion_tokens, v.cost, s.model, s.fingerprint, r.text, r.finish_reason, r.refusal,
       r.reasoning, r.request_id, r.rationale, r.note, r.extra
FROM verdicts v JOIN served s ON s.id = v.served LEFT JOIN replies r ON r.call = v.call
WHERE v.batch > ? ORDER BY v.batch, v.call
"""
_FAILURES: Final = """
SELECT batch, call, class, status, code, message, attempts FROM failures
WHERE batch > ? ORDER BY batch, id
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
    with doubted(view.path):
        return list(_check(view.connection))


def _check(db: sqlite3.Connection, after: int = 0) -> Iterator[str]:
    before, last = genesis(db), after
    if after:
        (before,) = db.execute("SELECT head FROM batches WHERE id = ?", (after,)).fetchone()
    for batch, (n_answers, n_failures, head), mine, bad in replayed(db, after):
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
    db: sqlite3.Connection, after: int = 0
) -> Iterator[tuple[Batch, tuple[int, int, bytes], list[tuple[Any, ...]], list[tuple[Any, ...]]]]:
    """Iterate over what was written, batch by batch, in the form in which it was hashed.

    Parameters
    ----------
    after : int
        Leave out the batches up to this one.

    Yields
    ------
    tuple
        The batch, what it says of itself (answers, failures, head), its answers by position, and
        its failures in order of writing. Rows that belong to no batch come last, as a batch of
        number -1.
    """
    answers = _grouped(db.execute(_ANSWERS, (after,)))
    failures = _grouped(db.execute(_FAILURES, (after,)))
    next_answers, next_failures = next(answers, None), next(failures, None)
    for number, session, at, elapsed, n_answers, n_failures, head in db.execute(
        "SELECT * FROM batches WHERE id > ? ORDER BY id", (after,)
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
    """Check a whole ledger: the file, its texts, its counts, its hash chain and its end.

    Returns
    -------
    list of str
        One line for each fault; empty for a whole ledger.

    Raises
    ------
    LedgerError
        If the file cannot be read to its end.
    """
    with doubted(view.path):
        db = view.connection
        found = [str(line) for (line,) in db.execute("PRAGMA quick_check") if line != "ok"]
        found += _bad_texts(db)
        found += wrong_plan(db, view.meta.judge.sha256, view.plan_sha256)
        (wordless,) = db.execute(
            "SELECT count(*) FROM verdicts WHERE call NOT IN (SELECT call FROM replies)"
        ).fetchone()
        if wordless:
            found.append(f"{wordless} answers have lost their words")
        found += _check(db)
    return found + ([] if holder(view.path) else _cut(view) + broken_promise(view))


def refuse_damaged(view: LedgerView) -> None:
    """Refuse to go on from a ledger that has lost something: that would be asked and paid again.

    A ledger of at most 50,000 rows is checked whole, a larger one in its last 50,000: what a
    kill, a full disk or a cut file can spoil is at the end. `faults` checks all of it.

    Raises
    ------
    LedgerError
        Saying what is wrong, and how to save the rest.
    """
    with doubted(view.path):
        found = _cut(view) + broken_promise(view)
        if not found:
            after = _before_recent(view.connection)
            found = _bad_texts(view.connection) + list(_check(view.connection, after))
            found = found if found or after else faults(view)
    if found:
        more = f"; and {len(found) - _TOLD} more faults" if len(found) > _TOLD else ""
        raise LedgerError(
            f"the ledger is damaged: {'; '.join(found[:_TOLD])}{more}",
            where=str(view.path),
            mend=SALVAGE,
        )


def _before_recent(db: sqlite3.Connection) -> int:
    """Return the batch after which the last rows were written; 0: these are all."""
    rows = 0
    for number, n in db.execute("SELECT id, n_answers + n_failures FROM batches ORDER BY id DESC"):
        rows += n
        if rows > _RECENT:
            return int(number)
    return 0


def _bad_texts(db: sqlite3.Connection) -> list[str]:
    return [
        f"text {number} is not what its hash says"
        for number, digest, body in db.execute("SELECT id, sha256, body FROM parts")
        if sha256_text(plain_text(body)) != digest.hex()
    ]


def wrong_plan(db: sqlite3.Connection, judge_sha256: str, plan_sha256: str) -> list[str]:
    """Say whether items, conditions and calls are those whose hash was kept; see `Plan.sha256`."""
    digest = hashlib.sha256(judge_sha256.encode())
    items = [plain_text(k) for (k,) in db.execute("SELECT key FROM items ORDER BY id")]
    for key in items:
        digest.update(key.encode("utf-8", "surrogatepass") + b"\0")
    columns = db.execute("SELECT condition, wording FROM columns ORDER BY id").fetchall()
    for condition, wording in columns:
        digest.update(f"\1{condition}\0{wording}".encode())
    for name in ("cell", "repeat"):
        rows = db.execute(f"SELECT {name} FROM calls ORDER BY position")  # noqa: S608
        while some := rows.fetchmany(_PAGE):
            digest.update(np.array([n for (n,) in some], dtype="<i8").tobytes())
    n = len(items) * len(columns)
    prompts = bytearray(32 * n)
    for cell, item, column, prompt in db.execute("SELECT id, item, col, prompt_sha256 FROM cells"):
        if not 0 <= cell < n or (item, column) != divmod(cell, len(columns)) or len(prompt) != 32:
            return [f"cell {cell} of the plan is not what it was"]
        prompts[32 * cell : 32 * cell + 32] = prompt
    digest.update(prompts)
    return [] if digest.hexdigest() == plan_sha256 else ["the plan is not what its hash says"]


def _cut(view: LedgerView) -> list[str]:
    """Say whether the file ends in mid-page: SQLite reads the rest of that page as zeros."""
    wal = view.path.with_name(view.path.name + "-wal")
    if wal.exists() and wal.stat().st_size:
        return []  # the -wal holds the last pages; the chain says whether it does
    (size,) = view.connection.execute("PRAGMA page_size").fetchone()
    lacking = -view.path.stat().st_size % size
    return [f"the file was cut short: {lacking} bytes of its last page are missing"][: lacking > 0]


def broken_promise(view: LedgerView) -> list[str]:
    """Say what an earlier run had committed and the ledger does not hold."""
    promise = promised(view.path)
    if promise is None:
        return []
    batches, answers = view.connection.execute(
        "SELECT coalesce(max(id), 0), total(n_answers) FROM batches"
    ).fetchone()
    if batches >= promise.batches:
        return []
    gone = promise.answers - int(answers)
    where = f"batches {batches + 1} to {promise.batches}"
    return [f"{gone} committed answers are gone ({where}): its -wal was removed or changed"]


def _grouped(rows: sqlite3.Cursor) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
    for number, group in itertools.groupby(rows, key=lambda row: row[0]):
        yield number, [tuple(map(plain_text, row[1:])) for row in group]
