"""Files to records: bytes in, plain values out, every record with its place.

JSON is read here directly and byte for byte (decision 0201); `datasets` comes in only for hub
names and for parquet and arrow files.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from judgeaudit.core.errors import ConfigError, CorpusError

__all__ = [
    "HUB_PREFIX",
    "Located",
    "Source",
    "check_pin",
    "decoded",
    "digest_of",
    "open_source",
    "records",
]

HUB_PREFIX: Final = "hub:"
_TABLES: Final = (".parquet", ".arrow")
_SHA256: Final = re.compile(r"sha256:[0-9a-f]{64}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True, slots=True)
class Source:
    """One data file in memory.

    Parameters
    ----------
    place : str
        The path or hub address as a message shows it.
    name : str
        The file's own name, without folders.
    raw : bytes
        The file as it is.
    path : Path, optional
        Where it lies on this machine.
    """

    place: str
    name: str
    raw: bytes
    path: Path | None = None

    @property
    def sha256(self) -> str:
        """Hash of the bytes."""
        return hashlib.sha256(self.raw).hexdigest()

    @property
    def git_blob(self) -> str:
        """Git's id of the bytes, to compare with a repository's tree."""
        head = b"blob %d\0" % len(self.raw)
        return hashlib.sha1(head + self.raw, usedforsecurity=False).hexdigest()


class Located(NamedTuple):
    """One record and the place that a message names."""

    where: str
    value: dict[str, Any]


def digest_of(sources: Iterable[Source]) -> str:
    """Hash several files as one: their names (with the folder above) and their bytes."""
    whole = hashlib.sha256()
    for s in sources:
        parent = s.path.parent.name if s.path else ""
        whole.update(f"{parent}/{s.name}\0{s.sha256}\n".encode("utf-8", "surrogatepass"))
    return whole.hexdigest()


def check_pin(revision: str | None, sha256: str, *, place: str) -> None:
    """Compare local data with the pin that the user gave.

    Raises
    ------
    ConfigError
        If the pin is not of a form that can be checked against local bytes.
    CorpusError
        If the bytes are others.
    """
    if revision is None:
        return
    if not _SHA256.fullmatch(revision):
        raise ConfigError(
            f"revision {revision!r} cannot be checked against local data",
            where=place,
            mend="Pin local data as sha256:<64 hex digits>; `judgeaudit corpus show` prints it",
        )
    if revision != f"sha256:{sha256}":
        raise CorpusError(
            f"the data has sha256 {sha256}, not the pinned {revision.removeprefix('sha256:')}",
            where=place,
            mend="Get the pinned data, or change the pin",
        )


def open_source(data: str, revision: str | None = None) -> Source:
    """Read one file: a path, or `hub:OWNER/NAME/PATH` at a pinned revision.

    Parameters
    ----------
    data : str
        The path or the hub address.
    revision : str, optional
        For a hub address a 40-digit commit or `sha256:<64 hex digits>`, required; for a path
        the latter, optional.

    Raises
    ------
    CorpusError
        If the file cannot be read, or its bytes are not the pinned ones.
    ConfigError
        If the address or the pin is malformed.
    """
    if data.startswith(HUB_PREFIX):
        return _from_hub(data, revision)
    path = Path(data)
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise CorpusError("no such file", where=data, mend=_hub_hint(data)) from None
    except OSError as e:
        raise CorpusError(f"cannot be read ({e.strerror or e})", where=data) from None
    source = Source(place=data, name=path.name, raw=raw, path=path)
    check_pin(revision, source.sha256, place=data)
    return source


def _hub_hint(data: str) -> str:
    if re.fullmatch(r"[\w.-]+/[\w.-]+", data):
        return f"Check the path; for a dataset on the hub write {HUB_PREFIX}{data}/PATH/IN/IT"
    return "Check the path"


def _from_hub(data: str, revision: str | None) -> Source:
    parts = data.removeprefix(HUB_PREFIX).split("/", 2)
    if len(parts) != 3 or not all(parts) or ".." in parts[2].split("/"):
        raise ConfigError(
            f"{data!r} is not the address of a file on the hub",
            mend=f"Write {HUB_PREFIX}OWNER/NAME/PATH/IN/IT.json",
        )
    pinned = revision is not None and (_COMMIT.fullmatch(revision) or _SHA256.fullmatch(revision))
    if revision is None or not pinned:
        raise ConfigError(
            f"revision {revision!r} does not pin the data" if revision else "no revision is given",
            where=data,
            mend="Pin it with --revision: a 40-digit commit, or sha256:<64 hex digits> of the file",
        )
    from judgeaudit.corpora import _hub

    sha256 = revision.removeprefix("sha256:") if revision.startswith("sha256:") else None
    commit = "main" if sha256 else revision
    path = _hub.fetch(f"{parts[0]}/{parts[1]}", parts[2], commit, sha256=sha256)
    source = Source(place=data, name=path.name, raw=path.read_bytes(), path=path)
    if sha256:
        check_pin(revision, source.sha256, place=data)
    return source


def records(source: Source, *, odd_numbers: bool = False) -> list[Located]:
    """Return the records of a JSON list, of JSONL, or of a parquet or arrow file.

    A byte-order mark and CRLF are accepted. JSONL is split at line feeds alone: U+2028 and its
    kin are ordinary characters inside a string.

    Parameters
    ----------
    source : Source
        The file.
    odd_numbers : bool
        Take NaN and infinities, which other tools write into what is then no JSON, for null.

    Raises
    ------
    CorpusError
        If the file is empty, not UTF-8, not JSON, holds NaN, infinities or a repeated key, or
        a record is not an object.
    """
    if source.path is not None and source.path.suffix in _TABLES:
        from judgeaudit.corpora import _hub

        rows = _hub.rows(source.path, place=source.place)
        return [Located(f"{source.place}, row {n}", r) for n, r in enumerate(rows, 1)]
    text = decoded(source)
    if not text.strip():
        raise CorpusError("the file is empty", where=source.place)
    if text.lstrip()[0] == "[":
        return _from_list(text, source.place, odd_numbers=odd_numbers)
    return _from_lines(text, source.place, odd_numbers=odd_numbers)


def decoded(source: Source) -> str:
    """Return a file's text, without a byte-order mark.

    Raises
    ------
    CorpusError
        If it is not UTF-8.
    """
    try:
        return source.raw.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        guess = " (it looks like UTF-16)" if source.raw[:2] in _UTF16 else ""
        raise CorpusError(
            f"is not UTF-8: byte {e.start} is 0x{source.raw[e.start]:02x}{guess}",
            where=source.place,
            mend="Save it as UTF-8",
        ) from None


class _RepeatedKeyError(ValueError):
    """An object that names one key twice: which of the two is meant cannot be known."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedKeyError(f"the key {key!r} stands twice in one object")
            seen.add(key)
    return made


