"""What LiteLLM does after a call for those who listen: nothing where nobody does."""

from __future__ import annotations

import asyncio
import importlib

import pytest
from judge_world import PROMPT, call, spec_of
from loopback import Loopback, always, error, says

from judgeaudit.core.errors import TransientError
from judgeaudit.core.records import Reply
from judgeaudit.judges._litellm import _LISTENERS, litellm_library, unlogged
from judgeaudit.judges.via_litellm import LiteLLMJudge


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def payloads(monkeypatch):
    """Count the payloads that LiteLLM makes for its callbacks."""
    litellm_library()
    module = importlib.import_module("litellm.litellm_core_utils.litellm_logging")
    made, make = [], module.get_standard_logging_object_payload

    def counted(*args, **kwargs):
        made.append(1)
        return make(*args, **kwargs)

    monkeypatch.setattr(module, "get_standard_logging_object_payload", counted)
    return made


@pytest.fixture(autouse=True)
def _nobody_listens(monkeypatch):
    for name in _LISTENERS:
        monkeypatch.setattr(litellm_library(), name, [])


def own_call() -> bool:
    return importlib.import_module("litellm._internal_context").is_internal_call.get()


async def ask_and_let_listeners_work(server, wanted=lambda: True) -> Reply | TransientError:
    judge = LiteLLMJudge(spec_of(server))
    try:
        answer = await judge.ask(PROMPT, call())
    except TransientError as failed:
        answer = failed
    finally:
        await judge.aclose()
    assert not own_call()
    for _ in range(200):
        if wanted():
            break
        await asyncio.sleep(0.02)
    return answer


@pytest.mark.parametrize("left", [[], ["cache"]])
def test_no_payload_is_made_where_nobody_listens(left, payloads, monkeypatch):
    # what stays of a cache that a program had once hears nothing either: caches are off here
    monkeypatch.setattr(litellm_library(), "success_callback", left)
    with Loopback(says("SAFE")) as server:
        reply = asyncio.run(ask_and_let_listeners_work(server))
    assert (reply.text, reply.prompt_tokens is not None, payloads) == ("SAFE", True, [])


def test_a_listener_of_the_program_hears_of_answers_and_of_failures(payloads, monkeypatch):
    litellm = litellm_library()
    logger = importlib.import_module("litellm.integrations.custom_logger").CustomLogger
    heard = []

    class Listener(logger):
        async def async_log_success_event(self, **told):
            heard.append(("answered", told["response_obj"].choices[0].message.content))

        async def async_log_failure_event(self, **told):
            heard.append(("failed", type(told["kwargs"]["exception"]).__name__))

    monkeypatch.setattr(litellm, "callbacks", [Listener()])
    with Loopback(says("SAFE")) as server:
        asyncio.run(ask_and_let_listeners_work(server, lambda: heard))
        server.behaviour = always(error(503, "busy", "busy"))
        failed = asyncio.run(ask_and_let_listeners_work(server, lambda: len(heard) > 1))
    assert isinstance(failed, TransientError)
    assert heard[0] == ("answered", "SAFE")
    assert heard[1][0] == "failed"
    assert payloads


def test_the_state_of_other_calls_is_put_back_whatever_happens():
    litellm = litellm_library()
    with unlogged(litellm):
        assert own_call()
        with unlogged(litellm):
            assert own_call()
        assert own_call()
    assert not own_call()
    with pytest.raises(KeyError), unlogged(litellm):
        raise KeyError
    assert not own_call()
