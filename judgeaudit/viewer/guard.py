"""Who may ask: this machine, this page, with the token that was printed in the terminal."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Final

__all__ = ["HEADERS", "Guard"]

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
}
"""Sent with every answer: no script but ours, no place but this server, no frame around it."""


class Guard:
    """Decides on a request by its headers.

    Parameters
    ----------
    port : int
        Where the server listens on 127.0.0.1.
    """

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self.write_token = secrets.token_urlsafe(32)
        # cookies do not know ports: two explorers on one machine must not share one
        self.cookie = f"judgeaudit_{port}"
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._origins = {f"http://{host}" for host in self._hosts}

    def wrong_place(self, headers: Mapping[str, str]) -> str | None:
        """Say what is wrong with where a request comes from or believes to go; None: nothing.

        A foreign name in `Host` is a page that had its own name point to this machine.
        """
        if headers.get("Host", "") not in self._hosts:
            return "this server answers to 127.0.0.1 only"
        origin = headers.get("Origin")
        if origin is not None and origin not in self._origins:
            return "another page may not ask here"
        return None

    def knows(self, headers: Mapping[str, str], query: Mapping[str, str]) -> bool:
        """Say whether a request carries the token: in its cookie, its header or its address."""
        given = [query.get("token", "")]
        scheme, _, bearer = headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            given.append(bearer.strip())
        try:
            cookie = SimpleCookie(headers.get("Cookie", ""))
        except CookieError:
            cookie = SimpleCookie()
        if self.cookie in cookie:
            given.append(cookie[self.cookie].value)
        return any(_same(g, self.token) for g in given if g)

    def may_write(self, headers: Mapping[str, str]) -> bool:
        """Say whether a request may add a note: a cookie alone, which any page can send, may not.

        The page reads the token for writing from this server's answers, which no other page can.
        """
        scheme, _, bearer = headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _same(bearer.strip(), self.token):
            return True
        return _same(headers.get("X-Judgeaudit-Write", ""), self.write_token) and (
            headers.get("Origin") in self._origins
        )

    def cookie_line(self) -> str:
        """Return the value of `Set-Cookie`."""
        return f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogateescape"), wanted.encode())
