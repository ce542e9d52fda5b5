"""Read TOML into a record, with the line of every key for messages."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from judgeaudit.core.errors import PolicyError

__all__ = ["Lines", "check", "parse", "place", "read_text"]

Path_ = tuple[str | int, ...]
Lines = dict[Path_, int]
"""From the path of a key (`("norms", 2, "title")`) to the line on which it stands."""

M = TypeVar("M", bound=BaseModel)

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*[A-Za-z0-9_-]+)*)\s*=""")


def read_text(path: Path) -> str:
    """Read a text file of a policy, a transform or a template.

    Raises
    ------
    PolicyError
        If the file cannot be read, or is not UTF-8.
    """
    try:
        data = path.read_bytes()
    except OSError as e:
        raise PolicyError(
            f"cannot be read ({e.strerror})", where=str(path), mend="Check the path"
        ) from e
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as e:
        line = data[: e.start].count(b"\n") + 1
        raise PolicyError(
            f"not UTF-8 (byte 0x{data[e.start]:02x})",
            where=f"{path}, line {line}",
            mend="Save the file as UTF-8",
        ) from e


def parse(text: str, where: str, first_line: int = 1) -> tuple[dict[str, Any], Lines]:
    """Parse TOML and find the line of every key.

    Parameters
    ----------
    text : str
        The TOML.
    where : str
        The file's name, for messages.
    first_line : int
        The line of the file on which `text` begins.

    Raises
    ------
    PolicyError
        If the text is not TOML.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        found = re.search(r" \(at line (\d+), column \d+\)$", str(e))
        reason = str(e)[: found.start()] if found else str(e).removesuffix(" (at end of document)")
        line = int(found[1]) if found else len(text.splitlines()) or 1
        raise PolicyError(
            f"not TOML: {reason[:1].lower()}{reason[1:]}",
            where=f"{where}, line {line + first_line - 1}",
            mend="Mend the line",
        ) from e
    return data, _lines(text, first_line)


def _lines(text: str, first: int) -> Lines:
    """Map key paths to lines; keys inside inline tables are found at the line of their owner."""
    lines: Lines = {}
    counts: dict[Path_, int] = {}
    prefix: Path_ = ()
    open_quote: str | None = None
    depth = 0
    for number, line in enumerate(text.splitlines(), start=first):
        if open_quote is None and depth == 0:
            if head := _HEADER.match(line):
                prefix = _resolve(_parts(head[2]), counts)
                if head[1] == "[[":
                    index = counts.get(prefix, -1) + 1
                    counts[prefix] = index
                    lines.setdefault(prefix, number)
                    prefix = (*prefix, index)
                lines.setdefault(prefix, number)
                continue
            if key := _KEY.match(line):
                path = prefix
                for part in _parts(key[1]):
                    path = (*path, part)
                    lines.setdefault(path, number)
                line = line[key.end() :]  # noqa: PLW2901
        open_quote, depth = _scan(line, open_quote, depth)
    return lines


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(p.strip().strip("\"'") for p in dotted.split("."))


def _resolve(parts: tuple[str, ...], counts: dict[Path_, int]) -> Path_:
    """Insert the index of the newest element of every array of tables on the way."""
    path: Path_ = ()
    for i, part in enumerate(parts):
        path = (*path, part)
        if i < len(parts) - 1 and path in counts:
            path = (*path, counts[path])
    return path


def _scan(line: str, open_quote: str | None, depth: int) -> tuple[str | None, int]:
    """Follow multi-line strings and brackets over one line."""
    i = 0
    while i < len(line):
        if open_quote is not None:
            if line[i] == "\\" and open_quote[0] == '"':
                i += 2
                continue
            if line.startswith(open_quote, i):
                i += len(open_quote)
                open_quote = None
                continue
        elif line[i] == "#":
            break
        elif line[i] in "\"'":
            open_quote = line[i] * 3 if line.startswith(line[i] * 3, i) else line[i]
            i += len(open_quote)
            continue
        elif line[i] in "[{":
            depth += 1
        elif line[i] in "]}":
            depth -= 1
        i += 1
    if open_quote is not None and len(open_quote) == 1:
        open_quote = None
    return open_quote, depth


def place(where: str, path: Path_, lines: Lines) -> str:
    """Word a place: file, line of the nearest known key, and the key.

    Examples
    --------
    >>> place("p.toml", ("norms", 0, "force"), {("norms", 0): 7, ("norms", 0, "force"): 9})
    'p.toml, line 9, norms[0].force'
    """
    known = next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), None)
    name = ""
    for part in path:
        name += f"[{part}]" if isinstance(part, int) else f".{part}"
    at = f", line {known}" if known is not None else ""
    return f"{where}{at}" + (f", {name.lstrip('.')}" if path else "")


def check(model: type[M], data: dict[str, Any], where: str, lines: Lines) -> M:
    """Validate TOML data as a record; the first fault becomes one clear line.

    Raises
    ------
    PolicyError
        If a key is unknown or missing, or a value has the wrong type.
    """
    try:
        return model.model_validate_json(json.dumps(data, default=str), strict=True)
    except ValidationError as e:
        faults = e.errors(include_url=False)
    # a mistyped key is one fault that pydantic sees as two: missing here, unknown there
    first = next((f for f in faults if f["type"] == "extra_forbidden"), faults[0])
    path: Path_ = tuple(p for p in first["loc"] if _is_key(p))
    value = first.get("input")
    kind = first["type"]
    mend = None
    if kind == "extra_forbidden":
        known = _fields(model, path[:-1])
        what = f"unknown key {path[-1]!r}"
        mend = f"Known keys here: {', '.join(known)}" if known else "Remove it"
    elif kind == "missing":
        what = f"missing key {path[-1]!r}"
        mend = "Add it"
    elif kind == "literal_error":
        what = f"{value!r} is not one of {first.get('ctx', {}).get('expected', '')}"
    elif kind == "string_pattern_mismatch":
        what = f"{value!r} is not an id"
        mend = "Use small letters, digits and underscores, a letter first"
    elif kind == "value_error":
        what = str(first["ctx"]["error"]) if "ctx" in first else first["msg"]
    else:
        what = f"{_short(value)} has the wrong type: {first['msg'][:1].lower()}{first['msg'][1:]}"
    raise PolicyError(what, where=place(where, path, lines), mend=mend)


def _is_key(part: str | int) -> bool:
    """Leave out what pydantic adds to a path: members of a union, and marks of wrong keys."""
    return part not in {"int", "float", "str", "[key]"} and not str(part).startswith("tuple[")


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _fields(model: type[BaseModel], path: Path_) -> list[str]:
    """List the keys of the record at a path."""
    from typing import get_args

    current: type[BaseModel] | None = model
    for part in path:
        if isinstance(part, int) or current is None:
            continue
        field = current.model_fields.get(part)
        current = None
        stack = [field.annotation] if field is not None else []
        while stack:
            candidate = stack.pop()
            if isinstance(candidate, type) and issubclass(candidate, BaseModel):
                current = candidate
            stack.extend(get_args(candidate))
    return list(current.model_fields) if current is not None else []
