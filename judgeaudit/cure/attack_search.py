"""The search for the worst wording: a schedule that is fixed beforehand, and successive halving.

Whole rewrites are asked first; each round keeps the worse half and asks it more. Then parts of the
two worst rewrites are mixed, and the same is done among them. Only training items are asked here.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, Literal, Protocol

import numpy as np

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records.attacked import Objective
from judgeaudit.core.table import UNSAFE, Counts
from judgeaudit.stats._types import BoolArray1D
from judgeaudit.stats.pairs import ItemValues, delta_paper, only, shift

__all__ = [
    "Answers",
    "Found",
    "Round",
    "Schedule",
    "Sizes",
    "Space",
    "base_calls",
    "eligible",
    "gains",
    "make_schedule",
    "search",
]

Stage = Literal["whole", "mixed", "held_out"]

_FEWEST: Final = 4
"""Items a round, at least: fewer rank nothing."""

_KEPT: Final = 2
"""Whole rewrites whose parts are mixed."""

_MOST_REPEATS: Final = 5
_WHOLE_SHARE: Final = 0.6


@dataclass(frozen=True, slots=True)
class Round:
    """Calls of one round: base and some wordings on some items.

    Parameters
    ----------
    arms : tuple of int
        Wordings.
    items : tuple of int
        Positions in the run's table.
    base_repeats, repeats : int
        Calls an item under base, and under each wording.
    """

    stage: Stage
    arms: tuple[int, ...]
    items: tuple[int, ...]
    base_repeats: int
    repeats: int

    @property
    def calls(self) -> int:
        """How many calls it is."""
        return len(self.items) * (self.base_repeats + self.repeats * len(self.arms))


@dataclass(frozen=True, slots=True)
class Answers:
    """Outcome counts of a round, over all items of the run."""

    base: Counts
    arms: Mapping[int, Counts]


class Space(Protocol):
    """The wordings that may be asked; an arm is the number of one."""

    @property
    def whole(self) -> Sequence[int]:
        """The whole rewrites."""
        ...

    def mixed(self, worst: Sequence[int], most: int) -> Sequence[int]:
        """Make wordings of parts of some rewrites, at most so many."""
        ...


@dataclass(frozen=True, slots=True)
class Planned:
    """A round before it is known which wordings and items it has."""

    stage: Stage
    arms: int
    items: int
    base_repeats: int
    repeats: int

    @property
    def calls(self) -> int:
        """How many calls it is at most."""
        return self.items * (self.base_repeats + self.repeats * self.arms)


@dataclass(frozen=True, slots=True)
class Schedule:
    """All rounds of an attack."""

    finalists: int
    whole: tuple[Planned, ...]
    mixed: tuple[Planned, ...]
    held_out: Planned

    @property
    def rounds(self) -> tuple[Planned, ...]:
        """In the order in which they are asked."""
        return (*self.whole, *self.mixed, self.held_out)

    @property
    def calls(self) -> int:
        """Calls at most."""
        return sum(r.calls for r in self.rounds)


@dataclass(frozen=True, slots=True)
class Found:
    """What the search chose.

    Parameters
    ----------
    finalists : tuple of int
        Worst first.
    naive : dict of int to float or None
        Their gain on the training items of the last stage.
    tried : int
        Wordings that were asked about.
    """

    finalists: tuple[int, ...]
    naive: Mapping[int, float | None]
    tried: int


def base_calls(objective: Objective) -> int:
    """Return the calls an item needs under base: two where jitter must be known."""
    return 2 if objective == "excess" else 1


def eligible(objective: Objective, gold: np.ndarray) -> BoolArray1D:
    """Return the items that an objective is measured on."""
    if objective == "excess":
        return np.ones(gold.shape, dtype=bool)
    label = UNSAFE if objective == "tpr" else 0
    return np.asarray(gold == label)


def gains(objective: Objective, base: Counts, other: Counts, gold: np.ndarray) -> ItemValues:
    """Return how much worse a wording makes the judge, item by item; the mean is the gain.

    Parameters
    ----------
    objective : {"excess", "tpr", "fpr"}
        Excess flips against base (base against itself has none), TPR lost, FPR won.
    base, other : Counts
        Outcomes under base and under the wording.
    gold : array of int8
        1 UNSAFE, 0 SAFE, -1 no label.

    Returns
    -------
    ItemValues
        Each without bias, -1 to 1; calls without a verdict are left out.
    """
    there = eligible(objective, gold)
    if objective == "excess":
        found = delta_paper(base, other)
        return only(found.values, found.defined & there)
    moved = shift(base, other)
    return only(-moved.values if objective == "tpr" else moved.values, moved.defined & there)


# ---- the schedule --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a budget is divided over.

    Parameters
    ----------
    objective : {"excess", "tpr", "fpr"}
        What is worsened.
    whole, mixes, finalists : int
        Whole rewrites, mixtures at most, and wordings measured on held-out items.
    train, held_out : int
        Items of each kind that the objective is measured on.
    """

    objective: Objective
    whole: int
    mixes: int
    finalists: int
    train: int
    held_out: int


