"""What the doors to a server share: one request a call, more room, a probe, the models it lists."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, JudgeError, PermanentError, TransientError
from judgeaudit.core.records import Call, JudgePrompt, JudgeSpec, Message, Reply

__all__ = ["ATTEMPT_SECONDS", "NO_KEY", "Door"]

ATTEMPT_SECONDS: Final = 600.0
"""Default limit of one request, in seconds of wall-clock time."""

NO_KEY: Final = "no-key"
"""What a server without keys gets: client libraries and gateways insist on one."""

_LISTED: Final = 8


class Door(ABC):
    """A judge behind a server; how a request travels is a subclass's.

    Parameters
    ----------
    spec : JudgeSpec
        Identity of the judge.
    """

    def __init__(self, spec: JudgeSpec) -> None:
        self._spec = spec
        self._listed = False

    @property
    def spec(self) -> JudgeSpec:
        """Identity of the judge."""
        return self._spec

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        """Make one request; see `Judge.ask`.

        Raises
        ------
        TransientError
            Codes of its own: "timeout", "unreachable", "connection", "unreadable_body".
        PermanentError
            Codes of its own: "unsupported_parameter", "context_length_exceeded", "missing_key",
            "redirected".
        QuotaExhaustedError
            The account has no credit left.
        """
        return await self._request(prompt, call.seed)

    async def ask_longer(self, prompt: JudgePrompt, call: Call, max_tokens: int) -> Reply:
        """Make one request with another cap on the answer's tokens; see `RoomyJudge`."""
        named = "max_completion_tokens" in self._spec.decoding
        cap = {"max_completion_tokens" if named else "max_tokens": max_tokens}
        return await self._request(prompt, call.seed, cap)

    async def probe(self) -> Reply:
        """Make one request that shows that server, key, model and parameters are accepted.

        Raises
        ------
        ConfigError
            Nothing answers at the address, the key or the model is not accepted, or a parameter
            is refused; says what would mend it.
        TransientError
            The server is there, but busy or failing.
        QuotaExhaustedError
            The account has no credit left.
        """
        hello = Message(role="user", content="Answer with one word: SAFE")
        try:
            return await self._request(JudgePrompt(messages=(hello,)), 0)
        except (PermanentError, TransientError) as exc:
            if isinstance(exc, TransientError) and exc.code != "unreachable":
                raise
            raise ConfigError(exc.what, where=exc.where, mend=exc.mend) from None

    @abstractmethod
    async def _request(
        self, prompt: JudgePrompt, seed: int, more: dict[str, Any] | None = None
    ) -> Reply:
        """Make one request, with further parameters."""

    @abstractmethod
    async def _models(self) -> list[str]:
        """Return the names of the models that the server lists; none where it does not say."""

    async def _with_models(self, error: JudgeError) -> JudgeError:
        """Name, once, the models that a server of one's own lists, where this one is not there."""
        if error.status == 404 and self._spec.api_base and not self._listed:
            self._listed = True
            if names := await self._models():
                more = ", …" if len(names) > _LISTED else ""
                listed = f"The server lists {', '.join(names[:_LISTED])}{more}"
                error.mend = f"{error.mend}. {listed}"
        return error
