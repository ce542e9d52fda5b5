"""What a user asks for: the choices of one audit, from flags or from `audit.toml`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from judgeaudit.core.records._base import Record
from judgeaudit.core.records.calls import GuardFormat

__all__ = ["AuditSpec"]

# strict: in a file, "5" is a text and true is no number; 64 bits: what a ledger and a card can hold
Whole = Annotated[int, Field(strict=True, gt=-(1 << 63), lt=1 << 63)]
Number = Annotated[float, Field(strict=True)]
Switch = Annotated[bool, Field(strict=True)]


def _plain(value: object) -> str | None:
    """Say what in a nested value is not plain JSON; None where all of it is."""
    if value is None or isinstance(value, bool | str):
        return None
    if isinstance(value, int):
        return None if abs(value) < 1 << 63 else "a whole number beyond 64 bits"
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{value}, which no request can carry"
    if isinstance(value, Mapping):
        value = [*value, *value.values()]
    if isinstance(value, list | tuple):
        return next((found for v in value if (found := _plain(v)) is not None), None)
    return f"a {type(value).__name__}, which no request can carry"


class AuditSpec(Record):
    """The choices of one audit.

    Keys are those of `audit.toml`; each has a flag of the same name.

    Parameters
    ----------
    judge : str
        A LiteLLM model string (`openai/gpt-5.4-mini`), or `backend:model` for a judge of another
        backend (`direct:<name>` for a server at `api_base`, `local:smollm2-135m`,
        `scripted:brittle_t4`, `replay:FILE`, `callable:module:function`), or the address of an
        endpoint of one's own (`http://127.0.0.1:8000/judge`), or `http:FILE.toml` for one that
        wants another form of request.
    api_base : str, optional
        Root of an OpenAI-compatible server, for instance `http://127.0.0.1:8000/v1`.
    language : str
        Language of the policy's text, and of the judge template where none is named.
    output_format : str, optional
        How a verdict is asked for; "auto": the strictest form that the judge accepts, found out
        before the plan and then frozen.
    judge_format : str, optional
        The form in which a guard model answers ("llama-guard", "shieldgemma", ...): it is then
        asked as it was trained to be, and read in no other way.
    judge_version : str, optional
        Of a judge that is a function: what tells it from another one whose source is the same.
    drop_unsupported : bool
        Whether parameters that the judge refuses are left out, and the card says so. Without it
        the audit does not begin.
    logprobs : bool
        Whether log-probabilities are asked for: the confidence of a verdict is then read from them
        instead of from what the judge states.
    corpus, data, subset, limit, labels, assume_ambiguity, revision
        Which items: see `judgeaudit corpus --help`.
    only_items : path, optional
        A file of item keys, one a line: only these are asked.
    preset, base_repeats, repeats, conditions, control_items
        The protocol: K base calls and L calls a condition an item.
    wordings : int
        Texts under each certified or near condition, so that the effect of a transform is told
        from that of one wording; each gets L calls an item. A condition that has fewer texts
        gets those.
    too_long : {"refuse", "middle-out"}, optional
        What becomes of trajectories that are longer than `max_trajectory_tokens`, or than the
        judge is known to take: without a word, the audit is refused; "middle-out" leaves out
        their middle, with a mark, the same under every condition.
    max_trajectory_tokens : int, optional
        The longest trajectory that is shown as it is, in tokens estimated as characters / 4.
    rewrites : path, optional
        A folder of the user's own texts, one file a condition, instead of renderings of a policy.
    certificates : tuple of path
        Files of certificates by people, or of a model's opinions; a changed text voids them.
    unconfirmed : bool
        Whether a policy that a model drafted and no person confirmed may be used.
    until : {"decided"}, optional
        Stop as soon as an effect of rewording is shown, or one as large as the practical threshold
        is ruled out; items are then asked one after the other, in random order.
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
    batch, batch_wait
        Whether calls are made in the provider's batches (files of requests, answered within a
        day, at a lower price), and whether to wait for them.
    batch_interval : float
        Seconds between two looks at the provider's batches.
    batch_requests : int
        Requests in a batch file at most; providers allow 50,000.
    """

    judge: str = "local"
    api_base: str | None = None
    template: str | None = None
    output_format: Literal["auto", "plain", "json_mode", "json_schema", "grammar"] | None = None
    temperature: Number | None = Field(default=None, ge=0, le=2)
    max_tokens: Whole | None = Field(default=None, ge=1)
    decoding: dict[str, Any] = Field(default_factory=dict)
    send_seed: Switch | None = None
    judge_format: GuardFormat | None = None
    judge_version: str | None = None
    drop_unsupported: Switch = False
    logprobs: Switch = False

    policy: str = "agent_safety"
    language: str = "en"
    rewrites: Path | None = None
    certificates: tuple[Path, ...] = ()
    unconfirmed: bool = False

    too_long: Literal["refuse", "middle-out"] | None = None
    max_trajectory_tokens: Whole | None = Field(default=None, ge=100)

    corpus: str = "sample"
    data: str | None = None
    subset: str | None = None
    limit: Whole | None = Field(default=None, ge=1)
    labels: Path | None = None
    assume_ambiguity: str | None = None
    revision: str | None = None
    only_items: Path | None = None

    preset: str | None = None
    base_repeats: Whole | None = Field(default=None, ge=1)
    repeats: Whole | None = Field(default=None, ge=1)
    conditions: tuple[str, ...] | None = None
    wordings: Whole = Field(default=1, ge=1, le=1000)
    control_items: Whole | None = Field(default=None, ge=0)
    until: Literal["decided"] | None = None
    seed: Whole = 0

    out: Path | None = None
    concurrency: Whole | None = Field(default=None, ge=1, le=4096)
    attempts: Whole = Field(default=5, ge=1, le=100)
    attempt_seconds: Number = Field(default=120.0, gt=0)
    call_seconds: Number = Field(default=600.0, gt=0)
    adaptive: bool = True
    requests_per_minute: Number | None = Field(default=None, gt=0)
    tokens_per_minute: Number | None = Field(default=None, gt=0)
    budget_usd: Number | None = Field(default=None, gt=0)
    budget_tokens: Whole | None = Field(default=None, gt=0)
    budget_calls: Whole | None = Field(default=None, gt=0)
    prices: Path | None = None
    retry_truncated: Whole | None = Field(default=None, ge=1)
    executor: Literal["local", "ray"] = "local"
    workers: Whole = Field(default=2, ge=1, le=1024)
    batch: bool = False
    batch_wait: bool = True
    batch_interval: Number = Field(default=60.0, gt=0)
    batch_requests: Whole = Field(default=50_000, ge=1, le=50_000)

    @field_validator("decoding")
    @classmethod
    def _decoding_is_plain(cls, value: dict[str, Any]) -> dict[str, Any]:
        found = _plain(value)
        if found is not None:
            raise ValueError(f"it holds {found}")
        return value
