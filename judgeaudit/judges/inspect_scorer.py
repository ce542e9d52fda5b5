"""A scorer of Inspect AI as a judge: audited where it stands, with its own prompt and its parsing.

`--judge 'inspect:my_scorers.py@careful?label=C:SAFE&label=I:UNSAFE'`. The trajectory becomes the
messages of a `TaskState`; the policy's wording goes where the address says (`policy=`): into a
parameter of the scorer's factory, into the `Target`, or into the sample's metadata. See
`docs/howto/inspect.md` and `docs/decisions/0807-a-scorer-in-place.md`.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from judgeaudit.core.errors import ConfigError, JudgeError, PermanentError
from judgeaudit.core.records import Call, Item, JudgePrompt, JudgeSpec, Reply, Trajectory
from judgeaudit.judges import _inspect
from judgeaudit.judges._ending import Ending
from judgeaudit.judges._faults import gather
from judgeaudit.judges._inspect_target import Target, read_target
from judgeaudit.judges._text import Scrubber, short, storable
from judgeaudit.judges.base import JUDGES

__all__ = ["InspectScorer", "inspect_spec"]

_PLACES: Final = ("target", "metadata")
_LONGEST: Final = 100_000


@JUDGES.register("inspect")
class InspectScorer:
    """A judge that is a scorer of Inspect AI.

    Parameters
    ----------
    spec : JudgeSpec
        `model` names the scorer and says what its values mean, see `read_target`. `decoding` is
        that of the model that grades (`&model=`). If `weights_sha256` is given (see
        `inspect_spec`), the scorer's file must have that hash.

    Raises
    ------
    ConfigError
        Inspect is missing (says how to get it), the scorer cannot be found, or it has no place for
        the policy that the address names.

    Notes
    -----
    It is told the items beforehand, for their trajectories alone: it keeps neither labels nor ids.
    """

    def __init__(self, spec: JudgeSpec) -> None:
        self._spec = spec
        self._where = f"inspect:{spec.model}"
        self._target = target = read_target(spec.model)
        _inspect.check_installed(self._where)
        if spec.sends_seed or spec.output_format != "plain":
            raise ConfigError(
                "a scorer writes its own requests: no seed or output format can be sent with them",
                where=self._where,
                mend="Leave --send-seed and --output-format out",
            )
        if spec.weights_sha256 is not None and spec.weights_sha256 != _digest(target):
            raise ConfigError(
                "the scorer's file has another hash than the one the run began with",
                where=self._where,
                mend="Give the file that the run began with, or begin another run",
            )
        self._factory = _inspect.find_factory(target, self._where)
        self._goes_to = _place_of(target, _inspect.parameters_of(self._factory), self._where)
        self._bench = _inspect.make_bench(target, spec.decoding, self._where)
        self._scorers: dict[str, Any] = {}
        self._trajectories: dict[str, Trajectory] = {}
        self._emptied: frozenset[str] = frozenset()
        scrub = Scrubber()
        self._scrub = scrub.answer
        server = target.base_url or "the model's server"
        self._ending = Ending(spec.model, self._where, server, None, scrub)

    def __repr__(self) -> str:
        return f"InspectScorer({self._spec.model!r})"

    @property
    def spec(self) -> JudgeSpec:
        """Identity of the judge."""
        return self._spec

    def learn(self, items: Sequence[Item]) -> None:
        """Take the items' trajectories; their labels are not looked at."""
        from judgeaudit.policy import load_conditions

        self._trajectories = {i.key: i.trajectory for i in items}
        conditions = load_conditions().values()
        self._emptied = frozenset(c.id for c in conditions if c.side == "trajectory")

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        """Let the scorer score once; see `Judge.ask`.

        Raises
        ------
        TransientError
            The scorer's request to a model failed, and may succeed if made again.
        PermanentError
            The scorer raised something (code "scorer_failed"), or says that it could not run.
        QuotaExhaustedError
            The account of the scorer's model has no credit left.
        """
        trajectory = self._trajectory(call)
        policy, record = _texts(prompt, self._where)
        started = time.perf_counter()
        ended: JudgeError | Reply
        # raised outside of the handler: a chained cause could carry headers, and so a key
        try:
            scored = await self._bench.score(
                self._scorer(policy),
                trajectory,
                metadata={"policy": policy, "trajectory": record},
                target=policy if self._goes_to == "target" else "",
            )
            ended = self._reply(scored, time.perf_counter() - started)
        except asyncio.CancelledError:
            raise
        except JudgeError as exc:
            ended = exc
        except Exception as exc:  # noqa: BLE001 - whatever a scorer raises is one outcome
            ended = self._failed(exc, time.perf_counter() - started)
        if isinstance(ended, Reply):
            return ended
        raise ended

    async def aclose(self) -> None:
        """Close the connections of the model that we made; a later call opens new ones."""
        await self._bench.aclose()

    def _trajectory(self, call: Call) -> Trajectory:
        from judgeaudit.policy import vacuum_trajectory

        found = self._trajectories.get(call.item)
        if found is None:
            raise PermanentError(
                f"the scorer was not told of the item {call.item!r}",
                mend="Tell it all items with learn() before the first call",
            )
        return vacuum_trajectory(found) if call.condition in self._emptied else found

    def _scorer(self, policy: str) -> Any:
        """Return the scorer for a wording: made once, for its factory may do much."""
        at = policy if self._goes_to not in _PLACES else ""
        if at not in self._scorers:
            own = {self._goes_to: policy} if self._goes_to not in _PLACES else {}
            self._scorers[at] = self._factory(**{**self._target.arguments, **own})
        return self._scorers[at]

    def _failed(self, exc: Exception, seconds: float) -> JudgeError | Reply:
        facts = gather(exc)
        ended = self._ending.of(facts, seconds)
        if isinstance(ended, PermanentError) and facts.status is None and ended.code is None:
            said = short(self._ending.scrub.message(" ".join(str(exc).split())), 300)
            return PermanentError(
                f"the scorer raised {type(exc).__name__}" + (f": {said}" if said else ""),
                where=self._where,
                code="scorer_failed",
            )
        return ended

    def _reply(self, scored: _inspect.Scored, seconds: float) -> Reply:
        """Write a score as an answer that can be read one way alone."""
        value = _part(scored.value, self._target, self._where)
        used: dict[str, Any] = {
            "served_model": scored.served_model,
            "prompt_tokens": scored.prompt_tokens,
            "completion_tokens": scored.completion_tokens,
            "seconds": seconds,
            "cost": None if scored.requests else 0.0,
        }
        words = self._scrub(scored.explanation or "")[:_LONGEST]
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            reason = scored.reason or "no value"
            if reason == "scoring_failed":
                raise PermanentError(
                    f"the scorer could not run: {short(words, 200)}",
                    where=self._where,
                    code="scorer_failed",
                )
            if reason == "refusal":
                return Reply(text=words, refusal=words or reason, **used)
            return Reply(text=_written(f"none: {reason}", value, words), **used)
        meaning = self._target.meaning(value)
        if meaning == "refusal":
            return Reply(text=words, refusal=words or f"the score is {value}", **used)
        if meaning == "error":
            raise PermanentError(
                f"the score is {short(str(value), 60)}, which counts as an error",
                where=self._where,
                code="scorer_failed",
            )
        if meaning in {"SAFE", "UNSAFE"}:
            return Reply(text=_written(meaning, value, words), finish_reason="stop", **used)
        said = short(storable(str(value)), 60)
        return Reply(text=_written(f"none: the score is {said}", value, words), **used)


