"""The one door to Inspect AI: find a scorer, put a trajectory before it, take its score."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import Trajectory, Turn
from judgeaudit.judges._inspect_target import FORM, Target
from judgeaudit.judges._text import short, storable

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Bench", "Scored", "check_installed", "find_factory", "make_bench", "parameters_of"]

_NAME = "judgeaudit/trajectory"
"""Inspect asks for the model that a sample was made by; nobody knows it here."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What a scorer gave, and what it used.

    Parameters
    ----------
    value : object
        The score's value; None where the scorer gave no score.
    explanation, reason : str, optional
        As the score holds them.
    served_model : str, optional
        Who answered the scorer's last request to a model.
    prompt_tokens, completion_tokens : int, optional
        Of all its requests together; None where it made none, or a server did not say.
    requests : int
        Requests to models.
    """

    value: object
    explanation: str | None = None
    reason: str | None = None
    served_model: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    requests: int = 0


def check_installed(where: str) -> None:
    """Say how to get Inspect, where it is not there.

    Raises
    ------
    ConfigError
        If it is not installed.
    """
    if importlib.util.find_spec("inspect_ai") is None:
        raise ConfigError(
            "an Inspect scorer needs Inspect AI, which is not installed",
            where=where,
            mend="Install it with `pip install 'judgeaudit[inspect]'`",
        )


def find_factory(target: Target, where: str) -> Callable[..., Any]:
    """Import a scorer's factory; the user's own file is run, as `inspect eval` runs it.

    Raises
    ------
    ConfigError
        If the file or the module cannot be imported, or holds no such scorer.
    """
    try:
        module = _module(target)
    except Exception as exc:  # noqa: BLE001 - whatever a user's file raises
        raise ConfigError(
            f"{target.place} cannot be imported ({type(exc).__name__}: {short(str(exc), 200)})",
            where=where,
            mend=f"Write the scorer as {FORM}",
        ) from None
    factory = getattr(module, target.name, None)
    if not callable(factory):
        there = sorted(n for n, o in vars(module).items() if _is_scorer(o))
        raise ConfigError(
            f"{target.place} holds no scorer {target.name!r}",
            where=where,
            mend=f"It holds {', '.join(there[:20]) or 'none'}",
        )
    return factory  # type: ignore[no-any-return]


def _is_scorer(thing: object) -> bool:
    info = getattr(thing, "__registry_info__", None)
    return getattr(info, "type", None) == "scorer" and callable(thing)


def _module(target: Target) -> Any:
    path = target.file
    if path is None:
        return importlib.import_module(target.place)
    path = path.resolve()
    # by its content, too: a file that was changed is another module
    digest = sha256_text(f"{path}\0{path.read_text('utf-8')}")
    name = f"_judgeaudit_scorer_{path.stem}_{digest[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError("it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with _beside(path.parent):
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextmanager
def _beside(folder: Path) -> Iterator[None]:
    """Let a file import its neighbours, as a script does."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


def parameters_of(factory: Callable[..., Any]) -> list[str]:
    """Return the names of a factory's parameters; `**` where it takes any."""
    found = inspect.signature(factory).parameters.values()
    return ["**" if p.kind is p.VAR_KEYWORD else p.name for p in found]


class Bench:
    """Where a scorer is put to work, outside of an evaluation."""

    def __init__(self, make: Callable[[], Any] | None, thoughts: str) -> None:
        self._make, self._thoughts = make, thoughts
        self._model: Any = None

    async def aclose(self) -> None:
        """Close the model's connections; a later score opens new ones."""
        model, self._model = self._model, None
        if model is not None:
            await model.api.aclose()

    async def score(
        self, scorer: Any, trajectory: Trajectory, *, metadata: Mapping[str, str], target: str
    ) -> Scored:
        """Score a trajectory.

        Each score has a context of its own: what Inspect notes of one (its transcript, its usage)
        is not kept for the next.
        """
        work = self._score(scorer, trajectory, metadata, target)
        return await asyncio.create_task(work)

    async def _score(
        self, scorer: Any, trajectory: Trajectory, metadata: Mapping[str, str], target: str
    ) -> Scored:
        from inspect_ai.log import transcript
        from inspect_ai.scorer import Target as InspectTarget

        if self._make is not None:
            if self._model is None:
                self._model = self._make()
                _let_nobody_ask_again(self._model)
            _make_current(self._model)
        notes = transcript()
        before = len(notes.events)
        state = _state(trajectory, dict(metadata), self._thoughts)
        score = await scorer(state, InspectTarget(target))
        asked = [e for e in list(notes.events)[before:] if getattr(e, "event", None) == "model"]
        return _scored(score, [e.output for e in asked])


