"""Files of other tools as one flat table: nested fields, names of files, one row an item."""

from __future__ import annotations

import csv
import difflib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.corpora._paths import NOTHING, scalars, walk
from judgeaudit.corpora._read import Source, decoded, open_source, records
from judgeaudit.corpora._sheet import read_sheet
from judgeaudit.engine.imported.choices import pairs_of
from judgeaudit.engine.imported.matching import compiled, kept_parts

__all__ = ["Flattened", "flatten"]

_SHEETS: Final = (".csv", ".tsv", ".parquet", ".arrow")
_OWN: Final = ("@file", "@row", "@key")
_JOINED: Final = ":"


@dataclass(frozen=True, slots=True)
class Flattened:
    """What was written.

    Parameters
    ----------
    path : Path
        The table, a CSV.
    columns : tuple of str
        In its order.
    n_files, n_records, n_rows : int
        Files and records read, rows written.
    """

    path: Path
    columns: tuple[str, ...]
    n_files: int
    n_records: int
    n_rows: int


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    path: str
    pattern: str | None


_Row = dict[str, str]
_Placed = tuple[str, _Row]


def flatten(
    files: Sequence[Path | str],
    *,
    out: Path | str,
    field: Sequence[str] = (),
    join: Sequence[str] = (),
    pivot: str | None = None,
    numbered: bool = False,
) -> Flattened:
    """Write the fields of records, however nested, as one table that `import` and `jury` read.

    Parameters
    ----------
    files : sequence of path
        CSV, TSV, Parquet, JSONL, JSON lists, and JSON objects of objects (a record a key).
    out : path
        The table; must be new.
    field : sequence of str
        `NAME=PATH` or `NAME=PATH~REGEX`, a column each. A path is a field, or fields within each
        other with points between (`scores.risk`); `@file` is the file's name without its ending,
        `@row` the record's number in it from 0, `@key` its key. Of a text with a pattern only its
        first group is kept; a text that it does not fit is refused. Without `field`, every field
        that holds no other is a column.
    join : sequence of str
        `NAME=COLUMN,COLUMN`: a column of several others' texts, with colons between.
    pivot : str, optional
        `BY=VALUE`: rows that differ in these two columns alone become one, with a column of VALUE
        for each text of BY (a judge, a rater).
    numbered : bool
        Those columns are VALUE_1, VALUE_2, ... in the order of the rows, instead.

    Returns
    -------
    Flattened

    Raises
    ------
    ConfigError
        A choice cannot be read, or names a column that is not there.
    CorpusError
        A record is not right; the message names its place. Nothing is written.
    """
    path = Path(out)
    if path.exists():
        raise ConfigError("there is something here already", where=str(path), mend="Name a new one")
    fields = [_field(name, said) for name, said in pairs_of("field", _head_first(field))]
    found = [placed for file in files for placed in _records(open_source(str(file)))]
    if not fields:
        fields = [_Field(name, name, None) for name in scalars(r for _, r in found)]
    _known(fields, [r for _, r in found])
    rows = [(where, {f.name: _cell(f, r, where) for f in fields}) for where, r in found]
    _cut_to_patterns(fields, rows)
    columns = [f.name for f in fields]
    for name, said in pairs_of("join", join):
        parts = [_column(c.strip(), columns, "--join") for c in said.split(",")]
        if name in columns:
            raise ConfigError(f"--join {name!r} is a column already", mend="Give another name")
        for where, row in rows:
            row[name] = _joined(row, parts, where)
        columns.append(name)
    if pivot is not None:
        columns, rows = _pivoted(columns, rows, pivot, numbered=numbered)
    elif numbered:
        raise ConfigError("--numbered goes with --pivot", mend="Leave it out")
    _write(path, columns, (row for _, row in rows))
    return Flattened(path, tuple(columns), len(files), len(found), len(rows))


# ---- what is asked for ------------------------------------------------------------------------


def _head_first(field: Sequence[str]) -> dict[str, str]:
    """Split at the first `=`: a pattern may hold others."""
    out: dict[str, str] = {}
    for text in field:
        name, sign, said = text.partition("=")
        if not sign or not name.strip() or not said.strip():
            raise ConfigError(
                f"--field {text!r} is not of the form NAME=PATH",
                mend="Write it as in --field risk=scores.risk",
            )
        if name.strip() in out:
            raise ConfigError(f"--field names {name.strip()!r} twice", mend="Keep one")
        out[name.strip()] = said.strip()
    return out


def _field(name: str, said: str) -> _Field:
    path, sign, pattern = said.partition("~")
    if not sign:
        return _Field(name, path, None)
    return _Field(name, path, compiled(name, pattern))


