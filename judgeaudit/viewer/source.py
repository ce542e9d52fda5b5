"""A ledger opened for a moment: a page must never be what keeps a run from its file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from judgeaudit.engine.identity import RunMeta
from judgeaudit.engine.schema import connect, translated
from judgeaudit.engine.view import LedgerView

__all__ = ["Source"]


class Source:
    """Where a run's rows are read, read-only, one short connection a use.

    A connection that stays open keeps a run that ends from folding its -wal into the file, so
    none does. A run that died in a folder that cannot be written is read from the copy that
    `LedgerView` recovers.

    Parameters
    ----------
    path : Path
        The ledger file.

    Raises
    ------
    LedgerError
        If there is no ledger, or it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        view = LedgerView(path)
        self.meta: RunMeta = view.meta
        self._copy: LedgerView | None = view if view.recovered else None
        if self._copy is None:
            view.close()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Open the ledger, and close it again.

        Raises
        ------
        LedgerError
            If it cannot be read.
        """
        if self._copy is not None:
            with self._lock, translated(self.path):
                yield self._copy.connection
            return
        with translated(self.path):
            db = connect(self.path, "mode=ro")
            try:
                yield db
            finally:
                db.close()

    def close(self) -> None:
        """Release the copy, should there be one."""
        if self._copy is not None:
            self._copy.close()
