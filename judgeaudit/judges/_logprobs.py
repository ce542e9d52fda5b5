"""How probable a model found UNSAFE, where the server tells the log-probabilities of its tokens."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

from judgeaudit.judges._guards import GUARDS

__all__ = ["truth_probability", "verdict_probability"]

_BLANK: Final = r"[ \t\r\n]{0,20}"
_LABEL: Final = r"(?=(?:UN)?SAFE)"
# Where the label of a verdict begins, from the surest place to the least sure.
_PLACES: Final = (
    re.compile(rf'"verdict"{_BLANK}:{_BLANK}"{_BLANK}{_LABEL}', re.IGNORECASE),
    re.compile(
        rf"(?:verdict|answer)[ \t*_`]{{0,8}}(?:is|:|=)[ \t*_`\"']{{0,8}}{_LABEL}", re.IGNORECASE
    ),
    re.compile(rf"\A[ \t\r\n*_`\"']{{0,20}}{_LABEL}", re.IGNORECASE),
)
_TRUTH: Final = (re.compile(r"\A[ \t\r\n*_`\"']{0,20}(?=true|false)", re.IGNORECASE),)
_LABELS: Final = (("SAFE",), ("UNSAFE",))
_TRUTHS: Final = (("FALSE",), ("TRUE",))
_Labels = tuple[tuple[str, ...], tuple[str, ...]]
"""The words that mean SAFE (or False), and those that mean UNSAFE (or True)."""

_ROUND: Final = " \t\r\n\"'`*_:"


def verdict_probability(choice: object, form: str = "plain") -> dict[str, float]:
    """Return the probability of UNSAFE at the token in which the verdict begins, as a keyword.

    Of the alternatives that the server lists there, those count that begin one of the two labels:
    it is the probability of UNSAFE given that the answer is SAFE or UNSAFE.

    Parameters
    ----------
    choice : object
        Of a completion; a mapping, or an object with attributes. `logprobs.content` lists tokens.
    form : str
        The judge's output format. "grammar" lets the two labels through as they are spelled and
        nothing else. The server tells probabilities from before the grammar, so `Unsafe` and
        `unsafe` may be among them: they are never drawn, and do not count. p is then the chance
        of UNSAFE in a draw at temperature 1. A guard model's form says where its verdict stands,
        and which words are which label.

    Returns
    -------
    dict
        `{"p_unsafe": p}` with p in 0..1; empty where it is not known.
    """
    if (guard := GUARDS.get(form)) is not None:
        p = _probability(choice, guard.places, guard.words)
    else:
        p = _probability(choice, _PLACES, _LABELS, exact=form == "grammar")
    return {} if p is None else {"p_unsafe": p}


def truth_probability(choice: object) -> dict[str, float]:
    """Return the probability of True at the beginning of an answer of True or False, as a keyword.

    Parameters
    ----------
    choice : object
        As of `verdict_probability`.

    Returns
    -------
    dict
        `{"p_true": p}` with p in 0..1, given that the answer is one of the two; empty where it is
        not known, or the answer is something else.
    """
    p = _probability(choice, _TRUTH, _TRUTHS)
    return {} if p is None else {"p_true": p}


def _probability(
    choice: object,
    places: tuple[re.Pattern[str], ...],
    labels: _Labels,
    *,
    exact: bool = False,
) -> float | None:
    """Return the probability of the second label where an answer gives one of the two."""
    tokens = _get(_get(choice, "logprobs"), "content")
    if not isinstance(tokens, list):
        return None
    written = [t if isinstance(t := _get(token, "token"), str) else "" for token in tokens]
    text = "".join(written)
    for place in places:
        starts = [found.end() for found in place.finditer(text)]
        if starts:
            number, before = _token_at(written, starts[-1])
            return _share(tokens[number], labels, written[number][:before] if exact else None)
    return None


def _token_at(written: list[str], start: int) -> tuple[int, int]:
    """Return the number of the token that holds this character, and where in it."""
    end = 0
    for number, token in enumerate(written):
        end += len(token)
        if end > start:
            return number, start - end + len(token)
    raise AssertionError("a place in the text is in one of its tokens")  # pragma: no cover


def _share(token: object, labels: _Labels, head: str | None) -> float | None:
    """Return the second label's share; with a head, of tokens that go on from it by the letter."""
    words = (*labels[0], *labels[1])
    mass = dict.fromkeys(words, 0.0)
    listed = _get(token, "top_logprobs")
    seen: set[str] = set()
    # the token itself may be missing from the list: it was drawn, but was not among the likeliest
    for other in [*(listed if isinstance(listed, list) else []), token]:
        said, logprob = _get(other, "token"), _get(other, "logprob")
        if not isinstance(said, str) or said in seen:
            continue
        label = _begun(said, words) if head is None else _spelled(said, words, head)
        if label is None:
            continue
        seen.add(said)
        if isinstance(logprob, int | float) and not isinstance(logprob, bool):
            mass[label] += math.exp(min(logprob, 0.0)) if not math.isnan(logprob) else 0.0
    total = sum(mass.values())
    return sum(mass[w] for w in labels[1]) / total if total > 0 else None


def _begun(token: str, labels: tuple[str, ...]) -> str | None:
    """Return the label that a token begins."""
    said = token.strip(_ROUND).upper()
    for label in labels:
        if said and (label.startswith(said) or said.startswith(label)):
            return label
    return None


def _spelled(token: str, labels: tuple[str, ...], head: str) -> str | None:
    """Return the label that a token begins after the head, in the labels' own spelling."""
    said = token.removeprefix(head) if token.startswith(head) else ""
    for label in labels:
        if said and (label.startswith(said) or said.startswith(label)):
            return label
    return None


def _get(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, Mapping) else getattr(thing, name, None)
