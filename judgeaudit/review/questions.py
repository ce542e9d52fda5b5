"""Questions about a run's own verdicts: whether they are right, will be, and what reasons mean."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

from judgeaudit.core.errors import ConfigError, LedgerError
from judgeaudit.core.records import Item, JudgePrompt, JudgeTemplate, Message, Trajectory
from judgeaudit.engine.chain import plain_text
from judgeaudit.engine.view import LedgerView
from judgeaudit.policy.prompts import build_prompt
from judgeaudit.policy.questions import QuestionTemplate, load_question, put

__all__ = ["PAIRS", "Question", "Source", "asking_of", "items_of", "questions_of"]

Source = Literal["p_true", "p_ik", "entailment"]

PAIRS: Final = 1000
"""A pair of reasons has as number this times the first repeat, plus the second."""

_SLOTS: Final[dict[Source, tuple[str, ...]]] = {
    "p_true": ("verdict",),
    "p_ik": (),
    "entailment": ("first", "second"),
}


@dataclass(frozen=True, slots=True)
class Question:
    """One question about an item.

    Parameters
    ----------
    item : Item
        The item.
    number : int
        For "p_true" the repeat whose verdict is meant; for "entailment" `1000 * a + b`: whether
        the reason of repeat a entails that of repeat b; 0 for "p_ik".
    prompt : JudgePrompt
        What is asked.
    """

    item: Item
    number: int
    prompt: JudgePrompt


def asking_of(source: Source) -> QuestionTemplate:
    """Return how a source is asked."""
    return load_question(source, _SLOTS[source])


def items_of(view: LedgerView) -> dict[str, Item]:
    """Return the items of a run by key, with what was shown of them."""
    rows = view.connection.execute(
        "SELECT i.dataset, i.subset, i.name, i.cluster, i.label, i.label_source, i.ambiguous, "
        "i.strata, p.body FROM items i JOIN parts p ON p.id = i.trajectory ORDER BY i.id"
    ).fetchall()
    out: dict[str, Item] = {}
    for *texts, label, source, ambiguous, strata, body in rows:
        dataset, subset, name, cluster = map(plain_text, texts)
        item = Item(
            dataset=str(dataset),
            subset=str(subset),
            id=str(name),
            cluster=str(cluster),
            trajectory=Trajectory.model_validate_json(str(plain_text(body))),
            label=label,
            label_source=source,
            ambiguous=None if ambiguous is None else bool(ambiguous),
            strata=json.loads(str(plain_text(strata))),
        )
        out[item.key] = item
    return out


def questions_of(view: LedgerView, source: Source) -> list[Question]:
    """List the questions of a source about the base calls of a run that gave a verdict.

    Parameters
    ----------
    view : LedgerView
        The run.
    source : {"p_true", "p_ik", "entailment"}
        What is asked.

    Raises
    ------
    LedgerError
        If the run's prompts cannot be rebuilt from its ledger.
    ConfigError
        If there is nothing to ask about.
    """
    items, asking = items_of(view), asking_of(source)
    base = view.meta.protocol.reference.id
    rows = [
        row
        for row in view.rows(condition=base)
        if row["outcome"] == "verdict" and row["wording"] == 0
    ]
    made: list[Question] = []
    if source == "entailment":
        made = _pairs(items, rows, asking)
    else:
        rebuild, known = _Prompts(view, base), set()
        for row in rows:
            if source == "p_ik" and row["item"] in known:
                continue
            known.add(row["item"])
            item = items[row["item"]]
            prompt = rebuild(item, row["prompt_sha256"])
            made.append(_after(prompt, row, item, asking, source))
    if not made:
        raise ConfigError(
            f"there is nothing to ask for {source}",
            where=str(view.path),
            mend="It takes verdicts on the base prompt, and for entailment two different reasons "
            "for an item",
        )
    return sorted(made, key=lambda q: (q.item.key, q.number))


def _after(
    prompt: JudgePrompt, row: dict[str, Any], item: Item, asking: QuestionTemplate, source: Source
) -> Question:
    if source == "p_ik":
        *before, last = prompt.messages
        text = f"{last.content}\n\n{asking.user.strip()}"
        return Question(
            item, 0, JudgePrompt(messages=(*before, last.model_copy(update={"content": text})))
        )
    question = put(asking, {"verdict": row["label"]}).messages[-1]
    said = Message(role="assistant", content=row["text"] or row["label"])
    return Question(item, row["repeat"], JudgePrompt(messages=(*prompt.messages, said, question)))


def _pairs(
    items: dict[str, Item], rows: Iterable[dict[str, Any]], asking: QuestionTemplate
) -> list[Question]:
    """Ask about each ordered pair of different reasons; equal ones need no model."""
    reasons: dict[str, dict[str, int]] = {}
    for row in sorted(rows, key=lambda r: (r["item"], r["repeat"])):
        if row["rationale"]:
            reasons.setdefault(row["item"], {}).setdefault(row["rationale"], row["repeat"])
    return [
        Question(items[key], PAIRS * a + b, put(asking, {"first": first, "second": second}))
        for key, of in reasons.items()
        for first, a in of.items()
        for second, b in of.items()
        if a != b
    ]


class _Prompts:
    """Rebuilds base prompts from a ledger, and proves each by its hash."""

    def __init__(self, view: LedgerView, base: str) -> None:
        meta = view.meta
        system, mark, user = meta.template.removeprefix("[system]\n").partition("\n\n[user]\n")
        texts = [r for r in meta.renderings if r.condition == base and r.wording == 0]
        if not mark or not texts:
            raise LedgerError(
                "the run does not hold what its prompts were made of",
                where=str(view.path),
                mend="Only a run that was asked here can be asked about itself",
            )
        self._template = JudgeTemplate(id="run", system=system, user=user.removesuffix("\n"))
        self._rendering, self._seed, self._path = texts[0], meta.protocol.seed, view.path

    def __call__(self, item: Item, sha256: str) -> JudgePrompt:
        fence_key = f"{self._seed}/{item.key}"
        made = build_prompt(self._template, self._rendering, item.trajectory, fence_key=fence_key)
        if made.sha256 != sha256:
            raise LedgerError(
                f"the prompt of {item.key!r} cannot be rebuilt as it was sent",
                where=str(self._path),
                mend="Ask with the version of judgeaudit that made the run",
            )
        return made
