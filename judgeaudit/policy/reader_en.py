"""Read an English policy text back into what it demands.

Written apart from the renderer, with its own grammar, lexicon and morphology. Of the policy it
takes only the words by which the parts are named (a verb's base form, objects, clauses, terms);
everything between them must be in the lexicon. No word is skipped: what is not understood is a
finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from judgeaudit.core.records import Dimension, Finding, Force
from judgeaudit.policy import grammar_en as g
from judgeaudit.policy import lexicon_en as lex
from judgeaudit.policy.exceptions_en import ExceptionReader
from judgeaudit.policy.morphology_en import forms
from judgeaudit.policy.reading import (
    REFERENCE,
    ReadException,
    Reading,
    ReadNorm,
    Vocabulary,
    starts,
)
from judgeaudit.policy.references_en import References, subject_to
from judgeaudit.policy.segment import Statement, statements

__all__ = ["read"]

Words = tuple[str, ...]

_DIMENSIONS: dict[str, Dimension] = {
    "threshold": "implicit_threshold",
    "below": "implicit_threshold",
    "doubt": "burden_of_proof",
    "exception": "burden_of_proof",
    "default": "default_rule",
}
_EXCEPTION_WORDS = frozenset({"exception", "exceptions"})


def read(text: str, vocabulary: Vocabulary) -> Reading:
    """Read a text.

    Parameters
    ----------
    text : str
        The text; nothing else of a rendering is looked at.
    vocabulary : Vocabulary
        The words of the policy that it may be a text of.
    """
    reader = _Reader(vocabulary)
    refer: list[tuple[Statement, Statement | None, Words]] = []
    label: Statement | None = None
    for s in statements(text):
        if label is not None and label.block != s.block:
            label = None
        if s.first and (s.words in vocabulary.titles or s.words in lex.LABELS):
            label = s
            if s.words in vocabulary.titles:
                reader.references.number(s.number, vocabulary.titles[s.words])
        elif not s.heading and reader.references.present(s):
            refer.append((s, label, reader.heading))
        else:
            reader.take(s, label)
    # what refers to norms is read when their numbers are known, what is said of norms last
    for s, label_, heading in refer:
        if s.words[0] != "norm":
            reader.heading = heading
            reader.take(reader.references.resolve(s, reader.misreferred), label_)
    for s, _, _ in refer:
        if s.words[0] == "norm":
            reader.apart(reader.references.resolve(s, reader.misreferred))
    return reader.reading


@dataclass(frozen=True, slots=True)
class _Match:
    norm_id: str
    force: Force


class _Reader:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self.v = vocabulary
        self.reading = Reading()
        self.heading: Words = ()
        self.references = References(vocabulary.titles)
        outer = {c for clauses in vocabulary.clauses.values() for c in clauses}
        self.exceptions = ExceptionReader(_longest_first(outer), _longest_first(vocabulary.inner))

    # ---- one statement ------------------------------------------------------------------------

    def take(self, s: Statement, label: Statement | None) -> None:
        """File one statement under what it is."""
        words = s.words
        if s.heading:
            self.heading = words
            if words not in lex.HEADINGS and words != self.v.policy_title:
                self.reading.unexplained.append(s)
        elif words in lex.FRAMES:
            return
        elif not (
            self.definition(s) or self.scope(s) or self.answer(s, label) or self.norm(s, label)
        ):
            self.reading.unexplained.append(s)
        else:
            self.reading.blocks.add(s.block)

    def report(self, dimension: Dimension, s: Statement, what: str) -> None:
        """Note a finding at a statement."""
        self.reading.findings.append(
            Finding(dimension=dimension, where=f"line {s.line}: {s.quote}", what=what)
        )

    # ---- definitions and the scope of the whole -------------------------------------------------

    def definition(self, s: Statement) -> bool:
        """Read `"Term" means meaning`."""
        words = s.words
        if not words or words[0] not in {'"', "“", "'"}:
            return False
        close = next((i for i in range(1, len(words)) if words[i] in {'"', "”", "'"}), -1)
        verb = next((m for m in lex.MEANS if starts(words, close + 1, m)), None)
        if close < 0 or verb is None:
            return False
        term, meaning = words[1:close], words[close + 1 + len(verb) :]
        if term not in self.v.definitions:
            self.report("scope", s, f"defines {' '.join(term)!r}, which the policy does not define")
        elif self.v.definitions[term] != meaning:
            difference = g.difference(self.v.definitions[term], meaning)
            self.report("scope", s, f"the meaning of {' '.join(term)!r} differs: {difference}")
        self.reading.definitions.append((" ".join(term), s.line))
        return True

    def scope(self, s: Statement) -> bool:
        """Read what the policy as a whole applies to."""
        words = s.words
        rest: Words | None = None
        for phrase in lex.APPLIES_BEFORE:
            if starts(words, 0, phrase):
                rest = words[len(phrase) :]
        for phrase in lex.APPLIES_AFTER:
            if words[-len(phrase) :] == phrase:
                rest = words[: -len(phrase)]
        if rest is None:
            return False
        if rest != self.v.policy_scope:
            difference = g.difference(self.v.policy_scope, rest)
            self.report("scope", s, f"the policy applies to something else: {difference}")
        self.reading.scopes.append(s.line)
        return True

    # ---- sentences about the verdict ------------------------------------------------------------

    def answer(self, s: Statement, label: Statement | None) -> bool:
        """Read a sentence about threshold, burden of proof or default rule."""
        about_verdict = any(t.raw in {"SAFE", "UNSAFE"} for t in s.tokens)
        if not about_verdict and not _EXCEPTION_WORDS & set(s.words):
            return False
        concepts, unknown = self._concepts(s.words)
        if unknown and not about_verdict:
            return False
        if not unknown:
            found = lex.ANSWERS.get(g.shape_of(concepts))
            if found is not None:
                self.reading.answers.append((*found, s.line))
                if label is not None and found[0] not in lex.LABELS.get(label.words, ()):
                    self.report(_DIMENSIONS[found[0]], s, f"stands under {label.quote!r}")
                return True
        dimension: Dimension = "implicit_threshold"
        if {"OPEN", "SHOWS", "EXCEPTION", "CONDITION"} & set(concepts):
            dimension = "burden_of_proof"
        elif {"COVERS", "CONDUCT"} & set(concepts):
            dimension = "default_rule"
        why = f"(not understood: {', '.join(map(repr, unknown))})" if unknown else ""
        self.report(dimension, s, f"says something else about the verdict {why}".rstrip())
        return True

    def _concepts(self, words: Words) -> tuple[list[str], list[str]]:
        """Map words to concepts; connectives are written `<if>`."""
        number = self.v.policy.threshold.at_least
        found: list[str] = []
        unknown: list[str] = []
        i = 0
        while i < len(words):
            if self.v.unit and starts(words, i, self.v.unit):
                found.append("UNIT")
                i += len(self.v.unit)
                continue
            phrase = next((p for p in g.CONNECTIVES.get(words[i], ()) if starts(words, i, p)), None)
            if phrase is not None:
                found.append(f"<{lex.CONNECTIVES[phrase]}>")
                i += len(phrase)
                continue
            phrase = next((p for p in g.CONCEPTS.get(words[i], ()) if starts(words, i, p)), None)
            if phrase is not None:
                concept = lex.CONCEPTS[phrase]
                found.append(concept or ("<,>" if phrase == (",",) else ""))
                if phrase in {("does",), ("do",)}:
                    found[-1] = "<does>"
                i += len(phrase)
                continue
            if number is not None and g.as_number(words[i]) == number:
                found.append("NUMBER")
            else:
                unknown.append(words[i])
            i += 1
        return found, unknown

    # ---- norms ----------------------------------------------------------------------------------

    def norm(self, s: Statement, label: Statement | None) -> bool:
        """Read a norm with the exceptions that stand in its own sentence."""
        main, exceptions = self._split(s, lex.EXCEPT)
        main, prevailing = subject_to(main)
        match = next(self._matches(main), None)
        titled = self.v.titles.get(label.words) if label is not None else None
        if match is None:
            return self._unlike(s, main, titled)
        if label is not None and titled is None:
            self.report("scope", s, f"a norm stands under {label.quote!r}")
        if self.heading in lex.NO_NORMS_UNDER:
            self.report("scope", s, f"a norm stands under the heading {' '.join(self.heading)!r}")
        if titled is not None and titled != match.norm_id:
            self.report("scope", s, f"norm {match.norm_id!r} stands under the title of {titled!r}")
        self.references.number(s.number, match.norm_id)
        self.reading.norms.append(
            ReadNorm(
                match.norm_id, match.force, s.line, s.number, list(exceptions), list(prevailing)
            )
        )
        return True

    def _split(self, s: Statement, openers: Sequence[Words]) -> tuple[Words, list[ReadException]]:
        """Take the exceptions out of a sentence; what is left must be the norm and nothing else."""
        return self.exceptions.split(
            s.words, openers, s.line, lambda what: self.report("exception_set", s, what)
        )

    def _matches(self, main: Words) -> Iterator[_Match]:
        for norm_id in self.v.verbs:
            bearer, verb = self.v.bearers[norm_id], self.v.verbs[norm_id]
            object_, rest = self.v.objects[norm_id], self.v.rests[norm_id]
            scope = self.v.scopes[norm_id]
            places: list[tuple[Words, tuple[Words, ...]]] = [(main, (rest, scope))]
            if scope and rest:
                places.append((main, (scope, rest)))
            if scope and starts(main, 0, scope):
                after = main[len(scope) :]
                places.append((after[1:] if after[:1] == (",",) else after, (rest,)))
            for words, tail in places:
                ending = tuple(w for part in tail for w in part)
                force = g.active(words, bearer, verb, object_ + ending) or g.passive(
                    words, bearer, verb, object_, tail
                )
                if force is not None:
                    yield _Match(norm_id, force)

    def _unlike(self, s: Statement, main: Words, titled: str | None) -> bool:
        """Say how a sentence that is no norm of the policy differs from the nearest norm."""
        best, score = "", 0.0
        for norm_id in self.v.verbs:
            likeness = g.likeness(self._content(norm_id), main)
            if likeness > score or (likeness == score and norm_id == titled):
                best, score = norm_id, likeness
        if score < 0.5:
            if titled is None:
                return False
            best = titled
        bearer = self.v.bearers[best]
        rest, has_force = g.without_force(main)
        rest, has_bearer = g.without(rest, bearer)
        for word in self.v.verbs[best]:
            same = {f for group in forms(word).values() for f in group} | {word}
            at = next((i for i, w in enumerate(rest) if w in same), -1)
            if at >= 0:
                rest = (*rest[:at], word, *rest[at + 1 :])
        missing, extra = g.bags(self._content(best), rest)
        extra = [w for w in extra if w not in {"be", "being", "by"}]
        referring = any(w.startswith(REFERENCE) for w in extra)
        extra = [f"norm {w[1:]}" if w.startswith(REFERENCE) else w for w in extra]
        parts = [f"missing {', '.join(map(repr, missing))}"] if missing else []
        parts += [f"not understood {', '.join(map(repr, extra))}"] if extra else []
        parts += [] if has_bearer else [f"it does not bind {' '.join(bearer)!r}"]
        parts += [] if has_force else ["its force is not understood"]
        detail = "; ".join(parts) or "its words stand in an order that changes their meaning"
        dimension = g.dimension_of(missing, extra) if has_bearer and has_force else "scope"
        if not has_force and not missing and has_bearer:
            dimension = "deontic_force"
        dimension = "exception_set" if referring else dimension
        self.report(dimension, s, f"norm {best!r} reads differently: {detail}")
        return True

    def _content(self, norm_id: str) -> Words:
        v = self.v
        return v.verbs[norm_id] + v.objects[norm_id] + v.rests[norm_id] + v.scopes[norm_id]

    # ---- what is said of a norm apart from it -----------------------------------------------

    def misreferred(self, s: Statement, what: str) -> None:
        """Note a reference that does not name one norm."""
        self.report("exception_set", s, what)

    def apart(self, s: Statement) -> None:
        """Read `Norm 3 (Title) does not apply where A, or where B`, or `is subject to norm 4`."""
        head, exceptions = self._split(s, lex.SUSPEND_WHERE)
        target = head[0].removeprefix(REFERENCE) if head and head[0].startswith(REFERENCE) else None
        rest = head[1:]
        prevailing: list[str] = []
        opener = next((o for o in lex.PREVAILED if starts(rest, 0, o)), None)
        if opener is not None:
            left, prevailing = subject_to(("subject", "to", *rest[len(opener) :], ","))
            rest = () if not left else rest
        if rest not in lex.SUSPENDED and not (opener is not None and prevailing and not rest):
            self.report("exception_set", s, f"not understood: {' '.join(rest)!r}")
            return
        if prevailing:
            if exceptions:
                self.report("exception_set", s, "a norm prevails only in some cases")
        elif not exceptions and not any(
            f.where.startswith(f"line {s.line}:") for f in self.reading.findings
        ):
            self.report("exception_set", s, "an exception without a condition")
        norm = next((n for n in self.reading.norms if n.norm_id == target), None)
        if norm is None:
            self.report("exception_set", s, "exceptions to a norm that is not in the text")
            return
        norm.exceptions.extend(exceptions)
        norm.subject_to.extend(prevailing)
        self.reading.blocks.add(s.block)


def _longest_first(clauses: Iterable[Words]) -> tuple[Words, ...]:
    return tuple(sorted(clauses, key=lambda c: (-len(c), c)))
