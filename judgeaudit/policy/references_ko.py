"""References from one norm to another, as the Korean reader resolves them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from judgeaudit.policy import lexicon_ko as lex
from judgeaudit.policy.grammar_ko import squeeze
from judgeaudit.policy.reading import REFERENCE

__all__ = ["References", "prevailing", "refers", "worded"]

Report = Callable[[str], None]

_NAME = re.compile(r"제(\d+)조")


@dataclass(slots=True)
class References:
    """The numbers and titles of a text, and which norm each names.

    Parameters
    ----------
    titles : mapping of str to str
        Norm ids by title, without blanks.
    literal : tuple of str
        Phrases of the policy that name an article of something else (민법 제103조).
    numbers : mapping of int to set of str
        Norm ids by the number under which the text states them.
    """

    titles: Mapping[str, str]
    literal: tuple[str, ...] = ()
    numbers: Mapping[int, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, titles: Mapping[str, str], phrases: Iterable[str]) -> References:
        """Take the titles of a policy, and all its phrases."""
        return cls(titles, tuple(p for p in phrases if _NAME.search(p)))

    def resolve(self, said: str, start: int, report: Report) -> str:
        """Put a mark and the norm's id in the place of every `제3조(제목)` from a place on."""
        # what looks like the mark in the text itself is none
        said = said.replace(REFERENCE, "\ufffd")
        out, at = said[:start], start
        for m in _NAME.finditer(said, start):
            if m.start() < at:
                continue
            title, end = None, m.end()
            if said.startswith("(", end):
                title = self.title(said[end + 1 :])[0]
                end += len(title) + 2
            if any(said[m.start() : end] in phrase for phrase in self.literal):
                continue
            id_ = self.named(int(m[1]), title, report)
            if id_ is not None:
                out += said[at : m.start()] + REFERENCE + id_
                at = end
        return out + said[at:]

    def title(self, text: str) -> tuple[str, str]:
        """Part `제목)본문` at the bracket that closes a known title, or at the first one."""
        known = next((t for t in self.titles if text.startswith(f"{t})")), None)
        if known is not None:
            return known, text[len(known) + 1 :]
        title, _, body = text.partition(")")
        return title, body

    def named(self, number: int, title: str | None, report: Report) -> str | None:
        """Return the norm that number and title name; both must name the same."""
        holders = self.numbers.get(number, set())
        numbered = next(iter(holders)) if len(holders) == 1 else None
        if numbered is None:
            report(f"the number {number} names {len(holders)} norms")
        if title is None:
            return numbered
        titled = self.titles.get(title)
        if titled is None:
            report(f"no norm has the title {title!r}")
        elif numbered is not None and numbered != titled:
            report(f"the number names norm {numbered!r}, the title norm {titled!r}")
        return titled or numbered


def refers(said: str) -> bool:
    """Say whether a sentence names a norm behind its beginning, or the article that it is in."""
    return _NAME.search(said, 1) is not None or lex.THIS_ARTICLE in said


def prevailing(text: str) -> tuple[str, ...] | None:
    """Return the ids of the norms that a resolved sentence puts before its own article.

    None if it is no such sentence. A sentence that names two norms where it must name one twice
    yields both.
    """
    for pattern in lex.PREVAILS:
        m = re.fullmatch(pattern.replace("<NORM>", rf"{REFERENCE}([a-z0-9_]+)"), text, re.ASCII)
        if m is not None:
            return tuple(dict.fromkeys(m.groups()))
    return None


def worded(clause: str) -> str:
    """Return a clause as it is compared: without blanks, a reference as mark and norm id."""
    parts = re.split(r"\{norm:(\w+)\}", clause)
    return "".join(REFERENCE + p if i % 2 else squeeze(p) for i, p in enumerate(parts))
