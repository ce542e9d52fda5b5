"""Edits between two texts of anybody's: stretches of words within lines, and whole lines."""

from __future__ import annotations

from collections.abc import Callable
from difflib import SequenceMatcher

from judgeaudit.cure.edits import Edit, Subset, shortly
from judgeaudit.policy.worddiff import word_diff

__all__ = ["textual"]

_Part = tuple[str | None, str, str]
"""Key of an edit, or None; what stands there before, and after."""


def textual(base: str, rewrite: str) -> tuple[tuple[Edit, ...], Callable[[Subset], str]]:
    """Return the edits between two texts, and what writes a text with some of them.

    Lines that have a partner are compared word by word, and each stretch of words is an edit;
    lines that were added, removed or moved are edits as they stand together.

    Parameters
    ----------
    base, rewrite : str
        The texts.

    Returns
    -------
    edits : tuple of Edit
    write : callable
        Takes keys; none give the base, all of them the rewrite.
    """
    parts: list[_Part] = []
    edits: list[Edit] = []

    def add(key: str, before: str, after: str) -> None:
        said = f"{shortly(before)!r} -> {shortly(after)!r}"
        taken, put = ((t.strip(),) if t.strip() else () for t in (before, after))
        edits.append(Edit(key, f"{key}: {said}", None, taken, put))
        parts.append((key, before, after))

    old, new = base.splitlines(keepends=True), rewrite.splitlines(keepends=True)
    for op, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if op == "equal":
            parts.append((None, "".join(old[i:j]), "".join(old[i:j])))
        elif op == "replace" and j - i == m - k:
            for at, (a, b) in enumerate(zip(old[i:j], new[k:m], strict=True), start=i + 1):
                _line(a, b, at, parts, add)
        else:
            add(f"L{i + 1}", "".join(old[i:j]), "".join(new[k:m]))

    def write(subset: Subset) -> str:
        return "".join(after if key in subset else before for key, before, after in parts)

    return tuple(edits), write


def _line(
    a: str, b: str, number: int, parts: list[_Part], add: Callable[[str, str, str], None]
) -> None:
    pieces = word_diff(a, b)
    at = count = 0
    while at < len(pieces):
        kind, text = pieces[at]
        at += 1
        if kind == "same":
            parts.append((None, text, text))
            continue
        before, after = (text, "") if kind == "removed" else ("", text)
        if kind == "removed" and at < len(pieces) and pieces[at][0] == "added":
            after = pieces[at][1]
            at += 1
        count += 1
        add(f"L{number}.{count}", before, after)
