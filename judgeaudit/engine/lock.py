"""One writer a ledger: a lock that vanishes with its process, even at kill -9."""

from __future__ import annotations

import errno
import fcntl
import os
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from judgeaudit.core.errors import DiskError, LedgerError

__all__ = ["Promise", "RunLock", "full", "holder", "promised"]

_MOST: Final = 200


class Promise(NamedTuple):
    """What a run has committed; a ledger that holds less than that has lost something.

    Parameters
    ----------
    batches, answers : int
        Counts in the ledger.
    inode : int
        Of the file: one that took its place since promises nothing.
    """

    batches: int
    answers: int
    inode: int

    def line(self) -> str:
        """Return it as the second line of a lock."""
        return " ".join(map(str, self)) + "\n"


class RunLock:
    """An exclusive lock on `<ledger>.lock`.

    A side file, because closing any descriptor of the database itself would drop SQLite's own
    locks in this process. `flock`, because it also keeps a second opener in the same process out.

    The file also says how much was committed. It outlives a kill, as the -wal does: whoever takes
    the -wal for rubbish and removes it removes answers, and SQLite alone would not notice.

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
        self._ledger = ledger
        self._inode: int | None = None
        self._kept = _promise(_text(self._fd), ledger)
        self._write(f"{os.getpid()}\n{self._kept.line() if self._kept else ''}")
        _HELD.add(self)

    def _write(self, text: str) -> None:
        # words for others only: a full disk must not cost us the lock
        with suppress(OSError):
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, text.encode(), 0)

    def promise(self, batches: int, answers: int) -> None:
        """Write down what is committed by now."""
        # words for later: what is committed is committed, whether they can be written or not
        with suppress(OSError):
            if self._inode is None:
                self._inode = self._ledger.stat().st_ino
            line = Promise(batches, answers, self._inode).line()
            # never shorter than the last one, so nothing need be cut off first
            os.pwrite(self._fd, f"{os.getpid()}\n{line}".encode(), 0)

    def fulfilled(self) -> None:
        """Say that the ledger holds what an earlier run promised, or that the loss was told."""
        self._kept = None

    def _try(self, ledger: Path) -> int:
        try:
            fd = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            kind = DiskError if full(error) else LedgerError
            raise kind(
                f"the ledger cannot be written here ({error.strerror})",
                where=str(ledger),
                mend="Free some space and run the same command again"
                if full(error)
                else "Choose an output folder that you may write to",
            ) from error
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = _pid(fd)
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
        """Give the lock back and remove its file; harmless when called twice.

        A promise that the ledger does not keep stays, until its loss has been told.
        """
        if self._fd < 0:
            return
        if self._kept is None:
            self.path.unlink(missing_ok=True)
        else:
            self._write(f"\n{self._kept.line()}")
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
        return _pid(fd) or "unknown"
    finally:
        os.close(fd)
    return None


def promised(ledger: Path) -> Promise | None:
    """Return what the last run of a ledger had committed when it was killed; None: not known."""
    try:
        fd = os.open(ledger.with_name(ledger.name + ".lock"), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        return _promise(_text(fd), ledger)
    finally:
        os.close(fd)


def full(error: OSError) -> bool:
    """Say whether there was no room."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def _text(fd: int) -> str:
    return os.pread(fd, _MOST, 0).decode("ascii", "replace")


def _pid(fd: int) -> str:
    return _text(fd).partition("\n")[0].strip()


def _promise(text: str, ledger: Path) -> Promise | None:
    words = text.partition("\n")[2].split()
    if len(words) != len(Promise._fields) or not all(w.isascii() and w.isdigit() for w in words):
        return None
    found = Promise(*map(int, words))
    try:
        return found if ledger.stat().st_ino == found.inode else None
    except OSError:
        return None


_HELD: weakref.WeakSet[RunLock] = weakref.WeakSet()


def _forget_in_child() -> None:
    # a forked child would keep its parent's lock alive after the parent's death
    for lock in list(_HELD):
        lock._forget()  # noqa: SLF001


os.register_at_fork(after_in_child=_forget_in_child)
