"""The wordings that an attack may ask: certified rewrites, and mixtures that read back as equal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

import numpy as np

from judgeaudit.core.errors import ConfigError, PolicyError
from judgeaudit.core.records import Condition, Policy, Rendering
from judgeaudit.cure.edits import Edits, Subset, edits_between
from judgeaudit.policy import render
from judgeaudit.policy.transforms import load_conditions

__all__ = ["Text", "Wordings"]

_HALVES: Final = 50
"""Mixtures of half of the places, at least as many as there may be."""


@dataclass(frozen=True, slots=True)
class Text:
    """One wording: its condition, its text with certificate, and what it takes of a rewrite."""

    condition: Condition
    rendering: Rendering
    name: str
    edits: tuple[str, ...] = ()


class Wordings:
    """All certified wordings of a policy, by number; no text without a passed certificate.

    Parameters
    ----------
    policy : Policy
        What all of them say.
    base : Rendering
        The text that they are compared with.
    known : sequence of (Condition, Rendering)
        Certified rewrites of the run itself, the user's own too.
    wordings : int
        Wordings of each of the renderer's conditions, at most.
    seed : int
        Of the mixtures.
    """

    def __init__(
        self,
        policy: Policy,
        base: Rendering,
        known: Iterable[tuple[Condition, Rendering]],
        *,
        wordings: int,
        seed: int,
    ) -> None:
        self._policy, self.base, self._seed = policy, base, seed
        self.texts: list[Text] = []
        self.rejected = 0
        """Texts that did not read back as equal, and so are not asked."""
        self._seen = {base.sha256}
        self._taken: set[tuple[str, int]] = set()
        for condition, rendering in known:
            self._add(condition, rendering)
        for condition in load_conditions().values():
            if condition.kind == "certified" and condition.side == "policy":
                for k in range(wordings):
                    made = render(policy, condition.id, language=policy.language, wording=k)
                    self._add(condition, made)
        self._whole = tuple(range(len(self.texts)))

    @property
    def whole(self) -> Sequence[int]:
        """The whole rewrites."""
        return self._whole

    def mixed(self, worst: Sequence[int], most: int) -> Sequence[int]:
        """Take parts of some rewrites: without one kind of edit, without half of the norms."""
        queues = [self._parts(arm) for arm in worst if not self.texts[arm].edits]
        first = len(self.texts)
        for parts in zip_longest(*queues):
            for found in parts:
                if found is not None and len(self.texts) - first < most:
                    self._add(*found)
            if len(self.texts) - first >= most:
                break
        return tuple(range(first, len(self.texts)))

    def _add(self, condition: Condition, rendering: Rendering, edits: tuple[str, ...] = ()) -> None:
        if rendering.sha256 in self._seen:
            return
        self._seen.add(rendering.sha256)
        if not rendering.certified:
            self.rejected += 1
            return
        wording = rendering.wording
        while (condition.id, wording) in self._taken:
            wording += 1
        self._taken.add((condition.id, wording))
        rendering = rendering.model_copy(update={"condition": condition.id, "wording": wording})
        name = condition.id if wording == 0 else f"{condition.id}/{wording}"
        self.texts.append(Text(condition, rendering, name, edits))

    def _edits(self, text: Text) -> Edits | None:
        try:
            return edits_between(self._policy, self.base, text.rendering, text.condition)
        except (ConfigError, PolicyError):
            return None  # a text that only the user can make has no parts of ours

    def _parts(self, arm: int) -> Iterator[tuple[Condition, Rendering, tuple[str, ...]]]:
        text = self.texts[arm]
        edits = self._edits(text)
        if edits is None:
            return
        whole = len(edits.edits)
        for subset in _subsets(edits, np.random.default_rng((self._seed, arm))):
            made = edits.rendering(subset)
            id_ = f"{text.name}: {len(subset)} of {whole} edits {made.sha256[:6]}"
            condition = Condition(
                id=id_, kind="certified", summary=f"{len(subset)} of the edits of {text.name}"
            )
            yield condition, made, tuple(edits.named(k).name for k in edits.ordered(subset))


def _subsets(edits: Edits, rng: np.random.Generator) -> Iterator[Subset]:
    """Yield parts of a rewrite: without a kind of edit or with it alone, and half of its places."""
    keys = edits.keys
    # the sentences around the norms are few and short: one kind together
    kind = {e.key: e.key.rpartition(".")[2] if e.norm is not None else "" for e in edits.edits}
    place = {k: k.partition(".")[0] for k in keys}
    kinds, places = (list(dict.fromkeys(of.values())) for of in (kind, place))
    systematic = [frozenset(k for k in keys if kind[k] != left) for left in kinds]
    systematic += [frozenset(k for k in keys if kind[k] == alone) for alone in kinds]
    halves = []
    for _ in range(max(_HALVES, len(systematic))):
        drawn = rng.random(len(places)) < 0.5
        of = {p for p, there in zip(places, drawn, strict=True) if there}
        halves.append(frozenset(k for k in keys if place[k] in of))
    shuffled = [systematic[int(k)] for k in rng.permutation(len(systematic))]
    seen: set[Subset] = {frozenset(), frozenset(keys)}
    for pair in zip_longest(shuffled, halves):
        for subset in pair:
            if subset is not None and subset not in seen:
                seen.add(subset)
                yield subset
