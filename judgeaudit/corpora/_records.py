"""Checks of raw records that several datasets share: ids, labels, turns.

What a judge may see is picked out field by field (a white list). Whatever else a record holds
(gold explanations, the benchmark's own prompt, categories) has no way into a `Trajectory`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final

from judgeaudit.core.errors import CorpusError
from judgeaudit.core.records import Label, Role, Trajectory, Turn

__all__ = [
    "Ids",
    "field",
    "flag_01",
    "label_01",
    "optional_text",
    "text",
    "trajectory_of",
    "turns_of",
]

_AGENT_ROLES: Final[tuple[Role, ...]] = ("user", "agent", "environment")
_LONGEST_ID: Final = 200
_SPEECH: Final = ("content",)
_DEEDS: Final = ("thought", "action")


def field(record: Mapping[str, Any], name: str, where: str) -> Any:
    """Return a field that must be there.

    Raises
    ------
    CorpusError
        If it is missing; the message lists what is there.
    """
    if name not in record:
        there = ", ".join(map(repr, record)) or "nothing"
        raise CorpusError(f"the field {name!r} is missing; there is {there}", where=where)
    return record[name]


def text(value: object, name: str, where: str) -> str:
    """Return a text that can be written as UTF-8.

    Raises
    ------
    CorpusError
        If it is not a text, or holds half a surrogate pair (no wire or file can carry one).
    """
    if not isinstance(value, str):
        raise CorpusError(f"{name} is {value!r:.60}, not a text", where=where)
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as e:
            raise CorpusError(
                f"{name} holds half a surrogate pair (U+{ord(value[e.start]):04X}) "
                f"at character {e.start}",
                where=where,
                mend="Such text cannot be sent or stored: replace the character",
            ) from None
    return value


def optional_text(value: object, name: str, where: str) -> str | None:
    """Return a text, or None for null."""
    return None if value is None else text(value, name, where)


class Ids:
    """The ids of one dataset: texts or whole numbers, each once.

    1 and "1" would be one item key, so they are one id.
    """

    def __init__(self) -> None:
        self._seen: dict[str, tuple[object, str]] = {}

    def take(self, value: object, where: str) -> str:
        """Return the id as text.

        Raises
        ------
        CorpusError
            If it is neither text nor whole number, is blank or too long, holds control
            characters, or was there before.
        """
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise CorpusError(f"id {value!r:.60} is neither a text nor a whole number", where=where)
        name = text(str(value), "id", where)
        if not name.strip() or name != name.strip():
            raise CorpusError(f"id {value!r:.60} is blank or has blanks at an end", where=where)
        if len(name) > _LONGEST_ID:
            raise CorpusError(f"id {name[:30]!r}… has {len(name)} characters", where=where)
        if any(unicodedata.category(c) in {"Cc", "Zl", "Zp"} for c in name):
            raise CorpusError(f"id {value!r:.60} holds control characters", where=where)
        if name in self._seen:
            other, place = self._seen[name]
            same = repr(value) == repr(other)
            raise CorpusError(
                f"id {value!r:.60} stands twice, first at {place}"
                if same
                else f"ids {value!r:.60} and {other!r:.60} (at {place}) are one item key",
                where=where,
                mend="Give each record an id of its own",
            )
        self._seen[name] = (value, where)
        return name


def label_01(record: Mapping[str, Any], where: str) -> Label:
    """Read a label that is the number 1 (unsafe) or 0 (safe).

    Raises
    ------
    CorpusError
        If it is missing or anything else: texts, booleans and decimals are not guessed at.
    """
    value = field(record, "label", where)
    if type(value) is not int or value not in {0, 1}:
        raise CorpusError(
            f"label is {value!r:.60}; it must be the number 1 (unsafe) or 0 (safe)", where=where
        )
    return "UNSAFE" if value else "SAFE"


def flag_01(record: Mapping[str, Any], name: str, where: str) -> bool | None:
    """Read a flag that is the number 1 or 0; None where it is absent or null."""
    value = record.get(name)
    if value is None:
        return None
    if type(value) is not int or value not in {0, 1}:
        raise CorpusError(f"{name} is {value!r:.60}; it must be the number 1 or 0", where=where)
    return bool(value)


def trajectory_of(record: Mapping[str, Any], where: str) -> Trajectory:
    """Pick what a judge may see out of an R-Judge-like record: `profile` and `contents`.

    `contents` is a list of segments (dialogue rounds), each a list of turns, or one flat list of
    turns; segments are joined in order.

    Raises
    ------
    CorpusError
        If there are no turns, or a turn is malformed.
    """
    contents = field(record, "contents", where)
    if not isinstance(contents, list):
        raise CorpusError(f"contents is {contents!r:.40}, not a list of turns", where=where)
    nested = [isinstance(part, list) for part in contents]
    if any(nested) and not all(nested):
        raise CorpusError("contents mixes turns and lists of turns", where=where)
    raw = [turn for part in contents for turn in part] if any(nested) else contents
    return Trajectory(
        profile=optional_text(field(record, "profile", where), "profile", where),
        turns=turns_of(raw, where, roles=_AGENT_ROLES),
    )


def turns_of(raw: object, where: str, *, roles: Sequence[Role]) -> tuple[Turn, ...]:
    """Check turns: `{role, content}`, or for an agent `{role: "agent", thought, action}`.

    Null and blank texts are valid; a trajectory in which every text is null or blank is not.

    Raises
    ------
    CorpusError
        Naming the turn, counted from 1.
    """
    if not isinstance(raw, list):
        raise CorpusError(f"turns are {raw!r:.40}, not a list", where=where)
    if not raw:
        raise CorpusError("the trajectory has no turns", where=where)
    turns = tuple(_turn(t, f"{where}, turn {n}", roles) for n, t in enumerate(raw, 1))
    texts = (part for t in turns for part in (t.content, t.thought, t.action))
    if not any(part and part.strip() for part in texts):
        raise CorpusError("every text of the trajectory is null or blank", where=where)
    return turns


def _turn(raw: object, where: str, roles: Sequence[Role]) -> Turn:
    if not isinstance(raw, dict):
        raise CorpusError(f"is {raw!r:.40}, not an object", where=where)
    role: Role | None = next((r for r in roles if r == raw.get("role")), None)
    if role is None:
        if "role" not in raw:
            field(raw, "role", where)
        raise CorpusError(
            f"unknown role {raw['role']!r:.60}", where=where, mend=f"Known: {', '.join(roles)}"
        )
    wanted, foreign = (_DEEDS, _SPEECH) if role == "agent" else (_SPEECH, _DEEDS)
    for name, value in raw.items():
        # tables hold every column in every row: a null in a foreign one says nothing
        if name == "role" or name in wanted or (name in foreign and value is None):
            continue
        hint = " (an agent's words go into 'thought' and 'action')" if name in foreign else ""
        raise CorpusError(
            f"a turn of role {role!r} cannot have {name!r}{hint}",
            where=where,
            mend=f"Its fields are role, {', '.join(wanted)}",
        )
    if not any(name in raw for name in wanted):
        field(raw, wanted[-1], where)
    return Turn(role=role, **{name: optional_text(raw.get(name), name, where) for name in wanted})
