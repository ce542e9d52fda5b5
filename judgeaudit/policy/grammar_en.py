"""The grammar of norms and exceptions for the English reader, and words for differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher

from judgeaudit.core.records import Dimension, Force
from judgeaudit.policy import lexicon_en as lex
from judgeaudit.policy.morphology_en import forms
from judgeaudit.policy.reading import find, starts

__all__ = [
    "CONCEPTS",
    "CONNECTIVES",
    "active",
    "as_number",
    "bags",
    "chained",
    "difference",
    "dimension_of",
    "likeness",
    "passive",
    "shape_of",
    "stands",
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
_FORCES: dict[str, list[lex.ForcePhrase]] = {}
for _phrase in lex.FORCES:
    _FORCES.setdefault(_phrase.words[0], []).append(_phrase)
CONCEPTS = _by_first_word(lex.CONCEPTS)


def active(words: Words, bearer: Words, verb: Words, ending: Words) -> Force | None:
    """Match `the agent must not disclose …` in whole."""
    if not starts(words, 0, bearer):
        return None
    for phrase in _FORCES.get(words[len(bearer)] if len(words) > len(bearer) else "", ()):
        at = len(bearer)
        if starts(words, at, phrase.words):
            at += len(phrase.words)
            if _is_form(words[at : at + len(verb)], verb, phrase.complement):
                return phrase.force if words[at + len(verb) :] == ending else None
    return None


def passive(
    words: Words, bearer: Words, verb: Words, object_: Words, tail: tuple[Words, ...]
) -> Force | None:
    """Match `personal data must not be disclosed by the agent …` in whole."""
    if not object_ or not starts(words, 0, object_):
        return None
    if _FORCES.get(words[len(object_)] if len(words) > len(object_) else "") is None:
        return None
    by = ("by", *bearer)
    endings = []
    for place in range(len(tail) + 1):
        parts = (*tail[:place], by, *tail[place:])
        endings.append(tuple(w for part in parts for w in part))
    for phrase in _FORCES.get(words[len(object_)] if len(words) > len(object_) else "", ()):
        at = len(object_)
        if starts(words, at, phrase.words):
            at += len(phrase.words)
            if words[at : at + 1] != ("be" if phrase.complement == "base" else "being",):
                continue
            at += 1
            if _is_form(words[at : at + len(verb)], verb, "participle"):
                return phrase.force if words[at + len(verb) :] in endings else None
    return None


def _is_form(found: Words, verb: Words, form: str) -> bool:
    """Compare a verb phrase with a form of it, word by word (`carried out`, `spent or pledged`)."""
    return len(found) == len(verb) and all(
        f == b or f in forms(b)[form] for f, b in zip(found, verb, strict=True)
    )


def stands(words: Words, i: int, clause: Words, openers: Sequence[Words]) -> bool:
    """Say whether a clause stands here in whole.

    Up to a comma, a bracket, a further exception or the end.
    """
    end = i + len(clause)
    return starts(words, i, clause) and (
        end == len(words) or words[end] in {",", "("} or chained(words, end, openers)[0] is not None
    )


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


def shape_of(concepts: list[str]) -> lex.Shape:
    """Part a sentence at its connective into main clause and condition."""
    marks = {"<,>", "<does>"}
    at = [i for i, c in enumerate(concepts) if c.startswith("<") and c not in marks]
    if len(at) != 1:
        return lex.shape([c for c in concepts if c not in marks], "none" if at else "", [])
    connective = concepts[at[0]].strip("<>")
    main, condition = concepts[: at[0]], concepts[at[0] + 1 :]
    if not any(main):
        # a condition in front ends at its comma, or where an inverted main clause begins
        end = next((i for i, c in enumerate(condition) if c in marks), len(condition))
        main, condition = condition[end:], condition[:end]
    return lex.shape(
        [c for c in main if c not in marks], connective, [c for c in condition if c not in marks]
    )


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


def as_number(word: str) -> float | None:
    """Read a number, thousands separated by commas; None for any other word."""
    try:
        return float(word.replace(",", ""))
    except ValueError:
        return None
