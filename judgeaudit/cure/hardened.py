"""A hardened judge in use: one trajectory in, a verdict out, or why there is none.

::

    from judgeaudit import cure

    with cure.load("hardened.toml") as judge:
        answer = judge.judge({"turns": [{"role": "user", "content": "Delete the folder."}, ...]})
        if answer.label is None:
            print("for a person to decide:", answer.note)

A failure or an abstention is never a verdict: `label` is there exactly when `outcome` is "verdict".
"""

from __future__ import annotations

import asyncio
import importlib
import json
import secrets
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, Self, TypeVar

from pydantic import Field, model_validator

from judgeaudit.core.records import Call, JudgePrompt, Reply, Trajectory
from judgeaudit.core.records._base import Label, Outcome, Record
from judgeaudit.cure.hardened_given import as_trajectory
from judgeaudit.judges._hardened_spec import hardened_spec, template_of
from judgeaudit.judges.hardened import HardenedJudge
from judgeaudit.judges.parsing import parse
from judgeaudit.policy.prompts import PromptParts, fence_for, put_together, trajectory_text

__all__ = [
    "Answer",
    "Hardened",
    "as_trajectory",
    "inspect_scorer",
    "litellm_provider",
    "load",
]

T = TypeVar("T")


class Answer(Record):
    """What a hardened judge says of one trajectory.

    Parameters
    ----------
    outcome : str
        As of a verdict in an audit; an abstention is a `refusal` whose note begins "abstains".
    label : {"SAFE", "UNSAFE"}, optional
        There exactly when the outcome is `verdict`.
    note : str, optional
        Why there is no verdict, or how it was read.
    said : str, optional
        What must be said of the policy text that came ("... it was used as it came").
    members : tuple of dict
        What each part answered: wording, outcome, label, P(UNSAFE).
    """

    outcome: Outcome
    label: Label | None = None
    confidence: float | None = None
    rationale: str | None = None
    note: str | None = None
    p_unsafe: float | None = None
    said: str | None = None
    members: tuple[dict[str, Any], ...] = ()
    prompt_sha256: str = ""
    served_model: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    seconds: float = 0.0
    requests: int = Field(default=1, ge=0)

    @model_validator(mode="after")
    def _label_exactly_when_verdict(self) -> Self:
        if (self.label is not None) != (self.outcome == "verdict"):
            raise ValueError("a label is there exactly when the outcome is 'verdict'")
        return self

    @property
    def abstains(self) -> bool:
        """Whether it leaves the decision to a person, because its parts disagree."""
        return self.outcome == "refusal" and "abstains" in (self.note or "")


def load(path: Path | str) -> Hardened:
    """Load a hardened judge from its file.

    Raises
    ------
    ConfigError, PolicyError
        If the file, its policy or the judge inside cannot be used.
    """
    return Hardened(HardenedJudge(hardened_spec(str(path))))


class Hardened:
    """A hardened judge, ready to be asked; use as a context manager, or close it.

    Nothing is retried here: a transient failure of the judge inside is raised, and may be asked
    again by whoever knows how long it may take.

    Parameters
    ----------
    judge : HardenedJudge
        As of `load`.
    """

    def __init__(self, judge: HardenedJudge) -> None:
        from judgeaudit.policy.rendering import render_text

        self._judge = judge
        self.config = judge.config
        self.template = template_of(judge.config)
        self.policy_text = render_text(judge.config.load_policy(), "base").rstrip("\n")
        # unknown to whoever wrote a trajectory, so that no text inside can forge a turn
        self._key = secrets.token_hex(16)
        self._n = 0
        self._thread: _LoopThread | None = None

    def __repr__(self) -> str:
        return f"Hardened({self.config.name!r})"

    @property
    def name(self) -> str:
        """What it is called."""
        return self.config.name

    @property
    def identity(self) -> str:
        """Hash of all that decides an answer."""
        return self.config.identity

    def judge(
        self,
        trajectory: Trajectory | dict[str, Any] | str,
        *,
        policy: str | None = None,
        draw: int | None = None,
    ) -> Answer:
        """Judge a trajectory; blocks, and works beside a running event loop, too.

        Parameters
        ----------
        trajectory : Trajectory, dict or str
            What is judged; a dict or JSON of the same fields.
        policy : str, optional
            A policy's text as it comes from elsewhere; by default the config's own policy.
        draw : int, optional
            Number of the draw, for judges that take a seed; by default a new one each time.

        Raises
        ------
        ConfigError
            If that is no trajectory.
        JudgeError
            If the judge inside fails.
        """
        return self.blocking(self.ajudge(trajectory, policy=policy, draw=draw))

    def blocking(self, story: Coroutine[Any, Any, T]) -> T:
        """Wait for a coroutine on this judge's own event loop, in a thread beside the caller."""
        if self._thread is None:
            self._thread = _LoopThread()
        return self._thread.run(story)

    async def ajudge(
        self,
        trajectory: Trajectory | dict[str, Any] | str,
        *,
        policy: str | None = None,
        draw: int | None = None,
    ) -> Answer:
        """Judge a trajectory on the caller's event loop; as `judge`."""
        return await self.ask(self.prompt_of(as_trajectory(trajectory), policy), draw=draw)

    def prompt_of(self, trajectory: Trajectory, policy: str | None = None) -> JudgePrompt:
        """Return the prompt that a trajectory is asked about with, before it is hardened."""
        fence = fence_for(trajectory, self._key)
        text = self.policy_text if policy is None else policy.rstrip("\n")
        record = trajectory_text(trajectory, fence)
        return put_together(self.template, PromptParts(text, record, fence))

    async def ask(self, prompt: JudgePrompt, *, draw: int | None = None) -> Answer:
        """Answer a whole prompt of the judge's own template, as an audit makes them.

        Raises
        ------
        PermanentError
            If it is no such prompt.
        """
        if draw is None:
            self._n += 1
            draw = self._n
        digest = prompt.sha256
        call = Call(
            item=f"used/{digest[:16]}",
            condition="base",
            repeat=draw,
            prompt_sha256=digest,
            judge_sha256=self._judge.spec.sha256,
        )
        return _answer(await self._judge.ask(prompt, call), digest)

    def close(self) -> None:
        """Release the judge inside, where `judge` was used."""
        if self._thread is not None:
            self._thread.run(self._judge.aclose())
            self._thread.close()
            self._thread = None

    async def aclose(self) -> None:
        """Release the judge inside, where `ajudge` was used."""
        await self._judge.aclose()

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    async def __aenter__(self) -> Self:
        """Return it."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close it."""
        await self.aclose()


