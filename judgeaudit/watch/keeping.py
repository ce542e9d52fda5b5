"""A store that is to be written: checked before anything is paid for."""

from __future__ import annotations

import tempfile

from judgeaudit.core.errors import ConfigError
from judgeaudit.watch.objects import Objects, is_address
from judgeaudit.watch.store import History

__all__ = ["lasting", "ready"]


def lasting(place: str) -> History:
    """Open a store for a command, which must outlive it.

    Raises
    ------
    ConfigError
        If it is kept in memory, and so ends with the command.
    """
    # fsspec chains protocols too: simplecache::memory://x
    if "memory://" in place:
        raise ConfigError(
            "is kept in memory, so it would end with this command",
            where=place,
            mend="Give a folder, or an address such as s3://bucket/nights",
        )
    return History(place)


def ready(place: str) -> History:
    """Open a store for a command, and show that it can be read and written.

    Raises
    ------
    ConfigError, LedgerError
        If it cannot; nothing was asked by then.
    """
    store = lasting(place)
    if is_address(place):
        objects = Objects(place)
        for kind in ("nights", "baselines"):
            # each object is checked as it is read
            for _ in objects.read(kind):
                pass
        objects.probe()
        return store
    try:
        store.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=store.folder):
            pass
    except OSError as error:
        raise ConfigError(
            f"no history can be kept there ({error.strerror or error})",
            where=place,
            mend="Give a folder that can be written",
        ) from error
    store.check()
    return store
