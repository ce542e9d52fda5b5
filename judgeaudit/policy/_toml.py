"""Read the TOML of policies, transforms and templates: front matter too, and strictly typed.

Lines and known keys are those of `core.toml`; what differs is what a file may be. A policy is data
that people review: `true` is no 1 there, and a text may begin in mid-file.
"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.toml import known_keys
from judgeaudit.core.toml_lines import KeyPath, Lines, line_of, lines_of

__all__ = ["Lines", "check", "parse", "place", "read_text"]

M = TypeVar("M", bound=BaseModel)


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
    return data, lines_of(text, first_line)


def place(where: str, path: KeyPath, lines: Lines) -> str:
    """Word a place: file, line of the nearest known key, and the key.

    Examples
    --------
    >>> place("p.toml", ("norms", 0, "force"), {("norms", 0): 7, ("norms", 0, "force"): 9})
    'p.toml, line 9, norms[0].force'
    """
    known = line_of(lines, path)
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
    path: KeyPath = tuple(p for p in first["loc"] if _is_key(p))
    value = first.get("input")
    kind = first["type"]
    mend = None
    if kind == "extra_forbidden":
        known = known_keys(model, path[:-1])
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
