"""A rendering with its parts located, and the edits that operators are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from judgeaudit.core.records import Dimension, Norm, Policy, PolicyException

__all__ = ["Apply", "Mutant", "Operator", "Text", "whens"]

_FORCE_PHRASE = (
    r"(?:must not|must|shall not|shall|may not|may|should avoid|should not|should|need not|"
    r"ought not to|ought to|(?:is|are) (?:not )?(?:prohibited|allowed|permitted|forbidden|required|"
    r"obliged|free)(?: from| to)|(?:has|have) to)"
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A text that no longer says what its policy says."""

    operator: str
    dimension: Dimension
    text: str


class Text:
    """A rendering, with the lines of its norms and the places of its exceptions."""

    def __init__(self, text: str, policy: Policy) -> None:
        self.text = text
        self.policy = policy
        self.lines = text.split("\n")
        by_title = {n.title: n.id for n in policy.norms}
        found = (re.match(r"(\d+)\. \*\*(.*?)\.\*\*", line) for line in self.lines)
        self.numbers = {by_title[m[2]]: int(m[1]) for m in found if m and m[2] in by_title}
        """The number under which the text lists each norm."""

    def reference(self, norm: Norm) -> str:
        """Return a norm's name, as references give it."""
        return f"norm {self.numbers[norm.id]} ({norm.title})"

    def clause(self, text: str) -> str:
        """Return a clause with its references worded."""
        norms = {n.id: n for n in self.policy.norms}
        return re.sub(r"\{norm:(\w+)\}", lambda m: self.reference(norms[m[1]]), text)

    def exception(self, e: PolicyException) -> str:
        """Return an exception as the text words it, with the conditions inside it."""
        only_if = [f"provided that {self.clause(c)}" for c in e.only_if]
        but_not = [f"where {self.clause(c)}" for c in e.but_not]
        parts = [", and ".join(only_if)] * bool(only_if)
        parts += ["but not " + ", or ".join(but_not)] * bool(but_not)
        return self.clause(e.when) + (f" ({', '.join(parts)})" if parts else "")

    def whens(self, norm: Norm) -> list[str]:
        """Return a norm's exceptions, as the text words them."""
        return [self.exception(e) for e in norm.exceptions]

    def norm_line(self, norm: Norm) -> int:
        """Return the index of the line that states a norm."""
        return next(i for i, s in enumerate(self.lines) if f"**{norm.title}.**" in s)

    @property
    def apart(self) -> bool:
        """Whether exceptions stand in a section of their own."""
        return any(s.startswith("- Norm ") for s in self.lines)

    def host(self, norm: Norm) -> int | None:
        """Return the index of the line in which a norm's exceptions stand or would stand."""
        if not self.apart:
            return self.norm_line(norm)
        pattern = re.compile(rf"- Norm \d+ \({re.escape(norm.title)}\)")
        return next((i for i, s in enumerate(self.lines) if pattern.match(s)), None)

    def with_line(self, index: int, line: str | None) -> str:
        """Return the text with one line changed, or dropped."""
        kept = [] if line is None else [line]
        return "\n".join([*self.lines[:index], *kept, *self.lines[index + 1 :]])

    def edit(self, norm: Norm, edit: Callable[[str], str]) -> str:
        """Return the text with a norm's sentence edited; its label stays."""
        index = self.norm_line(norm)
        label, mark, body = self.lines[index].partition(".** ")
        return self.with_line(index, label + mark + edit(body))

    def sentences(self, pattern: str) -> Iterator[re.Match[str]]:
        """Find the sentences below the heading of the verdict that match a pattern."""
        start = max(self.text.find("## Verdict"), 0)
        for m in re.compile(r"(?:(?<=\*\* )|(?<=\. ))[^.\n*]+\.").finditer(self.text, start):
            if re.search(pattern, m[0]):
                yield m

    def replaced(self, m: re.Match[str], new: str) -> str:
        """Return the text with a match replaced."""
        return self.text[: m.start()] + new + self.text[m.end() :]

    def with_exceptions(
        self, norm: Norm, clauses: list[str], *, opener: str | None = None, link: str = ", or"
    ) -> str | None:
        """Return the text with other exceptions bound to a norm; None where they have no place."""
        index = self.host(norm)
        if index is None:
            return None
        line = self.lines[index]
        old = [e for n in self.policy.norms for e in self.whens(n) if e in line]
        spans = sorted((line.index(c), line.index(c) + len(c)) for c in old)
        if not spans:
            if self.apart or not clauses:
                return None
            word = opener or "unless"
            return self.with_line(index, f"{line[:-1]} {word} {f'{link} {word} '.join(clauses)}.")
        head, tail = line[: spans[0][0]], line[spans[-1][1] :]
        before, _, word = head.rstrip().rpartition(" ")
        leading = before.endswith(".**")
        if not clauses:
            if self.apart:
                return self.with_line(index, None)
            rest = tail.removeprefix(", ")
            return self.with_line(
                index, before + (f" {rest[:1].upper()}{rest[1:]}" if leading else rest)
            )
        word = opener or word.lower()
        body = f"{word} {f'{link} {word} '.join(clauses)}"
        body = body[:1].upper() + body[1:] if leading else body
        return self.with_line(index, f"{before} {body}{tail}")

    def with_force(self, norm: Norm, active: str, passive: str) -> str:
        """Return the text with a norm's force phrase replaced; `{base}` and so on are its verb."""
        verb = norm.action.verb

        def edit(body: str) -> str:
            be = rf"\b{_FORCE_PHRASE} be(?:ing)? {re.escape(verb['participle'])}\b"
            done = re.sub(be, lambda _: passive.format(**verb), body, count=1)
            if done != body:
                return done
            forms = "|".join(re.escape(verb[f]) for f in ("gerund", "base"))
            does = rf"\b{_FORCE_PHRASE} (?:{forms})\b"
            return re.sub(does, lambda _: active.format(**verb), body, count=1)

        return self.edit(norm, edit)


Apply = Callable[[Text], Iterable[str | None]]


@dataclass(frozen=True, slots=True)
class Operator:
    """One way to change a meaning, the dimension that it moves, and how it is done."""

    name: str
    dimension: Dimension
    apply: Apply


def whens(norm: Norm) -> list[str]:
    """Return the outer clauses of a norm's exceptions, as the policy has them."""
    return [e.when for e in norm.exceptions]
