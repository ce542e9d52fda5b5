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
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, JudgeError, TransientError
from judgeaudit.core.records import JudgePrompt, JudgeSpec, Reply
from judgeaudit.judges._checks import check_address, check_decoding, check_endpoint
from judgeaudit.judges._clients import let_go, take
from judgeaudit.judges._door import ATTEMPT_SECONDS, NO_KEY, Door
from judgeaudit.judges._ending import Ending
from judgeaudit.judges._faults import gather
from judgeaudit.judges._formats import format_parameters
from judgeaudit.judges._litellm import litellm_library, price, unlogged
from judgeaudit.judges._logprobs import truth_probability, verdict_probability
from judgeaudit.judges._reach import REACH_SECONDS
from judgeaudit.judges._salvage import answer_in, count
from judgeaudit.judges._text import Scrubber, is_secret_name, short, storable
from judgeaudit.judges.base import JUDGES

__all__ = ["LiteLLMJudge", "price", "provider_of"]

_KINDS: Final = ("prompt", "completion")


@JUDGES.register("litellm")
class LiteLLMJudge(Door):
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
        super().__init__(spec)
        self.attempt_seconds = attempt_seconds
        provider = provider_of(spec)
        self._key_name, key = _find_key(spec, provider, api_key)
        check_endpoint(spec, provider)
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
        self._flat = not any(isinstance(v, dict | list) for v in self._parameters.values())

    def __repr__(self) -> str:
        return f"LiteLLMJudge({self._where()!r})"

    def _where(self) -> str:
        base = self._spec.api_base
        return f"{self._spec.model} at {base}" if base else self._spec.model

    async def aclose(self) -> None:
        """Close connections; judges share them, so the last one of an event loop closes them."""
        await let_go(self)

    async def _request(
        self, prompt: JudgePrompt, seed: int, more: dict[str, Any] | None = None
    ) -> Reply:
        litellm = litellm_library()
        take(self)
        seeded = {"seed": seed} if self._spec.sends_seed else {}
        messages = [{"role": m.role, "content": storable(m.content)} for m in prompt.messages]
        started = time.perf_counter()
        # the library's own limits count from byte to byte, so a dripping body outlives them
        limit = asyncio.timeout(self.attempt_seconds)
        # raised outside of the handler: a chained cause would carry headers, and so the key
        try:
            async with limit:
                with unlogged(litellm):
                    answer = await litellm.acompletion(
                        messages=messages,
                        timeout=_limits(self.attempt_seconds + 5),
                        **seeded,
                        **self._parameters_now(more),
                    )
            return self._read(answer, time.perf_counter() - started)
        except Exception as exc:  # noqa: BLE001 - LiteLLM raises what it likes; all is mapped
            seconds = time.perf_counter() - started
            kept = None if limit.expired() else answer_in(exc)
            if kept is not None:
                return self._read(kept, seconds)
            ended = self._late() if limit.expired() else self._failed(exc, seconds)
        if isinstance(ended, Reply):
            return ended
        raise await self._with_models(ended)

    def _parameters_now(self, more: dict[str, Any] | None) -> dict[str, Any]:
        # LiteLLM may change what it is given, but cannot change text and numbers
        given = self._parameters | (more or {})
        return given if self._flat else copy.deepcopy(given)

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
        asked, answered = (count(getattr(usage, f"{k}_tokens", None)) for k in _KINDS)
        # LiteLLM writes 0 where the server counted nothing; no prompt is empty, and no text is
        counted = bool(asked) and answered is not None and bool(answered or not _says(message))
        return Reply(
            text=self._text(message, "content"),
            finish_reason=self._text(choices[0], "finish_reason"),
            refusal=self._text(message, "refusal"),
            reasoning=self._text(message, "reasoning_content"),
            served_model=self._text(answer, "model"),
            system_fingerprint=self._text(answer, "system_fingerprint"),
            request_id=_request_id(answer),
            prompt_tokens=asked or None,
            completion_tokens=answered if counted else None,
            seconds=seconds,
            cost=self._cost(answer, asked or 0, answered or 0) if counted else None,
            **verdict_probability(choices[0], self._spec.output_format),
            **truth_probability(choices[0]),
        )

    def _text(self, thing: Any, name: str) -> str | None:
        text = _string(thing, name)
        return None if text is None else self._scrub.answer(text)

    def _cost(self, answer: Any, asked: int, answered: int) -> float | None:
        if self._rate is None:
            return None
        told = (getattr(answer, "_hidden_params", None) or {}).get("response_cost")
        if isinstance(told, float) and told > 0:
            return told
        return asked * self._rate[0] + answered * self._rate[1]

    async def _models(self) -> list[str]:
        key = self._parameters.get("api_key") or os.environ.get(self._key_name or "", NO_KEY)
        return await asyncio.to_thread(_models_at, self._spec.api_base or "", key)


def _limits(seconds: float) -> Any:
    import httpx

    return httpx.Timeout(seconds, connect=min(seconds, REACH_SECONDS))


def provider_of(spec: JudgeSpec) -> str:
    """Return what LiteLLM calls the provider of a model.

    Raises
    ------
    ConfigError
        It knows none.
    """
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
        return named, NO_KEY
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


def _says(message: Any) -> bool:
    return any(_string(message, k) for k in ("content", "refusal", "reasoning_content"))


def _request_id(answer: Any) -> str | None:
    """Return the provider's id of the request, which its support asks for; else of the answer."""
    hidden = getattr(answer, "_hidden_params", None) or {}
    headers = hidden.get("additional_headers") or {}
    named = headers.get("llm_provider-x-request-id") or headers.get("x-request-id")
    return storable(named) if isinstance(named, str) else _string(answer, "id")
