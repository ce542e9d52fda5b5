"""The runner behind the LiteLLM door, against a real server on loopback."""

from __future__ import annotations

import json

import pytest
from engine_world import make_plan, open_ledger
from loopback import BEHAVIOURS, Loopback, always, error, hash_verdict, in_turn

from judgeaudit.core.errors import ConfigError, JudgeError, QuotaExhaustedError
from judgeaudit.core.records import JudgeSpec
from judgeaudit.engine.door import run_plan_sync
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.limits import Limits
from judgeaudit.judges.via_litellm import LiteLLMJudge

N = 8  # calls of preset "paper" on one item


def run(path, server, *, n_items=1, **limits):
    spec = JudgeSpec(
        backend="litellm",
        model="openai/loopback-1",
        api_base=server.api_base,
        decoding={"temperature": 1.0},
        sends_seed=True,
    )
    plan = make_plan(n_items, "paper", spec=spec)
    fast = {"backoff_first": 0.01, "backoff_most": 0.01, "attempts": 2, "attempt_seconds": 5.0}
    with open_ledger(path, plan) as ledger:
        return run_plan_sync(plan, LiteLLMJudge(spec), ledger, limits=Limits(**{**fast, **limits}))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.sqlite"


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("hash", "verdict"),
        ("think_then_fence", "verdict"),
        ("refusal", "refusal"),
        ("content_filter", "refusal"),
        ("length", "truncated"),
        ("empty", "unparseable"),
        ("null_content", "unparseable"),
    ],
)
def test_an_answer_of_any_kind_is_one_request_and_one_outcome(path, name, outcome):
    with Loopback(name) as server:
        summary = run(path, server)
        assert server.n_requests == N
        assert len({s.body["seed"] for s in server.seen}) == N
    assert summary.outcomes == {outcome: N}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("500", "server"),
        ("503", "server"),
        ("429_bare", "rate_limit"),
        ("reset", "connection"),
        ("cut", "connection"),
        ("malformed", "unreadable"),
        ("hang", "timeout"),
        ("drip", "timeout"),
    ],
)
def test_a_transient_fault_is_asked_exactly_as_often_as_allowed(path, name, kind):
    seconds = 0.3 if kind == "timeout" else 5.0
    with Loopback(name) as server:
        with pytest.raises(JudgeError, match="the first call failed"):
            run(path, server, attempt_seconds=seconds)
        assert server.n_requests == 2
        server.behaviour = in_turn(hash_verdict, hash_verdict, hash_verdict, server.behaviour)
        summary = run(path, server, attempt_seconds=seconds)
        assert server.n_requests == 2 + 1 + 2 * (N - 1)
    assert summary.outcomes == {"verdict": 1, "error": N - 1}
    with Ledger.open_readonly(path) as view:
        assert {(f["class"], f["attempts"]) for f in view.failures()} == {(kind, 2)}
        assert (len(view.failures()), view.n_answered) == (N, 1)


@pytest.mark.parametrize(
    ("name", "raised", "requests"),
    [("401", ConfigError, 1), ("404", ConfigError, 1), ("quota", QuotaExhaustedError, 1)],
)
def test_what_asking_again_cannot_mend_costs_one_request(path, name, raised, requests):
    with Loopback(name) as server:
        with pytest.raises(raised):
            run(path, server)
        assert server.n_requests == requests


def test_a_bad_request_is_never_asked_twice(path):
    with Loopback("bad_request") as server:
        with pytest.raises(JudgeError, match="the first call failed: 400"):
            run(path, server)
        assert server.n_requests == 1
        server.behaviour = in_turn(hash_verdict, hash_verdict, server.behaviour)
        assert run(path, server).failed == N - 1
        assert server.n_requests == 1 + N


def test_too_long_a_prompt_is_the_items_own_fault(path):
    with Loopback("context_length") as server:
        with pytest.raises(JudgeError, match="all 8 calls failed"):
            run(path, server)
        assert server.n_requests == N


def test_no_server_at_all_is_told_after_two_tries(path):
    with Loopback() as server:
        pass
    with pytest.raises(ConfigError, match=r"the first call failed: .*no server answers at http"):
        run(path, server)


def test_retry_after_is_waited_for_and_costs_one_request(path):
    limited = always(error(429, "slow down", "rate_limit_exceeded", Retry_After="0.4"))
    with Loopback(in_turn(hash_verdict, limited, hash_verdict)) as server:
        summary = run(path, server)
        assert server.n_requests == N + 1
    assert summary.answered == N
    assert summary.seconds >= 0.4


def test_credit_that_ends_in_mid_run_keeps_what_was_paid_and_resumes(path):
    quota = BEHAVIOURS["quota"]
    with Loopback(in_turn(*[hash_verdict] * 10, quota)) as server:
        with pytest.raises(QuotaExhaustedError):
            run(path, server, n_items=3, concurrency=1)
        assert server.n_requests == 11
        server.behaviour = hash_verdict
        assert run(path, server, n_items=3).answered == 3 * N - 10
        assert server.n_requests == 1 + 3 * N
        key = json.dumps(server.seen[10].body["messages"])
        assert key in {json.dumps(s.body["messages"]) for s in server.seen[11:]}
    with Ledger.open_readonly(path) as view:
        assert view.facts().served_models == {"loopback-1": 3 * N}
