"""Calls in batches: what is sent, what comes back, and that nothing is sent or taken twice."""

from __future__ import annotations

import asyncio
import json
from collections import Counter

import pytest
from batch_world import HARD, N, answers, choices, hard, prepared, whole
from loopback import Answer, error, hash_verdict, prompt_key
from loopback_batch import BatchServer

from judgeaudit import audit, cards
from judgeaudit.core.errors import (
    ConfigError,
    JudgeError,
    LedgerError,
)
from judgeaudit.core.records import Call, JudgePrompt, JudgeSpec, Message
from judgeaudit.engine.batch import files as batch_files
from judgeaudit.engine.batch import submit as batch_submit
from judgeaudit.engine.batch.codec import Codec
from judgeaudit.engine.batch.story import bind, cancel, looks, submit_all, write
from judgeaudit.judges.direct import DirectJudge
from judgeaudit.judges.via_litellm import LiteLLMJudge


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    # the rests between looks at the list, and between tries, are not what is tested
    monkeypatch.setattr(batch_submit, "_LOOKS", (0.0, 0.05))
    with BatchServer() as server:
        yield server


PROMPT = JudgePrompt(
    messages=(Message(role="system", content="hé\ud800"), Message(role="user", content="x\n\x00"))
)
CALL = Call(
    item="i", condition="base", repeat=1, prompt_sha256=PROMPT.sha256, judge_sha256="0" * 64
)


@pytest.mark.parametrize(
    "how",
    [
        {"decoding": {"max_tokens": 40, "temperature": 0.0}},
        {
            "decoding": {"max_tokens": 40, "extra_body": {"grammar": "q"}, "top_p": 0.5},
            "sends_seed": True,
            "output_format": "json_schema",
        },
        {"decoding": {}, "output_format": "json_mode"},
    ],
)
@pytest.mark.parametrize(
    ("door", "model"),
    [(DirectJudge, "toy"), (LiteLLMJudge, "openai/toy"), (LiteLLMJudge, "openai/gpt-5.4-mini")],
)
def test_a_batch_sends_what_the_judges_own_door_sends(server, door, model, how):
    spec = JudgeSpec(
        backend="direct" if door is DirectJudge else "litellm",
        model=model,
        api_base=server.api_base,
        template_id="default",
        template_sha256="0" * 64,
        **how,
    )

    async def once():
        judge = door(spec)
        await judge.ask(PROMPT, CALL)
        await judge.aclose()

    asyncio.run(once())
    row = json.loads(Codec(spec).line(PROMPT, CALL))
    assert server.single == [row.pop("body")]
    assert {"custom_id": CALL.id, "method": "POST", "url": "/v1/chat/completions"} == row
    assert 64 == len(CALL.id)  # what providers allow


def test_another_provider_has_no_such_batches():
    spec = JudgeSpec(
        backend="litellm", model="anthropic/claude-haiku-4-5", template_id="d", template_sha256=""
    )
    with pytest.raises(ConfigError, match="OpenAI-compatible"):
        Codec(spec)


def test_openais_own_server_wants_a_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    spec = JudgeSpec(backend="litellm", model="openai/gpt-4o", template_id="d", template_sha256="")
    with pytest.raises(ConfigError, match="Set OPENAI_API_KEY"):
        Codec(spec).key()
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL is set, but the endpoint is part"):
        Codec(spec)


def test_files_are_split_by_requests_and_by_bytes(server, tmp_path, monkeypatch):
    ready = prepared(server, tmp_path / "a", batch_requests=10)
    path = tmp_path / "a" / "ledger.sqlite"
    made = write(ready.plan, ready.meta, path, ready.spec)
    assert [10, 10, 8] == [e.n for e in made]
    found = []
    for e in made:
        rows = (tmp_path / "a" / "batch" / f"{e.name}.jsonl").read_bytes().splitlines(True)
        assert e.n == len(rows)
        assert e.size == sum(map(len, rows))
        found += [json.loads(r)["custom_id"] for r in rows]
    assert [ready.plan.call(k).id for k in range(N)] == found
    assert [] == write(ready.plan, ready.meta, path, ready.spec)  # all of them are written

    ready = prepared(server, tmp_path / "b")
    largest = max(e.size for e in made) // 2
    monkeypatch.setattr(batch_files.write_files, "__kwdefaults__", {"most_bytes": largest})
    sizes = [
        e.size for e in write(ready.plan, ready.meta, tmp_path / "b" / "ledger.sqlite", ready.spec)
    ]
    assert max(sizes) <= largest
    assert sum(e.size for e in made) == sum(sizes)
    ready = prepared(server, tmp_path / "c")
    monkeypatch.setattr(batch_files.write_files, "__kwdefaults__", {"most_bytes": 100})
    with pytest.raises(ConfigError, match=r"one request has .* and a batch file may have 100"):
        write(ready.plan, ready.meta, tmp_path / "c" / "ledger.sqlite", ready.spec)


