"""OpenTelemetry GenAI spans as events: one trace, one trajectory, in the order of time.

Read are OTLP JSON (`resourceSpans`, as one object or one a line) and single spans (one a line, as
the Python SDK's console exporter writes them). Messages are taken from `gen_ai.input.messages` and
`gen_ai.output.messages`, or from the older `gen_ai.prompt.N.*` and `gen_ai.completion.N.*`, or from
span events; tools' results from spans of `execute_tool`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from judgeaudit.core.errors import CorpusError
from judgeaudit.corpora import _records
from judgeaudit.corpora._events import Event, Seen, call, media, result
from judgeaudit.corpora._messages import message_events
from judgeaudit.corpora._read import Located

__all__ = ["Span", "is_spans", "messages_of_span", "spans_of", "tool_events"]

_NUMBERED: Final = re.compile(r"gen_ai\.(prompt|completion)\.(\d+)\.(.+)")
_MESSAGE_EVENTS: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_ROLES: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "say",
    "model": "say",
    "tool": "result",
}
_VALUES: Final = ("stringValue", "boolValue", "doubleValue", "bytesValue")


@dataclass(frozen=True, slots=True)
class Span:
    """One span, its attributes as plain values."""

    where: str
    trace: str
    id: str
    parent: str
    name: str
    start: int
    end: int
    failed: str | None
    attributes: Mapping[str, Any]
    events: Sequence[tuple[str, Mapping[str, Any]]] = ()
    resource: Mapping[str, Any] = field(default_factory=dict)


def is_spans(record: Mapping[str, Any]) -> bool:
    """Say whether a record holds spans, or is one."""
    if {"resourceSpans", "resource_spans"} & record.keys():
        return True
    context = record.get("context")
    traced = "traceId" in record or "trace_id" in record or (
        isinstance(context, dict) and "trace_id" in context
    )  # fmt: skip
    return traced and "attributes" in record


def spans_of(located: Sequence[Located]) -> list[Span]:
    """Read all spans of a file.

    Raises
    ------
    CorpusError
        If a span has no trace, no time, or attributes that are none.
    """
    found = []
    for where, record in located:
        groups = record.get("resourceSpans", record.get("resource_spans"))
        if groups is None:
            found.append(_span(record, {}, where))
            continue
        for group in _list(groups, where):
            resource = _attributes(_dict(group.get("resource")).get("attributes"), where)
            scopes = group.get("scopeSpans", group.get("scope_spans", []))
            found += [
                _span(span, resource, f"{where}, span {n}")
                for scope in _list(scopes, where)
                for n, span in enumerate(_list(scope.get("spans", []), where), 1)
            ]
    return found


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object, where: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise CorpusError(f"spans are {value!r:.40}, not a list of objects", where=where)
    return value


def _span(raw: Mapping[str, Any], resource: Mapping[str, Any], where: str) -> Span:
    context = _dict(raw.get("context"))

    def named(*names: str) -> Any:
        return next((v for n in names if (v := raw.get(n, context.get(n))) is not None), None)

    trace = named("traceId", "trace_id")
    if not isinstance(trace, str) or not trace:
        raise CorpusError(f"the span has the trace {trace!r:.40}", where=where)
    status = _dict(raw.get("status"))
    failed = status.get("code", status.get("status_code")) in (2, "STATUS_CODE_ERROR", "ERROR")
    attributes = _attributes(raw.get("attributes"), where)
    why = status.get("message") or status.get("description") or attributes.get("error.type") or ""
    start = _time(named("startTimeUnixNano", "start_time_unix_nano", "start_time"), where)
    end = named("endTimeUnixNano", "end_time_unix_nano", "end_time")
    return Span(
        where=where,
        trace=trace.removeprefix("0x"),
        id=str(named("spanId", "span_id") or "").removeprefix("0x"),
        parent=str(named("parentSpanId", "parent_span_id", "parent_id") or "").removeprefix("0x"),
        name=str(raw.get("name") or ""),
        start=start,
        end=max(start, start if end is None else _time(end, where)),
        failed=str(why) if failed else None,
        attributes=attributes,
        events=[
            (str(e.get("name")), _attributes(e.get("attributes"), where))
            for e in _list(raw.get("events") or [], where)
        ],
        resource=resource,
    )


def _time(value: object, where: str) -> int:
    """Return nanoseconds; ISO 8601 and numbers of them are known."""
    if isinstance(value, str) and not value.isdecimal():
        try:
            return int(datetime.fromisoformat(value).timestamp() * 1e6) * 1000
        except ValueError:
            pass
    elif isinstance(value, int | str) and not isinstance(value, bool) and len(str(value)) < 25:
        return int(value)
    raise CorpusError(f"the span's time is {value!r:.40}", where=where)


def _attributes(raw: object, where: str) -> dict[str, Any]:
    """Return attributes as plain values: OTLP's list of keys and typed values, or an object."""
    if raw is None:
        return {}
    if isinstance(raw, dict):
        return raw
    if not isinstance(raw, list):
        raise CorpusError(f"attributes are {raw!r:.40}", where=where)
    return {str(a.get("key")): _value(a.get("value")) for a in raw if isinstance(a, dict)}


