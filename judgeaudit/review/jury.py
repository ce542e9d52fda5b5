"""Bring judges together on common items: from the ledgers of several runs, or from one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.core.records import ScoreSet
from judgeaudit.metrics._words import listed
from judgeaudit.metrics.jury import Jury, jury_scores

if TYPE_CHECKING:
    from judgeaudit.corpora._sheet import Sheet
    from judgeaudit.engine.view import LedgerView

__all__ = ["jury_of_runs", "jury_of_table"]

LEDGER: Final = "ledger.sqlite"


def jury_of_runs(runs: Sequence[Path | str], *, seed: int = 0) -> ScoreSet:
    """Score the judges of several runs as a jury, on the items that all runs have.

    Parameters
    ----------
    runs : sequence of path
        Folders of runs, or their ledgers; two or more. One judge may stand in several.
    seed : int
        Seed of the split into halves.

    Returns
    -------
    ScoreSet
        See `metrics.jury.jury_scores`.

    Raises
    ------
    ConfigError
        If the runs share no item, or an item's label differs between them.
    LedgerError
        If a ledger cannot be read.
    """
    from contextlib import ExitStack

    from judgeaudit.engine.ledger import Ledger

    paths = [Path(r) / LEDGER if Path(r).is_dir() else Path(r) for r in runs]
    if len({p.resolve() for p in paths}) < len(paths):
        raise ConfigError("a run is named twice", mend="Name each once")
    with ExitStack() as stack:
        views = [stack.enter_context(Ledger.open_readonly(p)) for p in paths]
        # a copy of a folder is no second judge
        if len({v.head() for v in views}) < len(views):
            raise ConfigError(
                "two of these ledgers are copies of one another", mend="Name each run once"
            )
        level = views[0].meta.protocol.level if views else 0.95
        return jury_scores(_from_views(views, paths), seed=seed, level=level)


def _names(views: Sequence[LedgerView], paths: Sequence[Path]) -> tuple[str, ...]:
    """Name judges by their model; where that stands twice, with the run's folder."""
    models = [v.meta.judge.model for v in views]
    out: list[str] = []
    for model, path in zip(models, paths, strict=True):
        name = model if models.count(model) == 1 else f"{model} ({path.resolve().parent.name})"
        while name in out:
            name += "'"
        out.append(name)
    return tuple(out)


def _from_views(views: Sequence[LedgerView], paths: Sequence[Path]) -> Jury:
    from judgeaudit.metrics import CERTIFIED, View
    from judgeaudit.review.texts import uncertified

    runs = [
        View(
            v.table(),
            v.meta.protocol,
            v.meta.protocol.seed,
            uncertified(v.meta, v.meta.renderings),
        )
        for v in views
    ]
    common = set(runs[0].table.items).intersection(*(r.table.items for r in runs[1:]))
    if not common:
        raise ConfigError(
            "the runs have no item in common", mend="Audit the judges on the same items"
        )
    keys = sorted(common)
    rows = [np.searchsorted(r.table.items, keys) for r in runs]
    gold = _one_label(keys, [r.table.gold[at] for r, at in zip(runs, rows, strict=True)], paths)
    rates = [r.rate(r.base) for r in runs]
    flips = [r.pair("flips", CERTIFIED) if r.certified else None for r in runs]
    told = all(f is not None for f in flips)
    stack = [(f, at) for f, at in zip(flips, rows, strict=True) if f is not None]
    return Jury(
        names=_names(views, paths),
        chances=np.stack([v.values[at] for v, at in zip(rates, rows, strict=True)], axis=1),
        there=np.stack([v.defined[at] for v, at in zip(rates, rows, strict=True)], axis=1),
        gold=gold,
        clusters=runs[0].clusters[rows[0]],
        flips=np.stack([f.values[at] for f, at in stack], axis=1) if told else None,
        flips_there=np.stack([f.defined[at] for f, at in stack], axis=1) if told else None,
        notes=tuple(_told(views, [len(r.table.items) for r in runs], len(keys))),
    )


def _one_label(
    keys: Sequence[str], golds: Sequence[np.ndarray], paths: Sequence[Path]
) -> np.ndarray:
    gold = golds[0].copy()
    for other, path in zip(golds[1:], paths[1:], strict=True):
        differs = np.flatnonzero((gold >= 0) & (other >= 0) & (gold != other))
        if differs.size:
            raise ConfigError(
                f"the label of {keys[differs[0]]!r} and {differs.size - 1} others differs from "
                "that in the first run",
                where=str(path),
                mend="Judges are compared on one set of labels",
            )
        gold = np.where(gold >= 0, gold, other)
    return gold


