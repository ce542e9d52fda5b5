"""Judges behind any provider or OpenAI-compatible server that LiteLLM can reach: its one door.

What LiteLLM does on its own is switched off: retries, its cache, dropping parameters, the price
list fetched at import, `.env` files. Keys come from the environment and nowhere else.
"""

from __future__ import annotations

import asyncio
import copy
import json
import os
import time
import weakref
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, JudgeError, PermanentError, TransientError
from judgeaudit.core.records import Call, JudgePrompt, JudgeSpec, Message, Reply
from judgeaudit.judges._checks import check_address, check_decoding, check_endpoint
from judgeaudit.judges._ending import Ending
from judgeaudit.judges._faults import gather
from judgeaudit.judges._formats import format_parameters
from judgeaudit.judges._litellm import litellm_library, price
from judgeaudit.judges._logprobs import verdict_probability
from judgeaudit.judges._text import Scrubber, is_secret_name, short, storable
from judgeaudit.judges.base import JUDGES

__all__ = ["ATTEMPT_SECONDS", "LiteLLMJudge", "price"]

ATTEMPT_SECONDS: Final = 600.0
"""Default limit of one request, in seconds of wall-clock time."""

# what a server without keys gets: the client library insists on one
_NO_KEY: Final = "no-key"
_LISTED: Final = 8
_OPEN: weakref.WeakSet[LiteLLMJudge] = weakref.WeakSet()