def test_the_card_is_that_of_single_requests(server, tmp_path):
    server.looks = 2
    by_batch = audit.run(**choices(server, tmp_path / "a", batch_requests=11))
    assert 3 == len(server.batches)
    whole(tmp_path / "a", server)
    single = audit.run(**choices(server, tmp_path / "b", batch=False))
    assert N == len(server.single)
    key = lambda body: json.dumps(body, sort_keys=True)  # noqa: E731
    assert sorted(map(key, server.single)) == sorted(map(key, server.bodies))

    def plain(result):
        card = json.loads(cards.to_json(result.card))
        ids = card["facts"]["extra"].pop("batches", None)
        # the chain holds times, and what came together
        for name in ("seconds", "started", "ended", "ledger_head"):
            card["facts"].pop(name)
        card["facts"]["extra"]["command"] = card["facts"]["extra"]["command"].replace(
            " --batch", ""
        )
        return {k: v for k, v in card.items() if k != "created"}, ids

    one, ids = plain(by_batch)
    two, none = plain(single)
    assert one == two
    assert none is None
    assert {"batch_1": 11, "batch_2": 11, "batch_3": 6} == ids
    page = cards.to_markdown(by_batch.card)
    assert f"{N} in batches" in page
    assert "batch_3 (6)" in page
    assert "in batches" not in cards.to_markdown(single.card)
    rows, _ = answers(tmp_path / "a")
    assert {"batch_id": "batch_1"} == json.loads(rows[0]["extra"])
    assert rows[0]["request_id"].startswith("req_batch_1_")
    assert "loopback-1" == rows[0]["served_model"]


def test_outcomes_and_failures_are_those_of_single_requests(server, tmp_path):
    server.behaviour = hard
    # enough different prompts to meet every case
    more = {"limit": 16, "conditions": ("base", "T1", "T2", "T4", "strict", "lenient")}
    audit.run(**choices(server, tmp_path / "a", attempts=1, **more))
    audit.run(**choices(server, tmp_path / "b", attempts=1, batch=False, **more))
    one, two = answers(tmp_path / "a"), answers(tmp_path / "b")
    same = ("position", "outcome", "label", "text", "refusal", "finish_reason", "note", "attempts")
    assert [[r[k] for k in same] for r in one[0]] == [[r[k] for k in same] for r in two[0]]
    assert {"verdict", "refusal", "truncated", "unparseable", None} == {
        r["outcome"] for r in one[0]
    }
    named = [
        sorted((f["call"], f["class"], f["status"], f["code"]) for f in x[1]) for x in (one, two)
    ]
    assert named[0] == named[1]
    assert {"context_too_long", "rate_limit", "server", "bad_request"} == {x[1] for x in named[0]}
    facts = audit.card(tmp_path / "a").facts
    assert facts.requests == audit.card(tmp_path / "b").facts.requests


def test_what_may_pass_is_asked_again_and_what_will_not_is_not(server, tmp_path):
    refused = set()

    def worse(body, n, k):
        if len(refused) < 2:
            refused.add(prompt_key(body))
        if prompt_key(body) in refused:
            return error(400, "Invalid value", "invalid_value")
        if n % 3 == 0:
            return Answer(fault="hang")  # a row without a response
        return hash_verdict(body, n, k)

    server.behaviour = worse
    audit.run(**choices(server, tmp_path / "a", attempts=10))
    rows, failures = answers(tmp_path / "a")
    classes = Counter(f["class"] for f in failures)
    assert {"bad_request", "server"} == set(classes)
    lost = {f["call"] for f in failures if f["class"] == "bad_request"}
    assert lost == {r["position"] for r in rows if r["outcome"] is None}
    assert len(lost) == classes["bad_request"]
    assert server.asked.total() == N + classes["server"]
    assert audit.card(tmp_path / "a").facts.requests == server.asked.total()


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_server_that_fails_at_the_submit_gets_one_batch(server, tmp_path, fault, kept):
    server.create_faults = [fault]
    server.metadata_kept = kept
    audit.run(**choices(server, tmp_path / "a"))
    assert 1 == len(server.batches)
    assert 1 == len([n for n, _ in server.files.values() if n.endswith(".jsonl") and "0001" in n])
    whole(tmp_path / "a", server)