def _column(name: str, there: Sequence[str], flag: str) -> str:
    if name in there:
        return name
    close = difflib.get_close_matches(name, there, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    raise ConfigError(
        f"{flag} names the column {name!r}, which is not there{hint}",
        mend=f"There are {', '.join(there)}",
    )


def _known(fields: Sequence[_Field], found: Sequence[dict[str, Any]]) -> None:
    for f in fields:
        if any(walk(r, f.path) is not NOTHING for r in found):
            continue
        there = [*scalars(found), *_OWN]
        close = difflib.get_close_matches(f.path, there, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ConfigError(
            f"--field {f.name}: no record has {f.path!r}{hint}",
            mend=f"There are {', '.join(there[:40])}",
        )


# ---- records ----------------------------------------------------------------------------------


def _records(source: Source) -> Iterator[tuple[str, dict[str, Any]]]:
    stem = source.name.rpartition(".")[0] or source.name
    for n, (where, key, record) in enumerate(_bare_records(source)):
        yield where, {**record, "@file": stem, "@row": n, "@key": key}


def _bare_records(source: Source) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    suffix = "" if source.path is None else source.path.suffix.lower()
    if suffix in _SHEETS:
        sheet = read_sheet(source)
        for n, cells in enumerate(sheet.rows):
            yield sheet.where(n), None, dict(zip(sheet.columns, cells, strict=True))
        return
    keyed = _keyed(source) if suffix == ".json" else None
    if keyed is None:
        yield from ((where, None, record) for where, record in records(source))
        return
    for key, record in keyed.items():
        yield f"{source.place}, key {key!r}", key, record


def _keyed(source: Source) -> dict[str, dict[str, Any]] | None:
    """Return the records of an object of objects by key; None where the file is none."""
    text = decoded(source)
    if not text.lstrip().startswith("{"):
        return None
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [k for k, _ in pairs]
            twice.append(next(k for k in names if names.count(k) > 1))
        return made

    try:
        found = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError):
        return None
    if not found or not all(isinstance(v, dict) for v in found.values()):
        return None
    if twice:
        raise CorpusError(f"the key {twice[0]!r} stands twice", where=source.place)
    return dict(found)


def _cell(field: _Field, record: dict[str, Any], where: str) -> str:
    value = walk(record, field.path)
    if value is NOTHING or value is None:
        return ""
    if isinstance(value, dict | list):
        raise CorpusError(
            f"{field.path!r} holds more fields",
            where=where,
            mend=f"Name one in it: --field {field.name}={field.path}.NAME",
        )
    return value.strip() if isinstance(value, str) else json.dumps(value)


def _cut_to_patterns(fields: Sequence[_Field], rows: Sequence[_Placed]) -> None:
    """Leave of each text the part that its field's pattern keeps."""
    for f in fields:
        if f.pattern is None:
            continue
        texts = [row[f.name] for _, row in rows]
        parts = kept_parts(f.path, f.pattern, texts, [where for where, _ in rows])
        for (_, row), part in zip(rows, parts, strict=True):
            row[f.name] = part


def _joined(row: _Row, parts: Sequence[str], where: str) -> str:
    for part in parts:
        if not row[part]:
            raise CorpusError(f"{part} is empty, and --join needs it", where=where)
    return _JOINED.join(row[part] for part in parts)


# ---- one row an item --------------------------------------------------------------------------


def _pivoted(
    columns: list[str], rows: list[_Placed], said: str, *, numbered: bool
) -> tuple[list[str], list[_Placed]]:
    ((by, value),) = pairs_of("pivot", [said])
    for name in (by, value):
        _column(name, columns, "--pivot")
    kept = [c for c in columns if c not in {by, value}]
    made: dict[tuple[str, ...], _Placed] = {}
    placed: dict[tuple[tuple[str, ...], str], str] = {}
    new: dict[str, None] = {}
    for where, row in rows:
        key = tuple(row[c] for c in kept)
        _, target = made.setdefault(key, (where, {c: row[c] for c in kept}))
        name = row[by]
        if not name:
            raise CorpusError(f"{by} is empty", where=where, mend="Give each row one")
        if (key, name) in placed:
            raise CorpusError(
                f"{by} {name!r:.60} has a second {value} for the same rest, the first in "
                f"{placed[key, name]}",
                where=where,
                mend="Take in a field that tells the two apart, or keep one of the rows",
            )
        placed[key, name] = where
        column = f"{value}_{len(target) - len(kept) + 1}" if numbered else name
        if column in kept:
            raise ConfigError(f"--pivot would make the column {column!r}, which is there already")
        new[column] = None
        target[column] = row[value]
    return [*kept, *new], list(made.values())


def _write(path: Path, columns: Sequence[str], rows: Iterable[_Row]) -> None:
    try:
        with path.open("x", encoding="utf-8", newline="") as file:
            sheet = csv.DictWriter(file, columns, restval="", lineterminator="\n")
            sheet.writeheader()
            sheet.writerows(rows)
    except OSError as e:
        raise ConfigError(
            f"the table cannot be written ({e.strerror})",
            where=str(path),
            mend="Choose a place that you may write to",
        ) from None