@JUDGES.register("litellm")
class LiteLLMJudge:
    """A judge asked through LiteLLM.

    Parameters
    ----------
    spec : JudgeSpec
        `model` is a LiteLLM model string ("openai/gpt-5.4-mini", or "openai/<name>" with
        `api_base` for an OpenAI-compatible server). `decoding` is sent as it stands.
    attempt_seconds : float
        Wall-clock limit of one request. It is not part of the judge's identity, and may be
        changed between calls.
    api_key : str, optional
        For callers that run the server themselves; never stored in the spec. By default the
        provider's environment variable holds the key, also for a server at `api_base`, which
        gets a dummy where the variable is not set.

    Raises
    ------
    ConfigError
        Unknown provider, missing key, an endpoint set in the environment but not in the spec, an
        address with a password, a decoding parameter that cannot be one.
    """

    def __init__(
        self,
        spec: JudgeSpec,
        *,
        attempt_seconds: float = ATTEMPT_SECONDS,
        api_key: str | None = None,
    ) -> None:
        check_decoding(spec)
        check_address(spec)
        self._spec = spec
        self.attempt_seconds = attempt_seconds
        provider = _provider(spec)
        self._key_name, key = _find_key(spec, provider, api_key)
        check_endpoint(spec, provider)
        self._listed = False
        self._scrub = Scrubber(more=[api_key] if api_key else [])
        self._rate = price(spec.model, spec.api_base)
        self._parameters: dict[str, Any] = {
            **spec.decoding,
            **format_parameters(spec),
            "model": spec.model,
            "max_retries": 0,
            "num_retries": 0,
            "drop_params": False,
            "caching": False,
        }
        if spec.api_base:
            self._parameters["api_base"] = spec.api_base
        if key is not None:
            self._parameters["api_key"] = key

    def __repr__(self) -> str:
        return f"LiteLLMJudge({self._where()!r})"

    @property
    def spec(self) -> JudgeSpec:
        """Identity of the judge."""
        return self._spec

    def _where(self) -> str:
        base = self._spec.api_base
        return f"{self._spec.model} at {base}" if base else self._spec.model

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        """Make one request; see `Judge.ask`.

        Raises
        ------
        TransientError
            Codes of its own: "timeout", "unreachable", "connection", "unreadable_body".
        PermanentError
            Codes of its own: "unsupported_parameter", "context_length_exceeded", "missing_key".
        QuotaExhaustedError
            The account has no credit left.
        """
        return await self._request(prompt, call.seed)

    async def ask_longer(self, prompt: JudgePrompt, call: Call, max_tokens: int) -> Reply:
        """Make one request with another cap on the answer's tokens; see `RoomyJudge`."""
        named = "max_completion_tokens" in self._spec.decoding
        cap = {"max_completion_tokens" if named else "max_tokens": max_tokens}
        return await self._request(prompt, call.seed, cap)

    async def probe(self) -> Reply:
        """Make one request that shows that server, key, model and parameters are accepted.

        Raises
        ------
        ConfigError
            Nothing answers at the address, the key or the model is not accepted, or a parameter
            is refused; says what would mend it.
        TransientError
            The server is there, but busy or failing.
        QuotaExhaustedError
            The account has no credit left.
        """
        hello = Message(role="user", content="Answer with one word: SAFE")
        try:
            return await self._request(JudgePrompt(messages=(hello,)), 0)
        except (PermanentError, TransientError) as exc:
            if isinstance(exc, TransientError) and exc.code != "unreachable":
                raise
            raise ConfigError(exc.what, where=exc.where, mend=exc.mend) from None

    async def aclose(self) -> None:
        """Close connections; LiteLLM shares them, so the last open judge closes them for all."""
        if self not in _OPEN:
            return
        _OPEN.discard(self)
        if not _OPEN:
            litellm = litellm_library()
            await litellm.close_litellm_async_clients()
            # a closed client left in the cache would be handed to the next judge
            litellm.in_memory_llm_clients_cache.flush_cache()

    async def _request(
        self, prompt: JudgePrompt, seed: int, more: dict[str, Any] | None = None
    ) -> Reply:
        litellm = litellm_library()
        _OPEN.add(self)
        seeded = {"seed": seed} if self._spec.sends_seed else {}
        messages = [{"role": m.role, "content": storable(m.content)} for m in prompt.messages]
        started = time.perf_counter()
        # the library's own limit counts from byte to byte, so a dripping body outlives it
        limit = asyncio.timeout(self.attempt_seconds)
        # raised outside of the handler: a chained cause would carry headers, and so the key
        try:
            async with limit:
                answer = await litellm.acompletion(
                    messages=messages,
                    timeout=self.attempt_seconds + 5,
                    **seeded,
                    **copy.deepcopy(self._parameters | (more or {})),
                )
            return self._read(answer, time.perf_counter() - started)
        except Exception as exc:  # noqa: BLE001 - LiteLLM raises what it likes; all is mapped
            seconds = time.perf_counter() - started
            ended = self._late() if limit.expired() else self._failed(exc, seconds)
        if isinstance(ended, Reply):
            return ended
        if ended.status == 404 and (known := await self._listed_models()):
            ended.mend = f"{ended.mend}. {known}"
        raise ended

    def _late(self) -> TransientError:
        return TransientError(
            f"no answer within {self.attempt_seconds:g} s", where=self._where(), code="timeout"
        )

    def _failed(self, exc: Exception, seconds: float) -> JudgeError | Reply:
        address = self._spec.api_base or "the provider's address"
        ending = Ending(self._spec.model, self._where(), address, self._key_name, self._scrub)
        return ending.of(gather(exc), seconds)

    def _read(self, answer: Any, seconds: float) -> Reply:
        choices = getattr(answer, "choices", None) or [None]
        message = getattr(choices[0], "message", None)
        usage = getattr(answer, "usage", None)
        # LiteLLM writes 0 where the server counted nothing; no prompt is empty
        counted = bool(_whole(usage, "prompt_tokens"))
        return Reply(
            text=self._text(message, "content"),
            finish_reason=self._text(choices[0], "finish_reason"),
            refusal=self._text(message, "refusal"),
            reasoning=self._text(message, "reasoning_content"),
            served_model=self._text(answer, "model"),
            system_fingerprint=self._text(answer, "system_fingerprint"),
            request_id=_request_id(answer),
            prompt_tokens=_whole(usage, "prompt_tokens") if counted else None,
            completion_tokens=_whole(usage, "completion_tokens") if counted else None,
            seconds=seconds,
            cost=self._cost(answer, usage) if counted else None,
            **verdict_probability(choices[0]),
        )

    def _text(self, thing: Any, name: str) -> str | None:
        text = _string(thing, name)
        return None if text is None else self._scrub.answer(text)

    def _cost(self, answer: Any, usage: Any) -> float | None:
        if self._rate is None:
            return None
        told = (getattr(answer, "_hidden_params", None) or {}).get("response_cost")
        if isinstance(told, float) and told > 0:
            return told
        tokens = _whole(usage, "prompt_tokens") or 0, _whole(usage, "completion_tokens") or 0
        return tokens[0] * self._rate[0] + tokens[1] * self._rate[1]

    async def _listed_models(self) -> str:
        """Say, once, which models a server of one's own lists; nothing where it does not say."""
        if not self._spec.api_base or self._listed:
            return ""
        self._listed = True
        key = self._parameters.get("api_key") or os.environ.get(self._key_name or "", _NO_KEY)
        names = await asyncio.to_thread(_models_at, self._spec.api_base, key)
        more = ", …" if len(names) > _LISTED else ""
        return f"The server lists {', '.join(names[:_LISTED])}{more}" if names else ""


