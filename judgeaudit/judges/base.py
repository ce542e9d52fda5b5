"""The one seam to the world: what a judge backend must do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from judgeaudit.core.records import Call, Item, JudgePrompt, JudgeSpec, Reply
from judgeaudit.core.registry import Registry

__all__ = [
    "JUDGES",
    "Judge",
    "JudgeFactory",
    "PlantedJudge",
    "ProbedJudge",
    "RoomyJudge",
    "TimedJudge",
]


class Judge(Protocol):
    """A judge backend.

    `ask` makes exactly one request and never retries: the runner is the only place that does.
    """

    @property
    def spec(self) -> JudgeSpec:
        """Identity of the judge."""
        ...

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        """Ask once.

        Parameters
        ----------
        prompt : JudgePrompt
            The messages to send.
        call : Call
            The planned call. Real backends use only `call.seed`; scripted and replayed judges,
            which stand in for a model, also look up item and condition.

        Returns
        -------
        Reply
            Also for a refusal, a content filter or a truncation: these are answers of the judge.

        Raises
        ------
        TransientError
            Rate limit, server error, timeout, cut connection, unreadable body.
        PermanentError
            Bad request, bad key, unknown model.
        QuotaExhaustedError
            No credit left.
        """
        ...

    async def aclose(self) -> None:
        """Release connections, servers and threads."""
        ...


@runtime_checkable
class PlantedJudge(Protocol):
    """A judge that is told the items beforehand, because its faults are planted, not found."""

    def learn(self, items: Sequence[Item]) -> None:
        """Take the items (gold labels included) that the audit will ask about."""
        ...


@runtime_checkable
class ProbedJudge(Protocol):
    """A judge that can show, at the cost of one request, that it can be asked at all."""

    async def probe(self) -> Reply:
        """Make one request outside of the plan.

        Raises
        ------
        ConfigError
            No server, no valid key, an unknown model, a refused parameter.
        TransientError, QuotaExhaustedError
            The server is there, but does not answer now.
        """
        ...


@runtime_checkable
class TimedJudge(Protocol):
    """A judge that cuts a request off by itself, after the seconds it is told."""

    attempt_seconds: float


@runtime_checkable
class RoomyJudge(Protocol):
    """A judge that can be given more room for an answer that was cut."""

    async def ask_longer(self, prompt: JudgePrompt, call: Call, max_tokens: int) -> Reply:
        """Ask once, as `Judge.ask` does, with another cap on the answer's tokens."""
        ...


class JudgeFactory(Protocol):
    """Builds a judge from its spec; registered under the backend's name."""

    def __call__(self, spec: JudgeSpec) -> Judge:
        """Return the judge that this spec names.

        Raises
        ------
        ConfigError
            If the spec cannot be served here (missing extra, missing key, unknown model).
        """
        ...


JUDGES: Registry[JudgeFactory] = Registry("judge", "judgeaudit.judges", "judgeaudit.judges")
