"""A history at an address: every night an object of its own, so that two writers lose nothing.

Nothing is ever changed or removed there. A reader takes all objects in the order of their names,
which begin with the time of adding, and checks each against the hash in its name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final, Literal
from uuid import uuid4

from judgeaudit.core.errors import ConfigError, JudgeAuditError, LedgerError

__all__ = ["Objects", "is_address"]

Kind = Literal["nights", "baselines"]

_LAYOUT: Final = "judgeaudit history 1"


def is_address(place: str) -> bool:
    """Say whether a store is an address such as s3://bucket/nights, not a folder.

    Examples
    --------
    >>> is_address("s3://bucket/nights"), is_address("nights"), is_address("file:///nights")
    (True, False, False)
    """
    scheme, found, _ = place.partition("://")
    return bool(found) and scheme != "file"


class Objects:
    """Objects below an address that fsspec knows.

    Parameters
    ----------
    address : str
        Such as `s3://bucket/nights`, `gs://…`, `memory://nights`.

    Raises
    ------
    ConfigError
        If the protocol is unknown, or its library is not installed.
    """

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise ConfigError(
                "a store at an address needs fsspec, which is not installed",
                where=address,
                mend="pip install fsspec, or give a folder",
            ) from error
        try:
            self._fs, self._root = url_to_fs(self.address)
        except ImportError as error:
            scheme = address.partition("://")[0]
            raise ConfigError(
                f"the library for {scheme}:// is not installed ({error})",
                where=address,
                mend="Install the library that it names, or give a folder",
            ) from error
        except ValueError as error:
            raise ConfigError(
                f"is no address that fsspec knows ({error})",
                where=address,
                mend="Give a folder, or an address such as s3://bucket/nights",
            ) from error

    def put(self, kind: Kind, name: str, payload: dict[str, Any]) -> None:
        """Write one object, whole or not at all; a name of its own keeps others' apart."""
        text = json.dumps({"layout": _LAYOUT, **payload}, sort_keys=True, ensure_ascii=False)
        data = text.encode("utf-8", "surrogatepass")
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        digest = hashlib.sha256(data).hexdigest()[:16]
        path = f"{self._root}/{kind}/{now}-{name}-{digest}.json"
        with self._told("written"):
            self._fs.makedirs(f"{self._root}/{kind}", exist_ok=True)
            # one request on object stores, which is whole or not there
            self._fs.pipe_file(path, data)

    def probe(self) -> None:
        """Show that objects can be written, by one that no reader looks at.

        Raises
        ------
        ConfigError, LedgerError
            If they cannot.
        """
        with self._told("written"):
            self._fs.makedirs(self._root, exist_ok=True)
            self._fs.pipe_file(f"{self._root}/writable.json", b"{}\n")

    def read(self, kind: Kind) -> Iterator[dict[str, Any]]:
        """Return all objects of a kind, the oldest first.

        Raises
        ------
        LedgerError
            If one is cut short, was changed, or is something else.
        """
        with self._told("read"):
            self._fs.invalidate_cache()
            try:
                listed = self._fs.ls(f"{self._root}/{kind}", detail=False)
            except FileNotFoundError:
                return
        names = sorted((str(p) for p in listed if str(p).endswith(".json")), key=_last)
        for path in names:
            with self._told("read"):
                data = bytes(self._fs.cat_file(path))
            where = f"{self.address}/{kind}/{_last(path)}"
            wanted = _last(path).removesuffix(".json").rpartition("-")[2]
            if hashlib.sha256(data).hexdigest()[:16] != wanted:
                raise LedgerError(
                    "is cut short, or was changed since it was written",
                    where=where,
                    mend="Remove it, and add its run again",
                )
            try:
                made = json.loads(data.decode("utf-8", "surrogatepass"))
                layout = made["layout"]
            except (ValueError, KeyError, TypeError) as error:
                raise LedgerError("is no object of a history", where=where) from error
            if layout != _LAYOUT:
                raise LedgerError(f"is of layout {layout!r}, not {_LAYOUT!r}", where=where)
            yield made

    def _told(self, what: str) -> _Told:
        return _Told(self.address, what)


def unique() -> str:
    """Return a name that no other writer takes."""
    return uuid4().hex[:16]


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


class _Told:
    """Says in one line what a store's own library raised."""

    def __init__(self, address: str, what: str) -> None:
        self._address = address
        self._what = what

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or isinstance(error, JudgeAuditError) or not isinstance(error, Exception):
            return
        if isinstance(error, NotImplementedError):
            raise ConfigError(
                "this address can be read only",
                where=self._address,
                mend="Give a folder, or an address that takes writes, such as s3://bucket/nights",
            ) from error
        if isinstance(error, FileNotFoundError) and self._what == "read":
            return
        raise LedgerError(
            f"cannot be {self._what} ({type(error).__name__}: {str(error)[:200] or 'no words'})",
            where=self._address,
            mend="Check the address, and the credentials that its library reads",
        ) from error
