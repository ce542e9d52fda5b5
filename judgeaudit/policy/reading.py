"""What a reader found in a text: the common ground of all languages' readers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from judgeaudit.core.records import Finding, Force, Policy
from judgeaudit.policy.segment import Statement, tokens

__all__ = [
    "REFERENCE",
    "ReadException",
    "ReadNorm",
    "Reading",
    "Vocabulary",
    "find",
    "starts",
    "words_of",
]

Words = tuple[str, ...]

REFERENCE = "§"
"""Before a norm's id: the one word that stands for a reference to the norm."""

_REFERENCE = re.compile(r"\{norm:(\w+)\}")


@lru_cache(maxsize=4096)
def words_of(text: str) -> Words:
    """Return the words of a phrase of a policy, as compared; a reference is one word."""
    found: list[str] = []
    for i, part in enumerate(_REFERENCE.split(text)):
        found += [REFERENCE + part] if i % 2 else [t.text for t in tokens(part)]
    return tuple(found)


def starts(words: Words, at: int, phrase: Words) -> bool:
    """Say whether a phrase stands at a place."""
    end = at + len(phrase)
    return (
        at < end <= len(words) and words[at] == phrase[0] and words[at:end] == phrase
    ) or not phrase


def find(words: Words, phrase: Words) -> int:
    """Return where a phrase first stands, or -1."""
    return next((i for i in range(len(words)) if starts(words, i, phrase)), -1) if phrase else -1


@dataclass(frozen=True, slots=True)
class ReadException:
    """An exception as found: its words, the place, and the conditions inside it."""

    words: Words
    line: int
    only_if: tuple[Words, ...] = ()
    but_not: tuple[Words, ...] = ()


@dataclass(slots=True)
class ReadNorm:
    """A norm as found: which one it is, its force, and what it is bound to."""

    norm_id: str
    force: Force
    line: int
    number: int | None
    exceptions: list[ReadException] = field(default_factory=list)
    subject_to: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Reading:
    """All that was found in a text, and all that was not understood (`findings`)."""

    norms: list[ReadNorm] = field(default_factory=list)
    answers: list[tuple[str, str, int]] = field(default_factory=list)
    scopes: list[int] = field(default_factory=list)
    definitions: list[tuple[str, int]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    unexplained: list[Statement] = field(default_factory=list)
    blocks: set[int] = field(default_factory=set)
    """The blocks in which something was understood."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words by which a policy names its parts; all that a reader takes from the policy."""

    policy: Policy
    bearers: dict[str, Words]
    verbs: dict[str, Words]
    objects: dict[str, Words]
    rests: dict[str, Words]
    scopes: dict[str, Words]
    titles: dict[Words, str]
    clauses: dict[str, tuple[Words, ...]]
    inner: frozenset[Words]
    """The clauses inside of exceptions."""
    policy_scope: Words
    policy_title: Words
    definitions: dict[Words, Words]
    unit: Words

    @classmethod
    def of(cls, policy: Policy) -> Vocabulary:
        """Take the words of a policy apart."""
        norms = policy.norms
        return cls(
            policy=policy,
            bearers={n.id: words_of(policy.bearer_of(n)) for n in norms},
            verbs={n.id: words_of(n.action.verb["base"]) for n in norms},
            objects={n.id: words_of(n.action.object) for n in norms},
            rests={n.id: words_of(n.action.rest) for n in norms},
            scopes={n.id: words_of(n.scope) for n in norms},
            titles={words_of(n.title): n.id for n in norms},
            clauses={n.id: tuple(words_of(e.when) for e in n.exceptions) for n in norms},
            inner=frozenset(
                words_of(c) for n in norms for e in n.exceptions for c in e.only_if + e.but_not
            ),
            policy_scope=words_of(policy.scope),
            policy_title=words_of(policy.title),
            definitions={words_of(d.term): words_of(d.meaning) for d in policy.definitions},
            unit=words_of(policy.threshold.unit or ""),
        )
