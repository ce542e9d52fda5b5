"""One writer a ledger: a lock that vanishes with its process, even at kill -9."""

from __future__ import annotations

import errno
import fcntl
import os
import weakref
from contextlib import suppress
from pathlib import Path

from judgeaudit.core.errors import LedgerError

__all__ = ["RunLock", "holder"]


class RunLock:
    """An exclusive lock on `<ledger>.lock`.

    A side file, because closing any descriptor of the database itself would drop SQLite's own
    locks in this process. `flock`, because it also keeps a second opener in the same process out.

    Parameters
    ----------
    ledger : Path
        The file to guard.

    Raises
    ------
    LedgerError
        If another process holds it (its id is named), or the folder cannot be written.
    """

    def __init__(self, ledger: Path) -> None:
        self.path = ledger.with_name(ledger.name + ".lock")
        self._fd = -1
        while self._fd < 0:
            self._fd = self._try(ledger)
        # the process id is for messages only: a full disk must not cost us the lock
        with suppress(OSError):
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, f"{os.getpid()}\n".encode(), 0)
        _HELD.add(self)

    def _try(self, ledger: Path) -> int:
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise LedgerError(
                f"the ledger cannot be written here ({error.strerror})",
                where=str(ledger),
                mend="Choose an output folder that you may write to",
            ) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(fd, 32, 0).decode("ascii", "replace").strip()
            os.close(fd)
            if error.errno in {errno.EWOULDBLOCK, errno.EACCES}:
                raise LedgerError(
                    f"another run is writing this ledger (process {holder or 'unknown'})",
                    where=str(ledger),
                    mend="Wait for it or stop it, or choose another output folder",
                ) from error
            raise LedgerError(
                f"the ledger cannot be locked here ({error.strerror})",
                where=str(ledger),
                mend="Choose an output folder on a disk of this machine",
            ) from error
        # the last holder may have removed the file between our open and our lock
        try:
            if os.path.samestat(os.fstat(fd), self.path.stat()):
                return fd
        except FileNotFoundError:
            pass
        os.close(fd)
        return -1

    @property
    def released(self) -> bool:
        """Whether the lock was given back."""
        return self._fd < 0

    def release(self) -> None:
        """Give the lock back and remove its file; harmless when called twice."""
        if self._fd < 0:
            return
        self.path.unlink(missing_ok=True)
        self._forget()

    def _forget(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def holder(ledger: Path) -> str | None:
    """Return the process id of whoever writes a ledger now; None: nobody."""
    try:
        fd = os.open(ledger.with_name(ledger.name + ".lock"), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return os.pread(fd, 32, 0).decode("ascii", "replace").strip() or "unknown"
    finally:
        os.close(fd)
    return None


_HELD: weakref.WeakSet[RunLock] = weakref.WeakSet()


def _forget_in_child() -> None:
    # a forked child would keep its parent's lock alive after the parent's death
    for lock in list(_HELD):
        lock._forget()  # noqa: SLF001


os.register_at_fork(after_in_child=_forget_in_child)
