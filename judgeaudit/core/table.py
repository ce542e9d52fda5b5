"""The verdict table: the one array that all metrics read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records._base import Outcome

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CODES",
    "NOT_CALLED",
    "SAFE",
    "UNSAFE",
    "Counts",
    "VerdictTable",
    "agreement",
    "only_items",
]

Int8Array3D = NDArray[np.int8]
IntArray1D = NDArray[np.int64]

NOT_CALLED: Final = -1
SAFE: Final = 0
UNSAFE: Final = 1
CODES: Final[dict[str, int]] = {
    "SAFE": SAFE,
    "UNSAFE": UNSAFE,
    **{o: k for k, o in enumerate(get_args(Outcome)[1:], start=2)},
}
"""Cell codes: 0 SAFE, 1 UNSAFE, 2.. the outcomes without a verdict, -1 not called."""

_FIRST_FAILURE: Final = 2
_LABELS: Final[Mapping[str | None, int]] = {"SAFE": SAFE, "UNSAFE": UNSAFE}


def agreement(codes: Int8Array3D) -> NDArray[np.float32]:
    """Return the share of the repeats of a cell that gave the same label.

    Parameters
    ----------
    codes : array of int8, shape (n_items, n_columns, n_repeats)
        Cell codes, see `CODES`.

    Returns
    -------
    array of float32, same shape
        In 0..1; NaN where there is no label, or no second one to compare it with.

    Examples
    --------
    >>> agreement(np.array([[[SAFE, SAFE, SAFE, UNSAFE]]], dtype=np.int8)).tolist()
    [[[0.75, 0.75, 0.75, 0.25]]]
    """
    share = np.full(codes.shape, np.nan, dtype=np.float32)
    counts = [(codes == label).sum(axis=2, keepdims=True) for label in (SAFE, UNSAFE)]
    total = counts[0] + counts[1]
    for label, count in zip((SAFE, UNSAFE), counts, strict=True):
        own = (codes == label) & (total > 1)
        share[own] = np.broadcast_to(count / np.maximum(total, 1), codes.shape)[own]
    return share


def _check_votes(votes: NDArray[np.int8], shape: tuple[int, int]) -> None:
    if votes.shape != shape:
        raise ConfigError(f"votes have shape {votes.shape}, expected {shape}")
    if votes.size and not (int(votes.min()) >= NOT_CALLED and int(votes.max()) <= UNSAFE):
        raise ConfigError("a vote is out of range")


def _per_item(hits: NDArray[np.bool_]) -> IntArray1D:
    """Add up hits of shape (n_calls, n_items) in a narrow type, which numpy does fastest."""
    narrow = np.min_scalar_type(max(1, hits.shape[0]))
    total: IntArray1D = np.sum(hits, axis=0, dtype=narrow).astype(np.int64)
    return total


@dataclass(frozen=True, slots=True)
class Counts:
    """Outcome counts per item under one condition; all arrays have shape (n_items,).

    Parameters
    ----------
    unsafe : array of int
        s_i or t_i, verdicts UNSAFE.
    valid : array of int
        K_i or L_i, calls with a verdict.
    failed : array of int
        Calls that were made and ended without a verdict.
    """

    unsafe: IntArray1D
    valid: IntArray1D
    failed: IntArray1D


@dataclass(frozen=True, slots=True)
class VerdictTable:
    """Outcomes of all calls of one judge.

    Parameters
    ----------
    items : tuple of str
        Item keys, sorted; axis 0.
    clusters : array of int, shape (n_items,)
        Cluster index of each item, 0..G-1.
    gold : array of int8, shape (n_items,)
        1 UNSAFE, 0 SAFE, -1 no label.
    ambiguous : array of int8, shape (n_items,)
        1 ambiguous, 0 unambiguous (clear), -1 not known.
    columns : tuple of (str, int)
        (condition, wording) of each position on axis 1.
    codes : array of int8, shape (n_items, n_columns, n_repeats)
        Cell codes, see `CODES`.
    confidence : array of float32, same shape, optional
        Confidence of a verdict, of the run's one source, NaN where there is none (never leaves
        this class as NaN).
    confidence_from : str
        That source: `stated`, `logprobs`, `repeats` (share of the repeats that agree).
    strata : mapping of str to tuple of str
        Gold descriptors of the items, aligned with `items`.
    votes : array of int8, shape (n_items, n_raters), optional
        1 UNSAFE, 0 SAFE, -1 where a rater did not vote; None where no votes are known.
    raters : tuple of str
        Names of the raters, axis 1 of `votes`.
    p_unsafe : array of float64, same shape as codes, optional
        Probability of UNSAFE of a call, given that it ends in a verdict; NaN where there is none.
    p_sources : tuple of str
        Where these probabilities come from; numbers of several sources must not be mixed.
    p_whole : bool
        Whether nothing is sampled before the verdict, so that all calls of a prompt share one
        probability, as somebody stated.
    """

    items: tuple[str, ...]
    clusters: IntArray1D
    gold: NDArray[np.int8]
    ambiguous: NDArray[np.int8]
    columns: tuple[tuple[str, int], ...]
    codes: Int8Array3D
    confidence: NDArray[np.float32] | None = None
    strata: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    p_unsafe: NDArray[np.float64] | None = None
    p_sources: tuple[str, ...] = ()
    p_whole: bool = False
    confidence_from: str = "stated"
    votes: NDArray[np.int8] | None = None
    raters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check shapes, codes and keys."""
        n = len(self.items)
        if self.codes.ndim != 3 or self.codes.shape[:2] != (n, len(self.columns)):
            raise ConfigError(
                f"codes have shape {self.codes.shape}, "
                f"expected ({n}, {len(self.columns)}, n_repeats)"
            )
        for name in ("clusters", "gold", "ambiguous"):
            if getattr(self, name).shape != (n,):
                raise ConfigError(f"{name} has shape {getattr(self, name).shape}, expected ({n},)")
        if len(set(self.items)) != n:
            raise ConfigError("item keys are not unique")
        if len(set(self.columns)) != len(self.columns):
            raise ConfigError("columns are not unique")
        if self.codes.size and not (
            int(self.codes.min()) >= NOT_CALLED and int(self.codes.max()) <= max(CODES.values())
        ):
            raise ConfigError("a cell code is out of range")
        if self.p_unsafe is not None and self.p_unsafe.shape != self.codes.shape:
            raise ConfigError(
                f"p_unsafe has shape {self.p_unsafe.shape}, expected {self.codes.shape}"
            )

        if self.votes is not None:
            _check_votes(self.votes, (n, len(self.raters)))

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(np.unique(self.clusters).size)

    @property
    def conditions(self) -> tuple[str, ...]:
        """Condition ids in the order of their first column."""
        return tuple(dict.fromkeys(c for c, _ in self.columns))

    def column_indices(self, condition: str) -> list[int]:
        """Positions on axis 1 that belong to a condition (one per wording)."""
        return [j for j, (c, _) in enumerate(self.columns) if c == condition]

    def cells(self, condition: str) -> Int8Array3D:
        """Codes of one condition, shape (n_items, n_wordings, n_repeats); empty if not called."""
        return self.codes[:, self.column_indices(condition), :]

    def counts(self, condition: str) -> Counts:
        """Outcome counts per item under a condition, wordings and repeats pooled."""
        return self.column_counts(self.column_indices(condition))

    def column_counts(self, columns: Sequence[int]) -> Counts:
        """Outcome counts per item under some positions on axis 1, pooled."""
        if not columns or not self.codes.size:  # one array for all three: many ask, of many items
            none = np.zeros(self.n_items, dtype=np.int64)
            return Counts(none, none, none)
        calls = self._calls(columns)
        return Counts(
            unsafe=_per_item(calls == UNSAFE),
            valid=_per_item((calls == SAFE) | (calls == UNSAFE)),
            failed=_per_item(calls >= _FIRST_FAILURE),
        )

    def calls_of(self, condition: str, outcome: str) -> IntArray1D:
        """Count each item's calls under a condition that ended in an outcome or a label."""
        return _per_item(self._calls(self.column_indices(condition)) == CODES[outcome])

    def _calls(self, columns: Sequence[int]) -> NDArray[np.int8]:
        """Codes of some columns with the calls first: adding up long rows is ten times faster."""
        cells = self.codes[:, list(columns), :]
        return np.ascontiguousarray(cells.reshape(len(cells), math.prod(cells.shape[1:])).T)

    def outcome_counts(self, condition: str) -> dict[str, int]:
        """Count the calls of a condition by outcome, `verdict` included."""
        cells = self.cells(condition)
        out = {"verdict": int(np.sum((cells == SAFE) | (cells == UNSAFE)))}
        for name, code in CODES.items():
            if code >= _FIRST_FAILURE:
                out[name] = int(np.sum(cells == code))
        return out

    def to_array(self) -> tuple[Int8Array3D, NDArray[np.bool_]]:
        """Return codes and a mask that is True where a verdict stands, both of one shape."""
        return self.codes, (self.codes == SAFE) | (self.codes == UNSAFE)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row a call: item, condition, wording, repeat, outcome, label."""
        import pandas as pd

        names = {v: k for k, v in CODES.items()}
        i, j, r = np.nonzero(self.codes != NOT_CALLED)
        code = self.codes[i, j, r]
        labels = [names[c] if c in (SAFE, UNSAFE) else None for c in code.tolist()]
        return pd.DataFrame(
            {
                "item_id": [self.items[k] for k in i],
                "condition": [self.columns[k][0] for k in j],
                "wording": [self.columns[k][1] for k in j],
                "repeat": r,
                "outcome": ["verdict" if c in (SAFE, UNSAFE) else names[c] for c in code.tolist()],
                "label": labels,
            }
        )

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[tuple[str, str, int, int, str, str | None]],
        *,
        clusters: Mapping[str, str] | None = None,
        gold: Mapping[str, str | None] | None = None,
        ambiguous: Mapping[str, bool | None] | None = None,
        items: Sequence[str] | None = None,
        strata: Mapping[str, Mapping[str, str]] | None = None,
    ) -> VerdictTable:
        """Build a table from (item, condition, wording, repeat, outcome, label) rows.

        Parameters
        ----------
        rows : iterable of tuple
            One a call.
        clusters, gold, ambiguous : mapping, optional
            By item key; an item without a cluster is a cluster of its own.
        items : sequence of str, optional
            All items, where some may have no call yet.
        strata : mapping of item key to mapping, optional
            Gold descriptors.

        Raises
        ------
        ConfigError
            If one (item, condition, wording, repeat) occurs twice, a repeat is negative, or an
            outcome or a label, gold ones too, is not one of the known spellings.
        """
        rows = list(rows)
        keys = tuple(sorted({r[0] for r in rows} | set(items or ())))
        columns = tuple(dict.fromkeys((r[1], r[2]) for r in rows))
        at = {k: n for n, k in enumerate(keys)}
        col = {c: n for n, c in enumerate(columns)}
        depth = max((r[3] for r in rows), default=-1) + 1
        codes = np.full((len(keys), len(columns), depth), NOT_CALLED, dtype=np.int8)
        for number, (item, condition, wording, repeat, outcome, label) in enumerate(rows, 1):
            known = outcome in CODES and CODES[outcome] >= _FIRST_FAILURE and label is None
            if outcome == "verdict":
                known = label in _LABELS
            if not known:
                raise ConfigError(
                    f"outcome {outcome!r} with label {label!r}",
                    where=f"item {item}, condition {condition}, repeat {repeat}",
                    mend="A label (SAFE or UNSAFE) stands exactly where the outcome is 'verdict'",
                )
            if repeat < 0:
                raise ConfigError(
                    f"repeat is {repeat}", where=f"row {number}, item {item}", mend="Count from 0"
                )
            cell = at[item], col[condition, wording], repeat
            if codes[cell] != NOT_CALLED:
                call = (item, condition, wording, repeat)
                first = next(k for k, r in enumerate(rows, 1) if r[:4] == call)
                raise ConfigError(
                    f"the same call occurs twice, in rows {first} and {number}",
                    where=f"item {item}, condition {condition}, repeat {repeat}",
                    mend="Keep one of them",
                )
            codes[cell] = CODES[label or outcome]
        names = [(clusters or {}).get(k, k) for k in keys]
        index = {c: n for n, c in enumerate(dict.fromkeys(names))}
        golds = {**_LABELS, None: NOT_CALLED}
        for item, label in (gold or {}).items():
            if label not in golds:
                raise ConfigError(
                    f"gold label {label!r}", where=f"item {item}", mend="SAFE, UNSAFE or None"
                )
        fields = sorted({f for s in (strata or {}).values() for f in s})
        return cls(
            items=keys,
            clusters=np.array([index[c] for c in names], dtype=np.int64),
            gold=np.array([golds[(gold or {}).get(k)] for k in keys], dtype=np.int8),
            ambiguous=np.array(
                [-1 if (a := (ambiguous or {}).get(k)) is None else int(a) for k in keys],
                dtype=np.int8,
            ),
            columns=columns,
            codes=codes,
            strata={f: tuple((strata or {}).get(k, {}).get(f, "") for k in keys) for f in fields},
        )


def only_items(table: VerdictTable, at: Sequence[int]) -> VerdictTable:
    """Keep some items of a table, in the order given."""
    pick = np.asarray(at, dtype=np.int64)
    arrays: dict[str, Any] = {
        name: None if (a := getattr(table, name)) is None else a[pick]
        for name in ("clusters", "gold", "ambiguous", "codes", "confidence", "p_unsafe", "votes")
    }
    return replace(
        table,
        items=tuple(table.items[k] for k in pick.tolist()),
        strata={n: tuple(v[k] for k in pick.tolist()) for n, v in table.strata.items()},
        **arrays,
    )