def test_a_batch_that_cannot_be_looked_up_is_not_submitted_again(server, tmp_path):
    server.create_faults = ["after"]
    server.lists = False
    asked = choices(server, tmp_path / "a")
    for _ in range(2):
        with pytest.raises(JudgeError, match=r"may have been submitted.*batch bind RUN 0001"):
            audit.run(**asked)
        assert 1 == len(server.batches)
    with pytest.raises(ConfigError, match="no batch '0009'; known: 0001"):
        bind(tmp_path / "a", "0009", "x")
    bind(tmp_path / "a", "0001", "batch_1")
    audit.run(**asked)
    whole(tmp_path / "a", server)
    assert 1 == len(server.batches)
    with pytest.raises(ConfigError, match="is over"):
        bind(tmp_path / "a", "0001", None)


def test_a_lost_batch_that_was_never_made_is_submitted_once_it_is_said(server, tmp_path):
    server.create_faults = ["before"]
    server.lists = False
    asked = choices(server, tmp_path / "a")
    with pytest.raises(JudgeError, match="may have been submitted"):
        audit.run(**asked)
    bind(tmp_path / "a", "0001", None)
    audit.run(**asked)
    whole(tmp_path / "a", server)


def test_expired_calls_stay_open_and_are_asked_by_the_next_command(server, tmp_path):
    server.end, server.share = "expired", 0.5
    result = audit.run(**choices(server, tmp_path / "a", attempts=1))
    assert N // 2 == result.facts.n_answered
    assert {} == result.facts.failures
    assert N // 2 == result.facts.requests  # what was not made is no request
    server.end, server.share = "completed", 1.0
    audit.run(**choices(server, tmp_path / "a"))
    whole(tmp_path / "a", server)


def test_a_round_without_one_answer_ends_the_run(server, tmp_path):
    server.end, server.share = "expired", 0.0
    with pytest.raises(JudgeError, match="ended without one answer"):
        audit.run(**choices(server, tmp_path / "a"))
    assert 1 == len(server.batches)
    server.end, server.share, server.behaviour = "completed", 1.0, HARD[9]
    with pytest.raises(JudgeError, match=rf"all {N} calls failed; the last: .*HTTP 500"):
        audit.run(**choices(server, tmp_path / "a"))
    assert 2 == len(server.batches)


def test_a_cancelled_batch_stops_the_run_and_keeps_what_it_had(server, tmp_path):
    server.looks, server.share = 10**6, 0.5
    asked = choices(server, tmp_path / "a", batch_wait=False)
    result = audit.run(**asked)
    assert (N, 0) == (result.in_batches, result.exit_code)
    assert "validating" not in [x.batch.status for x in looks(tmp_path / "a", print)]
    with pytest.raises(ConfigError, match=rf"{N} calls of this run are with the provider"):
        audit.run(**{**asked, "batch": False})
    assert ["batch 0001 (batch_1): cancelling"] == cancel(tmp_path / "a", None, print)
    with pytest.raises(JudgeError, match=r"batch 0001 \(batch_1\) was cancelled"):
        audit.run(**asked)
    assert N // 2 == len([r for r in answers(tmp_path / "a")[0] if r["outcome"]])
    server.looks, server.share = 0, 1.0
    audit.run(**choices(server, tmp_path / "a"))
    whole(tmp_path / "a", server)


def test_files_that_were_never_sent_are_dropped(server, tmp_path):
    ready = prepared(server, tmp_path / "a", batch_requests=20)
    write(ready.plan, ready.meta, tmp_path / "a" / "ledger.sqlite", ready.spec)
    with pytest.raises(ConfigError, match="no batch 'x'; known: 0001, 0002"):
        cancel(tmp_path / "a", "x", print)
    assert ["batch 0002: dropped, it was never submitted"] == cancel(tmp_path / "a", "0002", print)
    assert ["0001"] == [e.name for e in submit_all(tmp_path / "a", print)]
    assert ["there is nothing to cancel"] == cancel(tmp_path / "a", "0002", print)
    audit.run(**choices(server, tmp_path / "a"))
    whole(tmp_path / "a", server)


def test_a_file_of_requests_that_was_changed_is_not_sent(server, tmp_path):
    ready = prepared(server, tmp_path / "a")
    write(ready.plan, ready.meta, tmp_path / "a" / "ledger.sqlite", ready.spec)
    path = tmp_path / "a" / "batch" / "0001.jsonl"
    path.write_bytes(path.read_bytes().replace(b"toy", b"top"))
    with pytest.raises(LedgerError, match="no longer what was written"):
        submit_all(tmp_path / "a", print)
    assert {} == server.files


def test_calls_answered_since_a_file_was_written_are_not_submitted(server, tmp_path):
    ready = prepared(server, tmp_path / "a")
    write(ready.plan, ready.meta, tmp_path / "a" / "ledger.sqlite", ready.spec)
    audit.run(**choices(server, tmp_path / "a", batch=False))  # nothing was sent: allowed
    assert [] == submit_all(tmp_path / "a", print)
    assert {} == server.batches
    assert N == len(server.single)
