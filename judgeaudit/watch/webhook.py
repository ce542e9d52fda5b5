"""A gate's result, posted once to an address that the user gives."""

from __future__ import annotations

import ipaddress
import json
import os
import threading
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from judgeaudit._version import __version__
from judgeaudit.core.errors import ConfigError
from judgeaudit.core.terminal import plain
from judgeaudit.watch.gating import GateResult

__all__ = ["FORMAT", "Target", "payload", "post", "target_of"]

FORMAT: Final = "judgeaudit.gate/1"
"""Name and version of the payload; keys are added within a version, never renamed or removed."""

SECONDS: Final = 10.0
"""What connecting, sending and the answer's first line may take, together."""


class Target:
    """Where to post, checked; its words never show a path, a query or a token.

    Parameters
    ----------
    url : str
        http or https.
    token : str, optional
        Sent as a bearer token.
    """

    __slots__ = ("_token", "_url")

    def __init__(self, url: str, token: str | None = None) -> None:
        self._url = url
        self._token = token

    def __repr__(self) -> str:
        parts = urlsplit(self._url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname}{port}"


def target_of(text: str, token_env: str | None = None) -> Target | None:
    """Read `--webhook`: an address, or `env:NAME` for one; None: it is a file.

    Parameters
    ----------
    text : str
        As typed.
    token_env : str, optional
        Name of the variable that holds the bearer token.

    Raises
    ------
    ConfigError
        If a variable is not set, the address cannot be used, or a token would travel in the open.
    """
    url = _variable(text.removeprefix("env:")) if text.startswith("env:") else text
    if "://" not in url:
        if text.startswith("env:"):
            raise ConfigError("holds no address", where=text, mend="Set it to https://…")
        if token_env is not None:
            raise ConfigError("--webhook-token-env goes with an address, not with a file")
        return None
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in {"http", "https"} or not host or not _typed(url):
        raise ConfigError("the webhook's address is no http(s)://host/… address", where="--webhook")
    if parts.username is not None:
        raise ConfigError(
            "the webhook's address holds a user name or password",
            where="--webhook",
            mend="Put the token into a variable, and name it with --webhook-token-env",
        )
    token = None if token_env is None else _variable(token_env)
    if token is not None and (not token.isascii() or not token.isprintable()):
        raise ConfigError(
            f"{token_env} holds what no header can carry", where="--webhook-token-env"
        )
    if token is not None and parts.scheme == "http" and not _loopback(host):
        raise ConfigError(
            "a token is not sent over http, where anybody on the way reads it",
            where="--webhook",
            mend="Use https",
        )
    return Target(url, token)


def _typed(url: str) -> bool:
    # a line end or a space would end in an error that shows the whole address
    return url.isascii() and url.isprintable() and " " not in url


def _variable(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise ConfigError(f"the environment variable {name!r} is not set", where="--webhook")
    return value


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def payload(found: GateResult) -> str:
    """Write the result as one JSON object, with the name and version of its form."""
    body: dict[str, Any] = {
        "format": FORMAT,
        "judgeaudit": __version__,
        "exit_code": found.exit_code,
        # for receivers that show one text and nothing else
        "text": f"judgeaudit gate: {found.outcome}: {found.sentence}",
        **found.model_dump(mode="json"),
    }
    return json.dumps(body, sort_keys=True) + "\n"


def post(target: Target, body: str, *, seconds: float = SECONDS) -> str | None:
    """Post once, follow no redirect, and return what went wrong; None: it was taken.

    Nothing is raised and nothing is asked again: a receiver's trouble decides no gate.
    """
    told: list[str | None] = []
    # a thread, for a server that sends a byte a second would never run into a socket's timeout
    worker = threading.Thread(
        target=lambda: told.append(_once(target, body, seconds)), name="webhook", daemon=True
    )
    worker.start()
    worker.join(seconds + 1)
    said = told[0] if told else f"no answer within {seconds:g} s"
    return None if said is None else plain(f"the webhook was not taken by {target!r}: {said}")


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_args: Any, **_more: Any) -> None:
        """Leave it: what was meant for one host goes to no other."""


def _once(target: Target, body: str, seconds: float) -> str | None:
    headers = {
        "Content-Type": "application/json",
        "User-Agent": f"judgeaudit/{__version__}",
        "X-Judgeaudit-Format": FORMAT,
    }
    if target._token is not None:  # noqa: SLF001 - kept from everybody else
        headers["Authorization"] = f"Bearer {target._token}"  # noqa: SLF001
    request = Request(target._url, data=body.encode(), headers=headers, method="POST")  # noqa: S310, SLF001 - checked by target_of
    try:
        with build_opener(_NoRedirects).open(request, timeout=seconds):
            return None
    except HTTPError as error:
        with error:
            redirects = ", a redirect, which is not followed" if 300 <= error.code < 400 else ""
            return f"HTTP {error.code}{redirects}"
    except TimeoutError:
        return f"no answer within {seconds:g} s"
    except URLError as error:
        slow = isinstance(error.reason, TimeoutError)
        return f"no answer within {seconds:g} s" if slow else str(error.reason)
    except (OSError, HTTPException, ValueError) as error:
        return f"{type(error).__name__}: {error}"
