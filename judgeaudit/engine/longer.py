"""An answer that was cut, and the one that was asked for in its place."""

from __future__ import annotations

from typing import Any

from judgeaudit.core.records import Reply

__all__ = ["both", "cut_words"]


def cut_words(cut: Reply) -> str:
    """Say what a cut answer began with."""
    text = " ".join((cut.text or "").split())
    return f"the answer was cut after {cut.completion_tokens or 'unknown'} tokens: {text}"[:1000]


def both(cut: Reply, reply: Reply) -> Reply:
    """Return the second answer with the tokens and the cost of both requests."""
    sums: dict[str, Any] = {}
    for name in ("prompt_tokens", "completion_tokens", "cost"):
        one, two = getattr(cut, name), getattr(reply, name)
        sums[name] = None if one is None or two is None else one + two
    return reply.model_copy(update=sums)
