"""What people found when they looked at flips: notes beside a ledger, never in it.

One JSON line a mark, only ever added to; the last line on a cell counts. A mark names the sha256
of the prompt it was made on, so that it says nothing about another text.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from pydantic import ValidationError, field_validator

from judgeaudit.core.errors import DiskError, LedgerError
from judgeaudit.core.records import Record
from judgeaudit.engine.chain import plain_text
from judgeaudit.engine.lock import full

if TYPE_CHECKING:
    from judgeaudit.engine.view import LedgerView

__all__ = ["KINDS", "NOTE_LIMIT", "Mark", "add", "read", "summary", "triage_path"]

Kind = Literal["rewrite", "judge", "label"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""Who is wrong: the rewrite changed the meaning, the judge erred, or the label is not right."""

NOTE_LIMIT: Final = 4000
_MOST_BYTES: Final = 64_000_000


class Mark(Record):
    """One look at one cell.

    Parameters
    ----------
    time : str
        ISO 8601, UTC.
    item, condition, wording
        The cell.
    prompt_sha256 : str
        Of the prompt that was looked at.
    kind : {"rewrite", "judge", "label"}, optional
        Who is wrong; None: nobody said, or it was taken back.
    note : str
        Anything, at most `NOTE_LIMIT` characters.
    """

    time: str
    item: str
    condition: str
    wording: int = 0
    prompt_sha256: str
    kind: Kind | None = None
    note: str = ""

    @field_validator("note")
    @classmethod
    def _short(cls, note: str) -> str:
        # a constraint of the field itself refuses lone surrogates
        if len(note) > NOTE_LIMIT:
            raise ValueError(f"a note has at most {NOTE_LIMIT:,} characters")
        return note

    @property
    def cell(self) -> tuple[str, str, int]:
        """What the mark is about."""
        return self.item, self.condition, self.wording


def triage_path(ledger: Path) -> Path:
    """Return the file of marks that belongs to a ledger: `triage.jsonl` beside `ledger.sqlite`."""
    if ledger.name == "ledger.sqlite":
        return ledger.with_name("triage.jsonl")
    return ledger.with_name(f"{ledger.stem}.triage.jsonl")


def add(ledger: Path, mark: Mark) -> None:
    """Add a mark; on the disk when this returns, and whole or not there at all for every reader.

    Raises
    ------
    LedgerError
        If the file cannot be written.
    """
    path = triage_path(ledger)
    # ASCII escapes: lone surrogates and line separators stay inside their line
    line = json.dumps(mark.model_dump(mode="json"), sort_keys=True).encode("ascii") + b"\n"
    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            size = os.fstat(fd).st_size
            if size and os.pread(fd, 1, size - 1) != b"\n":
                line = b"\n" + line  # a write that was cut off must not swallow this one
            if os.write(fd, line) != len(line):
                raise OSError(28, os.strerror(28))
            os.fsync(fd)
        finally:
            os.close(fd)
    except OSError as error:
        raise (DiskError if full(error) else LedgerError)(
            f"the note cannot be kept ({error.strerror})",
            where=str(path),
            mend="Open a copy of the run in a folder that you may write to",
        ) from error


def read(ledger: Path) -> tuple[dict[tuple[str, str, int], Mark], int]:
    """Return the last mark on each cell, and how many lines could not be read."""
    marks: dict[tuple[str, str, int], Mark] = {}
    unreadable = 0
    for line in _text(ledger).split(b"\n"):
        if not line.strip():
            continue
        try:
            mark = Mark.model_validate(json.loads(line))
        except (ValueError, ValidationError, RecursionError):
            unreadable += 1
            continue
        marks[mark.cell] = mark
    return marks, unreadable


def _text(ledger: Path) -> bytes:
    with suppress(FileNotFoundError):
        try:
            with triage_path(ledger).open("rb") as file:
                return file.read(_MOST_BYTES)
        except PermissionError as error:
            raise LedgerError(
                f"the notes cannot be read ({error.strerror})", where=str(triage_path(ledger))
            ) from error
    return b""


def summary(view: LedgerView) -> dict[str, Any] | None:
    """Count the marks on a run's own prompts, for its card; None where nobody made any.

    Returns
    -------
    dict or None
        `rewrite`, `judge`, `label` (cells by last mark), `notes`, `stale` (marks on prompts that
        this run does not have), `unreadable` (lines), `sha256` of the file.
    """
    marks, unreadable = read(view.path)
    if not marks and not unreadable:
        return None
    found: dict[str, Any] = dict.fromkeys((*KINDS, "notes", "stale"), 0)
    prompts = {
        (plain_text(item), condition, wording): digest.hex()
        for item, condition, wording, digest in view.connection.execute(
            "SELECT i.key, o.condition, o.wording, e.prompt_sha256 FROM cells e "
            "JOIN items i ON i.id = e.item JOIN columns o ON o.id = e.col"
        )
    }
    for mark in marks.values():
        if prompts.get(mark.cell) != mark.prompt_sha256:
            found["stale"] += 1
            continue
        if mark.kind is not None:
            found[mark.kind] += 1
        found["notes"] += bool(mark.note.strip())
    digest = hashlib.sha256(_text(view.path)).hexdigest()
    return found | {"unreadable": unreadable, "sha256": digest}
