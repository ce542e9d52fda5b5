"""Words of a table and what they mean; a meaning stated for a word that is not there is told."""

from __future__ import annotations

from typing import Final

from judgeaudit.core.errors import ConfigError
from judgeaudit.engine.imported.choices import Choices
from judgeaudit.engine.imported.values import text_of, word

__all__ = ["Words"]

_SHOWN: Final = 12


class Words:
    """Reads words, and remembers which were there.

    Parameters
    ----------
    choices : Choices
        What the user said that words mean.
    place : str
        The table, as a message shows it.
    """

    def __init__(self, choices: Choices, place: str) -> None:
        self._choices, self._place = choices, place
        self._said: dict[str, str] = {}
        self._gold: dict[str, str] = {}

    def scores(self, value: object) -> bool:
        """Say whether a value is to be read as a score: nobody said what it means as a word."""
        said = text_of(value)
        self._note(self._said, said)
        return self._choices.cut is not None and said.casefold() not in self._choices.words

    def said(self, value: object, role: str, where: str) -> str:
        """Read a verdict or an outcome.

        Raises
        ------
        CorpusError
            If nobody said what the word means.
        """
        self._note(self._said, text_of(value))
        return word(value, self._choices.words, role, where, "--label")

    def gold(self, value: object, role: str, where: str) -> str:
        """Read a true label, or a rater's.

        Raises
        ------
        CorpusError
            If nobody said what the word means.
        """
        self._note(self._gold, text_of(value))
        return word(value, self._choices.gold_words, role, where, "--label")

    @staticmethod
    def _note(seen: dict[str, str], said: str) -> None:
        seen.setdefault(said.casefold(), said)

    def check(self, *, gold: bool) -> list[str]:
        """Name the words whose meaning was stated and which no row has.

        A night without one of them is no mistake, and no row can be read otherwise for it: a word
        without a meaning is refused where it stands. Where no such word is there at all, or a word
        that is not stated would be read as a score, it is a slip, and refused.

        Parameters
        ----------
        gold : bool
            Whether the table has true labels or raters' at all.

        Returns
        -------
        list of str
            Sentences for the card.

        Raises
        ------
        ConfigError
            Naming the words that are there.
        """
        notes = []
        for flag, words in self._choices.stated_words.items():
            seen = self._gold if flag == "--gold-label" else {**self._said, **self._gold}
            missing = [w for w in words if w.casefold() not in seen]
            if not missing:
                continue
            if flag == "--gold-label" and not gold:
                raise ConfigError(
                    f"--gold-label says what {missing[0]!r} means, and there is no gold",
                    where=self._place,
                    mend="Name the column of the true labels (--gold COLUMN), or leave it out",
                )
            if len(missing) == len(words) or self._choices.cut is not None:
                self._refuse(flag, missing[0], list(seen.values()))
            named = ", ".join(repr(w[:40]) for w in missing[:_SHOWN])
            notes.append(f"{flag} says what {named} means; no row has it.")
        return notes

    def _refuse(self, flag: str, missing: str, there: list[str]) -> None:
        shown = ", ".join(repr(w[:40]) for w in there[:_SHOWN])
        more = ", and more" if len(there) > _SHOWN else ""
        raise ConfigError(
            f"{flag} says what {missing!r} means, and no row has that word",
            where=self._place,
            mend=f"There are {shown}{more}" if there else "Leave it out",
        )
