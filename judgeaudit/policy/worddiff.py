"""The difference between two texts, word by word."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from typing import Literal

__all__ = ["Piece", "in_order_of", "plain_diff", "word_diff"]

Piece = tuple[Literal["same", "removed", "added"], str]
"""A stretch of text, and what became of it."""

_LABEL = re.compile(r"^(?:(?:\d+\.|-) \*\*|\*\*제\d+조)(.+?)\*\*", re.MULTILINE)
_TOKEN = re.compile(r"\n+|[^\S\n]+|\w+(?:['’-]\w+)*|[^\w\s]")


def in_order_of(new: str, old: str) -> str:
    """Return `old` with its labelled list items in the order that they have in `new`.

    So that a difference shows what became of each norm, and not that the norms changed places.
    """
    lines = old.split("\n")
    at = {m[1]: i for i, line in enumerate(lines) if (m := _LABEL.match(line))}
    order = [m[1] for m in _LABEL.finditer(new) if m[1] in at]
    if sorted(order) != sorted(at):
        return old
    moved = dict(zip(sorted(at.values()), (lines[at[label]] for label in order), strict=True))
    return "\n".join(moved.get(i, line) for i, line in enumerate(lines))


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
    runs: list[tuple[bool, str, str]] = []
    for op, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        before, after = "".join(a[i:j]), "".join(b[k:m])
        # a lone blank between two changes belongs to them: phrases change, not single words
        blank = op == "equal" and before == " " and bool(runs) and not runs[-1][0]
        same = op == "equal" and not blank
        if runs and not same and not runs[-1][0]:
            _, b0, a0 = runs.pop()
            before, after = b0 + before, a0 + after
        runs.append((same, before, after))
    pieces: list[Piece] = []
    for same, before, after in runs:
        if same:
            pieces.append(("same", before))
            continue
        if before:
            pieces.append(("removed", before))
        if after:
            pieces.append(("added", after))
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
