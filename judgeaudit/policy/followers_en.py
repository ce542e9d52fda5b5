"""The words by which an English sentence goes on about the norm before it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from judgeaudit.core.records import Force
from judgeaudit.policy.numbers_en import WORDS
from judgeaudit.policy.reading import find, starts

__all__ = [
    "CONDITIONS",
    "ENUMERATIONS",
    "IN_CASES",
    "NONE",
    "NOR",
    "OTHERWISE",
    "PREVAILS",
    "THIS_NORM",
    "continues",
    "counted",
    "lifts",
    "link_of",
    "ordinal",
    "parts",
]

Words = tuple[str, ...]


def _w(text: str) -> Words:
    return tuple(text.split())


_ALL: frozenset[Force] = frozenset(
    {"prohibited", "required", "permitted", "not_required", "discouraged", "recommended"}
)
_WHERES = ("where", "when", "if", "while")

THIS_NORM: tuple[Words, ...] = (_w("this norm"), _w("this rule"))

_CASES = (
    "the following cases", "these cases", "either of the following cases", "either of these cases",
    "any of the following cases", "any of these cases", "one of the following cases",
    "one of these cases",
)  # fmt: skip
ENUMERATIONS: tuple[Words, ...] = (
    *(_w(f"{begin} {cases}") for begin in ("except in", "save in", "other than in")
      for cases in _CASES),
    _w("with the following exceptions"), _w("with these exceptions"),
    _w("with the following exception"),
)  # fmt: skip
"""What opens a list of exceptions behind a norm; any item of it is enough."""
IN_CASES: tuple[Words, ...] = tuple(_w(f"in {cases}") for cases in _CASES)
"""What opens it behind `this ban does not apply`; behind a norm it says when the norm holds."""

_SUSPENDED = ("does not apply", "does not hold")
_BAN: frozenset[Force] = frozenset({"prohibited"})
_DUTY: frozenset[Force] = frozenset({"required"})
_PERMISSION: frozenset[Force] = frozenset({"permitted"})
_ADVICE: frozenset[Force] = frozenset({"discouraged", "recommended"})


def _lifts() -> Iterator[tuple[str, frozenset[Force]]]:
    for nouns, verbs, forces in (
        (("this", "this norm", "this rule"), ("does not bind", "is lifted"), _ALL),
        (("this ban", "this prohibition", "the ban", "the prohibition"), _LIFTED, _BAN),
        (("this duty", "this obligation", "this requirement"), _LIFTED, _DUTY),
        (("this permission",), (), _PERMISSION),
        (("this advice", "this recommendation"), (), _ADVICE),
    ):
        for noun in nouns:
            yield from ((f"{noun} {verb}", forces) for verb in (*_SUSPENDED, *verbs))
    yield from ((f"the {only} exception is", _ALL) for only in ("only", "one", "sole"))
    yield "the only exceptions are", _ALL


_LIFTED = ("is lifted", "is lifted only")
_LIFTS = tuple(_lifts())
_DO_SO: tuple[tuple[str, frozenset[Force]], ...] = (
    ("may do so", frozenset({"prohibited"})),
    ("may do so only", frozenset({"prohibited"})),
    ("is allowed to do so only", frozenset({"prohibited"})),
    ("is permitted to do so only", frozenset({"prohibited"})),
    ("may only do so", frozenset({"prohibited"})),
    ("need not do so", frozenset({"required"})),
    ("does not have to do so", frozenset({"required"})),
    ("is not required to do so", frozenset({"required"})),
)

NOR: tuple[Words, ...] = tuple(
    _w(f"nor does {this} {verb}")
    for this in ("it", "this", "this norm", "this rule")
    for verb in ("apply", "hold", "bind")
)
"""What adds an exception to one that the sentence before stated."""

PREVAILS: tuple[Words, ...] = tuple(
    _w(f"{verb} {this}")
    for verb in ("prevails over", "takes precedence over", "has priority over")
    for this in ("this norm", "this rule")
)

_GONE = ("does not apply", "is not available", "falls away", "does not hold", "is lost")
_NEEDED = ("applies only", "holds only", "is available only")
CONDITIONS: tuple[tuple[str, str, Words], ...] = tuple(
    (which, name, _w(f"{begin}{verb} {where}"))
    for which, begins in (("this", ("this exception ", "that exception ")), ("nth", ("",)))
    for begin in begins
    for name, verbs in (("but_not", _GONE), ("only_if", _NEEDED))
    for verb in verbs
    for where in _WHERES
)
"""What states a condition inside an exception: of the one before, or of the third."""
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5}

OTHERWISE: tuple[Words, ...] = (
    _w("otherwise"), _w("in every other case"), _w("in all other cases"), _w("in any other case"),
)  # fmt: skip

NONE: frozenset[Words] = frozenset(
    _w(s)
    for s in (
        "there is no exception", "there are no exceptions", "this norm has no exception",
        "this norm has no exceptions", "no exceptions", "no exception applies",
    )
)  # fmt: skip
"""What says that a norm has no exceptions."""


@lru_cache(maxsize=256)
def lifts(bearer: Words, plural: bool) -> tuple[tuple[Words, frozenset[Force]], ...]:
    """Return what states an exception apart, with the forces it can be said of; longest first."""
    found = [(_w(text), forces) for text, forces in _LIFTS]
    found += [((*words, *bearer), f) for words, f in found if words[-1] == "bind"]
    for text, forces in _DO_SO:
        words = _w(text)
        plain = ({"is": "are", "does": "do"}.get(words[0], words[0]), *words[1:])
        who = ("they",) if plural else ("it",)
        found += [((*subject, *(plain if plural else words)), forces) for subject in (who, bearer)]
    return tuple(sorted(found, key=lambda pair: -len(pair[0])))


def counted(words: Words) -> int | None:
    """Read `there are two exceptions`: how many are announced; 0 if that is not said."""
    for begin, end in (
        ((), ()), (_w("there are"), ()), (_w("there is"), ()), ((), _w("apply")),
        ((), _w("applies")), ((), _w("are recognised")), (_w("the"), ()), (_w("the only"), ()),
        (_w("the following"), _w("apply")),
        (_w("this norm has"), ()), (_w("this rule has"), ()), ((), _w("exist")),
    ):  # fmt: skip
        if not starts(words, 0, begin) or (end and words[-len(end) :] != end):
            continue
        middle = words[len(begin) : len(words) - len(end)]
        if middle in {("exceptions",), ("exception",)}:
            return 1 if middle == ("exception",) else 0
        if len(middle) == 2 and middle[1] in {"exceptions", "exception"}:
            number = {"one": 1, "an": 1, **WORDS}.get(middle[0], 0)
            if number or middle[0].isdigit():
                return number or int(middle[0])
    return None


def ordinal(words: Words) -> int | None:
    """Read `this third exception` and `the third exception`."""
    if len(words) > 2 and words[0] in {"this", "the"} and words[2] == "exception":
        return _ORDINALS.get(words[1])
    return None


def continues(words: Words) -> bool:
    """Say whether a sentence can only be about the norm before it."""
    if not words:
        return False
    begins = (
        *NOR,
        *OTHERWISE,
        *(_w(text) for text, _ in _LIFTS),
        *(phrase for which, _, phrase in CONDITIONS if which == "this"),
    )
    return (
        counted(words) is not None
        or words in NONE
        or ordinal(words) is not None
        or any(starts(words, 0, w) for w in begins)
        or words[-2:] in THIS_NORM
        or words[:2] in THIS_NORM
        or any(find(words, _w(text)) >= 0 for text, _ in _DO_SO)
    )


def parts(words: Words) -> list[Words]:
    """Cut at semicolons."""
    found: list[Words] = []
    begun = 0
    for i, word in enumerate(words):
        if word == ";":
            found.append(words[begun:i])
            begun = i + 1
    return [p for p in (*found, words[begun:]) if p]


def link_of(part: Words) -> tuple[Words, str]:
    """Take the word that joins an item to the next off its end, and one off its beginning."""
    if part in {("or",), ("and",)}:
        return (), part[0]
    link = ""
    if part[-1] in {"or", "and"}:
        part, link = part[:-1], part[-1]
    if part and part[-1] == ",":
        part = part[:-1]
    if part and part[0] in {"or", "and"}:
        part = part[1:]
    return part, link
