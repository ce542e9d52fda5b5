"""Deciding while a run goes on: single-shot triples, item by item, in the order of asking."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.hashing import stable_seed
from judgeaudit.core.records import Label, Protocol
from judgeaudit.engine.chain import plain_text
from judgeaudit.stats.sequential import Monitor, monitor, triples

if TYPE_CHECKING:
    from judgeaudit.engine.plan import Plan
    from judgeaudit.engine.view import LedgerView

__all__ = ["Decider", "decider_of", "found_in"]

_NO_VERDICT: Final = -1
_CALLS: Final = """
SELECT c.position, i.key, i.cluster, o.condition, o.wording, c.repeat
FROM calls c JOIN cells e ON e.id = c.cell JOIN items i ON i.id = e.item
JOIN columns o ON o.id = e.col ORDER BY c.position
"""


class _Planned(NamedTuple):
    position: int
    item: str
    cluster: str
    condition: str
    wording: int
    repeat: int


class Decider:
    """Follows the triples of a run, and says when the question is decided.

    Each item gives one triple: its first two base calls, and its first call under one certified
    condition, drawn for the item by the seed. Which calls these are is known before the first
    answer; a call without a verdict leaves its item out. Of each cluster the first item counts.

    Parameters
    ----------
    calls : iterable of planned calls
        In the order of asking; all calls of an item stand together.
    protocol : Protocol
        Seed, certified conditions, practical threshold and level.
    """

    def __init__(self, calls: Iterable[_Planned], protocol: Protocol) -> None:
        self._protocol = protocol
        certified = [c.id for c in protocol.conditions if c.kind == "certified"]
        found: dict[str, dict[tuple[str, int], int]] = {}
        clusters: dict[str, str] = {}
        for call in calls:
            if call.item not in clusters:
                clusters[call.item] = call.cluster
            if call.wording == 0:
                found.setdefault(call.item, {})[call.condition, call.repeat] = call.position
        seen: set[str] = set()
        self._needs: list[tuple[int, ...]] = []
        for item, cluster in clusters.items():
            if cluster in seen or not certified:
                continue
            seen.add(cluster)
            chosen = certified[stable_seed(protocol.seed, "until", item) % len(certified)]
            keys = ("base", 0), ("base", 1), (chosen, 0)
            self._needs.append(tuple(found[item][k] for k in keys))
        self._wanted = {p for need in self._needs for p in need}
        self._answers: dict[int, int] = {}
        self._next = 0
        self._kept: list[tuple[int, ...]] = []

    @property
    def d(self) -> NDArray[np.int8]:
        """Triples so far, in the order of asking."""
        kept = np.array(self._kept, dtype=np.int8).reshape(-1, 3)
        return triples(kept[:, 0], kept[:, 1], kept[:, 2])

    def take(self, position: int, label: Label | None) -> None:
        """Take note of a call that ended, with or without a verdict."""
        if position not in self._wanted:
            return
        self._answers[position] = _NO_VERDICT if label is None else int(label == "UNSAFE")
        # in the order of asking only: an answer that came early waits for those before it
        while self._next < len(self._needs):
            need = self._needs[self._next]
            values = tuple(self._answers.get(p, -2) for p in need)
            if min(values) < _NO_VERDICT:
                return
            if min(values) >= 0:
                self._kept.append(values)
            self._next += 1

    def monitor(self) -> Monitor:
        """Follow both processes over the triples so far."""
        protocol = self._protocol
        return monitor(self.d, protocol.practical_threshold, alpha=1 - protocol.level)

    def decided(self) -> bool:
        """Whether either statement can be made; once it can, it stays so."""
        if not self._kept:
            return False
        now = self.monitor()
        return now.stop_effect is not None or now.stop_tolerable is not None

    def __call__(self, position: int, label: Label | None) -> bool:
        """Take note of a call, and say whether the run may stop."""
        before = len(self._kept)
        self.take(position, label)
        return len(self._kept) > before and self.decided()


def _check(protocol: Protocol) -> None:
    if protocol.base_repeats < 2:
        raise ConfigError(
            "a run until decided needs two base calls an item", mend="Give -K 2 or more"
        )
    if not any(c.kind == "certified" for c in protocol.conditions):
        raise ConfigError(
            "a run until decided needs a certified condition",
            mend="Add one, such as --condition T4",
        )


def decider_of(plan: Plan, view: LedgerView) -> Decider:
    """Make the decider of a run, with what its ledger holds already.

    Raises
    ------
    ConfigError
        If the plan has no triples.
    """
    _check(plan.protocol)
    places = (
        (position, *plan.place(int(cell)), int(repeat))
        for position, (cell, repeat) in enumerate(zip(plan.cells, plan.repeats, strict=True))
    )
    decider = Decider(
        (
            _Planned(position, item.key, item.cluster, column.condition.id, column.wording, repeat)
            for position, item, column, repeat in places
        ),
        plan.protocol,
    )
    # failed calls are asked again, so they are still open
    for position, label in _answers(view):
        decider.take(position, label)
    return decider


def found_in(view: LedgerView) -> NDArray[np.int8] | None:
    """Return the triples of a run that was to stop when decided; None for any other run."""
    if view.meta.extra.get("until") != "decided":
        return None
    rows = view.connection.execute(_CALLS)
    planned = (_Planned(p, plain_text(i), plain_text(c), o, w, r) for p, i, c, o, w, r in rows)
    decider = Decider(planned, view.meta.protocol)
    for position, label in (*_answers(view), *_failed(view)):
        decider.take(position, label)
    return decider.d


def _answers(view: LedgerView) -> Sequence[tuple[int, Label | None]]:
    rows = view.connection.execute("SELECT call, label FROM verdicts ORDER BY call")
    return [(int(call), label) for call, label in rows]


def _failed(view: LedgerView) -> Sequence[tuple[int, None]]:
    rows = view.connection.execute(
        "SELECT DISTINCT call FROM failures WHERE call NOT IN (SELECT call FROM verdicts)"
    )
    return [(int(call), None) for (call,) in rows]
