"""Two judges, or one judge at two dates, on the same items, by risk category if wanted."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.errors import ConfigError, unknown_name
from judgeaudit.core.records.scores import Score
from judgeaudit.core.table import SAFE, UNSAFE, VerdictTable
from judgeaudit.metrics._estimate import Better, Estimate, PValue, to_score
from judgeaudit.stats._types import BoolArray1D, Undefined
from judgeaudit.stats.multiplicity import benjamini_hochberg, holm
from judgeaudit.stats.paired import Compared, compare_pairs

__all__ = ["DIFFERENCES", "compared", "first_verdicts"]

DIFFERENCES: Final[dict[str, tuple[str, int | None, Better]]] = {
    "difference_unsafe": ("UNSAFE verdicts", None, "neither"),
    "difference_missed": ("missed violations", UNSAFE, "lower"),
    "difference_false_alarms": ("false alarms", SAFE, "lower"),
}
"""Metrics of a comparison: the event in words, the label of the items, which side is better."""

_LABELLED: Final[dict[int | None, str]] = {
    UNSAFE: " labelled UNSAFE",
    SAFE: " labelled SAFE",
    None: "",
}
_NULL = "a verdict on which the two differ is as likely either way round"


def first_verdicts(table: VerdictTable, condition: str = "base") -> NDArray[np.int8]:
    """Return the first verdict of each item under a condition, -1 where it has none.

    One call, as a judge is deployed; other calls would make the test depend on their number.

    Parameters
    ----------
    table : VerdictTable
        Outcomes of all calls of one judge.
    condition : str
        Id of the condition.

    Returns
    -------
    array of int8, shape (n_items,)
        1 UNSAFE, 0 SAFE, -1 no verdict.
    """
    cells = table.cells(condition).reshape(table.n_items, -1)
    said = (cells == SAFE) | (cells == UNSAFE)
    if not cells.shape[1]:
        return np.full(table.n_items, -1, dtype=np.int8)
    first = cells[np.arange(table.n_items), np.argmax(said, axis=1)]
    return np.where(said.any(axis=1), first, -1).astype(np.int8)


def compared(
    first: VerdictTable, second: VerdictTable, *, by: str | None = None, level: float = 0.95
) -> tuple[Score, ...]:
    """Compare two runs on the items on which both have a first base verdict.

    Parameters
    ----------
    first, second : VerdictTable
        Two judges, or one judge at two dates. Items are matched by their key; labels, clusters
        and categories are those of the first, and an item that the second labels otherwise is
        left out and counted.
    by : str, optional
        A descriptor of the items (risk category) to compare within; p-values are then corrected
        over its values, by Holm in `p_adjusted` and by Benjamini and Hochberg in the detail.
    level : float
        Two-sided confidence level.

    Returns
    -------
    tuple of Score
        Share of the first less that of the second, of UNSAFE verdicts, of missed violations and of
        false alarms: overall, then by category.

    Raises
    ------
    ConfigError
        If the runs have no item in common, or the descriptor is not known.

    References
    ----------
    McNemar 1947; Newcombe 1998; Holm 1979; Benjamini and Hochberg 1995; decision note 0523.
    """
    if by is not None and by not in first.strata:
        raise ConfigError(unknown_name("descriptor of items", by, list(first.strata)))
    place = {key: i for i, key in enumerate(second.items)}
    there = np.array([i for i, key in enumerate(first.items) if key in place], dtype=np.int64)
    if not there.size:
        raise ConfigError("the two runs have no item in common", mend="Compare runs of one corpus")
    other = np.array([place[first.items[i]] for i in there], dtype=np.int64)
    one, two = first_verdicts(first)[there], first_verdicts(second)[other]
    gold, theirs = first.gold[there], second.gold[other]
    clash = (gold >= 0) & (theirs >= 0) & (gold != theirs)
    usable = (one >= 0) & (two >= 0) & ~clash
    left_out = {
        "without_a_verdict": float(np.count_nonzero((one < 0) | (two < 0))),
        "labelled_otherwise": float(np.count_nonzero(clash)),
        "not_in_both": float(first.n_items + second.n_items - 2 * there.size),
    }
    clusters = first.clusters[there]
    names = None if by is None else np.array(first.strata[by])[there]
    out: list[Score] = []
    for metric, (_, label, better) in DIFFERENCES.items():
        event = SAFE if label == UNSAFE else UNSAFE
        chosen = usable if label is None else usable & (gold == label)
        made = {
            key: compare_pairs(
                (one == event)[pick], (two == event)[pick], clusters[pick], level=level
            )
            for key, pick in _picks(chosen, names).items()
        }
        named = {key: found.p_value for key, found in made.items() if key is not None}
        known = {k: None if isinstance(p, Undefined) else p for k, p in named.items()}
        by_holm, by_bh = holm(known), benjamini_hochberg(known)
        for key, found in made.items():
            out.append(
                to_score(
                    _estimate(found, left_out if key is None else {"p_bh": by_bh.get(key)}, label),
                    metric=metric,
                    stratum=None if key is None else f"{by}={key}",
                    unit="difference of shares of items",
                    better=better,
                    p=_p(found, None if key is None else by_holm.get(key)),
                )
            )
    return tuple(out)


def _picks(chosen: BoolArray1D, names: NDArray[np.str_] | None) -> dict[str | None, BoolArray1D]:
    """Name the items of all categories together (under None), and those of each."""
    out: dict[str | None, BoolArray1D] = {None: chosen}
    for key in [] if names is None else sorted(set(names.tolist())):
        if key:
            out[key] = chosen & np.asarray(names == key, dtype=bool)
    return out


def _estimate(
    found: Compared, more: dict[str, float | None] | dict[str, float], label: int | None
) -> Estimate:
    table = found.table
    if not table.n:
        gone = Undefined(f"no item{_LABELLED[label]} has a verdict in both runs")
        return Estimate(gone, gone, detail=dict(more))
    return Estimate(
        found.difference,
        found.interval,
        numerator=float(table.first - table.second),
        denominator=float(table.n),
        n_items=table.n,
        n_clusters=found.n_clusters,
        detail={
            "both": float(table.both),
            "first_only": float(table.first),
            "second_only": float(table.second),
            "neither": float(table.neither),
            **more,
        },
    )


def _p(found: Compared, adjusted: float | None) -> PValue | None:
    if isinstance(found.p_value, Undefined):
        return None
    return PValue(found.p_value, _NULL, found.p_method, adjusted)
