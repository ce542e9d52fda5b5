"""All cells of a run as counts: what a page of flips is chosen and sorted from."""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.records import Condition
from judgeaudit.engine.chain import plain_text
from judgeaudit.engine.schema import doubted
from judgeaudit.viewer.source import Source

__all__ = ["Column", "Counts", "Items", "RunIndex"]

_SPAN: Final = 16_384
_MANY_OPEN: Final = 2_000
_CODE: Final = (
    "c.cell * 4 + CASE v.label WHEN 'SAFE' THEN 0 WHEN 'UNSAFE' THEN 1 ELSE 2 END AS code "
    "FROM verdicts v CROSS JOIN calls c ON c.position = v.call WHERE v.call"
)
_GAPS: Final = """
SELECT position FROM calls WHERE position < ?
AND NOT EXISTS (SELECT 1 FROM verdicts WHERE call = position)
"""
_COLUMNS: Final = "SELECT condition, wording, rendering FROM columns ORDER BY id"
_ITEMS: Final = """
SELECT key, dataset, subset, label, ambiguous, strata, trajectory FROM items ORDER BY id
"""


class Column(NamedTuple):
    """A text of the policy, or none: a condition and which of its wordings."""

    condition: str
    wording: int
    part: int
    kind: str
    summary: str


@dataclass(frozen=True, slots=True)
class Items:
    """What is known of the items, aligned; gold labels 1 UNSAFE, 0 SAFE, -1 none."""

    keys: tuple[str, ...]
    datasets: tuple[str, ...]
    subsets: tuple[str, ...]
    gold: NDArray[np.int8]
    ambiguous: NDArray[np.int8]
    strata: tuple[dict[str, str], ...]
    parts: NDArray[np.int64]


@dataclass(frozen=True)
class Counts:
    """Calls of every cell, by what came of them; arrays of shape (n_items, n_columns)."""

    safe: NDArray[np.int32]
    unsafe: NDArray[np.int32]
    failed: NDArray[np.int32]
    n_answered: int

    @cached_property
    def valid(self) -> NDArray[np.int32]:
        """Calls with a verdict."""
        return self.safe + self.unsafe


class RunIndex:
    """The counts of one run; brought up to date while the run goes on.

    Parameters
    ----------
    source : Source
        The run.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.conditions = {c.id: c for c in source.meta.protocol.conditions}
        self._lock = threading.Lock()
        with doubted(source.path), source.read() as db:
            self.items = _items(db)
            self.columns = tuple(self._column(*row) for row in db.execute(_COLUMNS))
            (self.n_planned,) = db.execute("SELECT count(*) FROM calls").fetchone()
        shape = (len(self.items.keys), len(self.columns))
        self._flat = np.zeros((3, shape[0] * shape[1]), dtype=np.int32)
        self._shape = shape
        self._top = 0
        self.read_to = 0
        self._open: NDArray[np.int64] = np.empty(0, np.int64)
        self._batch = -1
        self.version = 0
        self.counts = self._snapshot()

    def _column(self, condition: str, wording: int, part: int) -> Column:
        known = self.conditions.get(condition) or Condition(id=condition, kind="control")
        return Column(condition, wording, part, known.kind, known.summary)

    @cached_property
    def base(self) -> NDArray[np.int64]:
        """Numbers of the reference's columns."""
        found = [k for k, c in enumerate(self.columns) if c.kind == "reference"]
        return np.array(found, dtype=np.int64)

    @cached_property
    def contrasts(self) -> NDArray[np.int64]:
        """Numbers of the columns that are compared with base: those that change the policy."""
        found = [
            k
            for k, c in enumerate(self.columns)
            if c.kind != "reference"
            and getattr(self.conditions.get(c.condition), "side", "policy") == "policy"
        ]
        return np.array(found, dtype=np.int64)

    @property
    def n_answered(self) -> int:
        """Calls with a committed reply, as of the last update."""
        return self.counts.n_answered

    def update(self) -> bool:
        """Read what was committed since the last time; say whether there was anything."""
        with self._lock, doubted(self.source.path), self.source.read() as db:
            db.execute("BEGIN")  # one state of the file for all that follows
            (batch,) = db.execute("SELECT coalesce(max(id), 0) FROM batches").fetchone()
            if batch == self._batch:
                return False
            self._read(db)
            self._batch = batch
            self.counts = self._snapshot()
            self.version += 1
        return True

    def _read(self, db: sqlite3.Connection) -> None:
        (top,) = db.execute("SELECT coalesce(max(call), -1) + 1 FROM verdicts").fetchone()
        late = self._late(db)
        for start in range(self._top, top, _SPAN):
            # numbers come over as one text, thousands at once: twice as quick as a row each
            sql = f"SELECT group_concat(code) FROM (SELECT {_CODE} >= ? AND v.call < ?)"  # noqa: S608
            (text,) = db.execute(sql, (start, min(start + _SPAN, top))).fetchone()
            if text is not None:
                self._add(np.fromstring(text, dtype=np.int64, sep=","))
            self.read_to = start + _SPAN
        self._add(late)
        self._top = self.read_to = top
        # calls below the top without an answer: in flight, or asked again at the end
        self._open = np.empty(0, np.int64)
        if int(self._flat.sum()) < top:
            rows = db.execute(_GAPS, (top,))
            self._open = np.fromiter((r[0] for r in rows), dtype=np.int64)

    def _late(self, db: sqlite3.Connection) -> NDArray[np.int64]:
        """Return the codes of answers below the top that came since."""
        found: list[int] = []
        for at in range(0, self._open.size, _MANY_OPEN):
            some = self._open[at : at + _MANY_OPEN].tolist()
            marks = ",".join("?" * len(some))
            found += [r[0] for r in db.execute(f"SELECT {_CODE} IN ({marks})", some)]
        return np.array(found, dtype=np.int64)

    def _add(self, codes: NDArray[np.int64]) -> None:
        np.add.at(self._flat, (codes % 4, codes // 4), 1)

    def _snapshot(self) -> Counts:
        safe, unsafe, failed = (part.reshape(self._shape).copy() for part in self._flat)
        return Counts(safe, unsafe, failed, int(self._flat.sum()))


def _items(db: sqlite3.Connection) -> Items:
    rows = db.execute(_ITEMS).fetchall()
    gold: dict[Any, int] = {"SAFE": 0, "UNSAFE": 1, None: -1}
    return Items(
        keys=tuple(plain_text(r[0]) for r in rows),
        datasets=tuple(plain_text(r[1]) for r in rows),
        subsets=tuple(plain_text(r[2]) for r in rows),
        gold=np.array([gold[r[3]] for r in rows], dtype=np.int8),
        ambiguous=np.array([-1 if r[4] is None else r[4] for r in rows], dtype=np.int8),
        strata=tuple(json.loads(plain_text(r[5])) for r in rows),
        parts=np.array([r[6] for r in rows], dtype=np.int64),
    )
