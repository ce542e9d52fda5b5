"""Two policy texts side by side: rows of paragraphs, with the words that changed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from judgeaudit.policy.worddiff import Piece, in_order_of, word_diff

__all__ = ["side_by_side"]

_MOST: Final = 40_000
_MOST_WORDS: Final = 8_000


@lru_cache(maxsize=64)
def side_by_side(old: str, new: str) -> dict[str, Any]:
    """Compare two texts.

    Texts whose labelled norms only changed places are compared norm by norm, and `moved` says so.
    Very long texts are not compared word by word (`marked` is False).

    Returns
    -------
    dict
        `rows`: (changed, left, right) with left and right lists of (is changed, text); together
        the left texts are the first text, with its norms in the order of the second where `moved`.
    """
    if max(len(old), len(new)) > _MOST or max(_words(old), _words(new)) > _MOST_WORDS:
        rows = [[old != new, [[False, old]], [[False, new]]]]
        return {"rows": rows, "marked": False, "moved": False, "identical": old == new}
    ordered = in_order_of(new, old)
    pieces: list[Piece] = word_diff(ordered, new)
    return {
        "rows": _rows(pieces),
        "marked": True,
        "moved": ordered != old,
        "identical": old == new,
    }


def _words(text: str) -> int:
    return len(text.split())


def _rows(pieces: list[Piece]) -> list[list[Any]]:
    """Cut at line breaks that both texts have."""
    rows: list[list[Any]] = []
    left: list[list[Any]] = []
    right: list[list[Any]] = []

    def end() -> None:
        nonlocal left, right
        if left or right:
            rows.append([any(c for c, _ in left + right), left, right])
        left, right = [], []

    for kind, text in pieces:
        if kind == "removed":
            left.append([True, text])
        elif kind == "added":
            right.append([True, text])
        else:
            lines = text.split("\n")
            for k, line in enumerate(lines):
                part = line + "\n" * (k < len(lines) - 1)
                if part:
                    left.append([False, part])
                    right.append([False, part])
                if k < len(lines) - 1:
                    end()
    end()
    return rows
