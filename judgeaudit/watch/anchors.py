"""Anchors of a thrifty night, frozen once: drawn from a baseline run, with what it said of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from pydantic import ValidationError

from judgeaudit.audit import LEDGER
from judgeaudit.core.errors import ConfigError
from judgeaudit.core.hashing import stable_seed
from judgeaudit.core.records._base import Record
from judgeaudit.stats._types import IntArray1D
from judgeaudit.stats.thrift import FRACTIONS, Foreseen, Sample, draw, foresee
from judgeaudit.watch.sides import Side, load

__all__ = ["Anchor", "Anchors", "facts_of", "freeze", "prompts_of", "read_anchors", "written"]

_LAYOUT: Final = "judgeaudit anchors 1"
_SEAL: Final = "sha256"
_SIZES: Final = (
    *(20, 25, 30, 40, 50, 60, 75, 90, 110, 130, 160, 190, 230, 280, 340, 400, 500, 600),
    *(750, 900, 1100, 1400, 1700, 2100, 2500),
)


class Anchor(Record):
    """One frozen item.

    Parameters
    ----------
    key : str
        The item.
    gold : int
        1 UNSAFE, 0 SAFE, -1 none.
    weight : float
        Items of the corpus that it stands for.
    unsafe, valid : int
        Base calls of the baseline.
    trajectory, prompt : str
        Hash of its text, and identity of its base prompt.
    """

    key: str
    gold: int
    weight: float
    unsafe: int
    valid: int
    trajectory: str
    prompt: str


class Foretold(Record):
    """What nights of this design do, simulated on the baseline's own items."""

    planted: float
    fails: float
    passes: float
    calls: float
    nights: int


