"""What a user asks for: the choices of one audit, from flags or from `audit.toml`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from judgeaudit.core.records._base import Record

__all__ = ["AuditSpec"]


class AuditSpec(Record):
    """The choices of one audit.

    Keys are those of `audit.toml`; each has a flag of the same name.

    Parameters
    ----------
    judge : str
        A LiteLLM model string (`openai/gpt-5.4-mini`), or `backend:model` for a judge of another
        backend (`local:smollm2-135m`, `scripted:brittle_t4`, `replay:FILE`).
    api_base : str, optional
        Root of an OpenAI-compatible server, for instance `http://127.0.0.1:8000/v1`.
    corpus, data, subset, limit, labels, assume_ambiguity, revision
        Which items: see `judgeaudit corpus --help`.
    preset, base_repeats, repeats, conditions, control_items
        The protocol: K base calls and L calls a condition an item.
    seed : int
        Seed of the order of calls, of subsets, and of resampling.
    out : path, optional
        Folder of the run; the default is derived from the choices, so that the same command
        resumes the same run.
    concurrency, attempts, attempt_seconds, call_seconds
        Calls in flight at most, requests a call at most, and their deadlines.
    adaptive : bool
        Whether fewer calls are in flight while the provider is slow, failing or refusing.
    requests_per_minute, tokens_per_minute : float, optional
        Rates that the provider allows.
    budget_usd, budget_tokens, budget_calls
        What the run may use in all its sessions together: US dollars, tokens sent and answered,
        requests with all retries.
    prices : path, optional
        TOML file: model -> US dollars for a million tokens, see `engine.prices`.
    retry_truncated : int, optional
        A truncated answer is asked for once more with this cap on its tokens. It decides what is
        answered, so it is part of the run's identity.
    executor, workers
        Where calls are made: in this process, or by so many workers on Ray.
    """

    judge: str = "local"
    api_base: str | None = None
    template: str | None = None
    output_format: Literal["plain", "json_mode", "json_schema", "grammar"] | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    decoding: dict[str, Any] = Field(default_factory=dict)
    send_seed: bool | None = None

    policy: str = "agent_safety"
    language: str = "en"

    corpus: str = "sample"
    data: str | None = None
    subset: str | None = None
    limit: int | None = Field(default=None, ge=1)
    labels: Path | None = None
    assume_ambiguity: str | None = None
    revision: str | None = None

    preset: str | None = None
    base_repeats: int | None = Field(default=None, ge=1)
    repeats: int | None = Field(default=None, ge=1)
    conditions: tuple[str, ...] | None = None
    control_items: int | None = Field(default=None, ge=0)
    seed: int = 0

    out: Path | None = None
    concurrency: int | None = Field(default=None, ge=1, le=4096)
    attempts: int = Field(default=5, ge=1, le=100)
    attempt_seconds: float = Field(default=120.0, gt=0)
    call_seconds: float = Field(default=600.0, gt=0)
    adaptive: bool = True
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    budget_usd: float | None = Field(default=None, gt=0)
    budget_tokens: int | None = Field(default=None, gt=0)
    budget_calls: int | None = Field(default=None, gt=0)
    prices: Path | None = None
    retry_truncated: int | None = Field(default=None, ge=1)
    executor: Literal["local", "ray"] = "local"
    workers: int = Field(default=2, ge=1, le=1024)
