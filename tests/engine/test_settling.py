"""What a judge accepts is found out with counted requests, frozen, and never changes on the way."""

from __future__ import annotations

import json

import pytest
from judge_world import DOORS, both_doors
from loopback import BEHAVIOURS, Answer, Loopback, completion, error, hash_verdict

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, JudgeError, LedgerError
from judgeaudit.engine.budget import spent_before
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.ledger import Ledger

N = 8


def form_of(body):
    return body.get("response_format", {}).get("type", "plain")


def bound(body, n, k):
    """Answer as a model that is held to JSON does, where it is; a bare word otherwise."""
    if form_of(body) == "plain" and "friendly greeting" in json.dumps(body["messages"]):
        return Answer(body=completion("SAFE"))
    return hash_verdict(body, n, k)


def refusing(*forms, status=400, code=None, words="response_format {} is not supported"):
    def behave(body, n, k):
        form = form_of(body)
        if form in forms:
            return error(status, words.format(form), code, "invalid_request_error")
        return bound(body, n, k)

    return behave


def deaf(body, n, k):
    """Take any response_format, and do not keep to it."""
    return bound({k: v for k, v in body.items() if k != "response_format"}, n, k)


def strict(*names, then=bound):
    """Refuse these parameters, one a request."""

    def behave(body, n, k):
        for name in names:
            if name in body:
                answer = error(400, f"Unsupported parameter: '{name}'", "unsupported_parameter")
                answer.body["error"]["param"] = name
                return answer
        return then(body, n, k)

    return behave


@pytest.fixture
def choices(tmp_path):
    return {
        "preset": "quick", "limit": 1, "conditions": ("base",), "base_repeats": N, "out": tmp_path / "run",
        "attempts": 2, "attempt_seconds": 10.0,
    }  # fmt: skip


def run(server, choices, model=DOORS[1], **more):
    return audit.run(judge=model, api_base=server.api_base, **{**choices, **more})


@both_doors
@pytest.mark.parametrize(
    ("behaviour", "form", "requests"),
    [
        (bound, "json_schema", 1),
        (refusing("json_schema"), "json_mode", 2),
        (refusing("json_schema", "json_object"), "plain", 3),
        (refusing("json_schema", status=422), "json_mode", 2),
        (refusing("json_schema", code="unsupported_parameter"), "json_mode", 2),
        (deaf, "plain", 3),
    ],
    ids=["all", "no schema", "plain only", "422", "by code", "deaf"],
)
def test_the_strictest_form_that_is_accepted_is_kept(choices, behaviour, form, requests, model):
    wire = {"json_mode": "json_object"}.get(form, form)
    with Loopback(behaviour) as server:
        result = run(server, choices, model, output_format="auto")
        assert server.n_requests == requests + N
        forms = [form_of(s.body) for s in server.seen]
        assert {wire} == set(forms[requests:])
        assert ["json_schema", "json_object", "plain"][:requests] == forms[:requests]
    assert result.facts.judge.output_format == form
    assert result.facts.requests == requests + N
    assert result.facts.extra["settled"]["requests"] == requests
    assert len(result.facts.extra["settled"]["refused"]) == requests - 1


def test_a_resumed_run_takes_the_form_from_its_ledger_and_asks_nothing_anew(choices):
    with Loopback(refusing("json_schema")) as server:
        first = run(server, choices, output_format="auto")
        server.seen.clear()
        # the server learnt schemas since: the audit does not
        server.behaviour = bound
        again = run(server, choices, output_format="auto")
        assert server.seen == []
    assert again.facts.judge == first.facts.judge
    assert again.facts.requests == first.facts.requests


@pytest.mark.parametrize("form", ["json_schema", "plain"])
def test_forms_are_not_mixed_in_one_ledger(choices, form):
    with Loopback(refusing("json_schema")) as server:
        run(server, choices, output_format="auto")
        n = server.n_requests
        with pytest.raises(LedgerError, match=rf"judge\.output_format: 'json_mode' → '{form}'"):
            run(server, choices, output_format=form)
        assert server.n_requests == n


def test_a_form_that_is_refused_in_mid_run_is_a_failure_and_no_reason_to_change_it(choices):
    def later(body, n, k):
        return (bound if n <= 3 else refusing("json_schema"))(body, n, k)

    with Loopback(later) as server:
        result = run(server, choices, output_format="auto", concurrency=1)
        assert {form_of(s.body) for s in server.seen} == {"json_schema"}
        assert server.n_requests == 1 + N
    assert result.facts.n_answered == 2
    assert result.facts.failures == {"bad_request": N - 2}


def test_a_cut_answer_does_not_speak_against_a_form(choices):
    def cut(body, n, k):
        if n == 1:
            return Answer(body=completion(None, finish_reason="length"))
        return bound(body, n, k)

    with Loopback(cut) as server:
        result = run(server, choices, output_format="auto")
    assert result.facts.judge.output_format == "json_schema"


