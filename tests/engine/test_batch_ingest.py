"""What comes back of batches, what is paid for, and what is refused."""

from __future__ import annotations

import json
import math
import random

import pytest
from batch_world import HARD, SMALL, N, answers, choices, fetched, prepared, whole
from loopback import Answer, completion, error, hash_verdict, prompt_key
from loopback_batch import BatchServer

from judgeaudit import audit
from judgeaudit.core.errors import (
    ConfigError,
    JudgeError,
    LedgerError,
    QuotaExhaustedError,
    TransientError,
)
from judgeaudit.engine.batch import submit as batch_submit
from judgeaudit.engine.batch.manifest import Book
from judgeaudit.engine.batch.story import ingest, submit_all, write


@pytest.fixture
def server(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    # the rests between looks at the list, and between tries, are not what is tested
    monkeypatch.setattr(batch_submit, "_LOOKS", (0.0, 0.05))
    with BatchServer() as server:
        yield server


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


def test_a_guards_answers_in_a_batch_are_read_in_its_own_form(server, tmp_path):
    server.behaviour = lambda _body, n, _k: Answer(
        body=completion(["unsafe\nS1", "safe", "It says: safe"][n % 3])
    )
    result = audit.run(**choices(server, tmp_path / "run", judge_format="llama-guard"))
    counted: dict[str, int] = {}
    for outcomes in result.facts.outcomes.values():
        for name, n in outcomes.items():
            counted[name] = counted.get(name, 0) + n
    assert {"verdict", "unparseable"} == set(counted)
    assert N == sum(counted.values())
