"""The ledger: one append-only SQLite file a run, safe against kill -9 at any moment."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Self

from judgeaudit.core.errors import DiskError, LedgerError
from judgeaudit.core.hashing import canonical_json, sha256_text
from judgeaudit.core.records import Item
from judgeaudit.core.versions import versions
from judgeaudit.engine.chain import plain_text, storable
from judgeaudit.engine.identity import RunMeta, differences, refuse
from judgeaudit.engine.lock import RunLock, full, promised
from judgeaudit.engine.plan import Plan
from judgeaudit.engine.schema import (
    APPLICATION_ID,
    DDL,
    SCHEMA_VERSION,
    check_kind,
    connect,
    translated,
)
from judgeaudit.engine.verify import refuse_damaged
from judgeaudit.engine.view import LedgerView
from judgeaudit.engine.writer import Row, Writer

__all__ = ["Ledger"]

_SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")
_WAL_PATIENCE: Final = 5.0
_NAMED: Final = 3


class Ledger(LedgerView):
    """A ledger open for writing, by this process alone.

    Made by `Ledger.open`; read by everybody else with `Ledger.open_readonly`. Use as a context
    manager. A row is acknowledged only once it is committed and on the disk.
    """

    _lock: RunLock
    _writer: Writer
    _write_db: sqlite3.Connection

    @classmethod
    def open(cls, path: str | Path, meta: RunMeta, plan: Plan) -> Ledger:
        """Start a run in a new file, or continue the run that a file holds.

        Parameters
        ----------
        path : str or Path
            The ledger file; its folder is made if need be.
        meta, plan
            What the run is; an existing ledger must be of the same run.

        Raises
        ------
        LedgerError
            If another process holds the ledger, it belongs to another run (the message says what
            differs), it is damaged or no ledger, or it cannot be written.
        """
        path = Path(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise (DiskError if full(error) else LedgerError)(
                f"the folder for the ledger cannot be made ({error.strerror})",
                where=str(path.parent),
                mend="Choose an output folder that you may write to",
            ) from error
        lock = RunLock(path)
        try:
            return cls._open_locked(path, meta, plan, lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def reopen(cls, path: str | Path) -> Ledger:
        """Open a ledger that exists for writing, with the plan that it holds.

        For answers that come in without a run: the caller must know which calls they belong to.

        Raises
        ------
        LedgerError
            If there is none, another process holds it, or it cannot be read or written.
        """
        path = Path(path)
        if not path.is_file():
            raise LedgerError("there is no ledger here", where=str(path))
        lock = RunLock(path)
        try:
            return cls._reopen_locked(path, lock)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _reopen_locked(cls, path: Path, lock: RunLock) -> Ledger:
        with translated(path):
            db = connect(path, "mode=rw")
        ledger: Ledger | None = None
        try:
            with translated(path):
                check_kind(db, path)
            with LedgerView(path) as view:
                refuse_damaged(view)
            with translated(path):
                _go_wal(db)
            lock.fulfilled()
            ledger = cls(path)
            with translated(path):
                ledger._writer = Writer(db, path, versions(), lock.promise)
        except BaseException:
            if ledger is not None:
                ledger._release()
            db.close()
            raise
        return ledger._begin(db, lock)

    def _begin(self, db: sqlite3.Connection, lock: RunLock) -> Ledger:
        self._write_db, self._lock = db, lock
        self._writer.start()
        return self

    @staticmethod
    def open_readonly(path: str | Path) -> LedgerView:
        """Open a ledger for reading; works while a run writes it and on a read-only folder."""
        return LedgerView(Path(path))

    @classmethod
    def _open_locked(cls, path: Path, meta: RunMeta, plan: Plan, lock: RunLock) -> Ledger:
        fresh = not path.exists()
        with translated(path):
            db = connect(path, "mode=rwc")
        ledger: Ledger | None = None
        try:
            with translated(path):
                known = check_kind(db, path)
            if known:
                # before anything is written into a file that may have to be saved
                with LedgerView(path) as view:
                    cls.check_same_run(view, meta, plan)
                    refuse_damaged(view)
            with translated(path):
                _go_wal(db)
                if not known:
                    _refuse_emptied(path)
                    _create(db, meta, plan)
                    # the plan is in the file itself from now on, whatever happens to the -wal
                    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            lock.fulfilled()
            ledger = cls(path)
            with translated(path):
                ledger._writer = Writer(db, path, meta.versions, lock.promise)
        except BaseException:
            if ledger is not None:
                ledger._release()
            db.close()
            if fresh:
                _remove(path)
            raise
        return ledger._begin(db, lock)

    @staticmethod
    def check_same_run(view: LedgerView, meta: RunMeta, plan: Plan) -> None:
        """Refuse a ledger of another run.

        Raises
        ------
        LedgerError
            Saying what differs.
        """
        found = differences(view.meta, meta)
        if not found and view.plan_sha256 != plan.sha256:
            found = _plan_differences(view, plan)
        if found:
            raise refuse(view.path, found)

    def submit(self, row: Row) -> asyncio.Future[None]:
        """Hand a row to the writer; the future is done once the row is committed.

        Must be called from a running event loop.

        Raises
        ------
        LedgerError
            At once, or from the future, if the ledger cannot be written any more.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        self._writer.submit(row, (loop, future))
        return future

    def append(self, rows: Iterable[Row]) -> None:
        """Write rows and return once they are committed; for callers without an event loop."""
        for row in rows:
            self._writer.submit(row)
        self._writer.flush()

    def flush(self) -> None:
        """Return once everything handed over is committed."""
        self._writer.flush()

    def batch_by(self, n_waiting: int) -> None:
        """Say how many callers at most wait for their rows: a full batch then never waits."""
        self._writer.batch_rows = max(1, min(64, n_waiting // 2))

    @property
    def broken(self) -> LedgerError | None:
        """Why nothing can be written any more, or None."""
        return self._writer.broken

    def close(self) -> None:
        """Commit what is left, fold the -wal into the file and let go of the lock."""
        self._end(discard=False)

    def discard(self) -> None:
        """Close and delete a ledger that holds no answer; one that holds any is only closed.

        For a run that could not begin (a wrong address, a refused key): its settings will change,
        and nothing was paid that a ledger of the old ones would have to keep.
        """
        self._end(discard=True)

    def _end(self, *, discard: bool) -> None:
        if self._lock.released:
            return
        try:
            self._writer.close()
            worthless = discard and self.broken is None and self.n_answered == 0
            self._release()
            # one plain file is left behind, readable from read-only media; a reader may prevent
            # it, and a full disk: then the -wal stays, and nothing is lost
            with suppress(sqlite3.Error):
                self._write_db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                self._write_db.execute("PRAGMA busy_timeout = 0")
                self._write_db.execute("PRAGMA journal_mode = DELETE")
            with translated(self.path):
                self._write_db.close()
            if worthless:
                _remove(self.path)
        finally:
            self._lock.release()

    def __enter__(self) -> Self:
        """Return the ledger."""
        return self


def _plan_differences(view: LedgerView, plan: Plan) -> list[str]:
    with translated(view.path):
        db = view.connection
        mine = [plain_text(k) for (k,) in db.execute("SELECT key FROM items ORDER BY id")]
        digests = dict(db.execute("SELECT id, prompt_sha256 FROM cells"))
    theirs = [i.key for i in plan.items]
    if mine != theirs:
        gone, new = sorted(set(mine) - set(theirs)), sorted(set(theirs) - set(mine))
        return [
            f"items: {len(keys)} {what} ({', '.join(map(repr, keys[:_NAMED]))})"
            for what, keys in (("are no longer there", gone), ("are new", new))
            if keys
        ]
    changed = [c for c, d in digests.items() if plan.prompt_sha256(c) != d.hex()]
    if changed:
        item, column = plan.place(changed[0])
        where = f"the first for item {item.key!r} under {column.condition.id}"
        return [f"prompts: {len(changed)} of {len(digests)} differ, {where}"]
    return ["the calls or their order"]


def _refuse_emptied(path: Path) -> None:
    promise = promised(path)
    if promise is not None:
        raise LedgerError(
            f"the file was emptied: {promise.answers} answers were committed to it",
            where=str(path),
            mend="Restore it from a copy, or move it away and start the run anew",
        )


def _remove(path: Path) -> None:
    for suffix in _SIDE_FILES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _go_wal(db: sqlite3.Connection) -> None:
    deadline = time.monotonic() + _WAL_PATIENCE
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            # a reader may be in the middle of a page
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
    # FULL: an acknowledged answer was paid for and survives a power cut; batches make it cheap
    db.execute("PRAGMA synchronous = FULL")


def _create(db: sqlite3.Connection, meta: RunMeta, plan: Plan) -> None:
    """Write the whole plan in one transaction: a ledger is there complete, or not at all."""
    db.execute("BEGIN IMMEDIATE")
    try:
        for statement in DDL:
            db.execute(statement)
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        rows = [*meta.to_rows(), ("plan_sha256", json.dumps(plan.sha256))]
        db.executemany("INSERT INTO meta VALUES (?, ?)", [(k, storable(v)) for k, v in rows])
        parts = _Parts(db)
        db.executemany(
            "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (_item_row(n, item, parts) for n, item in enumerate(plan.items)),
        )
        db.executemany(
            "INSERT INTO columns VALUES (?, ?, ?, ?)",
            [
                (n, c.condition.id, c.wording, parts.add(c.rendering.text))
                for n, c in enumerate(plan.columns)
            ],
        )
        width = len(plan.columns)
        db.executemany(
            "INSERT INTO cells VALUES (?, ?, ?, ?)",
            (
                (cell, *divmod(cell, width), bytes.fromhex(plan.prompt_sha256(cell)))
                for cell in plan.planned_cells()
            ),
        )
        db.executemany(
            "INSERT INTO calls VALUES (?, ?, ?)",
            zip(range(plan.n_calls), plan.cells.tolist(), plan.repeats.tolist(), strict=True),
        )
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


class _Parts:
    """Stores a text once, whoever asks for it."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._ids: dict[str, int] = {}

    def add(self, text: str) -> int:
        """Return the number of a text, stored now or before."""
        name = sha256_text(text)
        if name not in self._ids:
            self._ids[name] = len(self._ids) + 1
            self._db.execute(
                "INSERT INTO parts VALUES (?, ?, ?)",
                (self._ids[name], bytes.fromhex(name), storable(text)),
            )
        return self._ids[name]


def _item_row(number: int, item: Item, parts: _Parts) -> tuple[Any, ...]:
    return (
        number,
        *map(storable, (item.key, item.dataset, item.subset, item.id, item.cluster)),
        item.label,
        item.label_source,
        item.ambiguous,
        storable(canonical_json(item.strata)),
        parts.add(canonical_json(item.trajectory)),
    )
