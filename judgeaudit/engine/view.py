"""Reading a ledger: while a run writes it, and from a folder that cannot be written."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.errors import LedgerError
from judgeaudit.core.records import RunFacts
from judgeaudit.core.table import CODES, NOT_CALLED, SAFE, UNSAFE, VerdictTable, agreement
from judgeaudit.engine.chain import genesis, plain_text, storable
from judgeaudit.engine.content import content_hash
from judgeaudit.engine.identity import RunMeta
from judgeaudit.engine.probabilities import MARK, WHOLE, probabilities
from judgeaudit.engine.schema import check_kind, connect, translated
from judgeaudit.engine.votes import votes_of

__all__ = ["NAMES", "LedgerView"]

_PAGE: Final = 1000

_ROWS: Final = """
SELECT c.position, i.key, o.condition, o.wording, c.repeat, hex(e.prompt_sha256),
       v.outcome, v.label, v.confidence, r.rationale, r.note, r.text, r.finish_reason, r.refusal,
       r.reasoning, s.model, s.fingerprint, r.request_id, v.prompt_tokens, v.completion_tokens,
       v.cost, v.seconds, v.attempts, b.committed_at, r.extra
FROM calls c
JOIN cells e ON e.id = c.cell JOIN items i ON i.id = e.item JOIN columns o ON o.id = e.col
LEFT JOIN verdicts v ON v.call = c.position LEFT JOIN replies r ON r.call = c.position
LEFT JOIN served s ON s.id = v.served LEFT JOIN batches b ON b.id = v.batch
"""
# the small tables lead, so that the indexes find the calls
_PLACES: Final = """
SELECT c.position FROM items i CROSS JOIN columns o
CROSS JOIN cells e ON e.item = i.id AND e.col = o.id CROSS JOIN calls c ON c.cell = e.id WHERE 1
"""
NAMES: Final = (
    *("position", "item", "condition", "wording", "repeat", "prompt_sha256"),
    *("outcome", "label", "confidence", "rationale", "note"),
    *("text", "finish_reason", "refusal", "reasoning", "served_model", "system_fingerprint"),
    *("request_id", "prompt_tokens", "completion_tokens", "cost", "seconds", "attempts"),
    *("committed_at", "extra"),
)


def _named(row: tuple[Any, ...]) -> dict[str, Any]:
    out = dict(zip(NAMES, map(plain_text, row), strict=True))
    out["prompt_sha256"] = out["prompt_sha256"].lower()
    return out


class LedgerView:
    """A ledger, read-only. Use as a context manager, or close it.

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
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        try:
            if not path.is_file():
                raise LedgerError("there is no ledger here", where=str(path))
            with translated(path):
                self._db = self._open()
        except OSError as error:
            raise LedgerError(
                f"the ledger cannot be read ({error.strerror})", where=str(path)
            ) from error
        try:
            self._meta = self._read_meta()
        except BaseException:
            self._release()
            raise

    def _open(self) -> sqlite3.Connection:
        db = connect(self.path, "mode=ro")
        try:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            db.close()
            if error.sqlite_errorcode & 0xFF not in {
                sqlite3.SQLITE_CANTOPEN,
                sqlite3.SQLITE_READONLY,
            }:
                raise
            # a run died here and left its -wal, and the folder is read-only: recover in a copy
            self._copy = tempfile.TemporaryDirectory(prefix="judgeaudit-")
            copy = Path(self._copy.name) / "ledger.sqlite"
            for suffix in ("", "-wal"):
                source = self.path.with_name(self.path.name + suffix)
                if source.exists():
                    shutil.copyfile(source, copy.with_name(copy.name + suffix))
            db = connect(copy, "mode=rw")
        return db

    def _read_meta(self) -> RunMeta:
        with self._reading() as db:
            if not check_kind(db, self.path):
                raise LedgerError("this ledger is empty: no run was recorded", where=str(self.path))
            rows = db.execute("SELECT * FROM meta").fetchall()
        try:
            values = {k: json.loads(plain_text(v)) for k, v in rows}
            self._plan_sha256 = str(values["plan_sha256"])
            return RunMeta.from_values(values)
        except (KeyError, TypeError, ValueError) as error:
            raise LedgerError(
                "the ledger's description of its run cannot be read "
                f"({str(error).partition(chr(10))[0]})",
                where=str(self.path),
                mend="Read it with the version of judgeaudit that wrote it; if it is damaged, "
                "save it with judgeaudit ledger salvage",
            ) from error

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with translated(self.path):
            yield self._db

    def close(self) -> None:
        """Release the file."""
        self._release()

    def _release(self) -> None:
        self._db.close()
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None

    def __enter__(self) -> Self:
        """Return the view."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    @property
    def recovered(self) -> bool:
        """Whether a copy is read: a run died here, and the folder cannot be written."""
        return self._copy is not None

    @property
    def meta(self) -> RunMeta:
        """Protocol, judge, policy, renderings, corpus, template, versions."""
        return self._meta

    @property
    def plan_sha256(self) -> str:
        """Identity of the plan of calls."""
        return self._plan_sha256

    @property
    def connection(self) -> sqlite3.Connection:
        """The read-only connection, for the engine's own modules."""
        return self._db

    @property
    def n_planned(self) -> int:
        """Number of planned calls."""
        return self._count("SELECT count(*) FROM calls")

    @property
    def n_answered(self) -> int:
        """Number of calls with a committed reply."""
        return self._count("SELECT count(*) FROM verdicts")

    def _count(self, sql: str) -> int:
        with self._reading() as db:
            return int(db.execute(sql).fetchone()[0])

    def served_models(self) -> list[str]:
        """Return the names of the models that answered, in order of their first answer."""
        with self._reading() as db:
            found = db.execute("SELECT model FROM served WHERE model IS NOT NULL ORDER BY id")
            return list(dict.fromkeys(str(plain_text(m)) for (m,) in found))

    def head(self) -> str:
        """Return the head of the hash chain over everything committed, in hex."""
        with self._reading() as db:
            row = db.execute("SELECT head FROM batches ORDER BY id DESC LIMIT 1").fetchone()
            return (row[0] if row else genesis(db)).hex()

    def open_positions(self) -> NDArray[np.int64]:
        """Return the positions of all calls without a committed reply, in order of asking.

        Those that failed before come last: a run that stopped at a call which nobody can answer
        must get past it.
        """
        n = self.n_planned
        rank = np.zeros(n, dtype=np.int8)
        with self._reading() as db:
            for table, value in (("failures", 1), ("verdicts", 2)):
                rows = db.execute(f"SELECT call FROM {table}")  # noqa: S608
                rank[np.fromiter((r[0] for r in rows), dtype=np.int64)] = value
        return np.concatenate([np.flatnonzero(rank == k) for k in (0, 1)]).astype(np.int64)

    def table(self) -> VerdictTable:
        """Return the outcomes of all calls.

        A planned call with failures and no reply is an `error`; one with neither is not called.

        Returns
        -------
        VerdictTable
            Items sorted by key; columns in the protocol's order.
        """
        with self._reading() as db:
            items = db.execute(
                "SELECT key, cluster, label, ambiguous, strata FROM items ORDER BY id"
            ).fetchall()
            columns = db.execute("SELECT condition, wording FROM columns ORDER BY id").fetchall()
            (depth,) = db.execute("SELECT coalesce(max(repeat), -1) + 1 FROM calls").fetchone()
            codes = np.full(len(items) * len(columns) * depth, NOT_CALLED, dtype=np.int8)
            confidence = np.full(codes.size, np.nan, dtype=np.float32)
            code_of: dict[Any, int] = {**CODES, None: NOT_CALLED}
            for call, name, stated in db.execute(
                "SELECT c.cell * ? + c.repeat, coalesce(v.label, v.outcome), v.confidence "
                "FROM verdicts v JOIN calls c ON c.position = v.call",
                (depth,),
            ):
                codes[call] = code_of[name]
                if stated is not None:
                    confidence[call] = stated
            p_unsafe: NDArray[np.float64] | None = None
            p_sources: tuple[str, ...] = ()
            logprobs = self._meta.extra.get("confidence") == "logprobs"
            if self._meta.extra.get(MARK) or logprobs:
                unnamed = "token log-probabilities" if logprobs else "not stated"
                p_unsafe, p_sources = probabilities(db, depth, codes.size, unnamed)
            for (call,) in db.execute(
                "SELECT DISTINCT c.cell * ? + c.repeat FROM failures f "
                "JOIN calls c ON c.position = f.call "
                "WHERE f.call NOT IN (SELECT call FROM verdicts)",
                (depth,),
            ):
                codes[call] = CODES["error"]
        shape = (len(items), len(columns), depth)
        codes, confidence = codes.reshape(shape), confidence.reshape(shape)
        if self.meta.extra.get("confidence") == "repeats":
            confidence = agreement(codes)
        clusters: dict[Any, int] = {}
        strata = [json.loads(i[4]) for i in items]
        gold: dict[Any, int] = {"SAFE": SAFE, "UNSAFE": UNSAFE, None: -1}
        keys = tuple(plain_text(i[0]) for i in items)
        votes, raters = votes_of(self._meta.extra, keys)
        return VerdictTable(
            items=keys,
            votes=votes,
            raters=raters,
            clusters=np.array([clusters.setdefault(i[1], len(clusters)) for i in items], np.int64),
            gold=np.array([gold[i[2]] for i in items], dtype=np.int8),
            ambiguous=np.array([-1 if i[3] is None else i[3] for i in items], dtype=np.int8),
            columns=tuple((c, w) for c, w in columns),
            codes=codes,
            confidence=None if np.isnan(confidence).all() else confidence,
            p_unsafe=None if p_unsafe is None else p_unsafe.reshape(shape),
            p_sources=p_sources,
            p_whole=bool(self._meta.extra.get(WHOLE)),
            confidence_from=self._meta.extra.get("confidence") or "stated",
            strata={
                name: tuple(s.get(name, "") for s in strata)
                for name in sorted({k for s in strata for k in s})
            },
        )

    def rows(
        self, *, item: str | None = None, condition: str | None = None, start: int = 0
    ) -> Iterator[dict[str, Any]]:
        """Iterate over all planned calls in order of asking, one plain dict a call.

        Read in pages, so that a slow consumer never holds the file.

        Parameters
        ----------
        item, condition : str, optional
            Only this item, only this condition.
        start : int
            First position.

        Yields
        ------
        dict
            Keys as of `NAMES`; `outcome` is None for a call without a reply.
        """
        if item is None and condition is None:
            pages = self._pages(start)
        else:
            pages = self._pages_of(self.positions(item=item, condition=condition, start=start))
        for page in pages:
            yield from map(_named, page)

    def rows_at(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        """Return the calls at these positions, ascending, in the form of `rows`."""
        at = np.unique(np.asarray(positions, dtype=np.int64))
        return [_named(row) for page in self._pages_of(at) for row in page]

    def positions(
        self, *, item: str | None = None, condition: str | None = None, start: int = 0
    ) -> NDArray[np.int64]:
        """Return the positions of the calls of an item, a condition or both, ascending.

        Parameters
        ----------
        item, condition, start
            As of `rows`.
        """
        where, values = "", []
        for column, value in (("i.key", item), ("o.condition", condition)):
            if value is not None:
                where += f" AND {column} = ?"
                values.append(storable(value))
        # sorted here, once, and not by SQLite for each page
        sql = f"{_PLACES}{where}"
        with self._reading() as db:
            found = np.fromiter((r[0] for r in db.execute(sql, values)), dtype=np.int64)
        found.sort()
        return found[np.searchsorted(found, start) :]

    def _pages(self, start: int) -> Iterator[list[tuple[Any, ...]]]:
        sql = f"{_ROWS} WHERE c.position >= ? ORDER BY c.position LIMIT {_PAGE}"
        while True:
            with self._reading() as db:
                page = db.execute(sql, (start,)).fetchall()
            yield page
            if len(page) < _PAGE:
                return
            start = page[-1][0] + 1

    def _pages_of(self, positions: NDArray[np.int64]) -> Iterator[list[tuple[Any, ...]]]:
        for at in range(0, positions.size, _PAGE):
            some = positions[at : at + _PAGE].tolist()
            marks = ", ".join("?" * len(some))
            with self._reading() as db:
                # few rows, found by their primary key: sorting them costs nothing
                page = db.execute(
                    f"{_ROWS} WHERE c.position IN ({marks}) ORDER BY c.position", some
                ).fetchall()
            yield page

    def failures(self) -> list[dict[str, Any]]:
        """Return all recorded failures in order of writing, one plain dict each."""
        names = ("call", "class", "status", "code", "message", "attempts", "committed_at")
        with self._reading() as db:
            found = db.execute(
                "SELECT f.call, f.class, f.status, f.code, f.message, f.attempts, b.committed_at "
                "FROM failures f JOIN batches b ON b.id = f.batch ORDER BY f.id"
            ).fetchall()
        return [dict(zip(names, map(plain_text, row), strict=True)) for row in found]

    def content_sha256(self) -> str:
        """Hash what was asked and what was answered, and nothing else.

        Times, requests, retries, tokens, prices and the order of commits are not part of it: a
        run that was killed and continued against a deterministic judge has the same hash as one
        that was left alone.
        """
        with self._reading() as db:
            failed = {c for (c,) in db.execute("SELECT DISTINCT call FROM failures")}
            # by cell, not by position: the order seed is not part of the content either
            rows = db.execute(f"{_ROWS} ORDER BY c.cell, c.repeat")
            return content_hash(self._meta, rows, failed)

    def facts(self, judge_note: str | None = None) -> RunFacts:
        """Return everything a card says of this run beside its scores.

        Parameters
        ----------
        judge_note : str, optional
            A sentence on the judge.
        """
        from judgeaudit.engine.facts import run_facts

        with self._reading() as db:
            return run_facts(self, db, judge_note)
