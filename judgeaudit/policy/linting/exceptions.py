"""Checks of exceptions: those that swallow their norm, repeat, or hang in the air."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from judgeaudit.core.records import Norm, Policy
from judgeaudit.policy.linting._problem import Problem, about, english, found
from judgeaudit.policy.reading import words_of

__all__ = ["CHECKS"]

# A clause that always holds, or that whoever is bound can make hold by thinking so.
_ALWAYS: Final = re.compile(
    r"\b(?:in any (?:case|event|circumstances?)|for any reason|under any circumstances|"
    r"at any time|always|at all times|in all cases|whatever the (?:reason|case))\b"
)
_THINKS: Final = (
    r"(?:believes?|thinks?|considers?|deems?|feels?|finds?|judges?|decides?|determines?|prefers?|"
    r"wants?|wishes|considered|deemed|"
    r"judged|decided|determined|sees? fit|is of the opinion|are of the opinion)"
)
_SUITS: Final = re.compile(
    r"\b(?:it is|this is|that is|doing so is) (?:useful|convenient|helpful|faster|easier|quicker|"
    r"efficient|more efficient|practical|possible|appropriate|reasonable|desirable)\b"
)
_DISCRETION: Final = re.compile(
    r"\b(?:necessary|needed|appropriate|reasonable|justified|proportionate|in (?:its|their) "
    r"(?:judgement|judgment|discretion))\b"
)
_PRONOUN: Final = re.compile(
    r"^(?:it|they|this|that|these|those|he|she|doing so|such)\b", re.IGNORECASE
)
_UNLESS: Final = re.compile(r"\b(?:unless|except (?:if|when|where|that|for))\b", re.IGNORECASE)
_NOT: Final = frozenset({"not", "no", "never", "without"})


def _each(policy: Policy) -> Iterator[tuple[tuple[str | int, ...], Norm, str]]:
    for i, n in enumerate(policy.norms):
        for j, e in enumerate(n.exceptions):
            yield ("norms", i, "exceptions", j, "when"), n, e.when


def _swallows(policy: Policy) -> Iterator[Problem]:
    for path, n, when in _each(policy):
        why = _why_swallowed(policy, n, when) if english(policy) else None
        if why is None and about(when):
            act = about(f"{next(iter(n.action.verb.values()))} {n.action.object}")
            if about(when) == act:
                why = "its condition is the act itself"
            elif n.scope and about(n.scope) and about(when) == about(n.scope):
                why = "its condition is the norm's own scope"
        if why is not None:
            yield found(
                "exception-swallows-norm", path, f"{when!r} leaves nothing of {n.id!r}: {why}"
            )
    for i, n in enumerate(policy.norms):
        for j, a in enumerate(n.exceptions):
            for b in n.exceptions[:j]:
                if _opposite(a.when, b.when):
                    yield found(
                        "exception-swallows-norm",
                        ("norms", i, "exceptions", j, "when"),
                        f"{a.when!r} and {b.when!r} are each other's opposite: one of them always "
                        f"holds, so {n.id!r} never does",
                    )


def _why_swallowed(policy: Policy, norm: Norm, when: str) -> str | None:
    if _ALWAYS.search(when):
        return "it always holds"
    bearer = re.escape(policy.bearer_of(norm))
    if re.search(rf"\b{bearer} (?:\w+ )?{_THINKS}\b", when, re.IGNORECASE):
        return f"{policy.bearer_of(norm)} makes it hold by thinking so"
    if _SUITS.search(when):
        return "it holds whenever it suits"
    return None


def _opposite(a: str, b: str) -> bool:
    """Say whether two clauses differ by one negation alone."""
    x, y = words_of(a), words_of(b)
    bare = [tuple(w for w in words if w not in _NOT) for words in (x, y)]
    return bare[0] == bare[1] and abs(len(x) - len(y)) == 1


def _discretion(policy: Policy) -> Iterator[Problem]:
    if not english(policy):
        return
    for path, n, when in _each(policy):
        word = _DISCRETION.search(when)
        if word and _why_swallowed(policy, n, when) is None:
            yield found(
                "discretion", path, f"{when!r} turns on {word[0]!r}: whose view counts is not said"
            )


def _repeats(policy: Policy) -> Iterator[Problem]:
    for i, n in enumerate(policy.norms):
        for j, e in enumerate(n.exceptions):
            for other in n.exceptions[:j]:
                a, b = about(e.when), about(other.when)
                same_sense = a == b and not _opposite(e.when, other.when)
                if a and same_sense and len(words_of(e.when)) == len(words_of(other.when)):
                    yield found(
                        "repeated-exception",
                        ("norms", i, "exceptions", j, "when"),
                        f"{e.when!r} says again what {other.id!r} says",
                    )
                elif a and b and same_sense:
                    yield found(
                        "repeated-exception",
                        ("norms", i, "exceptions", j, "when"),
                        f"{e.when!r} is about the same as {other.id!r}: one may do",
                    )


def _pronoun(policy: Policy) -> Iterator[Problem]:
    if not english(policy):
        return
    for path, _, when in _each(policy):
        if m := _PRONOUN.match(when):
            yield found(
                "unbound-pronoun",
                path,
                f"begins with {m[0]!r}: where exceptions stand in front, nothing comes before it",
            )


def _hidden(policy: Policy) -> Iterator[Problem]:
    if not english(policy):
        return
    for i, n in enumerate(policy.norms):
        for key, text in (
            (("action", "object"), n.action.object),
            (("action", "rest"), n.action.rest),
            (("scope",), n.scope),
        ):
            if m := _UNLESS.search(text):
                yield found(
                    "hidden-exception",
                    ("norms", i, *key),
                    f"{m[0]!r} in {text!r} is an exception, and stands where no wording finds it: "
                    "make it one of the norm's exceptions",
                )


CHECKS: dict[str, Callable[[Policy], Iterator[Problem]]] = {
    "exception-swallows-norm": _swallows,
    "hidden-exception": _hidden,
    "repeated-exception": _repeats,
    "discretion": _discretion,
    "unbound-pronoun": _pronoun,
}
