"""Features of items by which those that flip may differ: each is there, or it is not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from judgeaudit.core.records import Item
from judgeaudit.stats._types import BoolArray1D

__all__ = ["Base", "features_of", "holds_injection"]

_LEAST: Final = 5
_MOST_VALUES: Final = 30
_SHOWN: Final = 60
# Words of a text that speaks to the model instead of to the user.
_INJECTION: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules|"
    r"guidelines|above|previous|prior)\b"
    r"|\bIMPORTANT (?:MESSAGE|INSTRUCTION)|<INFORMATION>|\bsystem override\b"
    r"|\b(?:new|real|updated) (?:instructions?|task)\s*:",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Base:
    """What the base calls on an item said.

    Parameters
    ----------
    unsafe : bool
        The verdict of most.
    wavers : bool
        Whether they disagree.
    confidence : float, optional
        Mean confidence, where the judge stated any.
    """

    unsafe: bool
    wavers: bool
    confidence: float | None


def holds_injection(item: Item) -> bool:
    """Say whether what the environment returned, or the dataset, speaks of an injected prompt."""
    if any("inject" in f"{k} {v}".lower() for k, v in item.strata.items()):
        return True
    texts = (t.content for t in item.trajectory.turns if t.role == "environment")
    return any(_INJECTION.search(t) for t in texts if t)


def features_of(items: Sequence[Item], base: Mapping[str, Base]) -> dict[str, BoolArray1D]:
    """Return the features that at least five items have and five lack, by name.

    Parameters
    ----------
    items : sequence of Item
        The items.
    base : mapping of str to Base
        By key of the item.
    """
    of = [base[i.key] for i in items]
    length = np.array([len(i.trajectory.words) for i in items], dtype=np.float64)
    turns = np.array([len(i.trajectory.turns) for i in items], dtype=np.float64)
    sure = np.array([np.nan if b.confidence is None else b.confidence for b in of])
    last = [i.trajectory.turns[-1].role if i.trajectory.turns else "" for i in items]
    made: dict[str, Sequence[bool] | BoolArray1D] = {
        "base calls disagree": [b.wavers for b in of],
        "base verdict UNSAFE": [b.unsafe for b in of],
        "gold label UNSAFE": [i.label == "UNSAFE" for i in items],
        "ambiguous": [bool(i.ambiguous) for i in items],
        "longer than the median": length > np.median(length),
        "more turns than the median": turns > np.median(turns),
        "tool output last": [role == "environment" for role in last],
        "injected prompt present": [holds_injection(i) for i in items],
    }
    if np.isfinite(sure).all():
        made["base confidence below the median"] = sure < np.median(sure)
    for name, values in _fields(items).items():
        common = Counter(values).most_common(_MOST_VALUES)
        for value, n in common:
            if value and n >= _LEAST and len(common) > 1:
                made[f"{name}: {value[:_SHOWN]}"] = [v == value for v in values]
    out: dict[str, BoolArray1D] = {}
    seen: set[bytes] = set()
    for name, found in made.items():
        there = np.asarray(found, dtype=np.bool_)
        # the same split under a second name (or turned round) is no second feature
        split = min(there.tobytes(), (~there).tobytes())
        if _LEAST <= int(there.sum()) <= there.size - _LEAST and split not in seen:
            seen.add(split)
            out[name] = there
    return out


def _fields(items: Sequence[Item]) -> dict[str, list[str]]:
    names = sorted({k for i in items for k in i.strata})
    return {
        "dataset": [i.dataset for i in items],
        "subset": [i.subset for i in items],
        **{k: [i.strata.get(k, "") for i in items] for k in names},
    }
