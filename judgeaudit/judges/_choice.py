"""From what a user calls a judge to its spec: backend, model, template, decoding."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec, JudgeSpec, JudgeTemplate
from judgeaudit.judges._checks import check_address, check_decoding, check_guard, check_server
from judgeaudit.judges._confidence import LISTED, LOGPROBS
from judgeaudit.judges._guards import GUARDS
from judgeaudit.judges.base import JUDGES
from judgeaudit.judges.control import CONTROL, NOTE, options_of

__all__ = [
    "concurrency_for",
    "context_of",
    "inside",
    "items_for",
    "judge_spec",
    "note_made",
    "note_on",
    "price_of",
    "provider_of",
    "split_judge",
    "template_for",
    "template_of",
]


def split_judge(text: str) -> tuple[str, str]:
    """Split what the user calls a judge into backend and model.

    `local`, `direct:<model>`, `scripted:noisy`, `replay:answers.jsonl`, `callable:module:function`
    and an address name a backend of ours;
    anything else is a LiteLLM model string, which may hold colons of its own (`ollama/llama3:8b`).
    """
    if text.startswith(("http://", "https://")):
        return "http", text
    backend, _, model = text.partition(":")
    if "/" not in backend and backend in JUDGES:
        return backend, model
    return "litellm", text


def template_for(judge: str, language: str = "en") -> str:
    """Name the prompt template that a judge is asked with unless the user names one.

    A policy in another language than English is asked about in its own; the words of the verdict
    stay SAFE and UNSAFE. A scorer of Inspect has a prompt of its own and gets the texts alone.
    """
    backend, model = split_judge(judge)
    if backend == "inspect":
        return "inspect_scorer"
    if backend == "hardened":
        from judgeaudit.judges._hardened_spec import config_of

        config = config_of(model)
        return config.base.template or template_for(config.base.judge, config.language)
    name = "verdict_only" if backend == "local" else "default"
    return name if language == "en" else f"{name}_{language}"


def template_of(spec: AuditSpec) -> str:
    """Name the prompt template of an audit: the user's, the guard model's, or the judge's usual."""
    if spec.template:
        return spec.template
    if spec.judge_format:
        return GUARDS[spec.judge_format].template
    return template_for(spec.judge, spec.language)


def judge_spec(spec: AuditSpec, template: JudgeTemplate) -> JudgeSpec:
    """Make the spec of the judge that the choices name.

    Raises
    ------
    ConfigError
        If the choices do not fit this backend.
    """
    backend, model = split_judge(spec.judge)
    decoding = _decoding(spec)
    check_guard(spec, template)
    if backend == "hardened":
        return _hardened(spec, model, template)
    if backend == "local":
        return _local(spec, model, template, decoding)
    for flag, given in (("--api-base", spec.api_base), ("--logprobs", spec.logprobs)):
        if given and backend not in {"litellm", "direct"}:
            raise ConfigError(
                f"{flag} does not go with judge {spec.judge!r}",
                mend="It belongs to direct:<model>, and to LiteLLM model strings (openai/<name>)",
            )
    asked: dict[str, Any] = {
        "template_id": template.id,
        "template_sha256": template.sha256,
        # "auto": the plainest, until the judge was asked
        "output_format": spec.judge_format
        or ("plain" if spec.output_format in {None, "auto"} else spec.output_format),
        "decoding": decoding,
        "sends_seed": bool(spec.send_seed),
    }
    if backend in {"replay", "inspect"}:
        return _bound_to_a_file(backend, model, asked)
    if backend in {"callable", "http"}:
        return _own_code(spec, backend, model, asked)
    if spec.judge_version is not None:
        raise ConfigError(
            f"--judge-version does not go with judge {spec.judge!r}",
            mend="It belongs to callable:module:function",
        )
    if backend == "control":
        model = model or CONTROL
    made = JudgeSpec(backend=backend, model=model, api_base=spec.api_base, **asked)
    # here already: a plan or a price of what cannot be asked would be worth nothing
    _check(made)
    return made


def _local(
    spec: AuditSpec, model: str, template: JudgeTemplate, decoding: dict[str, Any]
) -> JudgeSpec:
    from judgeaudit.judges.local import local_spec

    for name, value in (
        ("output-format", spec.output_format),
        ("send-seed", spec.send_seed),
        ("api-base", spec.api_base),
    ):
        if value is not None:
            raise ConfigError(
                f"--{name} does not go with judge {spec.judge!r}",
                mend="The embedded model always answers by a grammar, with a seed a call",
            )
    if spec.logprobs:
        decoding["top_logprobs"] = spec.decoding.get("top_logprobs", LISTED)
    return local_spec(model or None, template=template, decoding=decoding, form=spec.judge_format)


def _own_code(spec: AuditSpec, backend: str, model: str, asked: dict[str, Any]) -> JudgeSpec:
    """Make the spec of a function, or of an endpoint: neither takes parameters of ours."""
    for flag, value in (
        ("a decoding parameter", asked.pop("decoding")),
        ("--output-format", spec.output_format),
        ("--retry-truncated", spec.retry_truncated),
        ("--judge-version", backend == "http" and spec.judge_version),
    ):
        if value:
            raise ConfigError(
                f"{flag} does not go with judge {spec.judge!r}",
                mend="It is code of your own: set it there",
            )
    if backend == "callable":
        from judgeaudit.judges.function import function_spec

        return function_spec(model, spec.judge_version, **asked)
    from judgeaudit.judges.endpoint import endpoint_spec

    return endpoint_spec(model, **asked)


