"""The current selection as a file: JSON lines, or CSV that a spreadsheet only shows."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from judgeaudit.core.errors import ConfigError, unknown_name
from judgeaudit.viewer.choosing import Filters
from judgeaudit.viewer.flips import OUTCOMES

if TYPE_CHECKING:
    from judgeaudit.viewer.explorer import Explorer, Run

__all__ = ["COLUMNS", "FORMS", "export"]

FORMS: Final = ("jsonl", "csv")
COLUMNS: Final = (
    *("judge", "ledger", "item", "dataset", "condition", "wording", "kind", "outcome"),
    *("share_of_pairs_that_differ", "base_safe", "base_unsafe", "safe", "unsafe", "no_verdict"),
    *("label", "ambiguous", "strata", "triage", "note", "prompt_sha256"),
)
_BLOCK: Final = 500


def export(explorer: Explorer, filters: Filters, form: str) -> Iterator[bytes]:
    """Write the chosen cells, some hundreds at a time.

    Names and notes are whole here. JSON lines are ASCII with escapes; in CSV a cell that a
    spreadsheet would take for a formula has an apostrophe in front.

    Raises
    ------
    ConfigError
        If the form is unknown.
    """
    if form not in FORMS:
        raise ConfigError(unknown_name("format", form, list(FORMS)))
    return _lines(explorer, filters, form)


def _lines(explorer: Explorer, filters: Filters, form: str) -> Iterator[bytes]:
    chosen = explorer.select(filters)
    if form == "csv":
        # the mark lets spreadsheets know that this is UTF-8
        yield ("\ufeff" + _csv([list(COLUMNS)])).encode()
    for start in range(0, chosen.n, _BLOCK):
        some = range(start, min(start + _BLOCK, chosen.n))
        places = [(int(chosen.run[k]), int(chosen.cell[k])) for k in some]
        prompts = _prompts(explorer, places)
        rows = [_row(explorer.runs[r], cell, prompts.get((r, cell))) for r, cell in places]
        if form == "jsonl":
            yield "".join(json.dumps(row) + "\n" for row in rows).encode("ascii")
        else:
            said = [[_word(row[c]) for c in COLUMNS] for row in rows]
            yield _csv(said).encode("utf-8", "backslashreplace")


def _prompts(explorer: Explorer, places: list[tuple[int, int]]) -> dict[tuple[int, int], str]:
    found: dict[tuple[int, int], str] = {}
    for number in {r for r, _ in places}:
        cells = [c for r, c in places if r == number]
        marks = ",".join("?" * len(cells))
        sql = f"SELECT id, hex(prompt_sha256) FROM cells WHERE id IN ({marks})"  # noqa: S608
        with explorer.runs[number].source.read() as db:
            found |= {(number, c): digest.lower() for c, digest in db.execute(sql, cells)}
    return found


def _row(run: Run, cell: int, prompt: str | None) -> dict[str, Any]:
    index, counts = run.index, run.index.counts
    item, k = divmod(cell, len(index.columns))
    column, judge = index.columns[k], run.source.meta.judge
    at = [int(c) for c in index.contrasts].index(k)
    gold, ambiguous = int(index.items.gold[item]), int(index.items.ambiguous[item])
    mark = run.marks.get(cell)
    values = (
        *(f"{judge.backend}:{judge.model}", str(run.path)),
        *(index.items.keys[item], index.items.datasets[item]),
        *(column.condition, column.wording, column.kind),
        OUTCOMES[int(run.flips.outcome[item, at])],
        round(float(run.flips.share[item, at]), 6),
        *(int(counts.safe[item, index.base].sum()), int(counts.unsafe[item, index.base].sum())),
        *(int(counts.safe[item, k]), int(counts.unsafe[item, k]), int(counts.failed[item, k])),
        None if gold < 0 else ("SAFE", "UNSAFE")[gold],
        None if ambiguous < 0 else bool(ambiguous),
        index.items.strata[item],
        None if mark is None else mark.kind,
        None if mark is None else mark.note,
        prompt,
    )
    return dict(zip(COLUMNS, values, strict=True))


def _word(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _csv(rows: list[list[str]]) -> str:
    from judgeaudit.policy.rating.tables import guarded

    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerows([guarded(cell.replace("\x00", "\\0")) for cell in row] for row in rows)
    return out.getvalue()
