"""Abstention: what a judge's errors come to if it answers only where it is confident.

Coverage is the share of cases it answers, risk the share of these that it gets wrong. Cases of
equal confidence have no order: inside such a block errors accrue linearly, which is the mean over
all orders.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.adjusted_t import adjusted_t
from judgeaudit.stats.clusters import cluster_sums, n_distinct

__all__ = [
    "Aurc",
    "Curve",
    "aurc",
    "aurc_trapezoid",
    "oracle_aurc",
    "oracle_aurc_limit",
    "risk_coverage",
]

NO_CASE = "no verdict has both a label to check it by and a confidence"


@dataclass(frozen=True, slots=True)
class Curve:
    """Risk at every coverage k / n, k = 1..n.

    Parameters
    ----------
    coverage, risk : array of float, shape (n,)
        Fractions; risk is the mean over all orders of tied cases.
    threshold : array of float, shape (n,)
        Confidence of the k-th case: answering from this confidence up reaches this coverage, or
        more where cases are tied.
    """

    coverage: FloatArray1D
    risk: FloatArray1D
    threshold: FloatArray1D


@dataclass(frozen=True, slots=True)
class Aurc:
    """Area under the risk-coverage curve, with what it is to be compared to.

    Parameters
    ----------
    value : float
        Mean of risk(k / n) over k = 1..n; lower is better. Not an error rate.
    oracle : float
        The same if all errors had the lowest confidence.
    chance : float
        The same, on average, if confidence had nothing to do with being right: the error rate.
    excess : float
        E-AURC, value less oracle.
    interval, excess_interval : Interval or Undefined
        Over clusters.
    n, errors : int
        Cases, and those that are wrong.
    n_clusters : int
        Clusters of the cases.
    """

    value: float
    oracle: float
    chance: float
    excess: float
    interval: Interval | Undefined
    excess_interval: Interval | Undefined
    n: int
    errors: int
    n_clusters: int


def _accrued(sure: FloatArray1D, wrong: BoolArray1D) -> FloatArray1D:
    """Return the expected errors among the first k cases, sorted by falling confidence."""
    errors = np.cumsum(wrong, dtype=np.float64)
    last = np.flatnonzero(np.r_[sure[1:] != sure[:-1], True])
    at = np.r_[0, last + 1]
    return np.interp(np.arange(1, sure.size + 1), at, np.r_[0.0, errors[last]])


def _area(sure: FloatArray1D, wrong: BoolArray1D) -> float:
    """Mean risk over all coverages, of cases sorted by falling confidence."""
    return float(np.mean(_accrued(sure, wrong) / np.arange(1, sure.size + 1)))


def risk_coverage(confidence: FloatArray1D, wrong: BoolArray1D) -> Curve:
    """Risk at every coverage.

    Parameters
    ----------
    confidence : array of float, shape (n,)
        Of each verdict in its own label; any scale, higher is surer.
    wrong : array of bool, shape (n,)
        Whether the verdict differs from the label.

    Returns
    -------
    Curve
        Empty for no case.

    References
    ----------
    El-Yaniv and Wiener 2010, JMLR 11; estimators.md, section 12.

    Examples
    --------
    >>> curve = risk_coverage(np.array([0.9, 0.9, 0.5]), np.array([True, False, False]))
    >>> curve.risk.round(3).tolist()
    [0.5, 0.5, 0.333]
    """
    if not confidence.size:
        nothing = np.empty(0)
        return Curve(nothing, nothing, nothing)
    order = np.argsort(-confidence, kind="stable")
    sure = confidence[order]
    errors = _accrued(sure, wrong[order])
    k = np.arange(1, sure.size + 1)
    return Curve(k / sure.size, errors / k, sure)


def oracle_aurc(n: int, errors: int) -> float:
    """AURC of n cases with these errors, all of the lowest confidence.

    Examples
    --------
    >>> round(oracle_aurc(10, 4), 4)
    0.1126
    """
    k = np.arange(n - errors + 1, n + 1)
    return float(np.sum((k - (n - errors)) / k)) / n


def oracle_aurc_limit(rate: float) -> float:
    """Limit of `oracle_aurc` for many cases, r + (1 - r) ln(1 - r); never mixed with it.

    References
    ----------
    Geifman, Uziel and El-Yaniv 2019, ICLR.
    """
    return 1.0 if rate >= 1 else rate + (1 - rate) * float(np.log1p(-rate))


def aurc_trapezoid(curve: Curve, *, per_width: bool = False) -> float:
    """Area by trapezoids between coverage 1 / n and 1: another convention, not reported.

    Parameters
    ----------
    curve : Curve
        Of two cases or more.
    per_width : bool
        Divide by the width of the range, 1 - 1 / n.
    """
    area = float(np.trapezoid(curve.risk, curve.coverage))
    return area / float(curve.coverage[-1] - curve.coverage[0]) if per_width else area


def aurc(
    confidence: FloatArray1D,
    wrong: BoolArray1D,
    clusters: IntArray1D,
    *,
    level: float = 0.95,
) -> Aurc | Undefined:
    """Area under the risk-coverage curve and its excess over the oracle, with intervals.

    The interval is the adjusted t of the cases' influences, summed over clusters: a case moves the
    area by being wrong, and by where it pushes others on the scale of coverage.

    Parameters
    ----------
    confidence : array of float, shape (n,)
        Of each verdict in its own label.
    wrong : array of bool, shape (n,)
        Whether the verdict differs from the label.
    clusters : array of int, shape (n,)
        Cluster index of each case.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Aurc or Undefined
        Undefined for no case.

    References
    ----------
    Geifman, Uziel and El-Yaniv 2019, ICLR; estimators.md, section 12; decision note 0532.

    Examples
    --------
    >>> found = aurc(np.array([0.9, 0.9, 0.9, 0.5]), np.array([0, 1, 0, 1], bool), np.arange(4))
    >>> found.value, found.chance
    (0.375, 0.5)
    """
    n = confidence.size
    if not n:
        return Undefined(NO_CASE)
    ranked = np.argsort(-confidence, kind="stable")
    value, errors = _area(confidence[ranked], wrong[ranked]), int(np.count_nonzero(wrong))
    oracle, rate = oracle_aurc(n, errors), errors / n
    moves = _influences(confidence, wrong, ranked)
    slope = -float(np.log1p(-rate)) if rate < 1 else 0.0
    return Aurc(
        value=value,
        oracle=oracle,
        chance=rate,
        excess=value - oracle,
        interval=_interval(value, moves, clusters, level),
        excess_interval=_interval(value - oracle, moves - slope * (wrong - rate), clusters, level),
        n=n,
        errors=errors,
        n_clusters=n_distinct(clusters),
    )


def _influences(confidence: FloatArray1D, wrong: BoolArray1D, order: IntArray1D) -> FloatArray1D:
    """Influence of each case on E[wrong x -ln(share at least as sure)], the area's limit.

    Tied cases share the mean of their positions' weights.
    """
    n = confidence.size
    sure, errors = confidence[order], wrong[order].astype(np.float64)
    block = np.cumsum(np.r_[False, sure[1:] != sure[:-1]])
    k = np.arange(1, n + 1)
    tail = np.cumsum((1 / k)[::-1])[::-1]
    size = np.bincount(block)
    weight = (np.bincount(block, tail) / size)[block]
    own = errors * weight
    # a case at least as sure as an error pushes that error down by 1 / (share as sure)
    middle = (np.bincount(block, k) / size)[block]
    pushed = errors / middle
    below = np.cumsum(pushed[::-1])[::-1]
    push = (np.bincount(block, below) / size)[block]
    moves = np.empty(n)
    moves[order] = (own - own.mean()) - (push - push.mean())
    return moves


def _interval(
    value: float, moves: FloatArray1D, clusters: IntArray1D, level: float
) -> Interval | Undefined:
    inner = adjusted_t(cluster_sums(value + moves, clusters), level=level)
    if isinstance(inner, Undefined):
        return inner
    low, high = min(inner.low, value), max(inner.high, value)
    return Interval(max(0.0, low), min(1.0, high), level, f"{inner.method}, of influences")
