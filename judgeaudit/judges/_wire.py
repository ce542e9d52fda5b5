"""HTTP without a client library's opinions: one request, its whole answer, nothing kept of it.

The only module that knows `aiohttp`. It never asks twice, follows no redirect, keeps no cookie, and
reads no password file; proxies are those of the environment.
"""

from __future__ import annotations

import asyncio
import functools
import ipaddress
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit, urlunsplit

from judgeaudit._version import __version__

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

__all__ = ["LARGEST", "Answer", "UnreadableError", "Wire"]

LARGEST: Final = 16 << 20
"""Most bytes of an answer; more of it is not read."""

# shorter than the 5 s after which common servers (uvicorn) drop an idle connection: to send on one
# that is being dropped is a failure that says nothing of the server
_IDLE: Final = 4.0


class UnreadableError(Exception):
    """What came back is no HTTP, or has no end."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server sent; names of headers in any case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Wire:
    """Connections to one server, of each event loop that uses them.

    Parameters
    ----------
    api_base : str
        Root of the server; a query in it is sent with every request.
    key : str
        Goes out as a bearer token.
    """

    def __init__(self, api_base: str, key: str) -> None:
        _aiohttp()  # here, and not on the clock of the first answer
        parts = urlsplit(api_base)
        root = parts._replace(path=parts.path.rstrip("/"), query="", fragment="")
        self._root = urlunsplit(root)
        self._query = f"?{parts.query}" if parts.query else ""
        self._proxy = _proxy(parts.scheme, parts.hostname or "")
        self._headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            # answers are short, and a body that is not packed cannot unpack to gigabytes
            "Accept-Encoding": "identity",
            "User-Agent": f"judgeaudit/{__version__}",
        }
        self._sessions: dict[asyncio.AbstractEventLoop, ClientSession] = {}

    def __repr__(self) -> str:
        return f"Wire({self._root!r})"

    async def post(self, path: str, body: bytes) -> Answer:
        """Send a body; return the answer, whatever its status.

        Raises
        ------
        UnreadableError
            The answer is no HTTP, or larger than `LARGEST`.
        aiohttp.ClientError, OSError
            The connection failed.
        """
        return await self._send("POST", path, body)

    async def get(self, path: str) -> Answer:
        """Ask for a page; as `post`."""
        return await self._send("GET", path, None)

    async def aclose(self) -> None:
        """Close the connections of this event loop, and those of loops that are gone."""
        here = asyncio.get_running_loop()
        for loop in [x for x in self._sessions if x is here or x.is_closed()]:
            await self._sessions.pop(loop).close()

    async def _send(self, method: str, path: str, body: bytes | None) -> Answer:
        sent = self._session().request(
            method,
            f"{self._root}{path}{self._query}",
            data=body,
            proxy=self._proxy,
            allow_redirects=False,
        )
        try:
            async with sent as response:
                return Answer(response.status, response.headers, await _whole(response))
        except _aiohttp().ClientResponseError:
            # nothing of it is passed on: it holds the request, and so the key
            raise UnreadableError("it is no HTTP") from None

    def _session(self) -> ClientSession:
        loop = asyncio.get_running_loop()
        session = self._sessions.get(loop)
        if session is None:
            aiohttp = _aiohttp()
            session = self._sessions[loop] = aiohttp.ClientSession(
                # how many calls are in flight, and for how long, is decided elsewhere
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=_IDLE),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=self._headers,
            )
        return session


@functools.cache
def _aiohttp() -> Any:
    import aiohttp

    return aiohttp


async def _whole(response: ClientResponse) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.content.iter_any():
        size += len(part)
        if size > LARGEST:
            raise UnreadableError(f"more than {LARGEST >> 20} MB")
        parts.append(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _proxy(scheme: str, host: str) -> str | None:
    """Return the proxy that the environment names for a host; none for this machine."""
    try:
        own = ipaddress.ip_address(host).is_loopback
    except ValueError:
        own = host == "localhost"
    if own or urllib.request.proxy_bypass(host):
        return None
    named = urllib.request.getproxies()
    return named.get(scheme) or named.get("all")
