"""A run as metrics see it: counts per item and condition, each computed once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeVar, cast

import numpy as np

from judgeaudit.core.records import Condition, Outcome, Protocol
from judgeaudit.core.table import Counts, VerdictTable
from judgeaudit.stats import pairs
from judgeaudit.stats._types import IntArray1D
from judgeaudit.stats.clusters import ClusterSums, cluster_sums
from judgeaudit.stats.pairs import ItemValues

__all__ = ["CERTIFIED", "PairStatistic", "View"]

CERTIFIED = "certified"
"""Stands for the pool of certified conditions where a condition's id is asked for."""

PairStatistic = Literal["flips", "delta_paper", "delta_debiased", "shift"]

_PAIRS: dict[PairStatistic, Callable[[Counts, Counts], ItemValues]] = {
    "flips": pairs.flips,
    "delta_paper": pairs.delta_paper,
    "delta_debiased": pairs.delta_debiased,
    "shift": pairs.shift,
}

_KEPT_BYTES = 96 * 2**20
"""Arrays of one value an item that are kept for the next metric; older ones are made again."""

T = TypeVar("T")
Arrays = TypeVar("Arrays", Counts, ItemValues)


class _Kept:
    """Arrays by key, the last used ones first to stay: memory does not grow with the items."""

    def __init__(self, most: int) -> None:
        self._most, self._bytes = most, 0
        self._made: OrderedDict[object, tuple[Any, int]] = OrderedDict()

    def get(self, key: object, make: Callable[[], Arrays]) -> Arrays:
        """Return what is kept under a key, or make it, and keep it as long as there is room."""
        if key in self._made:
            self._made.move_to_end(key)
            return cast("Arrays", self._made[key][0])
        made = make()
        size = sum(getattr(made, f.name).nbytes for f in fields(made))
        self._made[key] = made, size
        self._bytes += size
        while self._bytes > self._most and len(self._made) > 1:
            self._bytes -= self._made.popitem(last=False)[1][1]
        return made


