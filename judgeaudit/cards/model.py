"""The Judge Card as records: what is published about one audit of one judge."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import Field

from judgeaudit.core.records import (
    Certificate,
    CorpusFacts,
    Evidence,
    Finding,
    JudgeSpec,
    Outcome,
    PolicyFacts,
    Protocol,
    Record,
    ScoreSet,
)

__all__ = [
    "SCHEMA_VERSION",
    "Answer",
    "CardFacts",
    "CardParameters",
    "CardWarning",
    "CheckedQuestion",
    "Headline",
    "InputFile",
    "JudgeCard",
    "RenderingFacts",
    "Severity",
    "Software",
    "Stance",
]

SCHEMA_VERSION: Final = "1.1"

Severity = Literal["serious", "caution", "note"]
Answer = Literal["yes", "no", "not known"]
Stance = Literal["do_not_use", "with_care", "no_obstacle", "cannot_tell"]


class Software(Record):
    """What made the card."""

    name: str = "judgeaudit"
    version: str


class RenderingFacts(Record):
    """A rendering without its text: the hash, and the evidence that it says what the policy says.

    Parameters
    ----------
    n_characters : int
        Length of the text.
    evidence : Evidence
        What the certificate rests on; "none" where there is none or it is void.
    passed : bool, optional
        Whether the certificate found all six dimensions preserved; None without a certificate.
    void : str, optional
        Why a certificate that came with the rendering does not count.
    note : str
        Who or what the certificate rests on, in a few words.
    others : tuple of Certificate
        Further evidence on the same text, shown and not counted.
    """

    condition: str
    language: str
    wording: int
    sha256: str
    n_characters: int
    evidence: Evidence
    passed: bool | None
    void: str | None = None
    findings: tuple[Finding, ...] = ()
    note: str = ""
    others: tuple[Certificate, ...] = ()


class CardFacts(Record):
    """A run's facts as they stand on a card: `RunFacts` without texts, with the identities.

    Parameters
    ----------
    judge_sha256, protocol_sha256 : str
        Identities of the judge and the protocol, taken before anything was cleaned or hidden.
    ledger_sha256 : str
        What was asked and answered; a run that was stopped and resumed has the same.
    ledger_head : str
        Head of the ledger's hash chain, over every batch that was written; "" where not recorded.
    plan_sha256 : str
        All calls that were planned, each with the hash of its prompt; "" where not recorded.
    """

    judge: JudgeSpec
    judge_sha256: str
    judge_note: str | None
    policy: PolicyFacts
    renderings: tuple[RenderingFacts, ...]
    corpus: CorpusFacts
    protocol: Protocol
    protocol_sha256: str
    n_planned: int
    n_answered: int
    outcomes: dict[str, dict[Outcome, int]]
    served_models: dict[str, int]
    failures: dict[str, int] = Field(default_factory=dict)
    requests: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    cost_note: str
    seconds: float | None
    started: str | None
    ended: str | None
    dropped_parameters: tuple[str, ...]
    ledger_sha256: str
    ledger_head: str
    plan_sha256: str
    versions: dict[str, str]
    extra: dict[str, Any] = Field(default_factory=dict)


class InputFile(Record):
    """A file that a card was made with, beside its ledger: its last name, and what it held."""

    name: str
    sha256: str


class CardParameters(Record):
    """What a card was made with beside its ledger: with these and the ledger it can be rebuilt.

    Parameters
    ----------
    certificates : tuple of InputFile
        Certificates that were given when the card was made.
    labels : InputFile, optional
        Human labels for the corrected rates.
    statements : InputFile, optional
        What no run can know, stated by somebody.
    confidence : str, optional
        How reasons were compared, where the card says what the judge knows of itself.
    """

    certificates: tuple[InputFile, ...] = ()
    labels: InputFile | None = None
    statements: InputFile | None = None
    confidence: str | None = None


class Headline(Record):
    """The verdict on the judge in one sentence.

    Parameters
    ----------
    code : str
        The rule that chose the sentence ("not_responsive", "no_better_than_chance", ...).
    stance : Stance
        What to do, for colour and for machines.
    sentence : str
        English; a pure function of the card's facts and scores.
    """

    code: str
    stance: Stance
    sentence: str


class CardWarning(Record):
    """One thing a reader must know before relying on a figure; stands in the first screen."""

    code: str
    severity: Severity
    sentence: str


class CheckedQuestion(Record):
    """One of the nine questions that a number must answer before it is a claim.

    Parameters
    ----------
    id : str
        "construct", "items", "metric", "labels", "intervals", "comparisons", "bias",
        "contamination" or "rare".
    answer : {"yes", "no", "not known"}
        From evidence in the run; never "yes" by default.
    reason : str
        The evidence, or what is missing.
    """

    id: str
    question: str
    answer: Answer
    reason: str


class JudgeCard(Record):
    """Everything published about one audit of one judge.

    Parameters
    ----------
    schema_version : str
        Version of this layout; see `judge_cards/schema`.
    created : str
        ISO 8601 with an offset, given by the caller: a card is a function of its inputs.
    limits : tuple of str
        What the card does not show.
    checklist : tuple of CheckedQuestion
        The nine questions, answered; empty on cards that were made before there were any.
    """

    schema_version: Literal["1.1"] = SCHEMA_VERSION
    created: str
    software: Software
    headline: Headline
    warnings: tuple[CardWarning, ...]
    limits: tuple[str, ...]
    checklist: tuple[CheckedQuestion, ...] = ()
    parameters: CardParameters = Field(default_factory=CardParameters)
    facts: CardFacts
    scores: ScoreSet
