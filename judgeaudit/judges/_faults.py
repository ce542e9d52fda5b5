"""From what a failed request left behind to one of our errors.

LiteLLM's class names alone mislead: a cut connection and unreadable JSON arrive as
`InternalServerError` with a status 500 that no server sent, exhausted credit as `RateLimitError`.
So the whole chain of causes is read: the status a server really sent, the error body, the headers.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

from judgeaudit.core.errors import JudgeError, PermanentError, QuotaExhaustedError, TransientError

__all__ = ["Facts", "Fault", "chain", "gather", "read_fault", "retry_after"]

_DEEPEST: Final = 16

_FILTER: Final = frozenset(
    {
        "content_filter",
        "content_policy_violation",
        "litellm.contentpolicyviolationerror",  # where a provider has no code of its own
        "moderation_blocked",
        "responsibleaipolicyviolation",
    }
)
_QUOTA: Final = frozenset(
    {
        "billing_error",
        "billing_hard_limit_reached",
        "billing_not_active",
        "credit_balance_too_low",
        "insufficient_balance",
        "insufficient_credits",
        "insufficient_quota",
        "payment_required",
    }
)
# Where a provider has no code for it. Only at the beginning: further on a message may quote the
# prompt, and trajectories speak of money. Not "exceeded your current quota": one provider words its
# limit per minute so.
_QUOTA_WORDS: Final = re.compile(
    r".{0,40}(?:credit balance is too low|out of credits)", re.IGNORECASE
)
_TOO_LONG: Final = frozenset(
    {"context_length_exceeded", "litellm.contextwindowexceedederror", "exceed_context_size_error"}
)
_PARAMETER: Final = frozenset(
    {"unsupported_parameter", "unsupported_value", "litellm.unsupportedparamserror"}
)
_PARAMETER_WORDS: Final = re.compile(
    r"support (?:parameters: )?\[?['\"`]?(?P<a>\w+)['\"`]?(?:\]|=)"
    r"|unsupported (?:value|parameter): ['\"`](?P<b>\w+)"
    r"|unrecognized request arguments? supplied: (?P<c>\w+)",
    re.IGNORECASE,
)
_NO_KEY: Final = re.compile(
    r"missing credentials|missing .{0,30}api.?key|no api.?key", re.IGNORECASE
)
_UNREADABLE: Final = re.compile(
    r"unable to get json response|invalid response object|invalid response from llm"
    r"|provider returned (?:a response with no )?'choices'",
    re.IGNORECASE,
)
_UNREACHED: Final = re.compile(
    r"cannot connect to host|connect call failed|connection refused|name or service not known"
    r"|name resolution|nodename nor servname|no address associated|connection attempts failed",
    re.IGNORECASE,
)
_TLS: Final = re.compile(r"certificate verify failed|\[SSL: ", re.IGNORECASE)
_UNCONNECTED: Final = frozenset(
    {"connectionrefusederror", "connectiontimeouterror", "connecttimeout"}
)
_TRANSPORT: Final = frozenset(
    {
        "apiconnectionerror",
        "clientconnectionerror",
        "clientoserror",
        "clientpayloaderror",
        "connecterror",
        "connectionreseterror",
        "readerror",
        "remoteprotocolerror",
        "serverdisconnectederror",
        "writeerror",
    }
)
_TIMEOUT: Final = frozenset(
    {"apitimeouterror", "litellm.timeout", "timeoutexception", "timeouterror"}
)
_WRAPPING: Final = re.compile(
    r"\A(?:(?:litellm\.)?\w*(?:Error|Timeout|Exception)\w*(?::| -|(?= \w*(?:Error|Exception)))\s+)+"
)
# LiteLLM's own advice in its messages, which this door does not take.
_ADVICE: Final = re.compile(r"\s*To drop (?:these|unsupported).*", re.DOTALL)
_ASK_AGAIN: Final = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a failed request.

    Parameters
    ----------
    status : int, optional
        The status that a server sent; None where none answered.
    claimed : int, optional
        The status that the library made up or passed on.
    code : str, optional
        The provider's own error code or type.
    kinds : frozenset of str
        All codes, types and class names of the chain of causes, in lower case; LiteLLM's own
        classes as `litellm.<name>`, without their bases, which it chooses loosely.
    parameter : str, optional
        The request parameter that the error is about.
    message : str
        The provider's words, else the library's without its wrapping; may hold a key.
    headers : mapping
        Of the response; names in lower case.
    everything : str
        All messages of the chain; may hold a key.
    """

    status: int | None
    claimed: int | None
    code: str | None
    kinds: frozenset[str]
    parameter: str | None
    message: str
    headers: Mapping[str, str]
    everything: str


