"""Errors as OpenAI's servers word them, and which of them a failure of a judge is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from judgeaudit.core.errors import (
    ConfigError,
    PermanentError,
    QuotaExhaustedError,
    TransientError,
)

__all__ = ["FaultError", "fault_of"]

_LONGEST = 500


@dataclass(eq=False)
class FaultError(Exception):
    """An answer that is an error.

    Parameters
    ----------
    status : int
        HTTP status.
    kind, code, param
        OpenAI's `type`, `code` and `param`.
    message : str
        In words, without anything that only the server's owner should see.
    headers : mapping
        Beside those of every answer.
    """

    status: int
    message: str
    kind: str = "invalid_request_error"
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> bytes:
        """Return it as OpenAI's clients read it."""
        said: dict[str, Any] = {
            "message": self.message[:_LONGEST],
            "type": self.kind,
            "param": self.param,
            "code": self.code,
        }
        return json.dumps({"error": said}).encode("utf-8", "replace")


def fault_of(error: BaseException) -> FaultError:
    """Say which answer a failure is: never a verdict, and never a made-up one.

    What the judge inside said of its failure is for the log: it may name files and hosts.

    ================= ====== =====================================================================
    what failed       status
    ================= ====== =====================================================================
    the request       400    no trajectory, no prompt of this judge
    credit, budget    429    `insufficient_quota`
    rate limit        429    with Retry-After, as the judge inside asked
    passing           503    with Retry-After: a timeout, a cut connection, a server's own error
    for good          502    the judge inside refuses: asking again will not help
    anything else     500
    ================= ====== =====================================================================
    """
    if isinstance(error, FaultError):
        return error
    if isinstance(error, TransientError | TimeoutError):
        return _passing(error)
    if isinstance(error, ConfigError):
        where = f" ({error.where})" if error.where else ""
        mend = f" {error.mend}." if error.mend else ""
        message = f"{error.what}{where}.{mend}"
        return FaultError(400, message, code="invalid_messages", param="messages")
    for kind, made in _LASTING:
        if isinstance(error, kind):
            status, text, type_, code = made
            return FaultError(status, text, type_, code)
    raise AssertionError


_LASTING: Final = (
    (
        QuotaExhaustedError,
        (429, "the judge inside is out of credit", "insufficient_quota", "insufficient_quota"),
    ),
    (PermanentError, (502, "the judge failed", "server_error", "judge_error")),
    (
        BaseException,
        (500, "an error of this server; its log says more", "server_error", "internal_error"),
    ),
)


def _passing(error: TransientError | TimeoutError) -> FaultError:
    if isinstance(error, TimeoutError):
        message = "the judge inside did not answer in time"
        return FaultError(503, message, "server_error", "timeout", headers={"Retry-After": "1"})
    headers = {"Retry-After": str(max(1, round(error.retry_after or 1)))}
    if error.status == 429:
        message = "the judge inside is asked too often"
        return FaultError(429, message, "rate_limit_error", "rate_limit_exceeded", headers=headers)
    message = "the judge inside does not answer now"
    return FaultError(503, message, "server_error", "judge_unavailable", headers=headers)
