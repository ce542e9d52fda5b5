"""What was read of a table of verdicts: calls, items, and what the table calls conditions."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Final

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.core.records import Label, Reply, Verdict
from judgeaudit.corpora._sheet import Sheet
from judgeaudit.engine.imported.choices import Choices, pairs_of
from judgeaudit.engine.imported.values import is_blank, name_of, text_of

__all__ = [
    "SILENT",
    "ItemFacts",
    "RawRow",
    "Read",
    "Row",
    "counted",
    "put_in_category",
    "targets_of",
    "verdict_of",
]

RawRow = tuple[str, str, int, int, Reply, Verdict]
"""(item, condition, wording, repeat as in the table, reply, verdict)."""

SILENT: Final = Reply(text=None, attempts=0)
"""The reply of a call of which only the verdict is known; one record for all of them."""


@cache
def verdict_of(meaning: str) -> Verdict:
    """Return the verdict that a meaning is: a label, or how a call ended without one."""
    if meaning in {"SAFE", "UNSAFE"}:
        return Verdict.model_validate({"outcome": "verdict", "label": meaning})
    return Verdict.model_validate({"outcome": meaning})


@dataclass(frozen=True, slots=True)
class Row:
    """One call: which, and what it ended in."""

    item: str
    condition: str
    wording: int
    repeat: int
    reply: Reply
    verdict: Verdict


@dataclass(slots=True)
class ItemFacts:
    """What the rows say of an item, each with the row that said it first."""

    kind: type
    row: int
    gold: tuple[Label | None, int] | None = None
    cluster: tuple[str, int] | None = None
    ambiguous: tuple[bool | None, int] | None = None
    strata: dict[str, tuple[str, int]] = field(default_factory=dict)
    votes: dict[str, tuple[Label | None, int]] = field(default_factory=dict)


@dataclass(slots=True)
class Read:
    """A table of verdicts, read.

    Parameters
    ----------
    rows : list of Row
        In the order of the file; repeats are counted from 0 within a cell.
    items : dict of str to ItemFacts
        By id as in the table.
    names : dict of str to str
        What the table calls each condition -> what it is, as `T2` or `T2/1`.
    notes : list of str
        Sentences for the card: what was left out, and what was taken for something.
    """

    rows: list[Row] = field(default_factory=list)
    items: dict[str, ItemFacts] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def targets_of(choices: Choices) -> dict[str, tuple[str, int]]:
    """Return the condition and wording of each name that `--map` gives one.

    Raises
    ------
    ConfigError
        If a wording is no number, or two names of a long table are one and the same.
    """
    out: dict[str, tuple[str, int]] = {}
    for name, said in pairs_of("map", choices.map):
        condition, _, wording = said.partition("/")
        if wording and not wording.isdecimal():
            raise ConfigError(
                f"--map {name}={said}: {wording!r} is no number of a wording",
                mend="Write T2/1 for the second wording of T2",
            )
        out[name] = condition, int(wording or 0)
    if not choices.wide:
        by_target: dict[tuple[str, int], str] = {}
        for name, target in out.items():
            if target in by_target:
                raise ConfigError(
                    f"--map takes {by_target[target]!r} and {name!r} for one and the same, "
                    f"{target[0]}",
                    mend=f"Tell them apart as wordings: --map '{name}={target[0]}/1'",
                )
            by_target[target] = name
    return out


def counted(raw: list[RawRow]) -> list[Row]:
    """Count the repeats of each cell from 0, in the order of their numbers."""
    cells: dict[tuple[str, str, int], list[int]] = {}
    for item, condition, wording, repeat, _, _ in raw:
        cells.setdefault((item, condition, wording), []).append(repeat)
    rank = {key: {r: k for k, r in enumerate(sorted(found))} for key, found in cells.items()}
    return [Row(i, c, w, rank[i, c, w][r], reply, v) for i, c, w, r, reply, v in raw]


def put_in_category(item: ItemFacts, column: str, value: object, n: int, sheet: Sheet) -> None:
    """Note the category of an item, an empty one too.

    Raises
    ------
    CorpusError
        If an earlier row says another.
    """
    said = "" if is_blank(value) else name_of(text_of(value), column, sheet.where(n))
    before = item.strata.setdefault(column, (said, n))
    if before[0] != said:
        raise CorpusError(
            f"the item has {column} {said!r:.60} here and {before[0]!r:.60} in "
            f"{sheet.at(before[1])}",
            where=sheet.where(n),
            mend="An item has one; correct the table",
        )
