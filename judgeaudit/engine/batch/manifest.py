"""What is known of a run's batches: written before each step, so that a kill loses no knowledge.

A folder `batch/` in the run's folder holds `manifest.json`, and of each batch the file of requests
(`0001.jsonl`), the positions of its calls (`0001.calls.json`) and what came back
(`0001.output.jsonl`, `0001.errors.jsonl`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from pydantic import ValidationError

from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.core.records import Record
from judgeaudit.engine.estimate import Price

__all__ = [
    "BATCH_FOLDER",
    "Book",
    "Entry",
    "Manifest",
    "State",
    "refuse_calls_in_batches",
    "write_whole",
]

BATCH_FOLDER: Final = "batch"
_MANIFEST: Final = "manifest.json"

State = Literal["written", "uploading", "uploaded", "submitting", "submitted", "ended", "dropped"]
"""`uploading` and `submitting` say what was about to be done, and may have been. `ended`: all that
came back is in the ledger. `dropped`: never submitted, and never will be."""


class Entry(Record):
    """One batch.

    Parameters
    ----------
    name : str
        "0001"; begins the names of its files.
    token : str
        Names the batch on the server, in its metadata and in the name of the file sent.
    n, size, sha256
        Requests, bytes and hash of the file of requests.
    state : State
        How far it is.
    file_id, batch_id, status : str, optional
        What the server calls it, and said of it last.
    most_usd, most_tokens
        What it may cost at most, for budgets.
    lapsed : tuple of int
        Positions of calls that the server did not make (expired, cancelled).
    """

    name: str
    token: str
    n: int
    size: int
    sha256: str
    state: State = "written"
    file_id: str | None = None
    batch_id: str | None = None
    status: str | None = None
    most_usd: float = 0.0
    most_tokens: int = 0
    lapsed: tuple[int, ...] = ()

    @property
    def over(self) -> bool:
        """Whether nothing more can come of it."""
        return self.state in {"ended", "dropped"}

    @property
    def sent(self) -> bool:
        """Whether the server has it, or may have it."""
        return self.state in {"submitting", "submitted"}


class Manifest(Record):
    """All batches of a run.

    Parameters
    ----------
    plan_sha256, judge_sha256 : str
        What the batches are of.
    address : str
        Root of the server.
    prompt_price, completion_price : float, optional
        US dollars a token in a batch; None: not known.
    """

    format: Literal[1] = 1
    plan_sha256: str
    judge_sha256: str
    address: str
    prompt_price: float | None = None
    completion_price: float | None = None
    entries: tuple[Entry, ...] = ()

    @property
    def price(self) -> Price | None:
        """What a token costs in these batches."""
        if self.prompt_price is None or self.completion_price is None:
            return None
        return Price(self.prompt_price, self.completion_price)


class Book:
    """A manifest and its folder; every change is on the disk when the call returns.

    Whoever changes it holds the lock of the run's ledger.

    Parameters
    ----------
    folder : Path
        Of the run.
    manifest : Manifest
        As it stands.
    """

    def __init__(self, folder: Path, manifest: Manifest) -> None:
        self.folder = folder / BATCH_FOLDER
        self.manifest = manifest

    @classmethod
    def read(cls, run: Path) -> Book:
        """Read the manifest of a run.

        Raises
        ------
        ConfigError
            If the run has none.
        LedgerError
            If it cannot be read.
        """
        path = run / BATCH_FOLDER / _MANIFEST
        try:
            return cls(run, Manifest.model_validate_json(path.read_bytes()))
        except FileNotFoundError:
            raise ConfigError(
                "this run has no batches",
                where=str(run),
                mend="judgeaudit batch write makes them, or judgeaudit audit --batch",
            ) from None
        except (OSError, ValidationError) as error:
            raise LedgerError(
                f"the manifest of the batches cannot be read ({_first(error)})", where=str(path)
            ) from None

    @classmethod
    def begin(cls, run: Path, fresh: Manifest) -> Book:
        """Return the book of a run, new or as it is.

        Raises
        ------
        LedgerError
            If the one that is there is of another plan, judge or address.
        """
        if not (run / BATCH_FOLDER / _MANIFEST).exists():
            return cls(run, fresh)
        book = cls.read(run)
        for name in ("plan_sha256", "judge_sha256", "address"):
            had, has = getattr(book.manifest, name), getattr(fresh, name)
            if had != has:
                raise LedgerError(
                    f"the batches here are of another run: {name} {had!r} → {has!r}",
                    where=str(book.folder),
                    mend="Choose another output folder",
                )
        prices = {k: getattr(fresh, k) for k in ("prompt_price", "completion_price")}
        book.manifest = book.manifest.model_copy(update=prices)
        return book

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All batches, in the order in which they were written."""
        return self.manifest.entries

    def put(self, entry: Entry) -> Entry:
        """Add a batch, or put it in the place of the one of its name; saved on return."""
        entries = [entry if e.name == entry.name else e for e in self.entries]
        if entry not in entries:
            entries.append(entry)
        self.manifest = self.manifest.model_copy(update={"entries": tuple(entries)})
        write_whole(
            self.folder / _MANIFEST, [self.manifest.model_dump_json(indent=1).encode() + b"\n"]
        )
        return entry

    def file(self, entry: Entry, kind: Literal["", "output", "errors"] = "") -> Path:
        """Return the path of one of a batch's files of rows."""
        return self.folder / f"{entry.name}{'.' if kind else ''}{kind}.jsonl"

    def positions(self, entry: Entry) -> list[int]:
        """Return the positions of a batch's calls, in the order of its file.

        Raises
        ------
        LedgerError
            If they cannot be read.
        """
        path = self.folder / f"{entry.name}.calls.json"
        try:
            found = json.loads(path.read_bytes())
            return [int(p) for p in found]
        except (OSError, ValueError, TypeError) as error:
            raise LedgerError(
                f"the list of the batch's calls cannot be read ({_first(error)})", where=str(path)
            ) from None

    def forget(self) -> None:
        """Remove everything; for batches of which none was ever sent."""
        for path in sorted(self.folder.glob("*")):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def write_whole(path: Path, chunks: Iterable[bytes]) -> None:
    """Write a file so that it is there complete, or not at all, also after a power cut.

    Raises
    ------
    LedgerError
        If it cannot be written.
    """
    side = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with side.open("wb") as out:
            for chunk in chunks:
                out.write(chunk)
            out.flush()
            os.fsync(out.fileno())
        side.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise LedgerError(
            f"a file of the batches cannot be written ({error.strerror or error})",
            where=str(path),
            mend="Free some space, or choose another output folder, and run the same command again",
        ) from None


def refuse_calls_in_batches(run: Path) -> None:
    """Refuse to ask calls one by one that a provider has in batches: both would be paid.

    Raises
    ------
    ConfigError
        Saying how many, and what to do about it.
    """
    if not (run / BATCH_FOLDER / _MANIFEST).exists():
        return
    sent = [e for e in Book.read(run).entries if e.sent]
    if sent:
        raise ConfigError(
            f"{sum(e.n for e in sent)} calls of this run are with the provider, in batches "
            f"({', '.join(e.name for e in sent)})",
            where=str(run),
            mend=f"Add --batch to go on with them; or judgeaudit batch cancel {run}, then "
            f"judgeaudit batch ingest {run}",
        )


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        told = error.errors()[0]
        return f"{'.'.join(map(str, told['loc']))}: {told['msg']}"
    return str(error)
