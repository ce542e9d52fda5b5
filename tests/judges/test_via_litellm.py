"""What the LiteLLM door sends, reads, refuses and closes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from judge_world import PROMPT, ask, both_doors, call, judge_of, spec_of
from loopback import Answer, Loopback, always, completion, says

import judgeaudit
from judgeaudit.core.errors import PermanentError
from judgeaudit.core.hashing import sha256_of
from judgeaudit.core.records import JudgePrompt, JudgeSpec, Message, Reply
from judgeaudit.judges._formats import VERDICT_GRAMMAR, VERDICT_SCHEMA
from judgeaudit.judges._litellm import price
from judgeaudit.judges.base import JUDGES
from judgeaudit.judges.parsing import parse
from judgeaudit.judges.via_litellm import LiteLLMJudge


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_it_is_the_backend_litellm():
    assert JUDGES["litellm"] is LiteLLMJudge


@both_doors
def test_messages_and_decoding_are_sent_as_they_stand(model):
    decoding = {"temperature": 0.7, "max_tokens": 33, "top_p": 0.9, "extra_body": {"top_k": 5}}
    with Loopback() as server:
        ask(server, model=model, decoding=decoding)
    sent = server.seen[0].body
    assert [m.model_dump() for m in PROMPT.messages] == sent.pop("messages")
    assert sent == {"model": "toy", "temperature": 0.7, "max_tokens": 33, "top_p": 0.9, "top_k": 5}


@pytest.mark.parametrize(
    ("output_format", "sent"),
    [
        ("plain", {}),
        ("json_mode", {"response_format": {"type": "json_object"}}),
        (
            "json_schema",
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "verdict", "strict": True, "schema": VERDICT_SCHEMA},
                }
            },
        ),
        ("grammar", {"grammar": VERDICT_GRAMMAR}),
    ],
)
@both_doors
def test_output_format(output_format, sent, model):
    with Loopback() as server:
        ask(server, model=model, output_format=output_format)
    body = server.seen[0].body
    assert sent == {k: v for k, v in body.items() if k not in {"model", "messages"}}


@both_doors
def test_a_format_of_the_specs_own_wins(model):
    own = {"grammar": 'root ::= "SAFE" | "UNSAFE"', "cache_prompt": False}
    with Loopback() as server:
        ask(server, model=model, output_format="grammar", decoding={"extra_body": own})
    assert own.items() <= server.seen[0].body.items()


def test_the_shipped_formats_are_an_instrument_and_pinned():
    """A changed schema or grammar is another judge: change this hash and the changelog together."""
    pinned = "86335ae842be229d6ef3f28804f3b911ba913796cddecadc46843b2540f30cd9"
    assert pinned == sha256_of([VERDICT_SCHEMA, VERDICT_GRAMMAR])


@pytest.mark.parametrize("model", ["openai/toy", "hosted_vllm/toy", "gemini/gemini-2.5-flash"])
def test_no_route_changes_what_the_next_call_sends(model):
    """The parameters are handed over as they are, so a route that edits them in place shows here."""

    async def twice(server: Loopback) -> None:
        judge = LiteLLMJudge(spec_of(server, model=model, output_format="json_schema"))
        before = json.dumps(judge._parameters)
        for _ in range(2):
            with contextlib.suppress(PermanentError):  # the server has no path for gemini
                await judge.ask(PROMPT, call())
        assert json.dumps(judge._parameters) == before
        await judge.aclose()

    with Loopback() as server:
        asyncio.run(twice(server))


@both_doors
def test_seeds_are_sent_only_if_the_spec_says_so_and_differ_by_call(model):
    async def seeds(server: Loopback, *, sends: bool) -> None:
        judge = judge_of(spec_of(server, model=model, sends_seed=sends))
        for condition in ("base", "T1"):
            for repeat in range(2):
                await judge.ask(PROMPT, call(condition=condition, repeat=repeat))
        await judge.aclose()

    with Loopback() as server:
        asyncio.run(seeds(server, sends=False))
        assert all("seed" not in s.body for s in server.seen)
        server.seen.clear()
        asyncio.run(seeds(server, sends=True))
        sent = [s.body["seed"] for s in server.seen]
    planned = [call(condition=c, repeat=r).seed for c in ("base", "T1") for r in range(2)]
    assert planned == sent
    assert len(set(sent)) == 4


@both_doors
def test_a_reply_holds_what_the_server_said(model):
    with Loopback() as server:
        reply = ask(server, model=model)
    assert (server.n_requests, reply.attempts) == (1, 1)
    assert (
        reply.served_model,
        reply.system_fingerprint,
        reply.request_id,
    ) == ("loopback-1", "fp_loopback", "chatcmpl-loopback")
    assert (reply.prompt_tokens, reply.completion_tokens) == (11, 7)
    assert reply.finish_reason == "stop"
    assert reply.seconds > 0
    assert parse(reply).outcome == "verdict"


@both_doors
def test_what_the_server_did_not_say_is_none(model):
    bare = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "SAFE"}}]}
    with Loopback(always(Answer(body=bare))) as server:
        reply = ask(server, model=model)
    assert reply.text == "SAFE"
    for name in (
        "served_model",
        "system_fingerprint",
        "prompt_tokens",
        "completion_tokens",
        "cost",
    ):
        assert getattr(reply, name) is None, name


@both_doors
def test_a_request_id_in_the_headers_is_kept(model):
    answer = Answer(body=completion("SAFE"), headers={"x-request-id": "req_7"})
    with Loopback(always(answer)) as server:
        assert ask(server, model=model).request_id == "req_7"


@pytest.mark.parametrize("text", ["\ud800 SAFE \udfff", "a\x00b", "\u2028\u0085", "안전 🙂"])
@both_doors
def test_any_text_comes_back_storable(text, model):
    with Loopback(says(text)) as server:
        reply = ask(server, model=model)
    assert reply == Reply.model_validate_json(reply.model_dump_json())


@both_doors
def test_a_prompt_with_lone_surrogates_is_sent(model):
    odd = JudgePrompt(messages=(Message(role="user", content="bad \ud800 half"),))

    async def one(server: Loopback) -> None:
        judge = judge_of(spec_of(server, model=model))
        await judge.ask(odd, call())
        await judge.aclose()

    with Loopback() as server:
        asyncio.run(one(server))
    assert server.seen[0].body["messages"][0]["content"] == "bad \ufffd half"


# -- cost ------------------------------------------------------------------------------------


def test_price_of_a_known_model_in_dollars_a_token():
    prompt, completion_price = price("openai/gpt-4o-mini") or (None, None)
    assert (prompt, completion_price) == (1.5e-07, 6e-07)
    assert price("gpt-4o-mini") == price("openai/gpt-4o-mini")


@pytest.mark.parametrize("model", ["openai/nobody-knows", "ollama/llama3", "nonsense", ""])
def test_an_unknown_price_is_none(model):
    assert price(model) is None


def test_a_server_of_ones_own_has_no_known_price_even_under_a_famous_name():
    assert price("openai/gpt-4o-mini", "http://127.0.0.1:8000/v1") is None
    assert price("openai/gpt-4o-mini", "https://api.openai.com/v1") is not None
    body = completion('{"verdict": "SAFE"}', model="gpt-4o-mini")
    with Loopback(always(Answer(body=body))) as server:
        assert ask(server, model="openai/gpt-4o-mini").cost is None


def test_cost_is_usage_times_price():
    async def one(server: Loopback) -> Reply:
        # azure is priced at any address: each customer has one of their own
        judge = LiteLLMJudge(spec_of(server, model="azure/gpt-4o-mini"), api_key="k")
        try:
            return await judge.ask(PROMPT, call())
        finally:
            await judge.aclose()

    with Loopback(always(Answer(body=completion("SAFE", model="gpt-4o-mini")))) as server:
        reply = asyncio.run(one(server))
    rate = price("azure/gpt-4o-mini")
    assert rate is not None
    assert pytest.approx(11 * rate[0] + 7 * rate[1]) == reply.cost


# -- many, and the end ----------------------------------------------------------------------------


@both_doors
def test_calls_in_flight_are_one_request_each_and_repeats_are_never_cached(model):
    async def many(server: Loopback) -> list[Reply]:
        judge = judge_of(spec_of(server, model=model))
        try:
            return await asyncio.gather(
                *(judge.ask(PROMPT, call(repeat=k % 20)) for k in range(60))
            )
        finally:
            await judge.aclose()

    with Loopback("seeded", latency=0.05) as server:
        replies = asyncio.run(many(server))
    assert (len(replies), server.n_requests) == (60, 60)
    assert server.most_in_flight > 10


@both_doors
def test_closing_one_judge_leaves_the_call_of_another_in_flight_alone(model):
    async def both(server: Loopback) -> None:
        one, other = judge_of(spec_of(server, model=model)), judge_of(spec_of(server, model=model))
        await one.ask(PROMPT, call())
        async with asyncio.TaskGroup() as group:
            group.create_task(other.ask(PROMPT, call()))
            while server.in_flight == 0:  # noqa: ASYNC110 - the server is in another thread
                await asyncio.sleep(0.01)
            await one.aclose()
            await one.aclose()
        await other.aclose()
        again = judge_of(spec_of(server, model=model))
        await again.ask(PROMPT, call())
        await again.aclose()

    with Loopback(latency=0.2) as server:
        for _ in range(2):
            asyncio.run(both(server))
    assert server.n_requests == 6


def test_closing_a_judge_that_was_never_asked_leaves_other_users_of_litellm_alone():
    async def story() -> None:
        import litellm

        judge = LiteLLMJudge(
            JudgeSpec(backend="litellm", model="openai/toy", api_base="http://127.0.0.1:9/v1")
        )
        litellm.in_memory_llm_clients_cache.set_cache("theirs", "client")
        await judge.aclose()
        assert litellm.in_memory_llm_clients_cache.get_cache("theirs") == "client"
        litellm.in_memory_llm_clients_cache.flush_cache()

    asyncio.run(story())


@both_doors
def test_cancelling_a_call_ends_it_as_cancelled(model):
    async def story(server: Loopback) -> None:
        judge = judge_of(spec_of(server, model=model))
        try:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await judge.ask(PROMPT, call())
        finally:
            await judge.aclose()

    with Loopback("hang") as server:
        asyncio.run(story(server))
    assert server.n_requests == 1


def child(code: str, tmp_path) -> dict[str, object]:
    # the package under test, wherever it lies
    here = str(Path(judgeaudit.__file__).parents[1])
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": here}
    run = [sys.executable, "-c", code]
    done = subprocess.run(run, cwd=tmp_path, env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return json.loads(done.stdout)


def test_the_doors_load_without_their_libraries(tmp_path):
    code = """
import json, sys, judgeaudit.judges.direct, judgeaudit.judges.via_litellm
print(json.dumps({"loaded": sorted({"litellm", "openai", "httpx", "aiohttp"} & set(sys.modules))}))
"""
    assert child(code, tmp_path) == {"loaded": []}


@pytest.mark.slow
def test_the_import_of_litellm_asks_no_network_and_reads_no_dotenv(tmp_path):
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-from-a-file\n", encoding="utf-8")
    code = """
import json, os, sys
asked = []
sys.addaudithook(lambda e, a: asked.append(str(a)) if e in ("socket.connect", "socket.getaddrinfo") else None)
import judgeaudit.judges._litellm as door
known = door.price("openai/gpt-4o-mini") is not None
print(json.dumps({"asked": asked, "key": "OPENAI_API_KEY" in os.environ, "known": known}))
"""
    assert child(code, tmp_path) == {"asked": [], "key": False, "known": True}
