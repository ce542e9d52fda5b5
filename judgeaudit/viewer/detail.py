"""One flip: both texts, all replies, the trajectory, and how the item fared otherwise."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any, Final

from judgeaudit.core.errors import ConfigError
from judgeaudit.engine.chain import plain_text
from judgeaudit.viewer.choosing import Cursor, Filters
from judgeaudit.viewer.flips import jitter
from judgeaudit.viewer.listing import row, row_of
from judgeaudit.viewer.texts import cut, name
from judgeaudit.viewer.wording import side_by_side

if TYPE_CHECKING:
    from judgeaudit.viewer.explorer import Explorer, Run

__all__ = ["FIELDS", "compare_all", "detail", "long_text"]

FIELDS: Final = ("text", "rationale", "reasoning", "refusal")
_SAID: Final = ("thought", "action", "content")
_MOST_REPLIES: Final = 200
_REPLIES: Final = """
SELECT c.position, c.repeat, v.outcome, v.label, v.confidence, r.text, r.rationale, r.reasoning,
       r.refusal, r.note, r.finish_reason, s.model, b.committed_at, v.seconds, v.completion_tokens
FROM calls c LEFT JOIN verdicts v ON v.call = c.position LEFT JOIN replies r ON r.call = c.position
LEFT JOIN served s ON s.id = v.served LEFT JOIN batches b ON b.id = v.batch
WHERE c.cell = ? ORDER BY c.repeat LIMIT ?
"""
_NAMES: Final = (
    *("position", "repeat", "outcome", "label", "confidence", "text", "rationale", "reasoning"),
    *("refusal", "note", "finish_reason", "served", "committed_at", "seconds", "tokens"),
)
_FAILURES: Final = """
SELECT class, status, message FROM failures WHERE call = ? ORDER BY id DESC LIMIT 1
"""


def detail(
    explorer: Explorer, number: int, cell: int, filters: Filters, *, near: bool = True
) -> dict[str, Any]:
    """Return everything about a cell, and its neighbours in a list.

    Raises
    ------
    ConfigError
        If there is no such cell.
    """
    run = explorer.run(number)
    index = run.index
    if not 0 <= cell < len(index.items.keys) * len(index.columns):
        raise ConfigError(f"there is no cell {cell} in this run")
    item, k = divmod(cell, len(index.columns))
    base = int(index.base[0]) if index.base.size else k
    with run.source.read() as db:
        texts = [_part(db, index.columns[c].part) for c in (base, k)]
        source, cluster, item_name = db.execute(
            "SELECT label_source, cluster, name FROM items WHERE id = ?", (item,)
        ).fetchone()
        trajectory = _part(db, int(index.items.parts[item]))
        width = len(index.columns)
        replies = {
            "base": [r for c in index.base for r in _replies(db, item * width + int(c))],
            "there": [] if k in index.base else _replies(db, cell),
        }
        found = db.execute("SELECT hex(prompt_sha256) FROM cells WHERE id = ?", (cell,)).fetchone()
    mark = run.marks.get(cell)
    return {
        **row_of(run, cell),
        "run": number,
        "width": width,
        "columns": [base, k],
        "planned": found is not None,
        "prompt_sha256": found[0].lower() if found else None,
        "dataset": name(index.items.datasets[item]),
        "subset": name(index.items.subsets[item]),
        "name": name(item_name),
        "cluster": name(cluster),
        "label_source": source,
        "strata": {name(a): name(b) for a, b in index.items.strata[item].items()},
        "summary": name(index.columns[k].summary),
        "jitter": {"base": _jitter(run, item, index.base), "there": _jitter(run, item, [k])},
        "wording": index.columns[k].wording,
        "texts": _texts(*texts),
        "same_side": k in index.contrasts,
        "replies": replies,
        "trajectory": _trajectory(trajectory),
        "others": [
            {**row_of(run, item * width + c), "here": c == k, "contrast": c in index.contrasts}
            for c in range(width)
            if index.columns[c].kind != "reference"
        ],
        "triage": None if mark is None else mark.model_dump(include={"kind", "note", "time"}),
        "place": _place(explorer, number, cell, filters) if near else None,
    }


def _texts(old: str, new: str) -> dict[str, Any]:
    if not old and not new:
        return {"known": False}
    found = side_by_side(old, new)
    rows = [
        [changed, *([[mark, cut(text)] for mark, text in side] for side in sides)]
        for changed, *sides in found["rows"]
    ]
    return {"known": True, **found, "rows": rows}


def compare_all(run: Run) -> None:
    """Compare each text of a run with base; comparing is slow, and is done once a text."""
    columns = run.index.columns
    with run.source.read() as db:
        base = _part(db, columns[int(run.index.base[0])].part) if run.index.base.size else ""
        texts = [_part(db, columns[int(k)].part) for k in run.index.contrasts]
    for text in texts:
        side_by_side(base, text)


def _part(db: sqlite3.Connection, number: int) -> str:
    row = db.execute("SELECT body FROM parts WHERE id = ?", (number,)).fetchone()
    return "" if row is None else str(plain_text(row[0]))


def _jitter(run: Run, item: int, columns: Any) -> float | None:
    counts = run.index.counts
    return jitter(int(counts.unsafe[item, columns].sum()), int(counts.valid[item, columns].sum()))


def _replies(db: sqlite3.Connection, cell: int) -> list[dict[str, Any]]:
    out = []
    for values in db.execute(_REPLIES, (cell, _MOST_REPLIES)).fetchall():
        said = dict(zip(_NAMES, values, strict=True))
        said |= {field: cut(said[field]) for field in FIELDS}
        said |= {f: None if said[f] is None else name(said[f])
                 for f in ("note", "finish_reason", "served", "committed_at")}  # fmt: skip
        if said["outcome"] is None:
            failed = db.execute(_FAILURES, (said["position"],)).fetchone()
            said["failure"] = failed and [None if v is None else name(v) for v in failed]
        out.append(said)
    return out


def _trajectory(body: str) -> dict[str, Any]:
    try:
        found = json.loads(body)
        turns = [
            {
                "role": name(t["role"]),
                **{f: cut(t.get(f)) for f in ("thought", "action", "content")},
            }
            for t in found["turns"]
        ]
        return {"profile": cut(found.get("profile")), "turns": turns}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {"profile": None, "turns": []}


def _place(explorer: Explorer, number: int, cell: int, filters: Filters) -> dict[str, Any]:
    """Say where a cell stands in a list: its number there, and who its neighbours are."""
    chosen = explorer.select(filters)
    run = explorer.run(number)
    k = cell % len(run.index.columns)
    at = [int(c) for c in run.index.contrasts]
    share = float(run.flips.share[cell // len(run.index.columns), at.index(k)]) if k in at else 0.0
    after = chosen.after(Cursor(share, number, cell))
    there = after > 0 and chosen.at(after - 1)[1:] == (number, cell)
    before = after - 2 if there else after - 1
    return {
        "n": after - 1 if there else None,
        "total": chosen.n,
        "previous": row(explorer, chosen, before) if before >= 0 else None,
        "next": row(explorer, chosen, after) if after < chosen.n else None,
    }


def long_text(explorer: Explorer, number: int, what: str, start: int) -> Any:
    """Return more of a text that was cut.

    Parameters
    ----------
    explorer, number
        The run.
    what : str
        `reply/<position>/<field>`, `turn/<item>/<turn>/<field>` or `policy/<column>`.
    start : int
        First character.

    Raises
    ------
    ConfigError
        If there is no such text.
    """
    run = explorer.run(number)
    try:
        with run.source.read() as db:
            text = _named(db, run, *what.split("/"))
    except (LookupError, ValueError, TypeError) as error:
        raise ConfigError(f"there is no such text: {what[:80]!r}") from error
    return cut(text, max(0, start))


def _named(db: sqlite3.Connection, run: Run, kind: str, *rest: str) -> Any:
    if kind == "policy":
        return _part(db, run.index.columns[int(rest[0])].part)
    if kind == "turn":
        body = json.loads(_part(db, int(run.index.items.parts[int(rest[0])])))
        return body["profile"] if rest[1] == "profile" else body["turns"][int(rest[1])][rest[2]]
    if kind != "reply" or rest[1] not in FIELDS:
        raise LookupError(kind)
    sql = f"SELECT {rest[1]} FROM replies WHERE call = ?"  # noqa: S608 (one of FIELDS)
    return db.execute(sql, (int(rest[0]),)).fetchone()[0]
