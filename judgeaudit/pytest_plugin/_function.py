"""A function of the test's project as a judge: messages go in, an answer comes out."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Final, cast

from judgeaudit.core.errors import ConfigError, JudgeAuditError, PermanentError
from judgeaudit.core.records import Call, JudgePrompt, JudgeSpec, Reply
from judgeaudit.judges.base import JUDGES

__all__ = ["BACKEND", "FunctionJudge", "named"]

BACKEND: Final = "pytest"

_FUNCTIONS: dict[str, Callable[..., Any]] = {}


class FunctionJudge:
    """Asks a function.

    Parameters
    ----------
    spec : JudgeSpec
        `model` is the name that `named` gave it.

    Raises
    ------
    ConfigError
        If no function of this session has that name.
    """

    def __init__(self, spec: JudgeSpec) -> None:
        if spec.model not in _FUNCTIONS:
            raise ConfigError(
                f"{spec.model!r} is no function of this session",
                mend="A function is audited by the test that names it",
            )
        self._spec, self._ask = spec, _FUNCTIONS[spec.model]

    @property
    def spec(self) -> JudgeSpec:
        """Identity of the judge."""
        return self._spec

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        """Ask once: the function gets a list of {"role", "content"}, and returns the answer's text.

        Raises
        ------
        PermanentError
            If the function raises, or returns neither a text nor a `Reply`.
        """
        del call
        messages = [m.model_dump() for m in prompt.messages]
        try:
            if inspect.iscoroutinefunction(self._ask):
                answer: object = await self._ask(messages)
            else:
                answer = await asyncio.to_thread(self._ask, messages)
            if inspect.isawaitable(answer):
                answer = await cast("Awaitable[object]", answer)
        except JudgeAuditError:
            raise
        except Exception as error:
            raise PermanentError(f"{self._spec.model} raised {error!r}") from error
        if isinstance(answer, Reply):
            return answer
        if answer is None or isinstance(answer, str):
            return Reply(text=answer)
        raise PermanentError(
            f"{self._spec.model} returned {type(answer).__name__}", mend="Return the answer's text"
        )

    async def aclose(self) -> None:
        """Release nothing."""


def named(function: Callable[..., Any]) -> str:
    """Give a function a judge's name, under which this session finds it."""
    home = getattr(function, "__module__", None) or type(function).__module__
    own = getattr(function, "__qualname__", None) or type(function).__qualname__
    model = f"{home}.{own}".replace("<", "").replace(">", "")
    # another function of that name (a lambda, a closure of a parametrised test) is another judge
    known = [k for k, f in _FUNCTIONS.items() if f is function]
    if known:
        return f"{BACKEND}:{known[0]}"
    count = sum(k == model or k.startswith(f"{model}#") for k in _FUNCTIONS)
    model = f"{model}#{count + 1}" if count else model
    _FUNCTIONS[model] = function
    if BACKEND not in JUDGES:
        JUDGES.register(BACKEND)(FunctionJudge)
    return f"{BACKEND}:{model}"
