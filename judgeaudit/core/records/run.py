"""What a run was: protocol, renderings, corpus, progress. All a card needs beside the scores."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from judgeaudit.core.records._base import Dimension, Outcome, Record
from judgeaudit.core.records.calls import JudgeSpec
from judgeaudit.core.records.items import LabelSource

__all__ = [
    "Certificate",
    "Condition",
    "ConditionKind",
    "CorpusFacts",
    "Evidence",
    "Finding",
    "PolicyFacts",
    "Protocol",
    "Rendering",
    "RunFacts",
]

ConditionKind = Literal["reference", "placebo", "certified", "near", "threshold", "control"]

Evidence = Literal["structural", "human", "model", "none"]
"""What a certificate rests on; votes by a model are never stored as `human`."""


class Condition(Record):
    """What a call is made under.

    Parameters
    ----------
    id : str
        "base", "T0", "T1", ..., "strict", "lenient", "no_policy", "inverted", "vacuum".
    kind : str
        reference, placebo, certified, near, threshold or control.
    side : {"policy", "trajectory"}
        Which part of the prompt it changes; `vacuum` empties the trajectory.
    moves : tuple of Dimension
        The dimensions that may change; empty for a certified condition.
    summary : str
        One line in plain words.
    """

    id: str
    kind: ConditionKind
    side: Literal["policy", "trajectory"] = "policy"
    moves: tuple[Dimension, ...] = ()
    summary: str = ""


class Finding(Record):
    """One place where a text read back differs from its policy."""

    dimension: Dimension
    where: str
    what: str


class Certificate(Record):
    """The evidence that a rendering says what its policy says.

    Bound by hash to the text: a changed text voids it.

    Parameters
    ----------
    note : str
        Who or what it rests on, in a few words ("3 raters, all of them on all six dimensions").
    """

    rendering_sha256: str
    base_sha256: str
    evidence: Evidence
    passed: bool
    findings: tuple[Finding, ...] = ()
    note: str = ""


class Rendering(Record):
    """One wording of a policy under one condition.

    Parameters
    ----------
    certificate : Certificate, optional
        The evidence that counts.
    others : tuple of Certificate
        Further evidence, shown and never counted: a model's second opinion, or a structural
        reading beside a certificate by people.
    """

    policy_id: str
    policy_sha256: str
    condition: str
    language: str = "en"
    wording: int = 0
    text: str
    sha256: str
    certificate: Certificate | None = None
    others: tuple[Certificate, ...] = ()

    @property
    def certified(self) -> bool:
        """Whether its certificate passed, and is on this very text."""
        c = self.certificate
        return c is not None and c.passed and c.rendering_sha256 == self.sha256

    @property
    def certified_by(self) -> Evidence:
        """What a certificate that passed rests on; `none` without one."""
        return self.certificate.evidence if self.certificate and self.certified else "none"

    @property
    def has_void(self) -> bool:
        """Whether people certified another text in its place."""
        held = (*((self.certificate,) if self.certificate else ()), *self.others)
        return any(c.evidence == "human" and c.rendering_sha256 != self.sha256 for c in held)


class PolicyFacts(Record):
    """What a card says of a policy.

    Parameters
    ----------
    n_norms, n_exceptions : int, optional
        None where the policy is a text of the user's own that is not known as data.
    """

    id: str
    title: str
    sha256: str
    n_norms: int | None
    n_exceptions: int | None
    language: str = "en"
    source: str = ""


class CorpusFacts(Record):
    """What a card says of a corpus.

    Parameters
    ----------
    sha256 : str
        Hash of all items used, in order of their keys.
    label_source : LabelSource
        Who assigned the labels; `author` is said on every card.
    ambiguity_source : str
        Where the ambiguity flags come from, or why there are none.
    """

    name: str
    subset: str | None = None
    title: str = ""
    version: str = ""
    license: str = ""
    sha256: str
    n_items: int
    n_clusters: int
    n_unsafe: int
    n_safe: int
    n_unlabelled: int = 0
    n_ambiguous: int | None = None
    label_source: LabelSource
    ambiguity_source: str
    notes: tuple[str, ...] = ()


class Protocol(Record):
    """How the calls were laid out; cards of different protocol hashes are not ranked together.

    Parameters
    ----------
    base_repeats : int
        K, calls an item under `base`.
    repeats : int
        L, calls an item under each other condition.
    control_items : int, optional
        Items used for the controls; None: all.
    """

    preset: str
    base_repeats: int = Field(ge=1)
    repeats: int = Field(ge=1)
    conditions: tuple[Condition, ...]
    wordings: int = Field(default=1, ge=1)
    control_items: int | None = None
    seed: int = 0
    headline_treatment: str = "exclude"
    practical_threshold: float = 0.05
    level: float = 0.95

    @property
    def ids(self) -> frozenset[str]:
        """Ids of the conditions."""
        return frozenset(c.id for c in self.conditions)

    @property
    def reference(self) -> Condition:
        """The condition that all others are compared with: the policy as written."""
        return next(c for c in self.conditions if c.kind == "reference")

    @property
    def sha256(self) -> str:
        """Hash of the set of conditions and repeats; the order seed is not part of it."""
        from judgeaudit.core.hashing import sha256_of

        return sha256_of(self.model_dump(mode="json", exclude={"seed", "preset"}))


class RunFacts(Record):
    """Everything of a run that is not a score.

    Parameters
    ----------
    failures : dict of str to int
        Failed attempts to answer a call, by class, also of calls that were answered later.
    ledger_sha256, ledger_head, plan_sha256 : str
        What was asked and answered; the head of the ledger's hash chain; the calls planned.
    """

    judge: JudgeSpec
    judge_note: str | None = None
    policy: PolicyFacts
    renderings: tuple[Rendering, ...]
    corpus: CorpusFacts
    protocol: Protocol
    n_planned: int
    n_answered: int
    outcomes: dict[str, dict[Outcome, int]] = Field(default_factory=dict)
    served_models: dict[str, int] = Field(default_factory=dict)
    failures: dict[str, int] = Field(default_factory=dict)
    requests: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    cost_note: str = ""
    seconds: float | None = None
    started: str | None = None
    ended: str | None = None
    dropped_parameters: tuple[str, ...] = ()
    ledger_sha256: str = ""
    ledger_head: str = ""
    plan_sha256: str = ""
    versions: dict[str, str] = Field(default_factory=dict)
    extra: dict[str, Any] = Field(default_factory=dict)
