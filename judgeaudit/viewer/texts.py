"""Texts on their way to the page: exact, but never megabytes at once."""

from __future__ import annotations

from typing import Any, Final

from judgeaudit.engine.chain import plain_text

__all__ = ["CHUNK", "NAME", "cut", "name"]

CHUNK: Final = 20_000
"""Characters of a long text that are sent before somebody asks for more."""

NAME: Final = 300
"""Characters of a name."""


def name(text: object) -> str:
    """Shorten a name for a line; what is missing is told.

    Examples
    --------
    >>> name("gpt")
    'gpt'
    """
    said = str(plain_text(text))
    return said if len(said) <= NAME else f"{said[:NAME]}… [{len(said) - NAME:,} characters cut]"


def cut(text: object, start: int = 0) -> Any:
    """Return a long text's part from `start`, and how long the whole is.

    Returns
    -------
    str, dict or None
        The text itself if it is short; else `text`, `end` (of the part) and `length`, both in
        characters.
    """
    if text is None:
        return None
    said = str(plain_text(text))
    if start == 0 and len(said) <= CHUNK:
        return said
    end = min(len(said), start + (CHUNK if start == 0 else 10 * CHUNK))
    return {"text": said[start:end], "end": end, "length": len(said)}
