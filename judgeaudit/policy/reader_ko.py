"""Read a Korean policy text back into what it demands.

Written apart from the renderer, with its own grammar, lexicon and morphology. It compares without
blanks, checks every particle it reads against the word before it, and accounts for every syllable:
what it does not understand is a finding.
"""

from __future__ import annotations

import re

from judgeaudit.core.records import Dimension, Finding, Force
from judgeaudit.policy import grammar_ko as g
from judgeaudit.policy import lexicon_ko as lex
from judgeaudit.policy.morphology_ko import fits, forms
from judgeaudit.policy.reading import ReadException, Reading, ReadNorm, Vocabulary, words_of
from judgeaudit.policy.segment import Statement, statements

__all__ = ["read"]

_DIMENSIONS: dict[str, Dimension] = {
    "threshold": "implicit_threshold",
    "below": "implicit_threshold",
    "doubt": "burden_of_proof",
    "exception": "burden_of_proof",
    "default": "default_rule",
}
_ARTICLE = re.compile(r"제(\d+)조\(")
_REVERSED = re.compile(
    r"(?!제\d+조)(?P<cases>.+경우)에는(?P<norm>제\d+조\(.+\))를"
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
    reader = _Reader(vocabulary)
    apart: list[tuple[Statement, str]] = []
    label: Statement | None = None
    for s in statements(text):
        said = g.joined([t.raw for t in s.tokens])
        if label is not None and label.block != s.block:
            label = None
        if s.first and not s.heading and (said in reader.titles or said in lex.LABELS):
            label = s
        elif reader.is_suspension(s, said):
            apart.append((s, said))
        else:
            reader.take(s, said, g.joined([t.raw for t in label.tokens]) if label else None)
    for s, said in apart:
        reader.suspension(s, said)
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
        self.clause_words = {
            g.squeeze(e.when): words_of(e.when) for n in policy.norms for e in n.exceptions
        }
        self.clauses = sorted(self.clause_words, key=lambda c: (-len(c), c))
        self.definitions = {g.squeeze(d.term): d for d in policy.definitions}
        self.scope_words = g.squeeze(policy.scope)
        self.title = g.squeeze(policy.title)
        self.unit = g.squeeze(policy.threshold.unit or "")
        # the block of the norm read last, and the norm; None in its place if it was not understood
        self.last: tuple[int, ReadNorm | None] | None = None

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
        if "SAFE" not in said and not re.search(r"예외.*(?:요건|적용)|요건.*예외", said):
            return False
        number = self.v.policy.threshold.at_least
        for question, answer, pattern in lex.ANSWERS:
            filled = pattern.replace("<UNIT><이>", f"{re.escape(self.unit)}[이가]")
            m = re.fullmatch(filled, said) if self.unit or "<UNIT>" not in pattern else None
            if m is None:
                continue
            groups = {k: v for k, v in m.groupdict().items() if v is not None}
            read = answer or groups.get("label") or groups["label2"]
            stated = groups.get("number") or groups.get("number2")
            if stated is not None and _as_number(stated) != number:
                self.report(_DIMENSIONS[question], s, f"counts from {stated}, not from {number}")
            before = self.reading.answers[-1] if self.reading.answers else None
            if (
                said.startswith("그")
                and question == "below"
                and (before or ("",))[0] != "threshold"
            ):
                self.report(_DIMENSIONS[question], s, "does not follow the threshold it refers to")
            self.reading.answers.append((question, read, s.line))
            if label is not None and question not in lex.LABELS.get(label, ()):
                self.report(_DIMENSIONS[question], s, f"stands under {label!r}")
            return True
        dimension: Dimension = "implicit_threshold"
        if re.search(r"분명|예외|요건|여부|하였는지", said):
            dimension = "burden_of_proof"
        elif re.search(r"행위[는에가]", said):
            dimension = "default_rule"
        self.report(dimension, s, "says something else about the verdict")
        return True

    # ---- norms ----------------------------------------------------------------------------------

    def norm(self, s: Statement, said: str, label: str | None) -> bool:
        """Read a norm with the exceptions that stand in its own sentence."""
        number, titled, body = s.number, self.titles.get(label) if label else None, said
        if m := _ARTICLE.match(said):
            number = int(m[1])
            title, body = self._title(said[m.end() :])
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

    def _title(self, text: str) -> tuple[str, str]:
        """Part `제목)본문` at the bracket that closes a known title, or at the first one."""
        known = next((t for t in self.titles if text.startswith(f"{t})")), None)
        if known is not None:
            return known, text[len(known) + 1 :]
        title, _, body = text.partition(")")
        return title, body

    def _take_cases(self, s: Statement, body: str) -> tuple[str, list[ReadException]]:
        """Take `… 경우를 제외하고` out of a sentence."""
        closers = [f"경우{c}" for c in lex.LEADING]
        if not any(c in body for c in closers):
            return body, []
        start = next(g.places(body, self.clauses), 0)
        bearers = {p.bearer for p in self.parts}
        if body[:start].rstrip(",")[:-1] not in bearers:
            start = 0
        cases = g.read_cases(body, start, self.clauses)
        if cases is None:
            return body, []
        closer = next((c for c in lex.LEADING if body.startswith(c, cases.end)), None)
        if closer is None:
            return body, []
        found = self._bind(s, cases)
        return body[:start] + body[cases.end + len(closer) :].removeprefix(","), found

    def _bind(self, s: Statement, cases: g.Cases) -> list[ReadException]:
        """Report what is wrong with a list of cases, and return the known ones."""
        for clause in cases.unknown:
            near = max(self.clauses, key=lambda c: g.likeness(c, clause), default="")
            known = f": {clause!r}"
            if g.likeness(near, clause) >= 0.5:
                known = f"; the nearest differs: {g.difference(near, clause)}"
            self.report("exception_set", s, f"an exception the policy does not have{known}")
        if cases.all_at_once:
            self.report("exception_set", s, "exceptions joined so that all must be met")
        return [ReadException(self.clause_words[c], s.line) for c in cases.known]

    def _unlike(self, s: Statement, main: str, titled: str | None) -> bool:
        """Say how a sentence that is no norm of the policy differs from the nearest norm."""
        scored = [(g.likeness(p.content, main), p.norm_id == titled, p) for p in self.parts]
        score, _, best = max(scored, key=lambda x: (x[0], x[1]))
        if score < 0.5:
            if titled is None:
                return False
            best = next(p for p in self.parts if p.norm_id == titled)
        self.last = (s.block, None)
        ending = g.force_ending(main)
        left = main.removesuffix(ending)
        missing = [part for part in (best.object, best.scope, best.rest) if part not in left]
        verb = next((f for f in g.written(best.verb) if f in left), None)
        bound = best.bearer in left
        passive = f"{best.bearer}에의" in left
        left = g.without(left, best)
        details = [f"missing {m!r}" for m in missing]
        details += [] if verb else [f"its verb is not {best.verb!r}"]
        details += [] if bound else [f"it does not bind {best.bearer!r}"]
        details += [] if ending else ["its force is not understood"]
        dimension: Dimension = "scope"
        if re.search(r"경우|때에|한하여|한해", left):
            dimension = "exception_set"
        # where nothing is left of a passive, it is its force that has no passive
        elif (
            not missing
            and verb
            and bound
            and (not ending or _HEDGE.search(left) or (passive and not left))
        ):
            dimension = "deontic_force"
        if not details:
            details = [f"not understood: {left!r}" if left else "its particles do not fit"]
        detail = "; ".join(details)
        self.report(dimension, s, f"norm {best.norm_id!r} reads differently: {detail}")
        return True

    # ---- exceptions in sentences of their own ----------------------------------------------------

    def proviso(self, s: Statement, said: str) -> bool:
        """Read `다만, A 경우 또는 B 경우에는 그러하지 아니하다`, bound to the norm before it."""
        opener = next((o for o in lex.PROVISO_OPENERS if said.startswith(o)), None)
        if opener is None:
            return False
        cases = g.read_cases(said, len(opener), self.clauses)
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
        named = m is not None and self._title(said[m.end() :])[1].startswith("는")
        return named or _REVERSED.fullmatch(said) is not None

    def suspension(self, s: Statement, said: str) -> None:
        """Read `제3조(제목)는 A 경우 또는 B 경우에는 적용하지 아니한다`, or its cases first."""
        if turned := _REVERSED.fullmatch(said):
            said = f"{turned['norm']}는{turned['cases']}에는{turned['end']}"
        m = _ARTICLE.match(said)
        assert m is not None
        title, body = self._title(said[m.end() :])
        target = self._target(s, int(m[1]), title)
        cases = g.read_cases(body, 1, self.clauses) if body.startswith("는") else None
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

    def _target(self, s: Statement, number: int, title: str) -> str | None:
        """Resolve a reference by number and by title; both must name the same norm."""
        holders = {n.norm_id for n in self.reading.norms if n.number == number}
        numbered = next(iter(holders)) if len(holders) == 1 else None
        if numbered is None:
            self.report("exception_set", s, f"the number {number} names {len(holders)} norms")
        titled = self.titles.get(title)
        if titled is None:
            self.report("exception_set", s, f"no norm has the title {title!r}")
        elif numbered is not None and numbered != titled:
            what = f"the number names norm {numbered!r}, the title norm {titled!r}"
            self.report("exception_set", s, what)
        return titled or numbered


_HEDGE = re.compile(
    "가급적|되도록|가능한|원칙적|일반적|통상|보통|대체로|웬만|사정|노력|도록|아니|않|못"
)


def _as_number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None
