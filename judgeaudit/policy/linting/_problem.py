"""One problem, and what the checks have in common."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final, Literal

from judgeaudit.core.records import Policy
from judgeaudit.policy.coverage import content_words
from judgeaudit.policy.segment import tokens

__all__ = ["Path_", "Problem", "Severity", "about", "english", "found", "named", "phrases"]

Severity = Literal["serious", "caution"]
Path_ = tuple[str | int, ...]

_CAUTIONS: Final = frozenset(
    {
        "discretion",
        "double-negation",
        "fixed-number",
        "leaning",
        "long-norm",
        "number-without-unit",
        "overlapping-norms",
        "repeated-exception",
        "repeated-norm",
        "undefined-abbreviation",
        "unbound-pronoun",
        "unused-definition",
        "vague-word",
    }
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that makes a policy hard to judge by.

    Parameters
    ----------
    id : str
        Name of the check.
    path : tuple
        The key at which it stands (`("norms", 2, "exceptions", 0, "when")`).
    where : str
        File, line and key, where a file was read; else the norm and the exception.
    """

    id: str
    severity: Severity
    path: Path_
    message: str
    where: str = ""

    def at(self, where: str) -> Problem:
        """Return the problem with its place."""
        return replace(self, where=where)


def found(id_: str, path: Path_, message: str, where: str = "") -> Problem:
    """Make a problem; its severity is that of its check."""
    key = ".".join(str(p) for p in path)
    severity: Severity = "caution" if id_ in _CAUTIONS else "serious"
    return Problem(id_, severity, path, message, where or key)


def english(policy: Policy) -> bool:
    """Say whether checks that know English words apply."""
    return policy.language == "en"


def about(text: str) -> frozenset[str]:
    """Return what a phrase is about, as `coverage` compares it."""
    return content_words([t.text for t in tokens(text)])


def phrases(policy: Policy) -> list[tuple[Path_, str]]:
    """Return all phrases of a policy with their places, titles left out."""
    made: list[tuple[Path_, str]] = [(("scope",), policy.scope)]
    made += [(("definitions", i, "meaning"), d.meaning) for i, d in enumerate(policy.definitions)]
    for i, n in enumerate(policy.norms):
        at: Path_ = ("norms", i)
        for form, verb in n.action.verb.items():
            if form == next(iter(n.action.verb)):
                made.append(((*at, "action", "verb"), verb))
        made += [
            ((*at, "action", "object"), n.action.object),
            ((*at, "action", "rest"), n.action.rest),
            ((*at, "scope"), n.scope),
            *(((*at, "exceptions", j, "when"), e.when) for j, e in enumerate(n.exceptions)),
        ]
    if policy.threshold.unit:
        made.append((("threshold", "unit"), policy.threshold.unit))
    return [(path, text) for path, text in made if text]


def named(word: str, text: str) -> bool:
    """Say whether a word or phrase stands in a text as a whole."""
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None
