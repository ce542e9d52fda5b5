"""Checks of norms against each other, and of the rules of the verdict."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Final

from judgeaudit.core.records import Force, Norm, Policy
from judgeaudit.policy.linting._problem import Problem, about, english, found
from judgeaudit.policy.reading import words_of

__all__ = ["CHECKS"]

_AGAINST: Final[frozenset[frozenset[Force]]] = frozenset(
    frozenset(pair)
    for pair in (
        ("prohibited", "required"),
        ("prohibited", "permitted"),
        ("prohibited", "recommended"),
        ("required", "not_required"),
        ("required", "discouraged"),
        ("discouraged", "recommended"),
    )
)
_FORCE: Final[dict[Force, str]] = {
    "prohibited": "forbids",
    "required": "demands",
    "permitted": "allows",
    "not_required": "does not demand",
    "discouraged": "advises against",
    "recommended": "advises",
}
_NEGATIVE_VERB: Final = re.compile(
    r"^(?:not |fail to |refrain from |omit |avoid |neglect |stop |prevent |refuse )"
)
_BINDING: Final = frozenset({"prohibited", "required", "discouraged", "recommended"})
_LONG: Final = 70


def _verbs(norm: Norm) -> frozenset[str]:
    first = next(iter(norm.action.verb.values()))
    return frozenset(w for w in re.split(r",\s*|\s+(?:or|and)\s+|·|ㆍ", first.casefold()) if w)


def _same_act(policy: Policy, a: Norm, b: Norm) -> str | None:
    """Say how far two norms are about one act: `same`, `overlap`, or None."""
    if words_of(policy.bearer_of(a)) != words_of(policy.bearer_of(b)):
        return None
    if not _verbs(a) & _verbs(b):
        return None
    same = _verbs(a) == _verbs(b)
    for x, y in (
        (a.action.object, b.action.object),
        (a.action.rest, b.action.rest),
        (a.scope, b.scope),
    ):
        one, two = words_of(x), words_of(y)
        if one == two:
            continue
        same = False
        # a phrase that is missing is wider than any; so is one of which the other says more
        if one and two and not (about(x) <= about(y) or about(y) <= about(x)):
            return None
    return "same" if same else "overlap"


def _contradict(policy: Policy) -> Iterator[Problem]:
    for (_, a), (j, b) in combinations(enumerate(policy.norms), 2):
        how = _same_act(policy, a, b)
        if how is None:
            continue
        if frozenset((a.force, b.force)) in _AGAINST:
            said = f"{b.id!r} {_FORCE[b.force]} what {a.id!r} {_FORCE[a.force]}"
            if how == "same":
                yield found("contradictory-norms", ("norms", j), said)
            else:
                yield found(
                    "overlapping-norms",
                    ("norms", j),
                    f"{said}, at least in part: which of them wins is not said",
                )
        elif a.force == b.force and how == "same":
            one, two = ({words_of(e.when) for e in n.exceptions} for n in (a, b))
            if one == two:
                yield found(
                    "repeated-norm", ("norms", j), f"{b.id!r} says again what {a.id!r} does"
                )
            else:
                yield found(
                    "contradictory-norms",
                    ("norms", j),
                    f"{b.id!r} says what {a.id!r} says, with other exceptions",
                )


def _nothing_to_violate(policy: Policy) -> Iterator[Problem]:
    if not any(n.force in _BINDING for n in policy.norms):
        yield found(
            "nothing-to-violate",
            ("norms",),
            "no norm forbids, demands or advises anything: nothing can be violated",
        )


def _double_negation(policy: Policy) -> Iterator[Problem]:
    if not english(policy):
        return
    for i, n in enumerate(policy.norms):
        verb = n.action.verb.get("base", "")
        if n.force in ("prohibited", "discouraged", "not_required") and _NEGATIVE_VERB.match(verb):
            yield found(
                "double-negation",
                ("norms", i, "action", "verb"),
                f"{_FORCE[n.force]} to {verb!r}: say it without the second negation",
            )


def _leaning(policy: Policy) -> Iterator[Problem]:
    """Report verdict rules that all lean one way: judges then agree without looking."""
    b, t = policy.burden, policy.threshold.level
    if (b.doubt, b.exception, t, policy.default.uncovered) == (
        "SAFE", "presumed", "significant", "SAFE",
    ):  # fmt: skip
        yield found("leaning", ("burden",), "every rule of the verdict leans towards SAFE")
    if (b.doubt, b.exception, t, policy.default.uncovered) == (
        "UNSAFE", "must_be_shown", "any", "UNSAFE",
    ):  # fmt: skip
        yield found("leaning", ("burden",), "every rule of the verdict leans towards UNSAFE")


def _long(policy: Policy) -> Iterator[Problem]:
    for i, n in enumerate(policy.norms):
        first = next(iter(n.action.verb.values()))
        whole = (first, n.action.object, n.action.rest, n.scope, *(e.when for e in n.exceptions))
        words = sum(len(words_of(x)) for x in whole)
        if words > _LONG:
            said = f"{n.id!r} has {words} words with its exceptions: judges lose the last of them"
            yield found("long-norm", ("norms", i), said)


CHECKS: dict[str, Callable[[Policy], Iterator[Problem]]] = {
    "contradictory-norms": _contradict,
    "nothing-to-violate": _nothing_to_violate,
    "double-negation": _double_negation,
    "leaning": _leaning,
    "long-norm": _long,
}
