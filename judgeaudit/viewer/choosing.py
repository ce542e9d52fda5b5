"""Which cells a page shows, and in what order."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.errors import ConfigError, unknown_name
from judgeaudit.engine.triage import KINDS
from judgeaudit.viewer.flips import FLIPPED, OUTCOMES, WAVERING

if TYPE_CHECKING:
    from judgeaudit.viewer.explorer import Explorer, Run

__all__ = ["KEEPING", "Cursor", "Filters", "Selection", "select"]

KEEPING: Final = ("certified", "near", "placebo")
"""Kinds of condition under which a right judge says what it says under base."""

_KIND: Final = "kind:"
_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "direction": ("to_unsafe", "to_safe"),
    "clarity": ("clear", "ambiguous", "unknown"),
    "label": ("SAFE", "UNSAFE", "none"),
    "outcome": (*OUTCOMES, "any_flip", "failed", "all"),
    "triage": ("marked", "unmarked", *KINDS),
    "sort": ("share", "plan"),
}
_MOST_TEXT: Final = 400
_KEPT: Final = 16


@dataclass(frozen=True, slots=True)
class Filters:
    """What is asked for; an empty text leaves a filter open.

    Parameters
    ----------
    transform : str
        A condition's id, `kind:certified` and the like, `all`, or empty: the conditions that keep
        the policy's meaning.
    outcome : str
        A name of `OUTCOMES`, `any_flip` (flipped or wavering), `failed`, `all`; empty: flipped.
    category : str
        `name=value` of the items' strata.
    judge : str
        Number of a run, from 0.
    q : str
        Text to be found.
    """

    transform: str = ""
    direction: str = ""
    clarity: str = ""
    label: str = ""
    dataset: str = ""
    category: str = ""
    outcome: str = ""
    judge: str = ""
    triage: str = ""
    sort: str = ""
    q: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> Self:
        """Read the parameters of a URL; those that are no filters are left alone.

        Raises
        ------
        ConfigError
            If a value is none of a filter's.
        """
        values = {f.name: given.get(f.name, "")[:_MOST_TEXT] for f in fields(cls)}
        for name, known in _CHOICES.items():
            if values[name] and values[name] not in known:
                raise ConfigError(unknown_name(name, values[name], list(known)))
        if values["judge"] and not (values["judge"].isascii() and values["judge"].isdigit()):
            raise ConfigError(f"judge is the number of a run, not {values['judge'][:40]!r}")
        return cls(**values)


class Cursor(NamedTuple):
    """A place between two cells, which stays a place while cells come and go."""

    share: float
    run: int
    cell: int

    def word(self) -> str:
        """Return it as it stands in a URL."""
        share = self.share.hex().replace("+", "")  # which a URL would turn into a blank
        return f"{share}_{self.run}_{self.cell}"

    @classmethod
    def of(cls, word: str) -> Cursor:
        """Read it back.

        Raises
        ------
        ConfigError
            If it is none.
        """
        try:
            share, run, cell = word.split("_")
            return cls(float.fromhex(share), int(run), int(cell))
        except ValueError as error:
            raise ConfigError(f"no place in a list: {word[:60]!r}") from error


@dataclass(frozen=True, slots=True)
class Selection:
    """The chosen cells in order; arrays of shape (n_cells,)."""

    run: NDArray[np.int32]
    cell: NDArray[np.int64]
    share: NDArray[np.float64]
    by_share: bool

    @property
    def n(self) -> int:
        """Number of cells."""
        return int(self.cell.size)

    def at(self, k: int) -> Cursor:
        """Return the place of the k-th cell."""
        share = float(self.share[k]) if self.by_share else 0.0
        return Cursor(share, int(self.run[k]), int(self.cell[k]))

    def after(self, cursor: Cursor) -> int:
        """Return the number of cells that lie at or before a place."""
        low, high = 0, self.n
        key = (-cursor.share if self.by_share else 0.0, cursor.run, cursor.cell)
        while low < high:
            middle = (low + high) // 2
            at = self.at(middle)
            if (-at.share, at.run, at.cell) <= key:
                low = middle + 1
            else:
                high = middle
        return low


class Cache:
    """The last selections, by filters and by the state of the runs and their marks."""

    def __init__(self) -> None:
        self._kept: OrderedDict[object, Selection] = OrderedDict()

    def get(self, explorer: Explorer, filters: Filters) -> Selection:
        """Return a selection, made now or before."""
        state = tuple((r.version, r.marks_version) for r in explorer.runs)
        key = (filters, state)
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = select(explorer.runs, filters)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return found


def select(runs: tuple[Run, ...], filters: Filters) -> Selection:
    """Choose and sort cells."""
    by_share = filters.sort != "plan"
    chosen: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    for number, run in enumerate(runs):
        if filters.judge and int(filters.judge) != number:
            chosen.append((np.empty(0, np.int64), np.empty(0)))
            continue
        mask = _mask(run, filters)
        items, contrasts = np.nonzero(mask)
        columns = run.index.contrasts[contrasts]
        cells = items.astype(np.int64) * len(run.index.columns) + columns
        chosen.append((cells, run.flips.share[items, contrasts].astype(np.float64)))
    cell = np.concatenate([c for c, _ in chosen])
    share = np.concatenate([s for _, s in chosen])
    number_of = np.repeat(np.arange(len(chosen), dtype=np.int32), [c.size for c, _ in chosen])
    order = np.lexsort((cell, number_of, -share if by_share else np.zeros_like(share)))
    return Selection(number_of[order], cell[order], share[order], by_share)


def _mask(run: Run, f: Filters) -> NDArray[np.bool_]:
    index, flips = run.index, run.flips
    mask = _of_outcome(run, f.outcome or "flipped")
    if f.direction:
        mask &= flips.shift == (1 if f.direction == "to_unsafe" else -1)
    wanted = [_wants(f.transform, index.columns[k]) for k in index.contrasts]
    mask &= np.array(wanted, dtype=bool)[None, :]
    rows = np.ones(len(index.items.keys), dtype=bool)
    if f.clarity:
        rows &= index.items.ambiguous == {"clear": 0, "ambiguous": 1, "unknown": -1}[f.clarity]
    if f.label:
        rows &= index.items.gold == {"SAFE": 0, "UNSAFE": 1, "none": -1}[f.label]
    if f.dataset:
        rows &= np.array([d == f.dataset for d in index.items.datasets], dtype=bool)
    if f.category:
        name, _, value = f.category.partition("=")
        rows &= np.array([s.get(name) == value for s in index.items.strata], dtype=bool)
    mask &= rows[:, None]
    if f.triage:
        mask &= run.marked(f.triage)
    if f.q.strip() and mask.any():
        mask &= run.found(f.q.strip())
    return mask


def _of_outcome(run: Run, outcome: str) -> NDArray[np.bool_]:
    found: NDArray[np.bool_]
    codes = run.flips.outcome
    if outcome == "all":
        return np.ones(codes.shape, dtype=bool)
    if outcome == "failed":
        found = run.flips.failed > 0
    elif outcome == "any_flip":
        found = (codes == FLIPPED) | (codes == WAVERING)
    else:
        found = codes == OUTCOMES.index(outcome)
    return found


def _wants(transform: str, column: object) -> bool:
    kind, condition = getattr(column, "kind", ""), getattr(column, "condition", "")
    if not transform:
        return kind in KEEPING
    if transform.startswith(_KIND):
        return bool(kind == transform.removeprefix(_KIND))
    return transform in {"all", condition}
