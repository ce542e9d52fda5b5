"""Files of requests: the open calls of a plan, split as providers allow, within a budget."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from judgeaudit.core.errors import ConfigError, JudgeError
from judgeaudit.engine.batch.codec import Codec
from judgeaudit.engine.batch.manifest import Book, Entry, write_whole
from judgeaudit.engine.budget import Amount, Caps
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.meter import Meter, answer_cap
from judgeaudit.engine.plan import Plan

__all__ = ["MOST_BYTES", "Room", "reserved", "write_files"]

MOST_BYTES: Final = 200_000_000
"""Bytes of a file of requests at most; OpenAI's limit, in the smaller reading of "200 MB"."""


@dataclass(slots=True)
class Room:
    """What a budget leaves for calls in batches.

    Parameters
    ----------
    caps : Caps
        The budget.
    used : Amount
        What was used, and what batches that are not over may use at most.
    price : Price, optional
        Of a token in a batch.
    """

    caps: Caps
    used: Amount
    price: Price | None
    spent: bool = field(default=False, init=False)

    def take(self, want: Amount) -> bool:
        """Reserve an amount; say whether it fits."""
        total, caps = self.used + want, self.caps
        # as for single requests: a cap of exactly the plan's price is no cap on it
        over = (
            (caps.usd is not None and total.usd > caps.usd * (1 + 1e-9))
            or (caps.tokens is not None and total.tokens > caps.tokens)
            or (caps.calls is not None and total.calls > caps.calls)
        )
        if over:
            self.spent = True
        else:
            self.used = total
        return not over

    def error(self) -> JudgeError:
        """Word why not all calls can be made."""
        caps, used = self.caps, self.used
        named = [
            f"US${caps.usd:.6g}" if caps.usd is not None else "",
            f"{caps.tokens:,} tokens" if caps.tokens is not None else "",
            f"{caps.calls} requests" if caps.calls is not None else "",
        ]
        return JudgeError(
            f"the budget of {' and '.join(n for n in named if n)} is spent: US${used.usd:.6g}, "
            f"{used.tokens:,} tokens, {used.calls} requests, and one more may not fit",
            mend="All answers so far are kept; raise the budget and run the same command again to "
            "go on: no answer is paid twice",
            code="budget",
        )


@dataclass(slots=True)
class _Line:
    position: int
    data: bytes
    most: Amount


def write_files(
    plan: Plan,
    book: Book,
    codec: Codec,
    positions: Iterable[int],
    *,
    room: Room,
    most_requests: int,
    most_bytes: int = MOST_BYTES,
) -> list[Entry]:
    """Write calls into batch files, and each file into the manifest once it is whole.

    Parameters
    ----------
    plan : Plan
        Holds the calls.
    book : Book
        The run's manifest.
    codec : Codec
        Of the plan's judge.
    positions : iterable of int
        The calls, in the order of asking.
    room : Room
        The budget; once it is spent, `room.spent` is set and the rest is left out.
    most_requests, most_bytes : int
        Limits of one file.

    Returns
    -------
    list of Entry
        The new batches.

    Raises
    ------
    ConfigError
        If one request alone is larger than a file may be.
    LedgerError
        If a file cannot be written.
    """
    lines = _lines(plan, codec, positions, room)
    written: list[Entry] = []
    held = next(lines, None)
    while held is not None:
        name = f"{len(book.entries) + 1:04d}"
        sheet = _Sheet(lines, held, most_requests, most_bytes)
        entry = Entry(name=name, token="", n=0, size=0, sha256="")
        write_whole(book.file(entry), sheet)
        write_whole(
            book.folder / f"{name}.calls.json", [json.dumps(sheet.positions).encode() + b"\n"]
        )
        entry = entry.model_copy(
            update={
                # not the same on a second try: a file that was sent and lost stays another one
                "token": f"{plan.sha256[:12]}-{name}-{secrets.token_hex(4)}",
                "n": len(sheet.positions),
                "size": sheet.size,
                "sha256": sheet.digest.hexdigest(),
                "most_usd": sheet.most.usd,
                "most_tokens": sheet.most.tokens,
            }
        )
        written.append(book.put(entry))
        held = sheet.held
    return written


def _lines(plan: Plan, codec: Codec, positions: Iterable[int], room: Room) -> Iterator[_Line]:
    meter = Meter(answer_cap(plan.judge.decoding))
    for position in positions:
        prompt = plan.prompt(position)
        most = Amount.most(meter.forecast(prompt), room.price)
        if not room.take(most):
            return
        yield _Line(position, codec.line(prompt, plan.call(position)), most)


class _Sheet:
    """The lines of one file; iterate once, then read what it holds and what is left over."""

    def __init__(
        self, lines: Iterator[_Line], first: _Line, most_requests: int, most_bytes: int
    ) -> None:
        self._lines = lines
        self._limits = most_requests, most_bytes
        self.held: _Line | None = first
        self.positions: list[int] = []
        self.size = 0
        self.most = Amount()
        self.digest = hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        most_requests, most_bytes = self._limits
        while (line := self.held) is not None:
            full = len(self.positions) == most_requests or self.size + len(line.data) > most_bytes
            if full and self.positions:
                return
            if len(line.data) > most_bytes:
                raise ConfigError(
                    f"one request has {len(line.data):,} bytes, and a batch file may have "
                    f"{most_bytes:,}"
                )
            self.positions.append(line.position)
            self.size += len(line.data)
            self.most += line.most
            self.digest.update(line.data)
            yield line.data
            self.held = next(self._lines, None)


def reserved(price: Price | None, entries: Iterable[Entry]) -> Amount:
    """Return what batches that are not over may use at most."""
    total = Amount()
    for e in entries:
        if not e.over:
            total += Amount(e.most_usd if price is not None else 0.0, e.most_tokens, e.n)
    return total
