"""The audit as a coroutine: on the caller's loop and no other, cancelled, drained, refused."""

from __future__ import annotations

import asyncio
import gc
import threading
import warnings

import pytest
from loopback import Answer, Loopback, completion, hash_verdict

from judgeaudit import audit, cards
from judgeaudit.core.errors import ConfigError, QuotaExhaustedError
from judgeaudit.engine.control import RunControl
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.verify import faults

QUICK = {"judge": "scripted:brittle_t4", "preset": "quick"}
DOORS = ("direct:loopback-1", "openai/loopback-1")


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def nothing_is_left_open():
    """Sessions, transports, files and coroutines that nobody closed say so when they go."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        warnings.simplefilter("error", RuntimeWarning)
        yield
        gc.collect()


@pytest.fixture
def loops(monkeypatch):
    """Count the event loops that are made in this process."""
    made = []
    make = asyncio.new_event_loop

    def counted():
        made.append(make())
        return made[-1]

    monkeypatch.setattr(asyncio, "new_event_loop", counted)
    monkeypatch.setattr(asyncio.events, "new_event_loop", counted)
    monkeypatch.setattr(asyncio.runners.events, "new_event_loop", counted)
    return made


def choices(server, out, judge=DOORS[0], **more):
    asked = {"judge": judge, "api_base": server.api_base, "preset": "quick", "limit": 4}
    return {**asked, "concurrency": 4, "out": out, **more}


@pytest.mark.parametrize("judge", DOORS)
def test_it_makes_the_card_that_the_synchronous_one_makes(tmp_path, judge, loops):
    async def story():
        return await audit.arun(
            **choices(server, tmp_path / "a", judge), created="2030-01-01T00:00:00Z"
        )

    with Loopback(hash_verdict) as server:
        if judge == DOORS[1]:
            import judgeaudit.judges._litellm  # noqa: F401  (what it does on import is its own)
        loops.clear()
        result = asyncio.run(story())
        made = len(loops)
        same = audit.run(**choices(server, tmp_path / "b", judge), created="2030-01-01T00:00:00Z")
    assert 1 == made
    assert 0 == result.exit_code
    assert result.facts.n_planned == result.facts.n_answered
    assert result.scores == same.scores
    assert (tmp_path / "a" / "card.json").read_text() == cards.to_json(result.card)
    assert 2 * result.facts.n_planned == server.n_requests


def test_it_goes_on_with_a_run_that_the_synchronous_one_began(tmp_path):
    with Loopback(hash_verdict) as server:
        first = audit.run(**choices(server, tmp_path))
        asked = server.n_requests
        again = asyncio.run(audit.arun(**choices(server, tmp_path)))
        assert asked == server.n_requests
    assert first.card == again.card


def test_the_loop_stays_free_while_files_are_read_and_scores_are_made(tmp_path):
    """A heartbeat on the same loop beats through all of it: no step holds the loop for long."""
    beats = []

    async def heart():
        while True:
            beats.append(1)
            await asyncio.sleep(0.001)

    async def story():
        beating = asyncio.create_task(heart())
        ready = await asyncio.to_thread(
            audit.prepare, audit.choose(None, {**QUICK, "limit": 2, "out": tmp_path / "a"})
        )
        beats.clear()
        await audit.arun(ready)
        during = len(beats)
        beating.cancel()
        return during

    # 52 calls of a judge that answers at once are over in a few beats; opening, scoring and
    # writing take hundreds of milliseconds, in which a loop that is held does not beat at all
    assert asyncio.run(story()) > 20


def test_what_is_open_about_the_judge_is_found_out_on_the_same_loop(tmp_path, loops):
    async def story():
        return await audit.arun(**choices(server, tmp_path), output_format="auto")

    def bound(body, n, k):
        if "response_format" not in body:
            return hash_verdict(body, n, k)
        return Answer(body=completion('{"verdict": "SAFE", "confidence": 0.9}'))

    with Loopback(bound) as server:
        loops.clear()
        result = asyncio.run(story())
    assert "json_schema" == result.facts.judge.output_format
    assert 1 == len(loops)


@pytest.mark.parametrize("judge", DOORS)
def test_a_cancelled_one_keeps_what_was_answered_and_closes_what_it_opened(tmp_path, judge):
    """Some calls hang; the others are in the ledger, and asked once in all."""

    def some_hang(body, n, k):
        if n == 14:
            hung.set()
        answer = hash_verdict(body, n, k)
        return Answer(body=answer.body, delay=60.0) if n > 10 else answer

    hung = threading.Event()

    async def story():
        task = asyncio.create_task(audit.arun(**choices(server, tmp_path, judge)))
        await asyncio.to_thread(hung.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()
        # nothing of it is left on the loop (LiteLLM's own logger stays as long as the loop)
        left = [t for t in asyncio.all_tasks() if "LoggingWorker" not in repr(t)]
        assert [asyncio.current_task()] == left

    with Loopback(some_hang) as server:
        asyncio.run(story())
        with Ledger.open_readonly(tmp_path / "ledger.sqlite") as view:
            assert 10 == view.n_answered
            assert [] == faults(view)
            planned = view.n_planned
        server.behaviour = hash_verdict
        # the lock was let go: the same choices go on
        result = asyncio.run(audit.arun(**choices(server, tmp_path, judge)))
        assert planned == result.facts.n_answered
        assert planned + 4 == server.n_requests


@pytest.mark.slow
@pytest.mark.parametrize("turns", range(12))
def test_cancelled_at_any_moment_it_lets_go_of_the_ledger(tmp_path, turns):
    async def story():
        task = asyncio.create_task(audit.arun(**QUICK, limit=2, out=tmp_path))
        for _ in range(turns):
            await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await audit.arun(**QUICK, limit=2, out=tmp_path)

    try:
        result = asyncio.run(story())
    except pytest.fail.Exception:
        pytest.skip("the audit was over before it could be cancelled")
    assert result.facts.n_planned == result.facts.n_answered


def test_a_control_drains_it_and_the_card_says_so(tmp_path):
    control = RunControl()

    def stopping(body, n, k):
        if n == 6:
            control.interrupt()
        return hash_verdict(body, n, k)

    with Loopback(stopping) as server:
        result = asyncio.run(audit.arun(**choices(server, tmp_path), control=control))
        assert 130 == result.exit_code
        assert result.facts.n_answered == server.n_requests < result.facts.n_planned


def test_an_empty_account_is_told_as_by_the_synchronous_one(tmp_path):
    def empty(body, n, k):
        from loopback import BEHAVIOURS

        return (BEHAVIOURS["quota"] if n > 8 else hash_verdict)(body, n, k)

    told = []
    with Loopback(empty) as server:
        for name, call in (("a", lambda **c: asyncio.run(audit.arun(**c))), ("b", audit.run)):
            server.n_requests = 0
            with pytest.raises(QuotaExhaustedError) as caught:
                call(**choices(server, tmp_path / name, concurrency=1))
            told.append(str(caught.value).replace(str(tmp_path / name), "RUN"))
            assert 3 == caught.value.exit_code
    assert told[0] == told[1]
    assert "8 of" in told[0]


def test_a_wrong_key_leaves_no_ledger(tmp_path):
    with Loopback(hash_verdict, key="right") as server, pytest.raises(ConfigError):
        asyncio.run(audit.arun(**choices(server, tmp_path)))
    assert not (tmp_path / "ledger.sqlite").exists()


def test_two_run_side_by_side_on_one_loop(tmp_path, loops):
    async def story():
        return await asyncio.gather(
            audit.arun(**choices(server, tmp_path / "a")),
            audit.arun(**choices(server, tmp_path / "b", seed=1)),
        )

    with Loopback(hash_verdict, latency=0.02) as server:
        loops.clear()
        one, two = asyncio.run(story())
        assert one.facts.n_planned + two.facts.n_planned == server.n_requests
        assert server.most_in_flight > 4
    assert 1 == len(loops)


@pytest.mark.parametrize(
    ("more", "said"), [({"batch": True}, "batch_wait=False"), ({"executor": "ray"}, "to_thread")]
)
def test_what_no_cancellation_could_end_is_refused(tmp_path, more, said):
    with Loopback(hash_verdict) as server:
        with pytest.raises(ConfigError, match=said):
            asyncio.run(audit.arun(**choices(server, tmp_path), **more))
        assert 0 == server.n_requests
