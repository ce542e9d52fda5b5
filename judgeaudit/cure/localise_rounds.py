"""All searches of a run side by side: confirm each flip, then search, within a number of calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np

from judgeaudit.core.records import Label
from judgeaudit.cure.edits import Edits, Subset
from judgeaudit.cure.localise_search import Asks, Found, Search, Searching, rates, search
from judgeaudit.stats.localising import e_bh
from judgeaudit.stats.sequential import effect_process

__all__ = ["CALLS_A_FLIP", "LEVEL", "Ask", "Flip", "Question", "Rounds"]

CALLS_A_FLIP: Final = 80
"""About what one flip takes to be confirmed and searched; more flips than that are not begun."""

LEVEL: Final = 0.05
"""Expected share of flips that are called real and are not; where none is, the chance of any."""

_FIRST_PAIRS: Final = 5
_MOST_PAIRS: Final = 24
_FIRST_WAVE: Final = 4


@dataclass(slots=True, eq=False)
class Flip:
    """One item whose verdict under a rewrite differs from that under the base.

    Parameters
    ----------
    item, cluster, dataset : str
        Of the item.
    kind : str
        "clear", "ambiguous", or "unknown".
    edits : Edits
        Between the two texts.
    base : {"SAFE", "UNSAFE"}
        The base verdict; a flip is any other verdict.
    found : Found, optional
        What the search ended in.
    calls : int
        Calls it took.
    """

    item: str
    cluster: str
    dataset: str
    kind: str
    edits: Edits
    base: Label
    found: Found | None = None
    calls: int = 0
    pairs: list[int] = field(default_factory=list)
    tallies: tuple[Counter[bool], Counter[bool]] = field(
        default_factory=lambda: (Counter(), Counter())
    )
    weak: int = 0

    @property
    def to(self) -> Label:
        """The verdict it flips to."""
        return "SAFE" if self.base == "UNSAFE" else "UNSAFE"

    @property
    def log_e(self) -> float:
        """Log of the e-value against "base and rewrite give the same verdicts"."""
        signs = np.array(self.pairs, dtype=np.int8)
        return float(effect_process(signs)[-1]) if signs.size else 0.0


@dataclass(frozen=True, slots=True)
class Question:
    """One call: an item under a text."""

    flip: Flip
    subset: Subset


Ask = Callable[[Sequence[Question]], Awaitable[Sequence[Label | None]]]
"""Asks a round of questions; None where a call gave no verdict."""


Price = Callable[[Sequence[Question], Sequence[Question]], int]


def _all(questions: Sequence[Question], before: Sequence[Question]) -> int:
    del before
    return len(questions)


class Rounds:
    """Confirms flips and searches them, round by round.

    Parameters
    ----------
    flips : sequence of Flip
        In the order in which they are begun.
    ask : callable
        Asks a round.
    calls : int
        Calls that may be paid for.
    price : callable, optional
        How many calls of some questions must be paid for, after others of the same round; all,
        where nothing is known from before.
    """

    def __init__(
        self, flips: Sequence[Flip], ask: Ask, calls: int, price: Price | None = None
    ) -> None:
        self._flips, self._ask, self._left = list(flips), ask, calls
        self._price = price or _all
        self.calls = 0
        self.rounds = 0

    async def run(self) -> None:
        """Do all of it; every flip has its `found` afterwards."""
        await self._confirm()
        real = [f for f in self._flips if f.found is None]
        # the first ones show what most of the others react to
        await self._searches(real[:_FIRST_WAVE])
        await self._searches(real[_FIRST_WAVE:])

    async def _round(
        self, wanted: list[tuple[Flip, Asks]]
    ) -> dict[int, dict[Subset, list[bool | None]]]:
        """Ask what the budget holds, first come first served; the answer lacks who is left out."""
        questions: list[Question] = []
        asked: list[Flip] = []
        paid = 0
        for flip, asks in wanted:
            more = [Question(flip, s) for s, n in asks.items() for _ in range(n)]
            new = self._price(more, questions)
            if new and paid + new > self._left:
                flip.found = Found("budget", why="the budget of calls ended")
                continue
            paid += new
            asked.append(flip)
            questions += more
            flip.calls += len(more)
        out: dict[int, dict[Subset, list[bool | None]]] = {id(f): {} for f in asked}
        if not questions:
            return out
        self._left -= paid
        self.calls += len(questions)
        self.rounds += 1
        for q, label in zip(questions, await self._ask(questions), strict=True):
            said = None if label is None else label != q.flip.base
            out[id(q.flip)].setdefault(q.subset, []).append(said)
        return out

    # ---- is the flip there at all ----------------------------------------------------------

    async def _confirm(self) -> None:
        """Ask base and rewrite again, in pairs, until each flip is real, gone, or still open."""
        while True:
            real = e_bh([f.log_e for f in self._flips], LEVEL)
            wanted: list[tuple[Flip, Asks]] = []
            for flip, is_real in zip(self._flips, real, strict=True):
                if flip.found is not None or is_real:
                    continue
                n = self._pairs_wanted(flip)
                if not n:
                    flip.found = (
                        Found("gone", why="base and rewrite do not differ on fresh calls")
                        if flip.pairs
                        else Found("unresolved", why="the judge gave no verdict on fresh calls")
                    )
                    continue
                whole = flip.edits.everything
                wanted.append((flip, {frozenset(): n, whole: n}))
            if not wanted:
                return
            answers = await self._round(wanted)
            for flip, _ in wanted:
                if id(flip) in answers:
                    self._paired(flip, answers[id(flip)])

    def _pairs_wanted(self, flip: Flip) -> int:
        n, right, wrong = len(flip.pairs), flip.pairs.count(1), flip.pairs.count(-1)
        if not n and flip.calls:
            return 0  # no verdict in a whole round of calls
        if n >= _MOST_PAIRS or (n >= 5 and right - wrong <= n // 5):
            return 0
        return min(_FIRST_PAIRS if not n else 2, _MOST_PAIRS - n)

    def _paired(self, flip: Flip, answers: dict[Subset, list[bool | None]]) -> None:
        base, rewrite = answers[frozenset()], answers[flip.edits.everything]
        flip.tallies[0].update(x for x in base if x is not None)
        flip.tallies[1].update(x for x in rewrite if x is not None)
        flip.pairs += [
            int(b) - int(a)
            for a, b in zip(base, rewrite, strict=True)
            if a is not None and b is not None
        ]
        if len(flip.pairs) > _MOST_PAIRS:
            del flip.pairs[_MOST_PAIRS:]

    # ---- what does it -----------------------------------------------------------------------

    async def _searches(self, flips: Sequence[Flip]) -> None:
        going: list[tuple[Flip, Searching, Search, Asks]] = []
        for flip in flips:
            low, high = rates(*flip.tallies)
            of = Searching(
                flip.edits.keys, flip.edits.may_ask, low, high, partial(self._guesses, flip)
            )
            work = search(of)
            self._advance(going, (flip, of, work), None)
        while going:
            answers = await self._round([(flip, asks) for flip, _, _, asks in going])
            before, going = going, []
            for flip, of, work, _ in before:
                if id(flip) in answers:
                    self._advance(going, (flip, of, work), answers[id(flip)])
                else:
                    work.close()

    def _advance(
        self,
        going: list[tuple[Flip, Searching, Search, Asks]],
        one: tuple[Flip, Searching, Search],
        answers: dict[Subset, list[bool | None]] | None,
    ) -> None:
        flip, of, work = one
        try:
            asks = next(work) if answers is None else work.send(answers)
        except StopIteration as end:
            flip.found, flip.weak = end.value, of.weak
        else:
            going.append((flip, of, work, asks))

    def _guesses(self, flip: Flip) -> list[Subset]:
        """Return what other items of the condition reacted to: most of them react alike."""
        seen = Counter(
            cause
            for other in self._flips
            if other.edits is flip.edits and other.found is not None
            for cause in other.found.causes
        )
        return sorted(seen, key=lambda s: (-seen[s], len(s), sorted(s)))
