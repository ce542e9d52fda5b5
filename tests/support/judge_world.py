"""A prompt, a call and a way to ask once: what the tests of judges share."""

from __future__ import annotations

import asyncio
from typing import Any

from loopback import Loopback

from judgeaudit.core.records import Call, JudgePrompt, JudgeSpec, Message, Reply
from judgeaudit.judges.via_litellm import LiteLLMJudge

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
    """Name a judge behind the loopback server."""
    return JudgeSpec(backend="litellm", model=model, api_base=server.api_base, **spec)


def ask(
    server: Loopback, *, seconds: float = 20.0, model: str = "openai/toy", **spec: Any
) -> Reply:
    """Ask a judge behind the loopback server once."""

    async def one() -> Reply:
        judge = LiteLLMJudge(spec_of(server, model=model, **spec), attempt_seconds=seconds)
        try:
            return await judge.ask(PROMPT, call())
        finally:
            await judge.aclose()

    return asyncio.run(one())
