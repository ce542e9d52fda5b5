"""What a pilot run tells a planner: the judge's jitter, and what a call costs and takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import Protocol
from judgeaudit.metrics._estimate import Estimate
from judgeaudit.metrics.delta import excess_flip_rate
from judgeaudit.metrics.jitter import jitter_rate
from judgeaudit.stats import pairs
from judgeaudit.stats._types import Interval, Undefined, limits
from judgeaudit.stats.adjusted_t import adjusted_t
from judgeaudit.stats.clusters import cluster_sums

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from judgeaudit.engine.estimate import Price
    from judgeaudit.engine.view import LedgerView

__all__ = ["CallCost", "Pilot", "read_pilot"]


@dataclass(frozen=True, slots=True)
class CallCost:
    """What one call costs and takes; None: not known, which is not 0.

    Parameters
    ----------
    least, most : float, optional
        US dollars; equal where they were paid, else for the prompt alone and with the longest
        answer.
    seconds : float, optional
        Wall-clock time of a call.
    note : str
        Where the figures come from.
    """

    least: float | None = None
    most: float | None = None
    seconds: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Pilot:
    """What a run showed that a larger one is planned from.

    Parameters
    ----------
    jitter, low, high : float
        Jitter under base, with its interval.
    effect : float, optional
        Excess flip rate of the certified pool (the paper's), as found.
    n_items, n_clusters : int
        What it rests on.
    design_effect : float
        Variance of that rate over clusters over the one of as many unrelated items, at least 1.
    protocol : Protocol
        Its conditions and repeats.
    cost : CallCost
        Mean over its answered calls.
    judge : str
        Backend and model.
    """

    jitter: float
    low: float | None
    high: float | None
    effect: float | None
    n_items: int
    n_clusters: int
    design_effect: float
    protocol: Protocol
    cost: CallCost
    judge: str


def read_pilot(view: LedgerView, price: Price | None = None) -> Pilot:
    """Read what a run shows; it may be unfinished.

    Parameters
    ----------
    view : LedgerView
        Its ledger.
    price : Price, optional
        A price that the user states: it counts before what was recorded.

    Raises
    ------
    ConfigError
        If no item has two verdicts under base, so that jitter is not known.
    """
    table, protocol = view.table(), view.meta.protocol
    base = table.counts("base")
    noise = jitter_rate(pairs.jitter(base), table.clusters, level=protocol.level)
    if isinstance(noise.value, Undefined):
        raise ConfigError(
            "no item of this run has two verdicts under base, so its jitter is not known",
            where=str(view.path),
            mend="Run a pilot with two or more base calls (-K 3), or assume a jitter (--jitter)",
        )
    certified = [c.id for c in protocol.conditions if c.kind == "certified"]
    parts = [pairs.delta_paper(base, table.counts(c)) for c in certified]
    pooled = pairs.average(parts, table.n_items)
    found = excess_flip_rate(pooled, table.clusters, level=protocol.level)
    ends = limits(noise.interval)
    return Pilot(
        jitter=noise.value,
        low=ends[0],
        high=ends[1],
        effect=None if isinstance(found.value, Undefined) else found.value,
        n_items=noise.n_items,
        n_clusters=noise.n_clusters,
        design_effect=_design_effect(pooled, table.clusters, found),
        protocol=protocol,
        cost=_cost(view, price),
        judge=f"{view.meta.judge.backend}:{view.meta.judge.model}",
    )


def _design_effect(pooled: pairs.ItemValues, clusters: NDArray[np.int64], found: Estimate) -> float:
    """Compare the squared widths of the interval over clusters and of one over items."""
    if isinstance(found.interval, Undefined):
        return 1.0
    import numpy as np

    values = pooled.values[pooled.defined]
    alone = adjusted_t(cluster_sums(values, np.arange(values.size)))
    over = adjusted_t(cluster_sums(values, clusters[pooled.defined]))
    if not isinstance(alone, Interval) or not isinstance(over, Interval):
        return 1.0
    return max(1.0, ((over.high - over.low) / (alone.high - alone.low)) ** 2)


def _cost(view: LedgerView, price: Price | None) -> CallCost:
    facts = view.facts()
    n = facts.n_answered
    (seconds,) = view.connection.execute("SELECT avg(seconds) FROM verdicts").fetchone()
    sent, got = facts.prompt_tokens, facts.completion_tokens
    if n and price is not None and sent is not None and got is not None:
        each = (sent * price.prompt + got * price.completion) / n
        return CallCost(each, each, seconds, f"stated prices, on the tokens of {n:,} pilot calls")
    if not n or facts.cost is None:
        return CallCost(seconds=seconds, note=facts.cost_note)
    each = facts.cost / n
    return CallCost(each, each, seconds, f"mean of {n:,} pilot calls")