def inspect_spec(model: str, **fields: Any) -> JudgeSpec:
    """Return the spec of a scorer, bound to its file by hash.

    Parameters
    ----------
    model : str
        The judge's name behind `inspect:`.
    **fields
        Other fields of `JudgeSpec`.

    Raises
    ------
    ConfigError
        If the name is malformed, or the scorer cannot be found.
    """
    target = read_target(model)
    spec = JudgeSpec(backend="inspect", model=model, weights_sha256=_digest(target), **fields)
    InspectScorer(spec)  # before a plan: what cannot be asked is worth none
    return spec


def _digest(target: Target) -> str | None:
    """Hash the scorer's file; a module of a package is known by its package's version."""
    if target.file is None:
        return None
    try:
        return hashlib.sha256(target.file.read_bytes()).hexdigest()
    except OSError as exc:
        raise ConfigError(
            f"the scorer's file cannot be read ({exc.strerror or exc})", where=target.place
        ) from None


def _place_of(target: Target, parameters: list[str], where: str) -> str:
    """Decide where the policy's wording goes.

    Raises
    ------
    ConfigError
        If the factory has no such parameter, or takes an argument that it does not have.
    """
    open_ended = "**" in parameters
    named = [p for p in parameters if p != "**"]
    for argument in target.arguments:
        if argument not in named and not open_ended:
            raise ConfigError(
                f"the scorer has no parameter {argument!r}",
                where=where,
                mend=f"It has {', '.join(named) or 'none'}",
            )
    goes_to = target.policy or "policy"
    if goes_to in target.arguments:
        raise ConfigError(f"{goes_to} is an argument, and the policy goes there too", where=where)
    if goes_to in named or target.policy in _PLACES:
        return goes_to
    if open_ended and target.policy is not None:
        return goes_to
    raise ConfigError(
        f"the scorer has no parameter {goes_to!r} that could take the policy",
        where=where,
        mend="Say where the wording goes: &policy=PARAMETER"
        + (f" ({', '.join(named)})" if named else "")
        + ", &policy=target, or &policy=metadata for one that reads state.metadata['policy']",
    )


def _texts(prompt: JudgePrompt, where: str) -> tuple[str, str]:
    """Take a prompt apart: the policy's wording, and the record of the trajectory."""
    policy, record = getattr(prompt, "policy", None), getattr(prompt, "trajectory", None)
    if isinstance(policy, str) and isinstance(record, str):
        return policy, record
    said = {m.role: m.content for m in prompt.messages}
    if set(said) != {"system", "user"} or len(prompt.messages) != 2:
        raise PermanentError(
            "the prompt has no system message that could be the policy",
            where=where,
            mend="Leave --template out, or give one whose system message is {{ policy }}",
        )
    return said["system"].strip("\n"), said["user"].strip("\n")


def _part(value: Any, target: Target, where: str) -> Any:
    """Pick the value that is the verdict."""
    key = target.key
    if key is not None and isinstance(value, Mapping) and key in value:
        value = value[key]
    elif key is not None and isinstance(value, list | tuple) and key.isdecimal():
        value = value[int(key)] if int(key) < len(value) else None
    if isinstance(value, Mapping | list | tuple):
        keys = list(value) if isinstance(value, Mapping) else list(range(len(value)))
        raise PermanentError(
            f"the score holds several values: {', '.join(str(k) for k in keys[:12])}",
            where=where,
            mend=f"Say which is the verdict: &key={(keys or ['KEY'])[0]}",
            code="scorer_failed",
        )
    return value


def _written(verdict: str, value: object, words: str) -> str:
    finite = isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value))
    known = value if finite else None
    return json.dumps({"verdict": verdict, "score": known, "rationale": words}, ensure_ascii=True)
