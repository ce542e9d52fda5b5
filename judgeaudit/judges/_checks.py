"""What a `JudgeSpec` may hold before it goes over a wire, and into a ledger and a card."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec, JudgeSpec, JudgeTemplate
from judgeaudit.judges._guards import GUARDS
from judgeaudit.judges._text import is_secret_name

__all__ = ["check_address", "check_decoding", "check_endpoint", "check_guard", "check_server"]

_KEYS: Final = "Keys come from the environment only: a spec stands in the ledger and on the card"
# Request arguments that are no property of the judge, or that would undo what the door promises.
_RESERVED: Final[dict[str, str]] = {
    "seed": "One seed for all items draws the same number for each: let each call send its own",
    "n": "A call asks for one answer; repeats are calls of their own",
    "stream": "Answers are read whole",
    **dict.fromkeys(("extra_headers", "headers"), _KEYS),
    **dict.fromkeys(
        ("model", "messages", "api_base", "base_url"), "The judge's spec has a field for it"
    ),
    **dict.fromkeys(
        ("drop_params", "additional_drop_params"), "With a parameter dropped it is another judge"
    ),
    **dict.fromkeys(
        ("timeout", "request_timeout", "stream_timeout"),
        "The time limit is no part of the judge: give it as attempt_seconds",
    ),
    **dict.fromkeys(("max_retries", "num_retries", "fallbacks"), "Only the runner asks again"),
    **dict.fromkeys(("cache", "caching", "mock_response"), "No cache may answer a repeat"),
}
# What a request holds one of, wherever it is written.
_OURS: Final = frozenset({"seed", "n", "stream", "model", "messages"})
_SHIPPED: Final = {"default", "default_ko", "verdict_only", "verdict_only_ko"}
_NO_SECRETS: Final = frozenset({"prompt_cache_key"})
_SECRET_PARAMETER: Final = re.compile(r"(?i:^(?:key|sig|token|access_token|apikey)$)")


def _names(value: object) -> Iterator[str]:
    """Return all keys of a nested value."""
    if isinstance(value, dict):
        yield from (str(k) for k in value)
        for inner in value.values():
            yield from _names(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _names(inner)


def check_decoding(spec: JudgeSpec) -> None:
    """Refuse decoding parameters that are none.

    Raises
    ------
    ConfigError
        Naming the parameter.
    """
    body = spec.decoding.get("extra_body")
    beside = [k for k in body if k in _OURS] if isinstance(body, dict) else []
    for name in (*spec.decoding, *beside):
        if why := _RESERVED.get(name):
            raise ConfigError(
                f"{name!r} cannot be a decoding parameter", where=spec.model, mend=why
            )
    for name in _names(spec.decoding):
        if is_secret_name(name) and name not in _NO_SECRETS:
            raise ConfigError(
                f"{name!r} cannot be a decoding parameter", where=spec.model, mend=_KEYS
            )


def check_address(spec: JudgeSpec) -> None:
    """Refuse an address that is none, or that holds a password or a key.

    Raises
    ------
    ConfigError
        Without the password or key in it.
    """
    if spec.api_base is None:
        return
    try:
        parts = urlsplit(spec.api_base)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, usable = urlsplit(""), False
    if not usable:
        shown = spec.api_base.rpartition("@")[2]
        raise ConfigError(
            f"{shown!r} is no address of a server",
            where="api_base",
            mend="Write it like http://127.0.0.1:8000/v1",
        )
    if "@" in parts.netloc or any(
        is_secret_name(name) or _SECRET_PARAMETER.match(name) for name, _ in parse_qsl(parts.query)
    ):
        raise ConfigError(
            f"the address of {parts.hostname} holds a password or a key",
            where="api_base",
            mend=_KEYS,
        )


def check_server(spec: JudgeSpec) -> str:
    """Return the address of a judge that is a model on a named server.

    Raises
    ------
    ConfigError
        If model or address is missing, or the address cannot be one.
    """
    if not spec.model.strip():
        raise ConfigError(
            f"the judge '{spec.backend}:' names no model",
            mend=f"Write {spec.backend}:<model>, as the server calls it",
        )
    if spec.api_base is None:
        raise ConfigError(
            f"the judge '{spec.backend}:{spec.model}' has no address",
            mend="Give the root of its server as --api-base, such as http://127.0.0.1:8000/v1",
        )
    check_address(spec)
    return spec.api_base


def check_guard(spec: AuditSpec, template: JudgeTemplate) -> None:
    """Refuse a guard model that is asked in one form and read in another.

    Raises
    ------
    ConfigError
        Naming both.
    """
    forms = [g.name for g in GUARDS.values() if g.template == template.id]
    if spec.judge_format is None:
        if forms:
            raise ConfigError(
                f"the template {template.id!r} asks for answers that only --judge-format reads",
                mend=f"Add --judge-format {forms[0]}",
            )
        return
    if spec.output_format is not None:
        raise ConfigError(
            f"--output-format does not go with --judge-format {spec.judge_format}",
            mend="Leave it out: a guard model has a form of its own",
        )
    of_ours = template.id in {g.template for g in GUARDS.values()} | _SHIPPED
    if of_ours and spec.judge_format not in forms:
        raise ConfigError(
            f"the template {template.id!r} does not ask for {spec.judge_format} answers",
            mend="Leave --template out, or give a file of your own with another id",
        )


def check_endpoint(spec: JudgeSpec, provider: str) -> None:
    """Refuse an endpoint that is set in the environment but not in the spec.

    Two servers behind one name are two judges; a ledger must not mix them.

    Raises
    ------
    ConfigError
        Naming the variable.
    """
    if spec.api_base is not None:
        return
    stem = provider.upper()
    for name in (f"{stem}_BASE_URL", f"{stem}_API_BASE"):
        if os.environ.get(name, "").strip():
            raise ConfigError(
                f"{name} is set, but the endpoint is part of a judge's identity",
                where=spec.model,
                mend="Give the address with --api-base, or unset the variable",
            )
