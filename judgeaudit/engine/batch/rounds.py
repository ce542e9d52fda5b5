"""A run in batches: write, submit, wait, take in, and again for what is open."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from judgeaudit.core.errors import ConfigError, JudgeError, TransientError
from judgeaudit.engine.batch.files import Room, reserved, write_files
from judgeaudit.engine.batch.ingest import Desk, Taken, take_in
from judgeaudit.engine.batch.manifest import Entry
from judgeaudit.engine.batch.server import Batch, Server
from judgeaudit.engine.batch.submit import submit
from judgeaudit.engine.breaker import RESUME
from judgeaudit.engine.budget import Caps, spent_before
from judgeaudit.engine.failures import describe
from judgeaudit.engine.limits import Limits
from judgeaudit.engine.plan import Plan
from judgeaudit.engine.summary import RunSummary

__all__ = ["BatchRun", "UnseenError", "drop_answered", "fetch", "look", "write_open"]

_CROWDED: Final = "token_limit_exceeded"
_SHOWN: Final = 5


def drop_answered(desk: Desk) -> None:
    """Drop files that were never submitted and hold calls that were answered since."""
    ledger, book, progress = desk.ledger, desk.book, desk.progress
    unsent = [e for e in book.entries if not e.over and not e.sent]
    if not unsent:
        return
    still = np.zeros(ledger.n_planned, dtype=np.bool_)
    still[ledger.open_positions()] = True
    for entry in unsent:
        if not still[book.positions(entry)].all():
            book.put(entry.model_copy(update={"state": "dropped"}))
            progress.note(f"batch {entry.name}: some of its calls were answered since; dropped")


class UnseenError(TransientError):
    """The server could not be asked how far a batch is; the batch itself goes on."""


def write_open(
    plan: Plan,
    desk: Desk,
    *,
    caps: Caps,
    most_requests: int,
    leave: frozenset[int] = frozenset(),
) -> list[Entry]:
    """Write the calls that have no answer, and are in no batch, into batch files.

    Parameters
    ----------
    plan, desk
        Of one run.
    caps : Caps
        The budget; what does not fit is left out.
    most_requests : int
        Requests of a file at most.
    leave : frozenset of int
        Positions to leave out.

    Returns
    -------
    list of Entry
        The new batches.

    Raises
    ------
    JudgeError
        If calls are open and the budget has no room for one.
    """
    ledger, book = desk.ledger, desk.book
    free = np.ones(plan.n_calls, dtype=np.bool_)
    free[list(leave)] = False
    for entry in book.entries:
        if not entry.over:
            free[book.positions(entry)] = False
    found = ledger.open_positions()
    wanted = (int(p) for p in found[free[found]])
    price = book.manifest.price
    room = Room(caps, spent_before(ledger, price) + reserved(price, book.entries), price)
    written = write_files(plan, book, desk.codec, wanted, room=room, most_requests=most_requests)
    waiting = any(not e.over for e in book.entries)
    if room.spent and not written and not waiting:
        raise room.error()
    return written


def look(server: Server, entry: Entry) -> Batch:
    """Ask the server how far a batch is.

    Raises
    ------
    UnseenError
        If it cannot be reached now.
    JudgeError, ConfigError
        If it refuses.
    """
    assert entry.batch_id is not None
    try:
        return server.look(entry.batch_id)
    except TransientError as error:
        raise UnseenError(error.what, where=error.where, mend=RESUME, code=error.code) from None


def fetch(desk: Desk, server: Server, entry: Entry) -> tuple[Batch, Taken]:
    """Look at a batch, and take in what it brought once the server is done with it.

    Raises
    ------
    UnseenError
        If the server cannot be reached now.
    TransientError
        If the results could not be fetched whole; what is whole was taken.
    """
    book, progress = desk.book, desk.progress
    batch = look(server, entry)
    if batch.status != entry.status:
        entry = book.put(entry.model_copy(update={"status": batch.status}))
    if not batch.over:
        return batch, Taken()
    paths, cut = [], None
    for kind, file_id in (("output", batch.output_file), ("errors", batch.error_file)):
        if file_id is None:
            continue
        path = book.file(entry, "output" if kind == "output" else "errors")
        try:
            server.download(file_id, path)
        except TransientError as error:
            cut = error
        if path.exists():
            paths.append(path)
    taken = take_in(desk, [entry], paths)
    if cut is not None or taken.torn:
        for line in taken.lines():
            progress.note(f"batch {entry.name}: {line}")
        why = cut.what if cut is not None else "the file ends in mid-row"
        raise TransientError(
            f"the results of batch {entry.name} did not come whole ({why}); what is whole was "
            "taken",
            mend=RESUME,
        )
    # what has no row now never will have one
    found = next(e for e in book.entries if e.name == entry.name)
    book.put(found.model_copy(update={"state": "ended"}))
    return batch, taken


@dataclass(slots=True, eq=False)
class BatchRun:
    """All rounds of one session.

    Parameters
    ----------
    plan, desk, server
        Of one run.
    limits : Limits
        `attempts` is also how often a call is sent in a batch at most, in one session.
    caps : Caps
        The budget.
    interval : float
        Seconds between two looks.
    most_requests : int
        Requests of a file at most.
    wait : bool
        Whether to stay until all is answered; else each batch is looked at once.
    """

    plan: Plan
    desk: Desk
    server: Server
    limits: Limits
    caps: Caps
    interval: float
    most_requests: int
    wait: bool = True
    outcomes: Counter[str] = field(default_factory=Counter)
    cost: float | None = 0.0
    answered: int = 0
    requests: int = 0
    tries: Counter[int] = field(default_factory=Counter)
    last: JudgeError | None = None
    paces: dict[str, tuple[float, int]] = field(default_factory=dict)

    def go(self) -> RunSummary:
        """Work until all calls are answered, or nothing more can be done now.

        Returns
        -------
        RunSummary
            What was done.

        Raises
        ------
        ConfigError
            The server refused the first batches for what is in them.
        QuotaExhaustedError
            The account is out of credit.
        JudgeError
            The server fails, a batch was cancelled, or a whole round brought no answer.
        """
        began = time.monotonic()
        before = self.desk.ledger.n_answered
        self.desk.progress.begin(self.plan.n_calls, before)
        interrupted = False
        try:
            self._rounds()
        except KeyboardInterrupt:
            interrupted = True
            self.desk.progress.note("interrupted: batches that were submitted go on at the server")
        finally:
            self.desk.progress.end()
        pending = sum(e.n for e in self.desk.book.entries if e.sent)
        failed = self.outcomes["error"]
        return RunSummary(
            planned=self.plan.n_calls,
            answered_before=before,
            answered=self.answered,
            failed=failed,
            requests=self.requests,
            outcomes=dict(self.outcomes),
            cost=self.cost,
            seconds=time.monotonic() - began,
            interrupted=interrupted,
            in_batches=pending,
        )

    def _rounds(self) -> None:
        while True:
            answered = self.answered
            sent = self._send()
            if not sent:
                return
            crowded = self._settle(sent)
            if any(e.sent for e in self.desk.book.entries):
                return  # not asked to wait
            if self.answered == answered:
                raise self._nothing(crowded)

    def _send(self) -> list[str]:
        """Write and submit what is open; return the batches that are with the server."""
        drop_answered(self.desk)
        written = write_open(
            self.plan,
            self.desk,
            caps=self.caps,
            most_requests=self.most_requests,
            leave=frozenset(p for p, n in self.tries.items() if n >= self.limits.attempts),
        )
        if written:
            self.desk.progress.note(
                f"{sum(e.n for e in written)} calls in {len(written)} batch files "
                f"in {self.desk.book.folder}"
            )
        for entry in self.desk.book.entries:
            if not entry.over:
                submit(self.desk.book, entry, self.server, self.limits, self.desk.progress.note)
        return [e.name for e in self.desk.book.entries if e.sent]

    def _settle(self, names: Sequence[str]) -> bool:
        """Wait for batches and take them in; say whether one was refused for want of room."""
        waiting = dict.fromkeys(names)
        crowded, unseen = False, 0
        while True:
            lines = []
            for name in list(waiting):
                entry = next(e for e in self.desk.book.entries if e.name == name)
                try:
                    batch, taken = fetch(self.desk, self.server, entry)
                except UnseenError as error:
                    unseen += 1
                    if not self.wait or unseen >= self.limits.give_up_after:
                        raise
                    lines.append(f"batch {entry.name}: {error.what}")
                    continue
                unseen = 0
                if not batch.over:
                    lines.append(self._far(entry, batch))
                    continue
                del waiting[name]
                self._count(entry, batch, taken)
                crowded |= any(code == _CROWDED for code, _ in batch.errors)
            if not waiting:
                return crowded
            again = f"; next look in {self.interval:g} s" if self.wait else ""
            for line in lines[:_SHOWN]:
                self.desk.progress.note(line + again)
            if len(lines) > _SHOWN:
                self.desk.progress.note(f"and {len(lines) - _SHOWN} batches more{again}")
            if not self.wait:
                return crowded
            time.sleep(self.interval)

    def _far(self, entry: Entry, batch: Batch) -> str:
        line = f"batch {entry.name} ({batch.id}): {batch.status}, {batch.done} of {entry.n} done"
        now = time.monotonic()
        then, done = self.paces.setdefault(entry.name, (now, batch.done))
        if batch.done > done:
            left = (entry.n - batch.done) * (now - then) / (batch.done - done)
            line += f", about {_span(left)} left"
        elif batch.expires is not None:
            until = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(batch.expires))
            line += f", over by {until} at the latest"
        return line

    def _count(self, entry: Entry, batch: Batch, taken: Taken) -> None:
        self.answered += taken.answered
        self.requests += taken.answered + taken.failed
        self.outcomes.update(taken.outcomes)
        self.tries.update(taken.again)
        self.tries.update(dict.fromkeys(taken.permanent, self.limits.attempts))
        self.last = taken.last or self.last
        if self.cost is not None:
            self.cost = None if taken.cost is None else self.cost + taken.cost
        for line in taken.lines():
            self.desk.progress.note(f"batch {entry.name} ({batch.id}) {batch.status}: {line}")
        for code, message in batch.errors:
            self.desk.progress.note(f"batch {entry.name}: {code or 'error'}: {message}")
        if taken.quota is not None:
            taken.quota.mend = taken.quota.mend or RESUME
            raise taken.quota
        if batch.status == "cancelled":
            raise JudgeError(
                f"batch {entry.name} ({batch.id}) was cancelled",
                mend="What it had answered is kept; run the same command again to ask for the rest",
            )
        if batch.status == "failed" and all(code != _CROWDED for code, _ in batch.errors):
            code, message = batch.errors[0] if batch.errors else (None, "the server does not say")
            kind: Callable[..., Exception] = (
                JudgeError if self.desk.ledger.n_answered else ConfigError
            )
            raise kind(
                f"the server refused batch {entry.name}: {f'{code}: ' if code else ''}{message}",
                where=batch.id,
                mend="Correct the model, its parameters or the address, and run the command again",
            )

    def _nothing(self, crowded: bool) -> JudgeError:
        if crowded:
            return JudgeError(
                "the provider has no room for these batches",
                mend="Run the same command again once others are over, or make them smaller with "
                "--batch-requests",
            )
        if self.last is not None:
            n = self.outcomes["error"]
            return JudgeError(f"all {n} calls failed; the last: {describe(self.last)}", mend=RESUME)
        return JudgeError("the batches ended without one answer", mend=RESUME)


def _span(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 7200 else f"{whole / 3600:.1f} h"
