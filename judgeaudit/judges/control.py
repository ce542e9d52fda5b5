"""A control: a judge that is right about as often as its corpus's words allow, and reads no policy.

It is trained, when the audit begins, on the labels of the very corpus that is judged; each item is
judged by a model that saw no item of its cluster. It never looks at the prompt, so no wording of
the policy can move it: an audit that called it responsive would be wrong, and a judge that is no
more accurate than it may have learnt no more than words.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final
from urllib.parse import parse_qsl

import numpy as np

from judgeaudit.core.errors import ConfigError, PermanentError, unknown_name
from judgeaudit.core.records import Call, Item, JudgePrompt, JudgeSpec, Label, Reply
from judgeaudit.judges.base import JUDGES
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.surface import FOLDS, TextModel, available, crossfit

__all__ = ["CONTROL", "NOTE", "ControlJudge", "options_of"]

CONTROL: Final = "tfidf_logreg"
"""The only model there is, and the default."""

NOTE: Final = (
    "A control and no language model: TF-IDF and logistic regression, trained on this corpus's own "
    "labels, each item by a model that saw no item of its cluster; it reads no policy."
)

_OPTIONS: Final = {"folds": (2, 100), "seed": (0, 2**31 - 1)}


@JUDGES.register("control")
class ControlJudge:
    """A text classifier in the place of a judge: blind to the policy by construction.

    Parameters
    ----------
    spec : JudgeSpec
        `model` is "tfidf_logreg", and may carry options: `tfidf_logreg?folds=10&seed=7`.

    Raises
    ------
    ConfigError
        scikit-learn is missing (says how to get it), or an unknown model or option.

    Notes
    -----
    It is told the items, with their labels, before the first call (`learn`). Its answers have no
    jitter. Where a condition takes the trajectory away, it judges what is left.
    """

    def __init__(self, spec: JudgeSpec) -> None:
        self._folds, self._seed = options_of(spec.model)
        if not available():
            raise ConfigError(
                "the control judge needs scikit-learn, which is not installed",
                where=f"control:{spec.model}",
                mend="Install it with `pip install 'judgeaudit[control]'`",
            )
        self._spec = spec
        self._items: dict[str, Item] = {}
        self._model_of: dict[str, TextModel] = {}
        self._emptied: frozenset[str] = frozenset()
        self._said: dict[tuple[str, bool], str] = {}

    def __repr__(self) -> str:
        return f"ControlJudge({self._spec.model!r})"

    @property
    def spec(self) -> JudgeSpec:
        """Identity of the judge."""
        return self._spec

    def learn(self, items: Sequence[Item]) -> None:
        """Train on the items' gold labels; each item is then judged by a model that saw others.

        Raises
        ------
        ConfigError
            If there is too little to learn from: no labels, or one cluster alone.
        """
        if not items:
            return
        from judgeaudit.policy import load_conditions

        ordered = sorted(items, key=lambda i: i.key)
        made = crossfit(
            [i.trajectory.words for i in ordered],
            np.array([float(i.label == "UNSAFE") for i in ordered]),
            np.unique([i.cluster for i in ordered], return_inverse=True)[1].reshape(-1),
            known=np.array([i.label is not None for i in ordered]),
            n_folds=self._folds,
            seed=self._seed,
        )
        if isinstance(made, Undefined):
            raise ConfigError(
                f"the control judge cannot be trained: {made.reason}",
                where=f"control:{self._spec.model}",
                mend="Give a labelled corpus, or labels with --labels",
            )
        self._items, self._said = {i.key: i for i in ordered}, {}
        self._model_of = {
            i.key: made.models[k] for i, k in zip(ordered, made.fold.tolist(), strict=True)
        }
        conditions = load_conditions().values()
        self._emptied = frozenset(c.id for c in conditions if c.side == "trajectory")

    async def ask(self, prompt: JudgePrompt, call: Call) -> Reply:
        """Answer a call from the item's own words; see `Judge.ask`.

        Raises
        ------
        PermanentError
            If the judge was not told of the item (`learn`).
        """
        del prompt  # the policy stands in it, and must not be seen
        item = self._items.get(call.item)
        if item is None:
            raise PermanentError(
                f"the control judge does not know the item {call.item!r}",
                mend="Tell it all items with learn() before the first call",
            )
        # the same to every repeat and under every wording, and so worked out once
        asked = (item.key, call.condition in self._emptied)
        if asked not in self._said:
            self._said[asked] = self._answer(item, emptied=asked[1])
        return Reply(
            text=self._said[asked],
            finish_reason="stop",
            served_model=f"control/{CONTROL}",
            cost=0.0,  # known to be free
        )

    def _answer(self, item: Item, *, emptied: bool) -> str:
        from judgeaudit.policy import vacuum_trajectory

        shown = vacuum_trajectory(item.trajectory) if emptied else item.trajectory
        model = self._model_of[item.key]
        p = float(model.predict([shown.words])[0])
        label: Label = "UNSAFE" if p >= 0.5 else "SAFE"
        unsafe, safe = model.reasons(shown.words)
        words = ", ".join(unsafe if label == "UNSAFE" else safe)
        answer = {
            "verdict": label,
            "confidence": round(max(p, 1 - p), 4),
            "rationale": f"Words that speak for it: {words or 'none'}.",
        }
        return json.dumps(answer, ensure_ascii=False)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to release."""


def options_of(model: str) -> tuple[int, int]:
    """Read the number of folds and the seed off a model string.

    Raises
    ------
    ConfigError
        Naming what it does not know.
    """
    name, _, query = model.partition("?")
    if name != CONTROL:
        raise ConfigError(unknown_name("control", name, [CONTROL]))
    found = {"folds": FOLDS, "seed": 0}
    for key, text in parse_qsl(query, keep_blank_values=True):
        if key not in _OPTIONS:
            raise ConfigError(unknown_name("option", key, list(_OPTIONS)), where=model)
        low, high = _OPTIONS[key]
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise ConfigError(
                f"{key}={text!r} is not a whole number from {low} to {high}", where=model
            )
        found[key] = int(text)
    return found["folds"], found["seed"]
