"""A Korean rendering with its parts located, and the edits that Korean operators are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from judgeaudit.core.records import Dimension, Norm, Policy, PolicyException

__all__ = ["LEADING", "KoreanOperator", "KoreanText"]

LEADING = "(?:를 제외하고| 외에는), "
"""What follows the cases where they stand before the norm."""

_TAILS = (
    "서는 아니 된다", "서는 안 된다", " 것이 금지된다", " 것이 허용되지 아니한다",
    "지 아니할 의무가 있다", "야 한다", " 의무가 있다", " 의무를 진다", " 수 있다",
    " 것이 허용된다", "도 된다", "도 무방하다", "지 아니하여도 된다", "지 않아도 된다",
    " 의무가 없다", " 필요가 없다", "지 아니하는 것이 바람직하다", "지 않는 것이 바람직하다",
    " 것이 바람직하지 아니하다", "지 아니할 것이 권고된다", " 것이 바람직하다", " 것이 권고된다",
    " 것이 권장된다",
)  # fmt: skip


class KoreanText:
    """A rendering, with the lines of its norms and the places of its exceptions."""

    def __init__(self, text: str, policy: Policy) -> None:
        self.text = text
        self.policy = policy
        self.lines = text.split("\n")

    def norm_line(self, norm: Norm) -> int:
        """Return the index of the line that states a norm."""
        pattern = re.compile(rf"\*\*제\d+조\({re.escape(norm.title)}\)\*\* ")
        return next(i for i, s in enumerate(self.lines) if pattern.match(s))

    def number(self, norm: Norm) -> str:
        """Return the number under which a norm stands."""
        m = re.search(r"제(\d+)조", self.lines[self.norm_line(norm)])
        assert m is not None
        return m[1]

    @property
    def numbers(self) -> dict[str, int]:
        """The number under which the text states each norm."""
        return {n.id: int(self.number(n)) for n in self.policy.norms}

    def reference(self, norm: Norm) -> str:
        """Return a norm's name, as references give it."""
        return f"제{self.number(norm)}조({norm.title})"

    def clause(self, text: str) -> str:
        """Return a clause with its references worded."""
        norms = {n.id: n for n in self.policy.norms}
        return re.sub(r"\{norm:(\w+)\}", lambda m: self.reference(norms[m[1]]), text)

    def case(self, e: PolicyException) -> str:
        """Return an exception as the text words it, 경우 and the brackets behind it included."""
        only_if = [f"{self.clause(c)} 경우" for c in e.only_if]
        but_not = [f"{self.clause(c)} 경우" for c in e.but_not]
        inside = _listed(only_if, " 및 ") + "에 모두 해당하는 경우" * (len(only_if) > 1)
        inside += ("로 한정하되, " if but_not else "로 한정한다") if only_if else ""
        inside += _listed(but_not, " 또는 ") + "는 제외한다" if but_not else ""
        return f"{self.clause(e.when)} 경우" + (f"({inside})" if inside else "")

    def cases(self, norm: Norm) -> list[str]:
        """Return a norm's exceptions, as the text words them."""
        return [self.case(e) for e in norm.exceptions]

    @property
    def apart(self) -> bool:
        """Whether exceptions stand in a section of their own."""
        return any(s.startswith("- 제") for s in self.lines)

    def host(self, norm: Norm) -> int | None:
        """Return the index of the line in which a norm's exceptions stand or would stand."""
        if not self.apart:
            return self.norm_line(norm)
        pattern = re.compile(rf"- 제\d+조\({re.escape(norm.title)}\)")
        return next((i for i, s in enumerate(self.lines) if pattern.match(s)), None)

    def with_line(self, index: int, line: str | None) -> str:
        """Return the text with one line changed, or dropped."""
        kept = [] if line is None else [line]
        return "\n".join([*self.lines[:index], *kept, *self.lines[index + 1 :]])

    def edit(self, norm: Norm, edit: Callable[[str], str]) -> str:
        """Return the text with a norm's own sentence edited; label and proviso stay."""
        index = self.norm_line(norm)
        label, main, more = self.parted(index)
        return self.with_line(index, label + edit(main) + more)

    def parted(self, index: int) -> tuple[str, str, str]:
        """Part the line of a norm into its label, its first sentence, and all that follows."""
        m = re.fullmatch(r"(\*\*제\d+조\(.*?\)\*\* )(.*?[.?])((?: .*)?)", self.lines[index])
        assert m is not None
        return m[1], m[2], m[3]

    def append(self, norm: Norm, sentence: str) -> str:
        """Return the text with a sentence behind all others in the line of a norm."""
        index = self.norm_line(norm)
        return self.with_line(index, f"{self.lines[index]} {sentence}")

    def swap(self, norm: Norm, old: str, new: str) -> str:
        """Return the text with a phrase of a norm's sentence replaced once."""
        return self.edit(norm, lambda body: body.replace(old, new, 1) if old else body)

    def sentences(self, pattern: str) -> Iterator[re.Match[str]]:
        """Find the sentences below the heading of the verdict that match a pattern."""
        start = max(self.text.find("## 판정"), 0)
        for m in re.compile(r"(?:(?<=\*\* )|(?<=\. ))[^.\n*]+\.").finditer(self.text, start):
            if re.search(pattern, m[0]):
                yield m

    def replaced(self, m: re.Match[str], new: str) -> str:
        """Return the text with a match replaced."""
        return self.text[: m.start()] + new + self.text[m.end() :]

    def with_exceptions(
        self, norm: Norm, cases: list[str], *, link: str = " 또는 ", closing: str | None = None
    ) -> str | None:
        """Return the text with other exceptions bound to a norm; None where they have no place.

        Parameters
        ----------
        cases : list of str
            Conditions; those that lack the word 경우 get it.
        closing : str, optional
            What follows the cases, in place of `에는 그러하지 아니하다.` or the like.
        """
        index = self.host(norm)
        if index is None:
            return None
        line = self.lines[index]
        worded = link.join(c if "경우" in c else f"{c} 경우" for c in cases)
        known = [c for n in self.policy.norms for c in self.cases(n)]
        spans = [(line.index(c), line.index(c) + len(c)) for c in known if c in line]
        if not spans:
            if self.apart or not cases:
                return None
            label, main, more = self.parted(index)
            end = closing if closing is not None else "에는 그러하지 아니하다."
            return self.with_line(index, f"{label}{main} 다만, {worded}{end}{more}")
        head, tail = line[: min(spans)[0]], line[max(end for _, end in spans) :]
        m = re.match(rf"{LEADING}|에는 (?:그러하지|적용하지) 아니하다?[.한다]*", tail)
        end, more = (tail[: m.end()], tail[m.end() :]) if m else (tail, "")
        leading = re.match(LEADING, tail) is not None
        if cases:
            if closing is not None:
                end = closing + " " * leading
            return self.with_line(index, head + worded + end + more)
        if self.apart:
            return self.with_line(index, None)
        return self.with_line(index, head.removesuffix(" 다만, ") + more)

    def with_force(self, norm: Norm, pattern: str) -> str:
        """Return the text with a norm's force replaced; `{infinitive}` and so on are its verb."""
        verb = norm.action.verb
        stem = verb["base"].removesuffix("다")
        infinitive = verb["infinitive"]
        short = infinitive[:-2] + "해" if infinitive.endswith("하여") else infinitive
        slots = {**verb, "stem": stem, "short": short}
        written = {stem, infinitive, short, verb["adnominal"], verb["prospective"]}
        forms = [*sorted(written, key=len, reverse=True)]
        tails = "|".join(map(re.escape, sorted(_TAILS, key=len, reverse=True)))

        def edit(body: str) -> str:
            if "passive" in verb and (at := body.rfind(verb["passive"])) >= 0:
                turned = verb["passive"].removesuffix("어")
                passive = {
                    "stem": turned, "infinitive": turned + "어", "short": turned + "어",
                    "adnominal": turned + "는", "prospective": turned[:-1] + "될",
                }  # fmt: skip
                return body[:at] + pattern.format(**passive) + "."
            for form in forms:
                m = re.search(rf"(?<= ){re.escape(form)}(?:{tails})\.$", body)
                if m is not None:
                    return body[: m.start()] + pattern.format(**slots) + "."
            return body

        return self.edit(norm, edit)


def _listed(cases: list[str], link: str) -> str:
    return link.join([", ".join(cases[:-1]), cases[-1]] if len(cases) > 1 else cases)


@dataclass(frozen=True, slots=True)
class KoreanOperator:
    """One way to change a meaning, the dimension that it moves, and how it is done."""

    name: str
    dimension: Dimension
    apply: Callable[[KoreanText], Iterable[str | None]]
