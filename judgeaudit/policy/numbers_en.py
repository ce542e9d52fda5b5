"""Numbers in English texts: digits, the small number words, and "at least" in other words."""

from __future__ import annotations

import re

__all__ = ["WORDS", "amounts", "as_number"]

Words = tuple[str, ...]

WORDS = {
    word: n
    for n, word in enumerate(
        (
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
        ),
        start=2,
    )
}
"""Number words; "one" is left out, for it is a pronoun too ("the one for which it was given")."""


def as_number(word: str) -> float | None:
    """Read a number, thousands separated by commas; None for any other word."""
    try:
        return float(WORDS.get(word, word.replace(",", "")))
    except ValueError:
        return None


def amounts(at_least: float, unit: Words) -> list[str]:
    """Return patterns of `at least 2 violations of the norms`, and of nothing that is less or more.

    `2 or more violations of the norms` and `50 US dollars or more of the money` mean the same: the
    words "or more" may stand behind the number or one of the first words of its unit.
    """
    plain = f"{at_least:.12g}"
    whole, _, part = plain.partition(".")
    grouped = f"{int(whole):,}" + (f".{part}" if part else "")
    spellings = {plain, grouped, *(w for w, n in WORDS.items() if n == at_least)}
    number = f"(?:{'|'.join(map(re.escape, sorted(spellings)))})"
    words = [re.escape(w) for w in unit]
    found = [
        " ".join(
            [
                f"(?:at least|no less than|not less than|no fewer than|not fewer than) {number}",
                *words,
            ]
        )
    ]
    found.extend(
        " ".join([number, *words[:i], "or more", *words[i:]]) for i in range(min(3, len(words)))
    )
    return found
