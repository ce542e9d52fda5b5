"""What the loopback server may answer: replies, faults, and rules that choose between them."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, Literal

MODEL = "loopback-1"
"""The model name that the server says it served."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server does with one request."""

    status: int = 200
    body: dict[str, Any] | str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    fault: Literal["hang", "reset", "cut", "drip"] | None = None
    drip_seconds: float = 0.2  # between two bytes of a dripping body


Behaviour = Callable[[dict[str, Any], int, int], Answer]
"""(request body, n-th request, n-th request with these messages; both from 1) -> answer."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One chat request as it arrived; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    prompt: str


def prompt_key(body: Mapping[str, Any]) -> str:
    """Hash the messages of a request."""
    text = json.dumps(body.get("messages"), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def completion(
    content: str | None,
    *,
    finish_reason: str = "stop",
    model: str = MODEL,
    message: Mapping[str, Any] | None = None,
    **extra: Any,
) -> dict[str, Any]:
    """Build the body of a chat completion."""
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": model,
        "system_fingerprint": "fp_loopback",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, **(message or {})},
                "finish_reason": finish_reason,
            }
        ],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        **extra,
    }


def error(
    status: int, message: str, code: str | None, kind: str = "error", **headers: str
) -> Answer:
    """Build an error in OpenAI's form."""
    return Answer(
        status,
        {"error": {"message": message, "type": kind, "param": None, "code": code}},
        {k.replace("_", "-"): v for k, v in headers.items()},
    )


def verdict_of(body: Mapping[str, Any], salt: str = "") -> str:
    """Return the verdict that depends on the messages (and a salt) alone."""
    digest = hashlib.sha256((prompt_key(body) + salt).encode()).digest()
    return "UNSAFE" if digest[0] % 2 else "SAFE"


def says(content: str | None, **options: Any) -> Behaviour:
    """Answer the same text to everything."""
    return lambda _body, _n, _k: Answer(body=completion(content, **options))


def always(answer: Answer) -> Behaviour:
    """Give the same answer to everything."""
    return lambda _body, _n, _k: answer


def hash_verdict(body: dict[str, Any], _n: int, _k: int) -> Answer:
    """Answer by the prompt alone: the same in every process and at every repeat."""
    text = json.dumps({"verdict": verdict_of(body), "confidence": 0.9, "rationale": "by hash"})
    return Answer(body=completion(text))


def seeded_verdict(body: dict[str, Any], _n: int, _k: int) -> Answer:
    """Answer by prompt and seed: one prompt in four jitters between seeds."""
    jitters = int(prompt_key(body)[:4], 16) % 4 == 0
    verdict = verdict_of(body, salt=str(body.get("seed")) if jitters else "")
    return Answer(body=completion(json.dumps({"verdict": verdict, "confidence": 0.7})))


def think_then_fence(body: dict[str, Any], _n: int, _k: int) -> Answer:
    """Answer with a decoy in a think block, then a fenced verdict."""
    verdict = verdict_of(body)
    decoy = "SAFE" if verdict == "UNSAFE" else "UNSAFE"
    text = f'<think>Perhaps {{"verdict": "{decoy}"}}?</think>\n```json\n{{"verdict": "{verdict}"}}\n```'
    return Answer(body=completion(text))


def no_temperature(body: dict[str, Any], n: int, k: int) -> Answer:
    """Refuse any temperature but 1, as reasoning models do."""
    if body.get("temperature", 1) != 1:
        said = (
            f"Unsupported value: 'temperature' does not support {body['temperature']} "
            "with this model. Only the default (1) value is supported."
        )
        answer = error(400, said, "unsupported_value", "invalid_request_error")
        answer.body["error"]["param"] = "temperature"  # type: ignore[index]
        return answer
    return hash_verdict(body, n, k)


def first(bad: Behaviour, times: int = 1, then: Behaviour = hash_verdict) -> Behaviour:
    """Treat the first requests with each prompt badly, the later ones well."""
    return lambda body, n, k: (bad if k <= times else then)(body, n, k)


def every(nth: int, bad: Behaviour, then: Behaviour = hash_verdict) -> Behaviour:
    """Treat every n-th request badly, counted over all prompts."""
    return lambda body, n, k: (bad if n % nth == 0 else then)(body, n, k)


def in_turn(*parts: Behaviour) -> Behaviour:
    """Behave by the number of the request; the last part stays."""
    return lambda body, n, k: parts[min(n, len(parts)) - 1](body, n, k)


def _date_429(_body: dict[str, Any], _n: int, _k: int) -> Answer:
    date = formatdate(time.time() + 30, usegmt=True)
    return error(429, "Rate limit reached", "rate_limit_exceeded", "requests", Retry_After=date)


_OK = completion('{"verdict": "SAFE", "confidence": 0.9, "rationale": "calm"}')

BEHAVIOURS: dict[str, Behaviour] = {
    "hash": hash_verdict,
    "seeded": seeded_verdict,
    "safe": says('{"verdict": "SAFE"}'),
    "unsafe": says('{"verdict": "UNSAFE"}'),
    "think_then_fence": think_then_fence,
    "500": always(error(500, "The server had an error", None, "server_error")),
    "503": always(error(503, "The engine is overloaded", None, "server_error")),
    "429": always(
        error(429, "Rate limit reached", "rate_limit_exceeded", "requests", Retry_After="2")
    ),
    "429_date": _date_429,
    "429_bare": always(error(429, "Rate limit reached", "rate_limit_exceeded", "requests")),
    "quota": always(
        error(429, "You exceeded your current quota", "insufficient_quota", "insufficient_quota")
    ),
    "402": always(error(402, "Insufficient credits", None, "billing")),
    "content_filter": always(
        error(400, "The response was filtered", "content_filter", "invalid_request_error")
    ),
    "401": always(
        error(401, "Incorrect API key provided", "invalid_api_key", "invalid_request_error")
    ),
    "403": always(error(403, "Country not supported", "unsupported_country", "request_forbidden")),
    "404": always(
        error(404, "The model `x` does not exist", "model_not_found", "invalid_request_error")
    ),
    "408": always(error(408, "Request timed out", None, "timeout")),
    "context_length": always(
        error(
            400,
            "This model's maximum context length is 4096 tokens. However, your messages resulted in 9001 tokens.",
            "context_length_exceeded",
            "invalid_request_error",
        )
    ),
    "bad_request": always(
        error(400, "Invalid value: 'x'", "invalid_value", "invalid_request_error")
    ),
    "hang": always(Answer(fault="hang")),
    "reset": always(Answer(fault="reset")),
    "cut": always(Answer(body=_OK, fault="cut")),
    "drip": always(Answer(body=_OK, fault="drip")),
    "malformed": always(Answer(body='{"id": "x", "choices": [{"mess')),
    "not_json": always(Answer(body="<html>a proxy</html>")),
    "no_choices": always(Answer(body=completion("") | {"choices": []})),
    "null_content": says(None),
    "empty": says(""),
    "refusal": says(
        None, finish_reason="content_filter", message={"refusal": "I can't help with that."}
    ),
    "length": says('{"verdict": "UNS', finish_reason="length"),
    "no_temperature": no_temperature,
}
"""Ready behaviours by name."""
