"""How an English sentence that is not understood differs from what it resembles, for findings."""

from __future__ import annotations

from judgeaudit.core.records import Dimension
from judgeaudit.policy import grammar_en as g
from judgeaudit.policy import lexicon_en as lex
from judgeaudit.policy.morphology_en import forms
from judgeaudit.policy.numbers_en import as_number
from judgeaudit.policy.reading import REFERENCE, Vocabulary, starts

__all__ = ["about", "concepts_of", "unlike"]

Words = tuple[str, ...]


def unlike(v: Vocabulary, main: Words, titled: str | None) -> tuple[Dimension, str] | None:
    """Say how a sentence that is no norm of the policy differs from the nearest norm."""
    best, score = "", 0.0
    for norm_id in v.verbs:
        likeness = g.likeness(_content(v, norm_id), main)
        if likeness > score or (likeness == score and norm_id == titled):
            best, score = norm_id, likeness
    if score < 0.5:
        if titled is None:
            return None
        best = titled
    bearer = v.bearers[best]
    rest, has_force = g.without_force(main)
    rest, has_bearer = g.without(rest, bearer)
    for word in v.verbs[best]:
        same = {f for group in forms(word).values() for f in group} | {word}
        at = next((i for i, w in enumerate(rest) if w in same), -1)
        if at >= 0:
            rest = (*rest[:at], word, *rest[at + 1 :])
    missing, extra = g.bags(_content(v, best), rest)
    extra = [w for w in extra if w not in {"be", "being", "by"}]
    referring = any(w.startswith(REFERENCE) for w in extra)
    extra = [f"norm {w[1:]}" if w.startswith(REFERENCE) else w for w in extra]
    parts = [f"missing {', '.join(map(repr, missing))}"] if missing else []
    parts += [f"not understood {', '.join(map(repr, extra))}"] if extra else []
    parts += [] if has_bearer else [f"it does not bind {' '.join(bearer)!r}"]
    parts += [] if has_force else ["its force is not understood"]
    detail = "; ".join(parts) or "its words stand in an order that changes their meaning"
    dimension = g.dimension_of(missing, extra) if has_bearer and has_force else "scope"
    if not has_force and not missing and has_bearer:
        dimension = "deontic_force"
    dimension = "exception_set" if referring else dimension
    return dimension, f"norm {best!r} reads differently: {detail}"


def _content(v: Vocabulary, norm_id: str) -> Words:
    return v.verbs[norm_id] + v.objects[norm_id] + v.rests[norm_id] + v.scopes[norm_id]


def concepts_of(v: Vocabulary, words: Words) -> tuple[list[str], list[str]]:
    """Map words to concepts; connectives are written `<if>`."""
    number = v.policy.threshold.at_least
    found: list[str] = []
    unknown: list[str] = []
    i = 0
    while i < len(words):
        if v.unit and starts(words, i, v.unit):
            found.append("UNIT")
            i += len(v.unit)
            continue
        phrase = next((p for p in g.CONNECTIVES.get(words[i], ()) if starts(words, i, p)), None)
        if phrase is not None:
            found.append(f"<{lex.CONNECTIVES[phrase]}>")
            i += len(phrase)
            continue
        phrase = next((p for p in g.CONCEPTS.get(words[i], ()) if starts(words, i, p)), None)
        if phrase is not None:
            concept = lex.CONCEPTS[phrase]
            found.append(concept or ("<,>" if phrase == (",",) else ""))
            if phrase in {("does",), ("do",)}:
                found[-1] = "<does>"
            i += len(phrase)
            continue
        if number is not None and as_number(words[i]) == number:
            found.append("NUMBER")
        else:
            unknown.append(words[i])
        i += 1
    return found, unknown


def about(concepts: list[str], unknown: list[str]) -> tuple[Dimension, str]:
    """Say what a sentence about the verdict that is not understood seems to be about."""
    dimension: Dimension = "implicit_threshold"
    if {"OPEN", "SHOWS", "EXCEPTION", "CONDITION"} & set(concepts):
        dimension = "burden_of_proof"
    elif {"COVERS", "CONDUCT"} & set(concepts):
        dimension = "default_rule"
    why = f"(not understood: {', '.join(map(repr, unknown))})" if unknown else ""
    return dimension, f"says something else about the verdict {why}".rstrip()
