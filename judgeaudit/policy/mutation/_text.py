"""A rendering with its parts located, and the edits that operators are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from judgeaudit.core.records import Dimension, Norm, Policy

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
        old = [e.when for n in self.policy.norms for e in n.exceptions if e.when in line]
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
    """Return the clauses of a norm's exceptions."""
    return [e.when for e in norm.exceptions]
