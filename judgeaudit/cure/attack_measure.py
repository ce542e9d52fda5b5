"""What an attack gained, on clusters that the search never saw: arrays in, figures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgeaudit.core.records.attacked import Objective
from judgeaudit.core.table import Counts
from judgeaudit.cure.attack_search import Answers, gains
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.adjusted_t import adjusted_t
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.multiplicity import holm
from judgeaudit.stats.pairs import rate
from judgeaudit.stats.sign_flips import sign_p

__all__ = ["Measured", "measured"]


@dataclass(frozen=True, slots=True)
class Measured:
    """One wording on held-out items; see `Finalist`."""

    base: float | None = None
    wording: float | None = None
    gain: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str = ""
    p_value: float | None = None
    p_adjusted: float | None = None
    items: int = 0
    clusters: int = 0
    lost: int = 0
    lost_base: int = 0
    why: str | None = None


def measured(
    answers: Answers,
    finalists: Sequence[int],
    *,
    objective: Objective,
    gold: np.ndarray,
    clusters: np.ndarray,
    alpha: float = 0.05,
    seed: int = 0,
) -> dict[int, Measured]:
    """Measure wordings that were chosen elsewhere.

    Parameters
    ----------
    answers : Answers
        Fresh ones, on held-out items.
    finalists : sequence of int
        The wordings. Intervals hold for all of them together: each is at 1 - alpha / their number.
    gold, clusters : array of int, shape (n_items,)
        Of all items of the run.
    seed : int
        Of the sign-flip test, where it is not exact.

    Returns
    -------
    dict of int to Measured
    """
    level = 1 - alpha / max(1, len(finalists))
    found = {
        arm: _one(objective, (answers.base, answers.arms[arm]), gold, clusters, (level, seed))
        for arm in finalists
    }
    corrected: Mapping[str, float] = holm({str(a): m.p_value for a, m in found.items()})
    return {a: replace(m, p_adjusted=corrected.get(str(a))) for a, m in found.items()}


def _one(
    objective: Objective,
    both: tuple[Counts, Counts],
    gold: np.ndarray,
    clusters: np.ndarray,
    level_seed: tuple[float, int],
) -> Measured:
    base, other = both
    level, seed = level_seed
    values = gains(objective, base, other, gold)
    lost, lost_base = int(other.failed.sum()), int(base.failed.sum())
    there = values.defined
    if not there.any():
        return Measured(lost=lost, lost_base=lost_base, why="no held-out item has verdicts of both")
    sums = cluster_sums(values.values[there], clusters[there])
    gain = sums.total / sums.n
    # base against itself flips by jitter alone, and so has no excess
    before, after = 0.0, gain
    if objective != "excess":
        before, after = (float(rate(c).values[there].mean()) for c in both)
    made = Measured(
        base=before,
        wording=after,
        gain=gain,
        level=level,
        p_value=sign_p(sums, seed)[0],
        items=int(there.sum()),
        clusters=sums.n_clusters,
        lost=lost,
        lost_base=lost_base,
    )
    interval = adjusted_t(sums, level=level)
    if isinstance(interval, Undefined):
        return replace(made, why=interval.reason)
    # a gain is a share less a share: what lies beyond cannot be
    low, high = max(-1.0, interval.low), min(1.0, interval.high)
    return replace(made, low=low, high=high, method=interval.method)
