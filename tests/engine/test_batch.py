"""Calls in batches: what is sent, what comes back, and that nothing is sent or taken twice."""

from __future__ import annotations

import asyncio
import json
import math
import random
from collections import Counter

import pytest
from loopback import Answer, completion, error, hash_verdict, prompt_key, says
from loopback_batch import BatchServer

from judgeaudit import audit, cards
from judgeaudit.core.errors import (
    ConfigError,
    JudgeError,
    LedgerError,
    QuotaExhaustedError,
    TransientError,
)
from judgeaudit.core.records import Call, JudgePrompt, JudgeSpec, Message
from judgeaudit.engine.batch import files as batch_files
from judgeaudit.engine.batch import submit as batch_submit
from judgeaudit.engine.batch.codec import Codec
from judgeaudit.engine.batch.manifest import Book
from judgeaudit.engine.batch.story import bind, cancel, ingest, looks, submit_all, write
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.verify import faults
from judgeaudit.judges.direct import DirectJudge
from judgeaudit.judges.via_litellm import LiteLLMJudge

SMALL = {"preset": "quick", "limit": 4, "conditions": ("base", "T1", "strict"), "max_tokens": 40}
N = 4 * (3 + 2 + 2)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    # the rests between looks at the list, and between tries, are not what is tested
    monkeypatch.setattr(batch_submit, "_LOOKS", (0.0, 0.05))
    with BatchServer() as server:
        yield server


def choices(server, out, **more):
    return {
        **SMALL, "judge": "direct:toy", "api_base": server.api_base, "out": out, "batch": True,
        "batch_interval": 0.02, "attempts": 3, **more,
    }  # fmt: skip


def answers(run):
    with Ledger.open_readonly(run / "ledger.sqlite") as view:
        assert [] == faults(view)
        rows = list(view.rows())
        return rows, view.failures()


def whole(run, server):
    """Assert that each call was worked on once and answered once."""
    rows, failures = answers(run)
    assert N == len(rows)
    assert all(r["outcome"] == "verdict" for r in rows)
    assert [] == failures
    assert N == len(server.asked)
    assert {1} == set(server.asked.values())
    assert 0 == len(server.single)


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


def prepared(server, out, **more):
    return audit.prepare(audit.choose(None, choices(server, out, **more)))


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
        for name in ("seconds", "started", "ended"):
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


HARD = [
    says('{"verdict": "SAFE"}'),
    says(None, finish_reason="content_filter", message={"refusal": "I can't help with that."}),
    says('{"verdict": "UNS', finish_reason="length"),
    says("perhaps"),
    lambda *_: Answer(body=completion("") | {"choices": []}),
    lambda *_: Answer(body={"error": {"message": "behind a gateway", "code": 503}}),
    lambda *_: error(400, "The response was filtered", "content_filter"),
    lambda *_: error(400, "too long", "context_length_exceeded"),
    lambda *_: error(429, "Rate limit reached", "rate_limit_exceeded"),
    lambda *_: error(500, "The server had an error", None),
    lambda *_: error(400, "Invalid value", "invalid_value"),
]


def hard(body, n, k):
    return HARD[int(prompt_key(body)[:6], 16) % len(HARD)](body, n, k)


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
    def worse(body, n, k):
        if int(prompt_key(body)[:4], 16) % 5 == 0:
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


def fetched(server, tmp_path, **mangled):
    """Make a run whose batch is over, and fetch its files by hand; return run and output file."""
    run = tmp_path / "a"
    for name, value in mangled.items():
        setattr(server, name, value)
    server.looks = 0
    ready = prepared(server, run)
    write(ready.plan, ready.meta, run / "ledger.sqlite", ready.spec)
    submit_all(run, print)
    assert ["completed"] == [x.batch.status for x in looks(run, print)]
    out = tmp_path / "out.jsonl"
    out.write_bytes(server.files[server.batches["batch_1"]["output_file_id"]][1])
    return run, out


def test_rows_come_in_any_order(server, tmp_path):
    run, out = fetched(
        server, tmp_path, mangle=lambda rows: random.Random(1).sample(rows, len(rows))
    )
    found, waiting = ingest(run, [out])
    assert (N, 0, []) == (found[0][1].answered, found[0][1].n_refused, waiting)
    whole(run, server)
    (_, again), _ = ingest(run, [out])[0][0], None
    assert (0, N) == (again.answered, again.before)
    whole(run, server)


