"""References from one norm to another, as the English reader resolves them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from judgeaudit.policy.reading import REFERENCE, starts
from judgeaudit.policy.segment import Statement, Token

__all__ = ["References", "subject_to"]

Words = tuple[str, ...]
Report = Callable[[Statement, str], None]

_SUBJECT = ("subject", "to")


@dataclass(slots=True)
class References:
    """The numbers and titles of a text, and which norm each names.

    Parameters
    ----------
    titles : mapping of words to str
        Norm ids by title.
    numbers : dict of int to set of str
        Norm ids by the number under which the text lists them; filled while it is read.
    """

    titles: Mapping[Words, str]
    numbers: dict[int, set[str]] = field(default_factory=dict)

    def number(self, number: int | None, norm_id: str) -> None:
        """Note under which number the text states a norm."""
        if number is not None:
            self.numbers.setdefault(number, set()).add(norm_id)

    def present(self, s: Statement) -> bool:
        """Say whether a statement names a norm by number or by title."""
        return "norm" in s.words and any(self._length(s.words, i) for i in range(len(s.words)))

    def resolve(self, s: Statement, report: Report) -> Statement:
        """Put one word in the place of every `norm 3 (Title)`; both must name the same norm."""
        out: list[Token] = []
        i = 0
        while i < len(s.tokens):
            length = self._length(s.words, i)
            id_ = self._named(s, i, length, report) if length else None
            if id_ is None:
                out.append(s.tokens[i])
                i += 1
                continue
            raw = " ".join(t.raw for t in s.tokens[i : i + length])
            out.append(Token(REFERENCE + id_, raw))
            i += length
        return replace(s, tokens=tuple(out))

    def _length(self, words: Words, i: int) -> int:
        """Return how many words a reference takes here; 0: there is none."""
        if words[i] != "norm":
            return 0
        end = i + 1
        if end < len(words) and words[end].isdigit():
            end += 1
        if end < len(words) and words[end] == "(" and ")" in words[end:]:
            end += len(self._title(words, end)) + 2
        return 0 if end == i + 1 else end - i

    def _title(self, words: Words, i: int) -> Words:
        """Take the title in brackets: a known one in whole, else what stands before `)`."""
        for title in self.titles:
            if starts(words, i, ("(", *title, ")")):
                return title
        return words[i + 1 : words.index(")", i)]

    def _named(self, s: Statement, i: int, length: int, report: Report) -> str | None:
        words = s.words
        numbered: str | None = None
        end = i + 1
        if words[end].isdigit():
            holders = self.numbers.get(int(words[end]), set())
            if len(holders) != 1:
                report(s, f"the number {words[end]} names {len(holders)} norms")
            numbered = next(iter(holders)) if len(holders) == 1 else None
            end += 1
        titled: str | None = None
        if end < i + length:
            title = words[end + 1 : i + length - 1]
            titled = self.titles.get(title)
            if titled is None:
                report(s, f"no norm has the title {' '.join(title)!r}")
            elif numbered is not None and numbered != titled:
                report(s, f"the number names norm {numbered!r}, the title norm {titled!r}")
        return titled or numbered


def subject_to(words: Words) -> tuple[Words, list[str]]:
    """Take `subject to norm 3 (Title) and norm 4 (Title)` off both ends of a norm.

    Returns
    -------
    tuple
        What is left, and the ids of the norms that prevail.
    """
    found: list[str] = []
    if starts(words, 0, _SUBJECT):
        end, ids = _list(words, len(_SUBJECT))
        if ids and words[end : end + 1] == (",",):
            words, found = words[end + 1 :], ids
    while True:
        at = next((i for i in range(len(words) - 1, 0, -1) if starts(words, i, _SUBJECT)), -1)
        end, ids = _list(words, at + len(_SUBJECT)) if at > 0 else (0, [])
        if not ids or end != len(words):
            return words, found
        words, found = words[: at - (words[at - 1] == ",")], [*found, *ids]


def _list(words: Words, i: int) -> tuple[int, list[str]]:
    """Read `A`, `A and B`, `A, B and C` of references."""
    ids: list[str] = []
    end = i
    while i < len(words) and words[i].startswith(REFERENCE):
        ids.append(words[i].removeprefix(REFERENCE))
        i += 1
        end = i
        links: Iterable[Words] = ((",", "and"), (",",), ("and",), ("and", "to"))
        i += max((len(link) for link in links if starts(words, i, link)), default=0)
    return end, ids
