"""Exceptions in Korean sentences: lists of cases before 경우, and the conditions inside one.

A condition inside an exception stands in brackets behind its case, as Korean statutes have it:
`A 경우(B 경우로 한정하되, C 경우는 제외한다)`. Everything is compared without blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from judgeaudit.policy import lexicon_ko as lex
from judgeaudit.policy.grammar_ko import difference, likeness

__all__ = ["Case", "Cases", "places", "read_cases"]

_CASE = "경우"
_JOINED = "conditions inside an exception joined so that one cannot tell which must be met"
_BRACKET = "a bracket behind an exception that is not understood"


@dataclass(frozen=True, slots=True)
class Case:
    """A known clause before 경우, and the known conditions in the brackets behind it."""

    clause: str
    only_if: tuple[str, ...] = ()
    but_not: tuple[str, ...] = ()


@dataclass(slots=True)
class Cases:
    """A list of cases as read: known and unknown ones, and where the list ends.

    `faults` says what is wrong with the brackets.
    """

    known: list[Case] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    end: int = 0

    @property
    def all_at_once(self) -> bool:
        """Whether the cases are joined so that all must be met, or so that one cannot tell."""
        return bool(self.links) and (self.links[-1] != "or" or "and" in self.links)


def read_cases(
    text: str, start: int, outer: Sequence[str], inner: Sequence[str] = ()
) -> Cases | None:
    """Read `A 경우, B 경우 또는 C 경우` from a place; None if no clause with 경우 stands there.

    Parameters
    ----------
    outer, inner : sequence of str
        The conditions that the policy knows for exceptions, and those inside of exceptions; longest
        first.
    """
    found = Cases(end=start)
    at = start
    while True:
        clause = next((c for c in outer if text.startswith(c + _CASE, at)), None)
        if clause is None:
            stop = text.find(_CASE, at)
            if stop < 0:
                return found if found.known or found.unknown else None
            found.unknown.append(text[at:stop])
            at = stop + len(_CASE)
        else:
            at += len(clause) + len(_CASE)
        only_if: tuple[str, ...] = ()
        but_not: tuple[str, ...] = ()
        if text.startswith("(", at):
            end = _closing(text, at)
            only_if, but_not, faults = _inside(text[at + 1 : end - 1], inner)
            found.faults += faults
            at = end
        if clause is not None:
            found.known.append(Case(clause, only_if, but_not))
        found.end = at
        kind, length = _link(text, at)
        if not kind or text.find(_CASE, at + length) < 0:
            return found
        found.links.append(kind)
        at += length


def _closing(text: str, at: int) -> int:
    """Return the place behind the bracket that closes the one here; the end, if none does."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i + 1
    return len(text) + 1


def _inside(text: str, inner: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...], list[str]]:
    """Read `B 경우로 한정하되, C 경우 또는 D 경우는 제외한다`: what must be met, what may not."""
    cases = read_cases(text, 0, inner)
    if cases is None:
        return (), (), [_BRACKET]
    only_if: tuple[str, ...] = ()
    faults: list[str] = []
    limit = lex.LIMITED.match(text, cases.end)
    if limit is not None:
        all_met = cases.links[-1:] == ["and"] and "or" not in cases.links
        if not (all_met if limit["all"] else not cases.links):
            faults.append(_JOINED)
        only_if = tuple(c.clause for c in cases.known)
        faults += _strange(cases, inner)
        if limit["end"] is not None:
            return only_if, (), faults + [_BRACKET] * (limit.end() != len(text))
        cases = read_cases(text, limit.end(), inner)
        if cases is None:
            return only_if, (), [*faults, _BRACKET]
    faults += _strange(cases, inner)
    if text[cases.end :] not in lex.BARRED:
        return only_if, (), [*faults, _BRACKET]
    if cases.all_at_once:
        faults.append(_JOINED)
    return only_if, tuple(c.clause for c in cases.known), faults


def _strange(cases: Cases, inner: Sequence[str]) -> list[str]:
    """Word the conditions that the policy does not have."""
    found = list(cases.faults)
    for clause in cases.unknown:
        near = max(inner, key=lambda c: likeness(c, clause), default="")
        known = f": {clause!r}"
        if likeness(near, clause) >= 0.5:
            known = f"; the nearest differs: {difference(near, clause)}"
        found.append(f"a condition inside an exception that the policy does not have{known}")
    return found


def _link(text: str, at: int) -> tuple[str, int]:
    for kind, words in (("or", lex.OR_LINKS), ("and", lex.AND_LINKS), ("list", (",",))):
        for word in sorted(words, key=len, reverse=True):
            if text.startswith(word, at):
                return kind, len(word)
    return "", 0


def places(text: str, clauses: Sequence[str]) -> Iterator[int]:
    """Yield the places at which a known clause with 경우 stands, first to last."""
    found = {m.start() for c in clauses for m in re.finditer(re.escape(c + _CASE), text)}
    yield from sorted(found)
