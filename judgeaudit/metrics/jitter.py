"""Jitter: how often two calls with the identical prompt disagree."""

from __future__ import annotations

from dataclasses import replace

from judgeaudit.metrics._estimate import Estimate, item_mean, to_score
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import View
from judgeaudit.stats._types import IntArray1D, Undefined, limits
from judgeaudit.stats.adjusted_t import adjusted_t
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.intervals import clopper_pearson_upper
from judgeaudit.stats.pairs import ItemValues

__all__ = ["jitter", "jitter_rate"]

_ONE_CALL = "one call an item"


def jitter_rate(
    values: ItemValues, clusters: IntArray1D, *, level: float = 0.95, why: str = _ONE_CALL
) -> Estimate:
    """Share of pairs of repeats that disagree, averaged over items.

    Parameters
    ----------
    values : ItemValues
        Jitter of each item (`stats.pairs.jitter`), arrays of shape (n_items,).
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Confidence level.
    why : str
        The reason, should no item have two verdicts.

    Returns
    -------
    Estimate
        Fraction of pairs of repeats, 0 to 1, lower is steadier. Wilson's interval over clusters,
        widened to exact bounds; `am_t_low` and `am_t_high` are the adjusted t, and, where no pair
        disagreed, `zero_event_upper` is the exact one-sided bound.

    References
    ----------
    Hoeffding 1948; estimators.md, section 1.

    Examples
    --------
    >>> import numpy as np
    >>> from judgeaudit.core.table import Counts
    >>> from judgeaudit.stats import pairs
    >>> counts = Counts(np.array([0, 1, 3]), np.array([3, 3, 3]), np.array([0, 0, 0]))
    >>> estimate = jitter_rate(pairs.jitter(counts), np.arange(3))
    >>> round(estimate.value, 4), estimate.n_items
    (0.2222, 3)
    """
    estimate = item_mean(values, clusters, level=level, why=why, interval="rare")
    if isinstance(estimate.value, Undefined):
        return estimate
    sums = cluster_sums(values.values[values.defined], clusters[values.defined])
    low, high = limits(adjusted_t(sums, level=level))
    detail: dict[str, float | None] = {"am_t_low": low, "am_t_high": high}
    if not values.total:
        detail["zero_event_upper"] = clopper_pearson_upper(0, estimate.n_clusters, level=level)
    return replace(estimate, detail=detail)


@METRICS.register("jitter")
def jitter(view: View) -> Report:
    """Jitter of every condition."""
    return Report(
        tuple(
            to_score(
                jitter_rate(
                    view.jitter(c.id),
                    view.clusters,
                    level=view.level,
                    why=_ONE_CALL
                    if view.counts(c.id).failed.max(initial=0) == 0
                    else "no item has two verdicts",
                ),
                metric="jitter",
                condition=c.id,
                unit="fraction of pairs of repeats",
                better="lower",
                excluded=view.excluded([c.id]),
            )
            for c in view.conditions
        )
    )
