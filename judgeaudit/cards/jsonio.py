"""A card as JSON: stable bytes, a published schema, and a reader that says what is wrong."""

from __future__ import annotations

import json
from typing import Any, Final, NoReturn

from pydantic import ValidationError

from judgeaudit.cards.clean import shorten
from judgeaudit.cards.migrations import READABLE, Migrated, migrated
from judgeaudit.cards.model import SCHEMA_VERSION, JudgeCard
from judgeaudit.core.errors import CardError, unknown_name
from judgeaudit.core.rooms import room

__all__ = ["SCHEMA_ID", "from_json", "parsed", "published", "read", "schema", "to_json"]

SCHEMA_ID: Final = f"urn:judgeaudit:schema:card-{SCHEMA_VERSION}"


def to_json(card: JudgeCard) -> str:
    """Serialise a card.

    Returns
    -------
    str
        Keys sorted, two blanks of indent, one newline at the end, valid UTF-8. Floats were
        rounded to 12 significant digits by `build`, and are written in their shortest form.
    """
    return (
        json.dumps(
            card.model_dump(mode="json"),
            sort_keys=True,
            indent=2,
            ensure_ascii=False,
            allow_nan=False,
        )
        + "\n"
    )


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        if key in out:
            raise ValueError(f"the key {shorten(key, 60)!r} occurs twice")
        out[key] = value
    return out


def parsed(text: str, where: str) -> Any:
    """Read JSON as a card may be written: no key twice, no NaN.

    Raises
    ------
    CardError
        Saying what is wrong with it.
    """
    try:
        return json.loads(
            text.removeprefix("\ufeff"),
            parse_constant=_no_constant,
            object_pairs_hook=_no_duplicates,
        )
    except json.JSONDecodeError as e:
        what = f"not JSON: {e.msg} at line {e.lineno}, column {e.colno}"
        raise CardError(what, where=where, mend="Give a card.json made by judgeaudit") from e
    except (ValueError, RecursionError) as e:
        what = "nested too deeply" if isinstance(e, RecursionError) else str(e)
        raise CardError(what, where=where, mend="Give a card.json made by judgeaudit") from e


def from_json(text: str, *, where: str = "card") -> JudgeCard:
    """Read a card back, of this or an older layout.

    Parameters
    ----------
    text : str
        The JSON text.
    where : str
        Name of the file, for messages.

    Returns
    -------
    JudgeCard
        Equal to the card that was written; one of an older layout is brought to the present one.

    Raises
    ------
    CardError
        If the text is not JSON, not a card, of a version this program does not know, or holds a
        field that is missing, unknown or of the wrong type; the message names the first.
    """
    return read(text, where=where)[0]


def read(text: str, *, where: str = "card") -> tuple[JudgeCard, Migrated]:
    """Read a card back, and say from which layout it was brought here; see `from_json`."""
    data = parsed(text, where)
    steps = migrated(data if isinstance(data, dict) else {}, where=where)
    same = text.removeprefix("\ufeff")
    try:
        # strict, and from the text: a number in quotes is not a number
        return JudgeCard.model_validate_json(
            json.dumps(steps.data) if steps.steps else same, strict=True
        ), steps
    except ValidationError as e:
        first, n = e.errors()[0], e.error_count()
        path = ".".join(str(p) for p in first["loc"]) or "the card"
        more = f" (and {n - 1} more)" if n > 1 else ""
        raise CardError(
            f"{shorten(path, 80)}: {first['msg']}{more}",
            where=where,
            mend="Make the card again from its ledger",
        ) from e


def _without_prose(node: Any) -> Any:
    """Drop titles and docstrings: the schema changes when the layout does, not with a comment."""
    if isinstance(node, dict):
        return {
            key: (
                {name: _without_prose(sub) for name, sub in value.items()}
                if key in ("properties", "$defs")
                else _without_prose(value)
            )
            for key, value in node.items()
            if key not in ("title", "description")
        }
    if isinstance(node, list):
        return [_without_prose(v) for v in node]
    return node


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a card; published in `judge_cards/schema`."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Judge Card",
        "description": f"A Judge Card of judgeaudit, schema version {SCHEMA_VERSION}.",
        **_without_prose(JudgeCard.model_json_schema(mode="serialization")),
    }


def published(version: str | None = None) -> str:
    """Return a published schema as text: of this layout, or of an older one.

    Raises
    ------
    CardError
        If there never was such a version.
    """
    wanted = SCHEMA_VERSION if version is None else version
    if wanted not in READABLE:
        raise CardError(unknown_name("schema version", shorten(wanted, 20), list(READABLE)))
    if wanted == SCHEMA_VERSION:
        return json.dumps(schema(), sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    path = room("judge_cards") / "schema" / f"card-{wanted}.json"
    return path.read_text(encoding="utf-8")
