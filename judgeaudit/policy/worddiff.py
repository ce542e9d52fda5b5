"""The difference between two texts, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal

__all__ = ["Piece", "plain_diff", "word_diff"]

Piece = tuple[Literal["same", "removed", "added"], str]
"""A stretch of text, and what became of it."""

_TOKEN = re.compile(r"\n+|[^\S\n]+|\w+(?:['’-]\w+)*|[^\w\s]")


def word_diff(old: str, new: str) -> list[Piece]:
    """Compare two texts word by word.

    Returns
    -------
    list of Piece
        The `same` and `removed` pieces together are `old`; `same` and `added` together are `new`.

    Examples
    --------
    >>> word_diff("must not share", "must share")
    [('same', 'must '), ('removed', 'not '), ('same', 'share')]
    """
    a, b = _TOKEN.findall(old), _TOKEN.findall(new)
    pieces: list[Piece] = []
    for op, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if op == "equal":
            pieces.append(("same", "".join(a[i:j])))
            continue
        if i < j:
            pieces.append(("removed", "".join(a[i:j])))
        if k < m:
            pieces.append(("added", "".join(b[k:m])))
    return pieces


def plain_diff(pieces: list[Piece]) -> str:
    """Write a difference without colours: `[-removed-]{+added+}`; a line break stays outside."""
    marks = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
    out: list[str] = []
    for kind, text in pieces:
        before, after = marks[kind]
        if kind == "same":
            out.append(text)
            continue
        for part in re.split(r"(\n+)", text):
            if part.strip("\n"):
                out.append(f"{before}{part}{after}")
            elif kind == "added" or "\n\n" not in part:
                out.append(part)
    return "".join(out)
