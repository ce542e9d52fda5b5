"""Which choices of an audit go with batches."""

from __future__ import annotations

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec, JudgeSpec

__all__ = ["OPENAI", "address_of", "check_choices"]

OPENAI = "https://api.openai.com/v1"
"""Where the judges of the provider `openai` are, unless their spec says otherwise."""


def address_of(spec: JudgeSpec) -> str:
    """Return the root of the server that a judge's batches go to.

    Raises
    ------
    ConfigError
        If this judge is not asked over OpenAI's API.
    """
    if spec.backend not in {"litellm", "direct"}:
        raise ConfigError(
            f"the judge {spec.backend}:{spec.model} is not behind a server, so it has no batches",
            mend="Leave --batch out",
        )
    return (spec.api_base or OPENAI).rstrip("/")


def check_choices(spec: AuditSpec, judge: JudgeSpec) -> None:
    """Refuse choices that do not go with batches.

    Raises
    ------
    ConfigError
        Naming the flag.
    """
    if not spec.batch:
        return
    address_of(judge)
    if spec.executor != "local":
        raise ConfigError(
            f"--executor {spec.executor} does not go with --batch",
            mend="The provider does the work: leave --executor out",
        )
    if spec.retry_truncated is not None:
        raise ConfigError(
            "--retry-truncated does not go with --batch",
            mend="Leave it out, and give --max-tokens enough room for an answer",
        )
