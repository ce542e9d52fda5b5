"""From numbers to Scores: one frozen result for all metrics, and its wrapper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from judgeaudit.core.records import Outcome
from judgeaudit.core.records.scores import Score
from judgeaudit.stats._types import IntArray1D, Interval, Undefined
from judgeaudit.stats.adjusted_t import adjusted_t
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.intervals import clustered_wilson
from judgeaudit.stats.pairs import ItemValues
from judgeaudit.stats.rare_wilson import rare_wilson

__all__ = ["Estimate", "PValue", "item_mean", "number", "to_score"]

Better = Literal["higher", "lower", "neither"]
Method = Literal["adjusted t", "Wilson", "rare"]

_METHODS = {"adjusted t": adjusted_t, "Wilson": clustered_wilson, "rare": rare_wilson}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number or the reason why there is none, with its interval or the reason.

    Parameters
    ----------
    value : float or Undefined
        The number.
    interval : Interval or Undefined
        Its interval.
    numerator, denominator : float, optional
        What was divided by what.
    n_items, n_clusters : int
        Items and clusters that it rests on.
    detail : mapping of str to float or None
        Companion numbers.
    """

    value: float | Undefined
    interval: Interval | Undefined
    numerator: float | None = None
    denominator: float | None = None
    n_items: int = 0
    n_clusters: int = 0
    detail: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PValue:
    """A p-value with the null hypothesis it belongs to.

    Parameters
    ----------
    value : float
        The p-value.
    null, method : str
        Null hypothesis and method in words.
    adjusted : float, optional
        After Holm's correction.
    """

    value: float
    null: str
    method: str
    adjusted: float | None = None


def item_mean(
    values: ItemValues,
    clusters: IntArray1D,
    *,
    level: float,
    why: str,
    interval: Method = "adjusted t",
) -> Estimate:
    """Unweighted mean over the items for which a value is defined.

    Parameters
    ----------
    values : ItemValues
        Arrays of shape (n_items,); in [-1, 1], for Wilson's intervals in [0, 1].
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Confidence level.
    why : str
        The reason, should no item be defined.
    interval : {"adjusted t", "Wilson", "rare"}
        The method; "rare" is Wilson's for events that are rare.

    Returns
    -------
    Estimate
    """
    mean = values.mean
    if mean is None:
        return Estimate(Undefined(why), Undefined(why))
    sums = cluster_sums(values.values[values.defined], clusters[values.defined])
    return Estimate(
        value=mean,
        interval=_METHODS[interval](sums, level=level),
        numerator=values.total,
        denominator=float(values.n),
        n_items=values.n,
        n_clusters=sums.n_clusters,
    )


def to_score(
    estimate: Estimate,
    *,
    metric: str,
    unit: str,
    better: Better,
    condition: str | None = None,
    treatment: str = "exclude",
    stratum: str | None = None,
    excluded: Mapping[Outcome, int] | None = None,
    p: PValue | None = None,
    note: str | None = None,
) -> Score:
    """Wrap an estimate as a Score.

    Parameters
    ----------
    estimate : Estimate
        The number.
    metric, unit, better, condition, treatment, stratum, excluded, note
        As in `Score`.
    p : PValue, optional
        A p-value that belongs to it.

    Returns
    -------
    Score
    """
    value, interval = estimate.value, estimate.interval
    ends = None if isinstance(interval, Undefined) else interval
    return Score(
        metric=metric,
        condition=condition,
        value=number(value),
        why_undefined=value.reason if isinstance(value, Undefined) else None,
        low=None if ends is None else ends.low,
        high=None if ends is None else ends.high,
        level=None if ends is None else ends.level,
        method="" if ends is None else ends.method,
        why_no_interval=interval.reason if isinstance(interval, Undefined) else None,
        numerator=estimate.numerator,
        denominator=estimate.denominator,
        n_items=estimate.n_items,
        n_clusters=estimate.n_clusters,
        excluded=dict(excluded or {}),
        unit=unit,
        better=better,
        treatment=treatment,
        stratum=stratum,
        p_value=None if p is None else p.value,
        p_adjusted=None if p is None else p.adjusted,
        p_method=None if p is None else p.method,
        null=None if p is None else p.null,
        detail=dict(estimate.detail),
        note=note,
    )


def number(value: float | Undefined | None) -> float | None:
    """Return a number for a detail field: None where undefined."""
    return None if value is None or isinstance(value, Undefined) else value
