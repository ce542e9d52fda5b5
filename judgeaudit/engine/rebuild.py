"""Make a ledger from the rows of others: in a side file, which takes its name once it is whole."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from judgeaudit.core.errors import LedgerError
from judgeaudit.engine.chain import Batch, Served, chain, genesis, insert
from judgeaudit.engine.lock import RunLock
from judgeaudit.engine.schema import APPLICATION_ID, DDL, SCHEMA_VERSION, connect, translated

__all__ = ["PLAN_TABLES", "Rebuild", "remove", "side_file", "take_name"]

PLAN_TABLES: Final = ("meta", "parts", "items", "columns", "cells", "calls")
"""Tables that are written before the first call, in an order that keeps references whole."""

_COMMIT_EVERY: Final = 256


def side_file(target: Path) -> Path:
    """Return where a ledger is made before it takes its name."""
    return target.with_name(target.name + ".partial")


def take_name(made: Path, target: Path, *, replace: bool) -> None:
    """Give a whole file its name, durably: afterwards it is there, or nothing has changed.

    Raises
    ------
    LedgerError
        If the name is taken and `replace` is False.
    """
    fd = os.open(made, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
    if replace:
        made.replace(target)
    else:
        try:
            os.link(made, target)
        except FileExistsError:
            raise taken(target) from None
        made.unlink()
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def taken(target: Path) -> LedgerError:
    """Word the refusal to write over a file."""
    return LedgerError(
        "there is a file of this name already", where=str(target), mend="Choose another"
    )


class Rebuild:
    """A ledger in the making. Use as a context manager; `finish` gives it its name.

    Killed at any moment it leaves a `.partial` file at most, which the next one removes.

    Parameters
    ----------
    target : Path
        Must not exist.

    Raises
    ------
    LedgerError
        If it does, or cannot be written.
    """

    def __init__(self, target: Path) -> None:
        if target.exists():
            raise taken(target)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise LedgerError(
                f"the folder cannot be made ({error.strerror})", where=str(target.parent)
            ) from error
        self.target = target
        self._lock = RunLock(target)
        self._path = side_file(target)
        self._served: Served = {}
        self._head = b""
        self._n_batches = 0
        self._open_batches = 0
        try:
            remove(self._path)
            with translated(target):
                self.db = connect(self._path, "mode=rwc")
                # nothing counts before the file has its name, so no journal is needed
                for pragma in ("journal_mode = OFF", "synchronous = OFF"):
                    self.db.execute(f"PRAGMA {pragma}")
                self.db.execute("BEGIN")
                for statement in DDL:
                    self.db.execute(statement)
                self.db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self.db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        except BaseException:
            self._lock.release()
            raise

    def plan(self, source: sqlite3.Connection) -> None:
        """Take the plan (settings, items, texts, calls) over as it is.

        Raises
        ------
        sqlite3.DatabaseError
            If the source is damaged there.
        """
        for table in PLAN_TABLES:
            rows = source.execute(f"SELECT * FROM {table}")  # noqa: S608
            marks = ", ".join("?" * len(rows.description))
            self.db.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608
        self._head = genesis(self.db)

    def session(self, started: str, versions: str) -> int:
        """Add a session; return its number."""
        number = self.db.execute(
            "INSERT INTO sessions (started, versions) VALUES (?, ?)", (started, versions)
        ).lastrowid
        assert number is not None
        return number

    def sessions_of(self, source: sqlite3.Connection) -> dict[int, int]:
        """Add all sessions of a ledger; return old number -> new number."""
        rows = source.execute("SELECT id, started, versions FROM sessions ORDER BY id")
        return {old: self.session(started, versions) for old, started, versions in rows}

    def batch(
        self,
        session: int,
        committed_at: str,
        elapsed: float,
        *,
        answers: Sequence[tuple[Any, ...]],
        failures: Iterable[tuple[Any, ...]],
    ) -> None:
        """Add a batch with its rows; it becomes the next link of the chain."""
        self._n_batches += 1
        batch: Batch = (self._n_batches, session, committed_at, elapsed)
        bad = list(failures)
        self._head = chain(self._head, batch, answers, bad)
        insert(self.db, batch, self._head, answers=answers, failures=bad, served=self._served)
        self._open_batches += 1
        if self._open_batches >= _COMMIT_EVERY:
            self.db.execute("COMMIT")
            self.db.execute("BEGIN")
            self._open_batches = 0

    def finish(self) -> Path:
        """Give the ledger its name; it is on the disk when this returns."""
        with translated(self.target):
            self.db.execute("COMMIT")
            self.db.close()
        take_name(self._path, self.target, replace=False)
        return self.target

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Clear away what was not finished."""
        with suppress(sqlite3.Error):
            self.db.close()
        remove(self._path)
        self._lock.release()


def remove(path: Path) -> None:
    """Remove an SQLite file with all that stands beside it.

    A journal that a kill left would be played back into the next file of that name.
    """
    for suffix in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
