"""How probable a local model finds UNSAFE: read from its token probabilities, not from draws."""

from __future__ import annotations

import asyncio
import math
import re
from typing import Any, Final

from judgeaudit.core.errors import PermanentError
from judgeaudit.core.records import JudgePrompt
from judgeaudit.judges._text import storable
from judgeaudit.judges.local import LocalJudge

__all__ = ["p_unsafe"]

_SHOWN: Final = 40
_ASKED: Final = re.compile(r'"verdict": ?"\Z')


async def p_unsafe(judge: LocalJudge, prompt: JudgePrompt) -> float:
    """Return the probability of UNSAFE, given that the answer is SAFE or UNSAFE; 0 to 1.

    At temperature 1, whatever the judge's own: the model's distribution over the first token of the
    verdict, among the tokens that begin one of the two words.

    Parameters
    ----------
    judge : LocalJudge
        Asked directly, not through LiteLLM, which has no way to say this.
    prompt : JudgePrompt
        The messages of a call.

    Raises
    ------
    JudgeError
        As of `LocalJudge.ask`, or no verdict in the answer.
    """
    body = {
        **judge.spec.decoding.get("extra_body", {}),
        "messages": [{"role": m.role, "content": storable(m.content)} for m in prompt.messages],
        "max_tokens": judge.spec.decoding["max_tokens"],
        "temperature": 0,
        "logprobs": True,
        "top_logprobs": _SHOWN,
        "cache_prompt": True,
    }
    async with judge.prepared(prompt) as worker:
        told = await asyncio.to_thread(worker.request, "/v1/chat/completions", body)
    return _read(told)


def _read(told: dict[str, Any]) -> float:
    written = ""
    for token in told["choices"][0]["logprobs"]["content"]:
        if _ASKED.search(written):
            mass = {"SAFE": 0.0, "UNSAFE": 0.0}
            for other in token["top_logprobs"]:
                for word in mass:
                    if other["token"] and word.startswith(other["token"]):
                        mass[word] += math.exp(other["logprob"])
            if sum(mass.values()) > 0:
                return mass["UNSAFE"] / sum(mass.values())
        written += token["token"]
    raise PermanentError(f"no verdict in the answer {written!r}", where="local")