def _value(raw: object) -> Any:
    if not isinstance(raw, dict):
        return raw
    if "intValue" in raw:  # JSON writes them as texts
        number = raw["intValue"]
        fits = isinstance(number, str) and re.fullmatch(r"-?\d{1,20}", number)
        return int(number) if fits else number
    for name in _VALUES:
        if name in raw:
            return raw[name]
    if "arrayValue" in raw:
        return [_value(v) for v in _entries(raw["arrayValue"])]
    if "kvlistValue" in raw:
        pairs = [p for p in _entries(raw["kvlistValue"]) if isinstance(p, dict)]
        return {str(p.get("key")): _value(p.get("value")) for p in pairs}
    return None


def _entries(raw: object) -> list[Any]:
    values = _dict(raw).get("values")
    return values if isinstance(values, list) else []


def _plain(value: object) -> Any:
    """Return a structured attribute: SDKs that cannot carry one write it as JSON."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


# -- messages -------------------------------------------------------------------------------------

Message = tuple[Event, ...]


def messages_of_span(span: Span, seen: Seen) -> tuple[list[Message], list[Message]]:
    """Return what a span's model was given, and what it answered; both empty where nothing says.

    Raises
    ------
    CorpusError
        If a message is malformed.
    """
    attributes: dict[str, Any] = dict(span.attributes)
    for name, more in span.events:
        if name == "gen_ai.client.inference.operation.details":
            attributes |= more
        elif name in {"gen_ai.content.prompt", "gen_ai.content.completion"}:
            attributes |= {k: v for k, v in more.items() if k.startswith("gen_ai.")}
    given: list[Any] = []
    head = _plain(attributes.get("gen_ai.system_instructions"))
    if head:
        given.append({"role": "system", "parts": head if isinstance(head, list) else None,
                      "content": head if isinstance(head, str) else None})  # fmt: skip
    given += _messages(attributes, "gen_ai.input.messages", "prompt", "user")
    answered = _messages(attributes, "gen_ai.output.messages", "completion", "assistant")
    if not given and not answered:
        given, answered = _from_events(span.events)
    both = []
    for what, found in (("input", given), ("output", answered)):
        place = f"{span.where}, {what}"
        both.append([
            tuple(_events(m, f"{place} message {n}", seen)) for n, m in enumerate(found, 1)
        ])  # fmt: skip
    return both[0], both[1]


def _messages(attributes: Mapping[str, Any], new: str, old: str, role: str) -> list[Any]:
    for name in (new, f"gen_ai.{old}"):
        found = _plain(attributes.get(name))
        if isinstance(found, str) and found:
            return [{"role": role, "content": found}]
        if isinstance(found, dict):
            return [found]
        if isinstance(found, list):
            return found
    return _numbered(attributes, old, role)


def _numbered(attributes: Mapping[str, Any], which: str, role: str) -> list[Any]:
    """Gather `gen_ai.prompt.0.role`, `.content`, `.tool_calls.0.name`, ... into messages."""
    made: dict[int, dict[str, Any]] = {}
    calls: dict[int, dict[int, dict[str, Any]]] = {}
    for name, value in attributes.items():
        fits = _NUMBERED.fullmatch(name)
        if fits is None or fits[1] != which:
            continue
        n, rest = int(fits[2]), fits[3].split(".")
        message = made.setdefault(n, {"role": role})
        if rest[0] == "tool_calls" and len(rest) == 3 and rest[1].isdecimal():
            calls.setdefault(n, {}).setdefault(int(rest[1]), {})[rest[2]] = value
        elif len(rest) == 1:
            message[rest[0]] = value
    for n, of in calls.items():
        made[n]["tool_calls"] = [of[k] for k in sorted(of)]
    for message in made.values():
        inner = _plain(message.get("content"))
        if isinstance(inner, list):
            message["content"] = inner
    return [made[n] for n in sorted(made)]


def _from_events(events: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[list[Any], list[Any]]:
    given: list[Any] = []
    answered: list[Any] = []
    for name, more in events:
        body = {**more, **_dict(_plain(more.get("gen_ai.event.content")))}
        if name in _MESSAGE_EVENTS:
            plain = {k: v for k, v in body.items() if not k.startswith("gen_ai.")}
            made = {"role": _MESSAGE_EVENTS[name], **plain}
            if "tool_calls" in made:
                made["tool_calls"] = _plain(made["tool_calls"])
            if made["role"] == "tool":
                made.setdefault("tool_call_id", made.get("id"))
            given.append(made)
        elif name == "gen_ai.choice":
            inner = _plain(body.get("message"))
            told = inner if isinstance(inner, dict) else {"content": body.get("content", inner)}
            calls = _plain(told.get("tool_calls", body.get("tool_calls")))
            answered.append(
                {"role": "assistant", **told, **({"tool_calls": calls} if calls else {})}
            )
    return given, answered


def _events(message: object, where: str, seen: Seen) -> Iterator[Event]:
    if not isinstance(message, dict) or not isinstance(message.get("parts"), list):
        yield from message_events(message, where, seen)
        return
    role = str(message.get("role"))
    if role not in _ROLES:
        raise CorpusError(
            f"unknown role {role!r:.60}", where=where, mend=f"Known: {', '.join(_ROLES)}"
        )
    said: Any = _ROLES[role]
    if role in {"assistant", "model"}:
        yield Event("say")
    for n, part in enumerate(message["parts"], 1):
        yield from _part(part, said, f"{where}, part {n}", seen)
    yield Event("end")


def _part(part: object, said: Any, where: str, seen: Seen) -> Iterator[Event]:
    if not isinstance(part, dict):
        raise CorpusError(f"is {part!r:.40}, not an object", where=where)
    kind = str(part.get("type"))
    content = part.get("content")
    if kind == "text":
        yield Event(said, _records.optional_text(content, "content", where))
    elif kind in {"reasoning", "thinking"}:
        yield Event("think", _records.optional_text(content, "content", where))
    elif kind in {"tool_call", "server_tool_call"}:
        own = _dict(part.get("server_tool_call"))
        rest = {k: v for k, v in own.items() if k != "type"} or None
        arguments = part.get("arguments", own.get("arguments", rest))
        yield call(part.get("name"), arguments, where, id_=part.get("id"))
    elif kind in {"tool_call_response", "server_tool_call_response"}:
        gave = part.get("response", part.get("result", part.get("server_tool_call_response")))
        yield result(_text(gave, where), id_=part.get("id"))
    elif kind in {"blob", "uri", "file"}:
        yield Event(said, media(str(part.get("modality") or "file"), seen))
        if part.get("transcript"):
            yield Event(said, _records.text(part["transcript"], "transcript", where))
    elif kind == "compaction":
        yield Event(said, _text(content, where) or media("compacted conversation", seen))
    else:
        raise CorpusError(
            f"unknown kind of part {kind!r:.60}",
            where=where,
            mend="What a judge is to see of it is not known: leave it out",
        )


def _text(value: object, where: str) -> str | None:
    if value is None or isinstance(value, str):
        return _records.optional_text(value, "response", where)
    return _records.text(json.dumps(value, ensure_ascii=False), "response", where)


def tool_events(span: Span) -> Message:
    """Return what a tool's span tells: its call and what it gave back; empty if it is none."""
    a = span.attributes
    if a.get("gen_ai.operation.name") != "execute_tool":
        return ()
    id_ = a.get("gen_ai.tool.call.id")
    made = call(
        a.get("gen_ai.tool.name") or span.name,
        _plain(a.get("gen_ai.tool.call.arguments")),
        span.where,
        id_=id_,
    )
    gave = a.get("gen_ai.tool.call.result")
    if span.failed is not None and gave is None:
        return made, result(span.failed, id_=id_, failed=True)
    if gave is None:
        return (made,)
    return made, result(_text(gave, span.where), id_=id_)
