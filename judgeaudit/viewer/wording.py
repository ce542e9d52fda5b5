"""Two policy texts side by side: rows of paragraphs, with the words that changed."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from judgeaudit.policy.worddiff import Piece

__all__ = ["side_by_side"]

# the work of a comparison grows with the pairs of equal words; the longest policy that ships has
# three million, and takes a second
_MOST_PAIRS: Final = 5_000_000
_MOST_CHARACTERS: Final = 200_000
_MOST_LINES: Final = 2_000
_WORD: Final = re.compile(r"\w+|\s|[^\w\s]")


@lru_cache(maxsize=256)
def side_by_side(old: str, new: str) -> dict[str, Any]:
    """Compare two texts.

    Texts whose labelled norms only changed places are compared norm by norm, and `moved` says so.

    Returns
    -------
    dict
        `rows`: (changed, left, right) with left and right lists of (is changed, text); together
        the left texts are the first text, with its norms in the order of the second where `moved`.
        `marked`: "words"; "lines" for texts that are too long for that, or "nothing".
    """
    if old == new:
        return {
            "rows": _rows([("same", old)]),
            "marked": "words",
            "moved": False,
            "identical": True,
        }
    from judgeaudit.policy.worddiff import in_order_of, word_diff

    ordered = in_order_of(new, old)
    pieces: list[Piece] | None
    marked = "words"
    if _few_words(ordered, new):
        pieces = word_diff(ordered, new)
    else:
        marked, pieces = "lines", _line_diff(ordered, new)
    if pieces is None:
        rows = [[True, [[False, old]], [[False, new]]]]
        return {"rows": rows, "marked": "nothing", "moved": False, "identical": False}
    return {
        "rows": _rows(pieces),
        "marked": marked,
        "moved": ordered != old,
        "identical": False,
    }


def _lines(text: str) -> list[str]:
    """Split after line feeds only: other separators are a stranger's characters."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def _few_words(a: str, b: str) -> bool:
    if max(len(a), len(b)) > _MOST_CHARACTERS:
        return False
    return _pairs(_WORD.findall(a), _WORD.findall(b)) <= _MOST_PAIRS


def _pairs(a: list[str], b: list[str]) -> int:
    counts = Counter(b)
    return sum(n * counts[word] for word, n in Counter(a).items())


def _line_diff(old: str, new: str) -> list[Piece] | None:
    """Compare line by line; None where even that is too much."""
    a, b = _lines(old), _lines(new)
    if max(len(a), len(b)) > _MOST_LINES or _pairs(a, b) > _MOST_PAIRS:
        return None
    pieces: list[Piece] = []
    for op, i, j, k, m in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if op == "equal":
            pieces.append(("same", "".join(a[i:j])))
            continue
        if j > i:
            pieces.append(("removed", "".join(a[i:j])))
        if m > k:
            pieces.append(("added", "".join(b[k:m])))
    return pieces


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
            for part in _lines(text):
                left.append([False, part])
                right.append([False, part])
                if part.endswith("\n"):
                    end()
    end()
    return rows
