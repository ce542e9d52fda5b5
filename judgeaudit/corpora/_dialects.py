"""Where the messages of a transcript stand in a record, and which dialect they show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from judgeaudit.corpora._items import ITEM_TYPES
from judgeaudit.corpora._messages import BLOCKS, OPENAI_PARTS

__all__ = ["FIELDS", "Dialect", "parts_of", "signs_of"]

Dialect = Literal["openai_chat", "openai_responses", "anthropic_messages", "otel_spans"]

_HEADS: Final = ("system", "instructions")
_ITEMS: Final = ("input", "items", "output")
FIELDS: Final = (*_HEADS, "messages", *_ITEMS, "choices", "request", "response", "id", "content")
"""Fields of a record that are looked into, or name it."""

_Part = tuple[str, Any]


def parts_of(record: Mapping[str, Any]) -> list[_Part]:
    """Return the lists of messages and of items in a record, in order, each with its field.

    They stand in the record itself, or in its `request` and `response`, or in the `body` of these.
    Empty if there are none.
    """
    inside: list[Mapping[str, Any]] = [record]
    for name in ("request", "response"):
        part = record.get(name)
        if isinstance(part, dict):
            inside.append(part)
            if isinstance(part.get("body"), dict):
                inside.append(part["body"])
    made = [found for part in inside for found in _parts(part)]
    return made if any(name not in _HEADS for name, _ in made) else []


def _parts(record: Mapping[str, Any]) -> Iterator[_Part]:
    for name in _HEADS:
        if isinstance(record.get(name), str | list) and record[name]:
            yield name, record[name]
    if isinstance(record.get("messages"), list):
        yield "messages", record["messages"]
    for name in _ITEMS:
        text = str if name == "input" else list
        if isinstance(record.get(name), (list, text)):
            yield name, record[name]
    choices = record.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        yield "messages", [choices[0].get("message")]
    if record.get("type") == "message" and record.get("role") == "assistant":
        yield "messages", [dict(record)]


def signs_of(parts: Sequence[_Part]) -> list[Dialect]:
    """Return the dialects that parts show, the first sign first; empty for plain texts."""
    return list(dict.fromkeys(sign for name, value in parts for sign in _signs(name, value)))


def _signs(name: str, value: object) -> Iterator[Dialect]:
    if name == "system":
        yield "anthropic_messages"
        return
    if name != "messages":
        yield "openai_responses"
    for message in value if isinstance(value, list) else ():
        if isinstance(message, dict):
            yield from _signs_of_message(message, chat=name == "messages")


def _signs_of_message(message: Mapping[str, Any], *, chat: bool) -> Iterator[Dialect]:
    if str(message.get("type")) in ITEM_TYPES:
        yield "openai_responses"
    if chat and (
        message.get("tool_calls") or str(message.get("role")) in {"tool", "function", "developer"}
    ):
        yield "openai_chat"
    parts = message.get("content")
    for part in parts if isinstance(parts, list) else ():
        kind = str(part.get("type")) if isinstance(part, dict) else None
        if kind in BLOCKS:
            yield "anthropic_messages"
        elif kind in {"input_text", "output_text"}:
            yield "openai_responses"
        elif chat and kind in OPENAI_PARTS:
            yield "openai_chat"
