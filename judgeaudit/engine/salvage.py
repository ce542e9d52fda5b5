"""Save what a damaged ledger still holds, and say exactly what it does not."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np

from judgeaudit.core.clock import now_utc
from judgeaudit.core.errors import LedgerError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import Outcome, Reply
from judgeaudit.engine.chain import chain, genesis, plain_text
from judgeaudit.engine.damaged import opened, rows_at, rows_between, top
from judgeaudit.engine.rebuild import Rebuild
from judgeaudit.engine.schema import translated
from judgeaudit.engine.view import LedgerView

__all__ = ["Salvage", "salvage"]

_VERDICT: Final = (
    "SELECT call, outcome, label, confidence, attempts, seconds, prompt_tokens, "
    "completion_tokens, cost, served, batch FROM verdicts WHERE call "
)
_REPLY: Final = (
    "SELECT call, text, finish_reason, refusal, reasoning, request_id, rationale, note, extra "
    "FROM replies WHERE call "
)
_WORDS_LOST: Final = "the words of this answer were lost with a damaged file"
_READ_AGAIN: Final = (
    "read again from the saved words; tokens, cost and time were lost with a damaged file"
)
_TOLD: Final = 5


@dataclass(slots=True)
class Salvage:
    """What was saved and what was not.

    Parameters
    ----------
    planned, saved : int
        Calls of the plan, and those with an answer in the new ledger.
    intact : int
        Answers in batches whose hash was proved.
    read_again : list of int
        Positions whose verdict was lost and read again from the saved words.
    wordless : list of int
        Positions whose verdict was saved and whose words were lost.
    lost_answers, lost_failures : int
        Written and not found again, as far as the batches say.
    batches : list of str
        One line a batch that is not as it was written.
    unreadable : list of int
        Positions at which no answer could be read; a call that was never answered may be among
        them, and so may one that was.
    notes : list of str
        What else was lost.
    """

    planned: int = 0
    saved: int = 0
    intact: int = 0
    read_again: list[int] = field(default_factory=list)
    wordless: list[int] = field(default_factory=list)
    lost_answers: int = 0
    lost_failures: int = 0
    batches: list[str] = field(default_factory=list)
    unreadable: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Say it in words."""
        first = (
            f"{self.saved} answers saved, {self.intact} of them proved by the hash chain; "
            f"{self.planned - self.saved} of {self.planned} planned calls are open"
        )
        out = [first]
        if self.lost_answers or self.lost_failures:
            out.append(f"{self.lost_answers} answers and {self.lost_failures} failures are lost")
        if self.read_again:
            out.append(f"{len(self.read_again)} verdicts were read again from the saved words")
        if self.wordless:
            out.append(f"{len(self.wordless)} verdicts have lost their words")
        out += self.batches[:_TOLD]
        if len(self.batches) > _TOLD:
            out.append(f"and {len(self.batches) - _TOLD} more batches")
        return out + self.notes


def salvage(damaged: Path, target: Path, *, plan: Path | None = None) -> Salvage:
    """Write everything that a damaged ledger still holds into a new one.

    The damaged file is not touched. A verdict whose words are lost is kept, with a note; a verdict
    that is lost is read again from its words. What is missing is written beside the new ledger, as
    `<target>.salvage.json`; the run goes on from the new ledger and asks only that.

    Parameters
    ----------
    damaged : Path
        The file; its -wal, if it has one, is read too.
    target : Path
        New ledger file.
    plan : Path, optional
        A whole ledger of the same plan, where the plan itself is damaged.

    Raises
    ------
    LedgerError
        If the pages that say where the tables are are damaged, or the plan is and none was given.
    """
    with opened(damaged) as db, Rebuild(target) as made, translated(target):
        _take_plan(made, db, damaged, plan)
        saving = _Saving(db, made)
        saving.run()
        found = saving.found
        made.finish()
    side = target.with_name(target.name + ".salvage.json")
    side.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
    return found


def _take_plan(made: Rebuild, db: sqlite3.Connection, damaged: Path, plan: Path | None) -> None:
    if plan is not None:
        with LedgerView(plan) as other:
            _check_same(db, other, damaged)
            made.plan(other.connection)
        return
    why = "it cannot be read"
    try:
        made.plan(db)
        why = _bad_text(made.db) or _bad_plan(made.db) or ""
    except (sqlite3.DatabaseError, OverflowError) as error:
        why = str(error)
    if why:
        raise LedgerError(
            f"the part that says what was planned is damaged ({why})",
            where=str(damaged),
            mend="Begin the same run in another folder (--out, with --budget-calls 1) and give its "
            "ledger as --plan",
        )


def _check_same(db: sqlite3.Connection, other: LedgerView, damaged: Path) -> None:
    try:
        (known,) = db.execute("SELECT value FROM meta WHERE key = 'plan_sha256'").fetchone()
    except (sqlite3.DatabaseError, TypeError):
        return  # damaged there: the user vouches for it
    if json.loads(plain_text(known)) != other.plan_sha256:
        raise LedgerError(
            f"it is of another plan than {other.path}",
            where=str(damaged),
            mend="Give a ledger of the same run as --plan",
        )


