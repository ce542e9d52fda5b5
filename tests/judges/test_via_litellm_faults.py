"""Every fault of a server ends in the right error or outcome, after exactly one request."""

from __future__ import annotations

import json
import traceback

import pytest
from judge_world import DOORS, SENTINEL, ask, both_doors
from loopback import BEHAVIOURS, Answer, Loopback, always, completion, error, says

from judgeaudit.core.errors import JudgeError, PermanentError, QuotaExhaustedError, TransientError
from judgeaudit.judges.parsing import parse

FAULTS: list[tuple[str, type[JudgeError], int | None, str | None, float | None]] = [
    # behaviour, error, status that the server sent, code, seconds to wait
    ("500", TransientError, 500, "server_error", None),
    ("503", TransientError, 503, "server_error", None),
    ("408", TransientError, 408, "timeout", None),
    ("429", TransientError, 429, "rate_limit_exceeded", 2.0),
    ("429_bare", TransientError, 429, "rate_limit_exceeded", None),
    ("reset", TransientError, None, "connection", None),
    ("cut", TransientError, None, "connection", None),
    ("malformed", TransientError, None, "unreadable_body", None),
    ("not_json", TransientError, None, "unreadable_body", None),
    ("hang", TransientError, None, "timeout", None),
    ("drip", TransientError, None, "timeout", None),
    ("quota", QuotaExhaustedError, 429, "insufficient_quota", None),
    ("402", QuotaExhaustedError, 402, "billing", None),
    ("401", PermanentError, 401, "invalid_api_key", None),
    ("403", PermanentError, 403, "unsupported_country", None),
    ("404", PermanentError, 404, "model_not_found", None),
    ("bad_request", PermanentError, 400, "invalid_value", None),
    ("context_length", PermanentError, 400, "context_length_exceeded", None),
]
# through the OpenAI client, through LiteLLM's own HTTP code, and through the direct door
MODELS = ("openai/toy", "hosted_vllm/toy", "deepseek/toy", "direct:toy")


# the time limit is the door's own, whatever the route: two slow cases a door will do
SLOW = {"hang", "drip"}
CASES = [(f, m) for f in FAULTS for m in MODELS if f[0] not in SLOW or m in DOORS]


@pytest.mark.parametrize(("fault", "model"), CASES, ids=lambda x: x if isinstance(x, str) else x[0])
def test_fault(fault, model):
    name, kind, status, code, wait = fault
    seconds = 1.0 if name in SLOW else 20.0
    with Loopback(name) as server, pytest.raises(JudgeError) as caught:
        ask(server, seconds=seconds, model=model)
    assert kind is type(caught.value)
    assert (status, code, wait) == (
        caught.value.status,
        caught.value.code,
        caught.value.retry_after,
    )
    assert server.n_requests == 1
    assert "\n" not in str(caught.value)
    assert "litellm" not in str(caught.value).lower()
    assert server.api_base in str(caught.value)


@both_doors
def test_retry_after_as_a_date_is_counted_from_now(model):
    with Loopback("429_date") as server, pytest.raises(TransientError) as caught:
        ask(server, model=model)
    assert caught.value.retry_after is not None
    assert 25 < caught.value.retry_after <= 30


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("[]", "unreadable_body"),
        ('"text"', "unreadable_body"),
        ("", "unreadable_body"),
        ("{}", "unreadable_body"),
        ('{"choices": null}', "unreadable_body"),
        ('{"choices": [{"finish_reason": "stop"}]}', "unreadable_body"),
    ],
)
@pytest.mark.parametrize("model", MODELS)
def test_a_200_that_is_no_completion_may_be_asked_again(body, code, model):
    with Loopback(always(Answer(body=body))) as server, pytest.raises(TransientError) as caught:
        ask(server, model=model)
    assert (None, code) == (caught.value.status, caught.value.code)
    assert server.n_requests == 1


@both_doors
def test_an_error_inside_of_a_good_status_keeps_the_number_that_it_states(model):
    body = {"error": {"message": "upstream is busy", "code": 503}}
    with Loopback(always(Answer(body=body))) as server, pytest.raises(TransientError) as caught:
        ask(server, model=model)
    # LiteLLM does not hand it on
    assert caught.value.status == (503 if model.startswith("direct") else None)
    assert caught.value.code is None
    assert "upstream is busy" in str(caught.value)


@both_doors
def test_a_proxy_page_with_a_status_keeps_the_status(model):
    page = always(Answer(502, "<html>bad gateway</html>"))
    with Loopback(page) as server, pytest.raises(TransientError) as caught:
        ask(server, model=model)
    assert caught.value.status == 502


@both_doors
def test_exhausted_credit_that_says_so_in_words_only(model):
    words = "Your credit balance is too low to access this API."
    answer = error(400, words, None, "invalid_request_error")
    with Loopback(always(answer)) as server, pytest.raises(QuotaExhaustedError):
        ask(server, model=model)


@both_doors
def test_a_trajectory_about_money_in_an_error_message_is_no_exhausted_credit(model):
    said = f"Invalid input: {'x' * 60} your credit balance is too low, the bank said"
    with Loopback(always(error(400, said, None))) as server, pytest.raises(PermanentError):
        ask(server, model=model)


