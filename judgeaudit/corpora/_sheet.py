"""A table of any tool as rows with their places: CSV, TSV, JSONL, a JSON list, Parquet."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.corpora._read import Source, decoded, records

__all__ = ["Sheet", "read_sheet"]

_TABLES: Final = (".parquet", ".arrow")
_JSON: Final = (".jsonl", ".ndjson", ".json")
_LONGEST_CELL: Final = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table in memory.

    Parameters
    ----------
    place : str
        The file, as a message shows it.
    columns : tuple of str
        In the order of the file; each once.
    rows : list of tuple
        Cells in the order of `columns`; None where a record lacks the field.
    lines : sequence of int
        The line (of a table without lines: the row, from 1) at which each row begins.
    by_line : bool
        Whether `lines` are lines of a text.
    places : sequence of str
        The place of each row in words, where the rows come from several files or from within one
        record; empty otherwise.
    """

    place: str
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    lines: Sequence[int]
    by_line: bool
    places: Sequence[str] = ()

    def where(self, row: int) -> str:
        """Name the place of a row: `file:line`, or `file, row n`."""
        if self.places:
            return self.places[row]
        line = self.lines[row]
        return f"{self.place}:{line}" if self.by_line else f"{self.place}, row {line}"

    def at(self, row: int) -> str:
        """Name a row inside a sentence: `line 5`, or `row 5`."""
        if self.places:
            return self.places[row]
        return f"{'line' if self.by_line else 'row'} {self.lines[row]}"

    def picked(self, rows: Sequence[int]) -> Sheet:
        """Return a table of some of the rows, each with its place."""
        return replace(
            self,
            rows=[self.rows[n] for n in rows],
            lines=[self.lines[n] for n in rows],
            places=[self.places[n] for n in rows] if self.places else (),
        )


def read_sheet(source: Source, separator: str | None = None) -> Sheet:
    """Read a table whatever its form.

    By the file's name, and for other names by its first character. A byte-order mark and CRLF are
    accepted; only line feeds and carriage returns end a line.

    Parameters
    ----------
    source : Source
        The file.
    separator : str, optional
        What stands between cells of a CSV, or `tab`; a comma, in a `.tsv` a tab.

    Raises
    ------
    CorpusError
        Naming the line: no rows, not UTF-8, a broken quote, a line that is too long or too short,
        a column twice.
    ConfigError
        If the separator is not one character.
    """
    suffix = "" if source.path is None else source.path.suffix.lower()
    head = source.raw.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if suffix not in _TABLES:
        if not head:
            raise CorpusError("the file is empty: it holds no rows", where=source.place)
        if source.raw[:4] == b"PAR1":
            raise CorpusError(
                "is Parquet by its content, not by its name",
                where=source.place,
                mend="Name it with .parquet at the end",
            )
    if suffix in (*_TABLES, *_JSON) or (suffix not in {".csv", ".tsv"} and head in {b"{", b"["}):
        return _from_records(source)
    between = separator or ("\t" if suffix == ".tsv" else ",")
    between = "\t" if between == "tab" else between
    if len(between) != 1 or between in '"\r\n':
        raise ConfigError(
            f"separator {separator!r} is not one character", mend="Give one, such as ';'"
        )
    return _from_csv(source, between)


def _from_records(source: Source) -> Sheet:
    found = records(source)
    columns = tuple(dict.fromkeys(name for r in found for name in r.value))
    by_line = found[0].where.startswith(f"{source.place}:")
    lines = (
        [int(r.where.rpartition(":")[2]) for r in found] if by_line else range(1, len(found) + 1)
    )
    rows = [tuple(r.value.get(name) for name in columns) for r in found]
    return Sheet(source.place, columns, rows, lines, by_line)


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let cells be as long as a trajectory: the library's own limit is 131,072 characters."""
    before = csv.field_size_limit(_LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _from_csv(source: Source, separator: str) -> Sheet:
    # newline="": what stands inside quotes is kept as it is, U+2028 and its kin are no line ends
    text = io.StringIO(decoded(source), newline="")
    reader = csv.reader(text, delimiter=separator, strict=True)
    columns: tuple[str, ...] = ()
    rows: list[tuple[Any, ...]] = []
    lines: list[int] = []
    with _long_cells():
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader, None)
            except csv.Error as e:
                raise CorpusError(
                    f"is not CSV: {e}",
                    where=f"{source.place}:{line}",
                    mend="Quote a cell that holds quotes, and double them",
                ) from None
            if cells is None:
                break
            if len(cells) < 2 and not any(c.strip() for c in cells):
                continue
            if not columns:
                columns = _header(cells, f"{source.place}:{line}")
                continue
            if len(cells) != len(columns):
                raise CorpusError(
                    f"the row has {len(cells)} cells where the header has {len(columns)}",
                    where=f"{source.place}:{line}",
                    mend="Quote a cell that holds the separator, or name another with --separator",
                )
            rows.append(tuple(cells))
            lines.append(line)
    if not rows:
        what = "the file is empty: it holds no rows" if not columns else "no rows below the header"
        raise CorpusError(what, where=source.place)
    return Sheet(source.place, columns, rows, lines, by_line=True)


def _header(cells: list[str], where: str) -> tuple[str, ...]:
    names = [c.strip() for c in cells]
    # a table written with its index has one column without a name: nobody can ask for it
    named = [n for n in names if n]
    twice = next((n for n in named if named.count(n) > 1), None)
    if twice is not None:
        raise CorpusError(
            f"the column {twice!r} stands twice in the header",
            where=where,
            mend="Give each column a name of its own",
        )
    return tuple(names)
