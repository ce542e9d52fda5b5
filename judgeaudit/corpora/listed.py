"""A list of item keys in a file: only these items are asked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judgeaudit.core.errors import ConfigError

if TYPE_CHECKING:
    from judgeaudit.core.records import Item

__all__ = ["keep_listed", "read_keys", "write_keys"]


def write_keys(path: Path, keys: Iterable[str]) -> None:
    """Write a key a line; one that is not plain, as a JSON string."""
    lines = [
        k if k.isprintable() and k == k.strip() and k[:1] not in '"#' else json.dumps(k)
        for k in keys
    ]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read_keys(path: Path) -> tuple[str, ...]:
    """Read a list of keys: one a line, `#` begins a comment, a line in quotes is JSON.

    Raises
    ------
    ConfigError
        If the file cannot be read, or names nothing.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"cannot be read ({error})", where=str(path)) from error
    keys: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        word = line.strip()
        if not word or word.startswith("#"):
            continue
        if word.startswith('"'):
            try:
                word = str(json.loads(word))
            except ValueError as error:
                raise ConfigError(
                    "a key in quotes is no JSON string", where=f"{path}, line {number}"
                ) from error
        keys.append(word)
    if not keys:
        raise ConfigError("names no item", where=str(path), mend="Write one key a line")
    return tuple(dict.fromkeys(keys))


def keep_listed(items: Sequence[Item], path: Path) -> tuple[set[str], str]:
    """Return the listed keys, all of which must be there, and a sentence for the card.

    Raises
    ------
    ConfigError
        Naming keys that are not in the corpus.
    """
    keys, there = read_keys(path), {i.key for i in items}
    gone = [k for k in keys if k not in there]
    if gone:
        shown = ", ".join(repr(k)[:60] for k in gone[:3])
        raise ConfigError(
            f"{len(gone)} of {len(keys)} listed items are not in the corpus: {shown}",
            where=str(path),
            mend="`judgeaudit corpus show` lists keys",
        )
    return set(keys), (
        f"{len(keys)} of {len(items)} items were named in a list: figures speak of these only."
    )