def _told(views: Sequence[LedgerView], sizes: Sequence[int], n: int) -> list[str]:
    notes = []
    if max(sizes) > n:
        notes.append(f"{n} items are in all runs, which have {listed([str(s) for s in sizes])}.")
    texts = {_base_text(v) for v in views}
    if len(texts) > 1:
        notes.append("The judges were not given the same policy text under base.")
    return notes


def _base_text(view: LedgerView) -> tuple[str, ...]:
    return tuple(r.sha256 for r in view.meta.renderings if r.condition == "base")


_ITEM_COLUMNS: Final = ("item", "item_id", "id")


def _refuse_repeated(sheet: Sheet) -> None:
    """Refuse a table in which an item has several rows: they would count as so many items."""
    from judgeaudit.engine.imported.values import is_blank, text_of

    for at, name in enumerate(sheet.columns):
        if name.strip().lower() not in _ITEM_COLUMNS:
            continue
        first: dict[str, int] = {}
        for n, cells in enumerate(sheet.rows):
            if is_blank(cells[at]):
                continue
            item = text_of(cells[at])
            if item in first:
                raise CorpusError(
                    f"item {item!r:.60} has a row here and in {sheet.at(first[item])}",
                    where=sheet.where(n),
                    mend="A row is an item: keep one condition and one repeat, or name what rows "
                    "share with --cluster",
                )
            first[item] = n


def jury_of_table(
    file: Path | str,
    judges: Sequence[str],
    *,
    gold: str | None = None,
    cluster: str | None = None,
    words: Sequence[str] | Mapping[str, str] = (),
    seed: int = 0,
    level: float = 0.95,
) -> ScoreSet:
    """Score several columns of one table as a jury; a row is an item.

    Parameters
    ----------
    file : path
        CSV, TSV, JSONL, a JSON list or Parquet.
    judges : sequence of str
        Columns of verdicts; an empty cell, or an outcome such as `refusal`, is no verdict.
    gold, cluster : str, optional
        Columns of the true label, and of what items share.
    words : sequence of str or mapping
        `1=UNSAFE`: what a word of the table means.
    seed : int
        Seed of the split into halves.
    level : float
        Confidence level.

    Returns
    -------
    ScoreSet
        See `metrics.jury.jury_scores`.

    Raises
    ------
    ConfigError, CorpusError
        Naming the column, or file and line.
    """
    from judgeaudit.corpora._read import open_source
    from judgeaudit.corpora._sheet import read_sheet
    from judgeaudit.engine.imported.choices import meanings, pairs_of
    from judgeaudit.engine.imported.values import is_blank, text_of, word

    sheet = read_sheet(open_source(str(file)))
    for column in (*judges, *(c for c in (gold, cluster) if c is not None)):
        if column not in sheet.columns:
            raise ConfigError(
                f"there is no column {column!r}; there are {', '.join(map(repr, sheet.columns))}",
                where=sheet.place,
                mend="Name a column of the table",
            )
    if cluster is None:
        _refuse_repeated(sheet)
    known = meanings(pairs_of("label", words))
    codes = {"SAFE": 0, "UNSAFE": 1}

    def column_of(name: str, role: str) -> np.ndarray:
        at = sheet.columns.index(name)
        out = np.full(len(sheet.rows), -1, dtype=np.int8)
        for n, cells in enumerate(sheet.rows):
            if not is_blank(cells[at]):
                meant = word(cells[at], known, role, sheet.where(n), "--label")
                out[n] = codes.get(meant, -1)
        return out

    votes = np.stack([column_of(c, f"the verdict in {c!r}") for c in judges], axis=1)
    if not (votes >= 0).any():
        raise CorpusError("no row holds a verdict", where=sheet.place)
    groups = np.arange(len(sheet.rows), dtype=np.int64)
    if cluster is not None:
        at = sheet.columns.index(cluster)
        names: dict[str, int] = {}
        groups = np.array(
            [
                # a row without a cluster is one of its own
                names.setdefault(
                    f"row {n}" if is_blank(c[at]) else f"= {text_of(c[at])}", len(names)
                )
                for n, c in enumerate(sheet.rows)
            ],
            dtype=np.int64,
        )
    return jury_scores(
        Jury(
            names=tuple(judges),
            chances=np.where(votes == 1, 1.0, 0.0),
            there=votes >= 0,
            gold=column_of(gold, "the gold label")
            if gold is not None
            else np.full(len(sheet.rows), -1, dtype=np.int8),
            clusters=groups,
        ),
        seed=seed,
        level=level,
    )
