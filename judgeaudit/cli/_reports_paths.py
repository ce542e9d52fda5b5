"""Files that a command is to write: refused before any work where they would cost something."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

__all__ = ["distinct", "inputs_of", "writable"]


def inputs_of(*places: Path | None) -> list[Path]:
    """Return the files that stand behind runs, cards, and files of choices."""
    found: list[Path] = []
    for place in filter(None, places):
        inside = place if place.is_dir() else place.parent
        # a card is held against its ledger, so both are evidence
        found += [place, inside / "ledger.sqlite", inside / "card.json"]
    return found


def distinct(outputs: Mapping[str, Path | None], inputs: Iterable[Path]) -> None:
    """Refuse two outputs in one file, and one that would replace an input or a database.

    Parameters
    ----------
    outputs : mapping of str to path
        By option.
    inputs : iterable of path
        Files that are read, or are evidence.

    Raises
    ------
    ConfigError
        Before anything is done.
    """
    from judgeaudit.core.errors import ConfigError

    read = list(inputs)
    seen: list[tuple[str, Path]] = []
    for option, path in outputs.items():
        # a folder is no file that could be lost, and a terminal or pipe takes any number
        if path is None or (path.exists() and not path.is_file()):
            continue
        mend = "Give another file"
        if any(_same(path, one) for one in read) or _is_database(path):
            what = f"{option} would overwrite a run, a history, or what was given to be read"
            raise ConfigError(what, where=str(path), mend=mend)
        for other, taken in seen:
            if _same(path, taken):
                what = f"{other} and {option} would be the same file"
                raise ConfigError(what, where=str(path), mend=mend)
        seen.append((option, path))


def writable(option: str, path: Path | None) -> None:
    """Refuse a file that is a folder, or lies in none.

    Raises
    ------
    ConfigError
        Before anything is done.
    """
    from judgeaudit.core.errors import ConfigError

    if path is None:
        return
    if path.is_dir():
        raise ConfigError(f"{option} is a folder", where=str(path), mend="Give a file in it")
    if not path.parent.is_dir():
        raise ConfigError(
            f"{option} is in a folder that is not there",
            where=str(path),
            mend=f"Make {path.parent}, or give another file",
        )


def _same(one: Path, two: Path) -> bool:
    if one.resolve() == two.resolve():
        return True
    # names that differ and yet are one file: links, and disks that ignore case
    return one.exists() and two.exists() and one.samefile(two)


def _is_database(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(16) == b"SQLite format 3\x00"
    except OSError:
        return False
