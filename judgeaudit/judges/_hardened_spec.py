"""From the file of a hardened judge to its spec, and to the judge inside."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import JudgeSpec, JudgeTemplate
from judgeaudit.judges._hardening import HardenedConfig, read_config
from judgeaudit.policy.recognising import PolicyReader

__all__ = [
    "base_of",
    "config_of",
    "hardened_spec",
    "plainly",
    "reader_of",
    "template_of",
]


@lru_cache(maxsize=64)
def _read(path: str, _stamp: tuple[int, int]) -> HardenedConfig:
    return read_config(path)


def config_of(model: str) -> HardenedConfig:
    """Read the file of a hardened judge; a file that has not changed is read once.

    Raises
    ------
    ConfigError
        If there is none, or it cannot be used.
    """
    if not model:
        raise ConfigError("no file is named", mend="Write the judge as hardened:FILE.toml")
    try:
        found = Path(model).stat()
    except (OSError, ValueError) as e:
        raise ConfigError(
            f"cannot be read ({getattr(e, 'strerror', None) or e})",
            where=model,
            mend="Write the judge as hardened:FILE.toml; `judgeaudit harden` makes one",
        ) from None
    return _read(model, (found.st_mtime_ns, found.st_size))


def template_of(config: HardenedConfig) -> JudgeTemplate:
    """Return the prompt template that the judge inside is asked with."""
    from judgeaudit.judges._choice import template_for
    from judgeaudit.policy.prompts import load_judge_template

    name = config.base.template or template_for(config.base.judge, config.language)
    return load_judge_template(name)


def base_of(config: HardenedConfig) -> JudgeSpec:
    """Return the spec of the judge inside."""
    from judgeaudit.judges._choice import judge_spec

    return judge_spec(config.base.choices(config.language), template_of(config))


def hardened_spec(model: str, *, template: JudgeTemplate | None = None) -> JudgeSpec:
    """Return the spec of a hardened judge, bound to what its file says by hash.

    Parameters
    ----------
    model : str
        Path of its file.
    template : JudgeTemplate, optional
        How it is asked; must be the template of the judge inside.

    Raises
    ------
    ConfigError
        If the file or the judge inside cannot be used.
    """
    config = config_of(model)
    own, inner = template_of(config), base_of(config)
    if template is not None and template.sha256 != own.sha256:
        raise ConfigError(
            f"a hardened judge is asked with the template of the judge inside, {own.id!r}",
            where=model,
            mend="Leave --template out, or change it in the file",
        )
    if config.facts_first and inner.backend == "local":
        raise ConfigError(
            "the embedded model answers by a grammar, so it cannot list facts first",
            where=model,
            mend="Set facts_first = false, or name another judge",
        )
    return JudgeSpec(
        backend="hardened",
        model=model,
        api_base=inner.api_base,
        template_id=own.id,
        template_sha256=own.sha256,
        output_format=inner.output_format,
        decoding=inner.decoding,
        sends_seed=inner.sends_seed,
        weights_sha256=config.identity,
    )


def reader_of(config: HardenedConfig) -> PolicyReader | None:
    """Return what reads incoming texts back; None where they are used as they came."""
    if config.reads == "nothing":
        return None
    policies = [config.load_policy()]
    if config.reads == "any":
        from judgeaudit.policy import load_policy, policy_names

        known = {policies[0].sha256}
        for name in policy_names(config.language):
            policy = load_policy(name, language=config.language)
            if policy.sha256 not in known:
                policies.append(policy)
    return PolicyReader(policies, only=("base",) if config.reads == "base" else None)


def plainly(spec: JudgeSpec) -> JudgeSpec:
    """Return the spec of a judge that answers in words, not by a form."""
    left_out = {"response_format", "logprobs", "top_logprobs", "extra_body"}
    decoding = {k: v for k, v in spec.decoding.items() if k not in left_out}
    return spec.model_copy(update={"output_format": "plain", "decoding": decoding})
