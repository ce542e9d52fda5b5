"""What a format of verdicts is, how it is recognised, and how its rows become a table."""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Protocol

from judgeaudit.core.errors import ConfigError, CorpusError, JudgeAuditError, unknown_name
from judgeaudit.core.registry import Registry
from judgeaudit.corpora._paths import NOTHING, scalars, walk
from judgeaudit.corpora._read import Located, Source, records
from judgeaudit.corpora._sheet import Sheet
from judgeaudit.engine.imported.choices import Choices, flag_of
from judgeaudit.engine.imported.values import is_blank, text_of

__all__ = [
    "FORMATS",
    "TABLE",
    "Asked",
    "Place",
    "Rows",
    "VerdictFormat",
    "first_of",
    "found_format",
    "lines_of",
    "sheet_of",
    "text_of_answer",
]

TABLE: Final = "table"
"""Name of a plain table: no format."""
INSPECT: Final = "inspect"
"""Name of logs of Inspect AI: folders and archives, which no format of text files can be."""

_SHEETS: Final = (".csv", ".tsv", ".parquet", ".arrow")
_NAMED: Final = 40


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user said that decides how a file is read.

    Parameters
    ----------
    verdict, reply : str, optional
        The fields named with `--verdict` and `--reply`.
    """

    verdict: str | None = None
    reply: str | None = None


class Place(NamedTuple):
    """One call, and where it stands."""

    where: str
    value: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """What a format reads out of files: a row for each call.

    Parameters
    ----------
    rows : sequence of Place
        Fields of a row may hold others; a user names one by its path, `vars.id`.
    roles : mapping of str to str
        Role (item, condition, repeat, verdict, outcome, reply, ...) -> field, where the user
        names no other. A row whose `outcome` field is filled has no verdict, whatever stands there.
    one : sequence of str
        Fields in which all rows must agree, such as the model: a run is of one judge.
    judge : str, optional
        Name of the field that holds the judge's name.
    notes : sequence of str
        Sentences for the card.
    """

    rows: Sequence[Place]
    roles: Mapping[str, str]
    one: Sequence[str] = ()
    judge: str | None = None
    notes: Sequence[str] = field(default=())


class VerdictFormat(Protocol):
    """Reads the output of one tool; its class is registered under the format's name."""

    title: str
    """The tool and its file, in words."""

    def recognises(self, source: Source) -> bool:
        """Say whether a file is of this format; cheap, and False rather than an error."""
        ...

    def read(self, sources: Sequence[Source], asked: Asked) -> Rows:
        """Read files into rows.

        A call that failed, and one without an answer, gets an outcome and never a verdict.

        Raises
        ------
        CorpusError
            If a file is not what it seems; the message names its place.
        """
        ...


FORMATS: Registry[type[VerdictFormat]] = Registry(
    "format", "judgeaudit.engine.imported.formats", "judgeaudit.formats"
)


def lines_of(source: Source) -> list[Located]:
    """Return a file's records; NaN and infinities, which other tools write, count as null."""
    return records(source, odd_numbers=True)


def first_of(source: Source) -> dict[str, Any]:
    """Return a file's first record, without reading the others where each has a line of its own.

    Raises
    ------
    CorpusError
        If there is none.
    """
    line, _, rest = source.raw.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")
    if rest.strip() and line.rstrip().endswith(b"}"):
        return lines_of(dataclasses.replace(source, raw=line))[0].value
    return lines_of(source)[0].value


def text_of_answer(value: object) -> str | None:
    """Write an answer as text: objects and lists as JSON, as they came."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def found_format(sources: Sequence[Source], said: str | None) -> str:
    """Return the name of the files' format, or `table`.

    Raises
    ------
    ConfigError
        If the format named is not known, or several know the files as theirs.
    """
    if said is not None:
        if said != TABLE and said not in FORMATS:
            raise ConfigError(unknown_name("format", said, [*FORMATS.names(), INSPECT, TABLE]))
        return said
    first = sources[0]
    if first.path is not None and first.path.suffix.lower() in _SHEETS:
        return TABLE
    fits = [name for name in FORMATS if _recognises(name, first)]
    if len(fits) > 1:
        raise ConfigError(
            f"the file could be of the formats {' and '.join(fits)}",
            where=first.place,
            mend=f"Say which: --format {fits[0]}",
        )
    return fits[0] if fits else TABLE


def _recognises(name: str, source: Source) -> bool:
    try:
        return FORMATS[name]().recognises(source)
    except JudgeAuditError:
        return False  # not even JSON: whoever reads it says so, with its place


def sheet_of(name: str, sources: Sequence[Source], said: Choices) -> tuple[Sheet, Choices, Rows]:
    """Read files of a format into a table, and the choices that read it.

    Parameters
    ----------
    name : str
        Name of the format.
    sources : sequence of Source
        The files, in the user's order.
    said : Choices
        What the user said; wins over what the format knows.

    Returns
    -------
    tuple of Sheet, Choices and Rows

    Raises
    ------
    CorpusError, ConfigError
        If the files cannot be read, hold several judges, or a field that was named is not there.
    """
    made = FORMATS[name]().read(sources, Asked(said.verdict, said.reply))
    place = sources[0].place if len(sources) == 1 else f"{len(sources)} files"
    if not made.rows:
        raise CorpusError("no call is in it", where=place, mend=f"Is it of the format {name}?")
    full = _filled(said, made)
    columns = _columns(full, made, place)
    outcome = made.roles.get("outcome") if said.outcome is None else None
    rows = []
    for n, (_, record) in enumerate(made.rows):
        cells = {c: _cell(record, c, made.rows[n].where) for c in columns}
        if outcome is not None and full.verdict in cells and not is_blank(cells[outcome]):
            cells[full.verdict] = None  # how a call ended without a verdict is none
        rows.append(tuple(cells[c] for c in columns))
    sheet = Sheet(
        place, columns, rows, range(1, len(rows) + 1), by_line=False,
        places=tuple(p.where for p in made.rows),
    )  # fmt: skip
    return sheet, full, made


def _filled(said: Choices, made: Rows) -> Choices:
    """Fill in the format's fields where the user named none."""
    roles = dict(made.roles)
    if said.one_condition is not None or said.wide:
        roles.pop("condition", None)
    if said.wide:
        for role in ("verdict", "outcome", "reply"):
            roles.pop(role, None)
    if said.count_repeats:
        roles.pop("repeat", None)
    if said.reply is not None:
        roles.pop("verdict", None)
    # a field that the user gave another role is not the format's any more
    taken = set(said.given.values())
    fresh: dict[str, Any] = {
        role: name
        for role, name in roles.items()
        if getattr(said, role) is None and name not in taken
    }
    return dataclasses.replace(said, **fresh)


