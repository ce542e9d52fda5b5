"""Checks of words: terms without a definition, vague words, numbers without a unit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from judgeaudit.core.records import Policy
from judgeaudit.policy.linting._problem import Problem, about, english, found, named, phrases

__all__ = ["CHECKS"]

_QUOTED: Final = re.compile(r"""["“«「‘]([^"”»」’]{2,60})["”»」’]|(?<!\w)'([^']{2,60})'(?!\w)""")
_TITLED: Final = re.compile(r"(?<=[a-z,] )(?:[A-Z][a-z]+(?:[ -][A-Z][a-z]+)+)")
_ABBREVIATION: Final = re.compile(r"(?<![\w-])[A-Z]{2,6}s?(?![\w-])")
_KNOWN: Final = frozenset(
    (
        "SAFE", "UNSAFE", "US", "EU", "UK", "UN", "USA", "USD", "EUR", "GBP", "KRW", "JPY",
        "AI", "ID", "IDS", "URL", "URLS", "API", "APIS", "PIN", "PINS", "SMS", "PDF", "CSV",
        "OK", "IT", "TV", "PC", "GPS", "IP", "DNA", "HTTP", "HTTPS", "HTML", "JSON", "SQL",
        "CPU", "GB", "MB", "KB", "KM", "KG", "UTC", "AM", "PM",
    )
)  # fmt: skip
_VAGUE: Final = (
    "reasonable", "reasonably", "appropriate", "appropriately", "adequate", "sufficient",
    "sufficiently", "timely", "promptly", "as soon as possible", "excessive", "unusual", "large",
    "substantial", "where possible", "if possible", "as needed", "and/or", "etc", "and so on",
    "best effort", "suitable", "proper", "properly", "undue", "normally", "usually", "generally",
)  # fmt: skip
_NUMBER: Final = re.compile(r"(?P<sign>[$€£₩¥]\s?)?(?<![\w.,-])(?P<number>\d+(?:[.,]\d+)*)")
_UNIT: Final = re.compile(r"[\s-]*(%|°|[^\W\d_]+)")
_NO_UNIT: Final = frozenset(
    (
        "a", "an", "and", "or", "but", "of", "for", "in", "on", "at", "to", "from", "by", "per",
        "with", "within", "without", "if", "unless", "when", "where", "that", "which", "is",
        "are", "was", "were", "be", "been", "has", "have", "and/or", "total", "all", "times",
        "than",
    )
)  # fmt: skip
# names that are known to everybody, not terms of a policy
_NAMES: Final = frozenset({"European Union", "United Nations", "United Kingdom", "United States"})
_FIXED: Final = re.compile(
    r"\b(?:norm|rule|section|clause|paragraph|article|point|item)s? \d+", re.IGNORECASE
)


def _defined(policy: Policy, word: str) -> bool:
    wanted = about(word)
    return any(
        d.term.casefold() == word.casefold() or (wanted and wanted == about(d.term))
        for d in policy.definitions
    )


def _undefined(policy: Policy) -> Iterator[Problem]:
    for path, text in phrases(policy):
        terms = [m[1] or m[2] for m in _QUOTED.finditer(text)]
        if english(policy):
            terms += [m[0] for m in _TITLED.finditer(text)]
        for term in dict.fromkeys(terms):
            if term not in _NAMES and not _defined(policy, term):
                said = f"{term!r} is used as a term, but no definition says what it means"
                yield found("undefined-term", path, said)


def _abbreviations(policy: Policy) -> Iterator[Problem]:
    seen: set[str] = set()
    for path, text in phrases(policy):
        for m in _ABBREVIATION.finditer(text):
            short = m[0].removesuffix("s")
            if short in _KNOWN or short in seen or _defined(policy, short):
                continue
            seen.add(short)
            said = f"{m[0]!r} is not explained by any definition"
            yield found("undefined-abbreviation", path, said)


def _unused(policy: Policy) -> Iterator[Problem]:
    for i, d in enumerate(policy.definitions):
        term = about(d.term)
        elsewhere = [t for path, t in phrases(policy) if path != ("definitions", i, "meaning")]
        if not any(named(d.term, t) or (term and term <= about(t)) for t in elsewhere):
            said = f"no norm, exception or definition uses {d.term!r}"
            yield found("unused-definition", ("definitions", i, "term"), said)


def _vague(policy: Policy) -> Iterator[Problem]:
    if not english(policy):
        return
    for path, text in phrases(policy):
        for word in _VAGUE:
            if named(word, text) and not _defined(policy, word):
                yield found("vague-word", path, f"{word!r} in {text!r}: how much is not said")


def _numbers(policy: Policy) -> Iterator[Problem]:
    for path, text in phrases(policy):
        for m in _NUMBER.finditer(text):
            # "20 US dollars", "3일", "5 %", "$20" have a unit; "at most 20 in total" has none
            if any(f.start() < m.end() <= f.end() for f in _FIXED.finditer(text)):
                continue
            follows = _UNIT.match(text, m.end())
            if m["sign"] or (follows and follows[1].casefold() not in _NO_UNIT):
                continue
            yield found("number-without-unit", path, f"{m['number']} in {text!r} has no unit")


def _fixed_number(policy: Policy) -> Iterator[Problem]:
    for path, text in phrases(policy):
        if english(policy) and (m := _FIXED.search(text)):
            said = f"{m[0]!r} names a place by number, and wordings change the order"
            yield found("fixed-number", path, said)


CHECKS: dict[str, Callable[[Policy], Iterator[Problem]]] = {
    "undefined-term": _undefined,
    "undefined-abbreviation": _abbreviations,
    "unused-definition": _unused,
    "vague-word": _vague,
    "number-without-unit": _numbers,
    "fixed-number": _fixed_number,
}
