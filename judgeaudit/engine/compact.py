"""Make a ledger's file as small as its rows."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Final

from judgeaudit.core.errors import LedgerError
from judgeaudit.engine.lock import RunLock
from judgeaudit.engine.rebuild import remove, side_file, take_name
from judgeaudit.engine.schema import check_kind, connect, translated
from judgeaudit.engine.verify import broken_promise, faults
from judgeaudit.engine.view import LedgerView

__all__ = ["compact"]

_PATIENCE: Final = 5.0


def compact(path: Path) -> tuple[int, int]:
    """Write a ledger anew without gaps, and put it in the place of the old file.

    Every row and the hash chain stay as they are. The new file is compared with the old one
    before it takes its name; killed at any moment, one of the two is there, whole.

    Parameters
    ----------
    path : Path
        The ledger file; nobody may be writing or reading it.

    Returns
    -------
    tuple of int
        Bytes before and after.

    Raises
    ------
    LedgerError
        If it is in use, damaged, or there is no room for a second copy.
    """
    if not path.is_file():
        raise LedgerError("there is no ledger here", where=str(path))
    lock = RunLock(path)
    side = side_file(path)
    try:
        remove(side)
        before = path.stat().st_size
        with translated(path):
            db = connect(path, "mode=rw")
            try:
                check_kind(db, path)
                # a -wal that stayed behind would be read into the new file: fold it in first
                _fold(db, path)
                db.execute("PRAGMA synchronous = FULL")
                db.execute("VACUUM INTO ?", (str(side),))
            finally:
                db.close()
        _check_equal(path, side)
        lock.fulfilled()
        take_name(side, path, replace=True)
        return before, path.stat().st_size
    finally:
        remove(side)
        lock.release()


def _fold(db: sqlite3.Connection, path: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    db.execute("PRAGMA busy_timeout = 200")
    while True:
        try:
            (mode,) = db.execute("PRAGMA journal_mode = DELETE").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            mode = "busy"
        if mode == "delete":
            return
        if time.monotonic() > deadline:
            raise LedgerError(
                "another program reads this ledger",
                where=str(path),
                mend="Close it and run the same command again",
            )
        time.sleep(0.05)


def _check_equal(old: Path, new: Path) -> None:
    with LedgerView(old) as a, LedgerView(new) as b:
        # the head is a hash over every row: the same head and a whole chain mean the same rows
        found = broken_promise(a) + faults(b)
        same = a.head() == b.head() and a.plan_sha256 == b.plan_sha256
    if found or not same:
        raise LedgerError(
            f"it is not whole: {found[0] if found else 'the copy differs'}; it was left as it is",
            where=str(old),
            mend="Look at it with judgeaudit ledger verify",
        )
