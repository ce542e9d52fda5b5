"""Korean sentences about the verdict: threshold, burden of proof, default rule."""

from __future__ import annotations

import re
from dataclasses import dataclass

from judgeaudit.core.records import Dimension
from judgeaudit.core.records.policy import NUMBER
from judgeaudit.policy import lexicon_ko as lex

__all__ = ["QUESTIONS", "Answer", "as_number", "dimension_of_answer", "is_answer", "read_answer"]

QUESTIONS: dict[str, Dimension] = {
    "threshold": "implicit_threshold",
    "below": "implicit_threshold",
    "doubt": "burden_of_proof",
    "exception": "burden_of_proof",
    "default": "default_rule",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a sentence settles, how, and the number that it names."""

    question: str
    read: str
    number: str | None


def is_answer(said: str) -> bool:
    """Say whether a sentence speaks of the verdict, or of the proof of exceptions."""
    return "SAFE" in said or re.search(r"예외.*(?:요건|적용)|요건.*예외", said) is not None


def read_answer(said: str, unit: str) -> Answer | None:
    """Read a whole sentence; None if it says anything else.

    Parameters
    ----------
    unit : str
        What the threshold counts, without blanks; empty: nothing. It may have a place for the
        number: then its particle stands in front of it, and its counter behind.
    """
    counted, placed, counter = unit.partition(NUMBER)
    before = re.escape(counted) + ("" if placed else "[이가]")
    for question, answer, pattern in lex.ANSWERS:
        filled = pattern.replace("<UNIT>", before).replace("<COUNTER>", re.escape(counter))
        m = re.fullmatch(filled, said) if unit or "<UNIT>" not in pattern else None
        if m is not None:
            groups = {k: v for k, v in m.groupdict().items() if v is not None}
            read = answer or groups.get("label") or groups["label2"]
            return Answer(question, read, groups.get("number") or groups.get("number2"))
    return None


def dimension_of_answer(said: str) -> Dimension:
    """Name the dimension of a sentence about the verdict that says something else."""
    if re.search(r"분명|예외|요건|여부|하였는지", said):
        return "burden_of_proof"
    if re.search(r"행위[는에가]", said):
        return "default_rule"
    return "implicit_threshold"


def as_number(text: str) -> float | None:
    """Read a number, thousands separated by commas; None for anything else."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
