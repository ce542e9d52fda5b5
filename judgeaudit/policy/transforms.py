"""Transforms: one small file a condition, and what it changes of a policy on purpose."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field

from judgeaudit.core.errors import PolicyError, unknown_name
from judgeaudit.core.records import Condition, ConditionKind, Dimension, Force, Policy, Record
from judgeaudit.core.records.policy import ThresholdLevel
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
    """What a transform changes of the policy itself; empty for every meaning-keeping one."""

    policy: Literal["none"] | None = None
    exceptions: Literal["none"] | None = None
    threshold: ThresholdLevel | None = None
    force: dict[Force, Force] = Field(default_factory=dict)

    @property
    def dimensions(self) -> frozenset[Dimension]:
        """The dimensions that this change may move."""
        if self.policy == "none":
            return frozenset(
                ("deontic_force", "scope", "exception_set", "burden_of_proof", "default_rule",
                 "implicit_threshold")
            )  # fmt: skip
        moved: set[Dimension] = set()
        if self.force:
            moved.add("deontic_force")
        if self.exceptions:
            moved.add("exception_set")
        if self.threshold:
            moved.add("implicit_threshold")
        return frozenset(moved)


class Head(Record):
    """The front matter of a transform."""

    id: str = Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$")
    kind: ConditionKind
    side: Literal["policy", "trajectory"] = "policy"
    moves: tuple[Dimension, ...] = ()
    summary: str
    order: int = 1000
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


def intended(policy: Policy, change: Change) -> Policy | None:
    """Return the policy that a rendering is meant to state; None where it is deleted."""
    if change.policy == "none":
        return None
    norms = tuple(
        n.model_copy(
            update={
                "force": change.force.get(n.force, n.force),
                **({"exceptions": (), "subject_to": ()} if change.exceptions == "none" else {}),
            }
        )
        for n in policy.norms
    )
    update: dict[str, object] = {"norms": norms}
    if change.threshold is not None:
        update["threshold"] = policy.threshold.model_copy(
            update={"level": change.threshold, "at_least": None, "unit": None}
        )
    return policy.model_copy(update=update)


def load_conditions(folder: Path | None = None) -> dict[str, Condition]:
    """Return the conditions by id, in the order in which every listing prints them.

    The order is: reference, placebo, certified, near, threshold, control; inside a kind by the
    transform's `order`, then by id. As shipped: base, T0, T1, T2, T4, T3, strict, lenient,
    no_policy, inverted, vacuum.

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
    ranked = sorted(
        found.values(), key=lambda t: (_KINDS.index(t.head.kind), t.head.order, t.head.id)
    )
    return {t.head.id: t for t in ranked}


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