def _bad_text(db: sqlite3.Connection) -> str | None:
    for number, digest, body in db.execute("SELECT id, sha256, body FROM parts"):
        if sha256_text(plain_text(body)) != digest.hex():
            return f"text {number} is not what its hash says"
    return None


def _bad_plan(db: sqlite3.Connection) -> str | None:
    calls, last = db.execute("SELECT count(*), coalesce(max(position), -1) FROM calls").fetchone()
    if calls != last + 1:
        return f"{last + 1 - calls} calls are missing"
    for table, column, of in (
        ("calls", "cell", "cells"),
        ("cells", "item", "items"),
        ("cells", "col", "columns"),
        ("items", "trajectory", "parts"),
        ("columns", "rendering", "parts"),
    ):
        sql = f"SELECT count(*) FROM {table} WHERE {column} NOT IN (SELECT id FROM {of})"  # noqa: S608
        (loose,) = db.execute(sql).fetchone()
        if loose:
            return f"{loose} rows of {table} have lost their {of}"
    return None


class _Saving:
    """Takes answers and failures over, batch by batch, in bounded memory."""

    def __init__(self, db: sqlite3.Connection, made: Rebuild) -> None:
        self._db = db
        self._made = made
        (self._n,) = made.db.execute("SELECT count(*) FROM calls").fetchone()
        self.found = Salvage(planned=self._n)
        # nonsense in a damaged page must not make us count for years
        self._bound = 10 * self._n + 1000
        self._served: dict[int, tuple[Any, Any]] = {}
        self._sessions: dict[int, int] = {}
        self._batch_of = np.zeros(self._n, dtype=np.int64)
        self._worded = np.zeros(self._n, dtype=bool)

    def run(self) -> None:
        """Take everything over."""
        self._small_tables()
        lost: list[int] = []
        for call, batch in rows_between(
            self._db,
            "SELECT call, batch FROM verdicts WHERE call BETWEEN ? AND ? ORDER BY call",
            0,
            self._n - 1,
            lost,
        ):
            if isinstance(batch, int) and 0 < batch <= self._bound:
                self._batch_of[call] = batch
        for (call,) in rows_between(
            self._db,
            "SELECT call FROM replies WHERE call BETWEEN ? AND ? ORDER BY call",
            0,
            self._n - 1,
            [],
        ):
            self._worded[call] = True
        self.found.unreadable = [k for k in lost if not self._worded[k]]
        failures = self._failures()
        order = np.argsort(self._batch_of, kind="stable")
        starts = np.searchsorted(self._batch_of[order], np.arange(self._most_batches() + 2))
        head: bytes | None = genesis(self._made.db)
        for number, row in self._batches():
            mine = order[starts[number] : starts[number + 1]].tolist()
            head = self._one_batch(number, row, mine, failures.pop(number, []), head)
        self._read_again(np.flatnonzero(self._worded & (self._batch_of == 0)).tolist())
        for rest in failures.values():
            self.found.lost_failures += len(rest)

    def _small_tables(self) -> None:
        lost: list[int] = []
        sql = "SELECT id, model, fingerprint FROM served WHERE id BETWEEN ? AND ?"
        for number, model, fingerprint in rows_between(self._db, sql, 1, 1000, lost):
            self._served[number] = (plain_text(model), plain_text(fingerprint))
        sql = "SELECT id, started, versions FROM sessions WHERE id BETWEEN ? AND ?"
        high = top(self._db, "sessions", 10_000)
        for number, started, versions in rows_between(self._db, sql, 1, high, lost):
            self._sessions[number] = self._made.session(started, versions)
        if lost:
            self.found.notes.append("some names of served models, or sessions, are lost")

    def _most_batches(self) -> int:
        return max(int(self._batch_of.max(initial=0)), top(self._db, "batches", self._bound))

    def _batches(self) -> Iterator[tuple[int, tuple[Any, ...] | None]]:
        sql = "SELECT * FROM batches WHERE id BETWEEN ? AND ? ORDER BY id"
        last = 0
        for row in rows_between(self._db, sql, 1, self._most_batches(), []):
            if not _sound_batch(row):
                continue
            yield from ((k, None) for k in range(last + 1, row[0]))
            yield row[0], row
            last = row[0]
        yield from ((k, None) for k in range(last + 1, int(self._batch_of.max(initial=0)) + 1))

    def _failures(self) -> dict[int, list[tuple[Any, ...]]]:
        out: dict[int, list[tuple[Any, ...]]] = {}
        sql = (
            "SELECT batch, call, class, status, code, message, attempts FROM failures "
            "WHERE id BETWEEN ? AND ? ORDER BY id"
        )
        high = top(self._db, "failures", self._bound)
        for batch, *row in rows_between(self._db, sql, 1, high, []):
            texts = _texts(row)
            if texts is not None and isinstance(row[0], int) and 0 <= row[0] < self._n:
                out.setdefault(batch, []).append(texts)
        return out

    def _one_batch(
        self,
        number: int,
        row: tuple[Any, ...] | None,
        calls: list[int],
        failures: list[tuple[Any, ...]],
        head: bytes | None,
    ) -> bytes | None:
        answers = self._answers(calls)
        if row is None:
            if answers or failures:
                self.found.batches.append(f"batch {number}: its own row is lost")
                self._write(0, now_utc(), 0.0, answers, failures)
            return None
        _, session, at, elapsed, n_answers, n_failures, stored = row
        missing = n_answers - len(answers), n_failures - len(failures)
        proved = head is not None and stored == chain(
            head, (number, session, at, elapsed), answers, failures
        )
        if proved:
            self.found.intact += len(answers)
        elif any(missing):
            self.found.batches.append(
                f"batch {number} of {at}: {max(0, missing[0])} of {n_answers} answers and "
                f"{max(0, missing[1])} of {n_failures} failures are missing"
            )
        else:
            self.found.batches.append(f"batch {number} of {at} cannot be proved by its hash")
        self.found.lost_answers += max(0, missing[0])
        self.found.lost_failures += max(0, missing[1])
        if answers or failures:
            self._write(session, at, elapsed, answers, failures)
        return bytes(stored)

    def _write(
        self,
        session: int,
        at: str,
        elapsed: float,
        answers: Sequence[tuple[Any, ...]],
        failures: Sequence[tuple[Any, ...]],
    ) -> None:
        if session not in self._sessions:
            self._sessions[session] = self._made.session(at, "{}")
        self._made.batch(self._sessions[session], at, elapsed, answers=answers, failures=failures)
        self.found.saved += len(answers)

    def _answers(self, calls: list[int]) -> list[tuple[Any, ...]]:
        verdicts = rows_at(self._db, f"{_VERDICT} = ?", calls)
        replies = rows_at(self._db, f"{_REPLY} = ?", calls)
        out = []
        for call in calls:
            verdict = verdicts.get(call)
            if verdict is None or not _sound(verdict):
                continue
            words = _texts(replies.get(call, ())[1:])
            if not words:
                self.found.wordless.append(call)
                words = (*[None] * 6, _WORDS_LOST, None)
            served = self._served.get(verdict[9], (None, None))
            out.append((*verdict[:9], *served, *words))
        return out

    def _source(self) -> str:
        """Say where this run's confidence comes from, so that no other source is mixed in."""
        (extra,) = self._made.db.execute("SELECT value FROM meta WHERE key = 'extra'").fetchone()
        return str(json.loads(plain_text(extra)).get("confidence", "stated"))

    def _read_again(self, calls: list[int]) -> None:
        from judgeaudit.judges._confidence import sourced
        from judgeaudit.judges.parsing import parse

        source = self._source()
        answers = []
        for call, row in rows_at(self._db, f"{_REPLY} = ?", calls).items():
            saved = _texts(row[1:])
            if saved is None:
                continue
            text, finish, refusal, reasoning, request, _, _, extra = saved
            told = {"p_unsafe": p} if (p := json.loads(extra or "{}").get("p_unsafe")) else {}
            reply = Reply(
                text=text,
                finish_reason=finish,
                refusal=refusal,
                reasoning=reasoning,
                request_id=request,
                **told,
            )
            read = sourced(parse(reply), reply, source)
            said = (call, read.outcome, read.label, read.confidence, 1, 0.0, None, None, None)
            words = (text, finish, refusal, reasoning, request, read.rationale, _READ_AGAIN, None)
            answers.append((*said, None, None, *words))
            self.found.read_again.append(call)
        if answers:
            self._write(0, now_utc(), 0.0, answers, [])
            self.found.lost_answers = max(0, self.found.lost_answers - len(answers))


def _texts(row: Sequence[Any]) -> tuple[Any, ...] | None:
    try:
        return tuple(map(plain_text, row))
    except UnicodeDecodeError:
        return None


def _sound_batch(row: tuple[Any, ...]) -> bool:
    number, session, at, elapsed, n_answers, n_failures, head = row
    whole = all(isinstance(v, int) for v in (number, session, n_answers, n_failures))
    return whole and isinstance(at, str) and isinstance(elapsed, float) and isinstance(head, bytes)


def _sound(row: tuple[Any, ...]) -> bool:
    """Say whether a row can be an answer: damage inside a page may read as nonsense."""
    _, outcome, label, confidence, attempts, seconds, *_ = row
    return (
        outcome in get_args(Outcome)
        and outcome != "error"
        and (label in {"SAFE", "UNSAFE"}) == (outcome == "verdict")
        and (confidence is None or isinstance(confidence, int | float))
        and isinstance(attempts, int)
        and isinstance(seconds, int | float)
    )
