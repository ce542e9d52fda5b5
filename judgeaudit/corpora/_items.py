"""Items of OpenAI's Responses API as events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from judgeaudit.core.errors import CorpusError
from judgeaudit.corpora import _records
from judgeaudit.corpora._events import Event, Seen, call, media, result
from judgeaudit.corpora._messages import message_events

__all__ = ["ITEM_TYPES", "events_of_items"]

_CALLS: Final = {
    "function_call": ("name", "arguments"),
    "custom_tool_call": ("name", "input"),
    "mcp_call": ("name", "arguments"),
    "mcp_approval_request": ("name", "arguments"),
}
_BUILT_IN: Final = {
    "web_search_call": ("web_search", "action", None),
    "file_search_call": ("file_search", "queries", "results"),
    "code_interpreter_call": ("code_interpreter", "code", "outputs"),
    "computer_call": ("computer", "action", None),
    "local_shell_call": ("shell", "action", None),
    "shell_call": ("shell", "action", None),
    "apply_patch_call": ("apply_patch", "operation", None),
    "image_generation_call": ("image_generation", "revised_prompt", None),
}
_OUTPUTS: Final = frozenset({
    "function_call_output", "custom_tool_call_output", "computer_call_output",
    "local_shell_call_output", "shell_call_output", "apply_patch_call_output",
    "mcp_approval_response",
})  # fmt: skip
_SILENT: Final = frozenset({"mcp_list_tools", "item_reference", "compaction"})
ITEM_TYPES: Final = frozenset({*_CALLS, *_BUILT_IN, *_OUTPUTS, *_SILENT, "reasoning"})
"""Types of items that the Responses API alone has."""
_USED: Final = (
    *("type", "id", "call_id", "status", "role", "name", "arguments", "input", "output", "error"),
    *("action", "queries", "results", "code", "outputs", "operation", "revised_prompt"),
    *("summary", "content", "encrypted_content"),
)


def events_of_items(items: object, where: str, seen: Seen) -> Iterator[Event]:
    """Read a list of items, or a text, which is what a user said.

    Raises
    ------
    CorpusError
        Naming the item, counted from 1.
    """
    if isinstance(items, str):
        yield Event("user", _records.text(items, "input", where))
        return
    if not isinstance(items, list):
        raise CorpusError(f"items are {items!r:.40}, not a list", where=where)
    for n, item in enumerate(items, 1):
        place = f"{where}, item {n}"
        if not isinstance(item, dict):
            raise CorpusError(f"is {item!r:.40}, not an object", where=place)
        kind = item.get("type", "message")
        if kind == "message":
            # reasoning and calls beside it are the same turn: the message's end is none
            yield from (e for e in message_events(item, place, seen) if e.kind != "end")
        else:
            seen.ignore(item, _USED)
            yield from _item(item, str(kind), place, seen)


def _item(item: Mapping[str, Any], kind: str, where: str, seen: Seen) -> Iterator[Event]:
    if kind in _CALLS:
        name, arguments = (item.get(f) for f in _CALLS[kind])
        id_ = item.get("call_id") or item.get("id")
        yield call(name, arguments, where, id_=id_)
        if item.get("error"):
            yield result(_shown(item["error"], where, seen), id_=id_, failed=True)
        elif item.get("output") is not None:
            yield result(_shown(item["output"], where, seen), id_=id_)
    elif kind in _BUILT_IN:
        name, asked, gave = _BUILT_IN[kind]
        id_ = item.get("call_id") or item.get("id")
        yield call(name, item.get(asked), where, id_=id_)
        if gave is not None and item.get(gave) is not None:
            yield result(_shown(item[gave], where, seen), id_=id_)
        elif kind == "image_generation_call":
            yield result(media("image", seen), id_=id_)
    elif kind in _OUTPUTS:
        gave = "approve" if kind == "mcp_approval_response" else "output"
        yield result(_shown(item.get(gave), where, seen), id_=item.get("call_id"))
    elif kind == "reasoning":
        yield from _reasoning(item, where, seen)
    elif kind not in _SILENT:
        raise CorpusError(
            f"unknown type of item {kind!r:.60}",
            where=where,
            mend="What a judge is to see of it is not known: leave it out",
        )


def _reasoning(item: Mapping[str, Any], where: str, seen: Seen) -> Iterator[Event]:
    parts: Any = item.get("content") or item.get("summary") or []
    texts = [p.get("text") for p in parts if isinstance(p, dict)] if isinstance(parts, list) else []
    if not any(texts):
        seen.withheld += 1
    for text in texts:
        yield Event("think", _records.optional_text(text, "reasoning", where))


def _shown(value: object, where: str, seen: Seen) -> str | None:
    """Return what came back as text: texts of parts, marks of media, and else JSON."""
    if value is None or isinstance(value, str):
        return _records.optional_text(value, "output", where)
    if isinstance(value, dict) and "screenshot" in str(value.get("type")):
        return media("image", seen)
    parts: list[Any] = value if isinstance(value, list) else [value]
    texts = []
    for part in parts:
        kind = str(part.get("type", "")) if isinstance(part, dict) else ""
        if kind in {"input_text", "output_text", "text"}:
            texts.append(str(part.get("text")))
        elif kind in {"input_image", "image", "input_file"}:
            texts.append(media(kind.removeprefix("input_"), seen))
        else:
            texts.append(part if isinstance(part, str) else json.dumps(part, ensure_ascii=False))
    return _records.text("\n".join(texts), "output", where)
