"""Definitions, and what a policy as a whole applies to, in English."""

from __future__ import annotations

from collections.abc import Mapping

from judgeaudit.policy import grammar_en as g
from judgeaudit.policy import lexicon_en as lex
from judgeaudit.policy.reading import starts
from judgeaudit.policy.variants_en import phrase_wordings

__all__ = ["definition", "scope"]

Words = tuple[str, ...]

_MARKS = frozenset({'"', "“", "”", "'"})


def definition(words: Words, known: Mapping[Words, Words]) -> tuple[Words, str] | None:
    """Read a definition: the term, and what is wrong with it; None: the sentence is none."""
    if words[:1] and words[0] in _MARKS:
        close = next((i for i in range(1, len(words)) if words[i] in _MARKS), -1)
        verb = next((m for m in lex.MEANS if starts(words, close + 1, m)), None)
        if close < 0 or verb is None:
            return None
        term, meaning = words[1:close], words[close + 1 + len(verb) :]
    else:
        plain = _plain(words, known)
        if plain is None:
            return None
        term, meaning = plain
    if term not in known:
        return term, f"defines {' '.join(term)!r}, which the policy does not define"
    if meaning in phrase_wordings(known[term]):
        return term, ""
    difference = g.difference(known[term], meaning)
    return term, f"the meaning of {' '.join(term)!r} differs: {difference}"


def _plain(words: Words, known: Mapping[Words, Words]) -> tuple[Words, Words] | None:
    """Read a definition whose term stands in no marks; then it must be right in whole."""
    begin = 1 if words[:1] and words[0] in {"a", "an", "the"} else 0
    for term, meaning in known.items():
        for verb in lex.MEANS if starts(words, begin, term) else ():
            at = begin + len(term)
            if starts(words, at, verb) and words[at + len(verb) :] in phrase_wordings(meaning):
                return term, words[at + len(verb) :]
    return None


def scope(words: Words, known: Words) -> str | None:
    """Say what is wrong with a sentence on what the policy applies to; None: it is none."""
    rest: Words | None = None
    for phrase in lex.APPLIES_BEFORE:
        if starts(words, 0, phrase):
            rest = words[len(phrase) :]
    for phrase in lex.APPLIES_AFTER:
        if words[-len(phrase) :] == phrase:
            rest = words[: -len(phrase)]
    if rest is None:
        return None
    if rest in phrase_wordings(known):
        return ""
    return f"the policy applies to something else: {g.difference(known, rest)}"
