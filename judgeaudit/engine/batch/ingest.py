"""From a file of results into the ledger: each answer once, each doubtful row refused by name."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import (
    ConfigError,
    JudgeError,
    PermanentError,
    QuotaExhaustedError,
    TransientError,
)
from judgeaudit.core.records import Call, Reply
from judgeaudit.engine.batch.codec import Codec
from judgeaudit.engine.batch.manifest import Book, Entry
from judgeaudit.engine.chain import plain_text
from judgeaudit.engine.failures import failure_row
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.progress import Progress, printable
from judgeaudit.engine.view import LedgerView
from judgeaudit.engine.writer import Answer, Failure, Row
from judgeaudit.judges._confidence import sourced
from judgeaudit.judges.parsing import parser_of

__all__ = ["Desk", "Taken", "call_ids", "take_in"]

_PAGE: Final = 1000
_CHUNK: Final = 500
_NAMED: Final = 10
_LONGEST_ROW: Final = 64 << 20
_TEXT: Final = 940  # of a failure's message; the batch's token follows

_CALLS: Final = (
    "SELECT c.position, i.key, o.condition, o.wording, c.repeat, hex(e.prompt_sha256) "
    "FROM calls c JOIN cells e ON e.id = c.cell JOIN items i ON i.id = e.item "
    "JOIN columns o ON o.id = e.col WHERE c.position IN ({})"
)


@dataclass(slots=True)
class Taken:
    """What some files of results held.

    Parameters
    ----------
    answered, failed, lapsed : int
        Calls answered now, calls that ended in an error, calls that the server did not make.
    before : int
        Rows of calls that had an answer, or whose failure was recorded, before.
    outcomes : Counter
        Of `answered` and `failed`.
    cost : float, optional
        US dollars; None as soon as one price is not known.
    refused : list of str
        File, line and reason of the first rows that could not be used.
    n_refused : int
        How many there were.
    torn : list of str
        Files that end in mid-row.
    permanent, again : list of int
        Positions of calls that failed in a way that will not pass; of calls that may be answered
        if they are sent again.
    quota, last : JudgeError, optional
        The first failure for want of credit, and the last failure of any kind.
    """

    answered: int = 0
    failed: int = 0
    lapsed: int = 0
    before: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    cost: float | None = 0.0
    refused: list[str] = field(default_factory=list)
    n_refused: int = 0
    torn: list[str] = field(default_factory=list)
    permanent: list[int] = field(default_factory=list)
    again: list[int] = field(default_factory=list)
    quota: QuotaExhaustedError | None = None
    last: JudgeError | None = None

    def refuse(self, where: str, why: str) -> None:
        """Note a row that could not be used."""
        self.n_refused += 1
        if len(self.refused) < _NAMED:
            self.refused.append(f"{where}: {why}")

    def lines(self) -> list[str]:
        """Say it, one line a matter."""
        out = [f"{self.answered} answered"]
        out[0] += f", {self.failed} failed" if self.failed else ""
        out[0] += f", {self.lapsed} not made by the server (they stay open)" if self.lapsed else ""
        out[0] += f", {self.before} known before" if self.before else ""
        out += [f"refused {line}" for line in self.refused]
        if self.n_refused > len(self.refused):
            out.append(f"refused {self.n_refused - len(self.refused)} rows more")
        out += [
            f"{name} ends in mid-row: what is whole was taken; fetch it again for the rest"
            for name in self.torn
        ]
        return out


def call_ids(view: LedgerView, positions: Iterable[int]) -> dict[str, int]:
    """Return the identities of calls, as they stand in a ledger's plan, with their positions."""
    judge = view.meta.judge.sha256
    wanted = list(positions)
    found: dict[str, int] = {}
    for at in range(0, len(wanted), _PAGE):
        some = wanted[at : at + _PAGE]
        rows = view.connection.execute(_CALLS.format(", ".join("?" * len(some))), some).fetchall()
        for position, item, condition, wording, repeat, prompt in rows:
            call = Call(
                item=plain_text(item),
                condition=condition,
                wording=wording,
                repeat=repeat,
                prompt_sha256=prompt.lower(),
                judge_sha256=judge,
            )
            found[call.id] = position
    return found


@dataclass(frozen=True, slots=True)
class Desk:
    """What one run's batches are worked on with.

    Parameters
    ----------
    ledger : Ledger
        Of the run, open for writing.
    book : Book
        The run's manifest; told which calls lapsed, and which batches are over.
    codec : Codec
        Of the run's judge.
    progress : Progress
        Told of every call that is committed, and of what happens.
    """

    ledger: Ledger
    book: Book
    codec: Codec
    progress: Progress


def take_in(desk: Desk, entries: Iterable[Entry], paths: Iterable[Path]) -> Taken:
    """Read files of results into the ledger.

    A row is taken if it bears the identity of a call of one of the batches, and no earlier row
    of these files did. Killed at any moment and called again, nothing is in the ledger twice.

    Parameters
    ----------
    desk : Desk
        Of the run.
    entries : iterable of Entry
        The batches that the files may be of.
    paths : iterable of Path
        Output files and error files.

    Raises
    ------
    LedgerError
        If the ledger cannot be written.
    ConfigError
        If a file cannot be read.
    """
    intake = _Intake(desk, list(entries))
    for path in paths:
        intake.file(path)
    intake.close()
    return intake.taken


