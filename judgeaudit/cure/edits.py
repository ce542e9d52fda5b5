"""Atomic edits between a base text and a rewrite: what can be changed by itself, named in words.

Where the rewrite is a condition of ours, the edits are the renderer's own choices, mixed through
its templates. Where it is a text of the user's own, they are stretches of words that differ. Either
way a text with any subset of the edits is read back against the policy before anybody is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from judgeaudit.core.errors import ConfigError, PolicyError
from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import Certificate, Condition, Policy, Rendering
from judgeaudit.policy import rendering
from judgeaudit.policy.mixing import Mix, Slot
from judgeaudit.policy.readback import certify
from judgeaudit.policy.transforms import load_transforms
from judgeaudit.policy.worddiff import word_diff

__all__ = ["Edit", "Edits", "Subset", "edits_between"]

Subset = frozenset[str]
"""Keys of the edits that are applied."""

_ORDERS: Final = {
    "norms": "the norms in another order",
    "judging": "the rules of the verdict in another order",
}
_BLOCKS: Final = {
    "scope": "sentence on scope: turned",
    "threshold": "sentence on the threshold: turned",
    "burden": "sentences on the burden of proof: turned",
    "default": "sentence on the default rule: turned",
    "preface": "text in front of the policy",
    "closing": "text behind the policy",
}
_NORM: Final = {
    "voice": "passive voice",
    "order": "exceptions first",
    "place": "exceptions in a section in front",
    "exceptions": "its exceptions in another order",
}
_RANK: Final = ("words", "voice", "order", "exceptions", "place")
_SHOWN: Final = 60
_MOST_ROUNDS: Final = 5


@dataclass(frozen=True, slots=True)
class Edit:
    """One change that can be made by itself.

    Parameters
    ----------
    key : str
        Short and stable: "N3.words", "norms", "threshold".
    name : str
        In plain words: "N3: 'must not follow' -> 'is prohibited from following'".
    norm : int, optional
        Number of the norm in the base text.
    before, after : tuple of str
        What it takes out of the base text by itself, and what it puts there.
    """

    key: str
    name: str
    norm: int | None
    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(slots=True)
class Edits:
    """The edits between a base text and a rewrite, and every text between the two.

    Parameters
    ----------
    base, rewrite : Rendering
        No edit applied, and all of them.
    condition : Condition
        Of the rewrite.
    edits : tuple of Edit
        In the order of the text; neighbours belong together.
    """

    base: Rendering
    rewrite: Rendering
    condition: Condition
    edits: tuple[Edit, ...]
    _write: Callable[[Subset], str] = field(repr=False)
    _policy: Policy = field(repr=False)
    _made: dict[Subset, Rendering] = field(default_factory=dict, repr=False)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of all edits."""
        return tuple(e.key for e in self.edits)

    @property
    def everything(self) -> Subset:
        """All edits: the rewrite."""
        return frozenset(self.keys)

    def named(self, key: str) -> Edit:
        """Return an edit by its key."""
        return next(e for e in self.edits if e.key == key)

    def ordered(self, subset: Iterable[str]) -> tuple[str, ...]:
        """Return the keys of a subset in the order of the text."""
        wanted = frozenset(subset)
        return tuple(k for k in self.keys if k in wanted)

    def rendering(self, subset: Subset) -> Rendering:
        """Return the text with some edits applied, with its certificate, passed or not.

        No edits and all edits give the texts of the run themselves.
        """
        if not subset:
            return self.base
        if subset == self.everything:
            return self.rewrite
        if subset not in self._made:
            text = self._write(subset)
            self._made[subset] = Rendering(
                policy_id=self.base.policy_id,
                policy_sha256=self.base.policy_sha256,
                condition=f"{self.condition.id}+{'+'.join(self.ordered(subset))}",
                language=self.base.language,
                text=text,
                sha256=sha256_text(text),
                certificate=self._certificate(text),
            )
        return self._made[subset]

    def _certificate(self, text: str) -> Certificate:
        kind = self.condition.kind
        return certify(text, self._policy, base_text=self.base.text, kind=kind)

    def may_ask(self, subset: Subset) -> bool:
        """Say whether a text was read back as saying what the policy says."""
        made = self.rendering(subset)
        if not subset or subset == self.everything:
            return True
        return made.certificate is not None and made.certificate.passed


