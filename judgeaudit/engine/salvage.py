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
from judgeaudit.core.records import Outcome, Reply, Verdict
from judgeaudit.engine.chain import chain, genesis, plain_text
from judgeaudit.engine.damaged import opened, rows_at, rows_between, top
from judgeaudit.engine.lock import Promise, promised
from judgeaudit.engine.planned import take_plan
from judgeaudit.engine.rebuild import Rebuild
from judgeaudit.engine.schema import translated

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
_UNPROVED: Final = (
    "the first batch cannot be proved, and with it items, labels and settings: to be sure of them, "
    "give a ledger of the same run as --plan"
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
    by_record : bool
        Whether the loss is reckoned from the killed run's record, which lags by one commit.
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
    by_record: bool = False
    lost_answers: int = 0
    lost_failures: int = 0
    batches: list[str] = field(default_factory=list)
    unreadable: list[int] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def expect(self, promise: Promise | None) -> None:
        """Count what was committed and is not even mentioned any more: it stood in a lost -wal."""
        gone = promise.answers - self.saved - self.lost_answers if promise else 0
        if gone > 0:
            self.lost_answers += gone
            self.by_record = True
            self.notes.append(f"{gone} of the lost answers stood in a -wal that is gone")

    def lines(self) -> list[str]:
        """Say it in words."""
        first = (
            f"{self.saved:,} answers saved, {self.intact:,} of them proved by the hash chain; "
            f"{self.planned - self.saved:,} of {self.planned:,} planned calls are open"
        )
        out = [first]
        if self.lost_answers or self.lost_failures:
            lost = f"{self.lost_answers:,} answers and {self.lost_failures:,} failures are lost"
            out.append(f"at least {lost}" if self.by_record else lost)
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
        take_plan(made, db, damaged, plan)
        saving = _Saving(db, made)
        saving.run()
        found = saving.found
        found.expect(promised(damaged))
        made.finish()
    side = target.with_name(target.name + ".salvage.json")
    side.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
    return found


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
        self._orphans: list[int] = []
        self._written = 0
        self._last = top(db, "batches", self._bound)
        self._doubted = 0

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
        self._orphans = np.flatnonzero(self._worded & (self._batch_of == 0)).tolist()
        self.found.unreadable = [k for k in lost if not self._worded[k]]
        failures = self._failures()
        order = np.argsort(self._batch_of, kind="stable")
        starts = np.searchsorted(self._batch_of[order], np.arange(self._most_batches() + 2))
        head: bytes | None = genesis(self._made.db)
        for number, row in self._batches():
            mine = order[starts[number] : starts[number + 1]].tolist()
            head = self._one_batch(number, row, mine, failures.pop(number, []), head)
            if number == 1 and not self.found.intact and row is not None:
                self.found.notes.append(_UNPROVED)
        self._read_again(self._orphans)
        self.found.lost_answers = max(0, self._written - self.found.saved)
        if self._doubted:
            self.found.notes.append(
                f"{self._doubted} verdicts that their words do not bear out were left out"
            )
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
        return max(int(self._batch_of.max(initial=0)), self._last)

    def _batches(self) -> Iterator[tuple[int, tuple[Any, ...] | None]]:
        sql = "SELECT * FROM batches WHERE id BETWEEN ? AND ? ORDER BY id"
        last = 0
        for row in rows_between(self._db, sql, 1, self._most_batches(), []):
            if not _sound_batch(row) or row[0] <= last:
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
            answers = self._borne_out(answers)
            # behind the last batch it was never one: a number that a changed byte made
            self._written += len(calls) if number <= self._last else 0
            if answers or failures:
                self.found.batches.append(f"batch {number}: its own row is lost")
                self._write(0, now_utc(), 0.0, answers, failures)
            return None
        _, session, at, elapsed, n_answers, n_failures, stored = row
        proved = head is not None and stored == chain(
            head, (number, session, at, elapsed), answers, failures
        )
        if not proved:
            answers = self._borne_out(answers)
        missing = n_answers - len(answers), n_failures - len(failures)
        self._written += n_answers
        if proved:
            self.found.intact += len(answers)
        elif any(missing):
            self.found.batches.append(
                f"batch {number} of {at}: {max(0, missing[0])} of {n_answers} answers and "
                f"{max(0, missing[1])} of {n_failures} failures are missing"
            )
        else:
            self.found.batches.append(f"batch {number} of {at} cannot be proved by its hash")
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
                words = (*[None] * 6, _WORDS_LOST, None)
            served = self._served.get(verdict[9], (None, None))
            out.append((*verdict[:9], *served, *words))
        return out

    def _borne_out(self, answers: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """Leave out what a changed byte may have made of an answer: it is asked again instead.

        A verdict that its words do not say; and one without words while other words have lost
        their verdict, since it may be theirs.
        """
        out, form = [], self._meta("judge").get("output_format", "plain")
        for answer in answers:
            if answer[17] == _WORDS_LOST:
                sound = not self._orphans
                if sound:
                    self.found.wordless.append(answer[0])
            else:
                read = _parsed(answer[11:16], form)
                sound = read is not None and answer[1:3] == (read.outcome, read.label)
            if sound:
                out.append(answer)
            else:
                self._doubted += 1
        return out

    def _meta(self, key: str) -> Any:
        (text,) = self._made.db.execute("SELECT value FROM meta WHERE key = ?", [key]).fetchone()
        return json.loads(plain_text(text))

    def _read_again(self, calls: list[int]) -> None:
        from judgeaudit.judges._confidence import saved_probability, sourced

        # so that no other source is mixed in
        source = str(self._meta("extra").get("confidence", "stated"))
        form = self._meta("judge").get("output_format", "plain")
        answers = []
        for call, row in rows_at(self._db, f"{_REPLY} = ?", calls).items():
            saved = _texts(row[1:])
            if saved is None:
                continue
            text, finish, refusal, reasoning, request, _, _, extra = saved
            read = _parsed((text, finish, refusal, reasoning, request), form)
            if read is None or read.outcome == "error":
                continue
            read = sourced(read, Reply(text=text, **saved_probability(extra)), source)
            said = (call, read.outcome, read.label, read.confidence, 1, 0.0, None, None, None)
            words = (text, finish, refusal, reasoning, request, read.rationale, _READ_AGAIN, extra)
            answers.append((*said, None, None, *words))
            self.found.read_again.append(call)
        if answers:
            self._write(0, now_utc(), 0.0, answers, [])


def _parsed(words: Sequence[Any], form: str) -> Verdict | None:
    from judgeaudit.judges.parsing import parser_of

    text, finish, refusal, reasoning, request = words
    try:
        reply = Reply(
            text=text,
            finish_reason=finish,
            refusal=refusal,
            reasoning=reasoning,
            request_id=request,
        )
    except ValueError:  # a changed byte made a number of a text
        return None
    return parser_of(form)(reply)


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
