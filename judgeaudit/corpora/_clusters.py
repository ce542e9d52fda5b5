"""Which items share a source, and how a subset of items is drawn (decision 0203)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from judgeaudit.core.hashing import sha256_of
from judgeaudit.core.records import Item, Trajectory

__all__ = ["by_first_user", "by_opening", "by_task", "draw"]

_TASK_LENGTH: Final = 30
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\s*\n\s*")


def _first_user(trajectory: Trajectory) -> str | None:
    """Return the text of the first user turn; None if there is none, or it is null or blank."""
    first = next((t for t in trajectory.turns if t.role == "user"), None)
    return (first.content or "").strip() or None if first else None


def _name(dataset: str, kind: str, *parts: object) -> str:
    folded = [" ".join(str(p).split()) for p in parts]
    return f"{dataset}:{kind}:{sha256_of(folded)[:16]}"


def by_first_user(dataset: str, trajectory: Trajectory) -> str:
    """Cluster by the first user message; the null message counts as one message.

    Runs of white space count as one blank. Items without a first user message share one cluster:
    nothing shows that they are unrelated, and too large a cluster only widens an interval.
    """
    message = _first_user(trajectory)
    return _name(dataset, "user", message) if message else f"{dataset}:no-user-message"


def by_opening(dataset: str, trajectory: Trajectory) -> str:
    """Cluster by the first user message; without one, by the profile and the first text.

    For a user's own trajectories, where perhaps none has a user message: one cluster would then
    leave no interval at all.
    """
    message = _first_user(trajectory)
    if message:
        return _name(dataset, "user", message)
    texts = (part for t in trajectory.turns for part in (t.content, t.thought, t.action))
    first = next((p for p in texts if p and p.strip()), "")
    return _name(dataset, "opening", trajectory.profile or "", first)


def by_task(dataset: str, trajectory: Trajectory) -> str:
    """Cluster by the task that opens the first user message.

    The task is the first sentence or line; if it is shorter than 30 characters, also those
    that follow, until there are 30.
    """
    message = _first_user(trajectory)
    if not message:
        return f"{dataset}:no-user-message"
    task = ""
    for sentence in _SENTENCE_END.split(message):
        task = f"{task} {sentence}".strip()
        if len(task) >= _TASK_LENGTH:
            break
    return _name(dataset, "task", task)


def draw(items: Sequence[Item], limit: int, seed: int) -> tuple[Item, ...]:
    """Draw items at random, as pairs of one cluster where a cluster has two.

    A pair holds both labels while its cluster does, so near-twins stay together; larger clusters
    are not taken whole, because one of them could fill the subset. The order is by hashes of the
    seed and the items' keys: the same seed gives the same items on every machine, and a larger
    limit adds to those of a smaller one.

    Returns
    -------
    tuple of Item
        `limit` items (all, if there are fewer), sorted by key.
    """
    rank = {i.key: sha256_of([seed, i.key]) for i in items}
    clusters: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        clusters[item.cluster].append(item)
    pairs = [pair for members in clusters.values() for pair in _pairs(members, rank)]
    # a hash of the pair as a whole: the lower of two ranks would favour pairs over single items
    pairs.sort(key=lambda pair: sha256_of([seed, *(i.key for i in pair)]))
    taken = [i for pair in pairs for i in pair][:limit]
    return tuple(sorted(taken, key=lambda i: i.key))


def _pairs(members: Iterable[Item], rank: dict[str, str]) -> list[list[Item]]:
    ordered = sorted(members, key=lambda i: rank[i.key])
    unsafe = [i for i in ordered if i.label == "UNSAFE"]
    others = [i for i in ordered if i.label != "UNSAFE"]
    mixed = min(len(unsafe), len(others))
    made = [
        sorted(pair, key=lambda i: rank[i.key])
        for pair in zip(unsafe[:mixed], others[:mixed], strict=True)
    ]
    rest = unsafe[mixed:] + others[mixed:]
    return made + [rest[n : n + 2] for n in range(0, len(rest), 2)]
