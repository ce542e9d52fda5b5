"""Two texts side by side, with what differs marked in both."""

from __future__ import annotations

import re
from dataclasses import dataclass

from judgeaudit.policy.worddiff import in_order_of, word_diff

__all__ = ["Marked", "Span", "side_by_side"]

_LABEL = re.compile(r"^(?:\d+\.|-) \*\*(.+?)\*\*")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text, and whether it differs."""

    text: str
    changed: bool


Marked = list[Span]
"""A whole text; its spans together are the text, character by character."""


def side_by_side(original: str, rewrite: str) -> tuple[Marked, Marked]:
    """Mark the difference in both texts.

    Norms that only changed places are compared with themselves, so that what is marked is what
    became of them; both texts are shown in their own order.

    Returns
    -------
    (Marked, Marked)
        Of the original and of the rewrite; the texts of the spans add up to the texts given.
    """
    reordered = in_order_of(rewrite, original)
    old: Marked = []
    new: Marked = []
    for kind, text in word_diff(reordered, rewrite):
        if kind != "added":
            old.append(Span(text, kind == "removed"))
        if kind != "removed":
            new.append(Span(text, kind == "added"))
    return _own_order(old, original, reordered), new


def _own_order(spans: Marked, original: str, reordered: str) -> Marked:
    """Put the marked lines of the reordered text back to where the original has them."""
    if reordered == original:
        return spans
    lines = _by_line(spans)
    home = {m[1]: i for i, s in enumerate(original.split("\n")) if (m := _LABEL.match(s))}
    placed: dict[int, Marked] = {}
    for i, (line, text) in enumerate(zip(lines, reordered.split("\n"), strict=True)):
        label = _LABEL.match(text)
        placed[home[label[1]] if label else i] = line
    out: Marked = []
    for i in range(len(lines)):
        out += [*([Span("\n", changed=False)] if i else []), *placed[i]]
    return out


def _by_line(spans: Marked) -> list[Marked]:
    lines: list[Marked] = [[]]
    for span in spans:
        first, *rest = span.text.split("\n")
        if first:
            lines[-1].append(Span(first, span.changed))
        lines += [[Span(part, span.changed)] if part else [] for part in rest]
    return lines
