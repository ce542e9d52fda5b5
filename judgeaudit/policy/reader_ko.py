"""Read a Korean policy text back into what it demands.

Written apart from the renderer, with its own grammar, lexicon and morphology. It compares without
blanks, checks every particle it reads against the word before it, and accounts for every syllable:
what it does not understand is a finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from judgeaudit.core.records import Dimension, Finding, Force
from judgeaudit.policy import grammar_ko as g
from judgeaudit.policy import lexicon_ko as lex
from judgeaudit.policy.exceptions_ko import Cases, places, read_cases
from judgeaudit.policy.morphology_ko import fits, forms
from judgeaudit.policy.reading import (
    ReadException,
    Reading,
    ReadNorm,
    Vocabulary,
    Words,
    words_of,
)
from judgeaudit.policy.references_ko import References, prevailing, refers, worded
from judgeaudit.policy.segment import Statement, statements
from judgeaudit.policy.verdict_ko import (
    QUESTIONS,
    as_number,
    dimension_of_answer,
    is_answer,
    read_answer,
)

__all__ = ["read"]

_ARTICLE = re.compile(r"제(\d+)조\(")
_REVERSED = re.compile(
    r"(?!제\d+조\([^()]*\)는)(?P<cases>.+(?:경우|\)))에는(?P<norm>제\d+조\(.+\))를"
    r"(?P<end>적용하지(?:아니한다|않는다))"
)


def read(text: str, vocabulary: Vocabulary) -> Reading:
    """Read a text.

    Parameters
    ----------
    text : str
        The text; nothing else of a rendering is looked at.
    vocabulary : Vocabulary
        The words of the policy that it may be a text of.
    """
    found = [(s, g.joined([t.raw for t in s.tokens])) for s in statements(text)]
    reader = _Reader(vocabulary)
    reader.read(found)
    if any(refers(said) for s, said in found if not s.heading):
        # what refers to norms can be read only when it is known which numbers they have
        numbers = reader.numbers
        reader = _Reader(vocabulary)
        reader.refs.numbers = numbers
        reader.read(found)
    return reader.reading


class _Reader:
    def __init__(self, vocabulary: Vocabulary) -> None:
        policy = vocabulary.policy
        self.v = vocabulary
        self.reading = Reading()
        self.heading = ""
        self.titles = {g.squeeze(n.title): n.id for n in policy.norms}
        self.parts = [
            g.Parts(
                n.id,
                g.squeeze(policy.bearer_of(n)),
                g.squeeze(n.action.verb["base"]),
                g.squeeze(n.action.object),
                g.squeeze(n.action.rest),
                g.squeeze(n.scope),
            )
            for n in policy.norms
        ]
        exceptions = [e for n in policy.norms for e in n.exceptions]
        self.clause_words = {worded(c): words_of(c) for e in exceptions for c in e.clauses}
        self.clauses = g.longest_first(worded(e.when) for e in exceptions)
        self.inner = g.longest_first(worded(c) for e in exceptions for c in e.only_if + e.but_not)
        self.definitions = {g.squeeze(d.term): d for d in policy.definitions}
        self.scope_words = g.squeeze(policy.scope)
        self.title = g.squeeze(policy.title)
        self.unit = g.squeeze(policy.threshold.unit or "")
        meanings = (g.squeeze(d.meaning) for d in policy.definitions)
        named = (self.scope_words, *meanings, *(p.content for p in self.parts), *self.clauses)
        self.refs = References.of(self.titles, (*named, *self.inner))
        # the block of the norm read last, and the norm; None in its place if it was not understood
        self.last: tuple[int, ReadNorm | None] | None = None
        # by block the norm that is stated there; None in its place if there is more than one
        self.here: dict[int, ReadNorm | None] = {}

    @property
    def numbers(self) -> dict[int, set[str]]:
        """The norms by the number under which the text states them."""
        found: dict[int, set[str]] = {}
        for norm in self.reading.norms:
            if norm.number is not None:
                found.setdefault(norm.number, set()).add(norm.norm_id)
        return found

    def read(self, found: Sequence[tuple[Statement, str]]) -> None:
        """Read all statements: what is said of norms by number last."""
        apart: list[tuple[Statement, str]] = []
        block, label = -1, None
        for s, said in found:
            label = label if block == s.block else None
            if s.first and not s.heading and (said in self.titles or said in lex.LABELS):
                block, label = s.block, said
            elif self.precedence(s, said):
                continue
            elif self.is_suspension(s, said):
                apart.append((s, said))
            else:
                # a number at the very beginning is that of the article, not a reference
                start = len(said) if s.heading else int(label is None)
                self.take(s, self.refs.resolve(said, start, self._misreferred(s)), label)
        self.refs.numbers = self.numbers
        for s, said in apart:
            self.suspension(s, said)

    # ---- one statement ------------------------------------------------------------------------

    def take(self, s: Statement, said: str, label: str | None) -> None:
        """File one statement under what it is."""
        if s.heading:
            self.heading = said
            if said not in lex.HEADINGS and said != self.title:
                self.reading.unexplained.append(s)
        elif said in lex.FRAMES:
            return
        elif not (
            self.definition(s, said)
            or self.scope(s, said)
            or self.proviso(s, said)
            or self.answer(s, said, label)
            or self.norm(s, said, label)
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

    def definition(self, s: Statement, said: str) -> bool:
        """Read `"용어"란 뜻을 말한다`."""
        m = re.fullmatch(
            rf'["\'](?P<term>[^"\']+)["\'](?P<topic>이란|란|은|는)(?P<meaning>.+)(?P<object>[을를])'
            rf"(?:{'|'.join(lex.MEANS)})",
            said,
        )
        if m is None:
            return False
        term, meaning = m["term"], m["meaning"]
        definition = self.definitions.get(term)
        if definition is None:
            self.report("scope", s, f"defines {term!r}, which the policy does not define")
            self.reading.definitions.append((term, s.line))
            return True
        expected = g.squeeze(definition.meaning)
        if expected != meaning:
            what = f"the meaning of {term!r} differs: {g.difference(expected, meaning)}"
            self.report("scope", s, what)
        elif not (fits(term, m["topic"]) and fits(meaning, m["object"])):
            self.report("scope", s, f"a particle does not fit its word in the meaning of {term!r}")
        self.reading.definitions.append((" ".join(words_of(definition.term)), s.line))
        return True

    def scope(self, s: Statement, said: str) -> bool:
        """Read what the policy as a whole applies to."""
        m = lex.APPLIES.fullmatch(said)
        if m is None:
            return False
        found = m["first"] or m["last"]
        if found != self.scope_words:
            difference = g.difference(self.scope_words, found)
            self.report("scope", s, f"the policy applies to something else: {difference}")
        self.reading.scopes.append(s.line)
        return True

    # ---- sentences about the verdict ------------------------------------------------------------

    def answer(self, s: Statement, said: str, label: str | None) -> bool:
        """Read a sentence about threshold, burden of proof or default rule."""
        if not is_answer(said):
            return False
        found = read_answer(said, self.unit)
        if found is None:
            self.report(dimension_of_answer(said), s, "says something else about the verdict")
            return True
        dimension = QUESTIONS[found.question]
        number = self.v.policy.threshold.at_least
        if found.number is not None and as_number(found.number) != number:
            self.report(dimension, s, f"counts from {found.number}, not from {number}")
        before = self.reading.answers[-1][0] if self.reading.answers else ""
        if said.startswith("그") and found.question == "below" and before != "threshold":
            self.report(dimension, s, "does not follow the threshold it refers to")
        self.reading.answers.append((found.question, found.read, s.line))
        if label is not None and found.question not in lex.LABELS.get(label, ()):
            self.report(dimension, s, f"stands under {label!r}")
        return True

    # ---- norms ----------------------------------------------------------------------------------

    def norm(self, s: Statement, said: str, label: str | None) -> bool:
        """Read a norm with the exceptions that stand in its own sentence."""
        number, titled, body = s.number, self.titles.get(label) if label else None, said
        if m := _ARTICLE.match(said):
            number = int(m[1])
            title, body = self.refs.title(said[m.end() :])
            titled = self.titles.get(title)
            if titled is None:
                self.report("scope", s, f"no norm has the title {title!r}")
        main, exceptions = self._take_cases(s, body)
        found = next(
            ((p.norm_id, f) for p in self.parts if (f := g.match_norm(main, p)) is not None), None
        )
        if found is None:
            return self._unlike(s, main, titled)
        if label is not None and label in lex.LABELS:
            self.report("scope", s, f"a norm stands under {label!r}")
        if self.heading in lex.NO_NORMS_UNDER:
            self.report("scope", s, f"a norm stands under the heading {self.heading!r}")
        if titled is not None and titled != found[0]:
            self.report("scope", s, f"norm {found[0]!r} stands under the title of {titled!r}")
        self._add(s, found, number, exceptions)
        return True

    def _add(
        self,
        s: Statement,
        found: tuple[str, Force],
        number: int | None,
        exceptions: list[ReadException],
    ) -> None:
        norm = ReadNorm(found[0], found[1], s.line, number, exceptions)
        self.reading.norms.append(norm)
        self.last = (s.block, norm)
        self.here[s.block] = None if s.block in self.here else norm

    def _take_cases(self, s: Statement, body: str) -> tuple[str, list[ReadException]]:
        """Take `… 경우를 제외하고` out of a sentence."""
        if not any(f"{end}{c}" in body for end in ("경우", ")") for c in lex.LEADING):
            return body, []
        start = next(places(body, self.clauses), 0)
        bearers = {p.bearer for p in self.parts}
        if body[:start].rstrip(",")[:-1] not in bearers:
            start = 0
        cases = read_cases(body, start, self.clauses, self.inner)
        if cases is None:
            return body, []
        closer = next((c for c in lex.LEADING if body.startswith(c, cases.end)), None)
        if closer is None:
            return body, []
        found = self._bind(s, cases)
        return body[:start] + body[cases.end + len(closer) :].removeprefix(","), found

    def _bind(self, s: Statement, cases: Cases) -> list[ReadException]:
        """Report what is wrong with a list of cases, and return the known ones."""
        for clause in cases.unknown:
            near = max(self.clauses, key=lambda c: g.likeness(c, clause), default="")
            known = f": {clause!r}"
            if g.likeness(near, clause) >= 0.5:
                known = f"; the nearest differs: {g.difference(near, clause)}"
            self.report("exception_set", s, f"an exception the policy does not have{known}")
        if cases.all_at_once:
            self.report("exception_set", s, "exceptions joined so that all must be met")
        for fault in cases.faults:
            self.report("exception_set", s, fault)

        def words(clauses: tuple[str, ...]) -> tuple[Words, ...]:
            return tuple(self.clause_words[c] for c in clauses)

        return [
            ReadException(self.clause_words[c.clause], s.line, words(c.only_if), words(c.but_not))
            for c in cases.known
        ]

    def _unlike(self, s: Statement, main: str, titled: str | None) -> bool:
        """Say how a sentence that is no norm of the policy differs from the nearest norm."""
        scored = [(g.likeness(p.content, main), p.norm_id == titled, p) for p in self.parts]
        score, _, best = max(scored, key=lambda x: (x[0], x[1]))
        if score < 0.5:
            if titled is None:
                return False
            best = next(p for p in self.parts if p.norm_id == titled)
        self.last = (s.block, None)
        dimension, detail = g.unlike(main, best)
        self.report(dimension, s, f"norm {best.norm_id!r} reads differently: {detail}")
        return True

    # ---- exceptions in sentences of their own ----------------------------------------------------

    def proviso(self, s: Statement, said: str) -> bool:
        """Read `다만, A 경우 또는 B 경우에는 그러하지 아니하다`, bound to the norm before it."""
        opener = next((o for o in lex.PROVISO_OPENERS if said.startswith(o)), None)
        if opener is None:
            return False
        cases = read_cases(said, len(opener), self.clauses, self.inner)
        if cases is None or not self._releases(said[cases.end :]):
            self.report("exception_set", s, "an exception that is not understood")
            return True
        exceptions = self._bind(s, cases)
        if self.last is None or self.last[0] != s.block:
            self.report("exception_set", s, "an exception that stands behind no norm")
        else:
            if self.last[1] is not None:
                self.last[1].exceptions.extend(exceptions)
            # a second proviso, or one behind another sentence, would have an unclear target
            self.last = None
        return True

    def _releases(self, closing: str) -> bool:
        """Say whether what follows the cases lifts the norm before (그러하지 아니하다)."""
        if closing in lex.PROVISO:
            return True
        norm = self.last[1] if self.last is not None else None
        if norm is None:
            return False
        verb = forms(next(p.verb for p in self.parts if p.norm_id == norm.norm_id))
        return any(
            closing == f"에는{it}{form}{tail}"
            for kind, tail in lex.RELEASES.get(norm.force, ())
            for form in verb[kind]
            for it in ("", "이를")
        )

    def is_suspension(self, s: Statement, said: str) -> bool:
        """Say whether a sentence states exceptions to a norm that it names."""
        if s.heading:
            return False
        m = _ARTICLE.match(said)
        named = m is not None and self.refs.title(said[m.end() :])[1].startswith("는")
        return named or _REVERSED.fullmatch(said) is not None

    def suspension(self, s: Statement, said: str) -> None:
        """Read `제3조(제목)는 A 경우 또는 B 경우에는 적용하지 아니한다`, or its cases first."""
        if turned := _REVERSED.fullmatch(said):
            said = f"{turned['norm']}는{turned['cases']}에는{turned['end']}"
        m = _ARTICLE.match(said)
        assert m is not None
        report = self._misreferred(s)
        title, body = self.refs.title(said[m.end() :])
        target = self.refs.named(int(m[1]), title, report)
        body = self.refs.resolve(body, 0, report)
        cases = read_cases(body, 1, self.clauses, self.inner) if body.startswith("는") else None
        if cases is None or body[cases.end :] not in lex.APART:
            self.report("exception_set", s, f"not understood: {body!r}")
            return
        exceptions = self._bind(s, cases)
        norm = next((n for n in self.reading.norms if n.norm_id == target), None)
        if norm is None:
            self.report("exception_set", s, "exceptions to a norm that is not in the text")
            return
        norm.exceptions.extend(exceptions)
        self.reading.blocks.add(s.block)

    # ---- which norm prevails ---------------------------------------------------------------------

    def precedence(self, s: Statement, said: str) -> bool:
        """Read `이 조와 제8조(제목)가 저촉되는 경우에는 제8조를 우선하여 적용한다`."""
        if s.heading or lex.THIS_ARTICLE not in said:
            return False
        wrong: list[str] = []
        ids = prevailing(self.refs.resolve(said, 0, wrong.append))
        if ids is None:
            return False
        if len(ids) > 1:
            wrong.append("one norm conflicts, and another prevails")
        norm = self.here.get(s.block)
        if norm is None:
            wrong.append("it is open over which norm another prevails")
        else:
            norm.subject_to.extend(ids)
        for what in wrong:
            self.report("exception_set", s, what)
        self.last = None
        self.reading.blocks.add(s.block)
        return True

    def _misreferred(self, s: Statement) -> Callable[[str], None]:
        """Return what notes that a reference does not name one norm."""
        return lambda what: self.report("exception_set", s, what)
