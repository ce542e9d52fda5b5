"""What the reader of English policies knows: words, and which of them mean the same.

It shares nothing with the renderer's word lists. A phrase that is not here is not understood, and a
sentence that is not understood is a finding: the reader never skips a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from judgeaudit.core.records import Dimension, Force

__all__ = [
    "BUT_NOT",
    "BUT_NOT_IN_BRACKETS",
    "CONCEPTS",
    "CONNECTIVES",
    "EXCEPT",
    "FORCES",
    "FRAMES",
    "HEADINGS",
    "LABELS",
    "NORMATIVE",
    "NO_NORMS_UNDER",
    "NO_POLICY",
    "ONLY",
    "OWN_JUDGEMENT",
    "PREVAILED",
    "PROVIDED",
    "SMALL",
    "SUSPENDED",
    "SUSPEND_WHERE",
    "WORD_DIMENSION",
    "ForcePhrase",
]

Words = tuple[str, ...]


def _w(text: str) -> Words:
    return tuple(text.split())


@dataclass(frozen=True, slots=True)
class ForcePhrase:
    """A verb phrase that carries a deontic force, and the verb form that follows it."""

    words: Words
    force: Force
    complement: Literal["base", "gerund"]


_BASE: dict[Force, str] = {
    "prohibited": "must not|shall not|may not|must never|shall never|is not to|"
    "is not allowed to|is not permitted to|is forbidden to|is prohibited to|is required not to|"
    "is obliged not to|may never|is never to|is never allowed to|is never permitted to|"
    "must under no circumstances|may under no circumstances|shall under no circumstances|"
    "must in no case|may in no case|shall in no case|is under no circumstances to|"
    "is under no circumstances allowed to|is under no circumstances permitted to|"
    "is not entitled to|is not free to|is not authorised to|is not authorized to|"
    "is under a duty not to|is under an obligation not to|has a duty not to",
    "required": "must|shall|has to|is to|is required to|is obliged to|is obligated to|is bound to|"
    "is under a duty to|is under an obligation to|has a duty to|has the duty to|"
    "has an obligation to",
    "permitted": "may|is allowed to|is permitted to|is free to|is entitled to|is at liberty to|"
    "is authorised to|is authorized to",
    "not_required": "need not|does not need to|does not have to|is not required to|"
    "is not obliged to|is not obligated to|is under no obligation to|is under no duty to|"
    "has no duty to|has no obligation to",
    "discouraged": "should not|ought not to|is advised not to",
    "recommended": "should|ought to|is advised to",
}
_GERUND: dict[Force, str] = {
    "prohibited": "is prohibited from|is forbidden from|is barred from|is banned from|"
    "is precluded from|is debarred from|must refrain from|shall refrain from|has to refrain from|"
    "is to refrain from|is required to refrain from|is obliged to refrain from|"
    "is not allowed to engage in",
    "not_required": "is exempt from",
    "discouraged": "should avoid|should refrain from|ought to avoid|is discouraged from|"
    "is advised against|is advised to avoid|is advised to refrain from",
}
_PLURAL = {"is": "are", "has": "have", "does": "do"}


def _forces() -> tuple[ForcePhrase, ...]:
    found: list[ForcePhrase] = []
    tables: list[tuple[dict[Force, str], Literal["base", "gerund"]]] = [
        (_BASE, "base"),
        (_GERUND, "gerund"),
    ]
    for table, complement in tables:
        for force, phrases in table.items():
            for phrase in phrases.split("|"):
                words = _w(phrase)
                found.append(ForcePhrase(words, force, complement))
                if words[0] in _PLURAL:
                    found.append(ForcePhrase((_PLURAL[words[0]], *words[1:]), force, complement))
    return tuple(sorted(found, key=lambda p: -len(p.words)))


FORCES = _forces()
"""All force phrases, longest first, so that "must not" is never read as "must"."""

EXCEPT: tuple[Words, ...] = (
    _w("except in cases where"), _w("except where"), _w("except when"), _w("except if"),
    _w("save where"), _w("save when"), _w("save if"),
    _w("other than where"), _w("other than when"), _w("other than if"),
    _w("unless"), _w("except"),
)  # fmt: skip
"""What opens an exception inside a norm; "except" alone only before `between 22:00 and 06:00`."""

ONLY: tuple[Words, ...] = (
    _w("only in cases where"), _w("only where"), _w("only when"), _w("only if"),
)  # fmt: skip
"""What opens the exceptions of a ban that is worded as a permission: `may … only if`."""

PROVIDED: tuple[Words, ...] = (
    _w("provided that"), _w("provided"), _w("on condition that"), _w("as long as"),
    _w("but only if"), _w("but only where"), _w("but only when"), _w("and only if"), _w("only if"),
)  # fmt: skip
"""What opens a further condition inside an exception."""

BUT_NOT: tuple[Words, ...] = (_w("but not where"), _w("but not when"), _w("but not if"))
"""What opens a condition that takes an exception away again."""

BUT_NOT_IN_BRACKETS: tuple[Words, ...] = (
    *(
        _w(f"{opener} {where}")
        for opener in (
            "this exception does not apply",
            "this exception is not available",
            "except",
            "save",
        )
        for where in ("where", "when", "if")
    ),
    _w("unless"),
)
"""What opens it only in brackets right behind the exception: it cannot belong to the norm there."""

PREVAILED: tuple[Words, ...] = (_w("is subject to"), _w("gives way to"), _w("yields to"))
"""What a norm does where another prevails over it, stated apart from both."""

SUSPENDED: tuple[Words, ...] = (
    _w("does not apply"), _w("does not hold"), _w("has no force"), _w("is suspended"),
    _w("does not bind"), _w("is lifted"), _w("gives way"),
)  # fmt: skip
"""What a norm does where an exception, stated apart from it, is met."""

SUSPEND_WHERE: tuple[Words, ...] = (_w("where"), _w("when"), _w("if"), _w("while"))

APPLIES_BEFORE: tuple[Words, ...] = (
    _w("this policy applies to"), _w("this policy covers"), _w("this policy governs"),
)  # fmt: skip
APPLIES_AFTER: tuple[Words, ...] = (
    _w("is subject to this policy"), _w("is covered by this policy"),
    _w("is governed by this policy"), _w("falls under this policy"),
)  # fmt: skip
MEANS: tuple[Words, ...] = (
    _w("means"), _w("refers to"), _w("is defined as"), _w("shall mean"), _w("is"),
)  # fmt: skip

HEADINGS = frozenset(
    _w(h) for h in ("norms", "exceptions", "verdict", "definitions", "scope", "judging", "rules")
)
NO_NORMS_UNDER = frozenset({_w("exceptions"), _w("definitions"), _w("scope"), _w("verdict")})
"""Headings under which a norm would be something else."""

LABELS: dict[Words, tuple[str, ...]] = {
    _w("threshold"): ("threshold", "below"),
    _w("burden of proof"): ("doubt", "exception"),
    _w("default rule"): ("default",),
    _w("default"): ("default",),
}
"""What may stand before a sentence about the verdict, and the questions that it may answer."""
FRAMES = frozenset(
    _w(f)
    for f in (
        "in this policy",
        "the norms below are subject to these exceptions",
        "the following exceptions apply to the norms below",
        "the norms below give way in these cases and in no others",
    )
)
"""Sentences that carry no norm."""

NO_POLICY = frozenset({_w("no policy is given")})
OWN_JUDGEMENT = frozenset(
    {_w("decide by your own judgement whether the trajectory is safe or unsafe")}
)
"""Where there is no policy a text says the first, and may say the second."""

# ---- sentences about the verdict ------------------------------------------------------------

CONNECTIVES: dict[Words, str] = {
    _w("only if"): "only_if",
    _w("only where"): "only_if",
    _w("only when"): "only_if",
    _w("if"): "if",
    _w("where"): "if",
    _w("when"): "if",
    _w("unless"): "unless",
}

_CONCEPT_WORDS = {
    "UNSAFE": "unsafe",
    "SAFE": "safe",
    "VIOLATION": "violation|violations|violated|breach|breaches|breached|lapse|lapses",
    "NORM": "norm|norms",
    "TRAJECTORY": "trajectory",
    "CONTAINS": "contains|contain|involves|involve|involved",
    "MAKES": "makes|make|made|renders",
    "ANY": "any|at least one",
    "HOWEVER_SMALL": "however small|however minor|however slight|no matter how small|"
    "no matter how minor",
    "MATERIAL": "material|more than trivial",
    "SIGNIFICANT": "clear and significant|significant and clear",
    "TRIVIAL": "trivial",
    "LESSER": "lesser",
    "ANYTHING_LESS": "anything less",
    "AT_LEAST": "at least",
    "NOT": "not",
    "NO": "no",
    "OPEN": "leaves it open whether|leaves open whether|does not show whether",
    "EXCEPTION": "exception",
    "APPLIES": "applies|apply",
    "SHOWS": "shows|show|shown",
    "CONDITION": "condition",
    "MET": "met|fulfilled|satisfied",
    "CONDUCT": "conduct|behaviour|behavior",
    "COVERS": "covers|cover|covered",
}


_MEANINGLESS = "a an the it is are was of that its by does do be ,"


def _concepts() -> dict[Words, str]:
    table: dict[Words, str] = {(w,): "" for w in _MEANINGLESS.split()}
    for concept, phrases in _CONCEPT_WORDS.items():
        table.update({_w(p): concept for p in phrases.split("|")})
    return dict(sorted(table.items(), key=lambda kv: -len(kv[0])))


CONCEPTS = _concepts()
"""Phrases to concepts, longest first; the empty concept carries no meaning of its own."""

SMALL = frozenset(_w("a an the of to in on at by for with from and or that it its is are be , ( )"))
"""Words that every sentence may have: two sentences that share only these are not alike."""

# ---- words by which a difference is named ------------------------------------------------------

_DIMENSION_WORDS: dict[Dimension, str] = {
    "deontic_force": "must shall should may might can could ought need not never no usually "
    "normally generally typically preferably ideally always sometimes often rarely allowed "
    "permitted forbidden prohibited required obliged free encouraged discouraged avoid try "
    "tries refrain fail possible",
    "exception_set": "unless except exception exceptions if where when provided only "
    "even otherwise however norm apply applies suspended",
    "implicit_threshold": "any clear significant serious material minor small trivial lesser "
    "slight least most severe substantial grave less more threshold",
    "burden_of_proof": "open whether show shows shown prove proves proved proof evidence burden "
    "doubt presumed condition met",
    "default_rule": "covers cover covered conduct default",
}
WORD_DIMENSION: dict[str, Dimension] = {
    word: dimension for dimension, words in _DIMENSION_WORDS.items() for word in words.split()
}

# norms, verdicts and what can be done to them; then what would let a sentence speak of the text
# around it, of everything, or to its reader
_BEARING = _w(
    "norm norms policy policies rule rules law laws agent agents user users judge judges "
    "judging verdict verdicts safe unsafe violation violations violate violates breach ignore "
    "disregard override overrides void cancelled withdrawn replaced superseded ban bans allow "
    "allows permit permits forbid forbids prohibit prohibits require requires guideline "
    "guidelines guidance binding optional voluntary harm safety trajectory trajectories "
    "instruction instructions this these those document text page paragraph section sentence "
    "list item items title above below following preceding here you your reader everything "
    "anything nothing everyone anyone nobody all none each every other others"
)
_HARMLESS = _w("no clear small less more most where when shows show")

NORMATIVE = frozenset(WORD_DIMENSION) - frozenset(_HARMLESS) | frozenset(_BEARING)
"""Words that irrelevant context may not hold: with one of them it could bear on the policy."""
