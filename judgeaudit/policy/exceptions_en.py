"""Exceptions inside an English sentence: clauses, chains of them, and the conditions inside one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from judgeaudit.policy import grammar_en as g
from judgeaudit.policy import lexicon_en as lex
from judgeaudit.policy.reading import ReadException, starts
from judgeaudit.policy.variants_en import table

__all__ = ["ExceptionReader", "Phrases", "phrases"]

Words = tuple[str, ...]
Report = Callable[[str], None]

_WHERE = frozenset({"where", "when", "if"})
_OPEN = frozenset({"and", "that", "what", "which", "who", "or"})
"""Words by which a clause may go on behind a bare "or"."""
_AUXILIARIES = frozenset({"has", "have", "is", "are", "must"})


@dataclass(frozen=True, slots=True)
class Phrases:
    """Clauses with all their wordings, and where in a text one stands."""

    clauses: tuple[Words, ...]
    by_first: Mapping[Words, tuple[tuple[Words, Words], ...]]
    """The wordings, with their clauses, by their first words; longest first."""

    def at(self, words: Words, i: int) -> list[tuple[int, Words]]:
        """Return (length, clause) of every wording that stands here, longest first."""
        found = [
            pair
            for n in range(_KEY, 0, -1)
            for pair in self.by_first.get(words[i : i + n], ())
            if n == _KEY or len(pair[0]) == n
        ]
        return [(len(w), c) for w, c in found if starts(words, i, w)]


_KEY = 4


@lru_cache(maxsize=64)
def phrases(clauses: frozenset[tuple[Words, str]]) -> Phrases:
    """Prepare clauses for reading; with each comes the head noun to which it may refer."""
    by_first: dict[Words, list[tuple[Words, Words]]] = {}
    for wording, clause in table(clauses).items():
        by_first.setdefault(wording[:_KEY], []).append((wording, clause))
    ordered = {
        w: tuple(sorted(found, key=lambda pair: (-len(pair[0]), pair)))
        for w, found in by_first.items()
    }
    known = sorted({c for c, _ in clauses}, key=lambda c: (-len(c), c))
    return Phrases(tuple(known), ordered)


@dataclass(frozen=True, slots=True)
class _Link:
    """What joins one exception to the next: where the next begins, and how it was joined."""

    at: int
    word: str
    kind: str
    """`full`: the opener again; `where`: its last word; `bare`: nothing."""
    comma: bool
    subject: Words = ()
    """What the next clause leaves out, because the one before it said it."""


@dataclass(frozen=True, slots=True)
class ExceptionReader:
    """Takes exceptions out of sentences.

    Parameters
    ----------
    outer, inner : Phrases
        The clauses that a policy's exceptions have, and those inside of exceptions.
    """

    outer: Phrases
    inner: Phrases

    def split(
        self, words: Words, openers: Sequence[Words], line: int, report: Report
    ) -> tuple[Words, list[ReadException]]:
        """Return what is left of a sentence without its exceptions, and these."""
        main: list[str] = []
        found: list[ReadException] = []
        first_words = {o[0] for o in openers}
        i, ended = 0, -1
        while i < len(words):
            opener = None
            if words[i] in first_words:
                opener = next((o for o in openers if starts(words, i, o)), None)
            if opener is None or (opener == ("except",) and not self._elliptic(words, i + 1)):
                main.append(words[i])
                i += 1
                continue
            leading = not main
            if main and main[-1] == ",":
                main.pop()
            if ended >= 0 and set(words[ended:i]) <= {","}:
                report(
                    "it is open whether an exception belongs to the norm or to the one before it"
                )
            some, i = self.chain(words, i + len(opener), opener, openers, line=line, report=report)
            found += some
            ended = i
            if leading and i < len(words) and words[i] == ",":
                i += 1
                ended = -1
        return tuple(main), found

    def chain(
        self,
        words: Words,
        i: int,
        opener: Words,
        openers: Sequence[Words],
        *,
        line: int,
        report: Report,
        alone: bool = False,
    ) -> tuple[list[ReadException], int]:
        """Read exceptions that are joined, from behind the word that opens them.

        Parameters
        ----------
        alone : bool
            Whether the words are an item of a list: then a condition can belong to nothing else.
        """
        found: list[ReadException] = []
        links: list[str] = []
        subject: Words = ()
        while True:
            begun = i
            clause, i = self._clause(words, i, opener, openers, subject=subject, report=report)
            bare = False
            if clause is not None:
                only_if, but_not, end = self._inside(words, i, report, alone)
                bare = end > i and words[end - 1] != ")"
                i = end
                found.append(ReadException(clause, line, only_if, but_not))
            link = self._link(words, i, opener, openers, (*subject, *words[begun:i]))
            if link is None:
                break
            if bare and (link.kind != "full" or ("unless",) not in openers):
                report("it is open whether a condition belongs to the exception or inside it")
            if link.kind == "bare" and not link.comma:
                after = next(iter(self.outer.at((*link.subject, *words[link.at :]), 0)), (0, ()))[1]
                if set(words[begun:i]) & _OPEN or "and" in after:
                    report(f"it is open what {link.word!r} joins")
            if link.word == "and":
                report("exceptions joined by 'and': all must be met")
            links.append(link.word)
            i, subject = link.at, link.subject
        if "" in links and links[-1] != "or":
            report("it is open whether any of the exceptions is enough, or all must be met")
        return found, i

    def _elliptic(self, words: Words, i: int) -> bool:
        """Say whether `between 22:00 and 06:00` stands for `it is between …`."""
        return bool(self.outer.at(("it", "is", *words[i:]), 0))

    def _clause(
        self,
        words: Words,
        i: int,
        opener: Words,
        openers: Sequence[Words],
        *,
        subject: Words,
        report: Report,
    ) -> tuple[Words | None, int]:
        """Read one clause; what is not known is reported, and passed over."""
        before = ("it", "is") if opener == ("except",) else subject
        text = (*before, *words[i:])
        for length, clause in self.outer.at(text, 0):
            end = i + length - len(before)
            if end == len(words) or words[end] in {",", "("}:
                return clause, end
            said = (*before, *words[i:end])
            if self._link(words, end, opener, openers, said) is not None:
                return clause, end
        unknown = g.until(words, i, openers)
        report(f"an exception the policy does not have{_nearest(unknown, self.outer.clauses)}")
        return None, i + len(unknown)

    def _link(
        self, words: Words, i: int, opener: Words, openers: Sequence[Words], said: Words
    ) -> _Link | None:
        """Find what joins the next exception: `, or unless`, `or where`, `, or`, or a comma."""
        comma = words[i : i + 1] == (",",)
        at = i + comma
        word = words[at] if at < len(words) and words[at] in {"or", "and"} else ""
        at += bool(word)
        if not (word or comma) or at >= len(words):
            return None
        again = next((o for o in openers if starts(words, at, o) and o != ("except",)), None)
        if again is not None:
            # an opener behind a comma alone is the caller's to judge, unless it is "where" again
            goes_on = bool(word) or (len(again) == 1 and again[0] in _WHERE)
            return _Link(at + len(again), word, "full", comma) if goes_on else None
        if words[at] in _WHERE and opener[-1] in _WHERE:
            return _Link(at + 1, word, "where", comma)
        return None if word == "and" and not comma else self._bare(words, at, word, comma, said)

    def _bare(self, words: Words, at: int, word: str, comma: bool, said: Words) -> _Link | None:
        """Find a clause that is joined without its opener, or without its subject as well."""
        if self.outer.at(words, at):
            return _Link(at, word, "bare", comma)
        end = next((j for j, w in enumerate(said) if w in _AUXILIARIES), 0)
        if word and words[at] in _AUXILIARIES and self.outer.at((*said[:end], *words[at:]), 0):
            return _Link(at, word, "bare", comma, said[:end])
        return None

    # ---- the conditions inside an exception ---------------------------------------------------

    def conditions(self, words: Words, name: str, report: Report) -> tuple[Words, ...]:
        """Read conditions that are all of a sentence: `the order is old, or where it is lost`."""
        found, end = self._conditions(words, 0, name, bracket=False, alone=True, report=report)
        if end != len(words):
            report(f"not understood: {' '.join(words[end:])!r}")
        return tuple(c for _, c in found)

    def within(
        self, exception: ReadException, name: str, words: Words, report: Report
    ) -> ReadException:
        """Put conditions that a sentence of their own states into an exception."""
        more = self.conditions(words, name, report)
        if name == "only_if":
            return replace(exception, only_if=exception.only_if + more)
        return replace(exception, but_not=exception.but_not + more)

    def _inside(
        self, words: Words, i: int, report: Report, alone: bool
    ) -> tuple[tuple[Words, ...], tuple[Words, ...], int]:
        """Read the conditions in brackets behind an exception, or one after a comma."""
        bracket = words[i : i + 1] == ("(",)
        at = i + 1 if bracket else i + (words[i : i + 1] == (",",))
        kind = _opens(words, at, bracket)
        if kind is None:
            if bracket:
                report("a bracket behind an exception that is not understood")
            return (), (), i
        name, length = kind
        found, end = self._conditions(
            words, at + length, name, bracket=bracket, alone=alone, report=report
        )
        if bracket:
            if words[end : end + 1] == (")",):
                end += 1
            else:
                report("a bracket behind an exception that does not close where it should")
        only_if = tuple(c for n, c in found if n == "only_if")
        return only_if, tuple(c for n, c in found if n == "but_not"), end

    def _conditions(
        self,
        words: Words,
        i: int,
        name: str,
        *,
        bracket: bool,
        alone: bool,
        report: Report,
    ) -> tuple[list[tuple[str, Words]], int]:
        """Read conditions from behind the word that opens the first of them."""
        found: list[tuple[str, Words]] = []
        kind: tuple[str, int] | None = (name, 0)
        at = end = i
        while kind is not None:
            name = kind[0]
            got = next(((n, c) for n, c in self.inner.at(words, at) if _ends(words, at + n)), None)
            if got is None:
                clause = _to_bracket(words, at) if bracket else g.until(words, at, lex.EXCEPT)
                what = f"a condition inside an exception{_nearest(clause, self.inner.clauses)}"
                report(f"{what}: the policy does not have it")
                at += len(clause)
            else:
                found.append((name, got[1]))
                at += got[0]
            end, kind = _next(words, at, name)
            clear = bracket or alone or (name == "only_if" and kind is not None and kind[0] == name)
            if kind is not None and not clear:
                return found, at  # outside brackets, "or where" may open an exception as well
            at = end + (kind[1] if kind is not None else 0)
        return found, end


def _opens(words: Words, i: int, bracket: bool) -> tuple[str, int] | None:
    """Say which kind of inner condition begins here, and how many words begin it."""
    tables = [("only_if", lex.PROVIDED), ("but_not", lex.BUT_NOT)]
    if bracket:
        # in brackets behind an exception they can be about nothing else
        tables.append(("but_not", lex.BUT_NOT_IN_BRACKETS))
    for name, openers in tables:
        for phrase in openers:
            if starts(words, i, phrase):
                return name, len(phrase)
    return None


def _next(words: Words, i: int, name: str) -> tuple[int, tuple[str, int] | None]:
    """Step over what links one inner condition to the next: `and` for all, `or` for any."""
    link = "and" if name == "only_if" else "or"
    for phrase in ((",", link), (link,)):
        if starts(words, i, phrase):
            at = i + len(phrase)
            again = _opens(words, at, False)
            if again is not None and again[0] == name:
                return at, again
            if name == "only_if" and starts(words, at, ("that",)):
                return at, (name, 1)
            if name == "but_not":
                opener = next((o for o in lex.SUSPEND_WHERE if starts(words, at, o)), None)
                if opener is not None:
                    return at, (name, len(opener))
    if name == "only_if":
        at = i + (words[i : i + 1] == (",",))
        kind = _opens(words, at, False)
        if kind is not None and kind[0] == "but_not":
            return at, kind
    return i, None


def _ends(words: Words, end: int) -> bool:
    """Say whether an inner clause ends here."""
    return (
        end == len(words)
        or words[end] in {",", ")"}
        or _next(words, end, "only_if")[1] is not None
        or _next(words, end, "but_not")[1] is not None
    )


def _to_bracket(words: Words, i: int) -> Words:
    """Take words to the next condition in the same brackets, or to where these close."""
    for j in range(i, len(words)):
        linked = any(_next(words, j, name)[1] is not None for name in ("only_if", "but_not"))
        if words[j] == ")" or linked:
            return words[i:j]
    return words[i:]


def _nearest(clause: Words, known: Sequence[Words]) -> str:
    near = max(known, key=lambda c: g.likeness(c, clause), default=())
    if g.likeness(near, clause) < 0.5:
        return f": {' '.join(clause)!r}"
    return f"; the nearest differs: {g.difference(near, clause)}"
