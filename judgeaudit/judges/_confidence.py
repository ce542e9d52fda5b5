"""Where a verdict's confidence comes from: one source a run, never a mix."""

from __future__ import annotations

import json
from typing import Final, Literal

from judgeaudit.core.records import JudgeSpec, JudgeTemplate, Reply, Verdict

__all__ = ["LISTED", "LOGPROBS", "ConfidenceSource", "saved_probability", "source_of", "sourced"]

ConfidenceSource = Literal["logprobs", "stated", "repeats"]
"""`logprobs`: probability of the label at the verdict's token. `stated`: the number in the judge's
answer. `repeats`: the share of an item's repeats that agree, known once all are there."""

LOGPROBS: Final = {"logprobs": True, "top_logprobs": 5}
"""Request parameters; five alternatives are what every provider that has them gives."""

LISTED: Final = 200
"""Alternatives that the embedded model lists. They are those of the model before its grammar, which
may have other words in mind: among 40 one of the two labels was sometimes missing."""


def source_of(judge: JudgeSpec, template: JudgeTemplate) -> ConfidenceSource:
    """Say where the confidence of a judge's verdicts comes from; follows from its identity."""
    if judge.decoding.get("logprobs") is True:
        return "logprobs"
    return "stated" if "confidence" in template.answer else "repeats"


def saved_probability(extra: str | None) -> dict[str, float]:
    """Return `p_unsafe` as a ledger's column of further fields holds it, as a keyword.

    Examples
    --------
    >>> saved_probability('{"p_unsafe": 0.0}'), saved_probability('{"p_un')
    ({'p_unsafe': 0.0}, {})
    """
    try:
        p = json.loads(extra or "{}")["p_unsafe"]
    except (ValueError, KeyError, TypeError):
        return {}
    return {"p_unsafe": p} if isinstance(p, int | float) and 0 <= p <= 1 else {}


def sourced(verdict: Verdict, reply: Reply, source: str) -> Verdict:
    """Return a verdict with the confidence of this source alone, or with none.

    Examples
    --------
    >>> read = Verdict(outcome="verdict", label="SAFE", confidence=0.9)
    >>> sourced(read, Reply(text="SAFE", p_unsafe=0.25), "logprobs").confidence
    0.75
    >>> sourced(read, Reply(text="SAFE"), "logprobs").confidence is None
    True
    """
    if source == "stated":
        return verdict
    confidence = None
    if source == "logprobs" and verdict.label is not None and reply.p_unsafe is not None:
        confidence = reply.p_unsafe if verdict.label == "UNSAFE" else 1 - reply.p_unsafe
    return verdict.model_copy(update={"confidence": confidence})
