"""Transcripts as they are kept become trajectories: all that was said and done, and no label."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from transcript_world import CHAT, otlp, said, span, telling, text

from judgeaudit.core.errors import CorpusError
from judgeaudit.corpora import load

told = telling


# -- OpenAI chat --------------------------------------------------------------------------------


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
