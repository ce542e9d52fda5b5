"""From the JSON of a chat completion to a `Reply`, whatever a server put into it.

A field that is not what it should be is unknown, not an error: the answer was paid for. Only where
there is no message at all is there no answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, Final

from judgeaudit.core.records import Reply
from judgeaudit.judges._logprobs import truth_probability, verdict_probability
from judgeaudit.judges._salvage import count
from judgeaudit.judges._text import storable

__all__ = ["NoCompletionError", "load_json", "read_completion"]

_THOUGHT: Final = re.compile(r"\s*<(?P<tag>think|thinking)>")


class NoCompletionError(ValueError):
    """A body that is no chat completion."""


def load_json(raw: bytes) -> Any:
    """Read JSON as it comes from strangers.

    Raises
    ------
    NoCompletionError
        If it is none.
    """
    try:
        # a broken byte in a rationale does not make the verdict unreadable
        return json.loads(raw.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        raise NoCompletionError("no JSON") from None


def read_completion(
    body: Any,
    scrub: Callable[[str], str],
    seconds: float,
    request_id: str | None,
    *,
    form: str = "plain",
) -> Reply:
    """Read the first choice of a completion.

    Parameters
    ----------
    body : object
        The JSON of the answer.
    scrub : callable
        Takes keys out of a text.
    seconds : float
        How long the request took.
    request_id : str, optional
        As the headers name it; else the completion's own id is taken.
    form : str
        The judge's output format; see `verdict_probability`.

    Raises
    ------
    NoCompletionError
        There is no list of choices, or no message in the first.
    """
    if not isinstance(body, dict) or not isinstance(choices := body.get("choices"), list):
        raise NoCompletionError("no choices")
    choice: dict[str, Any] = {}
    message: dict[str, Any] = {}
    if choices:
        if not isinstance(choices[0], dict) or not isinstance(choices[0].get("message"), dict):
            raise NoCompletionError("no message")
        choice, message = choices[0], choices[0]["message"]
    usage = body.get("usage")
    used = usage if isinstance(usage, dict) else {}
    # a server that does not count says 0; no prompt is empty
    counted = count(used.get("prompt_tokens")) or None

    def text(value: object) -> str | None:
        return scrub(storable(value)) if isinstance(value, str) else None

    content, thought, refused = _parts(message.get("content"))
    said = message.get("reasoning_content") or message.get("reasoning")
    reasoning = said if isinstance(said, str) else thought
    if reasoning is None and content is not None:
        reasoning, content = _split(content)
    return Reply(
        text=text(content),
        finish_reason=text(choice.get("finish_reason")),
        refusal=text(message.get("refusal")) or text(refused),
        reasoning=text(reasoning),
        served_model=text(body.get("model")),
        system_fingerprint=text(body.get("system_fingerprint")),
        request_id=text(request_id) or text(body.get("id")),
        prompt_tokens=counted,
        completion_tokens=count(used.get("completion_tokens")) if counted else None,
        seconds=seconds,
        **verdict_probability(choice, form),
        **truth_probability(choice),
    )


def _parts(content: object) -> tuple[str | None, str | None, str | None]:
    """Return text, reasoning and refusal of a content, which may be a text or a list of parts."""
    if isinstance(content, str):
        return content, None, None
    if not isinstance(content, list):
        return None, None, None
    found: dict[str, list[str]] = {"text": [], "thinking": [], "refusal": []}
    for part in content:
        if isinstance(part, str):
            found["text"].append(part)
        elif isinstance(part, dict):
            kind = "text" if part.get("type") == "output_text" else str(part.get("type", "text"))
            value = part.get("text") if kind == "text" else part.get(kind)
            if kind == "thinking" and isinstance(value, list):
                value = _parts(value)[0]
            if kind in found and isinstance(value, str):
                found[kind].append(value)
    texts, thoughts, refusals = found.values()
    return (
        "".join(texts) if texts else None,
        "".join(thoughts) if thoughts else None,
        "".join(refusals) if refusals else None,
    )


def _split(content: str) -> tuple[str | None, str]:
    """Take a think block off the front of an answer."""
    if (opened := _THOUGHT.match(content)) is None:
        return None, content
    thought, closing, rest = content[opened.end() :].partition(f"</{opened['tag']}>")
    return (thought, rest) if closing else (None, content)
