"""Planted judges as tables: items, chances of UNSAFE, failures, clusters, drift; all known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.records import Condition, ConditionKind, Protocol
from judgeaudit.core.table import CODES, NOT_CALLED, VerdictTable

__all__ = [
    "CALLS",
    "CERTIFIED",
    "NEAR",
    "PROTOCOL",
    "WORLDS",
    "Items",
    "World",
    "draw",
    "drifted",
    "sample",
]

Float = NDArray[np.float64]

CERTIFIED: Final = ("T1", "T2", "T4")
NEAR: Final = ("T3",)
_KINDS: Final[dict[str, ConditionKind]] = {
    "base": "reference",
    "T1": "certified",
    "T2": "certified",
    "T4": "certified",
    "T3": "near",
    "strict": "threshold",
    "lenient": "threshold",
    "no_policy": "control",
}
CALLS: Final[Mapping[str, int]] = MappingProxyType({c: 5 if c == "base" else 2 for c in _KINDS})
"""Calls an item under each condition: the recommended K = 5, L = 2."""

PROTOCOL: Final = Protocol(
    preset="selftest",
    base_repeats=5,
    repeats=2,
    conditions=tuple(Condition(id=c, kind=k) for c, k in _KINDS.items()),
)

_AMBIGUOUS: Final = 0.3
_STRICT: Final = 0.97

Sizes = Literal["single", "small", "uneven"]


@dataclass(frozen=True, slots=True)
class World:
    """What is planted; all rates are fractions.

    Parameters
    ----------
    summary : str
        In a few words.
    doubtful : float
        Share of items with p ~ Beta(1/2, 1/2): jitter is a quarter of it. The rest is at 0 or 1.
    doubt : tuple of float, optional
        Parameters of the Beta law instead of (1/2, 1/2).
    flips : mapping of condition to float
        Share of items whose chance p becomes 1 - p under the condition.
    moved : float
        Share of items whose verdict follows the threshold.
    gone : float
        Share of items that turn SAFE where the policy is deleted.
    error : float
        Share of items that the judge leans wrongly on.
    constant : float, optional
        The chance of UNSAFE of every call.
    sharpened : float, optional
        Factor on the distance of p from 0 or 1 under every condition but base.
    failures : tuple of float
        Share of calls without a verdict under base, and under all others.
    sizes : {"single", "small", "uneven"}
        Clusters: none, of 1 to 5 items, or a few that hold much of all items.
    together : float
        Share of clusters whose items flip all or none; the others flip item by item.
    drift : float
        How far p moves towards 1 - p from the first call of a run to its last.
    flagged : bool
        Whether the card says that intervals may be too narrow: coverage is shown, not judged.
    """

    summary: str
    doubtful: float = 0.1
    doubt: tuple[float, float] = (0.5, 0.5)
    flips: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    moved: float = 0.5
    gone: float = 0.4
    error: float = 0.1
    constant: float | None = None
    sharpened: float | None = None
    failures: tuple[float, float] = (0.0, 0.0)
    sizes: Sizes = "single"
    together: float = 0.0
    drift: float = 0.0
    flagged: bool = False


def _flips(t1: float, t2: float, t4: float, t3: float) -> Mapping[str, float]:
    return MappingProxyType({"T1": t1, "T2": t2, "T4": t4, "T3": t3})


WORLDS: Final[Mapping[str, World]] = MappingProxyType(
    {
        "quiet": World("little jitter, flips 1% of the items", flips=_flips(*[0.01] * 4)),
        "noisy": World("much jitter, no effect of wording", doubtful=0.6),
        "brittle_t4": World(
            "flips a fifth of the items under T4", flips=_flips(0.02, 0.02, 0.2, 0.05)
        ),
        "sharpening": World(
            "in doubt under base, surer under every other prompt",
            doubtful=0.7,
            doubt=(2.0, 2.0),
            sharpened=0.3,
        ),
        "threshold_blind": World(
            "reads the policy but not its threshold", moved=0.0, flips=_flips(*[0.03] * 4)
        ),
        "ignores_policy": World("judges the trajectory alone", moved=0.0, gone=0.0),
        "constant": World("says SAFE to everything", constant=0.0),
        "fails_to_parse": World(
            "a quarter of its answers under variants hold no verdict",
            flips=_flips(*[0.04] * 4),
            failures=(0.03, 0.25),
        ),
        "clustered": World(
            "clusters of 1 to 5 items flip together",
            sizes="small",
            together=1.0,
            flips=_flips(0.05, 0.05, 0.1, 0.05),
        ),
        "uneven": World(
            "a few clusters hold half of all items; three in ten flip together",
            sizes="uneven",
            together=0.3,
            flips=_flips(0.05, 0.05, 0.1, 0.05),
        ),
        "uneven_together": World(
            "a few clusters hold half of all items; all flip together: flagged on the card",
            sizes="uneven",
            together=1.0,
            flagged=True,
            flips=_flips(0.05, 0.05, 0.1, 0.05),
        ),
        "drifting": World("changes from the first call of a run to its last", drift=0.5),
    }
)
"""The planted judges by name."""


@dataclass(frozen=True, slots=True)
class Items:
    """Items of a world, drawn: arrays of shape (n_items,).

    Parameters
    ----------
    chances : mapping of condition to array
        Chance that a call says UNSAFE.
    ambiguous, gold : array of int8
        As in `VerdictTable`.
    clusters : array of int64
        Cluster index.
    """

    chances: Mapping[str, Float]
    ambiguous: NDArray[np.int8]
    gold: NDArray[np.int8]
    clusters: NDArray[np.int64]


def _clusters(sizes: Sizes, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
    if sizes == "single":
        return np.arange(n)
    parts = rng.integers(1, 6, n)
    if sizes == "uneven":
        # one cluster in twelve is 8 to 15 times as large as the others
        parts = np.where(rng.random(n) < 1 / 12, rng.integers(8, 16, n), 1)
    return np.repeat(np.arange(n), parts)[:n]


def _by_cluster(clusters: NDArray[np.int64], rng: np.random.Generator) -> Float:
    """One uniform number a cluster, given to each of its items."""
    return rng.random(int(clusters.max()) + 1)[clusters]


def draw(world: World, n: int, rng: np.random.Generator) -> Items:
    """Draw items of a world."""
    clusters = _clusters(world.sizes, n, rng)
    gold = rng.integers(0, 2, n)
    lean = np.where(rng.random(n) < world.error, 1 - gold, gold)
    doubtful = rng.random(n) < world.doubtful
    base = np.where(doubtful, rng.beta(*world.doubt, n), lean)
    united = _by_cluster(clusters, rng) < world.together
    chances: dict[str, Float] = {}
    for condition in CALLS:
        p = base
        if world.sharpened is not None and condition != "base":
            p = np.where(p > 0.5, 1 - (1 - p) * world.sharpened, p * world.sharpened)
        share = world.flips.get(condition, 0.0)
        turns = np.where(united, _by_cluster(clusters, rng), rng.random(n)) < share
        chances[condition] = np.where(turns, 1 - p, p)
    moves = rng.random(n) < world.moved
    chances["strict"] = np.where(moves, _STRICT, chances["strict"])
    chances["lenient"] = np.where(moves, 1 - _STRICT, chances["lenient"])
    chances["no_policy"] = np.where(rng.random(n) < world.gone, 0.0, chances["no_policy"])
    if world.constant is not None:
        chances = {c: np.full(n, world.constant) for c in chances}
    return Items(
        chances=chances,
        ambiguous=(rng.random(n) < _AMBIGUOUS).astype(np.int8),
        gold=gold.astype(np.int8),
        clusters=clusters,
    )


def drifted(world: World, p: Float) -> Float:
    """Chance of UNSAFE of a call at a random place of the run."""
    return p + world.drift / 2 * (1 - 2 * p)


def sample(
    world: World, items: Items, rng: np.random.Generator
) -> tuple[VerdictTable, NDArray[np.int8]]:
    """Make all calls in random order, as an engine does, and write them into a table.

    Returns
    -------
    VerdictTable
        What an audit sees.
    array of int8, shape (n_items, n_columns, n_repeats)
        Its codes had no call failed.
    """
    n, depth = items.gold.size, max(CALLS.values())
    codes = np.full((n, len(CALLS), depth), NOT_CALLED, dtype=np.int8)
    p = np.zeros(codes.shape)
    for k, (condition, calls) in enumerate(CALLS.items()):
        p[:, k, :calls] = items.chances[condition][:, None]
        codes[:, k, :calls] = 0
    called = codes >= 0
    if world.drift:
        when = np.zeros(codes.shape)
        when[called] = rng.permutation(int(called.sum())) / called.sum()
        p += world.drift * when * (1 - 2 * p)
    codes[called] = (rng.random(codes.shape) < p)[called]
    complete = codes.copy()
    if any(world.failures):
        rate = np.full(codes.shape, world.failures[1])
        rate[:, 0] = world.failures[0]
        codes[called & (rng.random(codes.shape) < rate)] = CODES["unparseable"]
    table = VerdictTable(
        items=tuple(f"i{k:05d}" for k in range(n)),
        clusters=items.clusters,
        gold=items.gold,
        ambiguous=items.ambiguous,
        columns=tuple((c, 0) for c in CALLS),
        codes=codes,
    )
    return table, complete
