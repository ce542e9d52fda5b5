"""The provider's side of batches: `/files` and `/batches` of any OpenAI-compatible server.

Looks, uploads and downloads are repeated where the failure may pass. To create a batch is not:
whether the first try did it must be looked up first, see `submit`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

from judgeaudit._version import __version__
from judgeaudit.core.errors import ConfigError, JudgeError, LedgerError, TransientError
from judgeaudit.engine.batch.codec import URL, Codec
from judgeaudit.engine.limits import Limits, backoff
from judgeaudit.judges._completion import NoCompletionError, load_json
from judgeaudit.judges._faults import gather
from judgeaudit.judges._http_faults import facts_of

if TYPE_CHECKING:
    import httpx

    from judgeaudit.judges._ending import Ending

__all__ = ["LABEL", "Batch", "Server", "UnlistedError"]

T = TypeVar("T")

LABEL: Final = "judgeaudit"
"""Key of a batch's metadata under which its token stands."""

_WINDOW: Final = "24h"
_PAGE: Final = 100
_MOST_PAGES: Final = 100
_ERROR_BODY: Final = 1 << 20
_OVER: Final = frozenset({"completed", "failed", "expired", "cancelled"})


class UnlistedError(Exception):
    """The server does not list what it holds."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What a server says of a batch; a field that it leaves out or garbles is None or 0."""

    id: str
    status: str
    token: str | None = None
    input_file: str | None = None
    output_file: str | None = None
    error_file: str | None = None
    total: int = 0
    done: int = 0
    expires: int | None = None
    errors: tuple[tuple[str | None, str], ...] = ()

    @property
    def over(self) -> bool:
        """Whether the server does nothing more about it."""
        return self.status in _OVER