@dataclass(frozen=True)
class View:
    """One run, ready to be measured.

    Parameters
    ----------
    table : VerdictTable
        Outcomes of all calls.
    protocol : Protocol
        Conditions, repeats, level and practical threshold.
    seed : int
        Seed of whatever is resampled.
    uncertified : frozenset of str
        Conditions of kind certified whose certificate did not pass: scored, but not pooled.
    """

    table: VerdictTable
    protocol: Protocol
    seed: int = 0
    uncertified: frozenset[str] = frozenset()
    _memo: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)
    _kept: _Kept = field(default_factory=lambda: _Kept(_KEPT_BYTES), repr=False, compare=False)

    def memo(self, key: object, make: Callable[[], T]) -> T:
        """Return what was made under a key before, or make it now."""
        if key not in self._memo:
            self._memo[key] = make()
        return cast("T", self._memo[key])

    def keep(self, key: object, make: Callable[[], Arrays]) -> Arrays:
        """Return arrays that were made under a key before, or make them now.

        They are kept as long as there is room; of millions of items they are made again.
        """
        return self._kept.get(key, make)

    @property
    def level(self) -> float:
        """Confidence level of every interval."""
        return self.protocol.level

    @property
    def clusters(self) -> IntArray1D:
        """Cluster index of each item, 0..G-1, shape (n_items,)."""

        def number() -> IntArray1D:
            index = np.unique(self.table.clusters, return_inverse=True)[1]
            return index.reshape(-1).astype(np.int64)

        return self.memo("clusters", number)

    @property
    def base(self) -> str:
        """Id of the reference condition."""
        return next((c.id for c in self.protocol.conditions if c.kind == "reference"), "base")

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """Conditions of the protocol that have a call in the table, in the protocol's order."""
        return tuple(c for c in self.protocol.conditions if self.called(c.id))

    @property
    def contrasts(self) -> tuple[Condition, ...]:
        """Conditions that are compared with base: all that change the policy's wording only."""
        return tuple(c for c in self.conditions if c.kind != "reference" and c.side == "policy")

    @property
    def certified(self) -> tuple[str, ...]:
        """Ids of the certified conditions that are pooled."""
        return tuple(
            c.id for c in self.conditions if c.kind == "certified" and c.id not in self.uncertified
        )

    @property
    def preserving(self) -> tuple[str, ...]:
        """Ids of the content-preserving conditions: certified and near-equivalent ones."""
        near = tuple(c.id for c in self.conditions if c.kind == "near")
        return self.certified + near

    def called(self, condition: str) -> bool:
        """Say whether the table holds a call of a condition."""

        def any_call() -> bool:
            if not self.table.column_indices(condition):
                return False
            counts = self.counts(condition)
            return bool(counts.valid.any() or counts.failed.any())

        return self.memo(("called", condition), any_call)

    def counts(self, condition: str) -> Counts:
        """Outcome counts per item under a condition; all 0 where it was not called."""
        return self.keep(("counts", condition), lambda: self.table.counts(condition))

    def outcomes(self, condition: str) -> dict[Outcome, int]:
        """Count the calls of a condition by outcome, `verdict` included."""
        return self.memo(
            ("outcomes", condition),
            lambda: cast("dict[Outcome, int]", self.table.outcome_counts(condition)),
        )

    def excluded(self, conditions: Iterable[str]) -> dict[Outcome, int]:
        """Count the calls of some conditions that ended without a verdict, by outcome; no zeros."""
        out: dict[Outcome, int] = {}
        for condition in conditions:
            for outcome, count in self.outcomes(condition).items():
                if outcome != "verdict" and count:
                    out[outcome] = out.get(outcome, 0) + count
        return out

    def jitter(self, condition: str) -> ItemValues:
        """Jitter of each item under a condition."""
        return self.keep(("jitter", condition), lambda: pairs.jitter(self.counts(condition)))

    def rate(self, condition: str) -> ItemValues:
        """Share of UNSAFE verdicts of each item under a condition."""
        return self.keep(("rate", condition), lambda: pairs.rate(self.counts(condition)))

    def pair(self, statistic: PairStatistic, condition: str) -> ItemValues:
        """Compute a statistic of base against a condition for each item.

        For `certified` it is the item's mean over the pooled conditions.
        """

        def make() -> ItemValues:
            if condition == CERTIFIED:
                parts = [self.pair(statistic, c) for c in self.certified]
                return pairs.average(parts, self.table.n_items)
            return _PAIRS[statistic](self.counts(self.base), self.counts(condition))

        return self.keep((statistic, condition), make)

    def sums(self, values: ItemValues) -> ClusterSums:
        """Sum item values over clusters, the items for which they are defined only."""
        return cluster_sums(values.values[values.defined], self.clusters[values.defined])

    def members(self, condition: str) -> tuple[str, ...]:
        """Conditions that a number of `condition` rests on, base included."""
        return (self.base, *(self.certified if condition == CERTIFIED else (condition,)))

    def lack(self, statistic: PairStatistic | Literal["jitter"], condition: str) -> str:
        """Say why a statistic is not defined for any item of a condition."""
        if condition == CERTIFIED and not self.certified:
            bare = any(c.kind == "certified" for c in self.conditions)
            return _NO_CERTIFICATE if bare else "no certified condition was called"
        for name in self.members(condition):
            if not self.called(name):
                return f"condition {name} was not called"
        wants_pairs = statistic not in {"flips", "shift"}
        first, second = self.counts(self.base), self.counts(self.members(condition)[-1])
        if wants_pairs and first.valid.max(initial=0) < 2:
            return "one call under base" if first.failed.max(initial=0) == 0 else _FEW_BASE
        if statistic == "delta_debiased" and second.valid.max(initial=0) < 2:
            return "one call under the condition" if second.failed.max(initial=0) == 0 else _FEW
        return "no item has the verdicts that it needs under base and under the condition"


_FEW_BASE = "no item has two verdicts under base"
_FEW = "no item has two verdicts under the condition"
_NO_CERTIFICATE = "no rewrite is certified, so none is pooled"