def test_doubtful_rows_are_refused_by_name_and_the_others_taken(server, tmp_path):
    stranger = json.dumps({"custom_id": "not-ours", "response": {"status_code": 200, "body": {}}})

    def mangle(rows):
        changed = json.loads(rows[0])
        changed["response"]["body"]["choices"][0]["message"]["content"] = '{"verdict": "SAFE"}'
        nameless = json.loads(rows[1]) | {"custom_id": 7}
        return [
            *rows[:3], b'{"custom_id": "half\n', rows[0], json.dumps(changed).encode() + b"\n",
            stranger.encode() + b"\n", b"\n", b"[]\n", json.dumps(nameless).encode() + b"\n",
            *rows[3:],
        ]  # fmt: skip

    run, out = fetched(server, tmp_path, mangle=mangle)
    (_, taken) = ingest(run, [out])[0][0]
    first = json.loads(out.read_bytes().splitlines()[0])["custom_id"]
    assert [
        "out.jsonl:4: is no JSON object",
        f"out.jsonl:5: custom_id '{first}' has a row before this one",
        f"out.jsonl:6: custom_id '{first}' has a row before this one",
        "out.jsonl:7: custom_id 'not-ours' is of no call in this run's batches",
        "out.jsonl:9: is no JSON object",
        "out.jsonl:10: custom_id 7 is of no call in this run's batches",
    ] == taken.refused
    assert N == taken.answered
    whole(run, server)


def test_rows_of_another_batch_are_refused_by_its_name(server, tmp_path):
    swapped = []

    def swap(rows):
        swapped.append(rows)
        return rows if len(swapped) == 1 else [*rows, swapped[0][0]]

    server.mangle, server.looks = swap, 0
    notes = []
    ready = prepared(server, tmp_path / "a", batch_requests=20)
    write(ready.plan, ready.meta, tmp_path / "a" / "ledger.sqlite", ready.spec)
    submit_all(tmp_path / "a", notes.append)
    found, _ = ingest(tmp_path / "a", [])
    refused = [line for _, taken in found for line in taken.refused]
    assert 1 == len(refused)
    assert refused[0].startswith("0002.output.jsonl:9: custom_id ")
    assert refused[0].endswith("is of batch 0001")
    whole(tmp_path / "a", server)


