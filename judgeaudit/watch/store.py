"""A store of nights: scores of each, and base verdicts of a frozen set of anchors.

A folder holds one SQLite file; an address (`watch.objects`) an object a night, which are gathered
into the same tables when they are read.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import numpy as np

from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.core.records import Score, ScoreSet
from judgeaudit.stats._types import IntArray1D
from judgeaudit.watch.objects import Objects, is_address, unique
from judgeaudit.watch.packing import now, packed
from judgeaudit.watch.sides import Side

__all__ = ["FILE", "AlreadyThereError", "Baseline", "History", "Night"]

FILE: Final = "history.sqlite"
_VERSION: Final = "1"
_STATEMENTS: Final = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE anchors (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, gold INTEGER NOT NULL,
        trajectory TEXT NOT NULL)""",
    """CREATE TABLE nights (
        id INTEGER PRIMARY KEY, ended TEXT, added TEXT NOT NULL, run TEXT NOT NULL,
        ledger_sha256 TEXT NOT NULL, ledger_head TEXT NOT NULL UNIQUE, facts TEXT NOT NULL)""",
    """CREATE TABLE scores (
        night INTEGER NOT NULL REFERENCES nights (id), metric TEXT NOT NULL, condition TEXT,
        score TEXT NOT NULL)""",
    "CREATE INDEX scores_by_night ON scores (night)",
    """CREATE TABLE verdicts (
        night INTEGER NOT NULL REFERENCES nights (id),
        anchor INTEGER NOT NULL REFERENCES anchors (id),
        unsafe INTEGER NOT NULL, valid INTEGER NOT NULL, failed INTEGER NOT NULL,
        PRIMARY KEY (night, anchor)) WITHOUT ROWID""",
    """CREATE TABLE baselines (
        id INTEGER PRIMARY KEY, night INTEGER NOT NULL REFERENCES nights (id),
        pinned TEXT NOT NULL, expired TEXT, note TEXT NOT NULL)""",
)


@dataclass(frozen=True, slots=True)
class Night:
    """One run in a history; arrays have shape (n_anchors,).

    Parameters
    ----------
    number : int
        From 1, in the order of adding.
    ended, run : str
        When it was made, and from where it was added.
    facts : dict
        Identities of judge, policy, protocol and data, served models and fingerprints.
    unsafe, valid, failed : array of int
        Base calls of each anchor.
    scores : ScoreSet
        All but those of strata.
    """

    number: int
    ended: str
    run: str
    facts: dict[str, Any]
    unsafe: IntArray1D
    valid: IntArray1D
    failed: IntArray1D
    scores: ScoreSet


@dataclass(frozen=True, slots=True)
class Baseline:
    """A night that others are held against, from its pinning on.

    Parameters
    ----------
    night : int
        Its number.
    pinned, expired : str
        When; expired is "" while it holds.
    """

    night: int
    pinned: str
    expired: str
    note: str


class AlreadyThereError(ConfigError):
    """The run is a night of this history already."""


