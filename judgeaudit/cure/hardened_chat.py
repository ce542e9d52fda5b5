"""A hardened judge behind chat messages: what is judged, and the answer as a chat completion."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import JudgePrompt, Message, Trajectory, Turn
from judgeaudit.cure.hardened import Answer, Hardened, as_trajectory
from judgeaudit.policy.prompts import take_apart

__all__ = ["answer_chat", "chat_completion", "content_of", "conversation", "prompt_of_chat"]

_ROLES = ("system", "developer", "user", "assistant")
_MEND = (
    'Send the trajectory as JSON in the last user message ({"turns": [...]}), with the policy\'s '
    "text as system message if it is not the judge's own; or the whole prompt of an audit"
)
_BLANK = "Leave it out to be judged by the judge's own policy, or write the policy's text"


def prompt_of_chat(judge: Hardened, messages: Sequence[Mapping[str, Any]]) -> JudgePrompt:
    """Say what chat messages ask a hardened judge.

    Either they are a whole prompt of the judge's own template, as an audit sends it; or the last
    message, of the user, is a trajectory as JSON, and a system message before it, if there is one,
    the policy's text as it came.

    Raises
    ------
    ConfigError
        If they are neither.
    """
    read = [(_role(m), _text(m)) for m in messages]
    whole = JudgePrompt(messages=tuple(Message(role=r, content=t) for r, t in read))
    if take_apart(judge.template, whole) is not None:
        return whole
    *before, (role, text) = read
    if role != "user" or [r for r, _ in before] not in ([], ["system"]):
        raise ConfigError("the messages are neither a trajectory nor a prompt", mend=_MEND)
    if before and not before[0][1].strip():
        raise ConfigError("the system message, the policy's text, is blank", mend=_BLANK)
    try:
        trajectory = as_trajectory(text)
    except ConfigError as e:
        raise ConfigError(e.what, where=e.where, mend=_MEND) from None
    return judge.prompt_of(trajectory, before[0][1] if before else None)


def _role(message: Mapping[str, Any]) -> str:
    role = message.get("role")
    if role not in _ROLES:
        raise ConfigError(f"the role {str(role)[:40]!r} is not one of {', '.join(_ROLES)}")
    return "system" if role == "developer" else str(role)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        parts = [p.get("text") if isinstance(p, dict) else None for p in content]
        if not parts or not all(isinstance(p, str) for p in parts):
            raise ConfigError("a message holds something else than text", mend="Send text alone")
        content = "".join(str(p) for p in parts)
    if not isinstance(content, str):
        raise ConfigError("a message has no text as content", mend="Send text alone")
    try:
        content.encode("utf-8")
    except UnicodeEncodeError:
        raise ConfigError(
            "a message holds half a character (a lone surrogate)", mend="Send well-formed text"
        ) from None
    return content


async def answer_chat(
    judge: Hardened, messages: Sequence[Mapping[str, Any]], draw: int | None = None
) -> Answer:
    """Answer chat messages; see `prompt_of_chat`."""
    return await judge.ask(prompt_of_chat(judge, messages), draw=draw)


def content_of(answer: Answer) -> str | None:
    """Word an answer as a message's content; None where it is no verdict."""
    if answer.label is None:
        return None
    said: dict[str, Any] = {"verdict": answer.label}
    if answer.confidence is not None:
        said["confidence"] = answer.confidence
    if answer.rationale:
        said["rationale"] = answer.rationale
    return json.dumps(said, ensure_ascii=False)


def chat_completion(judge: Hardened, answer: Answer) -> dict[str, Any]:
    """Word an answer as a chat completion.

    Without a verdict the content is null and `refusal` says why; `judgeaudit` holds the outcome and
    what each part answered.
    """
    content = content_of(answer)
    refusal = None
    if content is None:
        refusal = f"no verdict ({answer.outcome}): {answer.note or 'no reason given'}"
    usage = None
    if answer.prompt_tokens is not None and answer.completion_tokens is not None:
        usage = {
            "prompt_tokens": answer.prompt_tokens,
            "completion_tokens": answer.completion_tokens,
            "total_tokens": answer.prompt_tokens + answer.completion_tokens,
        }
    return {
        "id": f"chatcmpl-{secrets.token_hex(12)}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": judge.name,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content, "refusal": refusal},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": usage,
        "system_fingerprint": f"ja_{judge.identity[:12]}",
        "judgeaudit": {
            "outcome": answer.outcome,
            "label": answer.label,
            "abstains": answer.abstains,
            "p_unsafe": answer.p_unsafe,
            "said": answer.said,
            "members": list(answer.members),
            "requests": answer.requests,
        },
    }


def conversation(messages: Sequence[Mapping[str, Any]]) -> Trajectory:
    """Turn a conversation into a trajectory: who said what, in order.

    Tool calls are the agent's actions, answers of tools are what its environment returned.
    """
    turns = []
    for m in messages:
        role, text = m.get("role"), m.get("content") or None
        if role == "assistant":
            calls = "\n".join(
                f"{c.get('name')}({json.dumps(c.get('arguments'), ensure_ascii=False)})"
                for c in m.get("tool_calls") or ()
            )
            action = "\n".join(x for x in (text, calls) if x) or None
            turns.append(Turn(role="agent", action=action))
        elif role == "tool":
            turns.append(Turn(role="environment", content=text))
        elif role == "system":
            turns.append(Turn(role="system", content=text))
        else:
            turns.append(Turn(role="user", content=text))
    return Trajectory(turns=tuple(turns))
