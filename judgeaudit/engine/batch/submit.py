"""Sending batches: each step is in the manifest before it is made, so that none is made twice."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from typing import Final

from judgeaudit.core.errors import JudgeError, LedgerError, TransientError
from judgeaudit.engine.batch.manifest import Book, Entry
from judgeaudit.engine.batch.server import Batch, Server, UnlistedError
from judgeaudit.engine.limits import Limits, backoff

__all__ = ["submit"]

# a batch that was made may take a moment to be listed
_LOOKS: Final = (0.0, 1.0, 3.0)


def submit(
    book: Book, entry: Entry, server: Server, limits: Limits, note: Callable[[str], None]
) -> Entry:
    """Send a batch, or find out that it was sent; go on from wherever an earlier try ended.

    Raises
    ------
    JudgeError
        If the server fails or refuses; the manifest says how far it got.
    LedgerError
        If the file of requests is no longer what was written.
    """
    if entry.state in {"written", "uploading"}:
        entry = _upload(book, entry, server)
    if entry.state == "submitting":
        note(f"batch {entry.name}: an earlier try may have submitted it; looking for it")
        found = _find(entry, server)
        if found is not None:
            note(f"batch {entry.name}: the server has it as {found.id}")
            return _submitted(book, entry, found)
        entry = book.put(entry.model_copy(update={"state": "uploaded"}))
    if entry.state == "uploaded":
        entry = _submitted(book, *_create(book, entry, server, limits, note))
    return entry


def _upload(book: Book, entry: Entry, server: Server) -> Entry:
    path = book.file(entry)
    name = f"{entry.token}.jsonl"
    _check(book, entry)
    file_id = None
    if entry.state == "uploading":
        try:
            file_id = server.find_file(name)
        except UnlistedError:
            file_id = None  # a second copy of a file costs nothing
    else:
        entry = book.put(entry.model_copy(update={"state": "uploading"}))
    file_id = file_id or server.upload(path, name)
    return book.put(entry.model_copy(update={"state": "uploaded", "file_id": file_id}))


def _check(book: Book, entry: Entry) -> None:
    path = book.file(entry)
    digest = hashlib.sha256()
    try:
        with path.open("rb") as rows:
            while chunk := rows.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise LedgerError(
            f"the file of requests cannot be read ({error.strerror})", where=str(path)
        ) from None
    if digest.hexdigest() != entry.sha256:
        raise LedgerError(
            "the file of requests is no longer what was written",
            where=str(path),
            mend="judgeaudit batch cancel drops it; the calls can then be written again",
        )


def _create(
    book: Book, entry: Entry, server: Server, limits: Limits, note: Callable[[str], None]
) -> tuple[Entry, Batch]:
    """Submit; after a failure that may have come too late, look before trying again."""
    file_id = entry.file_id
    assert file_id is not None
    entry = book.put(entry.model_copy(update={"state": "submitting"}))
    for k in range(1, limits.attempts + 1):
        try:
            return entry, server.create(file_id, entry.token)
        except TransientError as error:
            found = _find(entry, server)
            if found is not None:
                note(
                    f"batch {entry.name}: the server failed ({error.what}), but has it as "
                    f"{found.id}"
                )
                return entry, found
            wait = backoff(limits, k, error.retry_after)
            if k == limits.attempts or wait > limits.longest_wait:
                raise
            note(f"batch {entry.name}: {error.what}; again in {wait:.0f} s")
        except Exception:
            # a clear refusal: nothing was made
            book.put(entry.model_copy(update={"state": "uploaded"}))
            raise
        time.sleep(wait)
    raise AssertionError  # the last try returns or raises


def _find(entry: Entry, server: Server) -> Batch | None:
    assert entry.file_id is not None
    for wait in _LOOKS:
        time.sleep(wait)
        try:
            found = server.find_batch(entry.token, entry.file_id)
        except UnlistedError:
            raise JudgeError(
                f"batch {entry.name} may have been submitted, and the server does not list its "
                "batches",
                mend="Look for it where the provider shows them, then tell what you found: "
                f"judgeaudit batch bind RUN {entry.name} ID, or without an ID that there is none",
            ) from None
        if found is not None:
            return found
    return None


def _submitted(book: Book, entry: Entry, batch: Batch) -> Entry:
    return book.put(
        entry.model_copy(
            update={"state": "submitted", "batch_id": batch.id, "status": batch.status}
        )
    )
