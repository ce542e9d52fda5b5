"""The thread that writes: batches answers, chains their hashes, commits, then acknowledges."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from judgeaudit.core.clock import now_utc
from judgeaudit.core.errors import LedgerError
from judgeaudit.core.records import Reply, Verdict
from judgeaudit.engine.chain import chain, genesis, insert, served_names
from judgeaudit.engine.schema import explain

__all__ = ["Answer", "Failure", "Row", "Writer", "answer_row"]

_BATCH_ROWS: Final = 64
_BATCH_MOST: Final = 1024
_LINGER: Final = 0.010

_COLUMNED: Final = frozenset(
    (
        *("text", "finish_reason", "refusal", "reasoning", "request_id"),
        *("served_model", "system_fingerprint", "prompt_tokens", "completion_tokens"),
        *("seconds", "attempts", "cost"),
    )
)


class Answer(NamedTuple):
    """A call that was answered.

    Parameters
    ----------
    call : int
        Position in the plan.
    reply, verdict
        What came back, and what it was read as.
    attempts : int
        Requests made for it, the successful one included.
    seconds : float
        Wall-clock time of the successful attempt.
    """

    call: int
    reply: Reply
    verdict: Verdict
    attempts: int
    seconds: float


class Failure(NamedTuple):
    """A call that ended in an error; not an answer, so a rerun asks it again.

    Parameters
    ----------
    kind : str
        Failure class, see `failures.FailureClass`.
    """

    call: int
    kind: str
    status: int | None
    code: str | None
    message: str
    attempts: int


Row = Answer | Failure
Waiter = tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]


def _count(value: int | None) -> int | None:
    # a server may claim anything; what no 64-bit column can hold is not a token count
    return value if value is not None and 0 <= value < 1 << 62 else None


def answer_row(row: Answer) -> tuple[Any, ...]:
    """Flatten an answer: 10 columns of `verdicts`, then 8 of `replies`, names not interned."""
    _, reply, verdict, attempts, seconds = row
    extra = None
    if not reply.model_fields_set <= _COLUMNED:
        # fields that a later version adds to Reply are kept without a new format
        more = reply.model_dump(mode="json", exclude=set(_COLUMNED), exclude_unset=True)
        extra = json.dumps(more, sort_keys=True)
    return (
        row.call,
        verdict.outcome,
        verdict.label,
        verdict.confidence,
        attempts,
        float(seconds),
        _count(reply.prompt_tokens),
        _count(reply.completion_tokens),
        reply.cost,
        reply.served_model,
        reply.system_fingerprint,
        reply.text,
        reply.finish_reason,
        reply.refusal,
        reply.reasoning,
        reply.request_id,
        verdict.rationale,
        verdict.note,
        extra,
    )


class Writer:
    """Commits rows in a thread of its own, so that fsync never holds up the event loop.

    A batch is committed once it has `batch_rows` rows or its first row is 10 ms old, and only
    then are its rows acknowledged.

    Parameters
    ----------
    db : sqlite3.Connection
        Used by this thread alone from now on.
    path : Path
        For messages.
    versions : dict
        Software versions of this session.
    told : callable
        Is told after each commit how many batches and answers there are.
    """

    def __init__(
        self,
        db: sqlite3.Connection,
        path: Path,
        versions: dict[str, str],
        told: Callable[[int, int], None],
    ) -> None:
        # a daemon: a program that forgets to close its ledger must still be able to end
        self._thread = threading.Thread(target=self._run, name="judgeaudit-ledger", daemon=True)
        self._db = db
        self._path = path
        self._versions = json.dumps(versions, sort_keys=True)
        self._began = time.monotonic()
        self._started = now_utc()
        self._session: int | None = None
        last = db.execute("SELECT id, head FROM batches ORDER BY id DESC LIMIT 1").fetchone()
        self._batch: int = last[0] if last else 0
        self._head: bytes = last[1] if last else genesis(db)
        (self._answers,) = db.execute("SELECT total(n_answers) FROM batches").fetchone()
        self._told = told
        self._served = served_names(db)
        self._rows: list[tuple[Row, Waiter | None]] = []
        self._news = threading.Condition()
        self._closing = False
        self._flushes = 0
        self._busy = False
        self.batch_rows = _BATCH_ROWS
        self.broken: LedgerError | None = None

    def start(self) -> None:
        """Begin to take rows."""
        self._thread.start()

    @property
    def head(self) -> bytes:
        """Head of the hash chain over everything committed."""
        return self._head

    def submit(self, row: Row, waiter: Waiter | None = None) -> None:
        """Hand a row over; `waiter` is resolved once it is committed.

        Raises
        ------
        LedgerError
            If an earlier commit failed, or the ledger is closed.
        """
        with self._news:
            if self.broken is not None:
                raise self.broken
            if self._closing:
                raise LedgerError("the ledger is closed", where=str(self._path))
            self._rows.append((row, waiter))
            # waking the thread for every row would cost more than the row
            if len(self._rows) == 1 or len(self._rows) == self.batch_rows:
                self._news.notify_all()

    def flush(self) -> None:
        """Block until everything handed over is committed.

        Raises
        ------
        LedgerError
            If a commit failed.
        """
        with self._news:
            self._flushes += 1
            self._news.notify_all()
            self._news.wait_for(lambda: self.broken or not (self._rows or self._busy))
            self._flushes -= 1
            if self.broken is not None:
                raise self.broken

    def close(self) -> None:
        """Commit what is left and end the thread; `broken` says whether that went well."""
        with self._news:
            self._closing = True
            self._news.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._rows or self._closing)
                if not self._rows:
                    return
                self._news.wait_for(self._due, timeout=_LINGER)
                taken, self._rows = self._rows[:_BATCH_MOST], self._rows[_BATCH_MOST:]
                self._busy = True
            try:
                self._commit([row for row, _ in taken])
            except sqlite3.Error as error:
                self._break(explain(error, self._path), taken)
                return
            except Exception as error:  # noqa: BLE001 - a thread that dies silently would hang all
                broken = LedgerError(
                    f"an answer could not be written ({error!r})", where=str(self._path)
                )
                self._break(broken, taken)
                return
            _resolve([w for _, w in taken if w is not None], None)
            with self._news:
                self._busy = False
                self._news.notify_all()

    def _due(self) -> bool:
        return len(self._rows) >= self.batch_rows or self._closing or self._flushes > 0

    def _break(self, error: LedgerError, taken: list[tuple[Row, Waiter | None]]) -> None:
        with self._news:
            self.broken = error
            lost, self._rows = taken + self._rows, []
            self._busy = False
            self._news.notify_all()
        _resolve([w for _, w in lost if w is not None], error)

    def _commit(self, rows: list[Row]) -> None:
        db = self._db
        answers = sorted((answer_row(r) for r in rows if isinstance(r, Answer)), key=itemgetter(0))
        failures = [tuple(r) for r in rows if isinstance(r, Failure)]
        known = len(self._served)
        db.execute("BEGIN IMMEDIATE")
        try:
            session = self._session
            if session is None:
                session = db.execute(
                    "INSERT INTO sessions (started, versions) VALUES (?, ?)",
                    (self._started, self._versions),
                ).lastrowid
                assert session is not None
            # the monotonic clock measures; it is rounded so that JSON and REAL agree on it
            elapsed = round(time.monotonic() - self._began, 3)
            batch = (self._batch + 1, session, now_utc(), elapsed)
            head = chain(self._head, batch, answers, failures)
            insert(db, batch, head, answers=answers, failures=failures, served=self._served)
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            for name in list(self._served)[known:]:
                del self._served[name]
            raise
        self._session, self._batch, self._head = session, batch[0], head
        self._answers += len(answers)
        self._told(self._batch, int(self._answers))


def _resolve(waiters: Sequence[Waiter], error: LedgerError | None) -> None:
    """Tell each event loop once which of its rows are safe."""
    loops: dict[asyncio.AbstractEventLoop, list[asyncio.Future[None]]] = {}
    for loop, future in waiters:
        loops.setdefault(loop, []).append(future)
    for loop, futures in loops.items():
        try:
            loop.call_soon_threadsafe(_settle, futures, error)
        except RuntimeError:  # that loop is closed: nobody waits any more
            continue


def _settle(futures: Sequence[asyncio.Future[None]], error: LedgerError | None) -> None:
    for future in futures:
        if future.done():
            continue
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
