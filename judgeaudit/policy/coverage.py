"""What of a text a policy as data does not say, and what it says that the text does not.

A plain measure, to point a reader at places; it counts words and understands nothing:

- a text is cut into sentences (headings and bold titles of items are left out), each into its
  content words: small words and words of force are dropped, the rest is cut to a stem; of a Korean
  word its pairs of neighbouring syllables are taken; numbers count as they stand;
- a sentence's share is the largest part of its content words that one block of the rendered
  policy (one norm with its exceptions, one definition, one rule) holds. Titles do not count: a
  draft that copies a sentence into a norm's title does not thereby demand it;
- `covered` from 0.6 on, if no number is missing; `partly` from 0.3 on, or where a number is
  missing; `not covered` below.

A phrase of the policy (an act, what follows its object, a scope, an exception, a definition) is
found in the text by the same share, from 0.6 on, in one sentence or in two that follow each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal

from judgeaudit.core.records import Policy
from judgeaudit.policy.segment import Statement, statements

__all__ = ["Added", "SentenceCoverage", "content_words", "coverage", "not_in_text"]

COVERED: Final = 0.6
PARTLY: Final = 0.3
FOUND: Final = 0.6

_SMALL: Final = frozenset(
    (
        "a", "an", "and", "any", "are", "as", "at", "be", "been", "being", "but", "by", "can",
        "could", "did", "do", "does", "each", "either", "every", "for", "from", "had", "has",
        "have", "he", "her", "his", "if", "in", "into", "is", "it", "its", "may", "might",
        "more", "must", "need", "no", "nor", "not", "of", "on", "only", "or", "other", "our",
        "over", "shall", "she", "should", "so", "some", "such", "than", "that", "the", "their",
        "them", "then", "there", "these", "they", "this", "those", "to", "too", "under", "up",
        "upon", "us", "was", "we", "were", "what", "when", "where", "which", "while", "who",
        "whose", "will", "with", "without", "would", "you", "your", "unless", "except",
        "always", "never", "all", "also", "both", "neither", "ought", "policy", "rule", "rules",
        "norm", "agent", "assistant", "safe", "unsafe",
    )
)  # fmt: skip
_ENDING = re.compile(r"(?:ations?|ments?|ings?|ions?|ers?|ors?|ied|ies|ed|es|ly|s|e|y)\Z")
_TITLE = re.compile(r"^(\d+\.|-) \*\*[^*\n]+\*\* ", re.MULTILINE)
_NUMBER = re.compile(r"\d")
_HANGUL = re.compile(r"[가-힣]{2,}")


@dataclass(frozen=True, slots=True)
class SentenceCoverage:
    """How much of one sentence of the original the policy says.

    Parameters
    ----------
    share : float
        Part of its content words that the best block holds, 0 to 1.
    missing : tuple of str
        Numbers of the sentence that this block does not hold.
    best : str
        The block's text, shortened.
    """

    sentence: str
    line: int
    share: float
    missing: tuple[str, ...]
    best: str

    @property
    def state(self) -> Literal["covered", "partly", "not covered"]:
        """The word for it."""
        if self.share >= COVERED and not self.missing:
            return "covered"
        return "partly" if self.share >= PARTLY else "not covered"


@dataclass(frozen=True, slots=True)
class Added:
    """A part of the policy that the original does not seem to hold."""

    where: str
    text: str
    share: float


def content_words(words: tuple[str, ...] | list[str]) -> frozenset[str]:
    """Return what a sentence is about: stems, syllable pairs, numbers.

    Examples
    --------
    >>> sorted(content_words(["the", "agent", "must", "not", "disclose", "20", "records"]))
    ['20', 'disclo', 'record']
    """
    found: set[str] = set()
    for word in words:
        if _NUMBER.search(word):
            found.add(word)
            continue
        for run in _HANGUL.findall(word):
            found |= {a + b for a, b in pairwise(run)}
        if word.isascii() and word.isalpha() and len(word) > 2 and word not in _SMALL:
            found.add(_stem(word))
    return frozenset(found)


def _stem(word: str) -> str:
    """Take endings off, one after another: "covers" and "covered" meet at "cov"."""
    while len(word) > 4 and len(shorter := _ENDING.sub("", word)) >= 3 and shorter != word:
        word = shorter
    return word


def _sentences(text: str) -> list[tuple[Statement, frozenset[str]]]:
    plain = _TITLE.sub(r"\1 ", text)
    made = [(s, content_words(s.words)) for s in statements(plain) if not s.heading]
    return [(s, words) for s, words in made if words]


def _blocks(text: str) -> list[tuple[str, frozenset[str]]]:
    blocks: dict[int, tuple[list[str], set[str]]] = {}
    for s in statements(_TITLE.sub(r"\1 ", text)):
        if not s.heading:
            quotes, words = blocks.setdefault(s.block, ([], set()))
            quotes.append(s.quote)
            words |= content_words(s.words)
    return [(". ".join(q), frozenset(w)) for q, w in blocks.values()]


def coverage(original: str, rendered: str) -> tuple[SentenceCoverage, ...]:
    """Say of every sentence of a text how much of it a rendered policy says.

    Sentences without a content word are left out. See the module for the measure.
    """
    blocks = _blocks(rendered)
    found = []
    for s, words in _sentences(original):
        scored = [(len(words & have) / len(words), text, have) for text, have in blocks]
        share, best, have = max(scored, key=lambda x: x[0], default=(0.0, "", frozenset()))
        numbers = sorted(w for w in words - have if _NUMBER.search(w))
        found.append(SentenceCoverage(s.quote, s.line, share, tuple(numbers), best[:90]))
    return tuple(found)


def not_in_text(policy: Policy, original: str) -> tuple[Added, ...]:
    """List the parts of a policy that a text does not seem to hold.

    Threshold, burden and default are left out: whoever drafted says whether they were assumed.
    """
    single = [words for _, words in _sentences(original)]
    places = [*single, *(a | b for a, b in pairwise(single))]
    parts = [(f"definition of {d.term!r}", f"{d.term} {d.meaning}") for d in policy.definitions]
    for n in policy.norms:
        verb = next(iter(n.action.verb.values()), "")
        parts += [
            (f"norm {n.id!r}", f"{verb} {n.action.object}"),
            (f"norm {n.id!r}, what follows its object", n.action.rest),
            (f"scope of norm {n.id!r}", n.scope),
        ]
        parts += [(f"exception {n.id}.{e.id}", e.when) for e in n.exceptions]
    added = []
    for where, text in parts:
        words = content_words([w for s in statements(text) for w in s.words])
        share = max((len(words & p) / len(words) for p in places), default=0.0) if words else 1.0
        if share < FOUND:
            added.append(Added(where, " ".join(text.split()), share))
    return tuple(added)
