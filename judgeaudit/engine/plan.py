"""The plan of calls: counted, priced and put in seeded random order before the first call."""

from __future__ import annotations

import functools
import hashlib
import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.core.records import (
    Call,
    Condition,
    Item,
    JudgePrompt,
    JudgeSpec,
    Protocol,
    Rendering,
    Trajectory,
)
from judgeaudit.engine.estimate import Estimate, Price, TokenCounter, make_estimate

__all__ = ["MOST_CALLS", "Column", "Plan", "PromptOf", "Vacuum", "build_plan"]

PromptOf = Callable[[Item, Rendering], JudgePrompt]
"""Makes the prompt of an item under a rendering; the same arguments give the same prompt."""

Vacuum = Callable[[Trajectory], Trajectory]
"""Makes the harmless trajectory that stands in for a given one."""

MOST_CALLS: Final = 10_000_000
"""Calls of one run at most: a mistyped number of repeats must not fill the memory."""

_SHA_BYTES: Final = 32
_PROMPTS_KEPT: Final = 512


@dataclass(frozen=True, slots=True)
class Column:
    """One (condition, wording) and the rendering that words it."""

    condition: Condition
    wording: int
    rendering: Rendering


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """All calls of an audit, in the order in which they are asked.

    A call is named by its position, 0 .. n_calls - 1. Its cell is
    `item index * n_columns + column index`, over items sorted by key.

    Parameters
    ----------
    items : tuple of Item
        Sorted by key.
    columns : tuple of Column
        Conditions in the protocol's order, each with its wordings.
    protocol, judge
        What was planned, and who is asked.
    cells : array of int64, shape (n_calls,)
        Cell of each call.
    repeats : array of int64, shape (n_calls,)
        Repeat index of each call, 0 .. K-1 under `base`, 0 .. L-1 elsewhere.
    digests : bytes
        The sha256 of the prompt of each cell, 32 bytes a cell, zeros for a cell without calls.
    estimate : Estimate
        Calls, tokens and price, before the first call.
    prompt_of : PromptOf
        Rebuilds a prompt when it is needed; prompts are not kept.
    vacuum : Vacuum, optional
        Makes what stands in for the trajectory under conditions that change it.
    """

    items: tuple[Item, ...] = field(repr=False)
    columns: tuple[Column, ...] = field(repr=False)
    protocol: Protocol
    judge: JudgeSpec
    cells: NDArray[np.int64]
    repeats: NDArray[np.int64]
    digests: bytes = field(repr=False)
    estimate: Estimate
    prompt_of: PromptOf = field(repr=False)
    vacuum: Vacuum | None = field(default=None, repr=False)
    judge_sha256: str = field(init=False)
    _prompt_of_cell: Callable[[int], JudgePrompt] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Freeze the arrays, and keep the prompts used last."""
        for name in ("cells", "repeats"):
            # shared memory of another process is read-only already
            if getattr(self, name).flags.writeable:
                getattr(self, name).flags.writeable = False
        object.__setattr__(self, "judge_sha256", self.judge.sha256)
        keep = functools.lru_cache(maxsize=_PROMPTS_KEPT)
        object.__setattr__(self, "_prompt_of_cell", keep(self._checked_prompt))

    def __reduce__(self) -> tuple[Any, ...]:
        """Take a plan to another process without the prompts that are kept."""
        kept = tuple(getattr(self, f.name) for f in fields(self) if f.init)
        return Plan, kept

    @property
    def n_calls(self) -> int:
        """Number of planned calls."""
        return int(self.cells.size)

    @property
    def counts(self) -> dict[str, int]:
        """Planned calls by condition id."""
        return dict(self.estimate.by_condition)

    def place(self, cell: int) -> tuple[Item, Column]:
        """Return the item and the column of a cell."""
        i, j = divmod(cell, len(self.columns))
        return self.items[i], self.columns[j]

    def planned_cells(self) -> list[int]:
        """Return the cells that have calls, ascending."""
        return [int(c) for c in np.unique(self.cells)]

    def prompt_sha256(self, cell: int) -> str:
        """Return the identity of a cell's prompt."""
        return self.digests[cell * _SHA_BYTES : (cell + 1) * _SHA_BYTES].hex()

    def call(self, position: int) -> Call:
        """Return the call at a position."""
        cell = int(self.cells[position])
        item, column = self.place(cell)
        return Call(
            item=item.key,
            condition=column.condition.id,
            wording=column.wording,
            repeat=int(self.repeats[position]),
            prompt_sha256=self.prompt_sha256(cell),
            judge_sha256=self.judge_sha256,
        )

    def prompt(self, position: int) -> JudgePrompt:
        """Rebuild the prompt of the call at a position.

        Raises
        ------
        ConfigError
            If it is no longer the prompt that was planned.
        """
        return self._prompt_of_cell(int(self.cells[position]))

    def _checked_prompt(self, cell: int) -> JudgePrompt:
        item, column = self.place(cell)
        prompt = self.prompt_of(_shown(item, column.condition, self.vacuum), column.rendering)
        if prompt.sha256 != self.prompt_sha256(cell):
            raise ConfigError(
                "the prompt changed between planning and asking",
                where=f"item {item.key}, condition {column.condition.id}",
                mend="A prompt may depend on nothing but the item and the rendering",
            )
        return prompt

    @property
    def sha256(self) -> str:
        """Identity of the plan: who is asked what, how often, in which order."""
        digest = hashlib.sha256(self.judge_sha256.encode())
        for item in self.items:
            digest.update(item.key.encode("utf-8", "surrogatepass") + b"\0")
        for column in self.columns:
            digest.update(f"\1{column.condition.id}\0{column.wording}".encode())
        for array in (self.cells, self.repeats):
            digest.update(array.astype("<i8").tobytes())
        digest.update(self.digests)
        return digest.hexdigest()