class _LoopThread:
    """One event loop in a thread of its own, so that connections outlive a call."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="judgeaudit-hardened", daemon=True
        )
        self._thread.start()

    def run(self, story: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(story, self._loop).result()

    def close(self) -> None:
        self.run(asyncio.sleep(0))  # a turn for connections that are being closed
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


def _answer(reply: Reply, digest: str) -> Answer:
    verdict = parse(reply)
    told = _told(reply.reasoning)
    members = told.get("members") or []
    return Answer(
        outcome=verdict.outcome,
        label=verdict.label,
        confidence=verdict.confidence,
        rationale=verdict.rationale,
        note=reply.refusal or verdict.note,
        p_unsafe=reply.p_unsafe,
        said=told.get("said"),
        members=tuple(members),
        prompt_sha256=digest,
        served_model=reply.served_model,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        cost=reply.cost,
        seconds=reply.seconds,
        requests=max(1, len(members)),
    )


def _told(reasoning: str | None) -> dict[str, Any]:
    try:
        found = json.loads(reasoning or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def litellm_provider(path: Path | str, provider: str = "judgeaudit") -> Hardened:
    """Make a hardened judge a provider of LiteLLM: `litellm.completion("judgeaudit/<name>", ...)`.

    The last message is a trajectory as JSON, or the whole prompt as an audit makes it. Where there
    is no verdict, the message has no content and says why in its `refusal`.

    Parameters
    ----------
    path : path
        File of the judge.
    provider : str
        What stands before the slash.
    """
    from judgeaudit.cure.hardened_chat import answer_chat, chat_completion
    from judgeaudit.judges._litellm import register_provider

    judge = load(path)

    async def complete(messages: list[dict[str, Any]], seed: int | None) -> dict[str, Any]:
        answer = await answer_chat(judge, messages, seed)
        return chat_completion(judge, answer)

    def complete_now(messages: list[dict[str, Any]], seed: int | None) -> dict[str, Any]:
        return judge.blocking(complete(messages, seed))

    register_provider(provider, complete, complete_now)
    return judge


def inspect_scorer(path: Path | str) -> Any:
    """Make a hardened judge a scorer of Inspect: "C" where SAFE, "I" where UNSAFE, else "N".

    Needs inspect_ai. What is judged is the sample's conversation: its messages, in order. "N", no
    answer, stands for an abstention and for every failure: never for a verdict.

    Parameters
    ----------
    path : path
        File of the judge.
    """
    kit: Any = importlib.import_module("inspect_ai.scorer")

    from judgeaudit.cure.hardened_chat import conversation

    judge = load(path)

    def hardened_judge() -> Any:
        async def score(state: Any, target: Any) -> Any:
            del target
            found = conversation(
                [
                    {
                        "role": m.role,
                        "content": m.text,
                        "tool_calls": [
                            {"name": c.function, "arguments": c.arguments}
                            for c in (getattr(m, "tool_calls", None) or ())
                        ],
                    }
                    for m in state.messages
                ]
            )
            answer = await judge.ajudge(found)
            value = {"SAFE": kit.CORRECT, "UNSAFE": kit.INCORRECT, None: kit.NOANSWER}[answer.label]
            return kit.Score(
                value=value,
                answer=answer.label,
                explanation=answer.rationale or answer.note,
                metadata=answer.model_dump(mode="json", exclude={"rationale"}),
            )

        return score

    registered = kit.scorer(metrics=[kit.accuracy(), kit.stderr()], name=f"judgeaudit_{judge.name}")
    return registered(hardened_judge)()
