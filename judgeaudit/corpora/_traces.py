"""Spans of one trace merged into one transcript: each message once, in the order of time.

A model's span repeats the whole conversation so far. Its messages are therefore looked for, in
order, in what is known already, and only those that are not there are new.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from judgeaudit.corpora._events import Event, Seen
from judgeaudit.corpora._spans import Message, Span, messages_of_span, tool_events

__all__ = ["events_of_trace"]

_Key = tuple[tuple[str, str], ...]


def events_of_trace(spans: Sequence[Span], seen: Seen) -> list[Event]:
    """Merge the spans of one trace.

    Returns
    -------
    list of Event
        Empty where no span carries a message: capturing content is off by default.
    """
    steps: list[tuple[int, int, int, str, Any]] = []
    for n, span in enumerate(sorted(spans, key=lambda s: (s.start, s.end))):
        tool = tool_events(span)
        if tool:
            steps.append((span.end, n, 1, "tool", tool))
            continue
        given, answered = messages_of_span(span, seen)
        if given:
            steps.append((span.start, n, 0, "given", given))
        if answered:
            steps.append((span.end, n, 1, "answered", answered))
    merged = _Merged()
    for _, _, _, kind, what in sorted(steps, key=lambda s: s[:3]):
        if kind == "given":
            merged.given(what)
        elif kind == "answered":
            merged.answered(what)
        else:
            merged.tool(what)
    return [event for message in merged.messages for event in message]


class _Merged:
    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._keys: list[_Key] = []

    def given(self, messages: Sequence[Message]) -> None:
        """Take the messages that a model was given."""
        keys = [_key(m) for m in messages]
        if not any(k in self._keys for k in keys if k):
            self._extend(messages)  # another agent's conversation
            return
        at = 0
        for message, key in zip(messages, keys, strict=True):
            if not key:
                continue
            found = next((n for n in range(at, len(self._keys)) if self._keys[n] == key), None)
            if found is None:
                self.messages.insert(at, message)
                self._keys.insert(at, key)
                at += 1
            else:
                at = found + 1

    def answered(self, messages: Sequence[Message]) -> None:
        """Take what a model answered; an agent's span says again what its model's span says."""
        for message in messages:
            if _key(message) not in self._keys[-len(messages) :]:
                self._extend([message])

    def tool(self, events: Message) -> None:
        """Take a tool's call, if no model's answer has it, and its result."""
        made, *gave = events
        known = {part for key in self._keys for part in key}
        if not {_part(made), ("call-id", made.id)} & known:
            self._extend([(made, Event("end"))])
        for event in gave:
            if _part(event) not in known or not event.id:
                self._extend([(event, Event("end"))])

    def _extend(self, messages: Sequence[Message]) -> None:
        for message in messages:
            key = _key(message)
            if key:
                self.messages.append(message)
                self._keys.append(key)


def _key(message: Message) -> _Key:
    """Return what makes a message the same in two spans; reasoning is often not sent back."""
    made: list[tuple[str, str]] = []
    for event in message:
        if event.kind in {"think", "end"} or (event.kind == "say" and not event.text):
            continue
        made.append(_part(event))
        if event.kind == "call" and event.id:
            made.append(("call-id", event.id))
    return tuple(made)


def _part(event: Event) -> tuple[str, str]:
    if event.kind == "result" and event.id:
        return "result", event.id
    if event.kind == "call":
        try:
            arguments = json.dumps(json.loads(event.text or "{}"), sort_keys=True)
        except (ValueError, RecursionError):
            arguments = event.text or ""
        return "call", f"{event.name}({arguments})"
    return event.kind, event.text or ""
