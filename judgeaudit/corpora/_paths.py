"""Fields within each other by their path: `vars.id`, `messages.0.role`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

__all__ = ["NOTHING", "scalars", "walk"]

NOTHING: Final = object()
"""What stands at a path that a record does not have; null is something."""


def walk(record: dict[str, Any], path: str) -> Any:
    """Return what stands at a path; a field of the whole name wins over fields in each other.

    Examples
    --------
    >>> walk({"a": {"b": [7]}}, "a.b.0")
    7
    """
    if path in record:
        return record[path]
    here: Any = record
    parts = path.split(".")
    n = 0
    while n < len(parts):
        if isinstance(here, dict):
            # a name may hold points itself: the longest one wins
            for end in range(len(parts), n, -1):
                name = ".".join(parts[n:end])
                if name in here:
                    here, n = here[name], end
                    break
            else:
                return NOTHING
        elif isinstance(here, list) and parts[n].isdecimal() and int(parts[n]) < len(here):
            here, n = here[int(parts[n])], n + 1
        else:
            return NOTHING
    return here


def scalars(found: Iterable[dict[str, Any]]) -> list[str]:
    """Return the paths of all fields that hold no other, in the order in which they come."""
    seen: dict[str, None] = {}

    def go(value: dict[str, Any], before: str) -> None:
        for name, inner in value.items():
            if isinstance(inner, dict):
                go(inner, f"{before}{name}.")
            elif not isinstance(inner, list) and name and not name.startswith("@"):
                seen[before + name] = None

    for record in found:
        go(record, "")
    return list(seen)
