"""Whether the model that answered is the model that was asked for."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["served_as_asked"]

_DATED: Final = re.compile(r"^[-@:_]?(?:\d{4}-?\d{2}-?\d{2}|\d{4}|v?\d{3}|\d{8})$")


def _bare(model: str) -> str:
    return model.strip().rsplit("/", 1)[-1].lower()


def served_as_asked(asked: str, served: str) -> str:
    """Compare the model asked for with the one that answered.

    Returns
    -------
    str
        "same", "dated" (the name asked for stood for a dated snapshot) or "other".

    Examples
    --------
    >>> served_as_asked("openai/gpt-5.4-mini", "gpt-5.4-mini-2026-03-17")
    'dated'
    >>> served_as_asked("openai/gpt-5.4-mini", "gpt-5.4-nano")
    'other'
    """
    a, s = _bare(asked), _bare(served)
    if a == s:
        return "same"
    if s.startswith(a) and _DATED.match(s[len(a) :]):
        return "dated"
    return "other"
