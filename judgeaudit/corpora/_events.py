"""What happens in a transcript, whatever its dialect, and a trajectory made of it.

Each dialect's reader turns its records into events; here alone it is decided what of them a judge
sees. Whatever no event carries has no way into a `Trajectory` (decision 0202).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from judgeaudit.core.errors import CorpusError
from judgeaudit.core.records import Trajectory, Turn
from judgeaudit.corpora import _records

__all__ = ["Event", "Seen", "call", "media", "result", "trajectory_of_events"]

Kind = Literal["system", "user", "think", "say", "call", "result", "end"]

_WRITTEN: Final = {"ensure_ascii": False, "separators": (", ", ": ")}


@dataclass(frozen=True, slots=True)
class Event:
    """One thing said, thought, done or returned.

    Parameters
    ----------
    kind : {"system", "user", "think", "say", "call", "result", "end"}
        `think`, `say` and `call` are the agent's; `end` closes a message.
    text : str, optional
        What was said; of a call its arguments.
    name : str
        Of a call, what was called.
    id : str
        What ties a result to its call; empty where nothing does.
    """

    kind: Kind
    text: str | None = None
    name: str = ""
    id: str = ""


@dataclass(slots=True)
class Seen:
    """What was met on the way and is not shown: media by kind, fields by name."""

    media: Counter[str] = field(default_factory=Counter)
    unused: Counter[str] = field(default_factory=Counter)
    withheld: int = 0

    def ignore(self, record: Mapping[str, Any], used: Iterable[str]) -> None:
        """Count the filled fields of a record that are not used."""
        known = set(used)
        for name, value in record.items():
            if name not in known and value not in (None, [], {}, ""):
                self.unused[name] += 1

    def notes(self) -> list[str]:
        """Say it in sentences for the card."""
        made = []
        if self.media:
            each = ", ".join(f"{n} {kind}" for kind, n in sorted(self.media.items()))
            made.append(f"What is no text stands as a mark in its place ({each}).")
        if self.withheld:
            made.append(f"{self.withheld} pieces of reasoning are encrypted and not shown.")
        if self.unused:
            names = sorted(self.unused)
            more = f" and {len(names) - 30} more" if len(names) > 30 else ""
            made.append(f"Fields that no judge sees: {', '.join(names[:30])}{more}.")
        return made


def call(name: object, arguments: object, where: str, *, id_: object = None) -> Event:
    """Make an event of a call; arguments that are no text are written as JSON."""
    if not isinstance(name, str) or not name.strip():
        raise CorpusError(f"a call has the name {name!r:.60}", where=where)
    shown = (
        arguments if isinstance(arguments, str) else _json({} if arguments is None else arguments)
    )
    return Event("call", shown, name, id_ if isinstance(id_, str) else "")


def result(text: str | None, *, id_: object = None, failed: bool = False) -> Event:
    """Make an event of what came back; an error says that it is one."""
    shown = f"error: {text or ''}".strip() if failed else text
    return Event("result", shown, id=id_ if isinstance(id_, str) else "")


def media(kind: str, seen: Seen) -> str:
    """Return the mark that stands for what is no text."""
    seen.media[kind] += 1
    return f"[{kind}, not shown]"


def _json(value: object) -> str:
    return json.dumps(value, **_WRITTEN)  # type: ignore[arg-type]


class _Teller:
    """Puts events together into turns."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._profile: list[str] = []
        self._turns: list[dict[str, Any]] = []
        self._thought: list[str] = []
        self._action: list[str] = []
        self._calls: list[tuple[str, str]] = []
        self._open = False
        self._parallel: dict[str, str] = {}

    def take(self, event: Event) -> None:
        if event.kind in {"think", "say", "call"}:
            self._open = True
            if event.kind == "call":
                self._calls.append((event.id, event.name))
                self._action.append(f"{event.name}({event.text or ''})")
            elif event.text:
                (self._thought if event.kind == "think" else self._action).append(event.text)
            return
        self._flush()
        if event.kind == "system" and not self._turns:
            if event.text:
                self._profile.append(event.text)
        elif event.kind in {"system", "user"}:
            self._turns.append({"role": event.kind, "content": event.text})
        elif event.kind == "result":
            of = self._parallel.get(event.id) if event.id else None
            shown = f"[{of}] {event.text or ''}" if of else event.text
            self._turns.append({"role": "environment", "content": shown})

    def _flush(self) -> None:
        if not self._open:
            return
        if len(self._calls) > 1:  # what comes back in another order must be told apart
            self._parallel.update({id_: name for id_, name in self._calls if id_})
        joined = ["\n".join(p) or None for p in (self._thought, self._action)]
        self._turns.append({"role": "agent", "thought": joined[0], "action": joined[1]})
        self._thought, self._action, self._calls, self._open = [], [], [], False

    def told(self) -> Trajectory:
        self._flush()
        if not self._turns:
            raise CorpusError(
                "the transcript holds no turn after its instructions", where=self._where
            )
        roles = ("system", "user", "agent", "environment")
        turns: tuple[Turn, ...] = _records.turns_of(self._turns, self._where, roles=roles)  # type: ignore[arg-type]
        profile = "\n\n".join(self._profile) or None
        return Trajectory(
            profile=_records.optional_text(profile, "the profile", self._where), turns=turns
        )


def trajectory_of_events(events: Iterable[Event], where: str) -> Trajectory:
    """Make a trajectory of events.

    Instructions at the head are the profile. What the agent reasons is its thought; what it says
    and calls is its action, in order. Of several calls at once, each result names its call.

    Raises
    ------
    CorpusError
        If there is no turn, or no text in any.
    """
    teller = _Teller(where)
    for event in events:
        teller.take(event)
    return teller.told()
