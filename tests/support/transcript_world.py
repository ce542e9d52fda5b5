"""Transcripts of every dialect, and how their items are told, for the tests of transcripts."""

from __future__ import annotations

import json

import pytest

from judgeaudit.corpora import load


@pytest.fixture(name="told")
def telling(tmp_path):
    """Write records as lines and load them; return the items."""

    def run(*records, corpus="transcripts", text=None, **more):
        path = tmp_path / "t.jsonl"
        path.write_text(text or "\n".join(map(json.dumps, records)), "utf-8")
        return load(corpus, data=path, **more)

    return run


def said(corpus, n=0):
    """Return an item's turns as (role, text) or (agent, thought, action)."""
    return [
        (t.role, t.thought, t.action) if t.role == "agent" else (t.role, t.content)
        for t in corpus.items[n].trajectory.turns
    ]


def function(name, arguments, id_="c1"):
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


CHAT = {
    "id": "run-1",
    "messages": [
        {"role": "system", "content": "You tidy files."},
        {"role": "user", "content": [{"type": "text", "text": "Tidy up."}, {"type": "image_url", "image_url": {"url": "data:x"}}]},
        {"role": "assistant", "content": "On it.", "reasoning_content": "Old ones go.", "tool_calls": [function("ls", '{"path": "/"}')]},
        {"role": "tool", "tool_call_id": "c1", "content": "a.txt"},
        {"role": "assistant", "content": None, "tool_calls": [function("rm", {"f": "a"}, "c2"), function("rm", {"f": "b"}, "c3")]},
        {"role": "tool", "tool_call_id": "c3", "content": "", "error": "no such file"},
        {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "gone"}]},
        {"role": "assistant", "content": None, "refusal": "I stop here."},
    ],
    "label": "UNSAFE",
    "metadata": {"secure": False},
}  # fmt: skip


def attribute(value):
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [attribute(v) for v in value]}}
    if isinstance(value, dict):
        return {
            "kvlistValue": {"values": [{"key": k, "value": attribute(v)} for k, v in value.items()]}
        }
    return {"stringValue": value}


def span(start, end, *, trace="t1", parent="p", status=None, events=(), **attributes):
    named = {k.replace("__", "."): v for k, v in attributes.items()}
    return {
        "traceId": trace,
        "spanId": f"s{start}",
        "parentSpanId": parent,
        "name": "chat x",
        "startTimeUnixNano": str(10**18 + start),
        "endTimeUnixNano": str(10**18 + end),
        "attributes": [{"key": k, "value": attribute(v)} for k, v in named.items()],
        "status": status or {},
        "events": [
            {
                "name": name,
                "attributes": [{"key": k, "value": attribute(v)} for k, v in more.items()],
            }
            for name, more in events
        ],
    }


def otlp(*spans):
    return {
        "resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"spans": list(spans)}]}]
    }


def text(role, content):
    return {"role": role, "parts": [{"type": "text", "content": content}]}
