"""The hash chain over a ledger's batches, and the one way in which a batch is written."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import sqlite3
from collections.abc import Sequence
from typing import Any, Final

__all__ = [
    "Batch",
    "Served",
    "chain",
    "genesis",
    "insert",
    "plain_text",
    "served_names",
    "storable",
]

# 64 rows of 11 values: below the 999 variables that an old SQLite takes
_ROWS_A_STATEMENT: Final = 64
# SQLite copies what a statement is given
_TEXT_A_STATEMENT: Final = 1 << 20

Batch = tuple[int, int, str, float]
"""(id, session, committed_at, elapsed)."""

Served = dict[tuple[str | None, str | None], int]
"""(model, fingerprint) -> number in the ledger."""


def storable(value: Any) -> Any:
    """Return a text that SQLite can hold: one with lone surrogates becomes bytes."""
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-8", "surrogatepass")
    return value


def plain_text(value: Any) -> Any:
    """Undo `storable`: bytes in a text column are a text with lone surrogates."""
    return value.decode("utf-8", "surrogatepass") if isinstance(value, bytes) else value


def genesis(db: sqlite3.Connection) -> bytes:
    """Hash what was written before the first call: the first link of the chain."""
    digest = hashlib.sha256()
    for sql in (
        "SELECT key, value FROM meta ORDER BY key",
        "SELECT * FROM items ORDER BY id",
        "SELECT * FROM columns ORDER BY id",
        "SELECT id, hex(sha256) FROM parts ORDER BY id",
    ):
        for row in db.execute(sql):
            digest.update(b"\n" + json.dumps([plain_text(v) for v in row]).encode())
        digest.update(b"\n\n")
    return digest.digest()


def chain(
    head: bytes,
    batch: tuple[int, int, str, float],
    answers: Sequence[tuple[Any, ...]],
    failures: Sequence[tuple[Any, ...]],
) -> bytes:
    """Return the next head: sha256 over the last head, the batch's own facts and its rows.

    Parameters
    ----------
    head : bytes
        The previous head, `genesis` at first.
    batch : tuple
        (id, session, committed_at, elapsed).
    answers : sequence of tuple
        Rows as of `answer_row`, by position.
    failures : sequence of tuple
        (call, class, status, code, message, attempts), in order of writing.
    """
    digest = hashlib.sha256(head)
    # ASCII escapes keep lone surrogates and separate rows without doubt
    digest.update(json.dumps(batch).encode())
    for rows in (answers, failures):
        for row in rows:
            digest.update(b"\n" + json.dumps(row).encode())
        digest.update(b"\n\n")
    return digest.digest()


def served_names(db: sqlite3.Connection) -> Served:
    """Return the served models and fingerprints that a ledger has numbers for."""
    return {
        (plain_text(model), plain_text(fingerprint)): number
        for number, model, fingerprint in db.execute("SELECT id, model, fingerprint FROM served")
    }


def insert(
    db: sqlite3.Connection,
    batch: Batch,
    head: bytes,
    *,
    answers: Sequence[tuple[Any, ...]],
    failures: Sequence[tuple[Any, ...]],
    served: Served,
) -> None:
    """Write a batch inside a transaction that is open.

    Parameters
    ----------
    batch, head, answers, failures
        As of `chain`, and what it returned.
    served : dict
        Is added to.
    """
    db.execute(
        "INSERT INTO batches VALUES (?, ?, ?, ?, ?, ?, ?)",
        (*batch, len(answers), len(failures), head),
    )
    verdicts = [(a[0], batch[0], *a[1:9], _number(db, served, a[9], a[10])) for a in answers]
    _insert_rows(db, "verdicts", verdicts)
    _insert_rows(db, "replies", [(a[0], *map(storable, a[11:])) for a in answers])
    told = [(f[0], batch[0], *map(storable, f[1:])) for f in failures]
    _insert_rows(db, "failures (call, batch, class, status, code, message, attempts)", told)


def _insert_rows(db: sqlite3.Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert many rows by few statements.

    `executemany` lets go of the interpreter's lock for each row, and waits for it again: beside a
    busy event loop that costs more than the row. Sizes are powers of two, so that the statements
    that are prepared are few and used again.
    """
    at = 0
    while left := len(rows) - at:
        n = min(_ROWS_A_STATEMENT, 1 << (left.bit_length() - 1))
        if _length(rows[at : at + n]) > _TEXT_A_STATEMENT:
            n = 1
        values = itertools.chain.from_iterable(rows[at : at + n])
        db.execute(_insertion(table, len(rows[0]), n), tuple(values))
        at += n


def _length(rows: Sequence[tuple[Any, ...]]) -> int:
    return sum(len(v) for row in rows for v in row if isinstance(v, str | bytes))


@functools.cache
def _insertion(table: str, width: int, n: int) -> str:
    row = f"({', '.join('?' * width)})"
    return f"INSERT INTO {table} VALUES {', '.join([row] * n)}"  # noqa: S608 - our own words


def _number(
    db: sqlite3.Connection, served: Served, model: str | None, fingerprint: str | None
) -> int:
    number = served.get((model, fingerprint))
    if number is None:
        number = len(served) + 1
        db.execute(
            "INSERT INTO served VALUES (?, ?, ?)", (number, storable(model), storable(fingerprint))
        )
        served[model, fingerprint] = number
    return number
