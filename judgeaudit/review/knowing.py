"""What the judge of a run knows of itself: every source of confidence there is, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from judgeaudit.core.errors import ConfigError, unknown_name
from judgeaudit.core.records import Item, Score
from judgeaudit.engine.view import LedgerView
from judgeaudit.metrics.knowledge import Source, knowledge_scores
from judgeaudit.review.followup import Asked, answers_of
from judgeaudit.review.questions import PAIRS, items_of
from judgeaudit.stats._types import FloatArray1D, Undefined
from judgeaudit.stats.entropy import (
    Entailment,
    LexicalEntailment,
    discrete_semantic_entropy,
    meaning_clusters,
)
from judgeaudit.stats.surface import available, crossfit, fit

__all__ = ["ENTAILMENTS", "AskedEntailment", "Knowledge", "knowledge_of_run"]

ENTAILMENTS: Final = ("lexical", "asked")
"""How reasons are compared: by the rule of words that needs nothing, or by answers of a model."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What was found.

    Parameters
    ----------
    scores : tuple of Score
        AUROC for the judge's own errors, calibration and Brier score of each source.
    missing : dict of str to str
        Sources that the run does not have, and how to get them.
    """

    scores: tuple[Score, ...]
    missing: dict[str, str]


class AskedEntailment:
    """Entailment as a model answered it, for the reasons given for one item.

    Parameters
    ----------
    name : str
        Who was asked.
    reasons : mapping of str to int
        The repeat at which each reason occurs first.
    answers : mapping
        Answers by number of the question; see `questions.Question`.
    """

    def __init__(self, name: str, reasons: Mapping[str, int], answers: Mapping[int, Asked]) -> None:
        self._name = name
        self._reasons = reasons
        self._answers = answers

    @property
    def name(self) -> str:
        """Who was asked."""
        return self._name

    def __call__(self, premise: str, hypothesis: str) -> bool | None:
        """Return what was answered; None where nobody answered."""
        number = PAIRS * self._reasons[premise] + self._reasons[hypothesis]
        found = self._answers.get(number)
        return None if found is None else found.said


@dataclass(frozen=True, slots=True)
class _Calls:
    """Base calls with a verdict on a labelled item: one row each."""

    rows: list[dict[str, Any]]
    items: list[Item]
    right: np.ndarray[Any, np.dtype[np.bool_]]

    def by_item(self) -> dict[str, list[int]]:
        out: dict[str, list[int]] = {}
        for k, item in enumerate(self.items):
            out.setdefault(item.key, []).append(k)
        return out

    def index(self, of: Sequence[str]) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.unique(list(of), return_inverse=True)[1].reshape(-1).astype(np.int64)


def knowledge_of_run(
    view: LedgerView,
    folder: Path,
    *,
    entailment: str = "lexical",
    rule: Entailment | None = None,
) -> Knowledge:
    """Compare all sources of confidence in a run's base verdicts.

    Parameters
    ----------
    view : LedgerView
        The run.
    folder : Path
        Its folder; answers to later questions are read from below it.
    entailment : {"lexical", "asked"}
        How reasons are compared for semantic entropy.
    rule : Entailment, optional
        A function of one's own in the place of both: a local entailment model, for instance.

    Raises
    ------
    ConfigError
        If the entailment is unknown, or was to be asked and was not.
    """
    if entailment not in ENTAILMENTS:
        raise ConfigError(unknown_name("entailment", entailment, list(ENTAILMENTS)))
    calls = _calls_of(view)
    missing: dict[str, str] = {}
    sources = [*_told(view, calls), *_repeats(calls)]
    for name, text in (("p_true", "P(True)"), ("p_ik", "P(IK)")):
        answers = answers_of(folder, name)  # type: ignore[arg-type]
        if answers is None:
            missing[name] = f"{text} was not asked: judgeaudit ask-confidence RUN --source {name}"
            continue
        told = [
            answers.get((i.key, row["repeat"] if name == "p_true" else 0))
            for row, i in zip(calls.rows, calls.items, strict=True)
        ]
        sources.append(Source(name, _array([None if a is None else a.p_true for a in told])))
    if available():
        sources += _learned(calls)
    else:
        missing["p_ik_learned"] = "learning from features needs judgeaudit[control]"
    sources += _entropy(calls, folder, entailment, rule)
    for source in sources:
        if not np.isfinite(source.confidence).any():
            missing.setdefault(source.name, "no call has a confidence of this source")
    kept = [s for s in sources if np.isfinite(s.confidence).any()]
    scores = knowledge_scores(
        kept,
        calls.right,
        calls.index([i.cluster for i in calls.items]),
        calls.index([i.key for i in calls.items]),
        [i.dataset for i in calls.items],
        level=view.meta.protocol.level,
    )
    return Knowledge(scores, missing)


def _calls_of(view: LedgerView) -> _Calls:
    base = view.meta.protocol.reference.id
    items = items_of(view)
    rows = [
        row
        for row in view.rows(condition=base)
        if row["outcome"] == "verdict" and items[row["item"]].label is not None
    ]
    rows.sort(key=lambda r: (r["item"], r["wording"], r["repeat"]))
    if not rows:
        raise ConfigError(
            "no base call on a labelled item gave a verdict, so nothing shows when it errs",
            where=str(view.path),
            mend="Give a labelled corpus, or labels with --labels",
        )
    of = [items[row["item"]] for row in rows]
    right = [row["label"] == item.label for row, item in zip(rows, of, strict=True)]
    return _Calls(rows, of, np.array(right, dtype=np.bool_))


def _array(values: Sequence[float | None]) -> FloatArray1D:
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def _told(view: LedgerView, calls: _Calls) -> list[Source]:
    """Return the confidence that stands in the ledger, under the name of its source."""
    source = str(view.meta.extra.get("confidence", "stated"))
    if source == "repeats":
        return []
    return [Source(source, _array([row["confidence"] for row in calls.rows]))]


def _repeats(calls: _Calls) -> list[Source]:
    """Return the share of an item's verdicts that say what this one says."""
    share: list[float | None] = [None] * len(calls.rows)
    for places in calls.by_item().values():
        labels = [calls.rows[k]["label"] for k in places]
        for k in places if len(places) > 1 else []:
            share[k] = labels.count(calls.rows[k]["label"]) / len(labels)
    note = "share of the repeats that agree with the verdict, which is one of them"
    return [Source("repeats", _array(share), note=note)]


