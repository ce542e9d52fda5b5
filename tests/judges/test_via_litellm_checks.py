"""What the LiteLLM door refuses before a call, and what its probe finds out."""

from __future__ import annotations

import asyncio

import pytest
from judge_world import PROMPT, SENTINEL, Door, ask, both_doors, call, judge_of, spec_of
from loopback import Loopback

from judgeaudit.core.errors import ConfigError, QuotaExhaustedError, TransientError
from judgeaudit.core.records import JudgeSpec, Reply
from judgeaudit.judges.base import ProbedJudge
from judgeaudit.judges.via_litellm import LiteLLMJudge


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def probe(judge: Door) -> Reply:
    async def one() -> Reply:
        try:
            return await judge.probe()
        finally:
            await judge.aclose()

    return asyncio.run(one())


# -- what is refused before any call -----------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("openai/gpt-5.4-mini", "OPENAI_API_KEY"),
        ("anthropic/claude-haiku-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.5-flash", "GEMINI_API_KEY"),
        ("mistral/mistral-small", "MISTRAL_API_KEY"),
    ],
)
@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_is_named(model, variable, value, monkeypatch):
    for name in (variable, "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    if value is not None:
        monkeypatch.setenv(variable, value)
    with pytest.raises(ConfigError, match=variable):
        LiteLLMJudge(JudgeSpec(backend="litellm", model=model))


@pytest.mark.parametrize(
    ("model", "variable"),
    [("together_ai/m", "TOGETHER_API_KEY"), ("perplexity/sonar", "PERPLEXITY_API_KEY")],
)
def test_other_spellings_of_a_key_that_litellm_reads_are_accepted(model, variable, monkeypatch):
    monkeypatch.setenv(variable, SENTINEL)
    assert LiteLLMJudge(JudgeSpec(backend="litellm", model=model)).spec.model == model


@both_doors
def test_a_server_of_ones_own_needs_no_key_and_gets_a_dummy(model):
    with Loopback() as server:
        ask(server, model=model)
    assert server.seen[0].headers["authorization"] == "Bearer no-key"


@both_doors
def test_a_key_that_is_handed_over_wins_and_is_not_in_spec_or_repr(monkeypatch, model):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")

    async def one(server: Loopback) -> Door:
        judge = judge_of(spec_of(server, model=model), api_key=SENTINEL)
        await judge.ask(PROMPT, call())
        await judge.aclose()
        return judge

    with Loopback() as server:
        judge = asyncio.run(one(server))
    assert f"Bearer {SENTINEL}" == server.seen[0].headers["authorization"]
    assert "SENTINEL" not in repr(judge) + judge.spec.model_dump_json()


@pytest.mark.parametrize("model", ["nonsense", "foo/bar", ""])
def test_an_unknown_provider_says_how_to_write_a_model(model):
    with pytest.raises(ConfigError, match="provider/model"):
        LiteLLMJudge(JudgeSpec(backend="litellm", model=model))


@pytest.mark.parametrize("name", ["OPENAI_BASE_URL", "OPENAI_API_BASE"])
def test_an_endpoint_in_the_environment_alone_is_refused(name, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SENTINEL)
    monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    with pytest.raises(ConfigError, match=f"{name} is set.*--api-base"):
        LiteLLMJudge(JudgeSpec(backend="litellm", model="openai/toy"))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:8000",
        "ftp://x/v1",
        "http://",
        "",
        "http://[::1",
        "http://x:99999/v1",
        "http://x:a",
    ],
)
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(ConfigError, match="no address of a server"):
        LiteLLMJudge(JudgeSpec(backend="litellm", model="openai/toy", api_base=address))


@pytest.mark.parametrize(
    "address",
    [
        "http://me:hunter2@127.0.0.1/v1",
        "ftp://me:hunter2@127.0.0.1/v1",
        "http://127.0.0.1/v1?api_key=hunter2",
        "http://127.0.0.1/v1?key=hunter2",
    ],
)
def test_an_address_with_a_password_is_refused_without_printing_it(address):
    with pytest.raises(ConfigError) as caught:
        LiteLLMJudge(JudgeSpec(backend="litellm", model="openai/toy", api_base=address))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    "name",
    ["seed", "n", "stream", "timeout", "num_retries", "drop_params", "api_key", "extra_headers",
     "cache", "mock_response", "model", "aws_secret_access_key", "fallbacks"],
)  # fmt: skip
def test_what_is_no_decoding_parameter_is_refused_by_name(name):
    with pytest.raises(ConfigError, match=name) as caught:
        LiteLLMJudge(
            JudgeSpec(
                backend="litellm",
                model="openai/toy",
                api_base="http://127.0.0.1:9/v1",
                decoding={name: SENTINEL},
            )
        )
    assert "SENTINEL" not in str(caught.value)


def test_a_key_inside_of_a_nested_parameter_is_refused():
    decoding = {"extra_body": {"options": [{"api_key": SENTINEL}]}}
    spec = JudgeSpec(backend="litellm", model="openai/toy", decoding=decoding)
    with pytest.raises(ConfigError, match="api_key"):
        LiteLLMJudge(spec)


@both_doors
def test_parameters_that_only_sound_like_keys_or_tokens_are_sent(model):
    decoding = {"max_tokens": 9, "prompt_cache_key": "a", "stop": ["x"]}
    with Loopback() as server:
        ask(server, model=model, decoding=decoding)
    assert decoding.items() <= server.seen[0].body.items()


# -- the probe -----------------------------------------------------------------------------------


@both_doors
def test_probe_makes_one_request_with_the_judges_own_parameters(model):
    with Loopback() as server:
        judge = judge_of(
            spec_of(server, model=model, decoding={"temperature": 0.5}, sends_seed=True)
        )
        assert isinstance(judge, ProbedJudge)
        assert probe(judge).served_model == "loopback-1"
    assert server.n_requests == 1
    assert {"temperature", "seed"} <= set(server.seen[0].body)


@both_doors
def test_probe_where_nobody_listens(model):
    with Loopback() as server:
        pass
    with pytest.raises(ConfigError) as caught:
        probe(judge_of(spec_of(server, model=model)))
    assert server.api_base in str(caught.value)
    assert "Start the server" in str(caught.value)


@both_doors
def test_probe_with_a_wrong_key_names_the_variable(monkeypatch, model):
    monkeypatch.setenv("OPENAI_API_KEY", SENTINEL)
    with Loopback(key="another") as server, pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        probe(judge_of(spec_of(server, model=model)))


@both_doors
def test_probe_of_an_unknown_model_lists_what_the_server_has(model):
    with Loopback("404") as server, pytest.raises(ConfigError, match="lists loopback-1"):
        probe(judge_of(spec_of(server, model=model)))
    assert server.n_requests == 1


@both_doors
def test_probe_names_a_refused_temperature(model):
    with Loopback("no_temperature") as server, pytest.raises(ConfigError, match="Take temperature"):
        probe(judge_of(spec_of(server, model=model, decoding={"temperature": 0})))


@both_doors
def test_probe_of_a_busy_server_is_no_mistake_of_the_user(model):
    with Loopback("503") as server, pytest.raises(TransientError):
        probe(judge_of(spec_of(server, model=model)))
    with Loopback("quota") as server, pytest.raises(QuotaExhaustedError):
        probe(judge_of(spec_of(server, model=model)))
