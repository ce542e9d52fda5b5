"""One request through the direct door, for the tests of it."""

from __future__ import annotations

import pytest
from judge_world import ask
from loopback import Answer, Loopback, always

from judgeaudit.core.records import Reply

MODEL = "direct:toy"
SOMEWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def asked(answer: Answer, **spec) -> Reply:
    with Loopback(always(answer)) as server:
        reply = ask(server, model=MODEL, **spec)
    assert server.n_requests == 1
    return reply


def failed(answer: Answer, kind, **spec):
    with Loopback(always(answer)) as server, pytest.raises(kind) as caught:
        ask(server, model=MODEL, **spec)
    assert server.n_requests == 1
    assert type(caught.value) is kind
    return caught.value
