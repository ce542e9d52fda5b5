"""The `structural` certificate: read a text back, and compare it with its policy."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import Certificate, ConditionKind, Finding, Norm, Policy
from judgeaudit.policy import grammar_ko, lexicon_en, lexicon_ko, reader_en, reader_ko
from judgeaudit.policy.reading import Reading, ReadNorm, Vocabulary, words_of
from judgeaudit.policy.segment import Statement, statements

if TYPE_CHECKING:
    from judgeaudit.core.records import Dimension

__all__ = ["certify", "read_back"]

_QUESTIONS: dict[str, tuple[Dimension, str]] = {
    "threshold": ("implicit_threshold", "threshold"),
    "below": ("implicit_threshold", "rule for what stays below the threshold"),
    "doubt": ("burden_of_proof", "burden of proof of a violation"),
    "exception": ("burden_of_proof", "burden of proof of an exception"),
    "default": ("default_rule", "default rule"),
}


def certify(
    text: str, policy: Policy | None, *, base_text: str, kind: ConditionKind = "certified"
) -> Certificate:
    """Make the structural certificate of a text.

    Parameters
    ----------
    text : str
        The rendered text.
    policy : Policy or None
        The policy that the text is meant to state (with the change of a threshold or control
        condition already made); None where it must state none.
    base_text : str
        The text of the base rendering; the certificate is bound to both by hash.
    kind : ConditionKind
        `near` allows sentences that cannot bear on the policy; no other kind does.

    Returns
    -------
    Certificate
        Evidence `structural`; `passed` exactly when there are no findings.
    """
    findings = read_back(text, policy, kind=kind)
    return Certificate(
        rendering_sha256=sha256_text(text),
        base_sha256=sha256_text(base_text),
        evidence="structural",
        passed=not findings,
        findings=findings,
    )


def read_back(
    text: str, policy: Policy | None, *, kind: ConditionKind = "certified"
) -> tuple[Finding, ...]:
    """Read a text and say wherever it differs from the policy that it is meant to state.

    Returns
    -------
    tuple of Finding
        In the order in which they stand in the text, then what is missing from it. Empty: every
        norm and every exception was found exactly once, bound to the same thing, with its force;
        so were scope, definitions, threshold, burden of proof and default rule; and there was
        nothing else in the text.

    """
    if policy is None:
        return _nothing(statements(text))
    reader = {"en": reader_en, "ko": reader_ko}[policy.language]
    reading = reader.read(text, Vocabulary.of(policy))
    found = list(reading.findings)
    for s in reading.unexplained:
        # irrelevant context has paragraphs of its own, and no word by which it could matter
        alone = not s.heading and s.block not in reading.blocks
        if kind == "near" and alone and not _bears(s, policy):
            continue
        found.append(_finding(_dimension_of(s), s, "not part of the policy"))
    found.extend(_norms(reading, policy))
    found.extend(_rest(reading, policy))
    return tuple(found)


def _nothing(found: list[Statement]) -> tuple[Finding, ...]:
    """Check a text that must state no policy."""
    none: list[bool] = []
    findings: list[Finding] = []
    for s in found:
        korean = grammar_ko.joined([t.raw for t in s.tokens])
        none.append(s.words in lexicon_en.NO_POLICY or korean in lexicon_ko.NO_POLICY)
        judged = s.words in lexicon_en.OWN_JUDGEMENT or korean in lexicon_ko.OWN_JUDGEMENT
        if not (none[-1] or judged):
            what = "a text without a policy says more than that there is none"
            findings.append(_finding("scope", s, what))
    if not any(none):
        what = "does not say that there is no policy"
        findings.append(Finding(dimension="scope", where="the text", what=what))
    return tuple(findings)


def _bears(s: Statement, policy: Policy) -> bool:
    """Say whether a sentence holds a word by which it could bear on the policy."""
    if policy.language == "ko":
        return grammar_ko.bears(s)
    return bool(set(s.words) & lexicon_en.NORMATIVE)


def _finding(dimension: Dimension, s: Statement, what: str) -> Finding:
    return Finding(dimension=dimension, where=f"line {s.line}: {s.quote}", what=what)


def _dimension_of(s: Statement) -> Dimension:
    """Name the dimension of an unexplained sentence by its weightiest word."""
    found = [lexicon_en.WORD_DIMENSION.get(w) for w in s.words]
    korean = grammar_ko.dimension_of(grammar_ko.joined([t.raw for t in s.tokens]))
    return next((d for d in found if d is not None), korean)


def _norms(reading: Reading, policy: Policy) -> list[Finding]:
    found: list[Finding] = []
    for norm in policy.norms:
        read = [n for n in reading.norms if n.norm_id == norm.id]
        name = f"norm {norm.id!r}"
        if not read:
            if not any(name in f.what for f in reading.findings):
                found.append(Finding(dimension="scope", where=name, what="is missing"))
            continue
        if len(read) > 1:
            lines = ", ".join(str(n.line) for n in read)
            what = f"is there {len(read)} times (lines {lines})"
            found.append(Finding(dimension="scope", where=name, what=what))
        for one in read:
            if one.force != norm.force:
                what = f"its force is {one.force!r}, not {norm.force!r}"
                found.append(
                    Finding(dimension="deontic_force", where=f"line {one.line}: {name}", what=what)
                )
        found.extend(_exceptions(read, norm, policy))
        found.extend(_conditions(read, norm))
        found.extend(_prevailing(read, norm))
    numbers = Counter(n.number for n in reading.norms if n.number is not None)
    for number, times in numbers.items():
        if times > 1:
            what = f"the number {number} stands before {times} norms"
            found.append(Finding(dimension="scope", where=f"norm {number}", what=what))
    return found


def _exceptions(read: list[ReadNorm], norm: Norm, policy: Policy) -> list[Finding]:
    """Compare the exceptions bound to a norm with those it has."""
    name = f"norm {norm.id!r}"
    have = Counter(e.words for one in read for e in one.exceptions)
    want = Counter(words_of(e.when) for e in norm.exceptions)
    ids = {words_of(e.when): e.id for e in norm.exceptions}
    found = [
        Finding(
            dimension="exception_set", where=name, what=f"its exception {ids[words]!r} is missing"
        )
        for words in want - have
    ]
    for words in have - want:
        what = (
            f"its exception {ids[words]!r} is there {have[words]} times"
            if words in ids
            else f"the exception {_owner(words, policy)!r} is bound to it"
        )
        found.append(Finding(dimension="exception_set", where=name, what=what))
    return found


def _conditions(read: list[ReadNorm], norm: Norm) -> list[Finding]:
    """Compare the conditions inside each exception of a norm with those it has."""
    found: list[Finding] = []
    own = {words_of(e.when): e for e in norm.exceptions}
    for exception in (e for one in read for e in one.exceptions if e.words in own):
        want = own[exception.words]
        if not (exception.only_if or exception.but_not or want.only_if or want.but_not):
            continue
        where = f"line {exception.line}: norm {norm.id!r}"
        for have, clauses, name in (
            (exception.only_if, want.only_if, "condition that must be met too"),
            (exception.but_not, want.but_not, "condition that takes it away"),
        ):
            expected, got = Counter(map(words_of, clauses)), Counter(have)
            lacks = [f"lacks the {name} {' '.join(c)!r}" for c in (expected - got).elements()]
            extra = [f"has {' '.join(c)!r} as {name}" for c in (got - expected).elements()]
            found.extend(
                Finding(
                    dimension="exception_set", where=where, what=f"exception {want.id!r} {what}"
                )
                for what in lacks + extra
            )
    return found


def _prevailing(read: list[ReadNorm], norm: Norm) -> list[Finding]:
    """Compare the norms that prevail over a norm with those it names."""
    have = Counter(id_ for one in read for id_ in one.subject_to)
    want = Counter(norm.subject_to)
    lacks = [f"is not subject to norm {id_!r}" for id_ in want - have]
    extra = [f"is subject to norm {id_!r}" for id_ in have - want]
    return [
        Finding(dimension="exception_set", where=f"norm {norm.id!r}", what=what)
        for what in lacks + extra
    ]


def _owner(words: tuple[str, ...], policy: Policy) -> str:
    return next(
        f"{n.id}.{e.id}" for n in policy.norms for e in n.exceptions if words_of(e.when) == words
    )


def _rest(reading: Reading, policy: Policy) -> list[Finding]:
    """Compare what holds for the whole policy: verdict rules, scope, definitions."""
    level = policy.threshold.level
    want: dict[str, str | None] = {
        "threshold": level,
        "below": None if level == "any" else level,
        "doubt": policy.burden.doubt,
        "exception": policy.burden.exception,
        "default": policy.default.uncovered,
    }
    found: list[Finding] = []
    for question, expected in want.items():
        dimension, name = _QUESTIONS[question]
        read = [(answer, line) for q, answer, line in reading.answers if q == question]
        for answer, line in read:
            if answer != expected:
                what = f"reads {answer!r}, not {expected!r}" if expected else "does not belong here"
                found.append(Finding(dimension=dimension, where=f"line {line}: {name}", what=what))
        if expected is not None and not read:
            found.append(Finding(dimension=dimension, where=name, what="is missing"))
        if len(read) > 1:
            what = f"is stated {len(read)} times"
            found.append(Finding(dimension=dimension, where=name, what=what))
    times = len(reading.scopes)
    if times != (1 if policy.scope else 0):
        what = "is missing" if not times else f"is stated {times} times"
        found.append(Finding(dimension="scope", where="what the policy applies to", what=what))
    terms = Counter(term for term, _ in reading.definitions)
    for definition in policy.definitions:
        n = terms[" ".join(words_of(definition.term))]
        if n != 1:
            what = "is missing" if n == 0 else f"is stated {n} times"
            where = f"the definition of {definition.term!r}"
            found.append(Finding(dimension="scope", where=where, what=what))
    return found
