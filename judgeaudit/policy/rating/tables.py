"""Votes and sheets as CSV that a spreadsheet can open without running anything in it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from judgeaudit.core.errors import PolicyError
from judgeaudit.policy.rating.records import CHOICES, DIMENSIONS, QUESTIONS, Sheet, Vote

__all__ = ["VOTE_COLUMNS", "guarded", "read_rows", "sheet_table", "unguarded", "vote_table"]

VOTE_COLUMNS: Final = (
    "sheet",
    "rater",
    "pair",
    "original_sha256",
    "rewrite_sha256",
    "dimension",
    "vote",
)
_ACTIVE: Final = frozenset("=+-@\t\r\n＝＋－＠|%")


def guarded(cell: str) -> str:
    """Put an apostrophe before what a spreadsheet would take for a formula.

    Examples
    --------
    >>> guarded("=1+1"), guarded("must not")
    ("'=1+1", 'must not')
    """
    return "'" + cell if cell and (cell[0] in _ACTIVE or cell[0] == "'") else cell


def unguarded(cell: str) -> str:
    """Undo `guarded`."""
    return cell[1:] if len(cell) > 1 and cell[0] == "'" and cell[1] in {*_ACTIVE, "'"} else cell


def _write(rows: Iterable[Iterable[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
    writer.writerows([guarded(cell) for cell in row] for row in rows)
    # the mark lets spreadsheets know that this is UTF-8
    return "\ufeff" + out.getvalue()


def sheet_table(sheet: Sheet) -> str:
    """Write the sheet for raters who work in a spreadsheet: six rows a pair, votes left empty."""
    choices = ", ".join(CHOICES)
    rows = [(*VOTE_COLUMNS, f"question (vote: {choices})", "original", "rewrite")]
    for pair in sheet.pairs:
        for i, dimension in enumerate(DIMENSIONS):
            texts = (pair.original, pair.rewrite) if i == 0 else ("", "")
            title, question = QUESTIONS[dimension]
            rows.append(
                (
                    sheet.name,
                    "",
                    pair.id,
                    pair.original_sha256,
                    pair.rewrite_sha256,
                    dimension,
                    "",
                    f"{title}: {question}",
                    *texts,
                )
            )
    return _write(rows)


def vote_table(sheet: Sheet, votes: Iterable[Vote]) -> str:
    """Write votes as the page saves them."""
    rows = [
        (sheet.name, v.rater, v.pair, v.original_sha256, v.rewrite_sha256, v.dimension, v.vote)
        for v in votes
    ]
    return _write([VOTE_COLUMNS, *rows])


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a CSV file of votes, each with the line on which it begins.

    Comma, semicolon or tab; with or without a byte order mark.

    Raises
    ------
    PolicyError
        If the file cannot be read, is no CSV, or lacks a column.
    """
    from judgeaudit.policy._toml import read_text

    text = read_text(path)
    head = text.partition("\n")[0]
    delimiter = max(",;\t", key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    names: list[str] = []
    try:
        for cells in reader:
            at, line = line, reader.line_num + 1
            if not names:
                names = [c.strip().lower() for c in cells]
                _check_columns(names, path)
                continue
            if any(c.strip() for c in cells):
                if len(cells) > len(names):
                    raise PolicyError(
                        f"{len(cells)} cells under {len(names)} columns", where=f"{path}, line {at}"
                    )
                padded = [*cells, *[""] * (len(names) - len(cells))]
                yield at, {n: unguarded(c) for n, c in zip(names, padded, strict=True)}
    except csv.Error as e:
        raise PolicyError(f"not CSV: {e}", where=f"{path}, line {line}") from None
    if not names:
        raise PolicyError("the file is empty", where=str(path))


def _check_columns(names: list[str], path: Path) -> None:
    missing = [c for c in VOTE_COLUMNS if c not in names]
    if missing:
        raise PolicyError(
            f"column {missing[0]!r} is missing",
            where=f"{path}, line 1",
            mend=f"A file of votes has the columns {', '.join(VOTE_COLUMNS)}",
        )
    twice = next((c for c in VOTE_COLUMNS if names.count(c) > 1), None)
    if twice:
        raise PolicyError(f"column {twice!r} is there twice", where=f"{path}, line 1")
