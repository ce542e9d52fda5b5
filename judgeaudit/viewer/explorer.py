"""Everything the page can ask of a few runs, without a network."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.errors import ConfigError, JudgeAuditError
from judgeaudit.engine import triage
from judgeaudit.engine.lock import holder
from judgeaudit.viewer.choosing import Cache, Filters, Selection
from judgeaudit.viewer.detail import compare_all
from judgeaudit.viewer.flips import Flips, flips_of
from judgeaudit.viewer.index import RunIndex
from judgeaudit.viewer.searching import Search
from judgeaudit.viewer.source import Source

__all__ = ["Explorer", "Run"]

_REST: Final = 1.0


class Run:
    """One run: its cells, what became of them, and what people noted beside it.

    Parameters
    ----------
    path : Path
        The ledger.
    """

    def __init__(self, path: Path) -> None:
        self.source = Source(path)
        self.index = RunIndex(self.source)
        self.flips: Flips = flips_of(self.index, self.index.counts)
        self.version = 0
        self.ready = False
        self.error: str | None = None
        self.marks: dict[int, triage.Mark] = {}
        self.marks_version = 0
        self.unreadable_marks = 0
        self._stamp: tuple[int, int] | None = None
        self._looked = 0.0
        self._lock = threading.Lock()
        self._search = Search(self)
        self._cell_of_key: dict[str, int] | None = None

    @property
    def path(self) -> Path:
        """The ledger."""
        return self.source.path

    @property
    def writer(self) -> str | None:
        """Process that writes the ledger now; None: nobody."""
        return holder(self.path)

    def refresh(self) -> None:
        """Take in what was committed, and what was noted, since the last time."""
        with self._lock:
            if self.ready and time.monotonic() - self._looked < _REST:
                return
            try:
                if self.index.update() or not self.ready:
                    self.flips = flips_of(self.index, self.index.counts)
                    self.version = self.index.version
                self._read_marks()
                self.error = None
                self.ready = True
            except JudgeAuditError as error:
                self.error = str(error)
            self._looked = time.monotonic()

    def _read_marks(self) -> None:
        try:
            found = triage.triage_path(self.path).stat()
        except OSError:
            return
        stamp = (found.st_mtime_ns, found.st_size)
        if stamp == self._stamp:
            return
        marks, self.unreadable_marks = triage.read(self.path)
        places = {m: k for m in marks.values() if (k := self.cell_of(*m.cell)) is not None}
        kept: dict[int, triage.Mark] = {}
        with self.source.read() as db:
            for mark, cell in places.items():
                row = db.execute("SELECT hex(prompt_sha256) FROM cells WHERE id = ?", (cell,))
                digest = row.fetchone()
                # a mark on another prompt says nothing about this one
                if digest is not None and digest[0].lower() == mark.prompt_sha256:
                    kept[cell] = mark
        self.marks, self._stamp = kept, stamp
        self.marks_version += 1

    def cell_of(self, item: str, condition: str, wording: int) -> int | None:
        """Return the number of a cell by its names; None: there is none."""
        if self._cell_of_key is None:
            self._cell_of_key = {key: k for k, key in enumerate(self.index.items.keys)}
        row = self._cell_of_key.get(item)
        for k, column in enumerate(self.index.columns):
            if row is not None and (column.condition, column.wording) == (condition, wording):
                return row * len(self.index.columns) + k
        return None

    def mark(self, cell: int, kind: triage.Kind | None, note: str, now: str) -> triage.Mark:
        """Note something on a cell; on the disk when this returns."""
        row, k = divmod(cell, len(self.index.columns))
        column = self.index.columns[k]
        with self.source.read() as db:
            found = db.execute("SELECT hex(prompt_sha256) FROM cells WHERE id = ?", (cell,))
            (digest,) = found.fetchone()
        mark = triage.Mark(
            time=now,
            item=self.index.items.keys[row],
            condition=column.condition,
            wording=column.wording,
            prompt_sha256=digest.lower(),
            kind=kind,
            note=note,
        )
        triage.add(self.path, mark)
        with self._lock:
            self._read_marks()
        return mark

    def marked(self, which: str) -> NDArray[np.bool_]:
        """Say of every contrast whether it is marked: `marked`, `unmarked`, or a kind."""
        width = len(self.index.columns)
        place = {int(c): k for k, c in enumerate(self.index.contrasts)}
        mask = np.zeros(self.flips.share.shape, dtype=bool)
        for cell, mark in self.marks.items():
            row, column = divmod(cell, width)
            if column in place:
                said = mark.kind is not None or bool(mark.note.strip())
                mask[row, place[column]] = said if which.endswith("marked") else mark.kind == which
        return ~mask if which == "unmarked" else mask

    def found(self, text: str) -> NDArray[np.bool_]:
        """Say of every contrast whether it holds a text."""
        return self._search.mask(text)

    def close(self) -> None:
        """Release the ledger."""
        self.source.close()


class Explorer:
    """A few runs, to be looked at.

    Parameters
    ----------
    ledgers : sequence of Path
        Ledger files; several judges are several ledgers.

    Raises
    ------
    LedgerError
        If one cannot be read.
    """

    def __init__(self, ledgers: Sequence[Path]) -> None:
        self.runs = tuple(Run(path) for path in ledgers)
        self._selections = Cache()
        self._choosing = threading.Lock()

    def load(self) -> threading.Thread:
        """Begin to read the runs, in a thread of its own."""
        thread = threading.Thread(target=self._load, name="judgeaudit-view", daemon=True)
        thread.start()
        return thread

    def _load(self) -> None:
        for run in self.runs:
            run.refresh()
        for run in self.runs:
            with suppress(JudgeAuditError):  # whoever opens a flip is told
                compare_all(run)

    def run(self, number: int) -> Run:
        """Return a run by its number.

        Raises
        ------
        ConfigError
            If there is none.
        """
        if not 0 <= number < len(self.runs):
            raise ConfigError(f"there is no run {number}")
        return self.runs[number]

    def select(self, filters: Filters) -> Selection:
        """Choose and sort cells; what was chosen last is kept."""
        for run in self.runs:
            if run.ready:
                run.refresh()
        with self._choosing:
            return self._selections.get(self, filters)

    def progress(self) -> list[dict[str, Any]]:
        """Say how far each run has been read, and how far it has got itself."""
        return [
            {
                "ready": run.ready,
                "error": run.error,
                "read": min(run.index.read_to, run.index.n_planned),
                "planned": run.index.n_planned,
                "answered": run.index.n_answered,
                "writer": run.writer,
                "version": [run.version, run.marks_version],
            }
            for run in self.runs
        ]

    def close(self) -> None:
        """Release the ledgers."""
        for run in self.runs:
            run.close()