class Anchors(Record):
    """A frozen design.

    Parameters
    ----------
    layout : str
        Of the file.
    baseline, ledger_head : str
        The run it was made of.
    alpha, power, drift : float
        Chance of a false alarm a night; the wanted power against a worsening by `drift`, which
        is also what a pass rules out.
    calls : int
        Base calls an anchor.
    ends : tuple of int
        Anchors asked by the end of each look.
    anchors : tuple of Anchor
        In the order of asking.
    n_items : int
        Items they were drawn from.
    chosen_by : str
        What the draw looked at.
    wordings : dict of str to dict
        Of each other condition that is asked again only if its prompts change: item -> identity
        of the prompt, UNSAFE verdicts, verdicts; on the anchors of the first look.
    facts : dict
        Identities of judge, policy and data, as of the baseline.
    foretold : tuple of Foretold
        Without a change, and with the drift.
    """

    layout: str = _LAYOUT
    baseline: str
    ledger_head: str
    alpha: float
    power: float
    drift: float
    calls: int
    ends: tuple[int, ...]
    anchors: tuple[Anchor, ...]
    n_items: int
    chosen_by: str
    wordings: dict[str, dict[str, tuple[str, int, int]]]
    facts: dict[str, Any]
    foretold: tuple[Foretold, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Items in the order of asking."""
        return tuple(a.key for a in self.anchors)

    def sample(self) -> Sample:
        """Return the anchors as arrays."""

        def ints(name: str) -> IntArray1D:
            return np.array([getattr(a, name) for a in self.anchors], dtype=np.int64)

        weights = np.array([a.weight for a in self.anchors], dtype=np.float64)
        return Sample(ints("gold"), ints("unsafe"), ints("valid"), weights)

    def begin_of(self, look: int) -> int:
        """Return how many anchors were asked before a look."""
        return self.ends[look - 1] if look else 0


def freeze(
    run: Path | str,
    *,
    drift: float = 0.06,
    power: float = 0.9,
    alpha: float = 0.05,
    calls: int = 1,
    items: int | None = None,
    nights: int = 400,
    seed: int = 0,
) -> Anchors:
    """Choose the anchors of all nights to come, as few as the wanted power needs.

    Parameters
    ----------
    run : path
        The baseline: a full audit, whose ledger is here.
    drift : float
        A worsening of the error rate that must be found, and that a pass rules out.
    power, alpha : float
        Chance that it is found on one night, and of a false alarm on one.
    calls : int
        Base calls an anchor.
    items : int, optional
        So many anchors instead of as many as are needed.
    nights : int
        Simulated for each size that is tried.
    seed : int
        Of the draw and the simulation.

    Returns
    -------
    Anchors

    Raises
    ------
    ConfigError
        If the run has fewer than two base calls an item, or no labels.
    """
    side = load(run)
    table = side.verdicts
    base = table.counts("base")
    there = np.flatnonzero((base.valid > 0) & (table.gold >= 0))
    if not there.size:
        raise ConfigError(
            "has no labelled item with a base verdict, so nights cannot be held against it",
            where=str(run),
        )
    if int(base.valid.max(initial=0)) < 2:
        raise ConfigError(
            "has one base call an item, so a change cannot be told from jitter",
            where=str(run),
            mend="Take a baseline of -K 3 or more",
        )
    split, words = _split(side)
    order = np.array([stable_seed(seed, "anchor", k) / 2**64 for k in table.items])
    every = Sample(
        table.gold.astype(np.int64),
        base.unsafe,
        base.valid,
        np.ones(table.n_items),
    )

    def design(n: int) -> tuple[IntArray1D, Sample, tuple[int, ...]]:
        at, weights = draw(split[there], table.gold[there].astype(np.int64), order[there], n)
        part = every.part(there[at])
        sample = Sample(part.gold, part.unsafe, part.valid, weights)
        ends = tuple(max(1, round(f * at.size)) for f in FRACTIONS)
        return there[at], sample, ends

    def tried(n: int, planted: float) -> Foreseen:
        _, sample, ends = design(n)
        return foresee(
            sample,
            ends,
            drift=drift,
            planted=planted,
            alpha=alpha,
            nights=nights,
            calls=calls,
            seed=seed,
        )

    # a simulated share that happens to reach the power has not shown it
    wanted: float = power + (power * (1 - power) / nights) ** 0.5

    def enough(n: int) -> bool:
        return min(tried(n, drift).fails, tried(n, 0.0).passes) >= wanted

    n = items or _least([s for s in _SIZES if s < there.size] + [int(there.size)], enough)
    at, sample, ends = design(n)
    keys = [table.items[k] for k in at.tolist()]
    prompts = prompts_of(load_ledger(run), keys)
    first = set(keys[: ends[0]])
    return Anchors(
        baseline=str(run),
        ledger_head=side.facts.ledger_head if side.table is not None else "",
        alpha=alpha,
        power=power,
        drift=drift,
        calls=calls,
        ends=ends,
        anchors=tuple(
            Anchor(
                key=k,
                gold=int(sample.gold[j]),
                weight=float(sample.weights[j]),
                unsafe=int(sample.unsafe[j]),
                valid=int(sample.valid[j]),
                trajectory=side.trajectories.get(k, ""),
                prompt=prompts[("base", 0)].get(k, ""),
            )
            for j, k in enumerate(keys)
        ),
        n_items=int(there.size),
        chosen_by=words,
        wordings=_wordings(side, prompts, first),
        facts=facts_of(side),
        foretold=tuple(
            Foretold(planted=p, fails=f.fails, passes=f.passes, calls=f.calls, nights=f.nights)
            for p in (0.0, drift)
            for f in [tried(n, p)]
        ),
    )


def _least(sizes: list[int], enough: Callable[[int], bool]) -> int:
    """Return the first size that is enough, or the last; more anchors never find less."""
    low, high = 0, len(sizes) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(sizes[middle]) else (middle + 1, high)
    return sizes[low]


def _split(side: Side) -> tuple[Any, str]:
    """Say of each item whether verdicts under reworded policies were split; never by base calls."""
    table = side.verdicts
    reworded = [c.id for c in side.protocol.conditions if c.kind in {"certified", "near"}]
    unsafe = np.zeros(table.n_items, dtype=np.int64)
    valid = np.zeros(table.n_items, dtype=np.int64)
    for condition in reworded:
        found = table.counts(condition)
        unsafe, valid = unsafe + found.unsafe, valid + found.valid
    if not valid.any():
        return np.zeros(table.n_items, dtype=bool), "labels alone: the baseline has no rewordings"
    words = f"labels, and whether verdicts under {', '.join(reworded)} were split"
    return (unsafe > 0) & (unsafe < valid), words


def _wordings(
    side: Side, prompts: Mapping[tuple[str, int], Mapping[str, str]], keys: set[str]
) -> dict[str, dict[str, tuple[str, int, int]]]:
    """Keep what the baseline said under every other condition that is no control."""
    table, out = side.verdicts, {}
    for condition in side.protocol.conditions:
        if condition.id == "base" or condition.kind == "control":
            continue
        known = prompts.get((condition.id, 0), {})
        counts = table.column_counts(
            [j for j, c in enumerate(table.columns) if c == (condition.id, 0)]
        )
        out[condition.id] = {
            k: (known[k], int(counts.unsafe[j]), int(counts.valid[j]))
            for j, k in enumerate(table.items)
            if k in keys and k in known
        }
    return out


def load_ledger(run: Path | str) -> Path:
    """Return the ledger of a run, given it or its folder."""
    place = Path(run)
    return place / LEDGER if place.is_dir() else place


def prompts_of(ledger: Path, keys: Iterable[str]) -> dict[tuple[str, int], dict[str, str]]:
    """Read the identity of each prompt of a run: (condition, wording) -> item -> hash."""
    from judgeaudit.engine.chain import plain_text
    from judgeaudit.engine.ledger import Ledger

    wanted = set(keys)
    out: dict[tuple[str, int], dict[str, str]] = {}
    with Ledger.open_readonly(ledger) as view:
        rows = view.connection.execute(
            "SELECT o.condition, o.wording, i.key, lower(hex(e.prompt_sha256)) FROM cells e "
            "JOIN items i ON i.id = e.item JOIN columns o ON o.id = e.col"
        )
        for condition, wording, key, digest in rows:
            item = plain_text(key)
            if item in wanted:
                out.setdefault((str(condition), int(wording)), {})[item] = str(digest)
    return out


def facts_of(side: Side) -> dict[str, Any]:
    """Return what a cause of a change is read off, as plain values."""
    facts = side.facts
    return {
        "judge": facts.judge.model_dump(mode="json"),
        "served": sorted(facts.served_models),
        "fingerprints": sorted(side.fingerprints),
        "policy": {"id": facts.policy.id, "sha256": facts.policy.sha256},
        "base text": side.texts.get("base 0", ""),
        "corpus": {"name": facts.corpus.name, "version": facts.corpus.version},
    }


def written(record: Record) -> str:
    """Write a record as JSON; a key that UTF-8 cannot hold is escaped. Anchors carry a seal."""
    body = record.model_dump()
    if isinstance(record, Anchors):
        body[_SEAL] = _sealed(json.loads(json.dumps(body)))
    return json.dumps(body, indent=1)


def _sealed(body: Mapping[str, Any]) -> str:
    """Hash all other fields, whatever their order and spacing in the file."""
    rest = {k: v for k, v in body.items() if k != _SEAL}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode("ascii")).hexdigest()


def _unsealed(body: object, path: Path) -> object:
    """Return what the seal closes; refuse a design that was changed since it was frozen."""
    if not isinstance(body, dict) or "anchors" not in body:
        return body
    if body.get(_SEAL) != _sealed(body):
        said = "was changed since it was frozen" if _SEAL in body else f"has no {_SEAL!r} of itself"
        raise ConfigError(
            f"{said}, so its error rates hold no longer",
            where=str(path),
            mend=f"judgeaudit nightly freeze RUN --anchors {path}",
        )
    return {k: v for k, v in body.items() if k != _SEAL}


def read_anchors(path: Path) -> Anchors:
    """Read a frozen design.

    Raises
    ------
    ConfigError
        If there is none, it was changed by hand, or the file is something else.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ConfigError(
            f"cannot be read ({error.strerror or error})",
            where=str(path),
            mend=f"judgeaudit nightly freeze RUN --anchors {path}",
        ) from error
    try:
        made = Anchors.model_validate(_unsealed(json.loads(text), path))
    except ValueError as error:
        said = f"{error.error_count()} faults" if isinstance(error, ValidationError) else error
        raise ConfigError(
            f"holds no frozen anchors ({said})",
            where=str(path),
            mend="judgeaudit nightly freeze RUN",
        ) from error
    if made.layout != _LAYOUT:
        raise ConfigError(
            f"is of layout {made.layout!r}, not {_LAYOUT!r}", where=str(path), mend="Freeze again"
        )
    return made