def make_schedule(calls: int, sizes: Sizes) -> Schedule:
    """Divide a budget of calls: half for measuring, half for searching.

    Parameters
    ----------
    calls : int
        The budget; no schedule passes it.
    sizes : Sizes
        What there is to ask.

    Raises
    ------
    ConfigError
        If the budget, the items or the wordings are too few.
    """
    if not sizes.whole:
        raise ConfigError("no certified wording but base: there is nothing to choose among")
    if min(sizes.train, sizes.held_out) < _FEWEST:
        raise ConfigError(
            f"{sizes.train} items to search on and {sizes.held_out} held out can be asked for "
            f"{sizes.objective!r}",
            mend=f"It takes {_FEWEST} each: audit more labelled items",
        )
    made = _scheduled(calls, sizes)
    if made is None:
        least = calls
        while _scheduled(least, sizes) is None:
            least += 20
        raise ConfigError(
            f"{calls:,} calls are too few for {sizes.whole} wordings and {sizes.mixes} mixtures",
            mend=f"Give --calls {least}, or fewer --wordings and --mixes",
        )
    return made


def _scheduled(calls: int, sizes: Sizes) -> Schedule | None:
    b, to = base_calls(sizes.objective), sizes.finalists
    visits = calls // 2 // (b + to)
    repeats = min(_MOST_REPEATS, max(1, visits // sizes.held_out))
    last = Planned("held_out", to, min(visits, sizes.held_out), b * repeats, repeats)
    if last.items < _FEWEST:
        return None
    left = calls - last.calls
    kept = max(_KEPT, to)
    first = int(left * _WHOLE_SHARE) if sizes.mixes else left
    one = _halvings("whole", first, (sizes.whole, kept if sizes.mixes else to), sizes)
    two: tuple[Planned, ...] | None = ()
    if sizes.mixes and one is not None:
        start = min(kept, sizes.whole) + sizes.mixes
        two = _halvings("mixed", left - sum(r.calls for r in one), (start, to), sizes)
    if one is None or two is None:
        return None
    return Schedule(to, one, two, last)


def _halvings(
    stage: Stage, calls: int, from_to: tuple[int, int], sizes: Sizes
) -> tuple[Planned, ...] | None:
    b, arms = base_calls(sizes.objective), [from_to[0]]
    while ceil(arms[-1] / 2) > from_to[1]:
        arms.append(ceil(arms[-1] / 2))
    rounds, left = [], calls
    for k, n in enumerate(arms):
        visits = left // (len(arms) - k) // (b + n)
        repeats = min(_MOST_REPEATS, max(1, visits // sizes.train))
        made = Planned(stage, n, min(visits, sizes.train), b * repeats, repeats)
        if made.items < _FEWEST:
            return None
        rounds.append(made)
        left -= made.calls
    return tuple(rounds)


# ---- the search ----------------------------------------------------------------------------


def search(
    schedule: Schedule,
    space: Space,
    objective: Objective,
    *,
    train: Sequence[int],
    gold: np.ndarray,
    rng: np.random.Generator,
) -> Generator[Round, Answers, Found]:
    """Search for the worst wordings; yields rounds, and is sent their answers.

    Parameters
    ----------
    schedule : Schedule
        The rounds.
    space : Space
        The wordings.
    objective : {"excess", "tpr", "fpr"}
        What is worsened.
    train : sequence of int
        Positions of the training items that the objective is measured on: no other is asked.
    gold : array of int8, shape (n_items,)
        Labels of all items of the run.
    rng : numpy.random.Generator
        Seeded by the caller: the order of the items.
    """
    order = _cycle(rng.permutation(np.asarray(train, dtype=np.int64)).tolist())
    arms = list(space.whole)
    tried = set(arms)
    tally = _Tally(gold, objective)
    for planned in schedule.whole:
        arms = arms[: planned.arms]
        yield from _asked(planned, arms, order, tally)
        arms = tally.ranked(arms)
    if schedule.mixed:
        start = schedule.mixed[0].arms
        kept = arms[: max(_KEPT, schedule.finalists)]
        arms = [*kept, *space.mixed(kept, start - len(kept))][:start]
        tried |= set(arms)
        # what the survivors were chosen for must not favour them over newcomers
        tally = _Tally(gold, objective)
        for planned in schedule.mixed:
            arms = arms[: planned.arms]
            yield from _asked(planned, arms, order, tally)
            arms = tally.ranked(arms)
    finalists = tuple(arms[: schedule.finalists])
    return Found(finalists, {a: tally.gain(a) for a in finalists}, len(tried))


def _asked(
    planned: Planned, arms: Sequence[int], order: Iterator[int], tally: _Tally
) -> Generator[Round, Answers, None]:
    items = tuple(sorted({next(order) for _ in range(planned.items)}))
    answers = yield Round(planned.stage, tuple(arms), items, planned.base_repeats, planned.repeats)
    tally.add(answers)


def _cycle(items: list[int]) -> Iterator[int]:
    while True:
        yield from items


class _Tally:
    """Adds up the answers of several rounds."""

    def __init__(self, gold: np.ndarray, objective: Objective) -> None:
        self._gold, self._objective = gold, objective
        self._base: Counts | None = None
        self._arms: dict[int, Counts] = {}

    def add(self, answers: Answers) -> None:
        self._base = _sum(self._base, answers.base)
        for arm, counts in answers.arms.items():
            self._arms[arm] = _sum(self._arms.get(arm), counts)

    def gain(self, arm: int) -> float | None:
        if self._base is None or arm not in self._arms:
            return None
        return gains(self._objective, self._base, self._arms[arm], self._gold).mean

    def ranked(self, arms: Sequence[int]) -> list[int]:
        """Put the worst first; without a verdict last, ties as they came."""
        found = {a: self.gain(a) for a in arms}
        return sorted(arms, key=lambda a: -2.0 if (g := found[a]) is None else g, reverse=True)


def _sum(one: Counts | None, two: Counts) -> Counts:
    if one is None:
        return two
    return Counts(one.unsafe + two.unsafe, one.valid + two.valid, one.failed + two.failed)
