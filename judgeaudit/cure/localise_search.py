"""The search for the smallest set of edits that flips one item, with a judge that wavers.

Delta debugging (Zeller and Hildebrandt 2002), where each question is a sequential test instead of
a single answer. A search is a generator: it yields how often it wants which texts to be asked, and
is sent what was answered; so many searches share one round of calls.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from judgeaudit.cure.edits import Subset
from judgeaudit.stats.localising import either_rate, least_needed

__all__ = ["ERROR", "SURE", "Answers", "Asks", "Found", "Searching", "search"]

Asks = dict[Subset, int]
"""How often each text is to be asked."""

Answers = Mapping[Subset, Sequence[bool | None]]
"""Whether each answer was the flipped verdict; None where there was no verdict."""

Status = Literal["found", "gone", "unresolved", "budget"]

ERROR: Final = 0.02
"""Chance that one question of a search is answered wrongly."""

SURE: Final = 0.002
"""The same where a set that was found is confirmed on fresh calls."""

_MOST_ANSWERS: Final = 16
_MOST_LOST: Final = 8
_MOST_TRIES: Final = 3
_MOST_GUESSES: Final = 4
_MOST_CAUSES: Final = 3
_MOST_CHECKED: Final = 6


class _LostError(Exception):
    """A text is not answered with a verdict."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a search ended in.

    Parameters
    ----------
    status : {"found", "gone", "unresolved", "budget"}
        "gone": the flip did not come back on fresh calls. "unresolved": what was found did not
        stand its confirmation.
    causes : tuple of frozenset
        Smallest sets of edits; several where each is enough by itself.
    why : str
        Of a status other than "found".
    """

    status: Status
    causes: tuple[Subset, ...] = ()
    why: str = ""


@dataclass(slots=True)
class Searching:
    """What a search works on.

    Parameters
    ----------
    keys : tuple of str
        All edits, neighbours together.
    may_ask : callable
        Whether a text is certified.
    low, high : float
        Rates of the flipped verdict under the base and under the rewrite.
    guesses : callable
        Sets that other items of the condition were found to react to, likeliest first.
    weak : int
        Questions that were still open at their last answer; the likelier side was taken.
    """

    keys: tuple[str, ...]
    may_ask: Callable[[Subset], bool]
    low: float
    high: float
    guesses: Callable[[], Sequence[Subset]] = field(default=tuple)
    weak: int = 0


def rates(base: Counter[bool], rewrite: Counter[bool]) -> tuple[float, float]:
    """Return two rates that a question tells apart, from the answers of a confirmed flip.

    They keep a distance from 0, 1 and the middle: a few answers do not show how rare is rare.
    """
    low = (base[True] + 0.5) / (base.total() + 1)
    high = (rewrite[True] + 0.5) / (rewrite.total() + 1)
    return min(0.3, max(0.1, low)), max(0.7, min(0.9, high))


Search = Generator[Asks, Answers, Found]
Question = Generator[Asks, Answers, bool]


def search(of: Searching) -> Search:
    """Search for the smallest sets of edits that flip an item, and confirm them on fresh calls.

    Parameters
    ----------
    of : Searching
        The item's flip, which is confirmed already.

    Yields
    ------
    Asks
        Texts to ask; every answer is used once.
    """
    try:
        return (yield from _search(of))
    except _LostError:
        return Found("unresolved", why="the judge gives no verdict on a text in between")


def _search(of: Searching) -> Search:
    everything = frozenset(of.keys)
    if len(of.keys) == 1:
        return Found("found", (everything,))
    causes: list[Subset] = []
    rest = everything
    for attempt in range(_MOST_TRIES):
        # a guess that did not stand is not made again
        first = yield from _smallest(of, everything, guessing=not attempt)
        if (yield from _stands(of, first)):
            causes.append(first)
            rest = everything - first
            break
    else:
        return Found("unresolved", why="no set of edits stood its confirmation")
    while rest and len(causes) < _MOST_CAUSES and (yield from _asked(of, rest, SURE)):
        # what is left flips the item, too: the edits found are enough, but not needed
        other = yield from _smallest(of, rest, guessing=False)
        if not (yield from _stands(of, other)):
            break
        causes.append(other)
        rest -= other
    return Found("found", tuple(causes))


def _asked(of: Searching, subset: Subset, error: float) -> Question:
    """Ask whether a text flips the item; a text that is not certified is not asked."""
    if not subset or not of.may_ask(subset):
        return False
    ones = zeros = lost = 0
    while True:
        ratio = either_rate(ones, zeros, of.low, of.high)
        if abs(ratio) >= -either_rate(0, 1, error, 1 - error):
            return ratio > 0
        if ones + zeros >= _MOST_ANSWERS:
            of.weak += 1
            return ratio > 0
        if lost >= _MOST_LOST:
            raise _LostError
        answers = yield {subset: least_needed(ratio, of.low, of.high, error)}
        for said in answers[subset]:
            ones += said is True
            zeros += said is False
            lost += said is None


def _smallest(
    of: Searching, universe: Subset, *, guessing: bool
) -> Generator[Asks, Answers, Subset]:
    """Return a set that flips the item, none of whose parts was seen to."""
    known: dict[Subset, bool] = {universe: True}

    def test(subset: Subset) -> Question:
        if subset not in known:
            known[subset] = yield from _asked(of, subset, ERROR)
        return known[subset]

    for guess in list(of.guesses())[:_MOST_GUESSES] if guessing else ():
        if guess < universe and (yield from test(guess)):
            return guess
    whole = tuple(k for k in of.keys if k in universe)
    parts = 2
    while len(whole) > 1:
        chunks = _chunks(whole, parts)
        # with two parts, what one leaves is the other
        rests = [tuple(k for k in whole if k not in c) for c in chunks] if parts > 2 else []
        chunk = yield from _first(test, chunks)
        rest = None if chunk else (yield from _first(test, rests))
        if chunk:
            whole, parts = chunk, 2
        elif rest:
            whole, parts = rest, max(parts - 1, 2)
        elif parts < len(whole):
            parts = min(2 * parts, len(whole))
        else:
            break
    return frozenset(whole)


def _first(
    test: Callable[[Subset], Question], sets: Sequence[tuple[str, ...]]
) -> Generator[Asks, Answers, tuple[str, ...] | None]:
    """Return the first of some sets that flips the item."""
    for one in sets:
        if (yield from test(frozenset(one))):
            return one
    return None


def _chunks(keys: tuple[str, ...], parts: int) -> list[tuple[str, ...]]:
    n = len(keys)
    cuts = [n * k // parts for k in range(parts + 1)]
    return [keys[a:b] for a, b in itertools.pairwise(cuts) if b > a]


def _stands(of: Searching, cause: Subset) -> Question:
    """Ask anew: does the set flip the item, and does it not where one of its edits is missing."""
    if cause != frozenset(of.keys) and not (yield from _asked(of, cause, SURE)):
        return False
    if 1 < len(cause) <= _MOST_CHECKED:
        for edit in sorted(cause):
            if (yield from _asked(of, cause - {edit}, SURE)):
                return False
    return True
