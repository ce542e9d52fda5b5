"""Every error judgeaudit raises on purpose.

::

    JudgeAuditError
    ├── ConfigError            flags, audit.toml, an unknown name            exit 2
    ├── PolicyError            a policy, a transform, a rendering            exit 2
    ├── CorpusError            a dataset file, an item, a label file         exit 2
    ├── LedgerError            a ledger of another run, held, or damaged     exit 2
    ├── CardError              a card that cannot be made or read            exit 2
    └── JudgeError             a call to a judge failed                      exit 3
        ├── TransientError     may succeed if asked again (429, 5xx, timeout)
        ├── PermanentError     will not succeed if asked again (400, 401, 404)
        └── QuotaExhaustedError  the account is out of credit: stop this judge

A message names the offending value, where it stands, and what would mend it.
"""

from __future__ import annotations

__all__ = [
    "CardError",
    "ConfigError",
    "CorpusError",
    "JudgeAuditError",
    "JudgeError",
    "LedgerError",
    "PermanentError",
    "PolicyError",
    "QuotaExhaustedError",
    "TransientError",
    "unknown_name",
]


class JudgeAuditError(Exception):
    """Base of all errors raised on purpose; `str()` of it is the line a user reads.

    Parameters
    ----------
    what : str
        What is wrong, with the offending value.
    where : str, optional
        File, line, key, item or call where it stands.
    mend : str, optional
        What would mend it.
    """

    exit_code: int = 2

    def __init__(self, what: str, *, where: str | None = None, mend: str | None = None) -> None:
        self.what = what
        self.where = where
        self.mend = mend
        super().__init__(what)

    def __str__(self) -> str:
        """Join place, problem and mend into one line."""
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}. {self.mend}" if self.mend else head


class ConfigError(JudgeAuditError):
    """A flag, a configuration key or a name that does not exist."""


class PolicyError(JudgeAuditError):
    """A policy, a transform or a rendering that cannot be used."""


class CorpusError(JudgeAuditError):
    """A dataset file, an item or a label file that cannot be used."""


class LedgerError(JudgeAuditError):
    """A ledger that belongs to another run, is held by another process, or is damaged."""


class CardError(JudgeAuditError):
    """A card that cannot be made or read."""


class JudgeError(JudgeAuditError):
    """A call to a judge failed; never turned into a verdict.

    Parameters
    ----------
    what : str
        What the server or the library said, without credentials.
    status : int, optional
        HTTP status, where a server gave one.
    code : str, optional
        The provider's error code from the body (`insufficient_quota`, `content_filter`).
    retry_after : float, optional
        Seconds the server asked us to wait.
    parameter : str, optional
        The request parameter that was refused.
    """

    exit_code = 3

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        mend: str | None = None,
        status: int | None = None,
        code: str | None = None,
        retry_after: float | None = None,
        parameter: str | None = None,
    ) -> None:
        super().__init__(what, where=where, mend=mend)
        self.status = status
        self.code = code
        self.retry_after = retry_after
        self.parameter = parameter


class TransientError(JudgeError):
    """A failure that may pass: rate limit, server error, timeout, cut connection."""


class PermanentError(JudgeError):
    """A failure that asking again will not mend: bad request, bad key, unknown model."""


class QuotaExhaustedError(JudgeError):
    """The account has no credit left; the run stops, keeps everything, and can be resumed."""


def unknown_name(kind: str, name: object, known: list[str]) -> str:
    """Word the message for a name that is not registered.

    Examples
    --------
    >>> unknown_name("corpus", "rjugde", ["rjudge", "sample"])
    "unknown corpus 'rjugde'; did you mean 'rjudge'? Known: rjudge, sample"
    """
    import difflib

    close = difflib.get_close_matches(str(name), known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    return f"unknown {kind} {name!r}{hint} Known: {', '.join(sorted(known)) or 'none'}"
