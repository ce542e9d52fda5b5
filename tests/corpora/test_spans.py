"""OpenTelemetry GenAI spans become trajectories: one a trace, each message once, in order."""

from __future__ import annotations

import json

import pytest
from transcript_world import function, otlp, said, span, telling, text

from judgeaudit.core.errors import CorpusError

told = telling

SYSTEM = json.dumps([{"type": "text", "content": "You pay bills."}])
CALLED = {"role": "assistant", "parts": [
    {"type": "reasoning", "content": "Is it due?"},
    {"type": "tool_call", "id": "c1", "name": "pay", "arguments": {"n": 1}},
]}  # fmt: skip
CALLED_AGAIN = {"role": "assistant", "parts": [CALLED["parts"][1]]}
"""As it is sent back: without the reasoning."""
ANSWERED = {
    "role": "tool",
    "parts": [{"type": "tool_call_response", "id": "c1", "response": "paid"}],
}
WHOLE = [
    ("user", "Pay it."),
    ("agent", "Is it due?", 'pay({"n": 1})'),
    ("environment", "paid"),
    ("agent", None, "Paid."),
]


def test_otel_a_trace_is_one_trajectory_each_message_once(told):
    agent = span(0, 90, parent="", gen_ai__operation__name="invoke_agent",
                 gen_ai__input__messages=json.dumps([text("user", "Pay it.")]),
                 gen_ai__output__messages=json.dumps([text("assistant", "Paid.")]),
                 gen_ai__conversation__id="talk-1", secure=False)  # fmt: skip
    first = span(10, 20, gen_ai__system_instructions=SYSTEM, gen_ai__operation__name="chat",
                 gen_ai__input__messages=json.dumps([text("user", "Pay it.")]),
                 gen_ai__output__messages=json.dumps([{**CALLED, "finish_reason": "tool_calls"}]))  # fmt: skip
    tool = span(30, 40, gen_ai__operation__name="execute_tool", gen_ai__tool__name="pay",
                gen_ai__tool__call__id="c1", gen_ai__tool__call__arguments='{"n": 1}',
                gen_ai__tool__call__result="paid")  # fmt: skip
    last = span(50, 60, gen_ai__system_instructions=SYSTEM,
                gen_ai__input__messages=[text("user", "Pay it."), CALLED_AGAIN, ANSWERED],
                gen_ai__output__messages=[text("assistant", "Paid.")])  # fmt: skip
    http = span(51, 52, http__request__method="POST")
    for spans in (
        [agent, first, tool, last, http],
        [last, http, tool, first, agent],
        [first, last],
    ):
        corpus = told(otlp(*spans))
        assert WHOLE == said(corpus)
        assert "You pay bills." == corpus.items[0].trajectory.profile
        assert "transcripts/otel_spans/t1" == corpus.items[0].key
    by_lines = told(*(otlp(s) for s in (agent, first, tool, last)))
    assert WHOLE == said(by_lines)
    assert "transcripts:conversation:talk-1" == by_lines.items[0].cluster


def test_otel_tools_without_a_models_span_and_one_that_failed(told):
    corpus = told(otlp(
        span(0, 9, gen_ai__input__messages=[text("user", "Go.")], gen_ai__output__messages=[text("assistant", "OK.")]),
        span(10, 12, gen_ai__operation__name="execute_tool", gen_ai__tool__name="rm",
             gen_ai__tool__call__arguments='{"f": "x"}', status={"code": 2, "message": "denied"}),
    ))  # fmt: skip
    assert [
        ("user", "Go."),
        ("agent", None, "OK."),
        ("agent", None, 'rm({"f": "x"})'),
        ("environment", "error: denied"),
    ] == said(corpus)