def _no_constant(name: str) -> NoReturn:
    raise _RepeatedKeyError(f"{name} is not JSON")


def _as_null(_: str) -> None:
    """Stand for a number that JSON does not have."""


def _parse(text: str, where: str, *, odd_numbers: bool, line: int | None = None) -> Any:
    constant = _as_null if odd_numbers else _no_constant
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=constant)
    except json.JSONDecodeError as e:
        at = f"column {e.colno}" if line else f"line {e.lineno}, column {e.colno}"
        raise CorpusError(f"is not JSON: {e.msg} at {at}", where=where) from None
    except RecursionError:
        raise CorpusError("is nested too deeply", where=where) from None
    except ValueError as e:  # the two refusals above, and integers of thousands of digits
        raise CorpusError(str(e).split(";")[0], where=where) from None


def _from_list(text: str, place: str, *, odd_numbers: bool) -> list[Located]:
    value = _parse(text, place, odd_numbers=odd_numbers)
    if not value:
        raise CorpusError("the list holds no records", where=place)
    return [_located(f"{place}, record {n}", v) for n, v in enumerate(value, 1)]


def _from_lines(text: str, place: str, *, odd_numbers: bool) -> list[Located]:
    lines = text.split("\n")
    filled = [n for n, line in enumerate(lines) if line.strip()]
    if len(filled) > 1 and lines[filled[0]].strip() == "{":  # one object over several lines
        return [_located(place, _parse(text, place, odd_numbers=odd_numbers))]
    found = []
    for n in filled:
        where = f"{place}:{n + 1}"
        value = _parse(lines[n], where, odd_numbers=odd_numbers, line=n + 1)
        found.append(_located(where, value))
    return found


def _located(where: str, value: object) -> Located:
    if not isinstance(value, dict):
        raise CorpusError(
            f"is {_kind(value)}, not an object with named fields",
            where=where,
            mend="Each record is one JSON object",
        )
    return Located(where, value)


def _kind(value: object) -> str:
    names = {list: "a list", str: "a text", bool: "a boolean", int: "a number", float: "a number"}
    return "null" if value is None else names.get(type(value), type(value).__name__)
