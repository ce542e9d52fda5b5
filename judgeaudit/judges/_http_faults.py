"""From an error that a server sent over HTTP to what is known of it.

OpenAI-compatible servers agree on the status and on little else: `error` may be an object or a
text, a list may be round it, and what OpenAI has a code for others only say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from judgeaudit.judges._completion import NoCompletionError, load_json
from judgeaudit.judges._faults import Facts

__all__ = ["facts_of", "has_error"]

# Only near the beginning: further on a message may quote the prompt, and trajectories say anything.
_NEAR: Final = 300
_WORDS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    (
        "context_length_exceeded",
        re.compile(
            r"maximum context length|model's maximum context"
            r"|exceed(?:s|ed)? (?:the )?(?:available )?context"
            r"|longer than the model's context|prompt is too long|maximum input length is"
            r"|input tokens exceed|exceeds the maximum number of tokens",
            re.IGNORECASE,
        ),
    ),
    (
        "content_filter",
        re.compile(
            r"content_policy_violation|content management policy|result of our safety system",
            re.IGNORECASE,
        ),
    ),
    (
        "unsupported_parameter",
        re.compile(
            r"unrecognized request arguments? supplied: (?P<a>\w+)"
            r"|unsupported (?:value|parameter): ['\"`](?P<b>\w+)"
            r"|extra_forbidden['\"], ['\"]loc['\"]: [\[(]['\"]body['\"], ['\"](?P<c>\w+)",
            re.IGNORECASE,
        ),
    ),
)
_REFUSED: Final = range(400, 500)


def has_error(body: Any) -> bool:
    """Say whether a body with a good status tells of an error all the same; gateways do that."""
    return isinstance(body, dict) and bool(body.get("error")) and not body.get("choices")


def facts_of(status: int, headers: Mapping[str, str], raw: bytes) -> Facts:
    """Collect what an error says of itself.

    Parameters
    ----------
    status : int
        As sent. Where it is a good one, a number in the body's `code` stands in for it.
    headers : mapping
        Of the response.
    raw : bytes
        Its body.
    """
    told = _told(raw)
    numbers = (told.get("code"), told.get("status"), told.get("type"))
    codes = [c for c in numbers if isinstance(c, str) and c and not c.isdigit()]
    sent: int | None = status
    if status < 400:
        stated = (int(c) for c in map(str, numbers) if c.isascii() and c.isdigit() and len(c) == 3)
        sent = next((c for c in stated if 400 <= c < 600), None)
    message = next((m for k in ("message", "msg") if isinstance(m := told.get(k), str) and m), "")
    parameter = p if isinstance(p := told.get("param"), str) and p else None
    kinds = {c.lower() for c in codes}
    if sent in _REFUSED:
        for kind, words in _WORDS:
            if found := words.search(message[:_NEAR]):
                kinds.add(kind)
                parameter = parameter or next((g for g in found.groups() if g), None)
    return Facts(
        status=sent,
        claimed=None if sent else 500,
        code=codes[0] if codes else None,
        kinds=frozenset(kinds),
        parameter=parameter,
        message=message,
        headers={k.lower(): v for k, v in headers.items()},
        everything="",
    )


def _told(raw: bytes) -> dict[str, Any]:
    """Return the object that tells of the error; a text becomes its message."""
    try:
        body = load_json(raw)
    except NoCompletionError:
        return {}  # a proxy's page, most likely: the status says more
    for _ in range(4):
        if isinstance(body, list) and body:
            body = body[0]
        elif isinstance(body, dict) and (inner := body.get("error") or body.get("detail")):
            body = inner
        else:
            break
    if isinstance(body, str):
        return {"message": body}
    if not isinstance(body, dict):
        return {}
    if body.get("type") == "extra_forbidden" and isinstance(loc := body.get("loc"), list) and loc:
        return body | {"code": "unsupported_parameter", "param": str(loc[-1])}
    return body
