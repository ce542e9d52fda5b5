"""A good answer in a body that LiteLLM cannot take: parts for a text, or a broken `usage`.

LiteLLM gives up on the whole body, and has no hook before it does. The decoded body is still there,
in the frames of the traceback. Where it is not (another release, another route), the failure stays
the failure `unreadable_body`: it never becomes a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, Final

from judgeaudit.judges._faults import chain

__all__ = ["answer_in", "count"]

_MOST: Final = 2**53
"""Counts above are no counts of tokens, and not every table can hold them."""


def answer_in(exc: BaseException) -> SimpleNamespace | None:
    """Return the answer that a failed reading left behind, or None.

    Returns
    -------
    SimpleNamespace or None
        With the attributes that the library's own answer has. `usage` is None where it cannot be
        trusted as a whole.
    """
    for body in _bodies(exc):
        if (message := _message(body["choices"][0]["message"])) is None:
            return None
        stopped = body["choices"][0].get("finish_reason")
        choice = SimpleNamespace(message=message, finish_reason=stopped)
        named = {k: body.get(k) for k in ("id", "model", "system_fingerprint")}
        return SimpleNamespace(choices=[choice], usage=_usage(body.get("usage")), **named)
    return None


def count(value: object) -> int | None:
    """Return a number of tokens, or None for what cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value < _MOST else None


def _bodies(exc: BaseException) -> Iterator[dict[str, Any]]:
    for x in chain(exc):
        at = x.__traceback__
        while at is not None:
            yield from filter(_is_body, list(at.tb_frame.f_locals.values()))
            at = at.tb_next


def _is_body(thing: object) -> bool:
    if not isinstance(thing, dict) or thing.get("error"):
        return False
    choices = thing.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return isinstance(first, dict) and isinstance(first.get("message"), dict)


def _message(message: Mapping[str, Any]) -> SimpleNamespace | None:
    content = message.get("content")
    listed = content if isinstance(content, list) else [] if content is None else [content]
    parts = [{"type": "text", "text": p} if isinstance(p, str) else p for p in listed]
    if not all(isinstance(p, dict) for p in parts):
        return None
    thought = message.get("reasoning_content") or message.get("reasoning")
    return SimpleNamespace(
        content=_joined(parts, "text"),
        refusal=message.get("refusal") or _joined(parts, "refusal"),
        reasoning_content=thought or _joined(parts, "thinking"),
    )


def _joined(parts: list[dict[str, Any]], kind: str) -> str | None:
    texts = [p.get(kind) for p in parts if p.get("type", "text") in (kind, f"output_{kind}")]
    said = [t for t in texts if isinstance(t, str)]
    return "".join(said) if said else None


def _usage(usage: object) -> SimpleNamespace | None:
    if not isinstance(usage, dict):
        return None
    counts = {k: count(usage.get(k)) for k in ("prompt_tokens", "completion_tokens")}
    return None if None in counts.values() else SimpleNamespace(**counts)