@pytest.mark.parametrize(
    ("name", "raised", "requests"),
    [
        ("401", ConfigError, 1),
        ("404", ConfigError, 1),
        ("503", JudgeError, 2),
        ("quota", JudgeError, 1),
        ("hang", JudgeError, 2),
    ],
)
def test_what_is_no_matter_of_forms_ends_the_search(choices, name, raised, requests):
    with Loopback(name) as server:
        with pytest.raises(raised):
            run(server, choices, output_format="auto", attempt_seconds=0.5)
        assert server.n_requests == requests
    assert not (choices["out"] / "ledger.sqlite").exists()


def test_a_busy_server_is_asked_again(choices):
    with Loopback(lambda b, n, k: (BEHAVIOURS["503"] if n == 1 else bound)(b, n, k)) as server:
        result = run(server, choices, output_format="auto")
    assert result.facts.judge.output_format == "json_schema"
    assert result.facts.extra["settled"]["requests"] == 2


@both_doors
def test_a_refused_parameter_ends_the_audit_and_is_named(choices, model):
    with Loopback(strict("temperature")) as server:
        with pytest.raises(ConfigError, match=r"temperature.*--drop-unsupported") as caught:
            run(server, choices, model, temperature=0.0)
        assert server.n_requests == 1
    assert caught.value.exit_code == 2


@both_doors
def test_refused_parameters_are_left_out_if_the_user_says_so_and_the_card_says_so(choices, model):
    more = {
        "temperature": 0.0,
        "max_tokens": 99,
        "send_seed": True,
        "decoding": {"top_p": 0.5, "extra_body": {"top_k": 5, "min_p": 0.1}},
        "drop_unsupported": True,
    }
    names = ("temperature", "seed", "top_k")
    with Loopback(strict(*names)) as server:
        result = run(server, choices, model, **more)
        assert server.n_requests == 4 + N
        for seen in server.seen[4:]:
            assert not set(names) & set(seen.body)
            assert (0.5, 99, 0.1) == tuple(seen.body[k] for k in ("top_p", "max_tokens", "min_p"))
        # the same command goes on without asking anew
        server.seen.clear()
        again = run(server, choices, model, **more)
        assert server.seen == []
    assert result.facts.dropped_parameters == names == again.facts.dropped_parameters
    said = [w.sentence for w in result.card.warnings if w.code == "dropped_parameters"]
    assert said == ["Not accepted by the model, so not sent: “temperature”, “seed” and “top_k”."]
    assert "temperature" not in result.facts.judge.decoding


def test_parameters_and_forms_are_found_out_together(choices):
    behaviour = strict("temperature", then=refusing("json_schema"))
    with Loopback(behaviour) as server:
        result = run(server, choices, temperature=0.0, output_format="auto", drop_unsupported=True)
        assert server.n_requests == 3 + N
    assert result.facts.judge.output_format == "json_mode"
    assert result.facts.dropped_parameters == ("temperature",)


def test_a_parameter_that_is_not_the_users_cannot_be_left_out(choices):
    with Loopback(strict("messages")) as server:
        with pytest.raises(ConfigError, match="messages"):
            run(server, choices, drop_unsupported=True)
        assert server.n_requests == 1


def test_a_ledger_without_a_parameter_refuses_one_with_it(choices):
    with Loopback(strict("temperature")) as server:
        run(server, choices, temperature=0.0, drop_unsupported=True)
        with pytest.raises(LedgerError, match=r"judge\.decoding.temperature: not there → 0.0"):
            run(server, choices, temperature=0.0)


@pytest.mark.parametrize("judge", ["scripted:quiet", "local"])
def test_judges_of_this_machine_have_nothing_to_settle(choices, judge):
    for more in ({"output_format": "auto"}, {"drop_unsupported": True}):
        with pytest.raises(ConfigError, match="does not go with judge"):
            audit.run(judge=judge, **{**choices, **more})


def test_a_plan_asks_nobody_and_says_what_is_open(choices):
    from judgeaudit.cli import _words

    with Loopback(refusing("json_schema")) as server:
        given = {**choices, "judge": "direct:toy", "api_base": server.api_base}
        open_ = audit.choose(None, {**given, "output_format": "auto", "drop_unsupported": True})
        said = _words.of_plan(audit.prepare(open_))
        assert "asked first, beside the plan: answer format" in said
        assert "refused parameters" in said
        assert server.n_requests == 0
        said = _words.of_plan(audit.settle(audit.prepare(open_)))
        assert "for json_mode answers (2 requests beside the plan)" in said
        assert "refused  json_schema: HTTP 400" in said


def test_what_it_took_to_find_out_counts_against_the_budget(choices):
    with Loopback(refusing("json_schema")) as server:
        with pytest.raises(JudgeError, match="budget"):
            run(server, choices, output_format="auto", budget_calls=5, concurrency=1)
        assert server.n_requests == 5
    with Ledger.open_readonly(choices["out"] / "ledger.sqlite") as view:
        spent = spent_before(view, Price(1.0, 2.0))
    assert (spent.calls, spent.tokens) == (5, 18 * 4)


def test_it_works_inside_of_a_running_event_loop(choices):
    import asyncio

    async def notebook(server):
        return run(server, choices, output_format="auto")

    with Loopback(bound) as server:
        assert asyncio.run(notebook(server)).facts.judge.output_format == "json_schema"
