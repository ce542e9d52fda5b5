"""The fault matrix: every class of fault through every door and the runner, against a real server.

Each row is a way in which a server can fail. Over each door the outcome, the class in the ledger
and the exact number of requests that the server saw are the same.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from engine_world import make_plan, open_ledger
from judge_world import both_doors, judge_of, spec_of
from loopback import BEHAVIOURS, Answer, Loopback, always, error, hash_verdict, in_turn

from judgeaudit.core.errors import ConfigError, JudgeAuditError, JudgeError, QuotaExhaustedError
from judgeaudit.engine.door import run_plan_sync
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits

N = 8  # calls of preset "paper" on one item
ATTEMPTS = 2


class Fault(NamedTuple):
    """What becomes of an audit whose server fails in one way.

    `kind` is the class in the ledger, `requests` what a failing call costs. `fresh` is what a
    server that fails from the start ends in, `said` what its one line holds; without it, the first
    failures are those of items. `stops`: once this comes in mid-run, nothing more is asked.
    """

    behaviour: Any
    kind: str
    requests: int
    fresh: type[JudgeAuditError]
    said: str
    alone: bool = True
    stops: bool = False


def named(name: str, *rest: Any, **more: Any) -> Fault:
    return Fault(BEHAVIOURS[name], *rest, **more)


def late(name: str) -> Fault:
    return named(name, "timeout", ATTEMPTS, JudgeError, "no answer within")


def limited(**headers: str) -> Fault:
    answer = error(429, "Rate limit reached", "rate_limit_exceeded", **headers)
    return Fault(always(answer), "rate_limit", ATTEMPTS, JudgeError, "HTTP 429")


DATE = {"Retry_After": "Mon, 30 Nov 2026 12:00:00 GMT", "Date": "Mon, 30 Nov 2026 12:00:00 GMT"}
UNSUPPORTED = error(
    400, "Unsupported parameter: 'temperature' is not supported", "unsupported_parameter"
)

FAULTS: dict[str, Fault] = {
    "500": named("500", "server", ATTEMPTS, JudgeError, "HTTP 500"),
    "503": named("503", "server", ATTEMPTS, JudgeError, "HTTP 503"),
    "proxy page": Fault(
        always(Answer(502, "<html>bad gateway</html>")), "server", ATTEMPTS, JudgeError, "HTTP 502"
    ),
    "429 bare": limited(),
    "429 seconds": limited(Retry_After="0.02"),
    "429 date": limited(**DATE),
    "quota": named("quota", "quota", 1, QuotaExhaustedError, "no credit left", stops=True),
    "402": named("402", "quota", 1, QuotaExhaustedError, "no credit left", stops=True),
    "context length": named(
        "context_length", "context_too_long", 1, JudgeError, "all 8 calls failed", alone=False
    ),
    "hang": late("hang"),
    "drip": late("drip"),
    "reset": named("reset", "connection", ATTEMPTS, JudgeError, "connection was lost"),
    "cut": named("cut", "connection", ATTEMPTS, JudgeError, "cut in mid-answer"),
    "broken JSON": named("malformed", "unreadable", ATTEMPTS, JudgeError, "no chat completion"),
    "page": named("not_json", "unreadable", ATTEMPTS, JudgeError, "no chat completion"),
    "empty body": Fault(
        always(Answer(body="")), "unreadable", ATTEMPTS, JudgeError, "no chat completion"
    ),
    "401": named("401", "authentication", 1, ConfigError, "OPENAI_API_KEY"),
    "403": named("403", "authentication", 1, ConfigError, "what this key may use"),
    "404": named("404", "not_found", 1, ConfigError, "The server lists loopback-1"),
    "unsupported": Fault(
        always(UNSUPPORTED), "bad_request", 1, ConfigError, "refuses the parameter temperature"
    ),
    "bad request": named("bad_request", "bad_request", 1, JudgeError, "Invalid value"),
}
ANSWERS = {
    "hash": "verdict",
    "think_then_fence": "verdict",
    "refusal": "refusal",
    "content_filter": "refusal",
    "length": "truncated",
    "empty": "unparseable",
    "null_content": "unparseable",
    "no_choices": "unparseable",
}


def run(path, server, model, *, n_items=1, **limits):
    spec = spec_of(server, model=model, decoding={"temperature": 1.0}, sends_seed=True)
    plan = make_plan(n_items, "paper", spec=spec)
    fast = {
        "backoff_first": 0.01,
        "backoff_most": 0.01,
        "attempts": ATTEMPTS,
        "attempt_seconds": 5.0,
    }
    with open_ledger(path, plan) as ledger:
        judge = judge_of(spec)
        judge.attempt_seconds = limits.get("attempt_seconds", 5.0)
        return run_plan_sync(plan, judge, ledger, limits=Limits(**{**fast, **limits}))


def seconds_for(fault: Fault) -> float:
    # a busy machine must have sent the request by then
    return 1.0 if fault.kind == "timeout" else 5.0


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


@both_doors
@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_of_any_kind_is_one_request_and_one_outcome(path, name, model):
    with Loopback(name) as server:
        summary = run(path, server, model)
        assert server.n_requests == N
        assert len({s.body["seed"] for s in server.seen}) == N
    assert summary.outcomes == {ANSWERS[name]: N}
    with Ledger.open_readonly(path) as view:
        assert ([], N) == (view.failures(), view.n_answered)


@both_doors
@pytest.mark.parametrize("name", FAULTS)
def test_a_server_that_fails_from_the_start_costs_one_call(path, name, model):
    fault = FAULTS[name]
    with Loopback(fault.behaviour) as server:
        with pytest.raises(fault.fresh) as caught:
            run(path, server, model, attempt_seconds=seconds_for(fault))
        assert server.n_requests == fault.requests * (1 if fault.alone else N)
    assert type(caught.value) is fault.fresh
    assert fault.said in str(caught.value)
    assert "\n" not in str(caught.value)


@both_doors
@pytest.mark.parametrize("name", FAULTS)
def test_a_server_that_fails_in_mid_run_costs_what_is_allowed_and_no_verdict(path, name, model):
    fault = FAULTS[name]
    with Loopback(in_turn(hash_verdict, fault.behaviour)) as server:
        seconds = seconds_for(fault)
        if fault.stops:
            with pytest.raises(fault.fresh):
                run(path, server, model, attempt_seconds=seconds, concurrency=1)
            failed = 1
        else:
            summary = run(path, server, model, attempt_seconds=seconds)
            failed = N - 1
            assert summary.outcomes == {"verdict": 1, "error": failed}
        assert server.n_requests == 1 + failed * fault.requests
        with Ledger.open_readonly(path) as view:
            found = [(f["class"], f["attempts"]) for f in view.failures()]
            assert found == [(fault.kind, fault.requests)] * failed
            assert view.n_answered == 1
        # mended: what failed is asked again, what was answered is not
        server.behaviour = hash_verdict
        assert run(path, server, model).answered == N - 1
        assert server.n_requests == 1 + failed * fault.requests + N - 1


@both_doors
def test_no_server_at_all_is_told_after_two_tries(path, model):
    with Loopback() as server:
        pass
    with pytest.raises(ConfigError, match=r"the first call failed: .*no server answers at http"):
        run(path, server, model, attempts=5)


@both_doors
@pytest.mark.parametrize("date", [False, True])
def test_retry_after_is_waited_for_and_costs_one_request(path, date, model):
    headers = {"Retry_After": "1"}
    if date:
        headers = {**DATE, "Retry_After": "Mon, 30 Nov 2026 12:00:01 GMT"}
    limited = always(error(429, "slow down", "rate_limit_exceeded", **headers))
    with Loopback(in_turn(hash_verdict, limited, hash_verdict)) as server:
        summary = run(path, server, model)
        assert server.n_requests == N + 1
    assert summary.answered == N
    assert summary.seconds >= 1


@both_doors
def test_a_truncated_answer_is_asked_for_once_more_with_more_room(path, model):
    def cut(body, n, k):
        whole = body.get("max_tokens", 0) >= 50
        return (hash_verdict if whole else BEHAVIOURS["length"])(body, n, k)

    with Loopback(cut) as server:
        summary = run(path, server, model, retry_truncated=50)
        assert server.n_requests == 2 * N
    assert summary.outcomes == {"verdict": N}


@both_doors
def test_credit_that_ends_in_mid_run_keeps_what_was_paid_and_resumes(path, model):
    quota = BEHAVIOURS["quota"]
    with Loopback(in_turn(*[hash_verdict] * 10, quota)) as server:
        with pytest.raises(QuotaExhaustedError):
            run(path, server, model, n_items=3, concurrency=1)
        assert server.n_requests == 11
        server.behaviour = hash_verdict
        assert run(path, server, model, n_items=3).answered == 3 * N - 10
        assert server.n_requests == 1 + 3 * N
        key = json.dumps(server.seen[10].body["messages"])
        assert key in {json.dumps(s.body["messages"]) for s in server.seen[11:]}
    with Ledger.open_readonly(path) as view:
        assert view.facts().served_models == {"loopback-1": 3 * N}
