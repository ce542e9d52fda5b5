"""What is read out of a failure, where no server is needed to show it."""

from __future__ import annotations

import datetime as dt

import pytest

from judgeaudit.core.errors import PermanentError, TransientError
from judgeaudit.judges._faults import gather, read_fault, retry_after

NOW = dt.datetime(2026, 11, 30, 12, 0, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": " 0.5 "}, 0.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:07 GMT"}, 7.0),
        ({"retry-after": "Mon, 30 Nov 2026 11:59:00 GMT"}, 0.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:07"}, 7.0),
        ({"retry-after": "Mon, 30 Nov 2026 13:00:07 +0100"}, 7.0),
        # the server's clock is an hour ahead, and it says so
        (
            {
                "retry-after": "Mon, 30 Nov 2026 13:00:07 GMT",
                "date": "Mon, 30 Nov 2026 13:00:00 GMT",
            },
            7.0,
        ),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:07 GMT", "date": "broken"}, 7.0),
    ],
)
def test_retry_after(headers, seconds):
    assert retry_after(headers, NOW) == seconds


def test_an_exception_of_no_known_kind_is_not_asked_again():
    fault = read_fault(gather(KeyError("x")), None, "http://x")
    assert (PermanentError, None) == (fault.kind, fault.code)


def test_a_status_that_a_library_made_up_is_not_one_that_a_server_sent():
    class WrappedError(Exception):
        status_code = 503

    WrappedError.__module__ = "litellm.exceptions"
    facts = gather(WrappedError("something inside broke"))
    assert (facts.status, facts.claimed) == (None, 503)
    assert read_fault(facts, None, "http://x").kind is TransientError


def test_a_circle_of_causes_ends():
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    assert gather(one).everything == "one\ntwo"


def test_a_body_that_is_no_object_is_no_trouble():
    for body in ([], "text", {"error": "text"}, {"error": {"code": 7, "message": None}}, {}):
        failure = ValueError("broken {")
        failure.body = body  # type: ignore[attr-defined]
        assert gather(failure).message == "broken {"