class Server:
    """A client; use as a context manager.

    Parameters
    ----------
    codec : Codec
        Knows the address; keys come from the environment.
    limits : Limits
        Tries of a request, and the seconds that one may take (between bytes for files).
    note : callable
        Told of every failure that is tried again.

    Raises
    ------
    ConfigError
        If the key cannot be sent.
    """

    def __init__(self, codec: Codec, limits: Limits, note: Callable[[str], None]) -> None:
        import httpx

        self._httpx: Any = httpx
        self._ending: Ending = codec.ending()
        self._limits = limits
        self._note = note
        base = httpx.URL(codec.address)
        root = base.path.rstrip("/")
        self._root = base.copy_with(path=root, query=None)
        self._query = dict(base.params)
        self._client: httpx.Client = httpx.Client(
            headers={
                "Authorization": f"Bearer {codec.key()}",
                # what is not packed cannot unpack to gigabytes, and its length is known
                "Accept-Encoding": "identity",
                "User-Agent": f"judgeaudit/{__version__}",
            },
            timeout=limits.attempt_seconds,
            follow_redirects=False,
        )

    def __enter__(self) -> Self:
        """Return the client."""
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        """Close the connections."""
        self._client.close()

    def upload(self, path: Path, name: str) -> str:
        """Send a file of requests under a name; return the server's id of it."""

        def send() -> str:
            with path.open("rb") as rows:
                told = self._json(
                    "POST",
                    "/files",
                    data={"purpose": "batch"},
                    files={"file": (name, rows, "application/jsonl")},
                )
            return self._named(told, "/files")

        return self._patiently(send)

    def find_file(self, name: str) -> str | None:
        """Return the id of a file that was sent under a name.

        Raises
        ------
        UnlistedError
            If the server does not list files.
        """
        for told in self._listed("/files", {"purpose": "batch"}):
            if told.get("filename") == name and isinstance(told.get("id"), str):
                return str(told["id"])
        return None

    def create(self, file_id: str, token: str) -> Batch:
        """Make a batch of a file that was sent; one try."""
        asked = {
            "input_file_id": file_id,
            "endpoint": URL,
            "completion_window": _WINDOW,
            "metadata": {LABEL: token},
        }
        return self._batch(self._json("POST", "/batches", json=asked))

    def find_batch(self, token: str, file_id: str) -> Batch | None:
        """Return the batch that bears a token, or was made of a file.

        Raises
        ------
        UnlistedError
            If the server does not list batches.
        """
        for told in self._listed("/batches", {}):
            if isinstance(told.get("id"), str):
                found = self._batch(told)
                # a server that keeps no metadata knows the file: it was sent for this batch alone
                if found.token == token or found.input_file == file_id:
                    return found
        return None

    def look(self, batch_id: str) -> Batch:
        """Ask how far a batch is."""
        return self._patiently(lambda: self._batch(self._json("GET", f"/batches/{batch_id}")))

    def cancel(self, batch_id: str) -> Batch:
        """Ask the server to stop a batch; what is done by then can still be fetched."""
        return self._patiently(
            lambda: self._batch(self._json("POST", f"/batches/{batch_id}/cancel"))
        )

    def download(self, file_id: str, path: Path) -> None:
        """Fetch a file; what came of it lies at `path` also where it was cut short.

        Raises
        ------
        TransientError
            After the last try, if none brought the whole file.
        """
        side = path.with_name(path.name + ".part")

        def fetch() -> None:
            try:
                self._stream(f"/files/{file_id}/content", side)
            finally:
                if side.exists() and (
                    not path.exists() or side.stat().st_size >= path.stat().st_size
                ):
                    side.replace(path)

        path.unlink(missing_ok=True)
        try:
            self._patiently(fetch)
        finally:
            side.unlink(missing_ok=True)

    def _stream(self, where: str, side: Path) -> None:
        with (
            self._mapped(),
            self._client.stream("GET", self._url(where), params=self._query) as response,
        ):
            if response.status_code != 200:
                raise self._refused(where, response, self._head(response))
            try:
                with side.open("wb") as out:
                    for chunk in response.iter_bytes():
                        out.write(chunk)
            except OSError as error:
                raise LedgerError(
                    f"the results of a batch cannot be stored ({error.strerror or error})",
                    where=str(side),
                    mend="Free some space and run the same command again",
                ) from None

    @staticmethod
    def _head(response: httpx.Response) -> bytes:
        got = b""
        for chunk in response.iter_bytes():
            got += chunk
            if len(got) > _ERROR_BODY:
                break
        return got

    def _listed(self, where: str, query: dict[str, str]) -> Iterator[dict[str, Any]]:
        after: str | None = None
        for _ in range(_MOST_PAGES):
            more = {"after": after} if after else {}
            told = self._patiently(
                lambda more=more: self._json(  # type: ignore[misc]
                    "GET", where, params={**query, "limit": str(_PAGE), **more}, listing=True
                )
            )
            rows = told.get("data")
            if not isinstance(rows, list):
                raise UnlistedError
            found = [r for r in rows if isinstance(r, dict)]
            yield from found
            last = found[-1].get("id") if found else None
            if not told.get("has_more") or not isinstance(last, str) or last == after:
                return
            after = last

    def _url(self, where: str) -> Any:
        return self._root.copy_with(path=self._root.path.rstrip("/") + where)

    def _json(
        self,
        method: str,
        where: str,
        *,
        params: dict[str, str] | None = None,
        listing: bool = False,
        **sent: Any,
    ) -> dict[str, Any]:
        with self._mapped():
            response = self._client.request(
                method, self._url(where), params={**self._query, **(params or {})}, **sent
            )
        if listing and response.status_code in {404, 405, 501}:
            raise UnlistedError
        if not 200 <= response.status_code < 300:
            raise self._refused(where, response, response.content)
        try:
            told = load_json(response.content)
        except NoCompletionError:
            told = None
        if not isinstance(told, dict):
            raise self._ending.unreadable(f"the server's answer to {where} is no JSON object")
        return told

    @contextmanager
    def _mapped(self) -> Iterator[None]:
        ended = None
        # raised outside of the handler: a chained cause would carry headers, and so the key
        try:
            yield
        except self._httpx.HTTPError as error:
            ended = self._ending.of(gather(error), 0.0)
        if isinstance(ended, JudgeError):
            raise ended
        if ended is not None:
            raise self._ending.unreadable("the connection failed")

    def _refused(self, where: str, response: httpx.Response, body: bytes) -> Exception:
        status = response.status_code
        if 300 <= status < 400:
            return ConfigError(
                f"HTTP {status} to {where}: the server sends requests on",
                where=self._ending.address,
                mend="Give the address where it answers itself as --api-base",
            )
        ended = self._ending.of(facts_of(status, dict(response.headers), body), 0.0)
        if not isinstance(ended, JudgeError):
            return self._ending.unreadable(f"HTTP {status} to {where}")
        if status in {404, 405} and where in {"/files", "/batches"}:
            return ConfigError(
                f"this server has no {where} (HTTP {status}), so it makes no batches",
                where=self._ending.address,
                mend="Leave --batch out, or correct the address",
            )
        if status in {401, 403}:
            return ConfigError(ended.what, where=self._ending.address, mend=ended.mend)
        return ended

    def _named(self, told: dict[str, Any], where: str) -> str:
        if not isinstance(found := told.get("id"), str) or not found:
            raise self._ending.unreadable(f"the server's answer to {where} names no id")
        return found

    def _batch(self, told: dict[str, Any]) -> Batch:
        counts = told.get("request_counts")
        counted = counts if isinstance(counts, dict) else {}
        kept = told.get("metadata")
        listed = told.get("errors")
        rows = listed.get("data") if isinstance(listed, dict) else None
        return Batch(
            id=self._named(told, "/batches"),
            status=str(told.get("status")),
            token=_text(kept.get(LABEL)) if isinstance(kept, dict) else None,
            input_file=_text(told.get("input_file_id")),
            output_file=_text(told.get("output_file_id")),
            error_file=_text(told.get("error_file_id")),
            total=_whole(counted.get("total")),
            done=_whole(counted.get("completed")) + _whole(counted.get("failed")),
            expires=_whole(told.get("expires_at")) or None,
            errors=tuple(
                (_text(r.get("code")), self._ending.scrub.message(str(r.get("message") or "")))
                for r in (rows if isinstance(rows, list) else [])
                if isinstance(r, dict)
            ),
        )

    def _patiently(self, ask: Callable[[], T]) -> T:
        """Ask until it succeeds, the failure is one that stays, or the tries are used up."""
        for k in range(1, self._limits.attempts + 1):
            try:
                return ask()
            except TransientError as error:
                wait = backoff(self._limits, k, error.retry_after)
                if k == self._limits.attempts or wait > self._limits.longest_wait:
                    raise
                self._note(f"{error.what}; again in {wait:.0f} s")
            time.sleep(wait)
        raise AssertionError  # the last try returns or raises


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
