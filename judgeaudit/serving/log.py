"""The ledger of a served judge: one line a request, each bound to the one before it.

An append-only JSONL file, written to the disk before the answer goes out. It holds hashes and
outcomes, never the text of a trajectory or of a policy.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import threading
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.clock import now_utc
from judgeaudit.core.errors import LedgerError
from judgeaudit.core.hashing import canonical_json, sha256_text

__all__ = ["RequestLog", "read_log"]

_START: Final = "0" * 64


class RequestLog:
    """A ledger of requests, open for writing by this process alone.

    Parameters
    ----------
    path : Path
        The file; its folder is made if need be. One that is there is continued.
    judge : str
        Hash of the hardened judge; written into the first line of each session.

    Raises
    ------
    LedgerError
        If another server writes it, it is damaged or no ledger (it is then left as it is), or it
        cannot be written.
    """

    def __init__(self, path: Path, judge: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        except OSError as e:
            raise LedgerError(
                f"the ledger cannot be written ({e.strerror})", where=str(path)
            ) from None
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._fd)
            raise LedgerError(
                "another server writes this ledger", where=str(path), mend="Name another --ledger"
            ) from None
        try:
            self._head = self._continue()
            self.append({"event": "start", "judge": judge})
        except BaseException:
            os.close(self._fd)
            raise

    def _continue(self) -> str:
        """Drop a line that a kill cut off, and return the hash of the last whole one."""
        if not stat.S_ISREG(os.fstat(self._fd).st_mode):
            raise _no_ledger(self.path)
        raw = self.path.read_bytes()
        if not raw:
            return _START
        whole = raw[: raw.rfind(b"\n") + 1]
        rows = _checked(whole, self.path)
        if not rows or rows[0].get("event") != "start" or "judge" not in rows[0]:
            raise _no_ledger(self.path)
        # only now: a file that is not known to be a ledger keeps every byte
        if len(whole) < len(raw):
            os.ftruncate(self._fd, len(whole))
        return str(rows[-1]["sha256"])

    def append(self, row: dict[str, Any]) -> None:
        """Write a row; it is on the disk when this returns.

        Raises
        ------
        LedgerError
            If it cannot be written; a part that was is taken back.
        """
        with self._lock:
            body = {"time": now_utc(), **row, "previous": self._head}
            digest = sha256_text(canonical_json(body))
            line = (canonical_json({**body, "sha256": digest}) + "\n").encode(
                "utf-8", "backslashreplace"
            )
            size = os.fstat(self._fd).st_size
            try:
                if os.write(self._fd, line) < len(line):
                    raise OSError("the disk took a part of it")  # noqa: TRY301
                os.fsync(self._fd)
            except OSError as e:
                os.ftruncate(self._fd, size)
                raise LedgerError(
                    f"the ledger cannot be written ({e.strerror or e})", where=str(self.path)
                ) from None
            self._head = digest

    def close(self) -> None:
        """Say that the server ended, and let go of the file."""
        try:
            self.append({"event": "end"})
        finally:
            os.close(self._fd)


def read_log(path: Path | str) -> list[dict[str, Any]]:
    """Read a ledger of requests, and check that no line was changed, dropped or put in.

    Raises
    ------
    LedgerError
        Naming the line.
    """
    try:
        raw = Path(path).read_bytes()
    except OSError as e:
        raise LedgerError(f"cannot be read ({e.strerror})", where=str(path)) from None
    return _checked(raw[: raw.rfind(b"\n") + 1], Path(path))


def _no_ledger(path: Path) -> LedgerError:
    return LedgerError(
        "this is no ledger of requests: its first line is not the one that a server writes",
        where=str(path),
        mend="Name another --ledger; this file was left as it is",
    )


def _checked(raw: bytes, path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    head = _START
    for n, line in enumerate(raw.split(b"\n")[:-1], 1):
        try:
            row = json.loads(line)
            told = row.pop("sha256")
            fine = row["previous"] == head and sha256_text(canonical_json(row)) == told
        except (ValueError, KeyError, TypeError, AttributeError):
            fine, told, row = False, "", {}
        if not fine and not rows:
            raise _no_ledger(path)
        if not fine:
            raise LedgerError(
                "this ledger is damaged: a line is not the one that was written",
                where=f"{path}, line {n}",
                mend="Keep it, and name another --ledger",
            )
        head = told
        rows.append({**row, "sha256": told})
    return rows
