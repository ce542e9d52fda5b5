"""The score of an item, how likely UNSAFE it is to the judge, from one source; and its label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from judgeaudit.core.table import SAFE, UNSAFE, VerdictTable
from judgeaudit.metrics._view import View
from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Undefined
from judgeaudit.stats.clusters import n_distinct
from judgeaudit.stats.splits import renumbered

__all__ = ["MOST_CATEGORIES", "Judged", "datasets_of", "fields_of", "judged", "take"]

MOST_CATEGORIES: Final = 30
"""Descriptors with more values than that are names rather than categories."""

_STATED: Final = {
    "stated": "stated confidence in the verdict",
    "logprobs": "confidence in the verdict from token log-probabilities",
}


@dataclass(frozen=True, slots=True)
class Judged:
    """Labelled items that have a score, all scores from one source.

    Parameters
    ----------
    p : array of float, shape (n,)
        Probability of UNSAFE, 0 to 1, rounded to 12 decimals.
    unsafe : array of bool, shape (n,)
        Gold label.
    clusters : array of int, shape (n,)
        Numbered by first appearance.
    at : array of int, shape (n,)
        Place of each item in the table.
    source : str
        Where the scores come from, in words; printed with each figure.
    left_out : int
        Labelled items without a score of this source.
    """

    p: FloatArray1D
    unsafe: BoolArray1D
    clusters: IntArray1D
    at: IntArray1D
    source: str
    left_out: int

    @property
    def note(self) -> str:
        """What must be printed with a figure that rests on the scores."""
        lost = ""
        if self.left_out:
            lost = f"; {self.left_out} labelled items without one are left out"
        return f"score of an item: {self.source}{lost}"

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return n_distinct(self.clusters)


def take(data: Judged, keep: BoolArray1D) -> Judged:
    """Return some of the items."""
    return Judged(
        data.p[keep],
        data.unsafe[keep],
        renumbered(data.clusters[keep]),
        data.at[keep],
        data.source,
        data.left_out,
    )


def judged(view: View) -> Judged | Undefined:
    """Return the labelled items with their scores under base, or why there are none.

    The mean probability of UNSAFE over an item's calls where calls carry one; else from the
    confidence of each verdict, c for UNSAFE and 1 - c for SAFE; else the share of its repeats that
    are UNSAFE. One source a run, never a mix: items without it are left out and counted.
    """
    return view.memo("judged", lambda: _judged(view))


def _judged(view: View) -> Judged | Undefined:
    table = view.table
    labelled = table.gold >= 0
    if not labelled.any():
        return Undefined("no item has a gold label")
    found = _scores(table, view.base)
    if isinstance(found, Undefined):
        return found
    total, n, source = found
    keep = labelled & (n > 0)
    if not keep.any():
        return Undefined("no labelled item has a score")
    return Judged(
        p=np.clip(np.round(total[keep] / n[keep], 12), 0.0, 1.0),
        unsafe=table.gold[keep] == UNSAFE,
        clusters=renumbered(view.clusters[keep]),
        at=np.flatnonzero(keep),
        source=source,
        left_out=int(np.count_nonzero(labelled & (n == 0))),
    )


def _scores(table: VerdictTable, base: str) -> tuple[FloatArray1D, IntArray1D, str] | Undefined:
    """Sum an item's scores over its base calls, count them, and say where they come from."""
    at = table.column_indices(base)
    codes = table.codes[:, at]
    valid, axes = (codes == SAFE) | (codes == UNSAFE), (1, 2)
    if table.p_unsafe is not None:
        p = table.p_unsafe[:, at]
        there = valid & ~np.isnan(p)
        if there.any():
            if len(table.p_sources) > 1:
                names = ", ".join(table.p_sources)
                return Undefined(f"probabilities come from several sources ({names}), never mixed")
            name = table.p_sources[0] if table.p_sources else "not stated"
            total = np.where(there, p, 0.0).sum(axis=axes)
            return total, there.sum(axis=axes), f"probability of UNSAFE ({name})"
    if table.confidence is not None and table.confidence_from in _STATED:
        # kept in single precision, in which .7 lies below .7 and would fall into the bin before
        sure = np.round(table.confidence[:, at].astype(np.float64), 6)
        there = valid & ~np.isnan(sure)
        if there.any():
            p = np.where(codes == UNSAFE, sure, 1 - sure)
            total = np.where(there, p, 0.0).sum(axis=axes)
            return total, there.sum(axis=axes), _STATED[table.confidence_from]
    n = valid.sum(axis=axes)
    if not valid.any():
        return Undefined("no call under base ended in a verdict")
    if int(n.max()) < 2:
        return Undefined("no probability, no confidence, and one verdict an item: nothing to rank")
    unsafe = (codes == UNSAFE).sum(axis=axes).astype(np.float64)
    return unsafe, n, f"share of its repeats that are UNSAFE, {_counted(n)} an item"


def _counted(n: IntArray1D) -> str:
    least, most = int(n[n > 0].min()), int(n.max())
    return f"{most}" if least == most else f"{least} to {most}"


def fields_of(view: View) -> dict[str, tuple[IntArray1D, tuple[str, ...]]]:
    """Return descriptors of items that are categories: field -> (index or -1, names)."""

    def make() -> dict[str, tuple[IntArray1D, tuple[str, ...]]]:
        out: dict[str, tuple[IntArray1D, tuple[str, ...]]] = {}
        for name, values in sorted(view.table.strata.items()):
            names = tuple(sorted(set(values) - {""}))
            if 2 <= len(names) <= MOST_CATEGORIES:
                place = {v: k for k, v in enumerate(names)} | {"": -1}
                at = np.fromiter(map(place.__getitem__, values), np.int64, len(values))
                out[name] = at, names
        return out

    return view.memo("fields", make)


def datasets_of(view: View) -> tuple[IntArray1D, tuple[str, ...]] | None:
    """Return the data set of each item, what its key begins with; None where there are not 2 to 30.

    More of them are no data sets but keys of another make.
    """
    place: dict[str, int] = {}
    at = np.empty(view.table.n_items, dtype=np.int64)
    for k, key in enumerate(view.table.items):
        at[k] = place.setdefault(key.split("/", 1)[0], len(place))
        if len(place) > MOST_CATEGORIES:
            return None
    names = tuple(sorted(place))
    if len(names) < 2 or len(names) == at.size:
        return None
    rank = np.array([names.index(name) for name in place], dtype=np.int64)
    return rank[at], names
