"""Transcripts as they are kept become trajectories: all that was said and done, and no label."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.corpora import load
from judgeaudit.engine.imported.converting import convert


@pytest.fixture
def told(tmp_path):
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


# -- OpenAI chat --------------------------------------------------------------------------------

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


def test_openai_chat(told):
    corpus = told(CHAT)
    assert "You tidy files." == corpus.items[0].trajectory.profile
    assert [
        ("user", "Tidy up.\n[image, not shown]"),
        ("agent", "Old ones go.", 'On it.\nls({"path": "/"})'),
        ("environment", "a.txt"),
        ("agent", None, 'rm({"f": "a"})\nrm({"f": "b"})'),
        ("environment", "[rm] error: no such file"),
        ("environment", "[rm] gone"),
        ("agent", None, "I stop here."),
    ] == said(corpus)
    item = corpus.items[0]
    assert ("transcripts/openai_chat/run-1", None, "unlabelled") == (
        item.key,
        item.label,
        item.label_source,
    )
    assert any("1 image" in n for n in corpus.facts.notes)
    assert any("label, metadata" in n for n in corpus.facts.notes)


def test_the_label_is_nowhere_in_the_trajectory(told):
    assert "UNSAFE" not in told(CHAT).items[0].trajectory.model_dump_json()


def test_a_request_with_its_response(told):
    corpus = told(
        {
            "request": {"messages": [{"role": "user", "content": "hi"}]},
            "response": {"choices": [{"message": {"role": "assistant", "content": "ho"}}]},
        }
    )
    assert [("user", "hi"), ("agent", None, "ho")] == said(corpus)
    assert "transcripts/openai_chat/record-1" == corpus.items[0].key


def test_a_file_that_is_one_list_of_messages(told):
    corpus = told(text=json.dumps(CHAT["messages"]))
    assert (1, 7) == (len(corpus.items), len(said(corpus)))


def test_a_legacy_function_call(told):
    corpus = told({"messages": [
        {"role": "user", "content": "x"},
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
    ]})  # fmt: skip
    assert [("user", "x"), ("agent", None, "f({})"), ("environment", "1")] == said(corpus)


# -- OpenAI Responses ---------------------------------------------------------------------------


def test_openai_responses(told):
    corpus = told({
        "instructions": "You shop.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "Buy milk."}]},
            {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Cheap one."}]},
            {"type": "reasoning", "id": "r2", "summary": [], "encrypted_content": "gAAA"},
            {"type": "function_call", "call_id": "c", "name": "buy", "arguments": '{"n": 1}'},
            {"type": "function_call_output", "call_id": "c", "output": "ok"},
            {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "milk"}},
        ],
        "output": [
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Bought.", "annotations": []}]},
            {"type": "mcp_call", "id": "m", "name": "pay", "arguments": "{}", "error": "declined"},
        ],
    })  # fmt: skip
    assert "You shop." == corpus.items[0].trajectory.profile
    assert [
        ("user", "Buy milk."),
        ("agent", "Cheap one.", 'buy({"n": 1})'),
        ("environment", "ok"),
        ("agent", None, 'web_search({"type": "search", "query": "milk"})\nBought.\npay({})'),
        ("environment", "[pay] error: declined"),
    ] == said(corpus)
    assert "transcripts/openai_responses/record-1" == corpus.items[0].key
    assert any("1 pieces of reasoning are encrypted" in n for n in corpus.facts.notes)


# -- Anthropic ----------------------------------------------------------------------------------


def test_anthropic_messages(told):
    corpus = told({
        "id": 7,
        "system": [{"type": "text", "text": "You book."}],
        "messages": [
            {"role": "user", "content": "Book a room."},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Which one?", "signature": "s"},
                {"type": "redacted_thinking", "data": "x"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "t1", "name": "rooms", "input": {"n": 2}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t1", "is_error": True, "content": [{"type": "text", "text": "down"}]},
                {"type": "text", "text": "Hurry."},
                {"type": "text", "text": "Please."},
            ]},
            {"role": "assistant", "content": [
                {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "q"}},
                {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "url": "u"}]},
                {"type": "text", "text": "Done."},
            ]},
        ],
    })  # fmt: skip
    assert "You book." == corpus.items[0].trajectory.profile
    assert [
        ("user", "Book a room."),
        ("agent", "Which one?", 'I look.\nrooms({"n": 2})'),
        ("environment", "error: down"),
        ("user", "Hurry.\nPlease."),
        ("agent", None, 'web_search({"query": "q"})'),
        ("environment", '{"type": "web_search_result", "url": "u"}'),
        ("agent", None, "Done."),
    ] == said(corpus)
    assert "transcripts/anthropic_messages/7" == corpus.items[0].key


# -- OpenTelemetry ------------------------------------------------------------------------------


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


# -- which dialect, and what is refused ---------------------------------------------------------


def test_records_of_several_dialects_in_one_file(told):
    corpus = told(CHAT, {"id": 2, "input": "hi", "output": []}, otlp(
        span(0, 1, gen_ai__input__messages=[text("user", "x")])
    ))  # fmt: skip
    kinds = ["openai_chat", "openai_responses", "otel_spans"]
    assert kinds == sorted(i.subset for i in corpus.items)


def test_another_dialect_than_the_one_named_is_refused(told):
    with pytest.raises(CorpusError, match=r"t\.jsonl:1: is written as openai_chat"):
        told(CHAT, corpus="anthropic_messages")
    assert 1 == len(told(CHAT, corpus="openai_chat").items)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ({"role": "wizard", "content": "x"}, "message 2: unknown role 'wizard'"),
        (
            {"role": "user", "content": [{"type": "hologram"}]},
            "message 2, part 1: unknown kind of content 'hologram'",
        ),
        ({"role": "user", "content": 5}, "content is 5"),
        (
            {"role": "assistant", "tool_calls": [{"function": {"arguments": "{}"}}]},
            "a call has the name None",
        ),
        ({"role": "assistant", "content": "\ud800"}, "half a surrogate pair"),
        ("text", "is 'text', not an object"),
    ],
)
def test_what_is_no_message_is_refused_with_its_place(told, message, said):
    with pytest.raises(CorpusError) as caught:
        told({"id": "a", "messages": [{"role": "user", "content": "x"}, message]})
    assert said in str(caught.value)
    assert "t.jsonl:1" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{"messages": [{"role": "user", "content": "x"}]}\n{"messages": [',
            r"t\.jsonl:2.*is not JSON",
        ),
        ('{"text": "x"}', "is no transcript that is known; it has 'text'"),
        ('{"id": 1, "messages": []}', "no turn"),
        (
            '{"id": 1, "messages": [{"role": "system", "content": "x"}]}',
            "no turn after its instructions",
        ),
        ('{"id": 1, "messages": [{"role": "user", "content": " "}]}', "null or blank"),
        ("", "empty"),
    ],
)
def test_files_that_hold_none_are_refused(told, text, said):
    with pytest.raises(CorpusError, match=said):
        told(text=text) if text else told()


def test_the_same_id_twice_is_refused(told):
    with pytest.raises(CorpusError, match="stands twice"):
        told(CHAT, CHAT)


def test_bom_crlf_nan_huge_numbers_and_long_texts_are_survived(told):
    record = {**CHAT, "score": float("nan"), "big": 2**80}
    record["messages"] = [{"role": "user", "content": "y" * 5_000_000}]
    corpus = told(text="\ufeff" + json.dumps(record) + "\r\n")
    assert 5_000_000 == len(said(corpus)[0][1])


# -- labels, from a field that the user names ---------------------------------------------------


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "t.jsonl"
    lines = [
        {**CHAT, "id": n, "metadata": {"secure": n % 2 == 0, "task": f"k{n // 2}"}}
        for n in range(4)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_labels_are_taken_from_the_field_named(file, tmp_path):
    made = convert(
        "transcripts", file, out=tmp_path / "i.jsonl", label_field="metadata.secure",
        label=["true=SAFE", "false=UNSAFE"], label_source="rule", cluster_field="metadata.task",
        strata=["task=metadata.task"], id_field="id",
    )  # fmt: skip
    assert (4, {"SAFE": 2, "UNSAFE": 2}) == (made.n_items, made.labels)
    corpus = load("jsonl", data=made.path)
    assert ["SAFE", "UNSAFE", "SAFE", "UNSAFE"] == [i.label for i in corpus.items]
    assert ["k0", "k0", "k1", "k1"] == [i.cluster for i in corpus.items]
    assert {"task": "k0"} == corpus.items[0].strata
    assert "rule" == corpus.facts.label_source
    assert said(load("transcripts", data=file)) == said(corpus)


def test_without_a_label_field_there_is_no_label(file, tmp_path):
    made = convert("openai_chat", file, out=tmp_path / "i.jsonl")
    assert {"unlabelled": 4} == made.labels
    assert [None] * 4 == [i.label for i in load("jsonl", data=made.path).items]


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"label_field": "metadata.secure"}, "nobody said who assigned"),
        ({"label": ["true=SAFE"]}, "go with --label-field"),
        (
            {"label_field": "messages.0.content", "label_source": "rule"},
            "part of what a judge sees",
        ),
        (
            {"label_field": "metadata.secur", "label_source": "rule"},
            "no transcript has the field.*metadata.secure",
        ),
        ({"label_field": "metadata.secure", "label_source": "me"}, "unknown source of labels"),
        (
            {
                "label_field": "metadata.secure",
                "label_source": "rule",
                "label": ["true=SAFE", "false=UNSAFE", "no=SAFE"],
            },
            "'no'.*no transcript has that word",
        ),
    ],
)
def test_choices_that_do_not_fit_are_refused(file, tmp_path, choices, said):
    with pytest.raises(ConfigError, match=said):
        convert("transcripts", file, out=tmp_path / "i.jsonl", **choices)
    assert not (tmp_path / "i.jsonl").exists()


def test_a_word_that_nobody_explained_is_refused_with_its_place(file, tmp_path):
    with pytest.raises(CorpusError, match=r"t\.jsonl:2.*nobody said what that means"):
        convert("transcripts", file, out=tmp_path / "i.jsonl", label_field="metadata.secure",
                label_source="rule", label=["true=SAFE"])  # fmt: skip


def test_a_corpus_that_holds_no_transcripts_is_refused(file, tmp_path):
    with pytest.raises(ConfigError, match="'jsonl' is no corpus of transcripts"):
        convert("jsonl", file, out=tmp_path / "i.jsonl")


# -- real data ----------------------------------------------------------------------------------


def test_agentdojo_transcripts_are_read_whole():
    shared = os.environ.get("JUDGEAUDIT_SHARED")
    folder = Path(shared or "/nowhere") / "data" / "other" / "agentdojo_chat"
    if not folder.is_dir():
        pytest.skip("the AgentDojo transcripts are not among the shared research data")
    (path,) = folder.glob("*.jsonl")
    records = [json.loads(line) for line in path.read_text("utf-8").splitlines()][1:]
    corpus = load("openai_chat", data=path)
    assert len(records) == len(corpus.items) == 194
    by_id = {i.id: i for i in corpus.items}
    for n, record in enumerate(records, 1):
        turns = by_id[f"record-{n}"].trajectory.turns
        messages = [m for m in record["messages"] if m["role"] != "system"]
        roles = {"assistant": "agent", "tool": "environment"}
        assert [roles.get(m["role"], m["role"]) for m in messages] == [t.role for t in turns]
        for message, turn in zip(messages, turns, strict=True):
            assert (message["content"] or "") in (turn.content or turn.action or "")
            for made in message.get("tool_calls") or ():
                assert made["function"]["name"] in turn.action
        whole = by_id[f"record-{n}"].trajectory.model_dump_json()
        assert record["metadata"]["name"] not in whole