def make_bench(target: Target, decoding: Mapping[str, Any], where: str) -> Bench:
    """Make the model that grades, where the user names one.

    It makes one request a call and never asks again: the runner does.

    Raises
    ------
    ConfigError
        If Inspect does not know the model or a parameter.
    """
    if target.model is None:
        if decoding:
            raise ConfigError(
                f"the decoding ({', '.join(decoding)}) is of a model that nobody named",
                where=where,
                mend="Name it in the address, &model=openai/NAME, or decode inside the scorer",
            )
        return Bench(None, target.thoughts)
    from inspect_ai.model import GenerateConfig, get_model

    unknown = [k for k in decoding if k not in GenerateConfig.model_fields]
    if unknown:
        raise ConfigError(f"Inspect knows no parameter {unknown[0]!r}", where=where)
    try:
        config = GenerateConfig(**{"max_connections": 256, **decoding, "max_retries": 0})
        # Inspect keeps the models that it makes: one that was closed must not come back
        make = partial(
            get_model, target.model, config=config, base_url=target.base_url, memoize=False
        )
        make()
    except Exception as exc:  # noqa: BLE001 - of whatever class a provider raises
        raise ConfigError(
            f"Inspect cannot make the model {target.model!r} ({short(str(exc), 200)})", where=where
        ) from None
    return Bench(make, target.thoughts)


def _let_nobody_ask_again(model: Any) -> None:
    """Take its retries off the provider's client, which Inspect's `max_retries` does not reach."""
    client: Any = getattr(model.api, "client", None)
    if isinstance(getattr(client, "max_retries", None), int):
        client.max_retries = 0


def _make_current(model: Any) -> None:
    """Let the model be the one that is evaluated, and the one in the role of a grader."""
    from inspect_ai.model import GenerateConfig
    from inspect_ai.model._model import init_active_model, init_model_roles

    init_active_model(model, GenerateConfig(max_retries=0))
    init_model_roles({"grader": model})


def _scored(score: Any, outputs: list[Any]) -> Scored:
    usages = [u for o in outputs if (u := getattr(o, "usage", None)) is not None]
    whole = bool(outputs) and len(usages) == len(outputs)
    used: dict[str, Any] = {
        "served_model": short(str(outputs[-1].model), 200) if outputs else None,
        "prompt_tokens": sum(u.input_tokens for u in usages) if whole else None,
        "completion_tokens": sum(u.output_tokens for u in usages) if whole else None,
        "requests": len(outputs),
    }
    if score is None:
        return Scored(None, reason="the scorer gave no score", **used)
    words, reason = score.explanation, getattr(score, "reason", None)
    return Scored(
        score.value,
        storable(words) if isinstance(words, str) else None,
        short(str(reason), 200) if reason else None,
        **used,
    )


# -- a trajectory as Inspect's messages ------------------------------------------------------------


def _state(trajectory: Trajectory, metadata: dict[str, Any], thoughts: str) -> Any:
    """Make the state of a task that ended with this trajectory."""
    from inspect_ai.model import ChatMessageSystem, ModelName, ModelOutput
    from inspect_ai.solver import TaskState

    messages: list[Any] = []
    if trajectory.profile and trajectory.profile.strip():
        messages.append(ChatMessageSystem(content=trajectory.profile))
    messages += [_message(turn, thoughts) for turn in trajectory.turns]
    asked = next((m for m in messages if m.role == "user"), None)
    last = next((m for m in reversed(messages) if m.role == "assistant"), None)
    output = ModelOutput(model=_NAME)
    if last is not None:
        output = ModelOutput.from_message(last)
        output.model = _NAME
    return TaskState(
        model=ModelName(_NAME),
        sample_id="trajectory",  # not the item's own: an id may give the label away
        epoch=1,
        input=asked.text if asked is not None else "",
        messages=messages,
        output=output,
        completed=True,
        metadata=metadata,
    )


def _message(turn: Turn, thoughts: str) -> Any:
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
        ContentReasoning,
        ContentText,
    )

    said = storable(turn.content or "")
    if turn.role == "system":
        return ChatMessageSystem(content=said)
    if turn.role == "user":
        return ChatMessageUser(content=said)
    if turn.role == "environment":
        return ChatMessageTool(content=said, function="environment")
    thought, action = storable(turn.thought or ""), storable(turn.action or "")
    action = "\n".join(x for x in (action, said) if x)
    if not thought:
        return ChatMessageAssistant(content=action)
    if thoughts == "text":
        return ChatMessageAssistant(content="\n".join(x for x in (thought, action) if x))
    parts: list[Any] = [ContentReasoning(reasoning=thought)]
    return ChatMessageAssistant(content=[*parts, ContentText(text=action)] if action else parts)
