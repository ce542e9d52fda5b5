"""The LiteLLM library, with everything off that it would do on its own, and its price list."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import warnings
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, Final
from urllib.parse import urlsplit

from judgeaudit.core.errors import ConfigError

__all__ = ["context", "litellm_library", "openai_request", "price", "register_provider", "unlogged"]

_LISTENERS: Final = (
    "callbacks",
    "success_callback",
    "failure_callback",
    "_async_success_callback",
    "_async_failure_callback",
)


def litellm_library() -> Any:
    """Return the library, with everything off that it would do on its own.

    Set again on every call: these are globals, and other code of the process may have its way.
    """
    litellm = _import_litellm()
    litellm.drop_params = False
    litellm.modify_params = False
    litellm.cache = None
    litellm.num_retries = None
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    return litellm


@functools.cache
def _import_litellm() -> Any:
    # read at import: without the first a price list is fetched, without the second a `.env` found
    # in any folder above is loaded
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    import litellm

    if "LITELLM_LOG" not in os.environ:
        logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    # about odd bodies, and about calls that are cancelled while they wait for a thread
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
    warnings.filterwarnings("ignore", r"coroutine '\w+\.acompletion' was never", RuntimeWarning)
    litellm.suppress_debug_info = True
    # a first call imports 40 modules more: here, and not on the clock of a judge's first answer
    hello = [{"role": "user", "content": "hello"}]
    with contextlib.suppress(Exception):
        litellm.completion("openai/warm-up", hello, mock_response="sent nowhere")
    return litellm


@contextlib.contextmanager
def unlogged(litellm: Any) -> Iterator[None]:
    """Spare LiteLLM the payload that it makes after each call for callbacks, where there are none.

    It costs about a tenth of a call's CPU time. Where the program has registered a callback with
    LiteLLM, that is told of each call as ever.
    """
    flag = None if _listened(litellm) else _own_call()
    if flag is None:
        yield
        return
    before = flag.set(True)
    try:
        yield
    finally:
        flag.reset(before)


def _listened(litellm: Any) -> bool:
    # "cache" is LiteLLM's own, of a program that once had a cache; it is off here
    return any(c != "cache" for k in _LISTENERS for c in getattr(litellm, k, None) or ())


@functools.cache
def _own_call() -> Any:
    # LiteLLM's word for a call that somebody else records and bills, as the ledger does here
    try:
        from litellm._internal_context import is_internal_call
    except ImportError:
        return None
    return is_internal_call


def price(model: str, api_base: str | None = None) -> tuple[float, float] | None:
    """Return the price of a model.

    Parameters
    ----------
    model : str
        A LiteLLM model string.
    api_base : str, optional
        A server that is not the provider's own asks its own price, which nobody knows here.

    Returns
    -------
    tuple of float, or None
        US dollars for one prompt token and for one completion token, from the list that LiteLLM
        ships; None where the price is not known. An entry with no price at all counts as not
        known, never as free.
    """
    litellm = litellm_library()
    try:
        bare, provider, *_ = litellm.get_llm_provider(model)
    except litellm.BadRequestError:
        return None
    host = _host(api_base)
    if api_base and not (provider.startswith("azure") or host.endswith(f".{provider}.com")):
        return None
    for name in (model, f"{provider}/{bare}", bare):
        entry = litellm.model_cost.get(name) or {}
        rates: Any = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
        known = all(isinstance(r, float | int) for r in rates) and any(rates)
        if known and entry.get("litellm_provider") == provider:
            return float(rates[0]), float(rates[1])
    return None


def context(model: str) -> int | None:
    """Return the tokens that a provider's own model takes, from LiteLLM's list; None: not known."""
    litellm = litellm_library()
    try:
        bare, provider, *_ = litellm.get_llm_provider(model)
    except litellm.BadRequestError:
        return None
    for name in (model, f"{provider}/{bare}", bare):
        entry = litellm.model_cost.get(name) or {}
        most = entry.get("max_input_tokens")
        if entry.get("litellm_provider") == provider and isinstance(most, int) and most > 0:
            return most
    return None


def openai_request(model: str, parameters: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return what LiteLLM sends to an OpenAI-compatible server: the model's name, and parameters.

    Parameters
    ----------
    model : str
        A LiteLLM model string of the provider `openai`.
    parameters : dict
        As given to its `completion`.

    Raises
    ------
    ConfigError
        The model has another provider, or LiteLLM refuses a parameter.
    """
    litellm = litellm_library()
    bare, provider, *_ = litellm.get_llm_provider(model)
    if provider != "openai":
        raise ConfigError(
            f"batches are made of OpenAI-compatible requests, and {model!r} is asked otherwise",
            mend="Write the judge as direct:<model>, with the address of a server that has /files "
            "and /batches as --api-base",
        )
    try:
        sent = litellm.get_optional_params(
            model=bare, custom_llm_provider=provider, drop_params=False, **parameters
        )
    except litellm.UnsupportedParamsError as error:
        raise ConfigError(f"the model refuses a parameter: {error.message}", where=model) from None
    sent.pop("stream", None)
    beside = sent.pop("extra_body", None) or {}
    return bare, {**sent, **beside}


def register_provider(
    name: str,
    complete: Callable[[list[dict[str, Any]], int | None], Awaitable[dict[str, Any]]],
    complete_now: Callable[[list[dict[str, Any]], int | None], dict[str, Any]],
) -> None:
    """Register a provider of our own with LiteLLM; one of the same name is replaced.

    Parameters
    ----------
    name : str
        What stands before the slash of a model string.
    complete, complete_now : callable
        From messages and a seed to a chat completion as OpenAI words it.
    """
    litellm = litellm_library()

    class Provider(litellm.CustomLLM):  # type: ignore[misc, name-defined]
        def completion(self, *_: Any, **given: Any) -> Any:
            return _filled(litellm, complete_now(given["messages"], _seed(given)))

        async def acompletion(self, *_: Any, **given: Any) -> Any:
            return _filled(litellm, await complete(given["messages"], _seed(given)))

    others = [p for p in litellm.custom_provider_map if p["provider"] != name]
    litellm.custom_provider_map = [*others, {"provider": name, "custom_handler": Provider()}]
    litellm.utils.custom_llm_setup()


def _seed(given: dict[str, Any]) -> int | None:
    seed = (given.get("optional_params") or {}).get("seed")
    return seed if isinstance(seed, int) else None


def _filled(litellm: Any, made: dict[str, Any]) -> Any:
    made = {k: v for k, v in made.items() if v is not None}
    return litellm.ModelResponse(**made)


def _host(api_base: str | None) -> str:
    try:
        return urlsplit(api_base or "").hostname or ""
    except ValueError:  # an address that is none, such as http://[::1
        return ""