class History:
    """A store of nights.

    Parameters
    ----------
    place : path or str
        A folder, which holds `history.sqlite` after the first `add`; or an address such as
        `file:///srv/nights`, `s3://bucket/nights`, `memory://nights`.
    """

    def __init__(self, place: Path | str) -> None:
        self.where = str(place)
        self._objects = Objects(self.where) if is_address(self.where) else None
        if self.where.startswith("file://"):
            place = Path(unquote(urlsplit(self.where).path))
        self.folder = Path(place)

    @property
    def path(self) -> Path:
        """The file, of a folder."""
        return self.folder / FILE

    @contextmanager
    def _open(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        if self._objects is not None:
            with closing(self._gathered(self._objects, create=create)) as db:
                yield db
            return
        if not self.path.is_file():
            if not create:
                raise ConfigError(
                    "holds no history", where=self.where, mend="judgeaudit history add RUN"
                )
            self.folder.mkdir(parents=True, exist_ok=True)
        try:
            with closing(sqlite3.connect(self.path, timeout=30)) as db, db:
                # one writer at a time, from the first statement on
                db.execute("BEGIN IMMEDIATE" if create else "BEGIN")
                self._check(db, create=create)
                yield db
        except sqlite3.DatabaseError as error:
            raise LedgerError(
                f"cannot be read as a history ({error})", where=str(self.path)
            ) from error

    def _check(self, db: sqlite3.Connection, *, create: bool) -> None:
        there = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not there and create:
            for statement in _STATEMENTS:
                db.execute(statement)
            db.execute("INSERT INTO meta VALUES ('version', ?)", (_VERSION,))
        row = db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
        if row is None or row[0] != _VERSION:
            raise LedgerError(
                f"is a history of layout {None if row is None else row[0]!r}, not {_VERSION!r}",
                where=str(self.path),
            )

    def _gathered(self, objects: Objects, *, create: bool) -> sqlite3.Connection:
        """Lay the objects of an address out in tables, in the order in which they were added."""
        db = sqlite3.connect(":memory:")
        self._check(db, create=True)
        heads: dict[str, int] = {}
        for night in objects.read("nights"):
            # the same run, added twice at the same moment
            if night["ledger_head"] not in heads:
                heads[night["ledger_head"]] = _insert(db, night)
        if not heads and not create:
            db.close()
            raise ConfigError(
                "holds no history", where=self.where, mend="judgeaudit history add RUN"
            )
        for mark in objects.read("baselines"):
            _expire(db, mark["at"])
            if mark["ledger_head"] is not None:
                _pin(db, heads[mark["ledger_head"]], mark["at"], mark["note"])
        return db

    def check(self) -> None:
        """Show that a file that is there can be read and written; without one, do nothing."""
        if self.path.exists():
            with self._open(create=True):
                pass

    def add(self, side: Side, *, only: Collection[str] | None = None, nightly: bool = False) -> int:
        """Add a run; the first one's items become the anchors, and its night the baseline.

        Parameters
        ----------
        side : Side
            The run.
        only : collection of str, optional
            Items of it that are kept.
        nightly : bool
            Whether only base calls on frozen anchors count, so that nights of any protocol go
            together; scores, which would be those of chosen items, are not kept.

        Returns
        -------
        int
            The night's number.

        Raises
        ------
        ConfigError
            If it is there already, nothing of it was answered, it has other texts or labels for
            an anchor, or it was made under another protocol.
        """
        if not side.facts.n_answered:
            raise ConfigError(
                "has no answered call, so it is no night of a history", where=side.name
            )
        night = packed(side, only, nightly=nightly)
        with self._open(create=True) as db:
            number = _insert(db, night)
            if self._objects is not None:
                self._objects.put("nights", night["ledger_head"][:16], night)
        return number

    def gold(self) -> IntArray1D:
        """Return the anchors' labels: 1 UNSAFE, 0 SAFE, -1 none."""
        with self._open() as db:
            rows = db.execute("SELECT gold FROM anchors ORDER BY id").fetchall()
        return np.array([g for (g,) in rows], dtype=np.int64)

    def nights(self) -> list[Night]:
        """Return all nights in the order in which they were added."""
        with self._open() as db:
            n = db.execute("SELECT count(*) FROM anchors").fetchone()[0]
            heads = db.execute("SELECT id, ended, run, facts FROM nights ORDER BY id").fetchall()
            out = []
            for number, ended, run, facts in heads:
                counts = np.zeros((3, n), dtype=np.int64)
                for anchor, *row in db.execute(
                    "SELECT anchor, unsafe, valid, failed FROM verdicts WHERE night = ?", (number,)
                ):
                    counts[:, anchor] = row
                scores = db.execute(
                    "SELECT score FROM scores WHERE night = ? ORDER BY rowid", (number,)
                )
                made = tuple(Score.model_validate_json(text) for (text,) in scores)
                kept = ScoreSet(scores=made)
                unsafe, valid, failed = counts
                out.append(
                    Night(number, ended or "", run, json.loads(facts), unsafe, valid, failed, kept)
                )
        return out

    def baselines(self) -> list[Baseline]:
        """Return all baselines in the order of pinning."""
        with self._open() as db:
            rows = db.execute("SELECT night, pinned, expired, note FROM baselines ORDER BY id")
            return [Baseline(n, p, e or "", note) for n, p, e, note in rows]

    def baseline(self) -> Baseline | None:
        """Return the one that holds; None where the last one expired."""
        holding = [b for b in self.baselines() if not b.expired]
        return holding[-1] if holding else None

    def pin(self, night: int, note: str = "") -> None:
        """Make a night the baseline; monitoring begins anew with it."""
        with self._open(create=True) as db:
            row = db.execute("SELECT ledger_head FROM nights WHERE id = ?", (night,)).fetchone()
            if row is None:
                last = db.execute("SELECT coalesce(max(id), 0) FROM nights").fetchone()[0]
                raise ConfigError(
                    f"there is no night {night}",
                    where=self.where,
                    mend=f"Nights are 1 to {last}",
                )
            at = now()
            _expire(db, at)
            _pin(db, night, at, note)
            self._mark(row[0], at, note)

    def expire(self) -> None:
        """End the baseline that holds; until another is pinned nothing is held against one.

        Raises
        ------
        ConfigError
            If none holds.
        """
        with self._open(create=True) as db:
            at = now()
            if not _expire(db, at):
                raise ConfigError("no baseline is pinned", where=self.where)
            self._mark(None, at, "")

    def _mark(self, head: str | None, at: str, note: str) -> None:
        if self._objects is not None:
            self._objects.put("baselines", unique(), {"ledger_head": head, "at": at, "note": note})


def _expire(db: sqlite3.Connection, at: str) -> int:
    return db.execute("UPDATE baselines SET expired = ? WHERE expired IS NULL", (at,)).rowcount


def _pin(db: sqlite3.Connection, night: int, at: str, note: str) -> None:
    db.execute("INSERT INTO baselines (night, pinned, note) VALUES (?, ?, ?)", (night, at, note))


def _insert(db: sqlite3.Connection, night: dict[str, Any]) -> int:
    head = night["ledger_head"]
    again = db.execute("SELECT id FROM nights WHERE ledger_head = ?", (head,)).fetchone()
    if again is not None:
        raise AlreadyThereError(f"is night {again[0]} already", where=night["run"])
    anchors = _anchors(db, night)
    number = int(db.execute("SELECT coalesce(max(id), 0) + 1 FROM nights").fetchone()[0])
    told = (night["ended"], night["added"], night["run"], night["ledger_sha256"], head)
    facts = json.dumps(night["facts"], sort_keys=True)
    db.execute("INSERT INTO nights VALUES (?, ?, ?, ?, ?, ?, ?)", (number, *told, facts))
    db.executemany(
        "INSERT INTO scores VALUES (?, ?, ?, ?)",
        [(number, s["metric"], s["condition"], json.dumps(s)) for s in night["scores"]],
    )
    db.executemany(
        "INSERT INTO verdicts VALUES (?, ?, ?, ?, ?)",
        [
            (number, anchors[key], *counts)
            for key, _, _, *counts in night["items"]
            if key in anchors
        ],
    )
    if number == 1:
        _pin(db, 1, night["added"], "the first night")
    return number


def _anchors(db: sqlite3.Connection, night: dict[str, Any]) -> dict[str, int]:
    """Return the anchors by key; make them of the first run, and check those of later ones."""
    items = {key: (gold, text) for key, text, gold, *_ in night["items"]}
    name, protocol = night["run"], night["protocol"]
    there = {
        k: (n, g, t) for n, k, g, t in db.execute("SELECT id, key, gold, trajectory FROM anchors")
    }
    if not there:
        rows = [(n, k, g, t) for n, (k, (g, t)) in enumerate(items.items())]
        db.executemany("INSERT INTO anchors VALUES (?, ?, ?, ?)", rows)
        db.execute("INSERT INTO meta VALUES ('protocol', ?)", (protocol,))
        return {k: n for n, k, _, _ in rows}
    held = db.execute("SELECT value FROM meta WHERE key = 'protocol'").fetchone()[0]
    if held != protocol:
        raise ConfigError(
            "was made under another protocol than this history's nights",
            where=name,
            mend="Audit with the same conditions and repeats, or begin a history of its own",
        )
    for key, (_, label, text) in there.items():
        if key in items and items[key] != (label, text):
            what = "text" if items[key][0] == label else "label"
            raise ConfigError(
                f"the anchor {key!r} has another {what} than in this history",
                where=name,
                mend="Anchors are frozen: begin a history of its own for changed data",
            )
    if not set(items) & set(there):
        raise ConfigError("has none of this history's anchors", where=name)
    return {k: n for k, (n, _, _) in there.items()}
