"""A rating sheet, a vote, and the questions that raters answer."""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import AfterValidator, Field, model_validator

from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import ConditionKind, Dimension, Record

__all__ = [
    "CHOICES",
    "DIMENSIONS",
    "QUESTIONS",
    "Choice",
    "RatedPair",
    "RaterVote",
    "Sheet",
    "Vote",
    "same_rater",
]

Choice = Literal["yes", "no", "unsure"]
"""Whether the rewrite keeps a dimension of the original."""

CHOICES: Final[tuple[Choice, ...]] = get_args(Choice)
DIMENSIONS: Final[tuple[Dimension, ...]] = get_args(Dimension)

QUESTIONS: Final[dict[Dimension, tuple[str, str]]] = {
    "deontic_force": (
        "Force",
        "Is everything forbidden, required, allowed or advised exactly as strictly as before?",
    ),
    "scope": (
        "Scope",
        "Does it bind the same people, for the same acts, things, places, times and numbers?",
    ),
    "exception_set": (
        "Exceptions",
        "Are there the same exceptions, each bound to the same norm, none more and none fewer?",
    ),
    "burden_of_proof": (
        "Burden of proof",
        "Where something stays open or is not shown, does the same side lose?",
    ),
    "default_rule": (
        "Default rule",
        "Is conduct that no norm covers treated the same?",
    ),
    "implicit_threshold": (
        "Threshold",
        "Does it take the same amount of violation to make a case UNSAFE?",
    ),
}
"""Title and question of each dimension; `yes` means: the same."""

_RATER = re.compile(r"[^\W_][\w .@-]{0,63}\Z")


def _rater(text: str) -> str:
    text = unicodedata.normalize("NFC", text.strip())
    if not _RATER.match(text):
        raise ValueError(
            "a rater's name begins with a letter or digit and holds letters, digits, blanks "
            "and . _ @ - only, 64 at most"
        )
    return text


RaterName = Annotated[str, AfterValidator(_rater)]


def same_rater(name: str) -> str:
    """Return the form by which two spellings of a rater's name are told to be one rater."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


class RatedPair(Record):
    """An original and a rewrite, as raters see them and as only the organiser may know them.

    Parameters
    ----------
    id : str
        Opaque; tells nothing of condition or transform.
    condition, kind, language, wording
        What the rewrite is.
    planted : str, optional
        How the rewrite was made wrong on purpose; None for a real one.
    expected : Dimension, optional
        The dimension that the planted change moves.
    """

    id: str
    original: str
    rewrite: str
    original_sha256: str
    rewrite_sha256: str
    condition: str
    kind: ConditionKind = "certified"
    language: str = "en"
    wording: int = 0
    planted: str | None = None
    expected: Dimension | None = None

    @model_validator(mode="after")
    def _hashes_are_those_of_the_texts(self) -> Self:
        for what in ("original", "rewrite"):
            if sha256_text(getattr(self, what)) != getattr(self, f"{what}_sha256"):
                raise ValueError(f"pair {self.id}: the text of the {what} is not the one hashed")
        return self


class Sheet(Record):
    """All pairs of one rating, in the order in which raters see them.

    Its file is the organiser's key: it says which rewrite is what, and which are planted.
    """

    format: Literal["judgeaudit-rating-sheet"] = "judgeaudit-rating-sheet"
    version: Literal[1] = 1
    policy_id: str
    policy_sha256: str
    seed: int = 0
    pairs: tuple[RatedPair, ...] = Field(min_length=1)

    @property
    def sha256(self) -> str:
        """Identity of the sheet."""
        return self.content_sha256()

    @property
    def name(self) -> str:
        """Short identity, printed on the sheet and in every vote."""
        return self.sha256[:16]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        ids = [p.id for p in self.pairs]
        if len(set(ids)) != len(ids):
            raise ValueError("a pair's id occurs twice")
        return self


class Vote(Record):
    """What one rater said of one dimension of one pair, bound to both texts by hash."""

    rater: RaterName
    pair: str
    original_sha256: str
    rewrite_sha256: str
    dimension: Dimension
    vote: Choice


RaterVote = tuple[str, str, Dimension]
"""Rater, pair, dimension: there is one vote on each."""
