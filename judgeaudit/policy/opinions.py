"""A model's second opinion on rewrites: a flag, never a gate, and never called human."""

from __future__ import annotations

import re
from typing import Final, Literal

from judgeaudit.core.records import (
    Certificate,
    Dimension,
    Finding,
    JudgePrompt,
    JudgeSpec,
    Record,
)
from judgeaudit.policy.questions import json_objects, load_question, put
from judgeaudit.policy.rating.records import DIMENSIONS, Choice, RatedPair

__all__ = [
    "ORDERS",
    "Opinion",
    "OpinionFile",
    "Order",
    "noticed_planted",
    "opinion_certificates",
    "opinion_prompt",
    "read_opinion",
]

Order = Literal["original_first", "rewrite_first"]
ORDERS: Final[tuple[Order, ...]] = ("original_first", "rewrite_first")

_SAID: Final[dict[str, Choice]] = {"same": "yes", "different": "no", "unsure": "unsure"}
_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


class Opinion(Record):
    """What a model answered about one pair in one order; its text, unread.

    Parameters
    ----------
    text : str
        The answer as it came.
    """

    pair: str
    order: Order
    text: str
    served_model: str | None = None


class OpinionFile(Record):
    """All that a model was asked and answered; what follows from it is computed when loaded."""

    format: Literal["judgeaudit-opinions"] = "judgeaudit-opinions"
    version: Literal[1] = 1
    policy_id: str
    judge: JudgeSpec
    pairs: tuple[RatedPair, ...]
    opinions: tuple[Opinion, ...] = ()


def opinion_prompt(pair: RatedPair, order: Order) -> JudgePrompt:
    """Make the question about a pair in one order."""
    texts = [pair.original.rstrip("\n"), pair.rewrite.rstrip("\n")]
    first, second = texts if order == "original_first" else reversed(texts)
    question = load_question("opinion", ("first", "second"))
    return put(question, {"first": first, "second": second})


def read_opinion(text: str) -> dict[Dimension, Choice] | None:
    """Read an answer: the last JSON object with all six dimensions; None where there is none.

    Examples
    --------
    >>> read_opinion('{"scope": "same"}') is None
    True
    """
    for found in reversed(json_objects(_THINKING.sub("", text))):
        said = {d: str(found.get(d, "")).strip().lower() for d in DIMENSIONS}
        if all(word in _SAID for word in said.values()):
            return {d: _SAID[word] for d, word in said.items()}
    return None


def opinion_certificates(file: OpinionFile) -> tuple[tuple[RatedPair, Certificate], ...]:
    """Return the opinion on each real rewrite that was answered in both orders.

    It is passed if every dimension was called the same in both; a disagreement between the
    orders is a finding of its own.
    """
    held: list[tuple[RatedPair, Certificate]] = []
    noticed, planted = noticed_planted(file)
    for pair in file.pairs:
        said = _said(file, pair)
        if pair.planted is not None or len(said) < len(ORDERS):
            continue
        findings = tuple(
            Finding(
                dimension=d,
                where="asked in both orders",
                what=f"called {_word(said['original_first'][d])} with the original first, "
                f"{_word(said['rewrite_first'][d])} with the rewrite first",
            )
            for d in DIMENSIONS
            if {said[o][d] for o in ORDERS} != {"yes"}
        )
        certificate = Certificate(
            rendering_sha256=pair.rewrite_sha256,
            base_sha256=pair.original_sha256,
            evidence="model",
            passed=not findings,
            findings=findings,
            note=f"{file.judge.backend}:{file.judge.model}, asked in both orders; noticed "
            f"{noticed} of {planted} wrong rewrites planted",
        )
        held.append((pair, certificate))
    return tuple(held)


def noticed_planted(file: OpinionFile) -> tuple[int, int]:
    """Count the planted wrong rewrites that the model noticed in both orders, and all of them.

    A model that notices few has no opinion worth having.
    """
    planted = [p for p in file.pairs if p.planted is not None]
    noticed = 0
    for pair in planted:
        said = _said(file, pair)
        noticed += len(said) == len(ORDERS) and all("no" in said[o].values() for o in ORDERS)
    return noticed, len(planted)


def _said(file: OpinionFile, pair: RatedPair) -> dict[Order, dict[Dimension, Choice]]:
    return {
        o.order: read
        for o in file.opinions
        if o.pair == pair.id and (read := read_opinion(o.text)) is not None
    }


def _word(choice: Choice) -> str:
    return next(word for word, c in _SAID.items() if c == choice)
