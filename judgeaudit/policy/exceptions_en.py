"""Exceptions inside an English sentence: clauses, chains of them, and the conditions inside one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judgeaudit.policy import grammar_en as g
from judgeaudit.policy import lexicon_en as lex
from judgeaudit.policy.reading import ReadException, starts

__all__ = ["ExceptionReader"]

Words = tuple[str, ...]
Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ExceptionReader:
    """Takes exceptions out of sentences.

    Parameters
    ----------
    outer, inner : tuple of words
        The clauses that a policy's exceptions have, and those inside of exceptions; longest first.
    """

    outer: tuple[Words, ...]
    inner: tuple[Words, ...]

    def split(
        self, words: Words, openers: Sequence[Words], line: int, report: Report
    ) -> tuple[Words, list[ReadException]]:
        """Return what is left of a sentence without its exceptions, and these."""
        main: list[str] = []
        found: list[ReadException] = []
        first_words = {o[0] for o in openers}
        i = 0
        while i < len(words):
            opener = None
            if words[i] in first_words:
                opener = next((o for o in openers if starts(words, i, o)), None)
            if opener is None:
                main.append(words[i])
                i += 1
                continue
            leading = not main
            if main and main[-1] == ",":
                main.pop()
            while opener is not None:
                i += len(opener)
                clause = next((c for c in self.outer if g.stands(words, i, c, openers)), None)
                if clause is None:
                    clause = g.until(words, i, openers)
                    report(f"an exception the policy does not have{_nearest(clause, self.outer)}")
                    i += len(clause)
                else:
                    i += len(clause)
                    only_if, but_not, i = self._inside(words, i, report)
                    found.append(ReadException(clause, line, only_if, but_not))
                bare = bool(
                    found and words[i - 1] != ")" and (found[-1].only_if or found[-1].but_not)
                )
                opener, i, link = g.chained(words, i, openers)
                if bare and opener is not None and ("unless",) not in openers:
                    report("it is open whether a condition belongs to the exception or inside it")
                if link == "and":
                    report("exceptions joined by 'and': all must be met")
            if leading and i < len(words) and words[i] == ",":
                i += 1
        return tuple(main), found

    def _inside(
        self, words: Words, i: int, report: Report
    ) -> tuple[tuple[Words, ...], tuple[Words, ...], int]:
        """Read the conditions in brackets behind an exception, or one after a comma."""
        bracket = words[i : i + 1] == ("(",)
        at = i + 1 if bracket else i + (words[i : i + 1] == (",",))
        only_if: list[Words] = []
        but_not: list[Words] = []
        kind = _opens(words, at)
        if kind is None:
            if bracket:
                report("a bracket behind an exception that is not understood")
            return (), (), i
        end = at
        while kind is not None:
            name, length = kind
            at = end + length
            clause = next((c for c in self.inner if _ends(words, at, c)), None)
            if clause is None:
                clause = _to_bracket(words, at) if bracket else g.until(words, at, lex.EXCEPT)
                what = f"a condition inside an exception{_nearest(clause, self.inner)}"
                report(f"{what}: the policy does not have it")
            else:
                (only_if if name == "only_if" else but_not).append(clause)
            at += len(clause)
            end, kind = _next(words, at, name) if bracket else (at, None)
        if bracket:
            if words[end : end + 1] == (")",):
                end += 1
            else:
                report("a bracket behind an exception that does not close where it should")
        return tuple(only_if), tuple(but_not), end


def _opens(words: Words, i: int) -> tuple[str, int] | None:
    """Say which kind of inner condition begins here, and how many words begin it."""
    for name, phrases in (("only_if", lex.PROVIDED), ("but_not", lex.BUT_NOT)):
        for phrase in phrases:
            if starts(words, i, phrase):
                return name, len(phrase)
    return None


def _next(words: Words, i: int, name: str) -> tuple[int, tuple[str, int] | None]:
    """Step over what links one inner condition to the next: `and` for all, `or` for any."""
    link = "and" if name == "only_if" else "or"
    for phrase in ((",", link), (link,)):
        if starts(words, i, phrase):
            at = i + len(phrase)
            again = _opens(words, at)
            if again is not None and again[0] == name:
                return at, again
            if name == "but_not":
                opener = next((o for o in lex.SUSPEND_WHERE if starts(words, at, o)), None)
                if opener is not None:
                    return at, (name, len(opener))
    if name == "only_if":
        at = i + (words[i : i + 1] == (",",))
        kind = _opens(words, at)
        if kind is not None and kind[0] == "but_not":
            return at, kind
    return i, None


def _ends(words: Words, i: int, clause: Words) -> bool:
    """Say whether an inner clause stands here in whole."""
    end = i + len(clause)
    return starts(words, i, clause) and (
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
