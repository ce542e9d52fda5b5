"""Failure classes: what kind of thing went wrong with a call that has no answer."""

from __future__ import annotations

from typing import Final, Literal

from judgeaudit.core.errors import JudgeError, QuotaExhaustedError, TransientError
from judgeaudit.engine.writer import Failure

__all__ = ["UNREACHABLE", "FailureClass", "Family", "classify", "describe", "failure_row", "family"]

FailureClass = Literal[
    "rate_limit",
    "server",
    "timeout",
    "connection",
    "unreadable",
    "quota",
    "authentication",
    "not_found",
    "context_too_long",
    "content_filter",
    "truncated",
    "bad_request",
    "unexpected",
]
"""The first five may pass if asked again. `truncated`: an answer that was cut, and asked for again
with more room. `unexpected`: not an error a judge should raise."""

Family = Literal[
    "transient", "permanent", "quota", "content_filter", "context_too_long", "truncated"
]

_FAMILY: Final[dict[str, Family]] = {
    **dict.fromkeys(("rate_limit", "server", "timeout", "connection", "unreadable"), "transient"),
    "quota": "quota",
    "content_filter": "content_filter",
    "context_too_long": "context_too_long",
    "truncated": "truncated",
}

UNREACHABLE: Final = "unreachable"
"""The `code` of a TransientError where no connection could be made (refused, unknown host)."""

_MOST: Final = 1000

_BY_CODE: Final[dict[str, FailureClass]] = {
    "context_length_exceeded": "context_too_long",
    "string_above_max_length": "context_too_long",
    "content_filter": "content_filter",
    "content_policy_violation": "content_filter",
    "invalid_api_key": "authentication",
    "model_not_found": "not_found",
    "missing_key": "authentication",
    "timeout": "timeout",
    "unreadable_body": "unreadable",
}
_BY_STATUS: Final[dict[int, FailureClass]] = {
    401: "authentication",
    403: "authentication",
    404: "not_found",
    408: "timeout",
    413: "context_too_long",
    429: "rate_limit",
}


def classify(error: Exception) -> FailureClass:
    """Name the class of a failure, from its type, then the body's code, then the status.

    Examples
    --------
    >>> classify(TransientError("slow down", status=429))
    'rate_limit'
    >>> classify(KeyError("text"))
    'unexpected'
    """
    if not isinstance(error, JudgeError):
        return "unexpected"
    if isinstance(error, QuotaExhaustedError):
        return "quota"
    if error.code in _BY_CODE:
        return _BY_CODE[error.code]
    if error.status in _BY_STATUS:
        return _BY_STATUS[error.status]
    if isinstance(error, TransientError):
        return "connection" if error.status is None else "server"
    return "bad_request"


def family(kind: str) -> Family:
    """Say what a failure of a class means for whoever pays: may it pass, or never.

    Examples
    --------
    >>> family("rate_limit"), family("authentication")
    ('transient', 'permanent')
    """
    return _FAMILY.get(kind, "permanent")


def describe(error: Exception) -> str:
    """Say in one line what went wrong; an error that is not ours is named by its type."""
    if isinstance(error, JudgeError):
        place = error.where if error.where and error.where not in error.what else None
        text = f"{place}: {error.what}" if place else error.what
    else:
        text = f"{type(error).__name__}: {error}"
    return " ".join(text.split())[:_MOST]


def failure_row(call: int, error: Exception, attempts: int) -> Failure:
    """Make the ledger's row for a call that ended in an error."""
    status = code = None
    if isinstance(error, JudgeError):
        status, code = error.status, error.code
    return Failure(call, classify(error), status, code, describe(error), attempts)
