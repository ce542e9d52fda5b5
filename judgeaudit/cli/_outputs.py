"""Where a verb may write: never over a ledger or its own input; asked before the first call."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from judgeaudit.core.errors import ConfigError

__all__ = ["check_folder", "check_page"]

_LEDGER: Final = b"SQLite format 3\0"
_BESIDE: Final = ("-wal", "-shm", "-journal", ".lock")


def check_page(path: Path | None, inputs: Iterable[Path | str | None] = ()) -> None:
    """Refuse a page's path at which something stands that it must not replace.

    Parameters
    ----------
    path : Path, optional
        Where the page is to be written.
    inputs : iterable of path, optional
        Files that the verb reads, or writes as something else.

    Raises
    ------
    ConfigError
        If it is a ledger or will be one, a folder, or one of the inputs.
    """
    if path is None:
        return
    stem = next((path.name.removesuffix(s) for s in _BESIDE if path.name.endswith(s)), path.name)
    if stem.endswith(".sqlite") or _is_ledger(path):
        raise _refused(path, "is a ledger's, and a page would replace it")
    if path.is_dir():
        raise _refused(path, "is a folder")
    for one in inputs:
        if one is not None and _same(path, Path(one)):
            raise _refused(path, "is a file of this run, and a page would replace it")
    _check_above(path)


def check_folder(path: Path) -> None:
    """Refuse a folder's path at which a file stands.

    Raises
    ------
    ConfigError
        If one does.
    """
    _check_above(path / "x")


def _check_above(path: Path) -> None:
    there = next((p for p in path.absolute().parents if p.exists() or p.is_symlink()), None)
    if there is not None and not there.is_dir():
        raise _refused(there, "is no folder, so nothing can be written into it")


def _refused(path: Path, why: str) -> ConfigError:
    return ConfigError(f"{str(path)!r} {why}", mend="Name another path")


def _is_ledger(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(_LEDGER)) == _LEDGER
    except OSError:
        return False


def _same(one: Path, two: Path) -> bool:
    try:
        return one.resolve() == two.resolve() or one.samefile(two)
    except OSError:
        return False
