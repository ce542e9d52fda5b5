"""Other ways in which English says what a phrase of a policy says, listed one by one.

A text is never rewritten and never compared by likeness. The policy's own phrase is taken, and
every rule below adds the wordings that mean the same; a text must hold one of them word by word.
A rule that does not fit a phrase adds nothing, or adds what nobody writes. Where two phrases of a
policy would come to share a wording, that wording is left out: it would not say which is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from judgeaudit.policy.morphology_en import is_participle
from judgeaudit.policy.movement_en import (
    DETERMINERS,
    FINITE,
    HAS,
    NOT_SIMPLE,
    PREPOSITIONS,
    REORDERINGS,
    present,
    subject_of,
)
from judgeaudit.policy.numbers_en import as_number

__all__ = ["clause_wordings", "head", "phrase_wordings", "table"]

Words = tuple[str, ...]
Rule = Callable[[Words], Iterator[Words]]

_LIMIT = 6000
_NO_NOUNS = frozenset({"very", "same", "particular"})

# Strict equivalents, by word class. Each pair holds in both directions in a normative text.
_SYNONYMS: tuple[tuple[str, str], ...] = (
    # verbs: what a task needs it requires; to ask for is to request; to consent is to agree
    ("needs the", "requires the"),
    ("needs a", "requires a"),
    ("task needs", "task requires"),
    ("has asked for", "has requested"),
    ("has agreed to", "has consented to"),
    # pronouns in -body and -one do not differ in meaning
    ("anybody", "anyone"),
    ("nobody", "no one"),
    ("everybody", "everyone"),
    # what excepts after any- and no-: but, except, other than
    ("anyone other than", "anyone but"),
    ("anyone other than", "anyone except"),
    ("anybody but", "anybody other than"),
    ("nothing but the", "only the"),
    ("nothing but the", "nothing other than the"),
    ("only to", "to nobody but"),
    ("only to", "to no one but"),
    ("only to", "solely to"),
    # prepositions
    ("before the", "prior to the"),
    ("in order to", "so as to"),
    # both say that the one came before the other
    ("after being", "after having been"),
)
# A limit and its other wordings: `#` is a number, `*` is its unit of one or two words.
_AT_MOST = ("is at most # *", "is no more than # *", "is not more than # *", "does not exceed # *",
            "is no higher than # *", "is not higher than # *", "is # * or less",
            "stays at or below # *", "is at or below # *", "stays at or under # *",
            "does not go above # *")  # fmt: skip
_AT_LEAST = ("is at least # *", "is no less than # *", "is not less than # *", "is # * or more")


def clause_wordings(clause: Words, thing: str = "") -> frozenset[Words]:
    """Return all wordings of a clause, itself among them.

    Parameters
    ----------
    thing : str
        The head noun of what the norm is about, to which "that action" can refer back.
    """
    return _wordings(clause, thing)


def phrase_wordings(phrase: Words, *, negative: bool = False) -> frozenset[Words]:
    """Return all wordings of a phrase of a norm, of a scope or of a definition.

    Parameters
    ----------
    negative : bool
        Whether a ban holds it: under a negation "a" and "any" do not differ.
    """
    return _phrases(phrase, negative)


@lru_cache(maxsize=64)
def table(clauses: frozenset[tuple[Words, str]]) -> dict[Words, Words]:
    """Return the clause that each wording of some clauses stands for; with each, its `thing`."""
    found: dict[Words, Words] = {}
    taken: set[Words] = set()
    literal = {c for c, _ in clauses}
    for clause, thing in clauses:
        for wording in clause_wordings(clause, thing):
            if wording in literal:
                found[wording] = wording
            elif found.setdefault(wording, clause) != clause:
                taken.add(wording)
    return {w: c for w, c in found.items() if w not in taken}


@lru_cache(maxsize=2048)
def _wordings(clause: Words, thing: str) -> frozenset[Words]:
    # what changes the order comes first and once: it is defined on the policy's own words
    start = {clause}
    for reorder in REORDERINGS:
        start.update(w for c in tuple(start) for w in reorder(c))
    return _closed(start, (*_LOCAL, lambda c: _demonstrative(c, thing)))


def head(phrase: Words) -> str:
    """Return the head noun of a simple noun phrase: "action" of `an irreversible action`."""
    end = next((i for i, w in enumerate(phrase) if w in PREPOSITIONS | NOT_SIMPLE | {"of"}), None)
    first = phrase[:end]
    joined = {"and", "or", ",", "more", "than"} & set(first)
    return "" if joined or not first else first[-1]


@lru_cache(maxsize=2048)
def _phrases(phrase: Words, negative: bool) -> frozenset[Words]:
    rules = (*_LOCAL, _purpose, _while, _comparative, *((_any,) if negative else ()))
    return _closed({phrase}, rules)


def _closed(start: set[Words], rules: Iterable[Rule]) -> frozenset[Words]:
    """Apply rules until nothing new comes, or there are very many wordings."""
    found = set(start)
    rules = tuple(rules)
    pending = sorted(start)
    while pending and len(found) < _LIMIT:
        one = pending.pop(0)
        for rule in rules:
            for new in rule(one):
                if new not in found:
                    found.add(new)
                    pending.append(new)
    return frozenset(found)


# ---- rules on a place of a phrase ---------------------------------------------------------------


def _synonyms(c: Words) -> Iterator[Words]:
    """Replace a word by one that means the same."""
    for i, word in enumerate(c):
        for old, new in _PAIRS.get(word, ()):
            if c[i : i + len(old)] == old:
                yield (*c[:i], *new, *c[i + len(old) :])


def _limits(c: Words) -> Iterator[Words]:
    """Say a limit otherwise: `is at most 20 euros`, `does not exceed 20 euros`."""
    if not any(as_number(w) is not None for w in c):
        return
    for family in (_AT_MOST, _AT_LEAST):
        for old in family:
            for i in range(len(c)):
                for unit in (1, 2, 0):
                    number, words = _limit_at(c, i, old, unit)
                    if number is None:
                        continue
                    length = len(old.split()) - 1 + unit
                    for new in family:
                        if new != old and (unit or "or " not in new):
                            put = " ".join(words) if words else ""
                            text = new.replace("#", number).replace("*", put)
                            yield (*c[:i], *text.split(), *c[i + length :])


def _limit_at(c: Words, i: int, pattern: str, unit: int) -> tuple[str | None, Words]:
    number: str | None = None
    words: Words = ()
    at = i
    for part in pattern.split():
        if part == "*":
            words = c[at : at + unit]
            at += unit
            if len(words) < unit or not all(w.isalpha() for w in words):
                return None, ()
        elif at < len(c) and part == "#" and as_number(c[at]) is not None:
            number = c[at]
            at += 1
        elif at < len(c) and part == c[at]:
            at += 1
        else:
            return None, ()
    # the unit must be whole: what follows is the end, or no noun
    if at < len(c) and c[at] not in {"and", "or", ",", "(", ")"}:
        return None, ()
    return number, words


def _both(c: Words) -> Iterator[Words]:
    """Put "both" before two joined by "and": `both the name and the price`."""
    if "both" in c or c.count("and") != 1:
        return
    at = c.index("and")
    for size in (2, 3):
        i = at - size
        if i > 0 and c[i] == "the" and c[at + 1 : at + 2] in {("the",), ("its",)}:
            if set(c[at + 1 :]) & FINITE:
                return
            if is_participle(c[i - 1]) or c[i - 1].endswith("s"):
                yield (*c[:i], "both", *c[i:])
    has = next((i for i, w in enumerate(c[:at]) if w in HAS), -1)
    after = c[at + 1 : at + 3]
    joined = after[:1] == c[has : has + 1] or (after and is_participle(after[0]))
    if 0 <= has < at - 1 and is_participle(c[has + 1]) and joined:
        yield (*c[: has + 1], "both", *c[has + 1 :])


def _auxiliary(c: Words) -> Iterator[Words]:
    """Leave out an auxiliary that was said: `has seen it and has approved it`."""
    for i in range(1, len(c) - 2):
        again = c[i] in {"and", "or"} and c[i + 1] in HAS and c[i + 1] in c[:i]
        if again and is_participle(c[i + 2]):
            yield (*c[: i + 1], *c[i + 2 :])


def _articles(c: Words) -> Iterator[Words]:
    """Say an article once, or not at all, before two that are joined: `recipient and amount`."""
    for i in range(len(c) - 4):
        if c[i] == "the" and c[i + 2] == "and" and c[i + 3] == "the" and _ends(c, i + 5):
            yield (*c[: i + 3], *c[i + 4 :])
            yield (*c[:i], c[i + 1], "and", *c[i + 4 :])
    for i in range(1, len(c) - 4):
        # payee, amount and date
        if is_participle(c[i - 1]) and c[i + 1] == "," and c[i + 3] == "and" and _ends(c, i + 5):
            yield (*c[:i], "the", *c[i : i + 2], "the", *c[i + 2 : i + 4], "the", *c[i + 4 :])
            yield (*c[:i], "the", *c[i:])
    for i in range(1, len(c) - 2):
        plain = c[i].isalpha() and c[i + 2].isalpha() and not {c[i], c[i + 2]} & DETERMINERS
        if is_participle(c[i - 1]) and c[i + 1] == "and" and plain and _ends(c, i + 3):
            yield (*c[:i], "the", *c[i : i + 2], "the", *c[i + 2 :])


def _ends(c: Words, i: int) -> bool:
    return i == len(c) or c[i] in {"and", ",", "have", "has", "are"}


def _after(c: Words) -> Iterator[Words]:
    """Say who was told: `has confirmed it after being told`, `… after the user was told`."""
    for i in range(len(c) - 2):
        if c[i : i + 2] == ("after", "being") and is_participle(c[i + 2]):
            subject = subject_of(c[:i])
            for was in (("was",), ("has", "been"), ("had", "been")) if subject else ():
                yield (*c[: i + 1], *subject, *was, *c[i + 2 :])


def _demonstrative(c: Words, thing: str) -> Iterator[Words]:
    """Refer to what was named: `the action`, `that action`, `that very action`, `it`."""
    for i in range(len(c) - 1):
        if c[i] == "the" and c[i + 2 : i + 4] == ("in", "question"):
            for word in ("that", "this", "those", "these"):
                for more in ((), *_EMPHASIS):
                    yield (*c[:i], word, *more, c[i + 1], *c[i + 4 :])
    places = [i for i in range(len(c) - 1) if c[i] in {"the", "that"} and c[i + 1] == thing]
    if not places or any(c[i] == "this" or c[i + 1] in _NO_NOUNS for i in range(len(c) - 1)):
        return
    for i in places:
        for det in (("the",), ("that",), ("this",), *(("that", *more) for more in _EMPHASIS)):
            yield (*c[:i], *det, *c[i + 1 :])
    (i, *others) = places
    # "it" must have one thing to refer to: no other stands between the subject, which it cannot be
    # (it would be "itself"), and the place; "has seen the page and has confirmed it" is the page
    subject = subject_of(c)
    between = c[len(subject) : i] if subject else ()
    simple = all(w in FINITE | PREPOSITIONS or is_participle(w) for w in between[:-1])
    one = not others and not {"it", "its", "itself"} & set(c) and not thing.endswith("s")
    if one and simple and between and between[-1] not in {"and", "or"}:
        yield (*c[:i], "it", *c[i + 2 :])


_EMPHASIS = (("very",), ("same",), ("particular",))


def _spelling(c: Words) -> Iterator[Words]:
    """Write American English throughout; -ize for -ise is among it."""
    new = tuple(_american(w) for w in c)
    if new != c:
        yield new


def _american(word: str) -> str:
    for old, other in (
        ("isation", "ization"),
        ("ised", "ized"),
        ("ising", "izing"),
        ("ise", "ize"),
    ):
        for end in (old, old + "s"):
            if word.endswith(end) and word[: -len(end)] in _IZE:
                return word[: -len(end)] + other + end[len(old) :]
    return {"behaviour": "behavior", "licence": "license", "judgement": "judgment"}.get(word, word)


_IZE = frozenset((
    "organ", "recogn", "author", "minim", "anonym", "categor", "character", "computer",
    "custom", "final", "general", "initial", "legal", "normal", "optim", "organ", "personal",
    "priorit", "publ", "real", "special", "standard", "summar", "util",
))  # fmt: skip


def _purpose(c: Words) -> Iterator[Words]:
    """Say a purpose in fewer words; the other way round would change `ask a person to go`."""
    for i in range(len(c) - 2):
        if c[i : i + 3] == ("in", "order", "to"):
            yield (*c[:i], *c[i + 2 :])


def _while(c: Words) -> Iterator[Words]:
    """Leave the subject of "while" out, or say that something goes on."""
    for i in range(len(c) - 2):
        if c[i : i + 2] == ("while", "it") and c[i + 2].endswith("s") and c[i + 2] not in FINITE:
            for gerund in present(c[i + 2], "gerund"):
                yield (*c[: i + 1], gerund, *c[i + 3 :])
                yield (*c[: i + 2], "is", gerund, *c[i + 3 :])


def _comparative(c: Words) -> Iterator[Words]:
    """`than the task needs`, `than is needed for the task`."""
    for i in range(len(c) - 3):
        if c[i : i + 2] == ("than", "the") and c[i + 3] in {"needs", "requires"}:
            for verb in ("needed", "required"):
                yield (*c[: i + 1], "is", verb, "for", *c[i + 1 : i + 3], *c[i + 4 :])


def _any(c: Words) -> Iterator[Words]:
    """Under a ban, `a purpose` is `any purpose`."""
    for i, word in enumerate(c[:-1]):
        if word in {"a", "an"} and (i == 0 or c[i - 1] in PREPOSITIONS) and "any" not in c:
            yield (*c[:i], "any", *c[i + 1 :])


_PAIRS: dict[str, list[tuple[Words, Words]]] = {}
for _a, _b in _SYNONYMS:
    for _old, _new in ((_a, _b), (_b, _a)):
        _split = (tuple(_old.split()), tuple(_new.split()))
        _PAIRS.setdefault(_split[0][0], []).append(_split)

_LOCAL: tuple[Rule, ...] = (
    _synonyms, _limits, _both, _auxiliary, _articles, _after, _spelling,
)  # fmt: skip
