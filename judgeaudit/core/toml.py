"""Read a TOML file into a record, and name file, line and key where it does not fit."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from judgeaudit.core.errors import ConfigError, JudgeAuditError
from judgeaudit.core.toml_lines import line_of, lines_of

__all__ = ["known_keys", "read_toml", "record_from"]

R = TypeVar("R", bound=BaseModel)

_KINDS: Final = {
    "int_": "a whole number",
    "float_": "a number",
    "finite_number": "a finite number",
    "string_": "a text in quotes",
    "bool_": "true or false",
    "tuple_": "a list in brackets",
    "list_": "a list in brackets",
    "dict_": "a table",
    "path_": "a path in quotes",
}
_BOUNDS: Final = {
    "greater_than": "more than {}",
    "greater_than_equal": "{} or more",
    "less_than": "less than {}",
    "less_than_equal": "{} or less",
    "literal_error": "{}",
}


def read_toml(path: Path, error: type[JudgeAuditError] = ConfigError) -> tuple[dict[str, Any], str]:
    """Return the data and the text of a TOML file.

    Raises
    ------
    JudgeAuditError
        Of class `error`, if the file cannot be read, is not UTF-8, or is not TOML.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as e:
        raise error(f"cannot be read ({e.strerror or e})", where=str(path)) from None
    except UnicodeDecodeError as e:
        raise error(
            f"is not UTF-8 (byte {e.start})", where=str(path), mend="Save it as UTF-8"
        ) from None
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as e:
        raise error(f"is not TOML: {e}", where=str(path)) from None


def record_from(
    model: type[R],
    data: dict[str, Any],
    *,
    text: str = "",
    path: Path | None = None,
    error: type[JudgeAuditError] = ConfigError,
    spell: Callable[[str], str] = "key {!r}".format,
) -> R:
    """Validate data against a record; the first misfit is named by file, line and key.

    Parameters
    ----------
    text, path
        Of the file; left out where the data come from none.
    spell : callable
        From a key to what its author wrote: a key of a file, a flag, a keyword.

    Raises
    ------
    JudgeAuditError
        Of class `error`.
    """
    try:
        return model.model_validate(data)
    except ValidationError as e:
        faults = e.errors(include_url=False)
    # a mistyped key is one fault that pydantic sees as two: missing here, unknown there
    first = next((f for f in faults if f["type"] == "extra_forbidden"), faults[0])
    location = tuple(first["loc"])
    line = line_of(lines_of(text), location)
    where = None if path is None else f"{path}, line {line}" if line else str(path)
    kind = first["type"]
    if not location:  # about several keys at once: the record's own words name them
        raise error(first["msg"].removeprefix("Value error, "), where=where)
    named = spell(".".join(str(p) for p in location))
    if kind == "extra_forbidden":
        parent = sorted(known_keys(model, location[:-1]))
        close = difflib.get_close_matches(str(location[-1]), parent, n=1)
        hint = f"Did you mean {close[0]!r}?" if close else f"Known keys: {', '.join(parent)}"
        raise error(f"unknown {named}", where=where, mend=hint)
    if kind == "missing":
        raise error(f"{named} is missing", where=where, mend="Add it")
    value = repr(first.get("input"))
    shown = value if len(value) <= 60 else value[:57] + "..."
    wanted = _wanted(kind, first.get("ctx") or {})
    if wanted is None:
        raise error(f"{named} is {shown}: {first['msg']}", where=where)
    raise error(f"{named} is {shown}", where=where, mend=f"It must be {wanted}")


def _wanted(kind: str, context: dict[str, Any]) -> str | None:
    """Say what a value must be, in the words of a TOML file; None where pydantic's must do."""
    if kind in _BOUNDS:
        return _BOUNDS[kind].format(*(str(v).removesuffix(".0") for v in context.values()))
    return next((words for stem, words in _KINDS.items() if kind.startswith(stem)), None)


def known_keys(model: type[BaseModel], location: tuple[str | int, ...]) -> list[str]:
    """List the keys that a record, or the record at a place inside it, has."""
    here: type[BaseModel] | None = model
    for part in location:
        if isinstance(part, int) or here is None:
            continue
        field = here.model_fields.get(part)
        here = _record_in(field.annotation) if field else None
    return list(here.model_fields) if here else []


def _record_in(annotation: Any) -> type[BaseModel] | None:
    """Find the record class inside an annotation such as `tuple[Norm, ...]`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        if (hit := _record_in(inner)) is not None:
            return hit
    return None
