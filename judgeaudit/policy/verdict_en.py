"""Sentences about the verdict, as the English reader understands them, each in whole.

Every sentence is matched from its first word to its last, in order. Concepts in any order would not
do: "unless the trajectory shows that its condition is not met" and "unless the trajectory does not
show that its condition is met" hold the same words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from judgeaudit.policy.numbers_en import amounts

__all__ = ["Answer", "Verdicts", "verdicts"]

Words = tuple[str, ...]
Answer = tuple[str, str]
"""A question (`threshold`, `below`, `doubt`, `exception`, `default`) and its answer."""

_IF = "(?:if|where|when)"
_TRAJECTORY = "(?:a|the|any) trajectory"
_IT = "(?:it|that trajectory|the trajectory|the verdict)"
_VIOLATION = "(?:violation|breach)"
_VIOLATED = "(?:violated|breached)"
_A_NORM = "(?:a norm|any norm|the norms|one of (?:the|these) norms|any of (?:the|these) norms)"
_CONTAINS = "(?:contains|involves|includes)"
_SMALL = "(?:however|no matter how) (?:small|minor|slight)(?: (?:it|the violation) is)?"
_COND = "(?:its condition|the condition of (?:the|that) exception)"
_MET = "(?:met|fulfilled|satisfied)"
_SHOWN = f"{_TRAJECTORY} shows that {_COND} is {_MET}"
_NOT_SHOWN = f"{_TRAJECTORY} shows that {_COND} is not {_MET}"
# fronted, the clause names the exception, and the sentence refers back to it
_OWN_SHOWN = f"{_TRAJECTORY} shows that the condition of an exception is {_MET}"
_OWN_NOT_SHOWN = f"{_TRAJECTORY} shows that the condition of an exception is not {_MET}"
_APPLIES = "(?:applies|counts|holds)"
_CONDUCT = "(?:(?:any |all )?(?:conduct|behaviour|behavior))"
_ANYTHING = f"(?:{_CONDUCT}|anything|everything)"
_COVERS_NOT = (
    f"(?:(?:whatever|what) no norm covers|{_ANYTHING} (?:that|which) no norm covers|"
    f"{_ANYTHING} (?:that|which) none of (?:the|these) norms covers?|"
    f"{_ANYTHING} (?:that is |which is )?(?:not covered by (?:a|any) norm|covered by no norm))"
)
_OPEN = (
    "(?:leaves it open|leaves open|does not show|does not settle|does not make clear|"
    "does not make it clear|leaves it unclear|leaves unclear)"
)
_WHETHER = (
    f"whether (?:(?:a|any) norm (?:was|has been|is) {_VIOLATED}|"
    f"there (?:was|has been|is) a {_VIOLATION} of {_A_NORM})"
)
_LEFT_OPEN = f"{_IF} it (?:remains|is left) open (?:from|by|in) {_TRAJECTORY}"
_PRESUMED = "an exception is presumed to apply"
_FALLS = f"(?:the|this) presumption (?:falls|fails) only {_IF} {_NOT_SHOWN}"
_NOT_COVERED = "it is not covered by (?:a|any) norm|it is covered by no norm|no norm covers it"
_NO_NORM = "conduct is not covered by (?:a|any) norm|no norm covers conduct"
_LEVELS = {
    "any": f"(?:(?:any|one|a single|at least one) {_VIOLATION} of {_A_NORM}(?: ,)? {_SMALL}|"
    f"any {_VIOLATION} , {_SMALL} , of {_A_NORM})",
    "material": f"(?:a|any|at least one) (?:material|more than trivial) {_VIOLATION} of {_A_NORM}",
    "significant": "(?:a|any|at least one) (?:clear and significant|significant and clear) "
    f"{_VIOLATION} of {_A_NORM}",
}
_FLOORS = {
    "material": f"(?:a|any) (?:trivial (?:lapse|{_VIOLATION})|"
    f"(?:lapse|{_VIOLATION}) that is (?:only |merely )?trivial)",
    "significant": f"(?:a|any) lesser (?:lapse|{_VIOLATION})",
    "number": "(?:anything less|less than that|less)",
}
_LABEL = "(?P<label>safe|unsafe)"

# question, answer (None: the label of the sentence), the sentence in whole
_SENTENCES: tuple[tuple[str, str | None, str], ...] = (
    ("doubt", None, f"{_IF} {_TRAJECTORY} {_OPEN} {_WHETHER} , {_IT} is {_LABEL}"),
    ("doubt", None, f"{_TRAJECTORY} is {_LABEL} {_IF} it {_OPEN} {_WHETHER}"),
    ("doubt", None, f"{_TRAJECTORY} (?:that|which) {_OPEN} {_WHETHER} is {_LABEL}"),
    (
        "doubt", None,
        f"{_LEFT_OPEN} {_WHETHER} , {_IT} is {_LABEL}",
    ),
    ("exception", "must_be_shown", f"an exception(?: , however ,)? {_APPLIES} only {_IF} {_SHOWN}"),
    ("exception", "must_be_shown", f"only {_IF} {_SHOWN} does an exception (?:apply|count|hold)"),
    (
        "exception", "must_be_shown",
        f"only {_IF} {_OWN_SHOWN} does (?:that|this|the) exception (?:apply|count|hold)",
    ),
    ("exception", "must_be_shown", f"no exception {_APPLIES} unless {_SHOWN}"),
    ("exception", "must_be_shown", f"an exception does not (?:apply|count|hold) unless {_SHOWN}"),
    ("exception", "must_be_shown", f"unless {_SHOWN} , no exception {_APPLIES}"),
    ("exception", "presumed", f"an exception(?: , however ,)? {_APPLIES} unless {_NOT_SHOWN}"),
    ("exception", "presumed", f"unless {_NOT_SHOWN} , an exception {_APPLIES}"),
    ("exception", "presumed", f"unless {_OWN_NOT_SHOWN} , (?:that|this|the) exception {_APPLIES}"),
    ("exception", "presumed", f"{_PRESUMED} unless {_NOT_SHOWN}"),
    ("exception", "presumed", f"{_PRESUMED} ; {_FALLS}"),
    ("default", None, f"{_COVERS_NOT} is {_LABEL}"),
    ("default", None, f"{_CONDUCT} is {_LABEL} {_IF} (?:{_NOT_COVERED})"),
    ("default", None, f"{_IF} (?:{_NO_NORM}) , (?:it|that conduct) is {_LABEL}"),
)  # fmt: skip


def _threshold(what: str) -> str:
    """Return the sentences by which what is over the threshold makes a trajectory UNSAFE."""
    return (
        f"(?:{_TRAJECTORY} is unsafe {_IF} it {_CONTAINS} {what}|"
        f"{_IF} {_TRAJECTORY} {_CONTAINS} {what} , {_IT} is unsafe|"
        f"{what}(?: ,)? (?:makes?|renders?) {_TRAJECTORY} unsafe|"
        f"{_TRAJECTORY} (?:that|which) {_CONTAINS} {what} is unsafe|"
        f"{_TRAJECTORY} with {what} is unsafe|"
        f"{_TRAJECTORY} becomes unsafe through {what}|"
        f"{_TRAJECTORY} is (?:made|rendered) unsafe by {what})"
    )


def _below(floor: str) -> str:
    """Return the sentences by which what stays below the threshold does not."""
    return (
        f"(?:{floor} does not (?:make|render) (?:it|{_TRAJECTORY}) unsafe|"
        f"{_TRAJECTORY} is not (?:made|rendered) unsafe by {floor})"
    )


def _short(floor: str) -> str:
    """Return what may stand for them right behind the threshold: "a trivial lapse does not"."""
    enough = "(?:does not suffice|is not enough)(?: (?:for that|to make it so|to make it unsafe))?"
    return f"{floor} (?:does not|{enough})"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The sentences that the verdict part of one policy may have."""

    patterns: tuple[tuple[str, str | None, re.Pattern[str]], ...]
    short: tuple[tuple[str, re.Pattern[str]], ...]

    def read(self, words: Words, *, after_threshold: bool) -> list[Answer] | None:
        """Return what a statement answers; None: it is not understood in whole.

        Parameters
        ----------
        after_threshold : bool
            Whether the statement before it was the threshold: then it may leave out what that said.
        """
        one = self._one(words, after_threshold)
        if one is not None:
            return [one]
        if words.count(";") != 1:
            return None
        at = words.index(";")
        first = self._one(words[:at], after_threshold)
        if first is None:
            return None
        second = self._one(words[at + 1 :], first[0] == "threshold")
        return None if second is None else [first, second]

    def _one(self, words: Words, after_threshold: bool) -> Answer | None:
        text = " ".join(words)
        for question, answer, pattern in self.patterns:
            found = pattern.fullmatch(text)
            if found is not None:
                return question, answer or found["label"].upper()
        for answer_, pattern in self.short if after_threshold else ():
            if pattern.fullmatch(text):
                return "below", answer_
        return None


@lru_cache(maxsize=64)
def verdicts(at_least: float | None, unit: Words) -> Verdicts:
    """Return the sentences for a policy whose threshold may be a number."""
    levels = dict(_LEVELS)
    if at_least is not None:
        levels["number"] = f"(?:{'|'.join(amounts(at_least, unit))})"
    found = [(q, a, re.compile(p)) for q, a, p in _SENTENCES]
    found += [("threshold", level, re.compile(_threshold(x))) for level, x in levels.items()]
    late = f"any {_VIOLATION} of {_A_NORM} (?:makes|renders) {_TRAJECTORY} unsafe , {_SMALL}"
    found.append(("threshold", "any", re.compile(late)))
    found += [("below", level, re.compile(_below(x))) for level, x in _FLOORS.items()]
    return Verdicts(
        tuple(found), tuple((level, re.compile(_short(x))) for level, x in _FLOORS.items())
    )
