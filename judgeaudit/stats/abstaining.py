"""When to abstain: a threshold for a penalty, or one chosen so that the risk stays bounded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.clusters import ClusterSums, cluster_sums, n_distinct
from judgeaudit.stats.intervals import (
    clopper_pearson_upper,
    clustered_wilson,
    effective_number,
)

__all__ = [
    "OperatingPoint",
    "Penalised",
    "expected_gain",
    "operating_point",
    "penalised",
    "penalty_threshold",
    "risk_upper",
]

_FEWEST: Final = 4
"""Clusters below which nothing is left to test on."""


def penalty_threshold(penalty: float) -> float:
    """Confidence above which answering pays, when a wrong answer costs `penalty` right ones.

    Parameters
    ----------
    penalty : float
        0 or larger.

    Returns
    -------
    float
        penalty / (1 + penalty).

    Raises
    ------
    ValueError
        For a negative penalty.

    Examples
    --------
    >>> penalty_threshold(3)
    0.75
    """
    if penalty < 0:
        raise ValueError("a penalty is 0 or larger")
    return penalty / (1 + penalty)


def expected_gain(confidence: float, penalty: float) -> float:
    """Points that answering earns on average, c - (1 - c) penalty; abstaining earns 0.

    Examples
    --------
    >>> expected_gain(0.75, 3)
    0.0
    """
    return confidence - (1 - confidence) * penalty


@dataclass(frozen=True, slots=True)
class Penalised:
    """What a judge earns that abstains where it is not confident enough.

    Parameters
    ----------
    value : float
        Points a case: 1 right, -penalty wrong, 0 abstained.
    interval : Interval or Undefined
        Over clusters.
    right, wrong, abstained : int
        Cases of each kind; never added up into one.
    always : float
        Points a case if it always answered.
    n_clusters : int
        Clusters of the cases.
    """

    value: float
    interval: Interval | Undefined
    right: int
    wrong: int
    abstained: int
    always: float
    n_clusters: int


def penalised(
    confidence: FloatArray1D,
    wrong: BoolArray1D,
    clusters: IntArray1D,
    *,
    penalty: float,
    level: float = 0.95,
) -> Penalised | Undefined:
    """Score verdicts with a penalty for wrong ones; those not confident enough are abstentions.

    Parameters
    ----------
    confidence : array of float, shape (n,)
        Of each verdict in its own label, 0 to 1. It answers where this is larger than
        penalty / (1 + penalty).
    wrong : array of bool, shape (n,)
        Whether the verdict differs from the label.
    clusters : array of int, shape (n,)
        Cluster index of each case.
    penalty : float
        What a wrong answer costs, in right ones.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Penalised or Undefined
        Undefined for no case.

    References
    ----------
    estimators.md, section 12.
    """
    from judgeaudit.stats.adjusted_t import adjusted_t

    if not confidence.size:
        return Undefined("no case")
    answered = confidence > penalty_threshold(penalty)
    points = np.where(answered, np.where(wrong, -penalty, 1.0), 0.0)
    unit = max(1.0, penalty)
    inner = adjusted_t(cluster_sums(points / unit, clusters), level=level)
    value = float(points.mean())
    interval: Interval | Undefined = inner
    if isinstance(inner, Interval):
        low, high = max(-penalty, unit * inner.low), min(1.0, unit * inner.high)
        interval = Interval(min(low, value), max(high, value), level, inner.method)
    return Penalised(
        value=value,
        interval=interval,
        right=int(np.count_nonzero(answered & ~wrong)),
        wrong=int(np.count_nonzero(answered & wrong)),
        abstained=int(np.count_nonzero(~answered)),
        always=float(np.where(wrong, -penalty, 1.0).mean()),
        n_clusters=n_distinct(clusters),
    )


def risk_upper(sums: ClusterSums, *, level: float = 0.95) -> float:
    """One-sided upper bound of a selective risk: exact, on the effective number of cases.

    Parameters
    ----------
    sums : ClusterSums
        Errors and answered cases of each cluster.
    level : float
        One-sided confidence level.

    Returns
    -------
    float
        1 where nothing is answered. Where nothing is wrong, clusters are the cases.
    """
    if sums.n <= 0:
        return 1.0
    number = effective_number(sums, level=level) if sums.total > 0 else float(sums.n_clusters)
    return clopper_pearson_upper(sums.total / sums.n * number, number, level=level)


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    """A threshold chosen on one half of the clusters, and what it does on the other.

    Parameters
    ----------
    threshold : float
        It answers from this confidence up.
    chosen_coverage, chosen_risk, chosen_upper : float
        On the half on which it was chosen.
    coverage, risk : float, Undefined
        On the other half; risk is undefined where nothing is answered there.
    coverage_interval, risk_interval : Interval or Undefined
        Of these, over clusters.
    upper : float
        One-sided bound of the risk on the other half.
    kept : bool
        Whether that bound, too, is within the target.
    right, wrong, abstained : int
        Cases of the other half.
    n_clusters : int
        Clusters of the other half.
    """

    threshold: float
    chosen_coverage: float
    chosen_risk: float
    chosen_upper: float
    coverage: float
    risk: float | Undefined
    coverage_interval: Interval | Undefined
    risk_interval: Interval | Undefined
    upper: float
    kept: bool
    right: int
    wrong: int
    abstained: int
    n_clusters: int


def operating_point(
    confidence: FloatArray1D,
    wrong: BoolArray1D,
    clusters: IntArray1D,
    *,
    target: float,
    seed: int = 0,
    level: float = 0.95,
) -> OperatingPoint | Undefined:
    """Choose the highest coverage whose risk is bounded by a target; test it on other clusters.

    The choice looks at many thresholds, so its own bound is optimistic; the bound that counts is
    that of the half that had no part in it.

    Parameters
    ----------
    confidence : array of float, shape (n,)
        Of each verdict in its own label.
    wrong : array of bool, shape (n,)
        Whether the verdict differs from the label.
    clusters : array of int, shape (n,)
        Cluster index of each case.
    target : float
        Highest risk, a fraction of the answered cases.
    seed : int
        Seed of the split into halves, by cluster.
    level : float
        Level of the bounds (one-sided) and intervals (two-sided).

    Returns
    -------
    OperatingPoint or Undefined
        Undefined for fewer than four clusters, or where no threshold keeps the target.

    References
    ----------
    El-Yaniv and Wiener 2010, JMLR 11; decision note 0532.
    """
    names = np.unique(clusters, return_index=True)[0]  # by sorting, which is the quicker way
    if names.size < _FEWEST:
        return Undefined(f"fewer than {_FEWEST} clusters: no half is left to test on")
    first = np.random.default_rng(seed).permutation(names)[: (names.size + 1) // 2]
    mine = np.isin(clusters, first)
    best = _chosen(confidence[mine], wrong[mine], clusters[mine], target, level)
    if isinstance(best, Undefined):
        return best
    sure, bad, where = confidence[~mine], wrong[~mine], clusters[~mine]
    answered = sure >= best[0]
    hits = cluster_sums(bad[answered].astype(np.float64), where[answered])
    upper = risk_upper(hits, level=level)
    covered = cluster_sums(answered.astype(np.float64), where)
    nothing = Undefined("nothing is answered on the other half")
    return OperatingPoint(
        *best,
        coverage=covered.total / covered.n,
        risk=hits.total / hits.n if hits.n else nothing,
        coverage_interval=clustered_wilson(covered, level=level),
        risk_interval=clustered_wilson(hits, level=level) if hits.n else nothing,
        upper=upper,
        kept=upper <= target,
        right=int(np.count_nonzero(answered & ~bad)),
        wrong=int(np.count_nonzero(answered & bad)),
        abstained=int(np.count_nonzero(~answered)),
        n_clusters=covered.n_clusters,
    )


def _chosen(
    confidence: FloatArray1D,
    wrong: BoolArray1D,
    clusters: IntArray1D,
    target: float,
    level: float,
) -> tuple[float, float, float, float] | Undefined:
    """Find the lowest threshold whose bound is within the target, and its figures."""
    order = np.argsort(confidence, kind="stable")
    sure, bad, of = confidence[order], wrong[order].astype(np.float64), clusters[order]
    thresholds = sure[np.r_[True, sure[1:] != sure[:-1]]]
    if thresholds.size > _MOST:
        thresholds = np.unique(np.quantile(sure, np.linspace(0, 1, _MOST), method="lower"))
    above = np.searchsorted(sure, thresholds)
    errors = np.r_[0, np.cumsum(bad)]
    risk = (errors[-1] - errors[above]) / (sure.size - above)
    for k in np.flatnonzero(risk <= target).tolist():
        start = int(above[k])
        sums = cluster_sums(bad[start:], of[start:])
        upper = risk_upper(sums, level=level)
        if upper <= target:
            share = (sure.size - start) / sure.size
            return float(thresholds[k]), share, sums.total / sums.n, upper
    return Undefined(f"no threshold keeps the risk below {target:g} on the half it is chosen on")


_MOST: Final = 200
"""Thresholds that are tried; where confidence has more values, its quantiles."""
