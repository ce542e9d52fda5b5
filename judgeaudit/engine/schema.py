"""The ledger's tables, and how an SQLite error reads to a person."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from judgeaudit.core.errors import DiskError, LedgerError

__all__ = [
    "APPLICATION_ID",
    "DDL",
    "SALVAGE",
    "SCHEMA_VERSION",
    "check_kind",
    "connect",
    "doubted",
    "translated",
]

APPLICATION_ID: Final = 0x4A41554C
"""`JAUL` in the file's header: an SQLite file without it is somebody else's."""

SCHEMA_VERSION: Final = 1

DDL: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    # texts that many rows share (renderings, trajectories, templates), once each
    """CREATE TABLE parts (
        id INTEGER PRIMARY KEY, sha256 BLOB NOT NULL UNIQUE, body NOT NULL)""",
    """CREATE TABLE items (
        id INTEGER PRIMARY KEY, key NOT NULL UNIQUE, dataset NOT NULL, subset NOT NULL,
        name NOT NULL, cluster NOT NULL,
        label TEXT CHECK (label IN ('SAFE', 'UNSAFE')), label_source TEXT NOT NULL,
        ambiguous INTEGER, strata NOT NULL,
        trajectory INTEGER NOT NULL REFERENCES parts (id))""",
    """CREATE TABLE columns (
        id INTEGER PRIMARY KEY, condition TEXT NOT NULL, wording INTEGER NOT NULL,
        rendering INTEGER NOT NULL REFERENCES parts (id), UNIQUE (condition, wording))""",
    # id = item * number of columns + col
    """CREATE TABLE cells (
        id INTEGER PRIMARY KEY, item INTEGER NOT NULL REFERENCES items (id),
        col INTEGER NOT NULL REFERENCES columns (id), prompt_sha256 BLOB NOT NULL)""",
    "CREATE INDEX cells_by_item ON cells (item, col)",
    "CREATE INDEX cells_by_column ON cells (col, item)",
    # position = place in the order of asking, so that answers are written almost in sequence
    """CREATE TABLE calls (
        position INTEGER PRIMARY KEY, cell INTEGER NOT NULL REFERENCES cells (id),
        repeat INTEGER NOT NULL)""",
    "CREATE UNIQUE INDEX calls_by_cell ON calls (cell, repeat)",
    """CREATE TABLE sessions (
        id INTEGER PRIMARY KEY, started TEXT NOT NULL, versions TEXT NOT NULL)""",
    # one row a transaction; head = sha256(previous head + this batch's rows)
    """CREATE TABLE batches (
        id INTEGER PRIMARY KEY, session INTEGER NOT NULL REFERENCES sessions (id),
        committed_at TEXT NOT NULL, elapsed REAL NOT NULL,
        n_answers INTEGER NOT NULL, n_failures INTEGER NOT NULL, head BLOB NOT NULL)""",
    """CREATE TABLE served (
        id INTEGER PRIMARY KEY, model, fingerprint)""",
    # what resuming and scoring read: narrow, so that a million rows are a few megabytes
    """CREATE TABLE verdicts (
        call INTEGER PRIMARY KEY REFERENCES calls (position),
        batch INTEGER NOT NULL REFERENCES batches (id),
        outcome TEXT NOT NULL CHECK (outcome <> 'error'), label TEXT, confidence REAL,
        attempts INTEGER NOT NULL, seconds REAL NOT NULL,
        prompt_tokens INTEGER, completion_tokens INTEGER, cost REAL,
        served INTEGER NOT NULL REFERENCES served (id),
        CHECK ((label IS NOT NULL) = (outcome = 'verdict')),
        CHECK (label IN ('SAFE', 'UNSAFE')))""",
    # what people read: the answer word for word
    """CREATE TABLE replies (
        call INTEGER PRIMARY KEY REFERENCES verdicts (call),
        text, finish_reason, refusal, reasoning, request_id, rationale, note, extra)""",
    """CREATE TABLE failures (
        id INTEGER PRIMARY KEY, call INTEGER NOT NULL REFERENCES calls (position),
        batch INTEGER NOT NULL REFERENCES batches (id),
        class TEXT NOT NULL, status INTEGER, code, message, attempts INTEGER NOT NULL)""",
    "CREATE INDEX failures_by_call ON failures (call)",
    *(
        f"""CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table}
        BEGIN SELECT RAISE (ABORT, 'the ledger is append-only'); END"""
        for table in ("batches", "verdicts", "replies", "failures", "calls")
        for verb in ("UPDATE", "DELETE")
    ),
)

SALVAGE: Final = (
    "Save what it still holds with judgeaudit ledger salvage, then run the same command again: "
    "it asks only what is missing"
)
"""How to mend a damaged ledger."""

_DAMAGED = "the ledger file is damaged or cut short"
_MENDS: Final[dict[int, tuple[str, str | None]]] = {
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "What was committed is kept; free some space and run the same command again",
    ),
    sqlite3.SQLITE_NOTADB: (
        "this file is not a judgeaudit ledger (not an SQLite database)",
        "Choose another path",
    ),
    sqlite3.SQLITE_CORRUPT: (
        _DAMAGED,
        SALVAGE,
    ),
    sqlite3.SQLITE_READONLY: (
        "the ledger cannot be written here",
        "Choose an output folder that you may write to",
    ),
    sqlite3.SQLITE_PERM: ("no permission for the ledger file", None),
    sqlite3.SQLITE_CANTOPEN: (
        "the ledger file cannot be opened",
        "Check that its folder exists and that you may read and write there",
    ),
    sqlite3.SQLITE_BUSY: (
        "another program keeps the ledger locked",
        "Close it (a database browser, a copy tool) and run the same command again",
    ),
    sqlite3.SQLITE_IOERR: (
        "the disk under the ledger failed or is full",
        "What was committed is kept; check the disk and run the same command again",
    ),
}
# what we write is UTF-8, so a text that is not was changed
_NO_TEXT: Final = "Could not decode to UTF-8"
_OF_THE_DISK: Final = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn an `sqlite3.Error` raised inside into a `LedgerError` that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise explain(error, path) from error
    except UnicodeDecodeError as error:  # an error of SQLite's whose words are damaged too
        raise LedgerError(_DAMAGED, where=str(path), mend=SALVAGE) from error


@contextmanager
def doubted(path: Path) -> Iterator[None]:
    """Read what may be damaged: a value that cannot be is damage, as is an `sqlite3.Error`."""
    try:
        with translated(path):
            yield
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise LedgerError(f"{_DAMAGED} ({error})", where=str(path), mend=SALVAGE) from error


def explain(error: sqlite3.Error, path: Path) -> LedgerError:
    """Word an SQLite error: what, where, and how to mend it."""
    code = getattr(error, "sqlite_errorcode", None)
    found = _MENDS.get(code & 0xFF) if isinstance(code, int) else None
    if found is None and (code == sqlite3.SQLITE_ERROR or _NO_TEXT in str(error)):
        # our own SQL is right, so it is the table that is not
        found = _MENDS[sqlite3.SQLITE_CORRUPT]
    if found is None:
        return LedgerError(f"the ledger could not be read or written ({error})", where=str(path))
    what, mend = found
    kind = DiskError if code is not None and code & 0xFF in _OF_THE_DISK else LedgerError
    return kind(what, where=str(path), mend=mend)


def connect(path: Path, options: str) -> sqlite3.Connection:
    """Open an SQLite file by URI; transactions are begun and ended by hand.

    Parameters
    ----------
    path : Path
        The file.
    options : str
        URI query: "mode=rwc", "mode=rw", "mode=ro", "immutable=1".
    """
    # as_uri escapes '?' and '#', which may stand in a folder's name
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        uri=True,
        isolation_level=None,
        timeout=10.0,
        check_same_thread=False,
    )


def check_kind(db: sqlite3.Connection, path: Path) -> bool:
    """Say whether the file is a ledger (True) or new and empty (False).

    Raises
    ------
    LedgerError
        If it is somebody else's database, or of a newer judgeaudit.
    """
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application == 0 and version == 0 and tables == 0:
        return False
    if application != APPLICATION_ID:
        raise LedgerError(
            "this is an SQLite database, but not a judgeaudit ledger",
            where=str(path),
            mend="Choose another path",
        )
    if version > SCHEMA_VERSION:
        raise LedgerError(
            f"this ledger was written by a newer judgeaudit (format {version}; "
            f"this one knows up to {SCHEMA_VERSION})",
            where=str(path),
            mend="Upgrade judgeaudit",
        )
    return True
