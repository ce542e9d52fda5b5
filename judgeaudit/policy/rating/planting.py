"""Wrong rewrites for a rating sheet: whether a rater reads what is there."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Final

from judgeaudit.core.hashing import stable_seed
from judgeaudit.core.records import Dimension, Policy
from judgeaudit.policy.mutation import Mutant, mutants

__all__ = ["plain_mutants", "plant"]

# What a careful reader must notice: whole sentences and clauses in good English. The other
# operators (a struck-out norm, swapped titles) test the program that reads back, not people.
_NOTICEABLE: Final = (
    "drop an exception",
    "drop all exceptions of a norm",
    "copy an exception to another norm",
    "must to should",
    "swap a force",
    "negate a norm",
    "drop a qualifier",
    "drop a norm",
    "change a number",
    "turn a limit round",
    "another threshold",
    "reverse the burden",
    "another proof of exceptions",
    "reverse the default",
)
_EACH: Final = 4
_SENTENCE = re.compile(r"[^\s.#*-][^.\n]*\.(?=\s|$)")
_WEIGHTY = re.compile(
    r"\b(?:must|shall|should|may|need not|prohibited|required|unless|except|UNSAFE|SAFE)\b"
)
_UNLESS = re.compile(r",? (?:unless|except (?:where|if|when)) [^.\n]+(?=\.)")


def plain_mutants(text: str) -> Iterator[Mutant]:
    """Yield wrong rewrites of a text of which no policy as data is known.

    Plain edits of words: an exception or a sentence dropped, a force softened, a verdict turned.
    """
    for m in _UNLESS.finditer(text):
        cut = text[: m.start()] + text[m.end() :]
        yield Mutant("drop an exception", "exception_set", cut)
    for old, new in (("must not", "should not"), ("must", "should"), ("shall", "should"),
                     ("is prohibited from", "should refrain from")):  # fmt: skip
        for m in re.finditer(rf"\b{old}\b(?! not)", text):
            changed = text[: m.start()] + new + text[m.end() :]
            yield Mutant("must to should", "deontic_force", changed)
    for m in _SENTENCE.finditer(text):
        before, after = text[: m.start()], text[m.end() :]
        if "SAFE" in m[0]:
            turned = re.sub(
                r"\b(?:UN)?SAFE\b", lambda w: "SAFE" if w[0] == "UNSAFE" else "UNSAFE", m[0]
            )
            yield Mutant("turn a verdict round", "default_rule", before + turned + after)
        if _WEIGHTY.search(m[0]):
            yield Mutant("drop a sentence", "scope", before + after.lstrip(" "))


def plant(
    sources: Sequence[tuple[str, Policy | None]], *, n: int, seed: int, taken: frozenset[str]
) -> list[tuple[int, Mutant]]:
    """Choose wrong rewrites, spread over the dimensions and the texts as evenly as may be.

    Parameters
    ----------
    sources : sequence of (text, policy or None)
        Right rewrites, each with the policy that it states where one is known.
    n : int
        How many are wanted.
    taken : frozenset of str
        Texts that must not be among them.

    Returns
    -------
    list of (int, Mutant)
        The index of the text that was changed, and the wrong rewrite; fewer than `n` where the
        texts do not give more.
    """
    rng = random.Random(stable_seed("plant", seed))  # noqa: S311 - a layout, no secret
    pool: dict[Dimension, list[tuple[int, Mutant]]] = {}
    for i, (text, policy) in enumerate(sources):
        made = plain_mutants(text) if policy is None else _noticeable(text, policy)
        for mutant in made:
            pool.setdefault(mutant.dimension, []).append((i, mutant))
    chosen: list[tuple[int, Mutant]] = []
    seen = set(taken)
    used: dict[int, int] = {}
    dimensions = sorted(pool)
    rng.shuffle(dimensions)
    for candidates in pool.values():
        rng.shuffle(candidates)
    while len(chosen) < n and any(pool.values()):
        for dimension in dimensions:
            free = [c for c in pool[dimension] if c[1].text not in seen]
            pool[dimension] = free
            if not free or len(chosen) == n:
                continue
            pick = min(free, key=lambda c: used.get(c[0], 0))
            chosen.append(pick)
            seen.add(pick[1].text)
            used[pick[0]] = used.get(pick[0], 0) + 1
    return chosen


def _noticeable(text: str, policy: Policy) -> Iterator[Mutant]:
    """Yield the mutants that a reader can be asked to notice, and that the program notices too."""
    from judgeaudit.policy.readback import read_back

    found = [m for m in mutants(text, policy) if m.operator in _NOTICEABLE]
    known = found or list(mutants(text, policy))
    random.Random(stable_seed(policy.id, text)).shuffle(known)  # noqa: S311
    by_dimension: dict[Dimension, int] = {}
    for mutant in known:
        # few are needed: reading all of a long policy's mutants back would take seconds
        made = by_dimension.get(mutant.dimension, 0)
        if made < _EACH and read_back(mutant.text, policy, kind="near"):
            by_dimension[mutant.dimension] = made + 1
            yield mutant