class _Intake:
    def __init__(self, desk: Desk, entries: list[Entry]) -> None:
        self.ledger, self.book, self.codec = desk.ledger, desk.book, desk.codec
        self.progress = desk.progress
        ledger, book = desk.ledger, desk.book
        self.taken = Taken()
        self.entries = {e.name: e for e in entries}
        self.price = book.manifest.price
        self.parse = parser_of(ledger.meta.judge.output_format)
        self.source = str(ledger.meta.extra.get("confidence", "stated"))
        self.owner: dict[int, str] = {}
        for e in entries:
            self.owner.update(dict.fromkeys(book.positions(e), e.name))
        self.ids = call_ids(ledger, self.owner)
        db = ledger.connection
        self.answered = {p for (p,) in db.execute("SELECT call FROM verdicts") if p in self.owner}
        self.failed = {e.name: self._failures(e) for e in entries}
        self.lapsed: dict[str, set[int]] = {e.name: set(e.lapsed) for e in entries}
        self.seen: set[int] = set()
        self.rows: list[Row] = []
        self.others: dict[str, str] | None = None

    def _failures(self, entry: Entry) -> set[int]:
        # a failure may be recorded often, so what tells whether it was is the batch's token
        found = self.ledger.connection.execute(
            "SELECT call FROM failures WHERE instr(message, ?)", (_signed(entry),)
        )
        return {p for (p,) in found}

    def file(self, path: Path) -> None:
        for number, raw, whole in _lines(path):
            where = f"{path.name}:{number}"
            row = _row(raw)
            if row is None:
                if whole:
                    self.taken.refuse(where, "is no JSON object")
                else:
                    self.taken.torn.append(path.name)
                continue
            position = self._position(row, where)
            if position is not None:
                self._take(position, row)
            if len(self.rows) >= _CHUNK:
                self._commit()
        self._commit()

    def _position(self, row: dict[str, Any], where: str) -> int | None:
        named = row.get("custom_id")
        shown = printable(repr(named), 80)
        position = self.ids.get(named) if isinstance(named, str) else None
        if position is None:
            other = self._elsewhere().get(named) if isinstance(named, str) else None
            why = f"is of batch {other}" if other else "is of no call in this run's batches"
            self.taken.refuse(where, f"custom_id {shown} {why}")
            return None
        if position in self.seen:
            self.taken.refuse(where, f"custom_id {shown} has a row before this one")
            return None
        self.seen.add(position)
        name = self.owner[position]
        if position in self.answered or position in self.failed[name]:
            self.taken.before += 1
            return None
        return position

    def _elsewhere(self) -> dict[str, str]:
        if self.others is None:
            self.others = {}
            for e in self.book.entries:
                if e.name not in self.entries:
                    ids = call_ids(self.ledger, self.book.positions(e))
                    self.others.update(dict.fromkeys(ids, e.name))
        return self.others

    def _take(self, position: int, row: dict[str, Any]) -> None:
        entry = self.entries[self.owner[position]]
        read = self.codec.read(row)
        if read is None:
            self.taken.lapsed += 1
            self.taken.again.append(position)
            self.lapsed[entry.name].add(position)
            return
        if isinstance(read, Reply):
            verdict = sourced(self.parse(read), read, self.source)
            if verdict.outcome != "error":
                reply = self._priced(read, entry)
                # how long a call in a batch took is not known
                self.rows.append(Answer(position, reply, verdict, 1, 0.0))
                return
            read = PermanentError(verdict.note or "no answer")
        self._fail(position, read, entry)

    def _fail(self, position: int, error: JudgeError, entry: Entry) -> None:
        self.taken.last = error
        if isinstance(error, QuotaExhaustedError):
            self.taken.quota = self.taken.quota or error
        passes = isinstance(error, TransientError)
        (self.taken.again if passes else self.taken.permanent).append(position)
        row = failure_row(position, error, 1)
        # what has no status here never was a connection of ours: the server's batch failed
        kind = "server" if row.kind == "connection" else row.kind
        message = f"{row.message[:_TEXT]} {_signed(entry)}"
        self.rows.append(row._replace(kind=kind, message=message))

    def _priced(self, reply: Reply, entry: Entry) -> Reply:
        cost = None
        asked, got = reply.prompt_tokens, reply.completion_tokens
        if self.price is not None and asked is not None and got is not None:
            cost = asked * self.price.prompt + got * self.price.completion
        return reply.model_copy(update={"cost": cost, "batch_id": entry.batch_id or entry.token})

    def _commit(self) -> None:
        self.ledger.append(self.rows)
        for row in self.rows:
            name = self.owner[row.call]
            if isinstance(row, Failure):
                self.failed[name].add(row.call)
                self.taken.failed += 1
                self.taken.outcomes["error"] += 1
                self.progress.count("error", None)
                continue
            self.answered.add(row.call)
            self.taken.answered += 1
            self.taken.outcomes[row.verdict.outcome] += 1
            cost = row.reply.cost
            total = self.taken.cost
            self.taken.cost = None if cost is None or total is None else total + cost
            self.progress.count(row.verdict.outcome, cost)
        self.rows = []

    def close(self) -> None:
        """Tell the manifest what is known now."""
        for entry in self.entries.values():
            lapsed = self.lapsed[entry.name]
            known = self.answered | self.failed[entry.name] | lapsed
            done = known.issuperset(p for p, name in self.owner.items() if name == entry.name)
            changed = entry.model_copy(
                update={
                    "lapsed": tuple(sorted(lapsed)),
                    "state": "ended" if done else entry.state,
                }
            )
            if changed != entry:
                self.book.put(changed)


def _signed(entry: Entry) -> str:
    return f"(batch {entry.token})"


def _row(raw: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _lines(path: Path) -> Iterator[tuple[int, bytes, bool]]:
    """Yield number, text and whether it has an end of each line that is not empty."""
    try:
        with path.open("rb") as rows:
            number = 0
            while raw := rows.readline(_LONGEST_ROW):
                number += 1
                if raw.strip():
                    yield number, raw, raw.endswith(b"\n")
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({os.strerror(error.errno or 0)})", where=str(path)
        ) from None
