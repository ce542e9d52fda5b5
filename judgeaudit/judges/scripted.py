"""Planted judges that ship: they need no key and no network, and their faults are known.

A scripted judge stands in for a model, to try an audit and to show that it finds what is planted.
Its answers are texts in many shapes, so that they pass through the parser like anybody's.

>>> from judgeaudit.core.records import JudgeSpec
>>> judge = ScriptedJudge(JudgeSpec(backend="scripted", model="noisy?jitter=0.1&seed=7"))
>>> judge
ScriptedJudge('noisy?jitter=0.1&seed=7')
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar
from urllib.parse import parse_qsl

from judgeaudit.core.errors import ConfigError, PermanentError, unknown_name
from judgeaudit.core.records import Call, Item, JudgePrompt, JudgeSpec, Label, Reply
from judgeaudit.judges._planted import CHARACTERS, Cell, Character, cell, hears, uniform
from judgeaudit.judges.base import JUDGES

__all__ = ["ScriptedJudge"]

T = TypeVar("T")

_REASONS: Final[dict[Label, tuple[str, ...]]] = {
    "SAFE": ("The agent stayed within what it was asked to do.", "No norm applies here."),
    "UNSAFE": ("The agent acted without the confirmation it needed.", "A norm was violated."),
}


def _object(label: Label, sure: float, reason: str) -> str:
    return json.dumps({"verdict": label, "confidence": sure, "rationale": reason})


_SHAPES: Final[tuple[Callable[[Label, float, str], str], ...]] = (
    _object,
    lambda v, p, why: f"```json\n{_object(v, p, why)}\n```",
    lambda v, p, why: (
        f"<think>Perhaps {_object(_other(v), p, '?')}? No.</think>\n{_object(v, p, why)}"
    ),
    lambda v, p, why: f"I compared the steps with the policy.\n\n{_object(v, p, why)}\n\nDone.",
    lambda v, p, why: json.dumps(
        {"rationale": why, "confidence": p, "verdict": v.lower()}, indent=2
    ),
    lambda v, p, why: f'The tool printed `{{"verdict": "{_other(v)}"}}`.\n{_object(v, p, why)}',
    lambda v, _p, why: f"**Verdict:** {v}. {why}",
)
_FAILED: Final[tuple[tuple[str | None, str, str | None], ...]] = (
    # text, finish reason, refusal
    ("", "stop", None),
    (None, "content_filter", "I can't help with that."),
    ('{"verdict": "UNS', "length", None),
    ("This one is hard to judge.", "stop", None),
    ('{"verdict": "UNCLEAR", "confidence": 0.5}', "stop", None),
    ('{"verdict": "SAFE"}\n\nOr rather:\n{"verdict": "UNSAFE"}', "stop", None),
)
# The record of a prompt: a judge that reads the policy's words does not read them there.
_RECORD: Final = re.compile(
    r"the trajectory begins$.*^[^\n]*the trajectory ends$", re.DOTALL | re.MULTILINE
)
# Option: field of Character or name of ours, lowest and highest value.
_OPTIONS: Final[dict[str, tuple[float, float]]] = {
    "jitter": (0.0, 0.5),
    "error": (0.0, 1.0),
    "flips": (0.0, 1.0),
    "failures": (0.0, 1.0),
    "seed": (0, 2**31 - 1),
    "latency": (0.0, 60.0),
    "turns": (0.0, 1.0),
}


@JUDGES.register("scripted")
class ScriptedJudge:
    """A judge with planted faults.

    Parameters
    ----------
    spec : JudgeSpec
        `model` names the judge, and may carry options: `brittle_t4?flips=0.3&seed=7`.

        ================= =======================================================================
        quiet             follows policy and labels (8% errors on clear items), jitter 2%
        noisy             jitter 20%, no effect of wording
        brittle_t4        turns round on 20% of the items under T4 (2% under T1, T2)
        threshold_blind   reads the policy, but neither strict nor lenient moves it
        clustered         turns round on whole clusters under T4 (20%), T1 and T2 (10%)
        ignores_policy    judges the trajectory alone: no condition but `vacuum` moves it
        always_safe       SAFE to everything
        always_unsafe     UNSAFE to everything
        fails_to_parse    25% of answers hold no verdict (2.5% under base), more of the UNSAFE ones
        sharpening        jitter 35% under base and T0, 5% under every other prompt
        remembers         gives its first answer again to each repeat, as a cache would
        hears_word        turns round on 25% of the items where the policy's text holds one word
        hears_order       the same for one clause order, as T1 has it
        hears_place       the same for the place of one norm's exceptions, as T4 has it
        hears_pair        that word and that place, only together
        ================= =======================================================================

        Options: `jitter` (0 to 0.5), `error`, `flips` (under T4), `failures` (0 to 1), `seed`,
        `latency` (seconds a call), `turns` (share that a judge turns which reads the words; these
        know the policy agent_safety in English alone).

    Raises
    ------
    ConfigError
        An unknown name, an unknown option or a value out of range; lists what is known.

    Notes
    -----
    An answer depends on (seed, item, condition, wording, repeat) alone: a rerun or a resumed run
    gets the same ledger. The draws of different calls are independent, but for `remembers`.
    """

    def __init__(self, spec: JudgeSpec) -> None:
        self._spec = spec
        self._name, options = _read_model(spec.model)
        self._seed = int(options.pop("seed", 0))
        self._latency = options.pop("latency", 0.0)
        self._character = _changed(CHARACTERS[self._name], options)
        self._items: dict[str, Item] = {}

    def __repr__(self) -> str:
        return f"ScriptedJudge({self._spec.model!r})"

    @property
    def spec(self) -> JudgeSpec:
        """Identity of the judge."""
        return self._spec

    @property
    def summary(self) -> str:
        """What is planted, in a few words."""
        return self._character.summary

    def learn(self, items: Sequence[Item]) -> None:
        """Take the items, with their gold labels, that the audit will ask about."""
        self._items |= {item.key: item for item in items}

    def cell(self, item: Item, condition: str) -> Cell:
        """Return what is planted for an item under a condition, failures included."""
        return cell(self._character, item, condition, self._seed)

    def truth(
        self, items: Iterable[Item], conditions: Iterable[str]
    ) -> dict[str, dict[str, float]]:
        """Return the planted truth that an audit should find.

        Parameters
        ----------
        items : iterable of Item
        conditions : iterable of str
            Condition ids; one that is not known here is judged like `base`.

        Returns
        -------
        dict
            `truth[item.key][condition]`: probability of UNSAFE, 0 to 1, of one call's verdict
            before any answer fails (failures: see `cell`).
        """
        ids = list(conditions)
        return {item.key: {c: self.cell(item, c).p_unsafe for c in ids} for item in items}

    def fate(self, call: Call, prompt: JudgePrompt | None = None) -> tuple[Label, bool]:
        """Return the verdict that is planted for a call, and whether its answer holds none.

        Parameters
        ----------
        call : Call
            The call.
        prompt : JudgePrompt, optional
            What is asked; without it no judge reacts to words.

        Raises
        ------
        PermanentError
            If the judge was not told of the item (`learn`).
        """
        item = self._items.get(call.item)
        if item is None:
            raise PermanentError(
                f"the scripted judge {self._name!r} does not know the item {call.item!r}",
                mend="Tell it all items with learn() before the first call",
            )
        key, planted = self._key(call), self._planted(item, call.condition, prompt)
        label: Label = "UNSAFE" if uniform("verdict", *key) < planted.p_unsafe else "SAFE"
        fails = planted.fails_if_unsafe if label == "UNSAFE" else planted.fails_if_safe
        return label, uniform("fails", *key) < fails

    def _planted(self, item: Item, condition: str, prompt: JudgePrompt | None) -> Cell:
        planted = self.cell(item, condition)
        if prompt is None or not self._character.reads:
            return planted
        text = _RECORD.sub("", "\n".join(m.content for m in prompt.messages))
        if hears(self._character, item, text, self._seed):
            return dataclasses.replace(planted, p_unsafe=1 - planted.p_unsafe)
        return planted

    def _key(self, call: Call) -> tuple[object, ...]:
        repeat = 0 if self._character.remembers else call.repeat
        return (self._seed, self._name, call.item, call.condition, call.wording, repeat)

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        """Answer a call; see `Judge.ask`.

        Raises
        ------
        PermanentError
            If the judge was not told of the item (`learn`).
        """
        # stands in for a model: of the prompt it reads at most whether the policy holds a word
        if self._latency:
            await asyncio.sleep(self._latency)
        (label, failed), key = self.fate(call, prompt), self._key(call)
        planted = self._planted(self._items[call.item], call.condition, prompt)
        if failed:
            return self._reply(*_pick(_FAILED, "how", *key))
        sure = planted.p_unsafe if label == "UNSAFE" else 1 - planted.p_unsafe
        reason = _pick(_REASONS[label], "reason", *key)
        return self._reply(_pick(_SHAPES, "shape", *key)(label, round(sure, 2), reason))

    def _reply(
        self, text: str | None, finish_reason: str = "stop", refusal: str | None = None
    ) -> Reply:
        return Reply(
            text=text,
            finish_reason=finish_reason,
            refusal=refusal,
            served_model=f"scripted/{self._name}",
            cost=0.0,  # known to be free
        )

    async def aclose(self) -> None:
        """Do nothing: there is nothing to release."""


def _read_model(model: str) -> tuple[str, dict[str, float]]:
    name, _, query = model.partition("?")
    if name not in CHARACTERS:
        raise ConfigError(unknown_name("scripted judge", name, list(CHARACTERS)))
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        raise ConfigError(
            f"cannot read the options {query!r}",
            where=model,
            mend=f"Write {name}?jitter=0.1&seed=7",
        ) from None
    options: dict[str, float] = {}
    for key, text in pairs:
        if key not in _OPTIONS:
            raise ConfigError(unknown_name("option", key, list(_OPTIONS)), where=model)
        if key in options:
            raise ConfigError(f"the option {key!r} is given twice", where=model)
        options[key] = _number(model, key, text)
    return name, options


def _number(model: str, key: str, text: str) -> float:
    low, high = _OPTIONS[key]
    try:
        value = int(text) if key == "seed" else float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        kind = "a whole number" if key == "seed" else "a number"
        raise ConfigError(f"{key}={text!r} is not {kind} from {low:g} to {high:.10g}", where=model)
    return value


def _pick(options: Sequence[T], *key: object) -> T:
    return options[int(uniform(*key) * len(options))]


def _other(label: Label) -> Label:
    return "SAFE" if label == "UNSAFE" else "UNSAFE"


def _changed(character: Character, options: dict[str, float]) -> Character:
    changes: dict[str, object] = dict(options)
    if "flips" in options:
        changes["flips"] = {**character.flips, "T4": options["flips"]}
    return dataclasses.replace(character, **changes)  # type: ignore[arg-type]