def _columns(full: Choices, made: Rows, place: str) -> tuple[str, ...]:
    """Return the fields that are asked for, each of which some row must have."""
    theirs = set(made.roles.values())
    named = {
        **{name: flag_of(role) for role, name in full.given.items()},
        **dict.fromkeys(full.strata, "--strata"),
        **dict.fromkeys(full.rater, "--rater"),
        **dict.fromkeys(full.wide, "--wide"),
        **{column: "--only" for column, _ in full.only_pairs},
    }
    for name, flag in named.items():
        if name in theirs or any(walk(p.value, name) is not NOTHING for p in made.rows):
            continue
        there = scalars(p.value for p in made.rows[:1000])
        close = difflib.get_close_matches(name, there, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise ConfigError(
            f"no call has the field {name!r} ({flag}){hint}",
            where=place,
            mend=f"There are {', '.join(there[:_NAMED])}",
        )
    return tuple(dict.fromkeys([*named, *made.one, *([made.judge] if made.judge else [])]))


def _cell(record: dict[str, Any], name: str, where: str) -> Any:
    value = walk(record, name)
    if value is NOTHING:
        return None
    if isinstance(value, dict | list):
        raise CorpusError(
            f"{name!r} holds more fields",
            where=where,
            mend=f"Name one in it, such as {name}.{next(iter(value), 0)!s:.40}"
            if isinstance(value, dict)
            else f"Name one in it, such as {name}.0",
        )
    return value


def kept(sheet: Sheet, said: Choices) -> tuple[Sheet, list[str]]:
    """Keep the rows that `--only` names.

    Raises
    ------
    ConfigError
        If a column is not there, or no row has the value.
    """
    notes = []
    for column, wanted in said.only_pairs:
        if column not in sheet.columns:
            raise ConfigError(
                f"there is no column {column!r} (--only)",
                where=sheet.place,
                mend=f"There are {', '.join(map(repr, sheet.columns[:_NAMED]))}",
            )
        at = sheet.columns.index(column)
        stay = [n for n, cells in enumerate(sheet.rows) if _said(cells[at]) == wanted]
        if not stay:
            raise ConfigError(
                f"no row has {column} {wanted!r:.60} (--only)",
                where=sheet.place,
                mend=f"There are {_some(_said(cells[at]) for cells in sheet.rows)}",
            )
        gone = len(sheet.rows) - len(stay)
        if gone:
            are = "row was" if gone == 1 else "rows were"
            notes.append(f"{gone} {are} left out: {column} is not {wanted:.60}, by --only.")
        sheet = sheet.picked(stay)
    return sheet, notes


def agreed(sheet: Sheet, made: Rows) -> str | None:
    """Check that a run is of one judge, one filter, ...; return the judge's name, if it is said.

    Raises
    ------
    ConfigError
        Naming the values, of which the user chooses one with `--only`.
    """
    for name in made.one:
        at = sheet.columns.index(name)
        found = list(dict.fromkeys(_said(cells[at]) for cells in sheet.rows))
        if len(found) > 1:
            raise ConfigError(
                f"the rows have several values of {name}: {_some(found)}",
                where=sheet.place,
                mend=f"A run is of one; choose it: --only {name}={found[0]:.60}",
            )
    if made.judge is None:
        return None
    at = sheet.columns.index(made.judge)
    return next((_said(cells[at]) for cells in sheet.rows if not is_blank(cells[at])), None)


def _said(value: object) -> str:
    return "" if value is None else text_of(value)


def _some(values: Iterable[str]) -> str:
    found = list(dict.fromkeys(values))
    more = ", and more" if len(found) > _NAMED else ""
    return ", ".join(repr(v[:60]) for v in found[:_NAMED]) + more
