"""Read an English policy text back into what it demands.

Written apart from the renderer, with its own grammar, lexicon and morphology. Of the policy it
takes only the words by which the parts are named (a verb's base form, objects, clauses, terms);
everything between them must be in the lexicon. No word is skipped: what is not understood is a
finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from judgeaudit.core.records import Dimension, Finding, Force
from judgeaudit.policy import lexicon_en as lex
from judgeaudit.policy.discourse_en import Lead, Unit, follows, lead_of, read_followers, unlead
from judgeaudit.policy.exceptions_en import ExceptionReader, phrases
from judgeaudit.policy.followers_en import NOR
from judgeaudit.policy.frame_en import definition, scope
from judgeaudit.policy.norms_en import pattern
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
from judgeaudit.policy.unlike_en import about, concepts_of, unlike
from judgeaudit.policy.variants_en import head
from judgeaudit.policy.verdict_en import verdicts

__all__ = ["read"]

Words = tuple[str, ...]

_DIMENSIONS: dict[str, Dimension] = {
    "threshold": "implicit_threshold",
    "below": "implicit_threshold",
    "doubt": "burden_of_proof",
    "exception": "burden_of_proof",
    "default": "default_rule",
}


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
    refer: list[tuple[Unit, Statement | None, Words]] = []
    label: Statement | None = None
    for unit in _units(text, vocabulary):
        s = unit.host
        if label is not None and label.block != s.block:
            label = None
        if s.first and (s.words in vocabulary.titles or s.words in lex.LABELS):
            label = s
            if s.words in vocabulary.titles:
                reader.references.number(s.number, vocabulary.titles[s.words])
        elif not s.heading and any(map(reader.references.present, unit.all)):
            refer.append((unit, label, reader.heading))
        else:
            reader.take_unit(unit, label)
    # what refers to norms is read when their numbers are known, what is said of norms last
    refer = [(reader.resolved(unit), label_, heading) for unit, label_, heading in refer]
    for unit, label_, heading in refer:
        if not _of_a_norm(unit.host):
            reader.heading = heading
            reader.take_unit(unit, label_)
    for unit, _, _ in refer:
        if _of_a_norm(unit.host):
            reader.apart(unit)
    reader.close()
    return reader.reading


def _of_a_norm(s: Statement) -> bool:
    """Say whether a statement is about a norm that it names first."""
    return s.words[0] == "norm" or s.words[0].startswith(REFERENCE)


def _units(text: str, v: Vocabulary) -> list[Unit]:
    """Bring statements together with those that go on about them."""
    units: list[Unit] = []
    open_ = False
    for s in statements(text):
        label = s.first and (s.words in v.titles or s.words in lex.LABELS)
        if open_ and not label and follows(units[-1], s):
            units[-1].more.append(s)
        else:
            units.append(Unit(s))
            open_ = not label  # nothing goes on about a label
    return units


@dataclass(frozen=True, slots=True)
class _Match:
    norm_id: str
    force: Force
    exceptions: tuple[ReadException, ...] = ()
    incomplete: bool = False
    """Whether it only permits in some cases, and what holds in all others must be said yet."""


class _Reader:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self.v = vocabulary
        self.reading = Reading()
        self.heading: Words = ()
        self.references = References(vocabulary.titles)
        outer = frozenset(
            (c, head(vocabulary.objects[id_])) for id_, cs in vocabulary.clauses.items() for c in cs
        )
        inner = frozenset((c, "") for c in vocabulary.inner)
        self.exceptions = ExceptionReader(phrases(outer), phrases(inner))
        forces = {n.id: n.force for n in vocabulary.policy.norms}
        self.patterns = {id_: pattern(vocabulary, id_, forces[id_]) for id_ in vocabulary.verbs}
        threshold = vocabulary.policy.threshold
        self.verdicts = verdicts(threshold.at_least, vocabulary.unit)
        self.after_threshold = -1  # the block of the statement before, if that was the threshold
        self.incomplete = False
        # what the text says of its exceptions: that there are none but those apart, none but
        # so many, none at all; and which norms have some that do not stand apart
        self.no_others = False
        self.complete: dict[str, int] = {}
        self.without: list[tuple[str, Statement]] = []
        self.inline: set[str] = set()

    # ---- one statement ------------------------------------------------------------------------

    def resolved(self, unit: Unit) -> Unit:
        """Resolve the references in all statements of a unit."""
        first, *more = [self.references.resolve(s, self.misreferred) for s in unit.all]
        return Unit(first, more)

    def take_unit(self, unit: Unit, label: Statement | None) -> None:
        """Read a norm with what goes on about it, or statements one by one."""
        lead = lead_of(unit.host) if unit.more else None
        before = len(self.reading.norms)
        host = unit.host if lead is None else unlead(unit.host, lead)
        self.incomplete = False
        self.take(host, label, lead)
        if len(self.reading.norms) == before:
            for s in unit.more:
                self.take(s, label)
            return
        if unit.more:
            self.follow(unit, self.reading.norms[-1], lead)
        elif self.incomplete:
            self.report("deontic_force", host, "what holds in all other cases is not said")

    def follow(self, unit: Unit, norm: ReadNorm, lead: Lead | None) -> None:
        """Read into a norm what goes on about it."""
        id_ = norm.norm_id
        self.inline.add(id_)
        of = {n.id: n for n in self.v.policy.norms}[id_]
        plural = self.v.policy.is_plural(of)
        said = read_followers(
            unit.more,
            norm,
            lead,
            bearer=self.v.bearers[id_],
            plural=plural,
            exceptions=self.exceptions,
            report=partial(self.report, "exception_set"),
            restates=lambda words: self.patterns[id_].force(words) == "prohibited",
        )
        if "none" in said:
            self.without.append((id_, unit.host))
        if said & {"all", "otherwise"}:
            self.complete[id_] = len(norm.exceptions)
        if self.incomplete and "otherwise" not in said:
            self.report("deontic_force", unit.host, "what holds in all other cases is not said")
        self.reading.blocks.update(s.block for s in unit.more)

    def close(self) -> None:
        """Check what could only be known at the end."""
        for id_, s in self.without:
            norm = next(n for n in self.reading.norms if n.norm_id == id_)
            if norm.exceptions or norm.subject_to:
                self.report("exception_set", s, "is said to have no exceptions, and has some")
        for norm in self.reading.norms:
            has = len(norm.exceptions)
            more = self.complete.get(norm.norm_id, has) != has
            if more or (self.no_others and norm.norm_id in self.inline):
                where, what = f"norm {norm.norm_id!r}", "has exceptions that it is said not to have"
                finding = Finding(dimension="exception_set", where=where, what=what)
                self.reading.findings.append(finding)

    def take(self, s: Statement, label: Statement | None, lead: Lead | None = None) -> None:
        """File one statement under what it is."""
        words = s.words
        after_threshold, self.after_threshold = self.after_threshold == s.block, -1
        if s.heading:
            self.heading = words
            if words not in lex.HEADINGS and words != self.v.policy_title:
                self.reading.unexplained.append(s)
        elif words in lex.FRAMES:
            self.no_others |= words[-2:] == ("no", "others")
            return
        elif not (
            self.definition(s)
            or self.scope(s)
            or self.answer(s, label, after_threshold)
            or self.norm(s, label, lead)
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
        """Read `"Term" means meaning`, and `a term is meaning` if it is that in whole."""
        found = definition(s.words, self.v.definitions)
        if found is None:
            return False
        term, wrong = found
        if wrong:
            self.report("scope", s, wrong)
        self.reading.definitions.append((" ".join(term), s.line))
        return True

    def scope(self, s: Statement) -> bool:
        """Read what the policy as a whole applies to."""
        wrong = scope(s.words, self.v.policy_scope)
        if wrong is None:
            return False
        if wrong:
            self.report("scope", s, wrong)
        self.reading.scopes.append(s.line)
        return True

    # ---- sentences about the verdict ------------------------------------------------------------

    def answer(self, s: Statement, label: Statement | None, after_threshold: bool) -> bool:
        """Read a sentence about threshold, burden of proof or default rule."""
        about_verdict = any(t.raw in {"SAFE", "UNSAFE"} for t in s.tokens)
        as_label = all(t.raw.isupper() for t in s.tokens if t.text in {"safe", "unsafe"})
        found = self.verdicts.read(s.words, after_threshold=after_threshold) if as_label else None
        if found is not None:
            for question, answer in found:
                self.reading.answers.append((question, answer, s.line))
                if label is not None and question not in lex.LABELS.get(label.words, ()):
                    self.report(_DIMENSIONS[question], s, f"stands under {label.quote!r}")
            if found[-1][0] == "threshold":
                self.after_threshold = s.block
            return True
        if not about_verdict and not {"exception", "exceptions"} & set(s.words):
            return False
        concepts, unknown = concepts_of(self.v, s.words)
        if unknown and not about_verdict:
            return False
        dimension, what = about(concepts, unknown)
        self.report(dimension, s, what)
        return True

    # ---- norms ----------------------------------------------------------------------------------

    def norm(self, s: Statement, label: Statement | None, lead: Lead | None = None) -> bool:
        """Read a norm with the exceptions that stand in its own sentence."""
        said = len(self.reading.findings)
        main, exceptions = self._split(s, lex.EXCEPT)
        main, prevailing = subject_to(main)
        match: _Match | None = None
        if lead is not None and lead.only:
            match = next(self._only(s.words, lead), None)
        else:
            match = next(self._matches(main), None)
            if match is None and not exceptions and len(self.reading.findings) == said:
                match = next(self._only(main, None), None)
        titled = self.v.titles.get(label.words) if label is not None else None
        if match is None:
            return self._unlike(s, main, titled)
        self.incomplete = match.incomplete
        if label is not None and titled is None:
            self.report("scope", s, f"a norm stands under {label.quote!r}")
        if self.heading in lex.NO_NORMS_UNDER:
            self.report("scope", s, f"a norm stands under the heading {' '.join(self.heading)!r}")
        if titled is not None and titled != match.norm_id:
            self.report("scope", s, f"norm {match.norm_id!r} stands under the title of {titled!r}")
        self.references.number(s.number, match.norm_id)
        if match.exceptions:
            self.complete[match.norm_id] = len(match.exceptions)
        if exceptions or match.exceptions or lead is not None:
            self.inline.add(match.norm_id)
        found = [replace(e, line=s.line) for e in (*exceptions, *match.exceptions)]
        norm = ReadNorm(match.norm_id, match.force, s.line, s.number, found, list(prevailing))
        self.reading.norms.append(norm)
        return True

    def _split(self, s: Statement, openers: Sequence[Words]) -> tuple[Words, list[ReadException]]:
        """Take the exceptions out of a sentence; what is left must be the norm and nothing else."""
        wrong = partial(self.report, "exception_set", s)
        return self.exceptions.split(s.words, openers, s.line, wrong)

    def _matches(self, main: Words) -> Iterator[_Match]:
        for norm_id, one in self.patterns.items():
            force = one.force(main)
            if force is not None:
                yield _Match(norm_id, force)

    def _only(self, words: Words, lead: Lead | None) -> Iterator[_Match]:
        """Read a ban worded as a permission: `may … only if A`; `where A, … may …`."""
        ways = [(words, lex.ONLY, False)]
        at = words.index("only") if "only" in words else -1
        if at > 0 and words[at - 1] in {"may", "is", "are"}:
            # "only" must limit the permission, not a word of what is permitted
            subjects = set(self.v.bearers.values())
            subjects.update(o for one in self.patterns.values() for o in one.object_)
            if words[: at - 1] in subjects:
                less = (*words[:at], *words[at + 1 :])
                ways.append((less, lex.SUSPEND_WHERE[:3], False))
        if words[:1] and words[:1] in lex.SUSPEND_WHERE[:3]:
            ways.append((words, lex.SUSPEND_WHERE[:3], True))
        for some, openers, incomplete in ways:
            wrong: list[str] = []
            main, found = (
                (some, []) if lead else self.exceptions.split(some, openers, 0, wrong.append)
            )
            if wrong or not (found or lead):
                continue
            for match in self._matches(main):
                if match.force == "permitted":
                    yield _Match(match.norm_id, "prohibited", tuple(found), incomplete)

    def _unlike(self, s: Statement, main: Words, titled: str | None) -> bool:
        """Say how a sentence that is no norm of the policy differs from the nearest norm."""
        found = unlike(self.v, main, titled)
        if found is not None:
            self.report(found[0], s, found[1])
        return found is not None

    # ---- what is said of a norm apart from it -----------------------------------------------

    def misreferred(self, s: Statement, what: str) -> None:
        """Note a reference that does not name one norm."""
        self.report("exception_set", s, what)

    def apart(self, unit: Unit) -> None:
        """Read `Norm 3 (Title) does not apply where A, or where B`, or `is subject to norm 4`."""
        s = unit.host
        head_, exceptions = self._split(s, lex.SUSPEND_WHERE)
        first = head_[0] if head_ else ""
        target = first.removeprefix(REFERENCE) if first.startswith(REFERENCE) else None
        rest = head_[1:]
        bearer = self.v.bearers.get(target or "", ())
        if bearer and rest[-1 - len(bearer) :] == ("bind", *bearer):
            rest = rest[: -len(bearer)]
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
        for one in unit.more:
            exceptions += self._nor(one, bearer, bool(prevailing))
        norm = next((n for n in self.reading.norms if n.norm_id == target), None)
        if norm is None:
            self.report("exception_set", s, "exceptions to a norm that is not in the text")
            return
        norm.exceptions.extend(exceptions)
        norm.subject_to.extend(prevailing)
        self.reading.blocks.update(one.block for one in unit.all)

    def _nor(self, s: Statement, bearer: Words, prevailing: bool) -> list[ReadException]:
        """Read `nor does it apply where B` behind what suspends a norm."""
        rest, found = self._split(s, lex.SUSPEND_WHERE)
        if bearer and rest[-len(bearer) :] == bearer:
            rest = rest[: -len(bearer)]
        if rest not in NOR or not found or prevailing:
            self.report("exception_set", s, f"not understood: {' '.join(rest)!r}")
            return []
        return found
