"""A cut answer may be asked for once more with more room; what failed is never an answer."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from engine_world import PromptJudge, ask_all, make_plan
from loopback import BEHAVIOURS, Answer, Loopback, completion, verdict_of

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, LedgerError, PermanentError, QuotaExhaustedError
from judgeaudit.core.records import Verdict
from judgeaudit.engine.failures import FailureClass, Family, family
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.verify import broken_links

N = 30


def cut_below(cap, then=None):
    """Cut every answer that was given less room, as a model that thinks too long would be."""

    def behaviour(body, n, k):
        if body["max_tokens"] < cap:
            return Answer(body=completion('{"verdict": "UNS', finish_reason="length"))
        if then is not None:
            return then(body, n, k)
        return Answer(body=completion(json.dumps({"verdict": verdict_of(body)})))

    return behaviour


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")


def run(server, out, **more):
    return audit.run(
        **{
            "judge": "openai/loopback-1",
            "api_base": server.api_base,
            "preset": "quick",
            "limit": 6,
            "conditions": ("base", "T1"),
            "max_tokens": 40,
            "attempts": 2,
            "out": out,
            **more,
        }
    )


def test_a_cut_answer_is_asked_for_again_with_more_room_and_both_are_counted(tmp_path):
    with Loopback(cut_below(400)) as server:
        facts = run(server, tmp_path, retry_truncated=400).facts
        assert 2 * N == server.n_requests == facts.requests
        assert [40, 400] == sorted({s.body["max_tokens"] for s in server.seen})
    assert {"base": {"verdict": 18}, "T1": {"verdict": 12}} == facts.outcomes
    assert {"truncated": N} == facts.failures
    # both requests were paid for
    assert (2 * 11 * N, 2 * 7 * N) == (facts.prompt_tokens, facts.completion_tokens)
    with Ledger.open_readonly(tmp_path / "ledger.sqlite") as view:
        notes = {r["note"] for r in view.rows()}
        assert {"asked again with a cap of 400 tokens, since the first answer was cut"} == notes
        assert 'the answer was cut after 7 tokens: {"verdict": "UNS' in {
            f["message"] for f in view.failures()
        }
        assert broken_links(view) == []
        assert 400 == view.meta.extra["retry_truncated"]


def test_without_the_option_a_cut_answer_is_one_request_and_an_outcome(tmp_path):
    with Loopback(cut_below(400)) as server:
        facts = run(server, tmp_path).facts
        assert N == server.n_requests
    assert {"base": {"truncated": 18}, "T1": {"truncated": 12}} == facts.outcomes


def test_an_answer_that_is_cut_again_stays_cut_and_is_not_asked_a_third_time(tmp_path):
    with Loopback(cut_below(4000)) as server:
        facts = run(server, tmp_path, retry_truncated=400).facts
        assert 2 * N == server.n_requests == facts.requests
    assert {"base": {"truncated": 18}, "T1": {"truncated": 12}} == facts.outcomes


def test_where_asking_again_fails_the_cut_answer_is_kept(tmp_path):
    with Loopback(cut_below(400, BEHAVIOURS["bad_request"])) as server:
        facts = run(server, tmp_path, retry_truncated=400).facts
        assert 2 * N == server.n_requests == facts.requests
    assert {"base": {"truncated": 18}, "T1": {"truncated": 12}} == facts.outcomes
    with Ledger.open_readonly(tmp_path / "ledger.sqlite") as view:
        assert all("asked again with a cap of 400 tokens: " in r["note"] for r in view.rows())
        assert all(r["text"] == '{"verdict": "UNS' for r in view.rows())


def test_credit_that_ends_while_asking_again_stops_the_run(tmp_path):
    with Loopback(cut_below(400, BEHAVIOURS["quota"])) as server:
        with pytest.raises(QuotaExhaustedError):
            run(server, tmp_path, retry_truncated=400)
        assert 2 == server.n_requests
        server.behaviour = cut_below(400)
        assert N == run(server, tmp_path, retry_truncated=400).facts.n_answered


def test_it_is_part_of_what_a_run_is(tmp_path):
    with Loopback(cut_below(400)) as server:
        run(server, tmp_path)
        with pytest.raises(LedgerError, match="retry_truncated: not there → 400"):
            run(server, tmp_path, retry_truncated=400)
        with pytest.raises(ConfigError, match="no more than the cap of 40 tokens"):
            run(server, tmp_path / "b", retry_truncated=40)


def test_a_judge_that_has_no_such_door_is_told(tmp_path):
    with pytest.raises(ConfigError, match="'scripted' cannot be asked for a longer answer"):
        ask_all(tmp_path / "l", make_plan(1), PromptJudge(), retry_truncated=100)


def test_every_class_belongs_to_a_family():
    assert set(get_args(Family)) == {family(kind) for kind in get_args(FailureClass)}
    assert "permanent" == family("something new")


def test_nothing_that_failed_is_taken_for_an_answer_in_a_rerun(tmp_path):
    """Neither an error of the server, nor an answer that the reader calls an error."""
    plan = make_plan(2)

    def reader(_reply):
        return Verdict(outcome="error", note="empty")

    with pytest.raises(Exception, match="empty"):
        ask_all(tmp_path / "l", plan, PromptJudge(), reader=reader)
    assert plan.n_calls == ask_all(tmp_path / "l", plan, PromptJudge()).answered
    with Ledger.open_readonly(tmp_path / "l") as view:
        assert {"bad_request": 1} == view.facts().failures


def test_failures_are_counted_by_class(tmp_path):
    plan = make_plan(4)
    codes = {"T1": "context_length_exceeded", "T2": "content_filter", "strict": None}

    def fault(_nth, call):
        if call.condition in codes:
            raise PermanentError("no", status=400, code=codes[call.condition])

    ask_all(tmp_path / "l", plan, PromptJudge(fault), concurrency=64)
    with Ledger.open_readonly(tmp_path / "l") as view:
        counts = view.facts().failures
    assert {"bad_request": 8, "content_filter": 8, "context_too_long": 8} == counts
