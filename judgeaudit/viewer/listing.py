"""A page of the list: flips in order, a keyset page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from judgeaudit.viewer.choosing import Cursor, Filters, Selection
from judgeaudit.viewer.flips import OUTCOMES
from judgeaudit.viewer.texts import name

if TYPE_CHECKING:
    from judgeaudit.viewer.explorer import Explorer, Run

__all__ = ["PAGE", "page", "row_of"]

PAGE: Final = 50
_LABELS: Final = ("SAFE", "UNSAFE")


def page(
    explorer: Explorer, filters: Filters, *, after: str = "", start: int | None = None
) -> dict[str, Any]:
    """Return the cells that follow a place in the list.

    Parameters
    ----------
    explorer, filters
        Which list.
    after : str
        A cursor; empty: from the beginning.
    start : int, optional
        A number instead of a cursor, for a jump.
    """
    chosen = explorer.select(filters)
    first = chosen.after(Cursor.of(after)) if after else min(max(start or 0, 0), chosen.n)
    last = min(first + PAGE, chosen.n)
    rows = [row(explorer, chosen, k) for k in range(first, last)]
    return {
        "total": chosen.n,
        "start": first,
        "rows": rows,
        "next": chosen.at(last - 1).word() if last < chosen.n and last > first else None,
    }


def row(explorer: Explorer, chosen: Selection, k: int) -> dict[str, Any]:
    """Return the k-th cell as a line of the list."""
    number, cell = int(chosen.run[k]), int(chosen.cell[k])
    return {"n": k, "run": number, **row_of(explorer.runs[number], cell)}


def row_of(run: Run, cell: int) -> dict[str, Any]:
    """Return a cell as a line of the list."""
    index, items, counts = run.index, run.index.items, run.index.counts
    row, k = divmod(cell, len(index.columns))
    column = index.columns[k]
    base_unsafe = int(counts.unsafe[row, index.base].sum())
    base_valid = int(counts.valid[row, index.base].sum())
    at = [int(c) for c in index.contrasts].index(k) if k in index.contrasts else None
    mark = run.marks.get(cell)
    gold, ambiguous = int(items.gold[row]), int(items.ambiguous[row])
    return {
        "cell": cell,
        "item": name(items.keys[row]),
        "condition": name(column.condition),
        "wording": column.wording,
        "kind": column.kind,
        "base": [base_valid - base_unsafe, base_unsafe],
        "there": [int(counts.safe[row, k]), int(counts.unsafe[row, k])],
        "failed": int(counts.failed[row, k]),
        "share": None if at is None else round(float(run.flips.share[row, at]), 4),
        "outcome": None if at is None else OUTCOMES[int(run.flips.outcome[row, at])],
        "shift": 0 if at is None else int(run.flips.shift[row, at]),
        "label": None if gold < 0 else _LABELS[gold],
        "ambiguous": None if ambiguous < 0 else bool(ambiguous),
        "mark": None if mark is None else {"kind": mark.kind, "note": bool(mark.note.strip())},
    }