@dataclass(frozen=True, slots=True)
class Fault:
    """What a failure means: the error to raise, or a content filter's stop.

    Parameters
    ----------
    kind : type of JudgeError, optional
        None for a content filter: that is an outcome of the judge, not a failure.
    what, mend, code
        For the error; without the provider's words.
    quotes : bool
        Whether the provider's words say more than `what`.
    parameter : str, optional
        The request parameter that is refused.
    """

    kind: type[JudgeError] | None
    what: str
    mend: str | None = None
    code: str | None = None
    quotes: bool = True
    parameter: str | None = None


def gather(exc: BaseException) -> Facts:
    """Collect the facts of an exception and of its causes."""
    causes = list(chain(exc))
    bodies = [b for b in map(_error_body, causes) if b]
    headers: dict[str, str] = {}
    for x in reversed(causes):
        headers |= _headers(x)
    everything = "\n".join(map(_words, causes))
    codes = [str(b[k]) for k in ("code", "status", "type") for b in bodies if b.get(k)]
    codes += [c for x in causes if isinstance(c := getattr(x, "code", None), str)]
    codes = [c for c in codes if not c.isdigit()]
    said = [m for b in bodies if isinstance(m := b.get("message"), str) and m]
    parameters = [p for b in bodies if isinstance(p := b.get("param"), str) and p]
    if found := _PARAMETER_WORDS.search(everything):
        parameters += [g for g in found.groups() if g]
    return Facts(
        status=next((s for x in reversed(causes) if (s := _sent_status(x))), None),
        claimed=s if isinstance(s := getattr(exc, "status_code", None), int) else None,
        code=codes[0] if codes else None,
        kinds=frozenset({c.lower() for c in codes} | {k for x in causes for k in _class_names(x)}),
        parameter=parameters[0] if parameters else None,
        message=said[0] if said else _unwrapped(_words(exc)),
        headers=headers,
        everything=everything,
    )


def read_fault(f: Facts, key_name: str | None, address: str) -> Fault:
    """Decide what a failure means.

    Parameters
    ----------
    f : Facts
        Of the failed request.
    key_name : str, optional
        The environment variable that holds the key.
    address : str
        Where the request was sent, in words.
    """
    if f.kinds & _FILTER:
        return Fault(None, "content_filter")
    status = f.status or f.claimed or 0
    unsent = "refused before it was sent" if 400 <= status < 500 else "the request failed"
    head = f"HTTP {f.status}" if f.status else unsent
    head += f" ({f.code})" if f.code else ""
    if named := _named(f, status, head):
        return named
    if f.status is None and (silent := _unanswered(f, key_name, address)):
        return silent
    if status in _ASK_AGAIN or status >= 500:
        return Fault(TransientError, head, code=f.code)
    mend = {
        401: f"Check the key in {key_name}" if key_name else "Check the key in the environment",
        403: "Check what this key may use",
        404: _not_found(address),
    }.get(status)
    return Fault(PermanentError, head, mend, f.code)


def _not_found(address: str) -> str:
    mend = "Check the model's name and the address of the server"
    if address.startswith("http") and urlsplit(address).path.strip("/") == "":
        mend += f"; most servers answer below /v1: {address.rstrip('/')}/v1"
    return mend


def _named(f: Facts, status: int, head: str) -> Fault | None:
    """Decide about a failure that its code names."""
    if f.kinds & _QUOTA or status == 402 or _QUOTA_WORDS.match(f.message):
        mend = "Top it up and run the same command again: no answer is paid twice"
        code = f.code or "insufficient_quota"
        return Fault(QuotaExhaustedError, f"the account has no credit left, {head}", mend, code)
    if f.kinds & _TOO_LONG:
        mend = "Choose a model with a longer context, or leave the item out"
        what = f"the prompt does not fit the model's context, {head}"
        return Fault(PermanentError, what, mend, "context_length_exceeded")
    if f.kinds & _PARAMETER:
        named = f.parameter or "(which it does not name)"
        mend = f"Take {named} out of the judge's decoding, or give --drop-unsupported: nothing is "
        mend += "dropped silently"
        what = f"the model refuses the parameter {named}, {head}"
        code = "unsupported_parameter"
        return Fault(PermanentError, what, mend, code, parameter=f.parameter)
    return None