def _shown(item: Item, condition: Condition, vacuum: Vacuum | None) -> Item:
    if condition.side == "policy":
        return item
    if vacuum is None:
        from judgeaudit.policy import prompts

        vacuum = prompts.vacuum_trajectory
    return item.model_copy(update={"trajectory": vacuum(item.trajectory)})


def _lay_columns(protocol: Protocol, renderings: Iterable[Rendering]) -> tuple[Column, ...]:
    by = {(r.condition, r.wording): r for r in renderings}
    base = by.get(("base", 0))
    columns: list[Column] = []
    for condition in protocol.conditions:
        found = [
            Column(condition, w, by[condition.id, w])
            for w in range(protocol.wordings)
            if (condition.id, w) in by
        ]
        # the placebo and conditions on the trajectory say the base text
        if (
            not found
            and base is not None
            and (condition.kind == "placebo" or condition.side == "trajectory")
        ):
            found = [Column(condition, 0, base)]
        if not found:
            raise ConfigError(
                f"condition {condition.id!r} has no rendering of this policy",
                mend="Render the policy under it, or leave the condition out",
            )
        columns += found
    return tuple(columns)


def _hash64(*parts: str | int) -> int:
    text = "\0".join(str(p) for p in parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def _mix(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit words (splitmix64, Steele, Lea & Flood 2014)."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _shuffle_keys(words: NDArray[np.uint64], repeats: NDArray[np.int64]) -> NDArray[np.uint64]:
    steps = (repeats.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    return _mix(words + steps)


def _control_items(items: Sequence[Item], protocol: Protocol) -> frozenset[int]:
    n = protocol.control_items
    if n is None or n >= len(items):
        return frozenset(range(len(items)))
    rank = sorted(range(len(items)), key=lambda k: _hash64(protocol.seed, "control", items[k].key))
    return frozenset(rank[:n])


def _sorted_items(items: Iterable[Item]) -> tuple[Item, ...]:
    out = tuple(sorted(items, key=lambda i: i.key))
    if not out:
        raise CorpusError("there is no item to ask about")
    for a, b in itertools.pairwise(out):
        if a.key == b.key:
            raise CorpusError("two items have the same key", where=a.key)
    return out


def _check_size(
    items: Sequence[Item],
    columns: Sequence[Column],
    controls: frozenset[int],
    repeats_of: Sequence[int],
) -> None:
    """Refuse a plan that no machine could hold, before it is laid out."""
    n = sum(
        times * len(controls if column.condition.kind == "control" else items)
        for column, times in zip(columns, repeats_of, strict=True)
    )
    if n > MOST_CALLS:
        raise ConfigError(
            f"the plan has {n:,} calls, more than the {MOST_CALLS:,} that one run can hold",
            mend="Ask for fewer repeats (base_repeats, repeats), items or conditions",
        )


def build_plan(
    items: Iterable[Item],
    renderings: Iterable[Rendering],
    protocol: Protocol,
    judge_spec: JudgeSpec,
    prompt_of: PromptOf,
    *,
    vacuum: Vacuum | None = None,
    count_tokens: TokenCounter | None = None,
    price: Price | None = None,
    by_item: bool = False,
) -> Plan:
    """Lay out every call of an audit, in seeded random order.

    Calls of all items and conditions are mixed, so that a drift of the model in mid-run cannot
    look like an effect of a condition. The place of two calls relative to each other depends on
    the seed and on their own keys alone, not on the order in which items came in.

    Parameters
    ----------
    items : iterable of Item
        Keys are unique.
    renderings : iterable of Rendering
        Of one policy. A placebo and conditions on the trajectory may lack one: they say `base`.
    protocol : Protocol
        Conditions, repeats, controls and seed.
    judge_spec : JudgeSpec
        Who is asked.
    prompt_of : callable
        (item, rendering) -> JudgePrompt; called once a cell here, and again when a call is made.
    vacuum : callable, optional
        Trajectory -> the harmless one shown instead under conditions whose side is "trajectory";
        `policy.prompts.vacuum_trajectory` by default.
    count_tokens : callable, optional
        JudgePrompt -> tokens; without it tokens are estimated as characters / 4.
    price : Price, optional
        US dollars a token; without it the cost is unknown, not 0.
    by_item : bool
        Whether items come one after the other, in seeded random order, with the calls of each
        mixed: for runs that stop as soon as enough items are known.

    Returns
    -------
    Plan
        Frozen.

    Raises
    ------
    CorpusError
        If there is no item, or two items have one key.
    ConfigError
        If a condition has no rendering, or the calls are more than `MOST_CALLS`.
    """
    ordered = _sorted_items(items)
    columns = _lay_columns(protocol, renderings)
    controls = _control_items(ordered, protocol)
    width = len(columns)
    repeats_of = [
        protocol.base_repeats if c.condition.kind == "reference" else protocol.repeats
        for c in columns
    ]
    _check_size(ordered, columns, controls, repeats_of)
    digests = bytearray(_SHA_BYTES * len(ordered) * width)
    tokens = [0] * width
    basis = count_tokens or _characters
    words = np.zeros(len(ordered) * width, dtype=np.uint64)
    depth = np.zeros(len(ordered) * width, dtype=np.int64)
    for i, item in enumerate(ordered):
        for j, column in enumerate(columns):
            if column.condition.kind == "control" and i not in controls:
                continue
            cell = i * width + j
            prompt = prompt_of(_shown(item, column.condition, vacuum), column.rendering)
            at = cell * _SHA_BYTES
            digests[at : at + _SHA_BYTES] = bytes.fromhex(prompt.sha256)
            tokens[j] += basis(prompt) * repeats_of[j]
            depth[cell] = repeats_of[j]
            words[cell] = _hash64(protocol.seed, item.key, column.condition.id, column.wording)
    cells = np.repeat(np.arange(depth.size, dtype=np.int64), depth)
    starts = np.repeat(np.cumsum(depth) - depth, depth)
    repeats = np.arange(cells.size, dtype=np.int64) - starts
    keys = _shuffle_keys(words[cells], repeats)
    order = np.argsort(keys, kind="stable")
    if by_item:
        ranks = np.array([_hash64(protocol.seed, "item", i.key) for i in ordered], np.uint64)
        order = np.lexsort((keys, cells // width, ranks[cells // width]))
    calls_of = {
        c.id: int(
            sum(depth[j::width].sum() for j in range(width) if columns[j].condition.id == c.id)
        )
        for c in protocol.conditions
    }
    return Plan(
        items=ordered,
        columns=columns,
        protocol=protocol,
        judge=judge_spec,
        cells=cells[order],
        repeats=repeats[order],
        digests=bytes(digests),
        estimate=make_estimate(
            calls_of,
            tokens=sum(tokens),
            counted=count_tokens is not None,
            decoding=judge_spec.decoding,
            price=price,
        ),
        prompt_of=prompt_of,
        vacuum=vacuum,
    )


def _characters(prompt: JudgePrompt) -> int:
    """Estimate tokens as a quarter of the characters, rounded up."""
    return -(-sum(len(m.content) for m in prompt.messages) // 4)
