"""Semantic entropy: how many different things were said, whatever the words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from judgeaudit.stats._types import FloatArray1D, IntArray1D, Undefined

__all__ = [
    "Entailment",
    "LexicalEntailment",
    "discrete_semantic_entropy",
    "meaning_clusters",
    "semantic_entropy",
]

_WORD: Final = re.compile(r"\w+")
# words that carry no claim by themselves; negations and modals are none of them
_EMPTY: Final = frozenset(
    (
        *("a", "an", "the", "of", "to", "in", "on", "at", "by", "for", "with", "from", "as", "and"),
        *("or", "is", "are", "was", "were", "be", "been", "it", "its", "this", "that", "these"),
        *("those", "he", "she", "they", "them", "his", "her", "their", "i", "we", "you"),
    )
)
_NEGATIONS: Final = frozenset(("no", "not", "never", "without"))


class Entailment(Protocol):
    """Says whether one text entails another: a model, a person's table, or a rule."""

    @property
    def name(self) -> str:
        """What it is, for the figures that rest on it."""
        ...

    def __call__(self, premise: str, hypothesis: str) -> bool | None:
        """Return whether the hypothesis follows; None where that is not known."""
        ...


class LexicalEntailment:
    """A rule of words in the place of a model: it understands nothing.

    A text "entails" another if it holds most of the other's content words. Paraphrases without
    common words are taken for different meanings, and a statement and its opposite in the same
    words for one, unless the negation is a word of its own; so entropies from it are a stand-in.

    Parameters
    ----------
    share : float
        Share of the hypothesis's content words that the premise must hold, 0 to 1.

    Examples
    --------
    >>> entails = LexicalEntailment()
    >>> entails("The agent deleted the file.", "It deleted the file"), entails("Yes.", "No.")
    (True, False)
    """

    def __init__(self, share: float = 0.6) -> None:
        self.share = share

    @property
    def name(self) -> str:
        """What it is."""
        return f"lexical rule, no model: {self.share:.0%} of content words"

    def __call__(self, premise: str, hypothesis: str) -> bool:
        """Say whether the premise holds enough of the hypothesis's words."""
        held, wanted = _content(premise), _content(hypothesis)
        if not wanted:
            return not held
        same_side = bool(held & _NEGATIONS) == bool(wanted & _NEGATIONS)
        return same_side and len(held & wanted) >= self.share * len(wanted)


def _content(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower())) - _EMPTY


def meaning_clusters(texts: Sequence[str], entails: Entailment) -> IntArray1D | Undefined:
    """Put texts that entail each other, both ways, under one meaning.

    Parameters
    ----------
    texts : sequence of str, length n
        Answers to one question.
    entails : Entailment
        Asked in both directions against the first text of each meaning; equal texts are not asked.

    Returns
    -------
    array of int, shape (n,), or Undefined
        Meaning of each text, numbered by first occurrence; undefined where an entailment that is
        needed is not known.

    References
    ----------
    Farquhar et al. 2024, Nature 630, algorithm 1.
    """
    firsts: list[str] = []
    out: list[int] = []
    for text in texts:
        for number, first in enumerate(firsts):
            there = True if text == first else entails(first, text)
            # the way back is asked only where it can matter
            back = there if text == first or not there else entails(text, first)
            if there is None or back is None:
                return Undefined("whether one answer entails another is not known")
            if there and back:
                out.append(number)
                break
        else:
            out.append(len(firsts))
            firsts.append(text)
    return np.array(out, dtype=np.int64)


def semantic_entropy(probabilities: FloatArray1D, clusters: IntArray1D) -> float | Undefined:
    """Entropy over meanings, each as probable as its texts together.

    Parameters
    ----------
    probabilities : array of float, shape (n,)
        Probability of each distinct text; they need not sum to 1.
    clusters : array of int, shape (n,)
        Meaning of each text, from `meaning_clusters`.

    Returns
    -------
    float or Undefined
        Nats, 0 where all say the same; probabilities of meanings are renormalised.

    References
    ----------
    Farquhar et al. 2024, Nature 630; estimators.md, section 12.

    Examples
    --------
    >>> round(semantic_entropy(np.array([0.4, 0.25, 0.15, 0.2]), np.array([0, 0, 0, 1])), 4)
    0.5004
    """
    if not probabilities.size or not np.all(probabilities >= 0) or probabilities.sum() <= 0:
        return Undefined("no text has a probability")
    meanings = np.unique(clusters, return_inverse=True)[1].reshape(-1)
    mass = np.bincount(meanings, weights=probabilities)
    share = mass[mass > 0] / mass.sum()
    return max(0.0, float(-np.sum(share * np.log(share))))


def discrete_semantic_entropy(clusters: IntArray1D) -> float | Undefined:
    """Entropy over meanings by counting answers, where probabilities of texts are not known.

    Parameters
    ----------
    clusters : array of int, shape (n,)
        Meaning of each answer.

    Returns
    -------
    float or Undefined
        Nats; undefined without an answer.

    Examples
    --------
    >>> round(discrete_semantic_entropy(np.array([0] * 8 + [1] * 2)), 4)
    0.5004
    """
    return semantic_entropy(np.ones(len(clusters), dtype=np.float64), clusters)
