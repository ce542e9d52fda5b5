"""Transforms: one small file a condition, and what it changes of a policy on purpose."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from judgeaudit.core.errors import PolicyError, unknown_name
from judgeaudit.core.records import (
    Condition,
    ConditionKind,
    Dimension,
    Force,
    Norm,
    Policy,
    Record,
)
from judgeaudit.core.records._base import Label
from judgeaudit.core.records.policy import ExceptionProof, ThresholdLevel
from judgeaudit.core.rooms import room
from judgeaudit.policy._toml import check, parse, place, read_text

__all__ = [
    "Change",
    "ForceWords",
    "Head",
    "Transform",
    "find_transform",
    "intended",
    "load_conditions",
    "load_transforms",
]

_KINDS: tuple[ConditionKind, ...] = (
    "reference", "placebo", "certified", "near", "threshold", "control",
)  # fmt: skip
_FRONT = re.compile(r"\A\+\+\+\n(.*?)\n\+\+\+\n(.*)\Z", re.DOTALL)


class ForceWords(Record):
    """One way to say a force: the active and the passive verb phrase, with slots."""

    active: str
    passive: str
    source: str = ""


class Change(Record):
    """What a transform changes of the policy itself; empty for every meaning-keeping one.

    Parameters
    ----------
    norms : {"all", "one"}
        Whether `force` and `exceptions` are changed for all norms, or for a single one; `wording`
        says which: 0 the first.
    exceptions : {"none"}, optional
        Leave out the exceptions, and what prevails over the norm.
    force : dict of Force to Force
        What becomes of each force; one that is not named stays.
    threshold, at_least, unit
        Another threshold; with level `number` also its number, and its unit by language.
    doubt, exception_proof
        Another burden of proof.
    """

    policy: Literal["none"] | None = None
    norms: Literal["all", "one"] = "all"
    exceptions: Literal["none"] | None = None
    force: dict[Force, Force] = Field(default_factory=dict)
    threshold: ThresholdLevel | None = None
    at_least: int | float | None = None
    unit: dict[str, str] = Field(default_factory=dict)
    doubt: Label | None = None
    exception_proof: ExceptionProof | None = None

    @property
    def dimensions(self) -> frozenset[Dimension]:
        """The dimensions that this change may move."""
        if self.policy == "none":
            return frozenset(
                ("deontic_force", "scope", "exception_set", "burden_of_proof", "default_rule",
                 "implicit_threshold")
            )  # fmt: skip
        moved: dict[Dimension, bool] = {
            "deontic_force": bool(self.force),
            "exception_set": self.exceptions is not None,
            "implicit_threshold": self.threshold is not None,
            "burden_of_proof": self.doubt is not None or self.exception_proof is not None,
        }
        return frozenset(d for d, moves in moved.items() if moves)


class Head(Record):
    """The front matter of a transform."""

    id: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")
    kind: ConditionKind
    side: Literal["policy", "trajectory"] = "policy"
    moves: tuple[Dimension, ...] = ()
    summary: str
    order: int = 1000
    compose: tuple[str, ...] = ()
    """Transforms whose words, forces and orders this one takes over; later ones win."""
    reorder: tuple[Literal["norms", "exceptions", "judging"], ...] = ()
    change: Change = Change()
    forces: dict[str, dict[Force, tuple[ForceWords, ...]]] = Field(default_factory=dict)
    words: dict[str, dict[str, str | tuple[str, ...] | tuple[tuple[str, ...], ...]]] = Field(
        default_factory=dict
    )


class Transform(Record):
    """One transform: its front matter, its child template, and its file."""

    head: Head
    template: str
    file: str

    @property
    def condition(self) -> Condition:
        """The condition that it makes."""
        h = self.head
        return Condition(id=h.id, kind=h.kind, side=h.side, moves=h.moves, summary=h.summary)


def intended(policy: Policy, change: Change, wording: int = 0) -> Policy | None:
    """Return the policy that a rendering is meant to state; None where it is deleted.

    Parameters
    ----------
    policy : Policy
        The policy.
    change : Change
        What the transform changes of it.
    wording : int
        Picks the norm, where a single one is changed.

    Raises
    ------
    PolicyError
        If the change counts in a unit that has no words in the policy's language.
    """
    if change.policy == "none":
        return None
    picked = wording % len(policy.norms)
    norms = tuple(
        _changed(n, change) if change.norms == "all" or i == picked else n
        for i, n in enumerate(policy.norms)
    )
    update: dict[str, object] = {"norms": norms}
    if change.threshold is not None:
        unit = change.unit.get(policy.language)
        if change.threshold == "number" and unit is None:
            raise PolicyError(
                f"the change of the threshold has no unit in {policy.language!r}",
                mend=f"Add `change.unit.{policy.language}` to the transform",
            )
        update["threshold"] = policy.threshold.model_copy(
            update={"level": change.threshold, "at_least": change.at_least, "unit": unit}
        )
    proof = {"doubt": change.doubt, "exception": change.exception_proof}
    update["burden"] = policy.burden.model_copy(
        update={k: v for k, v in proof.items() if v is not None}
    )
    return policy.model_copy(update=update)


def _changed(norm: Norm, change: Change) -> Norm:
    update: dict[str, object] = {"force": change.force.get(norm.force, norm.force)}
    if change.exceptions == "none":
        update |= {"exceptions": (), "subject_to": ()}
    return norm.model_copy(update=update)


def load_conditions(folder: Path | None = None) -> dict[str, Condition]:
    """Return the conditions by id, in the order in which every listing prints them.

    The order is: reference, placebo, certified, near, threshold, control; inside a kind by the
    transform's `order`, then by id. As shipped: base, T0, T1, T2, T4, T1T2, T1T2T4, T3, strict,
    lenient, strict1, lenient1, strict2, lenient2, no_policy, inverted, altered_rule, vacuum.

    Parameters
    ----------
    folder : Path, optional
        A user's own folder of transforms, read beside those that ship.

    Raises
    ------
    PolicyError
        If a transform has a wrong key, a kind that does not agree with `moves`, or a taken id.
    """
    return {id_: t.condition for id_, t in load_transforms(folder).items()}


@lru_cache(maxsize=16)
def load_transforms(folder: Path | None = None) -> dict[str, Transform]:
    """Load all transforms by id, in the order of `load_conditions`."""
    if folder is not None and not folder.is_dir():
        raise PolicyError("no such folder of transforms", where=str(folder), mend="Check the path")
    found: dict[str, Transform] = {}
    for place_ in [room("transforms"), *([folder] if folder else [])]:
        for path in sorted(place_.glob("*.md.j2")):
            transform = _load(path)
            if transform.head.id in found:
                raise PolicyError(
                    f"the id {transform.head.id!r} is taken by {found[transform.head.id].file}",
                    where=str(path),
                    mend="Give the transform another id and file name",
                )
            found[transform.head.id] = transform
    made = [_composed(t, found) if t.head.compose else t for t in found.values()]
    ranked = sorted(made, key=lambda t: (_KINDS.index(t.head.kind), t.head.order, t.head.id))
    return {t.head.id: t for t in ranked}


def _composed(transform: Transform, known: dict[str, Transform]) -> Transform:
    """Take over the words, forces and orders of the transforms that one is composed of."""
    head = transform.head
    for id_ in head.compose:
        if id_ not in known or known[id_].head.compose:
            plain = sorted(k for k, t in known.items() if not t.head.compose)
            raise PolicyError(
                unknown_name("part", id_, plain), where=f"{Path(transform.file).name}, compose"
            )
    parts = [*(known[id_].head for id_ in head.compose), head]
    languages = sorted({lang for p in parts for lang in (*p.forces, *p.words)})
    forces: dict[str, dict[Force, tuple[ForceWords, ...]]] = {
        lang: {f: words for p in parts for f, words in p.forces.get(lang, {}).items()}
        for lang in languages
    }
    words = {
        lang: {k: v for p in parts for k, v in p.words.get(lang, {}).items()} for lang in languages
    }
    reorder = tuple(dict.fromkeys(r for p in parts for r in p.reorder))
    update = {"forces": forces, "words": words, "reorder": reorder}
    return transform.model_copy(update={"head": head.model_copy(update=update)})


def _load(path: Path) -> Transform:
    where = path.name
    parts = _FRONT.match(read_text(path))
    if parts is None:
        raise PolicyError(
            "no front matter", where=f"{path}, line 1", mend="Begin with TOML between two lines +++"
        )
    data, lines = parse(parts[1], where, first_line=2)
    head = check(Head, data, where, lines)
    if head.id != path.name.removesuffix(".md.j2"):
        raise PolicyError(
            f"the id {head.id!r} is not the file's name",
            where=place(where, ("id",), lines),
            mend=f"Name the file {head.id}.md.j2",
        )
    counts = head.change.at_least is not None, bool(head.change.unit)
    if counts != (head.change.threshold == "number",) * 2:
        raise PolicyError(
            "`at_least` and `unit` belong to a threshold 'number', and it to them",
            where=place(where, ("change",), lines),
            mend="Give all three, or none",
        )
    moved = head.change.dimensions
    if head.kind in ("reference", "placebo", "certified", "near") and (head.moves or moved):
        raise PolicyError(
            f"kind {head.kind!r} must keep all six dimensions, but "
            f"{(head.moves or tuple(sorted(moved)))[0]!r} may move",
            where=place(where, ("moves",) if head.moves else ("change",), lines),
            mend="Remove it, or use kind 'threshold' or 'control'",
        )
    if extra := sorted(moved - set(head.moves)):
        raise PolicyError(
            f"the change moves {extra[0]!r}, which `moves` does not name",
            where=place(where, ("change",), lines),
            mend="Add it to `moves`",
        )
    # the blank lines keep the line numbers of template errors those of the file
    template = "\n" * (parts[1].count("\n") + 3) + parts[2]
    return Transform(head=head, template=template, file=str(path))


def find_transform(condition_id: str, folder: Path | None = None) -> Transform:
    """Return one transform.

    Raises
    ------
    PolicyError
        If there is none with this id; the message lists the known ones.
    """
    known = load_transforms(folder)
    if condition_id not in known:
        raise PolicyError(unknown_name("condition", condition_id, list(known)))
    return known[condition_id]
