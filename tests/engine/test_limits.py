from __future__ import annotations

import asyncio

import pytest

from judgeaudit.core.errors import (
    ConfigError,
    JudgeError,
    PermanentError,
    QuotaExhaustedError,
    TransientError,
)
from judgeaudit.engine.failures import classify, failure_row
from judgeaudit.engine.limits import Gate, Limits, backoff


def test_backoff_doubles_up_to_its_cap_with_half_of_it_random():
    limits = Limits(backoff_first=1, backoff_most=8)
    for failures, most in ((1, 1), (2, 2), (3, 4), (4, 8), (5, 8), (5000, 8)):
        waits = [backoff(limits, failures, None) for _ in range(200)]
        assert most / 2 <= min(waits) < max(waits) <= most


def test_retry_after_is_a_floor_with_jitter():
    waits = [backoff(Limits(backoff_first=0.1), 1, 20.0) for _ in range(200)]
    assert 20 <= min(waits) < max(waits) <= 22
    assert backoff(Limits(backoff_first=30, backoff_most=30), 1, 0.01) >= 15


def test_bounds_must_be_positive():
    for name in ("concurrency", "attempts", "attempt_seconds", "call_seconds"):
        with pytest.raises(ConfigError, match=f"{name} is 0"):
            Limits(**{name: 0})


def test_a_longer_hold_stays():
    gate = Gate()
    gate.hold(50)
    gate.hold(1)
    assert 40 < gate.shut_for <= 50


def test_an_open_gate_does_not_wait():
    async def never(_seconds):
        raise AssertionError("waited")

    asyncio.run(Gate().passed(never))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TransientError("x", status=429), "rate_limit"),
        (TransientError("x", status=503), "server"),
        (TransientError("x"), "connection"),
        (TransientError("x", code="timeout"), "timeout"),
        (TransientError("x", code="unreadable_body"), "unreadable"),
        (QuotaExhaustedError("x", status=429), "quota"),
        (PermanentError("x", status=401), "authentication"),
        (PermanentError("x", status=404), "not_found"),
        (PermanentError("x", status=400, code="context_length_exceeded"), "context_too_long"),
        (PermanentError("x", status=400, code="content_filter"), "content_filter"),
        (PermanentError("x", status=400), "bad_request"),
        (JudgeError("x"), "bad_request"),
        (RuntimeError("x"), "unexpected"),
    ],
)
def test_failures_are_classed_by_type_code_and_status(error, kind):
    assert classify(error) == kind


def test_a_failures_message_is_one_bounded_line():
    row = failure_row(3, RuntimeError("a\nb " + "x" * 5000), 2)
    assert row.message.startswith("RuntimeError: a b xx")
    assert len(row.message) == 1000
    assert (row.call, row.kind, row.attempts) == (3, "unexpected", 2)
