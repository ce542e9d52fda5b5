"""Corrected rates of a run: human labels on a random few of its items."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from judgeaudit.core.errors import ConfigError, CorpusError, unknown_name
from judgeaudit.core.records.scores import Score
from judgeaudit.core.table import SAFE, UNSAFE, VerdictTable
from judgeaudit.metrics.corrected import Labelled, corrected_rates

if TYPE_CHECKING:
    from judgeaudit.engine.view import LedgerView

__all__ = ["Which", "corrected_of", "draw"]

Which = Literal["first", "majority"]
"""Which of an item's base verdicts stands for the judge: as deployed, with one call, the first."""

_ITEM: Final = ("item_id", "item", "id", "key")
_LABEL: Final = ("label", "human_label", "human", "gold")


def corrected_of(
    view: LedgerView,
    labels: Path,
    *,
    which: Which = "first",
    words: Sequence[str] | Mapping[str, str] = (),
    sensitivity: float | None = None,
    specificity: float | None = None,
) -> tuple[Score, ...]:
    """Read human labels, and correct the judge's UNSAFE rate under base with them.

    Parameters
    ----------
    view : LedgerView
        The run.
    labels : path
        CSV, JSONL or Parquet with an item (its key, or its id where no other has it) and a label.
    which : {"first", "majority"}
        Which base verdict of an item counts; a tie has no majority, and no verdict.
    words : sequence of str or mapping
        `1=UNSAFE`: what a word of the labels means.
    sensitivity, specificity : float, optional
        Of the judge, from elsewhere.

    Raises
    ------
    CorpusError, ConfigError
        Naming file and line: an unknown item, one that is labelled twice, another label.
    """
    if which not in get_args(Which):
        raise ConfigError(unknown_name("choice of a verdict", which, list(get_args(Which))))
    for name, rate in (("--se", sensitivity), ("--sp", specificity)):
        if rate is not None and not 0 <= rate <= 1:
            raise ConfigError(f"{name} is {rate}", mend="It is a share, from 0 to 1")
    if (sensitivity is None) != (specificity is None):
        raise ConfigError("--se and --sp go together", mend="Give both, or none")
    table = view.table()
    found = _labels(labels, table, words)
    verdict, there = _verdicts(table, which)
    human = np.array([found.get(k) == "UNSAFE" for k in table.items], dtype=bool)
    labelled = np.array([k in found for k in table.items], dtype=bool)
    if not (labelled & there).any():
        raise CorpusError(
            "no labelled item has a verdict under base", where=str(labels), mend="Label others"
        )
    data = Labelled(
        judge=verdict[there],
        human=human[there],
        labelled=labelled[there],
        without=int(np.count_nonzero(~there)),
        n_clusters=int(np.unique(table.clusters[there]).size),
    )
    return corrected_rates(
        data,
        level=view.meta.protocol.level,
        sensitivity=sensitivity,
        specificity=specificity,
    )


def draw(view: LedgerView, n: int, seed: int = 0) -> str:
    """Draw items for people to label, as a CSV with an empty label each; the same for one seed.

    Raises
    ------
    ConfigError
        If so many items are not there.
    """
    items = view.table().items
    if not 1 <= n <= len(items):
        raise ConfigError(f"--draw is {n}; the run has {len(items)} items")
    chosen = np.sort(np.random.default_rng(seed).choice(len(items), size=n, replace=False))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["item_id", "label"])
    writer.writerows([items[k], ""] for k in chosen)
    return out.getvalue()


def _verdicts(table: VerdictTable, which: Which) -> tuple[np.ndarray, np.ndarray]:
    cells = table.cells("base").reshape(table.n_items, -1)
    said = (cells == SAFE) | (cells == UNSAFE)
    if which == "majority":
        unsafe, n = np.sum(cells == UNSAFE, axis=1), said.sum(axis=1)
        return 2 * unsafe > n, (n > 0) & (2 * unsafe != n)
    first = np.argmax(said, axis=1) if cells.shape[1] else np.zeros(table.n_items, dtype=int)
    rows = np.arange(table.n_items)
    there = said.any(axis=1)
    return (cells[rows, first] == UNSAFE) if cells.shape[1] else there, there


def _labels(
    path: Path, table: VerdictTable, words: Sequence[str] | Mapping[str, str]
) -> dict[str, str]:
    from judgeaudit.corpora._read import open_source
    from judgeaudit.corpora._sheet import read_sheet
    from judgeaudit.engine.imported.choices import meanings, pairs_of
    from judgeaudit.engine.imported.values import is_blank, name_of, word

    known = meanings(pairs_of("label", words))
    sheet = read_sheet(open_source(str(path)))
    at = {}
    for role, names in (("item", _ITEM), ("label", _LABEL)):
        close = [c for c in names if c in sheet.columns]
        if len(close) != 1:
            what = "each could be" if close else "no column is"
            there = ", ".join(map(repr, close or [c for c in sheet.columns if c]))
            raise CorpusError(
                f"{what} the {role}; there are {there}",
                where=sheet.place,
                mend=f"Name one column {names[0]!r}",
            )
        at[role] = sheet.columns.index(close[0])
    keys = _names(table.items)
    out: dict[str, tuple[str, int]] = {}
    for n, cells in enumerate(sheet.rows):
        where = sheet.where(n)
        name = name_of(cells[at["item"]], "item", where)
        if is_blank(cells[at["label"]]):
            continue  # drawn, and not labelled yet
        label = word(cells[at["label"]], known, "the label", where, "--label")
        if label not in {"SAFE", "UNSAFE"}:
            raise CorpusError(f"{label} is an outcome and no label", where=where)
        key = keys.get(name)
        if key is None:
            why = "several items have the id" if name in keys else "unknown item"
            raise CorpusError(
                f"{why} {name!r:.80}", where=where, mend="Write the whole key of an item of the run"
            )
        if key in out:
            raise CorpusError(
                f"item {name!r:.80} is labelled twice, first in {sheet.at(out[key][1])}",
                where=where,
                mend="Keep one label",
            )
        out[key] = label, n
    if not out:
        raise CorpusError("no item is labelled", where=sheet.place)
    return {key: label for key, (label, _) in out.items()}


def _names(keys: Sequence[str]) -> dict[str, str | None]:
    """Map keys, and ids that only one item has, to keys; an id of several items to None."""
    names: dict[str, str | None] = {}
    for key in keys:
        id_ = key.split("/", 2)[-1]
        names[id_] = None if id_ in names else key
    return names | {k: k for k in keys}