def _unanswered(f: Facts, key_name: str | None, address: str) -> Fault | None:
    """Decide about a failure for which no server sent an error status."""
    if f.kinds & {"jsondecodeerror"} or _UNREADABLE.search(f.everything):
        what = "the server answered with a body that is no chat completion"
        return Fault(TransientError, what, code="unreadable_body", quotes=False)
    if _UNREACHED.search(f.everything) or f.kinds & _UNCONNECTED:
        return _unreached(f, address)
    if f.kinds & _TIMEOUT:
        return Fault(TransientError, "no answer in time", code="timeout", quotes=False)
    if _NO_KEY.search(f.everything):
        mend = f"Set {key_name}" if key_name else "Set it in the environment"
        return Fault(PermanentError, "no key for this provider", mend, "missing_key")
    if f.kinds & _TRANSPORT:
        cut = "payload" in f.everything.lower() or "incomplete" in f.everything.lower()
        what = "the connection was cut in mid-answer" if cut else "the connection was lost"
        return Fault(TransientError, what, code="connection", quotes=False)
    return None


def _unreached(f: Facts, address: str) -> Fault:
    what, mend = f"no server answers at {address}", "Start the server, or correct its address"
    if _TLS.search(f.everything):
        what = f"no TLS connection to {address}"
        mend = "Correct the address (http or https), or name the authority that signed the "
        mend += "server's certificate in SSL_CERT_FILE"
    return Fault(TransientError, what, mend, "unreachable", quotes=False)


def retry_after(headers: Mapping[str, str], now: dt.datetime) -> float | None:
    """Return how many seconds a server asks us to wait, or None.

    Parameters
    ----------
    headers : mapping
        Names in lower case. `retry-after` holds seconds or an HTTP date; `retry-after-ms`
        milliseconds.
    now : datetime
        Aware. Where the server sent its own `date`, that is used instead: clocks differ.
    """
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        said = headers.get(name, "").strip()
        try:
            seconds = float(said) / unit
        except ValueError:
            continue
        return max(0.0, seconds) if math.isfinite(seconds) else None
    until = _date(headers.get("retry-after"))
    if until is None:
        return None
    return max(0.0, (until - (_date(headers.get("date")) or now)).total_seconds())


def _date(said: str | None) -> dt.datetime | None:
    try:
        found = parsedate_to_datetime(said or "")
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=dt.UTC)


def chain(exc: BaseException) -> Iterator[BaseException]:
    """Go from an exception to its causes."""
    seen: set[int] = set()
    at: BaseException | None = exc
    while at is not None and id(at) not in seen and len(seen) < _DEEPEST:
        seen.add(id(at))
        yield at
        at = at.__cause__ or at.__context__


def _class_names(x: BaseException) -> Iterator[str]:
    if type(x).__module__.startswith("litellm"):
        yield f"litellm.{type(x).__name__.lower()}"
    else:
        yield from (k.__name__.lower() for k in type(x).__mro__)


def _words(x: BaseException) -> str:
    text = getattr(x, "message", None)
    return text if isinstance(text, str) and text else str(x)


def _unwrapped(words: str) -> str:
    return _ADVICE.sub("", _WRAPPING.sub("", words).partition("Traceback")[0])


def _sent_status(x: BaseException) -> int | None:
    """Return the status of a response that came over the wire, not of one made up."""
    if type(x).__module__.startswith("litellm") and "HTTPStatusError" not in type(x).__name__:
        return None
    status = getattr(getattr(x, "response", None), "status_code", None)
    return status if isinstance(status, int) and status >= 400 else None


def _headers(x: BaseException) -> dict[str, str]:
    out: dict[str, str] = {}
    for held in (getattr(x, "litellm_response_headers", None), getattr(x, "response", None)):
        found = getattr(held, "headers", held)
        if isinstance(found, Mapping):
            named = ((str(k).lower().removeprefix("llm_provider-"), v) for k, v in found.items())
            out |= {k: str(v) for k, v in named}
    return out


def _error_body(x: BaseException) -> dict[str, Any] | None:
    """Return the provider's error object: from `body`, or from JSON inside the message."""
    body = getattr(x, "body", None)
    if not isinstance(body, dict):
        text = _words(x)
        start = text.find("{")
        if start < 0:
            return None
        try:
            body, _ = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            return None
    inner = body.get("error", body) if isinstance(body, dict) else None
    return inner if isinstance(inner, dict) else None
