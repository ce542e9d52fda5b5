"""Wordings of an English clause whose parts stand in another order: passive, fronted, swapped.

The rules are part of `variants_en`; each is defined on the policy's own words.
"""

from __future__ import annotations

from collections.abc import Iterator

from judgeaudit.policy.morphology_en import forms, is_participle

__all__ = [
    "DETERMINERS",
    "FINITE",
    "HAS",
    "NOT_SIMPLE",
    "PREPOSITIONS",
    "REORDERINGS",
    "present",
    "subject_of",
]

Words = tuple[str, ...]

DETERMINERS = frozenset((
    "the", "a", "an", "its", "his", "her", "their", "that", "this", "those", "these", "no",
    "every",
))  # fmt: skip
HAS = frozenset({"has", "have"})
FINITE = frozenset((
    "is", "are", "was", "were", "has", "have", "does", "do", "must", "may", "can", "cannot",
    "would",
))  # fmt: skip
NOT_SIMPLE = frozenset((
    "that", "which", "who", "whom", "whose", "what", "when", "where", "if", "unless", "as",
    "than", "because", "before",
))  # fmt: skip
"""Words with which a clause begins inside a phrase."""
PREPOSITIONS = frozenset((
    "in", "at", "for", "with", "from", "by", "to", "after", "within", "during", "on", "about",
))  # fmt: skip
_TO_END = ("only", "alone")


def subject_of(c: Words) -> Words:
    """Return the subject of a clause whose first verb is an auxiliary."""
    at = next((i for i, w in enumerate(c) if w in FINITE), 0)
    return () if set(c[:at]) & (NOT_SIMPLE | {"and", ","}) else c[:at]


def present(verb: str, form: str) -> frozenset[str]:
    """Return a form of a verb in the third person: `needs`, `carries`."""
    bases = [verb[:-1]]
    if verb.endswith("ies"):
        bases = [verb[:-3] + "y"]
    elif verb.endswith(("sses", "ches", "shes", "xes", "oes")):
        bases = [verb[:-2]]
    return frozenset(f for b in bases for f in forms(b)[form])


def _passive(c: Words) -> Iterator[Words]:
    """Turn the first verb into the passive: same parts, same roles."""
    for i in range(1, len(c) - 1):
        verb = 1 + (c[i] in HAS)
        auxiliaries: list[Words]
        if c[i] in HAS and is_participle(c[i + 1]):
            past, auxiliaries = {c[i + 1]}, [("has", "been"), ("have", "been")]
        elif (
            c[i].endswith("s")
            and c[i] not in FINITE
            and "'" not in c[i]
            and c[i + 1] in DETERMINERS | {"it"}
        ):
            past, auxiliaries = set(present(c[i], "participle")), [("is",), ("are",)]
        else:
            continue
        subject, after = c[:i], c[i + verb :]
        if set(subject) & (NOT_SIMPLE | FINITE | {"and", ","}) or not after:
            return
        end = _object(after)
        thing, rest = after[:end], after[end:]
        if not thing or set(thing) & (NOT_SIMPLE | FINITE):
            return
        moved = _rest(subject, c[i], rest)
        for tail in moved if moved is not None else ():
            for auxiliary in auxiliaries:
                for participle in sorted(past):
                    yield (*thing, *auxiliary, participle, "by", *subject, *tail)
        return


def _object(after: Words) -> int:
    """Return where the object ends: at a preposition, or where "and" begins a clause of its own."""
    for i, word in enumerate(after):
        if word in PREPOSITIONS and i:
            return i
        if word == "and" and i:
            following = after[i + 1 :]
            if following[:1] and (following[0] in FINITE or set(following) & FINITE):
                return i
    return len(after)


def _rest(subject: Words, verb: str, rest: Words) -> list[Words] | None:
    """Return what may stand behind a passive; None: what stood behind needs its subject."""
    if not rest:
        return [()]
    if rest[:2] == ("after", "being"):
        return [("after", *subject, *was, *rest[2:]) for was in (("was",), ("has", "been"))]
    if rest[0] == "and":
        return [rest] if rest[1] in DETERMINERS else None
    if rest[0] == "to":
        return [rest] if verb in {"needs", "requires"} else None
    if rest[0] in {"in", "for"} and not set(rest) & (NOT_SIMPLE | FINITE | {"and"}):
        return [rest]
    return None


def _fronted(c: Words) -> Iterator[Words]:
    """Put what came first first: `the user, having been told its effects, has confirmed it`."""
    for i in range(len(c) - 2):
        if c[i : i + 2] == ("after", "being") and is_participle(c[i + 2]):
            subject = subject_of(c[:i])
            if subject and "and" not in c and c[len(subject)] in HAS:
                for begin in (("having", "been"), ("after", "being"), ("after", "having", "been")):
                    told = (*begin, *c[i + 2 :])
                    yield (*subject, ",", *told, ",", *c[len(subject) : i])


def _by_law(c: Words) -> Iterator[Words]:
    """Say a legal duty otherwise: `must keep it by law`, `is required by law to keep it`."""
    if c[-2:] != ("by", "law") or c.count("must") != 1:
        return
    at = c.index("must")
    who, what = c[:at], c[at + 1 : -2]
    for required in ("required", "obliged"):
        yield (*who, "is", required, "by", "law", "to", *what)
        yield (*who, "is", "legally", required, "to", *what)
    for requires in ("requires", "obliges"):
        yield ("the", "law", requires, *who, "to", *what)
    yield (*who, "has", "to", *what, "by", "law")


def _swapped(c: Words) -> Iterator[Words]:
    """Swap two conditions that must both be met, and resolve what referred back.

    `the parcel goes only to the shop that sold it and the buyer has an account there` becomes `the
    buyer has an account at the shop that sold the parcel and the parcel goes only to that shop`.
    """
    if c.count("and") != 1 or c[-1] != "there" or "or" in c:
        return
    at = c.index("and")
    one, two = c[:at], c[at + 1 : -1]
    that = one.index("that") if "that" in one else -1
    if that < 2 or one[-1] != "it" or one[that - 2] != "the" or one[0] != "the":
        return
    thing = one[:2]
    place = (*one[that - 2 : that], *one[that:-1], *thing)
    last = (*one[: that - 2], "that", one[that - 1])
    ways = [last]
    if "only" in last:
        # the focus of "only" stands in front of it or behind it
        only = last.index("only")
        less = (*last[:only], *last[only + 1 :])
        ways += [(*less, word) for word in _TO_END]
    # a login is with a service as well as at it; to work with a shop is not to work there
    prepositions = ("at", "with") if two[-1] in {"login", "account"} else ("at",)
    for preposition in prepositions:
        for way in ways:
            for comma in ((), (",",)):
                yield (*two, preposition, *place, *comma, "and", *way)


REORDERINGS = (_swapped, _passive, _fronted, _by_law)
"""All rules of this module."""
