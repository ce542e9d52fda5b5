"""Chat messages as events: OpenAI's (tool_calls, content parts) and Anthropic's (content blocks).

The two do not contradict each other, so one reader takes both, message by message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from judgeaudit.core.errors import CorpusError
from judgeaudit.corpora import _records
from judgeaudit.corpora._events import Event, Seen, call, media, result

__all__ = ["BLOCKS", "OPENAI_PARTS", "events_of_messages", "message_events"]

_USED: Final = (
    *("role", "content", "name", "tool_calls", "tool_call_id", "function_call", "refusal"),
    *("reasoning_content", "reasoning", "error", "parts", "id", "type", "finish_reason"),
    *("tool_call", "status", "thinking_blocks"),
)
_MEDIA: Final = {
    "image": "image", "image_url": "image", "input_image": "image", "audio": "audio",
    "input_audio": "audio", "document": "document", "file": "file", "input_file": "file",
    "video": "video", "container_upload": "file",
}  # fmt: skip
OPENAI_PARTS: Final = frozenset({"image_url", "input_audio", "refusal", "file"})
"""Kinds of content parts that OpenAI's chat alone has."""
BLOCKS: Final = frozenset({
    "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use",
    "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
    "bash_code_execution_tool_result", "text_editor_code_execution_tool_result",
    "mcp_tool_use", "mcp_tool_result", "search_result",
})  # fmt: skip
"""Kinds of content blocks that Anthropic's messages alone have."""
_TEXTS: Final = ("text", "input_text", "output_text")


def events_of_messages(messages: object, where: str, seen: Seen) -> Iterator[Event]:
    """Read a list of messages.

    Raises
    ------
    CorpusError
        Naming the message, counted from 1.
    """
    if not isinstance(messages, list):
        raise CorpusError(f"messages are {messages!r:.40}, not a list", where=where)
    for n, message in enumerate(messages, 1):
        yield from message_events(message, f"{where}, message {n}", seen)


def message_events(message: object, where: str, seen: Seen) -> Iterator[Event]:
    """Read one message."""
    if not isinstance(message, dict):
        raise CorpusError(f"is {message!r:.40}, not an object", where=where)
    role = str(message.get("role"))
    seen.ignore(message, _USED)
    if role in {"system", "developer"}:
        yield Event("system", _plain(message.get("content"), where, seen))
    elif role == "user":
        yield from _spoken(message.get("content"), "user", where, seen)
    elif role in {"assistant", "model"}:
        yield from _agent(message, where, seen)
    elif role in {"tool", "function"}:
        yield _returned(message, where, seen)
    else:
        raise CorpusError(
            f"unknown role {role!r:.60}",
            where=where,
            mend="Known: system, developer, user, assistant, tool, function",
        )
    yield Event("end")


def _agent(message: Mapping[str, Any], where: str, seen: Seen) -> Iterator[Event]:
    for name in ("reasoning_content", "reasoning"):
        thought = message.get(name)
        if isinstance(thought, str) and thought:
            yield Event("think", _records.text(thought, name, where))
            break
    yield Event("say")  # an empty message is a turn, too
    yield from _spoken(message.get("content"), "say", where, seen)
    refusal = message.get("refusal")
    if isinstance(refusal, str) and refusal:
        yield Event("say", _records.text(refusal, "refusal", where))
    calls = message.get("tool_calls") or []
    if not isinstance(calls, list):
        raise CorpusError(f"tool_calls is {calls!r:.40}, not a list", where=where)
    for made in calls:
        yield _call(made, where)
    if message.get("function_call"):
        yield _call({"function": message["function_call"]}, where)


def _call(made: object, where: str) -> Event:
    if not isinstance(made, dict):
        raise CorpusError(f"a call is {made!r:.40}, not an object", where=where)
    of: Any = made.get("function") or made.get("custom") or made
    if isinstance(of, str):  # some exports write the name there
        of = {"name": of, "arguments": made.get("args")}
    if not isinstance(of, dict):
        raise CorpusError(f"a call is {of!r:.40}, not an object", where=where)
    arguments = of.get("arguments", of.get("input", of.get("args")))
    return call(of.get("name"), arguments, where, id_=made.get("id"))


