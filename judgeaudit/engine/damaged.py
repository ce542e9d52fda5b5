"""Read what can be read of a damaged SQLite file, and know what cannot."""

from __future__ import annotations

import shutil
import sqlite3
import struct
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import LedgerError
from judgeaudit.engine.schema import check_kind, connect

__all__ = ["opened", "rows_at", "rows_between", "top"]

_MAGIC: Final = b"SQLite format 3\0"
_CHUNK: Final = 4096


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a copy of a damaged ledger; the file itself is never touched.

    A file that was cut short is filled up with zeros: SQLite refuses it whole otherwise, and so
    it misses only the pages that are gone.

    Raises
    ------
    LedgerError
        If it is no ledger, or a page that says where its tables are is damaged.
    """
    with tempfile.TemporaryDirectory(prefix="judgeaudit-") as folder:
        copy = Path(folder) / "damaged.sqlite"
        try:
            for suffix in ("", "-wal"):
                source = path.with_name(path.name + suffix)
                if source.exists() or not suffix:
                    shutil.copyfile(source, copy.with_name(copy.name + suffix))
        except OSError as error:
            raise LedgerError(f"cannot be read ({error.strerror})", where=str(path)) from error
        _fill_up(copy, path)
        db = connect(copy, "mode=rw")
        try:
            try:
                # damage inside a page is told, not read as nonsense
                db.execute("PRAGMA cell_size_check = ON")
                known = check_kind(db, path)
            except (sqlite3.DatabaseError, UnicodeDecodeError):
                known = False
            if not known:
                raise LedgerError(
                    "the pages that say where its tables are are damaged",
                    where=str(path),
                    mend="Restore it from a copy, or move it away and start the run anew",
                )
            yield db
        finally:
            db.close()


def _fill_up(copy: Path, path: Path) -> None:
    with copy.open("r+b") as file:
        head = file.read(100)
        if len(head) < 100 or not head.startswith(_MAGIC):
            raise LedgerError(
                "this is no ledger, or its beginning is lost",
                where=str(path),
                mend="Restore it from a copy, or move it away and start the run anew",
            )
        (size,) = struct.unpack(">H", head[16:18])
        size = 65536 if size == 1 else size
        (pages,) = struct.unpack(">I", head[28:32])
        file.seek(0, 2)
        whole = max(pages * size, -(-file.tell() // size) * size)
        file.truncate(whole)


def rows_between(
    db: sqlite3.Connection, sql: str, low: int, high: int, lost: list[int]
) -> Iterator[tuple[Any, ...]]:
    """Iterate over the rows of a query that can be read, by halving what cannot.

    Parameters
    ----------
    sql : str
        With two places, for the lowest and the highest number of a row; ordered by it.
    low, high : int
        Bounds, both included.
    lost : list of int
        Numbers at which nothing can be read are added; what stood there is not known, nor whether
        anything did.
    """
    for start in range(low, high + 1, _CHUNK):
        yield from _between(db, sql, start, min(start + _CHUNK - 1, high), lost)


def _between(
    db: sqlite3.Connection, sql: str, low: int, high: int, lost: list[int]
) -> Iterator[tuple[Any, ...]]:
    try:
        rows = db.execute(sql, (low, high)).fetchall()
    except (sqlite3.DatabaseError, OverflowError, UnicodeDecodeError):
        if low == high:
            lost.append(low)
            return
        middle = (low + high) // 2
        yield from _between(db, sql, low, middle, lost)
        yield from _between(db, sql, middle + 1, high, lost)
    else:
        yield from rows


def rows_at(db: sqlite3.Connection, sql: str, numbers: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """Return the rows with these numbers that can be read, by number (their first column)."""
    out: dict[int, tuple[Any, ...]] = {}
    for number in numbers:
        try:
            row = db.execute(sql, (number,)).fetchone()
        except (sqlite3.DatabaseError, OverflowError, UnicodeDecodeError):
            continue
        if row is not None and row[0] == number:
            out[number] = row
    return out


def top(db: sqlite3.Connection, table: str, otherwise: int) -> int:
    """Return the highest number in a table, or a bound where that cannot be read."""
    try:
        (found,) = db.execute(f"SELECT coalesce(max(rowid), 0) FROM {table}").fetchone()  # noqa: S608
    except sqlite3.DatabaseError:
        return otherwise
    # nonsense in a damaged page must not make us count for years
    return int(found) if isinstance(found, int) and 0 <= found <= otherwise else otherwise