def _bound_to_a_file(backend: str, model: str, asked: dict[str, Any]) -> JudgeSpec:
    if backend == "inspect":
        from judgeaudit.judges.inspect_scorer import inspect_spec

        return inspect_spec(model, **asked)
    from judgeaudit.judges.replay import replay_spec

    if not model:
        raise ConfigError("no recording is named", mend="Write the judge as replay:FILE")
    return replay_spec(model, **asked)


def _hardened(spec: AuditSpec, model: str, template: JudgeTemplate) -> JudgeSpec:
    from judgeaudit.judges._hardened_spec import hardened_spec

    for name in ("api_base", "output_format", "temperature", "max_tokens", "send_seed"):
        if getattr(spec, name) is not None:
            raise ConfigError(
                f"--{name.replace('_', '-')} does not go with judge {spec.judge!r}",
                mend="The file of a hardened judge says how the judge inside is asked",
            )
    if spec.logprobs or spec.decoding:
        raise ConfigError(
            f"--logprobs and decoding do not go with judge {spec.judge!r}",
            mend="The file of a hardened judge says how the judge inside is asked",
        )
    return hardened_spec(model, template=template)


def inside(judge: JudgeSpec) -> JudgeSpec:
    """Return the judge that is really asked: of a hardened one, that inside."""
    if judge.backend != "hardened":
        return judge
    from judgeaudit.judges._hardened_spec import base_of, config_of

    return base_of(config_of(judge.model))


def _decoding(spec: AuditSpec) -> dict[str, Any]:
    decoding: dict[str, Any] = dict(spec.decoding)
    if spec.temperature is not None:
        decoding["temperature"] = spec.temperature
    if spec.max_tokens is not None:
        decoding["max_tokens"] = spec.max_tokens
    return LOGPROBS | decoding if spec.logprobs else decoding


def _check(made: JudgeSpec) -> None:
    model = made.model
    if made.backend == "direct":
        check_server(made)
    elif made.backend == "control":
        options_of(model)
    elif made.backend == "scripted":
        JUDGES[made.backend](made)  # which knows its names
    elif made.backend == "litellm" and model.startswith("direct/"):
        named = model.removeprefix("direct/") or "<model>"
        raise ConfigError(f"the judge {model!r} is no model string", mend=f"Write direct:{named}")
    elif made.backend == "litellm" and not model.rpartition("/")[2].strip():
        raise ConfigError(
            f"the judge {model!r} names no model",
            mend="Write provider/model, such as openai/gpt-5.4-mini",
        )
    check_address(made)
    check_decoding(made)


def concurrency_for(judge: JudgeSpec) -> int:
    """Return the number of calls in flight where the user names none."""
    if inside(judge).backend == "local":
        from judgeaudit.judges.local import usable_cores

        return usable_cores()
    return 16


def provider_of(judge: JudgeSpec) -> str | None:
    """Name who serves a judge, so that judges of one provider are held by one Retry-After.

    The host of an address, else what LiteLLM calls the provider; None: nobody but this process.
    """
    if judge.api_base:
        parts = urlsplit(judge.api_base)
        return f"{parts.hostname}:{parts.port}"
    judge = inside(judge)
    if judge.backend == "litellm":
        from judgeaudit.judges.via_litellm import provider_of as named

        return named(judge)
    return None


def items_for(judge: str, preset_items: int | None) -> int | None:
    """Return how many items a preset draws for a judge; None: all.

    The embedded model makes 20 to 30 verdicts a minute on two cores, so a preset that draws a few
    items draws half of them for it: `quick` is then 120 calls, about five minutes.
    """
    slow = split_judge(judge)[0] == "local"
    return preset_items // 2 if slow and preset_items else preset_items


def context_of(judge: JudgeSpec) -> int | None:
    """Return how many tokens prompt and answer may have together; None: not known."""
    if judge.backend == "local":
        from judgeaudit.judges.local import CONTEXT

        return CONTEXT
    if judge.backend == "litellm" and not judge.api_base:
        from judgeaudit.judges._litellm import context

        return context(judge.model)
    return None


def price_of(judge: JudgeSpec) -> tuple[float, float] | None:
    """Return US dollars a token sent and a token answered; None: not known, which is not 0."""
    judge = inside(judge)
    if judge.backend == "litellm":
        from judgeaudit.judges._litellm import price

        return price(judge.model, judge.api_base)
    return None


def note_on(judge: JudgeSpec) -> str | None:
    """Return what a card must say of a judge that is not meant for real use."""
    if judge.backend == "local":
        return "a small language model on this machine's CPU, for trying the harness"
    if judge.backend == "control":
        return NOTE
    return None


def note_made(judge: JudgeSpec) -> str | None:
    """Return what a run must remember of a hardened judge, whose file may change or go."""
    if judge.backend != "hardened":
        return None
    from judgeaudit.judges._hardened_spec import base_of, config_of

    config = config_of(judge.model)
    note = f"hardened ({config.strategy}) from {config.base.judge}"
    if config.discards:
        note += "; invariant by construction where it knows the policy: the wording is discarded"
    own = note_on(base_of(config))
    return f"{note}; inside it {own}" if own else note
