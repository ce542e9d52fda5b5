"""The grammar of norms and exceptions for the English reader, and words for differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from judgeaudit.core.records import Dimension
from judgeaudit.policy import lexicon_en as lex
from judgeaudit.policy.reading import find, starts

__all__ = [
    "CONCEPTS",
    "CONNECTIVES",
    "bags",
    "chained",
    "difference",
    "dimension_of",
    "likeness",
    "until",
    "without",
    "without_force",
]

Words = tuple[str, ...]


def _by_first_word(phrases: Iterable[Words]) -> dict[str, list[Words]]:
    index: dict[str, list[Words]] = {}
    for phrase in sorted(phrases, key=len, reverse=True):
        index.setdefault(phrase[0], []).append(phrase)
    return index


CONNECTIVES = _by_first_word(lex.CONNECTIVES)
CONCEPTS = _by_first_word(lex.CONCEPTS)


def chained(words: Words, i: int, openers: Sequence[Words]) -> tuple[Words | None, int, str]:
    """Step over `, or` to the next exception of a chain, if there is one."""
    for link in ((",", "or"), ("or",), (",", "and"), ("and",)):
        if starts(words, i, link):
            at = i + len(link)
            opener = next((o for o in openers if starts(words, at, o)), None)
            if opener is not None:
                return opener, at, link[-1]
    return None, i, ""


def until(words: Words, i: int, openers: Sequence[Words]) -> Words:
    """Take words to the next exception, or to the end."""
    for j in range(i, len(words)):
        if chained(words, j, openers)[0] is not None or (words[j] == "," and j > i):
            return words[i:j]
    return words[i:]


def without_force(words: Words) -> tuple[Words, bool]:
    """Leave out the first force phrase, to name what else differs."""
    for phrase in lex.FORCES:
        left, found = without(words, phrase.words)
        if found:
            return left, True
    return words, False


def without(words: Words, phrase: Words) -> tuple[Words, bool]:
    """Leave out the first occurrence of a phrase, and say whether there was one."""
    at = find(words, phrase)
    return (words, False) if at < 0 else (words[:at] + words[at + len(phrase) :], True)


def dimension_of(missing: list[str], extra: list[str]) -> Dimension:
    """Name the dimension of a difference by its weightiest word."""
    if missing:
        return "scope"
    of = {lex.WORD_DIMENSION.get(w) for w in extra} - {None}
    if of & {"exception_set"} and "possible" not in extra:
        return "exception_set"
    return next((d for d in ("deontic_force", "implicit_threshold") if d in of), "scope")


def bags(expected: Words, found: Words) -> tuple[list[str], list[str]]:
    """Return the words that are missing, and those that are too many, in any order."""
    want, have = Counter(expected), Counter(found)
    return list((want - have).elements()), list((have - want).elements())


def difference(expected: Words, found: Words) -> str:
    """Word the first difference between two word sequences."""
    for op, a, b, c, d in SequenceMatcher(None, expected, found, autojunk=False).get_opcodes():
        old, new = " ".join(expected[a:b]), " ".join(found[c:d])
        if op == "replace":
            return f"{new!r} in place of {old!r}"
        if op == "delete":
            return f"{old!r} is missing"
        if op == "insert":
            return f"{new!r} is added"
    return "the same"


def likeness(a: Words, b: Words) -> float:
    """Return the share of the words of `a` that occur in `b`; small words alone do not count."""
    a = tuple(w for w in a if w not in lex.SMALL) or a
    return sum((Counter(a) & Counter(b)).values()) / len(a) if a else 0.0