def edits_between(
    policy: Policy, base: Rendering, rewrite: Rendering, condition: Condition
) -> Edits:
    """Find the edits between two texts of a run.

    Parameters
    ----------
    policy : Policy
        What both state.
    base, rewrite : Rendering
        As the run asked them.
    condition : Condition
        Of the rewrite; certified or near.

    Raises
    ------
    ConfigError
        If the condition changes what the policy says, or the texts are the same.
    """
    if condition.kind not in ("certified", "near") or condition.side != "policy":
        raise ConfigError(
            f"{condition.id!r} is of the kind {condition.kind!r}: it is meant to move verdicts",
            mend="Give a certified or a near condition",
        )
    if base.text == rewrite.text:
        raise ConfigError(f"the text under {condition.id!r} is the base text: nothing to localise")
    found = _structural(policy, base, rewrite)
    if found is None:
        from judgeaudit.cure.edits_text import textual

        made, write = textual(base.text, rewrite.text)
    else:
        made, write = found
    out = Edits(base, rewrite, condition, made, write, policy)
    if len(made) > 1 and not any(out.may_ask(frozenset((e.key,))) for e in made):
        raise ConfigError(
            f"no single edit of {condition.id!r} reads back as the same policy",
            mend="Only texts that are certified are asked; certify or mend the rewrite",
        )
    return out


# ---- the renderer's own choices ------------------------------------------------------------


def _structural(
    policy: Policy, base: Rendering, rewrite: Rendering
) -> tuple[tuple[Edit, ...], Callable[[Subset], str]] | None:
    """Return the renderer's choices; None where the texts are not what it writes today."""
    id_, wording = rewrite.condition, rewrite.wording
    if id_ not in load_transforms():
        return None

    def write(on: frozenset[Slot]) -> tuple[str, Mix]:
        mix = Mix(on=on)
        return rendering.render_text(policy, id_, wording=wording, mix=mix), mix

    try:
        if rendering.render_text(policy, id_, wording=wording) != rewrite.text:
            return None
        nothing, mix = write(frozenset())
        slots, text = frozenset(mix.asked), nothing
        for _ in range(_MOST_ROUNDS):  # a choice may stand behind another one
            text, mix = write(slots)
            if slots >= mix.asked.keys():
                break
            slots |= frozenset(mix.asked)
    except PolicyError:
        return None
    if nothing != base.text or text != rewrite.text:
        return None
    number = {n.id: k for k, n in enumerate(policy.norms, start=1)}

    def rank(slot: Slot) -> tuple[int, int, str]:
        kind = _RANK.index(slot.kind) if slot.kind in _RANK else len(_RANK)
        return (number.get(slot.at, len(number) + 1), kind, slot.kind)

    made: dict[str, tuple[Edit, Slot]] = {}
    for slot in sorted(slots, key=rank):
        alone = write(frozenset((slot,)))[0]
        if alone == base.text and write(slots - {slot})[0] == rewrite.text:
            continue  # a choice that changes no word
        edit = _edit(slot, number.get(slot.at), base.text, alone)
        made[edit.key] = (edit, slot)

    def mixed(subset: Subset) -> str:
        return write(frozenset(made[k][1] for k in subset))[0]

    return tuple(e for e, _ in made.values()), mixed


def _edit(slot: Slot, number: int | None, base: str, alone: str) -> Edit:
    before, after = changed(base, alone)
    if number is None:
        name = _ORDERS.get(slot.kind) or _BLOCKS.get(slot.kind) or f"{slot.kind}: reworded"
        return Edit(slot.kind, name, None, before, after)
    key = f"N{number}.{slot.kind}"
    said = _NORM.get(slot.kind, "reworded")
    if slot.kind == "words" and before and after:
        said = f"{shortly(before[0])!r} -> {shortly(after[0])!r}"
    return Edit(key, f"N{number}: {said}", number, before, after)


def changed(old: str, new: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the stretches of words that a new text lacks, and those that are new in it."""
    pieces = word_diff(old, new)
    out: dict[str, list[str]] = {"removed": [], "added": [], "same": []}
    for kind, text in pieces:
        if text.strip():
            out[kind].append(text.strip())
    return tuple(out["removed"]), tuple(out["added"])


def shortly(text: str) -> str:
    """Put a stretch of text on one line of at most 60 characters."""
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "\N{HORIZONTAL ELLIPSIS}"