def test_otel_older_numbered_attributes(told):
    named = {
        "gen_ai.prompt.0.role": "system", "gen_ai.prompt.0.content": "You pay bills.",
        "gen_ai.prompt.1.role": "user", "gen_ai.prompt.1.content": "Pay it.",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "pay",
        "gen_ai.completion.0.tool_calls.0.arguments": '{"n": 1}',
    }  # fmt: skip
    corpus = told(otlp(span(0, 1, **named)))
    assert [("user", "Pay it."), ("agent", None, 'pay({"n": 1})')] == said(corpus)
    assert "You pay bills." == corpus.items[0].trajectory.profile


def test_otel_events_and_spans_of_the_python_exporter(told):
    corpus = told({
        "name": "chat x", "context": {"trace_id": "0xab", "span_id": "0x1"}, "parent_id": None,
        "start_time": "2026-11-30T10:00:00.000000Z", "end_time": "2026-11-30T10:00:01.000000Z",
        "attributes": {"gen_ai.operation.name": "chat"},
        "events": [
            {"name": "gen_ai.user.message", "attributes": {"content": "Pay it."}},
            {"name": "gen_ai.assistant.message", "attributes": {"tool_calls": json.dumps([function("pay", "{}")])}},
            {"name": "gen_ai.tool.message", "attributes": {"content": "paid", "id": "c1"}},
            {"name": "gen_ai.choice", "attributes": {"index": 0, "message": json.dumps({"content": "Paid."})}},
        ],
    })  # fmt: skip
    assert [
        ("user", "Pay it."),
        ("agent", None, "pay({})"),
        ("environment", "paid"),
        ("agent", None, "Paid."),
    ] == said(corpus)
    assert "transcripts/otel_spans/ab" == corpus.items[0].key


def test_otel_the_same_word_twice_is_said_twice(told):
    yes, ok = text("user", "yes"), text("assistant", "ok")
    corpus = told(otlp(
        span(0, 1, gen_ai__input__messages=[yes], gen_ai__output__messages=[ok]),
        span(2, 3, gen_ai__input__messages=[yes, ok, yes], gen_ai__output__messages=[text("assistant", "fine")]),
    ))  # fmt: skip
    assert ["yes", "ok", "yes", "fine"] == [t[-1] for t in said(corpus)]


def test_otel_without_content_is_refused_with_the_switch_named(told):
    with pytest.raises(CorpusError, match="CAPTURE_MESSAGE_CONTENT"):
        told(otlp(span(0, 1, gen_ai__operation__name="chat")))


def test_otel_other_parts(told):
    messages = [
        {"role": "user", "parts": [{"type": "blob", "modality": "audio", "content": "AAAA", "transcript": "Play."}]},
        {"role": "assistant", "parts": [
            {"type": "server_tool_call", "id": "s", "name": "code", "server_tool_call": {"type": "x", "code": "1+1"}},
            {"type": "server_tool_call_response", "id": "s", "server_tool_call_response": {"out": "2"}},
        ]},
        {"role": "tool", "parts": [{"type": "text", "content": "an odd way to answer"}]},
        {"role": "assistant", "parts": [{"type": "compaction", "content": "So far: played."}]},
    ]  # fmt: skip
    corpus = told(otlp(span(0, 1, gen_ai__input__messages=messages)))
    assert [
        ("user", "[audio, not shown]"),
        ("user", "Play."),
        ("agent", None, 'code({"code": "1+1"})'),
        ("environment", '{"out": "2"}'),
        ("environment", "an odd way to answer"),
        ("agent", None, "So far: played."),
    ] == said(corpus)
    with pytest.raises(CorpusError, match=r"input message 1: unknown role 'narrator'"):
        told(otlp(span(0, 1, gen_ai__input__messages=[text("narrator", "x")])))


def test_otel_logs_and_metrics_beside_spans_are_left_out_and_counted(told):
    spans = otlp(span(0, 1, gen_ai__input__messages=[text("user", "x")]))
    corpus = told(spans, {"resourceLogs": []}, {"resourceMetrics": []})
    assert [("user", "x")] == said(corpus)
    assert any(n.startswith("2 records of logs or metrics") for n in corpus.facts.notes)
    with pytest.raises(CorpusError, match="holds logs or metrics and no spans"):
        told({"resourceLogs": []})
