"""A server that is not there is told from one that is slow, and soon."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from judge_world import ask
from loopback import Loopback

from judgeaudit.core.errors import ConfigError, TransientError
from judgeaudit.core.records import JudgeSpec
from judgeaudit.judges import via_litellm
from judgeaudit.judges._reach import REACH_SECONDS, check_reachable


def spec(api_base: str | None) -> JudgeSpec:
    return JudgeSpec(backend="litellm", model="openai/x", api_base=api_base)


@contextlib.contextmanager
def listening(backlog: int) -> Iterator[str]:
    """Listen without ever accepting: the kernel alone makes connections, up to its backlog."""
    with socket.create_server(("127.0.0.1", 0), backlog=backlog) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"


@contextlib.contextmanager
def unroutable() -> Iterator[str]:
    """Give an address where a connection is neither made nor refused."""
    with listening(0) as address, contextlib.ExitStack() as held:
        port = int(address.rsplit(":", 1)[1].removesuffix("/v1"))
        for _ in range(8):
            one = held.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        yield address


def test_nobody_listens():
    with Loopback() as server:
        address = server.api_base
    with pytest.raises(ConfigError) as caught:
        check_reachable(spec(address))
    said = f"openai/x: no server answers at {address} (connection refused). Start the server"
    assert str(caught.value).startswith(said)


def test_a_name_that_is_not_known(monkeypatch):
    def look_up(*_args: object, **_options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    # no name server is asked from a test
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with pytest.raises(ConfigError, match="the name is not known"):
        check_reachable(spec("http://no-such-host.invalid/v1"))


@pytest.mark.parametrize("place", [lambda: listening(8), unroutable], ids=["silent", "unroutable"])
def test_an_address_that_says_nothing_is_given_up_at_the_deadline(place):
    with place() as address, pytest.raises(ConfigError, match=r"nothing answers within 0\.5 s"):
        check_reachable(spec(address), 0.5)


@pytest.mark.parametrize("behaviour", ["hang", "401", "500", "reset"])
def test_a_server_that_is_slow_or_refuses_is_there(behaviour):
    with Loopback(behaviour, key="secret") as server:
        check_reachable(spec(server.api_base))
        check_reachable(spec(f"{server.url}/no/such/path"))
    assert server.n_requests == 0


def test_a_provider_is_not_knocked_at():
    check_reachable(spec(None))


def test_a_connection_that_is_not_made_is_unreachable_and_not_slow(monkeypatch):
    assert REACH_SECONDS == 30
    monkeypatch.setattr(via_litellm, "REACH_SECONDS", 0.5)
    with unroutable() as address, pytest.raises(TransientError) as caught:
        ask(SimpleNamespace(api_base=address), seconds=60)
    assert caught.value.code == "unreachable"
