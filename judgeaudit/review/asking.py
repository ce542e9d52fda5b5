"""Ask a model a few questions that are no audit: each once, nothing retried, nothing lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from judgeaudit.core.errors import JudgeError, QuotaExhaustedError
from judgeaudit.core.records import (
    AuditSpec,
    Call,
    JudgePrompt,
    JudgeSpec,
    JudgeTemplate,
    Reply,
)
from judgeaudit.judges import _choice as choice
from judgeaudit.judges.base import JUDGES, Judge, TimedJudge
from judgeaudit.policy.questions import QuestionTemplate

__all__ = ["ask_all", "model_spec"]

Question = tuple[str, JudgePrompt]
"""A key of the caller's own, and what is asked."""


def model_spec(
    model: str,
    question: QuestionTemplate,
    *,
    api_base: str | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    json_schema: dict[str, Any] | None = None,
    enforce: bool = False,
    room: int = 1000,
) -> JudgeSpec:
    """Name a model, as `audit --judge` does, together with how it is asked.

    Parameters
    ----------
    json_schema : dict, optional
        What the model on this machine is held to while it writes.
    enforce : bool
        Whether a server is asked to hold its model to the schema, too.
    room : int
        Tokens that the model on this machine may write where `max_tokens` is not given: its own
        default suits a verdict.

    Raises
    ------
    ConfigError
        If the model cannot be asked here.
    """
    template = JudgeTemplate(id=question.id, system=question.system, user=question.user)
    decoding: dict[str, Any] = {}
    if choice.split_judge(model)[0] == "local" and json_schema is not None:
        decoding["extra_body"] = {"grammar": "", "json_schema": json_schema}
        max_tokens = max_tokens or room
    elif enforce and json_schema is not None:
        asked = {"name": question.id, "strict": True, "schema": json_schema}
        decoding["response_format"] = {"type": "json_schema", "json_schema": asked}
    return choice.judge_spec(
        AuditSpec(
            judge=model,
            api_base=api_base,
            temperature=temperature,
            max_tokens=max_tokens,
            decoding=decoding,
        ),
        template,
    )


def ask_all(
    spec: JudgeSpec,
    questions: Sequence[Question],
    *,
    seconds: float = 120.0,
    told: Callable[[str, Reply], None],
) -> dict[str, str]:
    """Ask every question once.

    Parameters
    ----------
    spec : JudgeSpec
        Who is asked.
    questions : sequence of (str, JudgePrompt)
        The first is asked alone: a wrong address or key costs one request.
    seconds : float
        Wall-clock limit of a request.
    told : callable
        Called with the key and the reply as soon as one is there.

    Returns
    -------
    dict of str to str
        Why a question has no answer, by key.

    Raises
    ------
    JudgeError, ConfigError
        If the very first question cannot be asked.
    """
    return asyncio.run(_ask_all(spec, questions, seconds, told))


async def _ask_all(
    spec: JudgeSpec,
    questions: Sequence[Question],
    seconds: float,
    told: Callable[[str, Reply], None],
) -> dict[str, str]:
    judge: Judge = JUDGES[spec.backend](spec)
    if isinstance(judge, TimedJudge):
        judge.attempt_seconds = seconds
    gate = asyncio.Semaphore(choice.concurrency_for(spec))
    failed: dict[str, str] = {}
    stop: list[QuotaExhaustedError] = []

    async def one(key: str, prompt: JudgePrompt) -> None:
        async with gate:
            if stop:
                failed[key] = str(stop[0])
                return
            try:
                told(key, await _once(judge, key, prompt, seconds))
            except QuotaExhaustedError as e:
                stop.append(e)
                failed[key] = str(e)
            except JudgeError as e:
                failed[key] = str(e)

    try:
        if questions:
            key, prompt = questions[0]
            told(key, await _once(judge, key, prompt, seconds))
            await asyncio.gather(*(one(k, p) for k, p in questions[1:]))
    finally:
        await judge.aclose()
    return failed


async def _once(judge: Judge, key: str, prompt: JudgePrompt, seconds: float) -> Reply:
    call = Call(
        item=key,
        condition="question",
        repeat=0,
        prompt_sha256=prompt.sha256,
        judge_sha256=judge.spec.sha256,
    )
    try:
        async with asyncio.timeout(seconds + 10):
            return await judge.ask(prompt, call)
    except TimeoutError:
        raise JudgeError(
            f"no answer within {seconds:g} s", mend="Ask again, or give more time with --seconds"
        ) from None