def test_a_file_that_was_cut_gives_what_is_whole(server, tmp_path):
    run, out = fetched(server, tmp_path)
    data = out.read_bytes()
    out.write_bytes(data[: len(data) // 2])
    found, waiting = ingest(run, [out])
    taken = found[0][1]
    assert ["out.jsonl"] == taken.torn
    assert taken.answered == data[: len(data) // 2].count(b"\n")
    assert "ends in mid-row" in taken.lines()[-1]
    assert ["0001"] == [e.name for e in waiting]
    out.write_bytes(data.rstrip(b"\n"))  # whole, though without a last line break
    found, waiting = ingest(run, [out])
    assert ([], []) == (found[0][1].torn, waiting)
    whole(run, server)


def test_failures_are_taken_in_once(server, tmp_path):
    server.behaviour = lambda body, n, k: (HARD[9] if n % 2 else hash_verdict)(body, n, k)
    run, out = fetched(server, tmp_path)
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(server.files[server.batches["batch_1"]["error_file_id"]][1])
    for again in range(3):
        (_, taken) = ingest(run, [bad, out] if again else [bad])[0][0]
        assert N // 2 == len(answers(run)[1])
    assert N == taken.before


def test_a_download_that_breaks_off_is_tried_again(server, tmp_path):
    server.cut_downloads = 2
    audit.run(**choices(server, tmp_path / "a"))
    whole(tmp_path / "a", server)


def test_a_download_that_breaks_off_always_gives_what_is_whole(server, tmp_path):
    server.cut_downloads = 3
    with pytest.raises(TransientError, match=r"0001 did not come whole.*what is whole was taken"):
        audit.run(**choices(server, tmp_path / "a"))
    n = sum(r["outcome"] == "verdict" for r in answers(tmp_path / "a")[0])
    assert 0 < n < N
    audit.run(**choices(server, tmp_path / "a"))
    whole(tmp_path / "a", server)
    assert 1 == len(server.batches)


def test_a_server_that_is_away_while_we_look_is_waited_for(server, tmp_path):
    server.deaf_looks = 7  # more than the tries of one look
    audit.run(**choices(server, tmp_path / "a"))
    whole(tmp_path / "a", server)


def test_a_budget_of_requests_is_kept(server, tmp_path):
    with pytest.raises(JudgeError, match="budget of 10 requests is spent"):
        audit.run(**choices(server, tmp_path / "a", budget_calls=10))
    assert 10 == server.asked.total()
    audit.run(**choices(server, tmp_path / "a", budget_calls=N))
    whole(tmp_path / "a", server)


def test_half_the_price_is_named_and_counted(server, tmp_path):
    prices = tmp_path / "p.toml"
    prices.write_text('["direct:toy"]\nprompt = 1\ncompletion = 2\n')
    ready = prepared(server, tmp_path / "a", prices=prices)
    single = prepared(server, tmp_path / "a", prices=prices, batch=False)
    assert ready.plan.estimate.cost_most == pytest.approx(single.plan.estimate.cost_most / 2)
    assert "at 0.5 times the price of single requests (the discount that providers publish" in (
        ready.plan.estimate.cost_note
    )
    result = audit.run(ready)
    assert result.facts.cost == pytest.approx(N * (11 * 1 + 7 * 2) / 1e6 / 2)
    prices.write_text('["direct:toy"]\nprompt = 1\ncompletion = 2\nbatch = 0.8\n')
    ready = prepared(server, tmp_path / "b", prices=prices)
    assert "at 0.8 times the price of single requests (as the price file says)" in (
        ready.plan.estimate.cost_note
    )
    # what the file says of batches is nothing to single requests
    assert (
        single.plan.estimate
        == prepared(server, tmp_path / "b", prices=prices, batch=False).plan.estimate
    )


def test_a_budget_in_money_is_kept_and_used(server, tmp_path):
    """What fits at its most is sent; what it left over is used by another round."""

    def counted(body, _n, _k):
        asked = sum(len(m["content"]) for m in body["messages"]) // 4
        usage = {"prompt_tokens": asked, "completion_tokens": 20}
        return Answer(body=completion('{"verdict": "SAFE"}', usage=usage))

    server.behaviour = counted
    prices = tmp_path / "p.toml"
    prices.write_text('["direct:toy"]\nprompt = 1\ncompletion = 2\n')
    asked = choices(server, tmp_path / "a", prices=prices)
    with pytest.raises(JudgeError, match=r"budget of US\$0.0001 is spent: US\$0, 0 tokens"):
        audit.run(**asked, budget_usd=0.0001)
    assert {} == server.batches
    with pytest.raises(JudgeError, match=r"budget of US\$0.01 is spent"):
        audit.run(**asked, budget_usd=0.01)
    assert 1 < len(server.batches)
    assert 0.008 < audit.card(tmp_path / "a").facts.cost <= 0.01
    audit.run(**asked)
    whole(tmp_path / "a", server)


def test_exhausted_credit_stops_the_run(server, tmp_path):
    server.behaviour = lambda body, n, k: (
        error(429, "You exceeded your current quota", "insufficient_quota")
        if n > 20
        else hash_verdict(body, n, k)
    )
    with pytest.raises(QuotaExhaustedError, match="no credit left"):
        audit.run(**choices(server, tmp_path / "a"))
    assert 20 == len([r for r in answers(tmp_path / "a")[0] if r["outcome"]])
    assert 1 == len(server.batches)


def test_a_batch_that_is_refused_leaves_nothing_behind(server, tmp_path):
    server.end = "failed"
    server.errors = [{"code": "model_not_found", "message": "The model `toy` does not exist"}]
    with pytest.raises(ConfigError, match="refused batch 0001: model_not_found: The model `toy`"):
        audit.run(**choices(server, tmp_path / "a"))
    assert not (tmp_path / "a" / "ledger.sqlite").exists()
    assert not (tmp_path / "a" / "batch").exists()
    server.end = "completed"
    audit.run(**choices(server, tmp_path / "a", judge="direct:other"))
    whole(tmp_path / "a", server)


def test_a_provider_without_room_says_so(server, tmp_path):
    server.end = "failed"
    server.errors = [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached"}]
    with pytest.raises(JudgeError, match=r"no room for these batches.*--batch-requests"):
        audit.run(**choices(server, tmp_path / "a"))
    server.end = "completed"
    audit.run(**choices(server, tmp_path / "a"))
    whole(tmp_path / "a", server)


def test_a_refused_key_is_no_batch_and_is_not_repeated(server, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-wrong-wrong-wrong")
    server.key = "sk-right-right-right"
    with pytest.raises(ConfigError, match="Check the key in OPENAI_API_KEY") as caught:
        audit.run(**choices(server, tmp_path / "a"))
    assert "sk-wrong" not in str(caught.value)
    assert not (tmp_path / "a" / "batch").exists()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-right-right-right")
    audit.run(**choices(server, tmp_path / "a"))
    whole(tmp_path / "a", server)
    kept = b"".join(p.read_bytes() for p in (tmp_path / "a").rglob("*") if p.is_file())
    assert b"sk-right" not in kept


def test_a_server_without_batches_says_so(tmp_path, monkeypatch):
    from loopback import Loopback

    with Loopback("hash") as plain, pytest.raises(ConfigError, match="has no /files"):
        audit.run(
            **SMALL, judge="direct:toy", api_base=plain.api_base, out=tmp_path / "a", batch=True
        )
    assert not (tmp_path / "a" / "ledger.sqlite").exists()


def test_nobody_at_the_address_is_said(tmp_path):
    with pytest.raises(ConfigError, match="no server answers at"):
        audit.run(
            **SMALL, judge="direct:toy", api_base="http://127.0.0.1:9/v1", out=tmp_path / "a",
            batch=True, attempts=1,
        )  # fmt: skip
    assert not (tmp_path / "a" / "ledger.sqlite").exists()
    assert not (tmp_path / "a" / "batch").exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"judge": "scripted:brittle_t4", "api_base": None}, "not behind a server"),
        ({"executor": "ray"}, "--executor ray does not go with --batch"),
        ({"retry_truncated": 99}, "--retry-truncated does not go with --batch"),
    ],
)
def test_choices_that_do_not_go_with_batches_are_refused(server, tmp_path, more, said):
    with pytest.raises(ConfigError, match=said):
        prepared(server, tmp_path / "a", **more)


def test_the_manifest_of_another_run_is_refused(server, tmp_path):
    audit.run(**choices(server, tmp_path / "a"))
    (tmp_path / "a" / "ledger.sqlite").unlink()
    with pytest.raises(LedgerError, match="batches here are of another run: plan_sha256"):
        audit.run(**choices(server, tmp_path / "a", judge="direct:other"))
    path = tmp_path / "a" / "batch" / "manifest.json"
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(LedgerError, match="manifest of the batches cannot be read"):
        audit.run(**choices(server, tmp_path / "a"))
    with pytest.raises(ConfigError, match="this run has no batches"):
        Book.read(tmp_path)


def test_what_the_judge_accepts_is_found_out_before_the_files_are_written(server, tmp_path):
    asked = choices(server, tmp_path / "a", output_format="auto")
    result = audit.run(**asked)
    assert {"json_schema"} == {b["response_format"]["type"] for b in server.bodies}
    assert 0 < len(server.single) <= 3
    assert N + len(server.single) == result.facts.requests
    probes = len(server.single)
    audit.run(**asked)
    assert (probes, 1) == (len(server.single), len(server.batches))


def test_confidence_comes_from_where_single_requests_have_it(server, tmp_path):
    def told(body, _n, _k):
        p = int(prompt_key(body)[:4], 16) % 90 / 100 + 0.05
        said = "UNSAFE" if p > 0.5 else "SAFE"
        top = [
            {"token": "UNSAFE", "logprob": math.log(p)},
            {"token": "SAFE", "logprob": math.log(1 - p)},
        ]
        token = next(x for x in top if x["token"] == said)
        whole = completion(said)
        whole["choices"][0]["logprobs"] = {"content": [token | {"top_logprobs": top}]}
        return Answer(body=whole)

    server.behaviour = told
    audit.run(**choices(server, tmp_path / "a", logprobs=True))
    audit.run(**choices(server, tmp_path / "b", logprobs=True, batch=False))
    one, two = ([r["confidence"] for r in answers(tmp_path / x)[0]] for x in "ab")
    assert one == two
    assert len(set(one)) > 3
    assert all(c is not None and c >= 0.5 for c in one)
