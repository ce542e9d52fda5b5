"""Judges behind an OpenAI-compatible server, asked without a client library: the direct door.

For vLLM, llama.cpp, Ollama and gateways. It says and hears what the LiteLLM door does, for a
fraction of the work; providers with a protocol of their own are LiteLLM's. See
`docs/decisions/0304-the-direct-door.md`.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from typing import Any, Final
from urllib.parse import urlsplit

from judgeaudit.core.errors import ConfigError, JudgeError, PermanentError
from judgeaudit.core.records import JudgePrompt, JudgeSpec, Reply
from judgeaudit.judges._checks import check_decoding, check_server
from judgeaudit.judges._completion import NoCompletionError, load_json, read_completion
from judgeaudit.judges._door import ATTEMPT_SECONDS, NO_KEY, Door
from judgeaudit.judges._ending import Ending
from judgeaudit.judges._faults import gather
from judgeaudit.judges._formats import format_parameters
from judgeaudit.judges._http_faults import facts_of, has_error
from judgeaudit.judges._text import Scrubber, short, storable
from judgeaudit.judges._wire import Answer, UnreadableError, Wire
from judgeaudit.judges.base import JUDGES

__all__ = ["KEY_NAME", "DirectJudge"]

KEY_NAME: Final = "OPENAI_API_KEY"
"""The environment variable that holds the key; a server without keys gets a dummy."""

_CHAT: Final = "/chat/completions"
_LISTING_SECONDS: Final = 5.0
_NOT_A_COMPLETION: Final = "the server answered with a body that is no chat completion"


@JUDGES.register("direct")
class DirectJudge(Door):
    """A judge asked over plain HTTP.

    Parameters
    ----------
    spec : JudgeSpec
        `model` is the name that the server knows, `api_base` the server's root
        ("http://127.0.0.1:8000/v1"). `decoding` is sent as it stands.
    attempt_seconds : float
        Wall-clock limit of one request. It is not part of the judge's identity, and may be
        changed between calls.
    api_key : str, optional
        For callers that run the server themselves; never stored in the spec. By default
        `OPENAI_API_KEY` of the environment, else a dummy.

    Raises
    ------
    ConfigError
        No model or address, an address with a password, a decoding parameter that cannot be one.
    """

    key_name = KEY_NAME
    path = _CHAT

    def __init__(
        self,
        spec: JudgeSpec,
        *,
        attempt_seconds: float = ATTEMPT_SECONDS,
        api_key: str | None = None,
    ) -> None:
        check_decoding(spec)
        base = check_server(spec)
        super().__init__(spec)
        self.attempt_seconds = attempt_seconds
        key = _key(api_key, self.key_name)
        scrub = Scrubber(more=[api_key] if api_key else [])
        self._where = f"{spec.model} at {spec.api_base}"
        self._ending = Ending(spec.model, self._where, base, self.key_name, scrub)
        self._scrub = scrub.answer
        self._parameters = _parameters(spec)
        self._wire = Wire(base, key)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._where!r})"

    async def aclose(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._wire.aclose()

    def body(self, prompt: JudgePrompt, seed: int) -> dict[str, Any]:
        """Return what is sent for a prompt; also for who sends it another way."""
        return {
            **self._parameters,
            **({"seed": seed} if self._spec.sends_seed else {}),
            "messages": [{"role": m.role, "content": storable(m.content)} for m in prompt.messages],
        }

    async def _request(
        self, prompt: JudgePrompt, seed: int, more: dict[str, Any] | None = None
    ) -> Reply:
        payload = json.dumps(self.body(prompt, seed) | (more or {})).encode()
        started = time.perf_counter()
        # of the whole request, body included: a server that drips could hold a limit between bytes
        limit = asyncio.timeout(self.attempt_seconds)
        ended: JudgeError | Reply
        # raised outside of the handlers: a chained cause would carry headers, and so the key
        try:
            async with limit:
                answer = await self._wire.post(self.path, payload)
            ended = self.read(answer, time.perf_counter() - started)
        except UnreadableError as exc:
            ended = self._ending.unreadable(f"the server's answer cannot be read: {exc}")
        except Exception as exc:  # noqa: BLE001 - whatever a connection dies of is mapped
            if limit.expired():
                ended = self._ending.late(self.attempt_seconds)
            else:
                ended = self._ending.of(gather(exc), time.perf_counter() - started)
        if isinstance(ended, Reply):
            return ended
        raise await self._with_models(ended)

    def read(self, answer: Answer, seconds: float) -> JudgeError | Reply:
        """Return the reply that an answer is, or the error; also one that came another way."""
        if 300 <= answer.status < 400:
            return self._redirected(answer)
        if answer.status >= 400:
            return self._ending.of(facts_of(answer.status, answer.headers, answer.body), seconds)
        try:
            body = load_json(answer.body)
            if has_error(body):
                facts = facts_of(answer.status, answer.headers, answer.body)
                return self._ending.of(facts, seconds)
            return self._reply(body, seconds, answer.headers.get("x-request-id"))
        except NoCompletionError:
            return self._ending.unreadable(_NOT_A_COMPLETION)

    def _reply(self, body: Any, seconds: float, request_id: str | None) -> JudgeError | Reply:
        form = self._spec.output_format
        return read_completion(body, self._scrub, seconds, request_id, form=form)

    def _redirected(self, answer: Answer) -> PermanentError:
        try:
            to = urlsplit(answer.headers.get("location", ""))
            place = f"{to.scheme}://{to.hostname}{to.path}" if to.hostname else to.path
        except ValueError:
            place = ""
        said = short(self._ending.scrub.message(place), 200)
        return PermanentError(
            f"HTTP {answer.status}: the server sends requests on" + (f" to {said}" if said else ""),
            where=self._where,
            mend="Give the address where it answers itself as --api-base",
            status=answer.status,
            code="redirected",
        )

    async def _models(self) -> list[str]:
        try:
            async with asyncio.timeout(_LISTING_SECONDS):
                answer = await self._wire.get("/models")
            return [short(str(m["id"]), 80) for m in load_json(answer.body)["data"]]
        except Exception:  # noqa: BLE001 - a courtesy: whatever goes wrong, there is no list
            return []


def _key(given: str | None, name: str) -> str:
    key = given or os.environ.get(name, "").strip() or NO_KEY
    if not key.isascii() or not key.isprintable():
        raise ConfigError(
            f"the key in {name} holds characters that no header can carry",
            mend="Set it again, without line breaks",
        )
    return key


def _parameters(spec: JudgeSpec) -> dict[str, Any]:
    """Return what every request holds beside messages and seed."""
    asked = {**spec.decoding, **format_parameters(spec)}
    # the place for what OpenAI's own API does not know, as in other clients: it goes to the top
    beside = asked.pop("extra_body", None) or {}
    try:
        sent: dict[str, Any] = json.loads(json.dumps({**asked, **beside}, allow_nan=False))
    except (TypeError, ValueError) as exc:
        raise ConfigError(f"the decoding is no JSON: {exc}", where=spec.model) from None
    return sent | {"model": spec.model}
