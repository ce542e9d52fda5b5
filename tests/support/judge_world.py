"""A prompt, a call and a way to ask once: what the tests of judges share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from loopback import Loopback

from judgeaudit.core.records import Call, JudgePrompt, JudgeSpec, Message, Reply
from judgeaudit.judges._choice import split_judge
from judgeaudit.judges.base import JUDGES
from judgeaudit.judges.direct import DirectJudge
from judgeaudit.judges.via_litellm import LiteLLMJudge

Door = LiteLLMJudge | DirectJudge
DOORS = ("openai/toy", "direct:toy")
"""One model, through each door."""

both_doors = pytest.mark.parametrize("model", DOORS)
PROMPT = JudgePrompt(
    messages=(Message(role="system", content="policy"), Message(role="user", content="run"))
)
SENTINEL = "sk-SENTINEL-do-not-print-me-0123456789"


def call(item: str = "a/b/1", condition: str = "base", wording: int = 0, repeat: int = 0) -> Call:
    """Make a planned call."""
    return Call(
        item=item,
        condition=condition,
        wording=wording,
        repeat=repeat,
        prompt_sha256="p",
        judge_sha256="j",
    )


def spec_of(server: Loopback, *, model: str = "openai/toy", **spec: Any) -> JudgeSpec:
    """Name a judge behind the loopback server, as a user would: `openai/toy`, `direct:toy`."""
    backend, name = split_judge(model)
    return JudgeSpec(backend=backend, model=name, api_base=server.api_base, **spec)


def judge_of(spec: JudgeSpec, **options: Any) -> Door:
    """Make the judge of a spec, through the door that it names."""
    return JUDGES[spec.backend](spec, **options)  # type: ignore[return-value]


def ask(
    server: Loopback, *, seconds: float = 20.0, model: str = "openai/toy", **spec: Any
) -> Reply:
    """Ask a judge behind the loopback server once."""

    async def one() -> Reply:
        judge = judge_of(spec_of(server, model=model, **spec), attempt_seconds=seconds)
        try:
            return await judge.ask(PROMPT, call())
        finally:
            await judge.aclose()

    return asyncio.run(one())