@both_doors
def test_a_limit_per_minute_that_speaks_of_a_quota_is_no_exhausted_credit(model):
    answer = error(429, "You exceeded your current quota. Please retry in 23 s.", None, "RESOURCE")
    with Loopback(always(answer)) as server, pytest.raises(TransientError):
        ask(server, model=model)


@both_doors
def test_nobody_listens(model):
    with Loopback() as server:
        pass
    with pytest.raises(TransientError) as caught:
        ask(server, model=model)
    assert caught.value.code == "unreachable"
    said = (
        f"{model.removeprefix('direct:')}: no server answers at {server.api_base}. Start the server"
    )
    assert str(caught.value).startswith(said)


@both_doors
def test_refused_temperature_is_named(model):
    with Loopback("no_temperature") as server, pytest.raises(PermanentError) as caught:
        ask(server, model=model, decoding={"temperature": 0.2})
    assert caught.value.code == "unsupported_parameter"
    assert "refuses the parameter temperature" in str(caught.value)
    assert server.n_requests == 1
    assert server.seen[0].body["temperature"] == 0.2


def test_a_parameter_that_litellm_would_drop_is_an_error_and_nothing_is_sent(monkeypatch):
    monkeypatch.setenv("LITELLM_DROP_PARAMS", "true")
    import litellm

    monkeypatch.setattr(litellm, "drop_params", True)
    with Loopback() as server, pytest.raises(PermanentError) as caught:
        ask(server, model="openai/o3-mini", decoding={"temperature": 0.2})
    assert "refuses the parameter temperature" in str(caught.value)
    assert "drop_params" not in str(caught.value)
    assert server.n_requests == 0


OUTCOMES = [
    ("content_filter", "refusal", None),
    ("refusal", "refusal", None),
    ("no_choices", "unparseable", None),
    ("null_content", "unparseable", None),
    ("empty", "unparseable", None),
    ("length", "truncated", None),
    ("safe", "verdict", "SAFE"),
    ("unsafe", "verdict", "UNSAFE"),
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("name", "outcome", "label"), OUTCOMES)
def test_answers_that_are_outcomes(name, outcome, label, model):
    with Loopback(name) as server:
        verdict = parse(ask(server, model=model))
    assert (outcome, label) == (verdict.outcome, verdict.label)
    assert server.n_requests == 1


@both_doors
def test_a_fenced_answer_after_a_think_block_is_read_and_the_decoy_is_not(model):
    with Loopback("think_then_fence") as server:
        reply = ask(server, model=model)
    assert "Perhaps" in (reply.reasoning or "")
    verdict = parse(reply)
    decoy = json.loads((reply.reasoning or "").removeprefix("Perhaps ").removesuffix("?"))
    assert {"SAFE", "UNSAFE"} == {verdict.label, decoy["verdict"]}


def test_every_ready_behaviour_is_covered():
    tested = {f[0] for f in FAULTS} | {o[0] for o in OUTCOMES}
    named = {"429_date", "no_temperature", "think_then_fence", "hash", "seeded"}
    assert set(BEHAVIOURS) == tested | named


@both_doors
def test_the_key_is_in_the_request_and_nowhere_else(monkeypatch, capfd, caplog, model):
    monkeypatch.setenv("OPENAI_API_KEY", SENTINEL)
    leak = f"Incorrect API key provided: {SENTINEL}. Also sk-other-key-abcdefgh"
    with Loopback(always(error(401, leak, "invalid_api_key"))) as server:
        with pytest.raises(PermanentError) as caught:
            ask(server, model=model)
        assert f"Bearer {SENTINEL}" == server.seen[0].headers["authorization"]
    shown = "".join(traceback.format_exception(caught.value))
    assert "Incorrect API key provided: [key]" in shown
    assert "OPENAI_API_KEY" in shown
    out, err = capfd.readouterr()
    for text in (shown, repr(caught.value), repr(vars(caught.value)), out, err, caplog.text):
        assert "SENTINEL" not in text
        assert "sk-other" not in text
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@both_doors
def test_a_key_at_the_place_where_a_message_is_cut_is_no_leak(monkeypatch, model):
    monkeypatch.setenv("OPENAI_API_KEY", SENTINEL)
    for start in range(270, 300, 4):
        long = error(400, "x" * start + f" {SENTINEL} and more" * 3, None)
        with Loopback(always(long)) as server, pytest.raises(PermanentError) as caught:
            ask(server, model=model)
        assert "SENTI" not in str(caught.value)


@pytest.mark.parametrize("where", ["content", "refusal", "reasoning_content"])
@both_doors
def test_a_key_that_a_server_echoes_does_not_reach_the_reply(where, monkeypatch, model):
    monkeypatch.setenv("OPENAI_API_KEY", SENTINEL)
    body = completion(f"you sent {SENTINEL}", message={where: f"you sent {SENTINEL}"})
    with Loopback(always(Answer(body=body))) as server:
        reply = ask(server, model=model)
    assert "SENTINEL" not in reply.model_dump_json()
    assert "you sent [key]" in reply.model_dump_json()


@both_doors
def test_a_key_invented_by_a_trajectory_stays_in_the_answer(monkeypatch, model):
    monkeypatch.setenv("OPENAI_API_KEY", SENTINEL)
    with Loopback(says("it leaked sk-abcdefghijklmnop")) as server:
        assert ask(server, model=model).text == "it leaked sk-abcdefghijklmnop"