def _returned(message: Mapping[str, Any], where: str, seen: Seen) -> Event:
    shown = _plain(message.get("content"), where, seen)
    failed = message.get("error")
    if failed:
        told = failed if isinstance(failed, str) else json.dumps(failed, ensure_ascii=False)
        shown = f"{shown}\nerror: {told}" if shown else f"error: {told}"
    return result(shown, id_=message.get("tool_call_id") or message.get("name"))


def _plain(content: object, where: str, seen: Seen) -> str | None:
    """Return content as one text; what is no text stands as a mark."""
    if content is None or isinstance(content, str):
        return _records.optional_text(content, "content", where)
    texts = [e.text for e in _spoken(content, "say", where, seen) if e.text]
    return "\n".join(texts)


def _spoken(content: object, kind: str, where: str, seen: Seen) -> Iterator[Event]:
    """Read a message's content: a text, or parts that speak, think, call and return."""
    said: Any = kind
    if content is None or isinstance(content, str):
        if content is not None or kind == "user":
            yield Event(said, _records.optional_text(content, "content", where))
        return
    if not isinstance(content, list):
        raise CorpusError(f"content is {content!r:.40}, neither a text nor a list", where=where)
    texts: list[str] = []
    for n, part in enumerate(content, 1):
        found = list(_part(part, said, f"{where}, part {n}", seen))
        # texts of a user that follow each other are one message
        if kind == "user" and all(e.kind == "user" for e in found):
            texts += [e.text for e in found if e.text]
            continue
        if texts:
            yield Event("user", "\n".join(texts))
            texts = []
        yield from found
    if texts:
        yield Event("user", "\n".join(texts))


def _part(part: object, said: Any, where: str, seen: Seen) -> Iterator[Event]:
    if isinstance(part, str):
        yield Event(said, _records.text(part, "text", where))
        return
    if not isinstance(part, dict):
        raise CorpusError(f"is {part!r:.40}, not an object", where=where)
    kind = str(part.get("type", "text" if "text" in part else None))
    if kind in _TEXTS:
        yield Event(said, _records.text(part.get("text"), "text", where))
    elif kind == "refusal":
        yield Event(said, _records.text(part.get("refusal"), "refusal", where))
    elif kind == "thinking":
        yield Event("think", _records.optional_text(part.get("thinking"), "thinking", where))
    elif kind == "redacted_thinking":
        seen.withheld += 1
    elif kind in {"tool_use", "server_tool_use", "mcp_tool_use"}:
        yield call(part.get("name"), part.get("input"), where, id_=part.get("id"))
    elif kind in _MEDIA:
        yield Event(said, media(_MEDIA[kind], seen))
    elif kind in BLOCKS:
        shown = _content_of_result(part.get("content"), where, seen)
        yield result(shown, id_=part.get("tool_use_id"), failed=part.get("is_error") is True)
    else:
        raise CorpusError(
            f"unknown kind of content {kind!r:.60}",
            where=where,
            mend="What a judge is to see of it is not known: leave it out, or write it as text",
        )


def _content_of_result(content: object, where: str, seen: Seen) -> str | None:
    """Return what a tool gave back; what is neither text nor a known part is shown as JSON."""
    if content is None or isinstance(content, str):
        return _records.optional_text(content, "content", where)
    parts: Sequence[object] = content if isinstance(content, list) else [content]
    texts = []
    for part in parts:
        kind = str(part.get("type")) if isinstance(part, dict) else None
        if kind in _TEXTS or kind in _MEDIA:
            texts += [e.text or "" for e in _part(part, "say", where, seen)]
        else:
            texts.append(part if isinstance(part, str) else json.dumps(part, ensure_ascii=False))
    return _records.text("\n".join(texts), "content", where)
