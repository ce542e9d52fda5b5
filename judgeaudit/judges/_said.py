"""From what a user's own code says to a `Reply`: a label, a text, or an object with a verdict."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from judgeaudit.core.errors import PermanentError
from judgeaudit.core.records import Reply
from judgeaudit.judges._text import storable

__all__ = ["reply_of"]

_FORM: Final = (
    "Answer with SAFE or UNSAFE, with a text that states one, or with an object whose keys are "
    "verdict (or label), confidence and rationale, or text"
)


def reply_of(said: Any, seconds: float, where: str, scrub: Callable[[str], str] = str) -> Reply:
    """Make a reply; what is a verdict, the parser decides, as of every judge.

    Parameters
    ----------
    said : object
        A text; a mapping with "verdict" (or "label"), "confidence", "rationale", or with "text";
        or a `Reply`.
    seconds : float
        What it took.
    where : str
        Who said it.
    scrub : callable
        Takes keys out of a text.

    Raises
    ------
    PermanentError
        If it is nothing of that: a failure of the call.
    """
    if isinstance(said, Reply):
        return said if said.seconds else said.model_copy(update={"seconds": seconds})
    if isinstance(said, str):
        return Reply(text=scrub(storable(said)), finish_reason="stop", seconds=seconds)
    if not isinstance(said, Mapping):
        raise _no_answer(f"it answered with a {type(said).__name__}", where)
    stated = [k for k in ("verdict", "label", "text") if said.get(k) is not None]
    if not stated:
        raise _no_answer("its answer holds neither verdict nor label nor text", where)
    if "text" in stated and len(stated) == 1:
        text = said["text"]
        if not isinstance(text, str):
            raise _no_answer(f"its text is a {type(text).__name__}", where)
    else:
        text = _object(said, where)
    model = said.get("model")
    return Reply(
        text=scrub(storable(text)),
        finish_reason="stop",
        served_model=scrub(storable(model)) if isinstance(model, str) else None,
        seconds=seconds,
    )


def _object(said: Mapping[str, Any], where: str) -> str:
    labels = [said[k] for k in ("verdict", "label") if said.get(k) is not None]
    if len(labels) == 2 and labels[0] != labels[1]:
        raise _no_answer("its verdict and its label differ", where)
    made = {"verdict": labels[0]}
    made |= {k: said[k] for k in ("confidence", "rationale") if said.get(k) is not None}
    try:
        return json.dumps(made, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise _no_answer("its answer holds what is no JSON", where) from None


def _no_answer(what: str, where: str) -> PermanentError:
    return PermanentError(what, where=where, mend=_FORM, code="unreadable_answer")
