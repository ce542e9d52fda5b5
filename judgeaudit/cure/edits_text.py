"""Edits between two texts of anybody's: stretches of words, and where these are none, lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

from judgeaudit.cure.edits import Edit, Subset, shortly
from judgeaudit.policy.worddiff import word_diff

__all__ = ["textual"]

_REST: Final = "rest"


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A stretch of text that differs; `line` is where it begins, `number` counts them in it."""

    line: int
    number: int
    begin: int
    before: str
    after: str


def textual(
    base: str, rewrite: str, may_ask: Callable[[str], bool] = lambda _: True
) -> tuple[tuple[Edit, ...], Callable[[Subset], str]]:
    """Return the edits between two texts, and what writes a text with some of them.

    A stretch of words that may be changed by itself is an edit. The stretches of a line of which
    that is not true are one edit together; where not even that may be asked, all of what is left
    over is.

    Parameters
    ----------
    base, rewrite : str
        The texts.
    may_ask : callable
        Whether a text says what both say.

    Returns
    -------
    edits : tuple of Edit
    write : callable
        Takes keys; none give the base, all of them the rewrite.
    """
    found = _stretches(base, rewrite)

    def write(on: Iterable[_Stretch]) -> str:
        out, at = [], 0
        for s in sorted(on, key=lambda s: s.begin):
            out += [base[at : s.begin], s.after]
            at = s.begin + len(s.before)
        return "".join([*out, base[at:]])

    groups: dict[str, list[_Stretch]] = {}
    rest: list[_Stretch] = []
    for line in dict.fromkeys(s.line for s in found):
        here = [s for s in found if s.line == line]
        if all(may_ask(write((s,))) for s in here):
            groups |= {f"L{line}.{s.number}": [s] for s in here}
        elif may_ask(write(here)):
            groups[f"L{line}"] = here
        else:
            rest += here
    if rest:
        groups[_REST] = rest
    edits = tuple(_edit(key, group) for key, group in groups.items())
    return edits, lambda subset: write(s for k in subset for s in groups[k])


def _edit(key: str, group: list[_Stretch]) -> Edit:
    before = tuple(t for s in group if (t := s.before.strip()))
    after = tuple(t for s in group if (t := s.after.strip()))
    said = "all else that changed, together"
    if key != _REST:
        said = f"{shortly(' … '.join(before))!r} -> {shortly(' … '.join(after))!r}"
    spans = tuple((s.begin, s.begin + len(s.before)) for s in group)
    return Edit(key, f"{key}: {said}", None, before, after, spans)


def _stretches(base: str, rewrite: str) -> list[_Stretch]:
    old, new = base.splitlines(keepends=True), rewrite.splitlines(keepends=True)
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line))
    found: list[_Stretch] = []
    for op, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if op == "replace" and j - i == m - k:
            for n in range(j - i):
                found += _in_line(old[i + n], new[k + n], i + n + 1, starts[i + n])
        elif op != "equal":
            found.append(_Stretch(i + 1, 1, starts[i], "".join(old[i:j]), "".join(new[k:m])))
    return found


def _in_line(a: str, b: str, line: int, begin: int) -> list[_Stretch]:
    out: list[_Stretch] = []
    at = begin
    for kind, text in word_diff(a, b):
        last = out[-1] if out else None
        if kind == "removed":
            out.append(_Stretch(line, len(out) + 1, at, text, ""))
        elif kind == "added" and last is not None and last.begin + len(last.before) == at:
            out[-1] = _Stretch(line, last.number, last.begin, last.before, text)
        elif kind == "added":
            out.append(_Stretch(line, len(out) + 1, at, "", text))
        at += len(text) if kind != "added" else 0
    return out
