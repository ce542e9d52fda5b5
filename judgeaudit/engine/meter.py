"""What a request will use, learned from the requests that were answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from judgeaudit.core.records import JudgePrompt, Reply

__all__ = ["Forecast", "Meter", "answer_cap"]

_TOKENS_A_CHARACTER: Final = 0.25
_TOKENS_A_CHARACTER_MOST: Final = 0.6
_ANSWER: Final = 256
_ANSWER_MOST: Final = 2048
_MARGIN: Final = 1.1


@dataclass(frozen=True, slots=True)
class Forecast:
    """Tokens of a request: what is likely, and what is the most.

    Parameters
    ----------
    likely : int
        Prompt and answer together.
    prompt_most, answer_most : int
        Upper bounds; a guess until the first answer, the answer's a guess where it has no cap.
    """

    likely: int
    prompt_most: int
    answer_most: int

    @property
    def most(self) -> int:
        """Tokens at most, prompt and answer together."""
        return self.prompt_most + self.answer_most


class Meter:
    """Learns how many tokens a character of a prompt is, and how long answers are.

    Parameters
    ----------
    cap : int, optional
        Most tokens of an answer, where the judge's decoding caps them.
    """

    def __init__(self, cap: int | None) -> None:
        self._cap = cap
        self._ratio = _TOKENS_A_CHARACTER
        self._ratio_most = _TOKENS_A_CHARACTER_MOST
        self._answer = float(min(cap, _ANSWER) if cap else _ANSWER)
        self._longest = 0
        self._n = 0

    def forecast(self, prompt: JudgePrompt, cap: int | None = None) -> Forecast:
        """Say what asking this prompt once will use.

        Parameters
        ----------
        prompt : JudgePrompt
            What is asked.
        cap : int, optional
            Most tokens of this answer, where it is another one than usual.
        """
        characters = _characters(prompt)
        most = cap or self._cap or (2 * self._longest if self._n else _ANSWER_MOST)
        return Forecast(
            likely=int(characters * self._ratio + self._answer) + 1,
            prompt_most=int(characters * self._ratio_most) + 1,
            answer_most=max(most, 1),
        )

    def learn(self, prompt: JudgePrompt, reply: Reply) -> None:
        """Take note of what an answered request used; nothing where the server did not say."""
        asked, answered = reply.prompt_tokens, reply.completion_tokens
        if not asked or answered is None:
            return
        ratio = asked / max(_characters(prompt), 1)
        most = ratio * _MARGIN
        # short prompts have a constant part, so the highest ratio seen bounds the others
        self._ratio_most = max(self._ratio_most, most) if self._n else most
        self._n += 1
        self._ratio += (ratio - self._ratio) / min(self._n, 100)
        self._answer += (answered - self._answer) / min(self._n, 100)
        self._longest = max(self._longest, answered)


def answer_cap(decoding: Mapping[str, Any]) -> int | None:
    """Return the most tokens of an answer that a judge's decoding allows, where it caps them."""
    cap = decoding.get("max_completion_tokens", decoding.get("max_tokens"))
    return cap if isinstance(cap, int) and cap > 0 else None


def _characters(prompt: JudgePrompt) -> int:
    return sum(len(m.content) for m in prompt.messages)