def _provider(spec: JudgeSpec) -> str:
    litellm = litellm_library()
    try:
        return str(litellm.get_llm_provider(spec.model)[1])
    except litellm.BadRequestError:
        raise ConfigError(
            f"LiteLLM knows no provider for the model {spec.model!r}",
            mend="Write provider/model, such as openai/gpt-5.4-mini; for a server of your own "
            f"openai/{spec.model or '<name>'} with its address as --api-base",
        ) from None


def _find_key(spec: JudgeSpec, provider: str, given: str | None) -> tuple[str | None, str | None]:
    """Return the variable that holds the key, and the key to hand over where it holds none.

    Only providers with a plain API key are checked: others may log in by a role or a cloud
    session, which the first call finds out.
    """
    usual = f"{provider.upper()}_API_KEY"
    names = litellm_library().validate_environment(spec.model)["missing_keys"]
    names = names or ([usual] if usual in os.environ else [])
    if not names or not all(n.endswith("_API_KEY") for n in names):
        return None, given
    named = " or ".join(names)
    # LiteLLM reads spellings that its own check does not know: TOGETHER_API_KEY, PERPLEXITY_...
    stem = names[0].removesuffix("_API_KEY")[:8]
    held = (
        k for k, v in os.environ.items() if k.startswith(stem) and is_secret_name(k) and v.strip()
    )
    if given or any(held):
        return named, given
    if spec.api_base:
        return named, _NO_KEY
    raise ConfigError(
        f"no key for {spec.model}",
        mend=f"Set {named}, or give the address of a server of your own with --api-base",
    )


def _models_at(api_base: str, key: str) -> list[str]:
    import urllib.request

    request = urllib.request.Request(  # noqa: S310 - the address was checked to be http or https
        f"{api_base.rstrip('/')}/models", headers={"Authorization": f"Bearer {key}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:  # noqa: S310
            listed = json.loads(answer.read(1_000_000))["data"]
        return [short(str(m["id"]), 80) for m in listed]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _string(thing: Any, name: str) -> str | None:
    value = getattr(thing, name, None)
    return storable(value) if isinstance(value, str) else None


def _whole(thing: Any, name: str) -> int | None:
    value = getattr(thing, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _request_id(answer: Any) -> str | None:
    """Return the provider's id of the request, which its support asks for; else of the answer."""
    hidden = getattr(answer, "_hidden_params", None) or {}
    headers = hidden.get("additional_headers") or {}
    named = headers.get("llm_provider-x-request-id") or headers.get("x-request-id")
    return storable(named) if isinstance(named, str) else _string(answer, "id")