def _learned(calls: _Calls) -> list[Source]:
    """Learn from the items' words how often the judge is right, and predict it for others."""
    places = calls.by_item()
    firsts = [calls.items[of[0]] for of in places.values()]
    texts = [i.trajectory.words for i in firsts]
    share = np.array([float(calls.right[of].mean()) for of in places.values()])
    datasets = np.array([i.dataset for i in firsts], dtype=object)
    made = crossfit(texts, share, calls.index([i.cluster for i in firsts]))
    inside = np.full(len(texts), np.nan) if isinstance(made, Undefined) else made.probability
    out = [("p_ik_learned", inside, "learnt from words of items of other clusters")]
    names = sorted(set(datasets.tolist()))
    if len(names) > 1:
        outside = np.full(len(texts), np.nan)
        for name in names:
            here = np.flatnonzero(datasets == name).tolist()
            others = np.flatnonzero(datasets != name).tolist()
            outside[here] = fit([texts[k] for k in others], share[others]).predict(
                [texts[k] for k in here]
            )
        out.append(("p_ik_learned_elsewhere", outside, "learnt on the other datasets alone"))
    sources = []
    for name, value, note in out:
        spread = np.full(len(calls.rows), np.nan)
        for of, v in zip(places.values(), value.tolist(), strict=True):
            spread[of] = v
        sources.append(Source(name, spread, note=note))
    return sources


def _entropy(calls: _Calls, folder: Path, entailment: str, rule: Entailment | None) -> list[Source]:
    """Return minus the entropy of an item's reasons over their meanings, counted."""
    asked = _asked(folder) if rule is None and entailment == "asked" else None
    name = "a model that was asked" if asked is not None else (rule or LexicalEntailment()).name
    value: list[float | None] = [None] * len(calls.rows)
    for key, places in calls.by_item().items():
        told = [
            (str(r["rationale"]), int(r["repeat"]))
            for k in places
            if (r := calls.rows[k]) and r["rationale"]
        ]
        entails = rule or LexicalEntailment()
        if asked is not None:
            # the last one written is the first repeat that gave this reason
            entails = AskedEntailment(name, dict(reversed(told)), asked.get(key, {}))
        entropy = _entropy_of([text for text, _ in told], entails)
        for k in places:
            value[k] = None if entropy is None else -entropy
    note = f"minus the entropy of the reasons' meanings, counted (discrete); entailment by {name}"
    return [Source("semantic_entropy_discrete", _array(value), probability=False, note=note)]


def _entropy_of(reasons: list[str], entails: Entailment) -> float | None:
    """Return the entropy of an item's reasons; None where there are fewer than two."""
    if len(reasons) < 2:
        return None
    meanings = meaning_clusters(reasons, entails)
    if isinstance(meanings, Undefined):
        return None
    entropy = discrete_semantic_entropy(meanings)
    return None if isinstance(entropy, Undefined) else entropy


def _asked(folder: Path) -> dict[str, dict[int, Asked]]:
    answers = answers_of(folder, "entailment")
    if answers is None:
        raise ConfigError(
            "entailment was not asked in this run",
            where=str(folder),
            mend="judgeaudit ask-confidence RUN --source entailment, or --entailment lexical",
        )
    out: dict[str, dict[int, Asked]] = {}
    for (key, number), answer in answers.items():
        out.setdefault(key, {})[number] = answer
    return out
