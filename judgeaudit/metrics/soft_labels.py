"""Soft labels: the judge's probability against the answers of a population, where people differ."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.records.scores import Score
from judgeaudit.core.table import SAFE, UNSAFE
from judgeaudit.metrics._estimate import Estimate, number, to_score
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import View
from judgeaudit.metrics._words import listed
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.many_raters import vote_counts
from judgeaudit.stats.soft_labels import SoftScores, soft_scores

__all__ = ["GROUPS", "soft_labels"]

Float2D = NDArray[np.float64]

GROUPS: Final = ("population", "language", "country", "culture", "locale")
"""Descriptors of items by which scores against a population are broken down."""

_MOST: Final = 30
_UNITS: Final = {
    "brier": "squared error, 0-1",
    "log": "nats",
    "distance": "squared distance, 0-1",
}


def _judge(view: View) -> tuple[Float2D, Float2D | None, NDArray[np.bool_], str]:
    """Return the judge's probabilities of SAFE and UNSAFE, what they rest on, and their source."""
    table = view.table
    at = table.column_indices(view.base)
    codes = table.codes[:, at]
    valid = (codes == SAFE) | (codes == UNSAFE)
    if table.p_unsafe is not None and len(table.p_sources) == 1:
        p = table.p_unsafe[:, at]
        known = valid & ~np.isnan(p)
        n = known.sum(axis=(1, 2))
        mean = np.where(known, p, 0.0).sum(axis=(1, 2)) / np.maximum(n, 1)
        return np.stack([1 - mean, mean], axis=1), None, n > 0, table.p_sources[0]
    counts = view.counts(view.base)
    repeats = np.stack([counts.valid - counts.unsafe, counts.unsafe], axis=1).astype(np.float64)
    shares = repeats / np.maximum(counts.valid, 1)[:, None]
    return shares, repeats, counts.valid > 0, "share of repeats"


@METRICS.register("soft_labels")
def soft_labels(view: View) -> Report:
    """Brier, log score and distance of the judge against raters' votes; nothing without votes.

    The judge's probability of UNSAFE where its calls have one of a single source, else the share
    of its repeats. Broken down by population or language where the items say theirs.
    """
    table = view.table
    if table.votes is None:
        return Report()
    judge, repeats, there, source = _judge(view)
    votes = vote_counts(table.votes, 2)

    def scored(among: NDArray[np.bool_], stratum: str | None, note: str) -> list[Score]:
        found = soft_scores(
            judge,
            votes,
            view.clusters,
            repeats=repeats,
            answered=there & among,
            level=view.level,
        )
        return _scores(found, stratum, note)

    note = f"the judge's probability: {source}"
    everyone = np.ones(table.n_items, dtype=bool)
    scores = scored(everyone, None, note)
    for name in GROUPS:
        told = np.array(table.strata.get(name, ()), dtype=object)
        values = sorted({v for v in told.tolist() if v})
        if len(values) < 2:
            continue
        more = f"; {len(values) - _MOST} more are left out" if len(values) > _MOST else ""
        for value in values[:_MOST]:
            scores += scored(told == value, f"{name}: {value}", note + more)
    return Report(tuple(scores))


def _scores(found: SoftScores, stratum: str | None, note: str) -> list[Score]:
    detail = {
        "floor": number(found.brier_floor),
        "clipped": float(found.n_clipped),
    }
    values = {"brier": found.brier, "log": found.log, "distance": found.distance}
    notes = [note]
    if found.n_clipped:
        notes.append(f"on {found.n_clipped} items a probability was moved off 0 or 1 for the log")
    return [
        to_score(
            Estimate(
                value,
                found.intervals[name]
                if not isinstance(value, Undefined)
                else Undefined(value.reason),
                n_items=found.n_items,
                n_clusters=found.n_clusters,
                detail=detail if name != "log" else {"clipped": float(found.n_clipped)},
            ),
            metric=f"soft_label_{name}",
            unit=_UNITS[name],
            better="lower",
            stratum=stratum,
            note=listed(notes) if name == "log" else note,
        )
        for name, value in values.items()
    ]
