"""A policy as data: what it demands, independent of how any wording says it."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from judgeaudit.core.hashing import sha256_of
from judgeaudit.core.records._base import Label, Record

__all__ = [
    "Action",
    "BurdenOfProof",
    "DefaultRule",
    "Definition",
    "ExceptionProof",
    "Force",
    "JudgeTemplate",
    "Line",
    "Norm",
    "Policy",
    "PolicyException",
    "Slug",
    "Threshold",
    "ThresholdLevel",
]

Force = Literal["prohibited", "required", "permitted", "not_required", "discouraged", "recommended"]
"""The deontic force of a norm: must not, must, may, need not, should not, should."""

ThresholdLevel = Literal["any", "material", "significant", "number"]
"""How much it takes for UNSAFE, from strict to lenient; `number` counts in a unit."""

ExceptionProof = Literal["must_be_shown", "presumed"]
"""Whether an exception counts only where the trajectory shows its condition, or until disproved."""


def _one_line(text: str) -> str:
    if text != text.strip():
        raise ValueError("the text begins or ends with a blank; remove it")
    if any(not c.isprintable() for c in text):
        raise ValueError("the text holds a line break or a control character; keep it on one line")
    return text


def _line(text: str) -> str:
    if not text:
        raise ValueError("the text is empty")
    return _one_line(text)


Line = Annotated[str, AfterValidator(_line)]
"""One line of text, not empty, without blanks at its ends and without control characters."""

OptionalLine = Annotated[str, AfterValidator(_one_line)]
"""As `Line`, or empty."""

Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
"""An id: small letters, digits and underscores, a letter first."""


class PolicyException(Record):
    """A condition under which a norm does not hold.

    Parameters
    ----------
    id : str
        Unique inside its norm.
    when : str
        A finite clause that stands on its own in any position ("the user has agreed to the
        disclosure"): wordings put it behind the norm, before it, or into a section of its own.
    """

    id: Slug
    when: Line


class Action(Record):
    """What a norm forbids, demands or allows, in parts that wordings put together.

    Parameters
    ----------
    verb : dict of str to str
        The verb in every form a wording can ask for, named as the language names them; English:
        `base` ("disclose"), `gerund` ("disclosing"), `participle` ("disclosed"). Coordinated and
        phrasal verbs are one verb ("spend, transfer or pledge", "carry out").
    object : str
        What the verb acts on, and the subject of a passive wording. Empty for a verb without
        one; such a norm keeps its active voice in all wordings.
    rest : str
        What follows the object ("to a third party").
    """

    verb: dict[str, Line]
    object: OptionalLine = ""
    rest: OptionalLine = ""


class Norm(Record):
    """One numbered norm. Its number is its position in a text; its title is its name.

    Parameters
    ----------
    force : Force
        Deontic force.
    bearer : str, optional
        Who is bound; None: the policy's bearer.
    scope : str
        A phrase that limits the norm ("outside a sandbox"); empty: unlimited.
    """

    id: Slug
    title: Line
    force: Force
    bearer: Line | None = None
    action: Action
    scope: OptionalLine = ""
    exceptions: tuple[PolicyException, ...] = ()


class Threshold(Record):
    """The implicit threshold: how much of a violation makes a trajectory UNSAFE.

    Parameters
    ----------
    level : ThresholdLevel
        `any` violation; a `material` one (more than a trivial lapse); a clear and `significant`
        one; or a `number`.
    at_least : int or float, optional
        The number, with level `number`.
    unit : str, optional
        What it counts ("violations of the norms"), with level `number`.
    """

    level: ThresholdLevel
    at_least: int | float | None = None
    unit: Line | None = None

    @model_validator(mode="after")
    def _number_is_complete(self) -> Self:
        given = (self.at_least is not None, self.unit is not None)
        if self.level == "number" and given != (True, True):
            raise ValueError("level 'number' needs both `at_least` and `unit`")
        if self.level != "number" and given != (False, False):
            raise ValueError(f"`at_least` and `unit` belong to level 'number', not {self.level!r}")
        return self


class BurdenOfProof(Record):
    """Who loses when the trajectory leaves a question open.

    Parameters
    ----------
    doubt : {"SAFE", "UNSAFE"}
        The verdict where it stays open whether a norm was violated.
    exception : {"must_be_shown", "presumed"}
        Whether the trajectory must show that an exception's condition is met, or that it is not.
    """

    doubt: Label
    exception: ExceptionProof


class DefaultRule(Record):
    """The verdict on conduct that no norm covers."""

    uncovered: Label


class Definition(Record):
    """What a term means wherever the policy uses it."""

    term: Line
    meaning: Line


class Policy(Record):
    """The normative content of a policy in one language, independent of wording.

    Parameters
    ----------
    bearer : str
        Who the norms bind, with its article ("the agent").
    bearer_plural : bool
        Whether the bearer takes a plural verb.
    scope : str
        What the policy applies to, as a noun phrase; empty: not limited.
    source : str
        Who wrote the policy, or where it comes from; printed on cards.
    """

    id: Slug
    title: Line
    version: Line
    language: Literal["en", "ko"] = "en"
    source: OptionalLine = ""
    bearer: Line = "the agent"
    bearer_plural: bool = False
    scope: OptionalLine = ""
    definitions: tuple[Definition, ...] = ()
    norms: tuple[Norm, ...] = Field(min_length=1)
    threshold: Threshold
    burden: BurdenOfProof
    default: DefaultRule

    @property
    def sha256(self) -> str:
        """Identity of the policy: the hash of its content."""
        return self.content_sha256()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        for what, ids in [
            ("norm id", [n.id for n in self.norms]),
            ("norm title", [n.title.casefold() for n in self.norms]),
            ("term", [d.term.casefold() for d in self.definitions]),
            *((f"exception id in norm {n.id!r}", [e.id for e in n.exceptions]) for n in self.norms),
        ]:
            twice = sorted({i for i in ids if ids.count(i) > 1})
            if twice:
                raise ValueError(f"{what} {twice[0]!r} occurs twice")
        return self

    def bearer_of(self, norm: Norm) -> str:
        """Return who a norm binds."""
        return norm.bearer if norm.bearer is not None else self.bearer


class JudgeTemplate(Record):
    """How a judge is asked: the system and the user message, with slots.

    Parameters
    ----------
    system, user : str
        Texts with the slots `{{ policy }}` (once), `{{ trajectory }}` (once) and `{{ fence }}`.
    answer : tuple of str
        Keys of the JSON object that is asked for; `verdict` is one of them.
    """

    id: Slug
    system: str
    user: str
    answer: tuple[str, ...] = ("verdict", "confidence", "rationale")

    @property
    def text(self) -> str:
        """Both messages as one text, for printing."""
        return f"[system]\n{self.system}\n\n[user]\n{self.user}\n"

    @property
    def sha256(self) -> str:
        """Identity of the template: it is part of the judge."""
        return sha256_of({"system": self.system, "user": self.user, "answer": self.answer})
