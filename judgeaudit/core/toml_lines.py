"""On which line of a TOML text each key stands: for messages, which TOML readers do not help."""

from __future__ import annotations

import re

__all__ = ["KeyPath", "Lines", "line_of", "lines_of"]

KeyPath = tuple[str | int, ...]
Lines = dict[KeyPath, int]
"""From the path of a key (`("norms", 2, "title")`) to the line on which it stands."""

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*[A-Za-z0-9_-]+)*)\s*=""")


def line_of(lines: Lines, path: KeyPath) -> int | None:
    """Return the line of a key, or of the nearest table around it that has one.

    Parameters
    ----------
    path : tuple
        Keys and list positions from the root, as pydantic reports them.
    """
    return next((lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in lines), None)


def lines_of(text: str, first: int = 1) -> Lines:
    """Map key paths to lines; keys inside inline tables are found at the line of their owner."""
    lines: Lines = {}
    counts: dict[KeyPath, int] = {}
    prefix: KeyPath = ()
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


def _resolve(parts: tuple[str, ...], counts: dict[KeyPath, int]) -> KeyPath:
    """Insert the index of the newest element of every array of tables on the way."""
    path: KeyPath = ()
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
