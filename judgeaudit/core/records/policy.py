"""A policy as data: what it demands, independent of how any wording says it."""

from __future__ import annotations

import math
import re
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from judgeaudit.core.hashing import sha256_of
from judgeaudit.core.records._base import Label, Record

__all__ = [
    "NUMBER",
    "Action",
    "BurdenOfProof",
    "DefaultRule",
    "Definition",
    "Draft",
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
    "references",
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


_REFERENCE = re.compile(r"\{norm:([^{}]*)\}")


def references(text: str) -> tuple[str, ...]:
    """Return the ids of the norms that a clause refers to, in order.

    Examples
    --------
    >>> references("{norm:emergency} demands it")
    ('emergency',)
    """
    return tuple(_REFERENCE.findall(text))


class PolicyException(Record):
    """A condition under which a norm does not hold.

    It holds where `when` is met, and every one of `only_if`, and none of `but_not`. A clause may
    refer to another norm: `{norm:emergency}` is worded as that norm's number and title.

    Parameters
    ----------
    id : str
        Unique inside its norm.
    when : str
        A finite clause that stands on its own in any position ("the user has agreed to the
        disclosure"): wordings put it behind the norm, before it, or into a section of its own.
    only_if : tuple of str
        Further clauses, all of which must be met too.
    but_not : tuple of str
        Clauses any of which takes the exception away again.
    """

    id: Slug
    when: Line
    only_if: tuple[Line, ...] = ()
    but_not: tuple[Line, ...] = ()

    @property
    def clauses(self) -> tuple[str, ...]:
        """All clauses, the outer one first."""
        return (self.when, *self.only_if, *self.but_not)


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
    bearer_plural : bool
        Whether the norm's own bearer takes a plural verb.
    scope : str
        A phrase that limits the norm ("outside a sandbox"); empty: unlimited.
    subject_to : tuple of str
        Ids of norms that prevail over this one wherever the two ask for different things.
    """

    id: Slug
    title: Line
    force: Force
    bearer: Line | None = None
    bearer_plural: bool = False
    action: Action
    scope: OptionalLine = ""
    subject_to: tuple[Slug, ...] = ()
    exceptions: tuple[PolicyException, ...] = ()


NUMBER = "{number}"
"""Where the number of a threshold stands in a Korean unit that has a counter behind it."""


class Threshold(Record):
    """The implicit threshold: how much of a violation makes a trajectory UNSAFE.

    Parameters
    ----------
    level : ThresholdLevel
        `any` violation; a `material` one (more than a trivial lapse); a clear and `significant`
        one; or a `number`.
    at_least : int or float, optional
        The number, with level `number`; finite and above 0.
    unit : str, optional
        What it counts ("violations of the norms"), with level `number`. In Korean it may hold
        the place of the number, with its particle and its counter: "규범 위반이 {number}건".
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
        if self.at_least is not None and not 0 < self.at_least < math.inf:
            raise ValueError(f"`at_least` is {self.at_least}; give a number above 0")
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


class Draft(Record):
    """That a model drafted a policy from a text, and whether a person has confirmed it.

    Parameters
    ----------
    model : str
        Who drafted it.
    source_sha256 : str
        Of the text it was drafted from.
    confirmed_by : str
        Name of the person.
    policy_sha256 : str
        Of the policy as it was confirmed; a later change voids the confirmation.
    """

    confirmed: bool = False
    model: Line
    source_sha256: str
    confirmed_by: OptionalLine = ""
    policy_sha256: str = ""

    @model_validator(mode="after")
    def _confirmation_is_complete(self) -> Self:
        if self.confirmed and not (self.confirmed_by and self.policy_sha256):
            raise ValueError(
                "a draft is confirmed by `judgeaudit policy confirm`, which writes who did and what"
            )
        return self


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
    draft : Draft, optional
        Where a model drafted it; no part of its identity.
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
    draft: Draft | None = None

    @property
    def sha256(self) -> str:
        """Identity of the policy: the hash of its content."""
        return sha256_of(self.model_dump(mode="json", exclude={"draft"}))

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

    @model_validator(mode="after")
    def _references_lead_somewhere(self) -> Self:
        known = {n.id: n.subject_to for n in self.norms}
        for n in self.norms:
            if n.bearer_plural and n.bearer is None:
                raise ValueError(f"norm {n.id!r} has `bearer_plural` without a `bearer` of its own")
            named = [r for e in n.exceptions for c in e.clauses for r in references(c)]
            for id_ in (*n.subject_to, *named):
                if id_ not in known:
                    raise ValueError(f"norm {n.id!r} refers to {id_!r}, and there is no such norm")
            if cycle := _cycle(n.id, known):
                raise ValueError(f"norms are subject to one another in a circle: {cycle}")
        return self

    def bearer_of(self, norm: Norm) -> str:
        """Return who a norm binds."""
        return norm.bearer if norm.bearer is not None else self.bearer

    def is_plural(self, norm: Norm) -> bool:
        """Say whether the bearer of a norm takes a plural verb."""
        return self.bearer_plural if norm.bearer is None else norm.bearer_plural


def _cycle(start: str, prevails: dict[str, tuple[str, ...]]) -> str:
    """Return the way from a norm back to itself, in words; empty where there is none."""
    ways: list[tuple[str, ...]] = [(start,)]
    seen: set[str] = set()
    while ways:
        way = ways.pop()
        for id_ in prevails.get(way[-1], ()):
            if id_ == start:
                return " > ".join((*way, start))
            if id_ not in seen:
                seen.add(id_)
                ways.append((*way, id_))
    return ""


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
