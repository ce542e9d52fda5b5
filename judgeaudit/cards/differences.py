"""Where two cards differ, field by field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["ABSENT", "Difference", "differences", "is_words"]


class _Absent:
    """What stands where a field is not there."""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = _Absent()

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which two cards differ.

    Parameters
    ----------
    path : str
        The field, such as `scores.scores[pis].value`.
    old, new : JSON value or `ABSENT`
        On the card that was given, and on the one that was rebuilt.
    """

    path: str
    old: Any
    new: Any


def _names(*fields: str) -> Callable[[Mapping[str, Any]], Key]:
    return lambda row: tuple("" if row.get(f) is None else str(row[f]) for f in fields)


_KEYS: Final[dict[str, Callable[[Mapping[str, Any]], Key]]] = {
    "scores.scores": _names("metric", "condition", "treatment", "stratum"),
    "warnings": _names("code"),
    "facts.renderings": _names("condition", "language", "wording"),
    "facts.protocol.conditions": _names("id"),
}
"""Lists whose rows have names: told by name, so that one row less is one difference."""

_WORDS: Final = re.compile(
    r"(?:headline\.sentence|warnings|limits|scores\.reasons"
    r"|scores\.scores\[[^\]]*\]\.(?:method|note|unit|why_undefined|why_no_interval|p_method|null)"
    r"|facts\.(?:judge_note|cost_note)|facts\.protocol\.conditions\[[^\]]*\]\.summary)(?:\W|$)"
)


def is_words(path: str) -> bool:
    """Say whether a field holds a card's wording, which changes with the program.

    Examples
    --------
    >>> is_words("headline.sentence"), is_words("headline.code"), is_words("warnings[placebo]")
    (True, False, True)
    """
    return _WORDS.match(path) is not None


def _label(key: Key) -> str:
    return ", ".join(part for part in key if part and part != "exclude")


def _rows(path: str, rows: Sequence[Any]) -> dict[Key, Any] | None:
    """Name the rows of a list; None where they have no names, or two have the same."""
    key = _KEYS.get(path)
    if key is None or not all(isinstance(r, Mapping) for r in rows):
        return None
    named = {key(r): r for r in rows}
    return named if len(named) == len(rows) else None


def _lists(path: str, old: Sequence[Any], new: Sequence[Any]) -> Iterator[Difference]:
    mine, theirs = _rows(path, old), _rows(path, new)
    if mine is None or theirs is None:
        for k in range(max(len(old), len(new))):
            a = old[k] if k < len(old) else ABSENT
            b = new[k] if k < len(new) else ABSENT
            yield from differences(a, b, f"{path}[{k}]")
        return
    for name in dict.fromkeys([*mine, *theirs]):
        at = f"{path}[{_label(name)}]"
        yield from differences(mine.get(name, ABSENT), theirs.get(name, ABSENT), at)
    kept = [name for name in mine if name in theirs]
    if kept != (wanted := [name for name in theirs if name in mine]):
        yield Difference(f"{path} (order)", list(map(_label, kept)), list(map(_label, wanted)))


def differences(old: Any, new: Any, path: str = "") -> Iterator[Difference]:
    """Walk through two JSON trees and yield every field in which they differ.

    Parameters
    ----------
    old, new : JSON value
        What was given, and what it is held against. A number is equal to itself alone: 1 is not
        true, and 0.1 is not "0.1".
    path : str
        Where the two stand.

    Examples
    --------
    >>> [(d.path, d.old, d.new) for d in differences({"a": [1, 2]}, {"a": [1, 3], "b": None})]
    [('a[1]', 2, 3), ('b', absent, None)]
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            at = f"{path}.{key}" if path else str(key)
            yield from differences(old.get(key, ABSENT), new.get(key, ABSENT), at)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _lists(path, old, new)
    elif isinstance(old, bool) is not isinstance(new, bool) or old != new:
        yield Difference(path, old, new)
