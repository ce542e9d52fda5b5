"""Salvage a damaged ledger in its own place, so that the command that made it goes on from it."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from judgeaudit.core.errors import LedgerError
from judgeaudit.engine.lock import RunLock
from judgeaudit.engine.rebuild import take_name
from judgeaudit.engine.salvage import Salvage, salvage

__all__ = ["salvage_in_place"]

_SIDES: Final = ("-wal", "-shm")


def salvage_in_place(path: Path, *, plan: Path | None = None) -> tuple[Salvage, Path]:
    """Save what a damaged ledger holds, and put the new ledger in its place.

    The damaged file is kept beside it (`.damaged`, with its -wal). Killed at any moment, the name
    of the ledger is never free: a run would take that for leave to begin anew. Called again, it
    goes on.

    Parameters
    ----------
    path, plan
        As of `salvage`.

    Returns
    -------
    tuple
        What was saved and what was not, and where the damaged file lies now.

    Raises
    ------
    LedgerError
        As of `salvage`, or if a run is writing it.
    """
    if not path.is_file():
        raise LedgerError("there is no ledger here", where=str(path))
    lock = RunLock(path)
    try:
        made = path.with_name(path.name + ".salvaged")
        report = made.with_name(made.name + ".salvage.json")
        # the report is written last: where it is, an earlier call was cut off after its work
        if not (made.exists() and report.exists()):
            made.unlink(missing_ok=True)
            salvage(path, made, plan=plan)
        found = Salvage(**json.loads(report.read_text(encoding="utf-8")))
        old = _set_aside(path)
        # a -wal of the old file beside the new one would be read into it
        for suffix in _SIDES:
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        take_name(made, path, replace=True)
        report.replace(path.with_name(path.name + ".salvage.json"))
        lock.fulfilled()
        return found, old
    finally:
        lock.release()


def _set_aside(path: Path) -> Path:
    old = path.with_name(path.name + ".damaged")
    n = 1
    while old.exists() and not old.samefile(path):
        n += 1
        old = path.with_name(f"{path.name}.damaged{n}")
    wal = path.with_name(path.name + "-wal")
    if wal.exists():
        shutil.copyfile(wal, old.with_name(old.name + "-wal"))
    # a second name costs no space; where the disk knows none, a copy does
    with suppress(FileExistsError):
        try:
            os.link(path, old)
        except PermissionError:
            shutil.copyfile(path, old)
    return old
