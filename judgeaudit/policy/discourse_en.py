"""What the sentences behind a norm, and lists under it, say of that norm (English).

`The agent must not spend money. It may do so only where: - A; or - B.` is one norm with two
exceptions. Which words can go on about a norm is listed in `followers_en`, each with the forces
that it can be said of: a ban can be lifted, a duty cannot be "done so".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from judgeaudit.core.records import Force
from judgeaudit.policy import lexicon_en as lex
from judgeaudit.policy.exceptions_en import ExceptionReader
from judgeaudit.policy.followers_en import (
    CONDITIONS,
    ENUMERATIONS,
    IN_CASES,
    NONE,
    NOR,
    OTHERWISE,
    PREVAILS,
    THIS_NORM,
    continues,
    counted,
    lifts,
    link_of,
    ordinal,
    parts,
)
from judgeaudit.policy.reading import REFERENCE, ReadException, ReadNorm, starts
from judgeaudit.policy.references_en import subject_to
from judgeaudit.policy.segment import Statement

__all__ = ["Lead", "Unit", "follows", "lead_of", "read_followers", "unlead"]

Words = tuple[str, ...]
Report = Callable[[Statement, str], None]


@dataclass(frozen=True, slots=True)
class Lead:
    """The end of a statement that opens a list of exceptions."""

    length: int
    opener: Words
    """`unless` and the like; empty behind "in the following cases"."""
    count: int | None = None
    only: bool = False


@dataclass(slots=True)
class Unit:
    """A statement, and the statements and list items that go on about it."""

    host: Statement
    more: list[Statement] = field(default_factory=list)

    @property
    def all(self) -> list[Statement]:
        """The statements in order."""
        return [self.host, *self.more]

    @property
    def list_indent(self) -> int | None:
        """How far the list under the statement stands to the right; None: there is none."""
        first = next((s for s in self.more if s.block != self.host.block), None)
        return None if first is None else first.indent


def lead_of(s: Statement) -> Lead | None:
    """Say whether a statement ends in words that open a list of exceptions."""
    if not s.colon:
        return None
    words = s.words
    for phrase in ENUMERATIONS:
        if words[-len(phrase) :] == phrase:
            return Lead(len(phrase), ())
    for openers, only in ((lex.EXCEPT, False), (lex.ONLY, True)):
        for opener in openers:
            if words[-len(opener) :] == opener and opener != ("except",):
                return Lead(len(opener), opener, only=only)
    return None


def follows(unit: Unit, s: Statement) -> bool:
    """Say whether a statement goes on about the unit before it."""
    last = unit.all[-1]
    if s.heading or unit.host.heading:
        return False
    if s.block == last.block:
        return continues(s.words) or _opens_list(last, unit) or unit.list_indent is not None
    if not (s.first and s.item):
        return False
    if unit.list_indent is not None:
        return s.indent >= unit.list_indent and s.block == last.block + 1
    deeper = s.indent > unit.host.indent or not unit.host.item
    return s.block == last.block + 1 and deeper and _opens_list(last, unit)


def _opens_list(last: Statement, unit: Unit) -> bool:
    if last is unit.host:
        return lead_of(last) is not None
    return last.colon and continues(last.words)


def read_followers(
    more: Sequence[Statement],
    norm: ReadNorm,
    lead: Lead | None,
    *,
    bearer: Words,
    plural: bool,
    exceptions: ExceptionReader,
    report: Report,
    restates: Callable[[Words], bool],
) -> frozenset[str]:
    """Read what follows a norm into it.

    Parameters
    ----------
    more : sequence of Statement
        What follows, with references resolved.
    norm : ReadNorm
        What was read of the norm so far; exceptions are added to it.
    lead : Lead, optional
        What the norm's own sentence ends in, where a list follows.
    bearer, plural
        Who is bound, and whether that is several: "it" or "they" can refer to it.
    restates : callable
        Whether words state the same ban again.

    Returns
    -------
    frozenset of str
        `otherwise` where the ban outside the exceptions was stated, `none` where it was said that
        there are no exceptions, `all` where it was said that there are no others.
    """
    reader = _Followers(
        norm, bearer, plural=plural, exceptions=exceptions, report=report, restates=restates
    )
    reader.list_(lead)
    if lead is not None and lead.only:
        reader.seal(len(norm.exceptions))
    reader.fresh = list(norm.exceptions)
    for s in more:
        reader.take(s)
    reader.close(more[-1] if more else None)
    reader.sealed(more[-1] if more else None)
    return frozenset(reader.said)


class _Followers:
    def __init__(
        self,
        norm: ReadNorm,
        bearer: Words,
        *,
        plural: bool,
        exceptions: ExceptionReader,
        report: Report,
        restates: Callable[[Words], bool],
    ) -> None:
        self.norm = norm
        self.bearer = bearer
        self.plural = plural
        self.exceptions = exceptions
        self.report = report
        self.restates = restates
        self.said: set[str] = set()
        self.fresh: list[ReadException] = []
        """The exceptions that the statement before this one stated."""
        self.lead: Lead | None = None
        self.links: list[str] = []
        self.items = 0
        self.lifted = False
        self.block = -1
        self.before = 0
        """How many exceptions there were before the statement that says that it states all."""
        self.after: int | None = None
        """How many there were behind it; None: no statement says so."""

    def seal(self, before: int) -> None:
        """Note that a statement says that it states all exceptions."""
        self.before, self.after = before, -1
        self.said.add("all")

    def sealed(self, s: Statement | None) -> None:
        """Check that what is said to be all exceptions is all of them."""
        if self.after is None or s is None:
            return
        if self.before or (self.after >= 0 and self.after != len(self.norm.exceptions)):
            self.report(s, "what is said to be the only exception is not the only one")

    # ---- lists ----------------------------------------------------------------------------------

    def list_(self, lead: Lead | None) -> None:
        """Begin a list."""
        self.lead, self.links, self.items, self.block = lead, [], 0, -1

    def close(self, s: Statement | None) -> None:
        """End a list, and say what is wrong with it as a whole."""
        lead, self.lead = self.lead, None
        if lead is None or s is None:
            return
        if self.after == -1:
            self.after = len(self.norm.exceptions)
        if not self.items:
            self.report(s, "a list of exceptions that holds none")
        if lead.count is not None and lead.count != self.items:
            self.report(s, f"{lead.count} exceptions are announced, {self.items} follow")
        if self.links and self.links[-1]:
            self.report(s, f"the list of exceptions goes on with {self.links[-1]!r}")
        if "and" in self.links:
            self.report(s, "exceptions joined by 'and': all must be met")
        elif lead.opener and len(self.links) > 1 and self.links[-2] != "or":
            self.report(s, "it is open whether any of the exceptions is enough, or all must be met")

    def item(self, s: Statement) -> None:
        """Read a statement that lists one or more exceptions, parted by semicolons."""
        self.fresh = []
        for part in parts(s.words):
            words, link = link_of(part)
            if not words:
                if link and self.links:
                    self.links[-1] = link
                continue
            if self.fresh and self.condition(s, words):
                continue
            if part[0] in {"or", "and"} and self.links:
                self.links[-1] = part[0]
            self.fresh = self._one(s, words)
            self.links.append(link)
            self.items += 1

    def _one(self, s: Statement, words: Words) -> list[ReadException]:
        assert self.lead is not None
        openers = lex.SUSPEND_WHERE
        opener = next((o for o in openers if starts(words, 0, o)), None)
        begin = len(opener) if opener is not None and self.lead.opener[-1:] != opener else 0
        found, end = self.exceptions.chain(
            words,
            begin,
            ("where",),
            openers,
            line=s.line,
            report=lambda what: self.report(s, what),
            alone=True,
        )
        if end != len(words):
            self.report(s, f"not understood: {' '.join(words[end:])!r}")
        elif len(found) > 1:
            self.report(s, "several exceptions in one item of a list")
        self.norm.exceptions.extend(found)
        return found

    # ---- sentences ------------------------------------------------------------------------------

    def take(self, s: Statement) -> None:
        """Read one statement that follows the norm."""
        words = s.words
        if self.lead is not None:
            # the list goes on in a new item, or in the sentence behind the colon
            if s.block != self.block and (s.item or not self.items):
                self.block = s.block
                self.item(s)
                return
            if self.condition(s, words) or self.prevails(s, words):
                return
            self.close(s)
        if self.condition(s, words) or self.prevails(s, words) or self.suspended(s, words):
            return
        if words in NONE:
            self.said.add("none")
        elif self.otherwise(words):
            if not self.norm.exceptions:
                self.report(s, "there is nothing else than what was said")
            self.said.add("otherwise")
        elif s.colon and counted(words) is not None:
            count = counted(words)
            if count or "only" in words:
                self.seal(len(self.norm.exceptions))
            self.list_(Lead(0, (), count or None))
        else:
            self.report(s, f"not understood: {' '.join(words)!r}")

    def condition(self, s: Statement, words: Words) -> bool:
        """Read `this exception does not apply where C`: a condition inside an exception."""
        for which, name, phrase in CONDITIONS:
            length = len(phrase)
            at = ordinal(words) if which == "nth" else None
            start = 3 if at is not None else 0
            if which == "nth" and at is None:
                continue
            if not starts(words, start, phrase):
                continue
            candidates = self.fresh if at is None else self.norm.exceptions[at - 1 : at]
            if len(candidates) != 1:
                self.report(s, f"which exception is meant is open: there are {len(candidates)}")
                return True
            (old,) = candidates
            new = self.exceptions.within(
                old, name, words[start + length :], lambda what: self.report(s, what)
            )
            index = next(i for i, e in enumerate(self.norm.exceptions) if e is old)
            self.norm.exceptions[index] = new
            self.fresh = [new if e is old else e for e in self.fresh]
            return True
        return False

    def prevails(self, s: Statement, words: Words) -> bool:
        """Read `norm 8 (Danger) prevails over this norm` and `this norm is subject to norm 8`."""
        for phrase in PREVAILS:
            if words[:1] and words[0].startswith(REFERENCE) and words[1:] == phrase:
                self.norm.subject_to.append(words[0].removeprefix(REFERENCE))
                return True
        for this in THIS_NORM:
            for verb in lex.PREVAILED:
                if starts(words, 0, (*this, *verb)):
                    rest = ("subject", "to", *words[len(this) + len(verb) :], ",")
                    left, found = subject_to(rest)
                    if left or not found:
                        self.report(s, f"not understood: {' '.join(words)!r}")
                    self.norm.subject_to.extend(found)
                    return True
        return False

    def suspended(self, s: Statement, words: Words) -> bool:
        """Read `this ban is lifted only where A, or where B`, and what means the same."""
        for phrase, forces in lifts(self.bearer, self.plural):
            if not starts(words, 0, phrase):
                continue
            if words[0] == "this" and words[1] in {"does", "is"} and self.norm.exceptions:
                self.report(s, "it is open whether the norm or its exception is meant")
            self._lift(s, words, len(phrase), forces)
            return True
        for phrase in NOR:
            if self.lifted and starts(words, 0, phrase):
                at = len(phrase)
                if words[at : at + len(self.bearer)] == self.bearer:
                    at += len(self.bearer)
                self._lift(s, words, at, None)
                return True
        return False

    def _lift(self, s: Statement, words: Words, at: int, forces: frozenset[Force] | None) -> None:
        openers = lex.SUSPEND_WHERE
        opener = next((o for o in openers if starts(words, at, o)), None)
        if forces is not None and self.norm.force not in forces:
            self.report(s, f"this cannot be said of a norm whose force is {self.norm.force!r}")
        only = bool({"only", "sole", "one"} & set(words[:at]))
        if only:
            self.seal(len(self.norm.exceptions))
        if opener is None and s.colon and words[at:] in IN_CASES:
            self.list_(Lead(0, ()))
            return
        if opener is None:
            self.report(s, f"not understood: {' '.join(words[at:])!r}")
            return
        self.lifted = True
        at += len(opener)
        if at == len(words) and s.colon:
            self.list_(Lead(0, opener))
            return
        found, end = self.exceptions.chain(
            words, at, opener, openers, line=s.line, report=lambda what: self.report(s, what)
        )
        if end != len(words):
            self.report(s, f"not understood: {' '.join(words[end:])!r}")
        self.norm.exceptions.extend(found)
        self.fresh = found
        if only:
            self.after = len(self.norm.exceptions)

    def otherwise(self, words: Words) -> bool:
        """Read `otherwise it must not`: the ban that the exceptions leave."""
        if self.norm.force != "prohibited":
            return False
        for begin in OTHERWISE:
            if starts(words, 0, begin):
                rest = words[len(begin) :]
                rest = rest[1:] if rest[:1] == (",",) else rest
                who = (("they",) if self.plural else ("it",), self.bearer)
                short = [(*w, "must", "not", *do) for w in who for do in ((), ("do", "so"))]
                return rest in short or self.restates(rest)
        return False


def unlead(s: Statement, lead: Lead) -> Statement:
    """Return a statement without the words that open the list under it."""
    tokens = s.tokens[: len(s.tokens) - lead.length]
    if tokens and tokens[-1].text == ",":
        tokens = tokens[:-1]
    return replace(s, tokens=tokens, colon=False)
