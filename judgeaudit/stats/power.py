"""How many items and calls a wanted precision costs, and what given ones can show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Literal

import numpy as np

from judgeaudit.core.table import Counts
from judgeaudit.stats import pairs
from judgeaudit.stats._types import FloatArray1D, IntArray1D
from judgeaudit.stats.exact import ExactTest, no_effect
from judgeaudit.stats.intervals import normal_cdf, normal_quantile

__all__ = [
    "Excess",
    "ItemPlan",
    "Moments",
    "detectable_effect",
    "items_for",
    "moments",
    "pooled_error",
    "simulated_power",
]

Excess = Literal["delta_paper", "delta_debiased"]


@dataclass(frozen=True, slots=True)
class Moments:
    """Mean and variances of an item's excess flip rate under the planning model.

    Parameters
    ----------
    mean : float
        Expectation under the alternative, the effect itself.
    null_variance, variance : float
        Variance under no effect, and under the alternative.
    """

    mean: float
    null_variance: float
    variance: float


def moments(
    jitter: float, delta: float, K: int, L: int, *, statistic: Excess = "delta_debiased"
) -> Moments:
    """Enumerate the planning model for K base calls and L calls under the condition.

    A share 4j of the items has p ~ Beta(1/2, 1/2), the rest p = 0 or 1; an item flips hard (p to
    1-p) with the probability that makes the mean effect delta.

    Parameters
    ----------
    jitter : float
        Mean jitter j, 0 to 1/4.
    delta : float
        Mean effect.
    K, L : int
        Calls an item, K >= 2, and L >= 2 for the debiased statistic.
    statistic : {"delta_paper", "delta_debiased"}
        Which excess flip rate.

    Returns
    -------
    Moments

    Raises
    ------
    ValueError
        If the model cannot hold such a jitter or effect.

    References
    ----------
    estimators.md, section 9.
    """
    flip = _flip_share(jitter, delta)
    s, t = (a.reshape(-1) for a in np.meshgrid(np.arange(K + 1), np.arange(L + 1), indexing="ij"))
    x = _item_value(s, K, t, L, statistic)
    doubtful = 4 * jitter

    def chances(v: IntArray1D) -> FloatArray1D:
        calls = (s, K), (v, L)
        return doubtful * _beta_chances(*calls) + (1 - doubtful) * _settled(*calls)

    still, moved = chances(t), chances(L - t)
    under = (1 - flip) * still + flip * moved
    null_mean, mean = float(np.sum(still * x)), float(np.sum(under * x))
    return Moments(
        mean=mean,
        null_variance=float(np.sum(still * x * x)) - null_mean**2,
        variance=float(np.sum(under * x * x)) - mean**2,
    )


def _flip_share(jitter: float, delta: float) -> float:
    if not 0 <= jitter <= 0.25:
        raise ValueError(f"jitter {jitter} is outside the planning model's 0 to 0.25")
    flip = delta / (1 - 2 * jitter)
    if not 0 <= flip <= 1:
        raise ValueError(f"an effect of {delta} cannot come from hard flips at jitter {jitter}")
    return flip


def _item_value(s: np.ndarray, K: int, t: np.ndarray, L: int, statistic: Excess) -> FloatArray1D:
    none = np.zeros_like(s)
    base, other = Counts(s, np.full_like(s, K), none), Counts(t, np.full_like(t, L), none)
    function = pairs.delta_paper if statistic == "delta_paper" else pairs.delta_debiased
    found = function(base, other)
    if not found.defined.all():
        raise ValueError(f"{statistic} is not defined for K = {K}, L = {L}")
    return found.values


def _beta_chances(*calls: tuple[IntArray1D, int]) -> FloatArray1D:
    """Joint chance of numbers of UNSAFE among calls that share p ~ Beta(1/2, 1/2)."""
    from scipy.special import betaln, gammaln

    unsafe: IntArray1D = sum((x for x, _ in calls), np.zeros_like(calls[0][0]))
    total = sum(n for _, n in calls)
    logs = np.asarray(
        betaln(unsafe + 0.5, total - unsafe + 0.5) - betaln(0.5, 0.5), dtype=np.float64
    )
    for x, n in calls:
        logs += gammaln(n + 1) - gammaln(x + 1) - gammaln(n - x + 1)
    return np.asarray(np.exp(logs), dtype=np.float64)


def _settled(*calls: tuple[IntArray1D, int]) -> FloatArray1D:
    """Joint chance of the same for p = 0 or 1, each with chance 1/2."""
    none = np.all([x == 0 for x, _ in calls], axis=0)
    every = np.all([x == n for x, n in calls], axis=0)
    return np.asarray(0.5 * none + 0.5 * every, dtype=np.float64)


def pooled_error(
    n: int,
    jitter: float,
    K: int,
    L: int,
    *,
    conditions: int,
    delta: float = 0.0,
    statistic: Excess = "delta_paper",
) -> float:
    """Compute the standard error of the pooled excess flip rate under the planning model.

    All conditions share the base calls, so their item values are correlated; hard flips fall on
    items independently in each condition.

    Parameters
    ----------
    n : int
        Items, each a cluster of its own.
    jitter : float
        Mean jitter, 0 to 1/4.
    K, L : int
        Base calls, and calls under each condition, an item.
    conditions : int
        Certified conditions that are pooled.
    delta : float
        Mean effect of each condition.
    statistic : {"delta_paper", "delta_debiased"}
        Which excess flip rate.

    Returns
    -------
    float

    References
    ----------
    estimators.md, section 9 (its figures: delta = 0.01).
    """
    flip = _flip_share(jitter, delta)
    grids = np.meshgrid(*(np.arange(m + 1) for m in (K, L, L)), indexing="ij")
    s, t, u = (a.reshape(-1) for a in grids)
    x = _item_value(s, K, t, L, statistic)
    y = _item_value(s, K, u, L, statistic)
    chances = np.zeros(s.size)
    for first, p_first in ((t, 1 - flip), (L - t, flip)):
        for second, p_second in ((u, 1 - flip), (L - u, flip)):
            doubtful = _beta_chances((s, K), (first, L), (second, L))
            settled = _settled((s, K), (first, L), (second, L))
            chances += p_first * p_second * (4 * jitter * doubtful + (1 - 4 * jitter) * settled)
    mean = float(np.sum(chances * x))
    variance = float(np.sum(chances * x * x)) - mean**2
    covariance = float(np.sum(chances * x * y)) - mean**2
    return sqrt((variance + (conditions - 1) * covariance) / conditions / n)


@dataclass(frozen=True, slots=True)
class ItemPlan:
    """Items needed for the exact test.

    Parameters
    ----------
    low, high : int
        Bracket in closed form; measured power .58 to .76 at the lower, .91 to .99 at the upper.
    n : int
        The answer: found between them by simulation, or the upper end without one.
    power : float or None
        Simulated power at n; None without simulation.
    """

    low: int
    high: int
    n: int
    power: float | None


def items_for(
    jitter: float,
    delta: float,
    K: int,
    L: int,
    *,
    statistic: Excess = "delta_debiased",
    alpha: float = 0.05,
    power: float = 0.8,
    rng: np.random.Generator | None = None,
    simulations: int = 400,
) -> ItemPlan:
    """Items with which the exact test finds an effect with the wanted power.

    Parameters
    ----------
    jitter, delta : float
        Jitter, and the effect that is to be found, fractions; delta above 0.
    K, L : int
        Calls an item under base and under the condition.
    statistic : {"delta_paper", "delta_debiased"}
        Which excess flip rate.
    alpha, power : float
        Size of the one-sided test and wanted power.
    rng : numpy.random.Generator, optional
        Bisects between the closed forms by simulation; without it the upper end is the answer.
    simulations : int
        Simulated audits a step.

    Returns
    -------
    ItemPlan

    References
    ----------
    estimators.md, section 9.
    """
    m = moments(jitter, delta, K, L, statistic=statistic)
    z_size, z_power = normal_quantile(1 - alpha), normal_quantile(power)
    low = ceil((z_size * sqrt(m.null_variance) + z_power * sqrt(m.variance)) ** 2 / m.mean**2)
    high = ceil((z_size + z_power) ** 2 * m.variance / m.mean**2)
    low, high = min(low, high), max(low, high)
    if rng is None:
        return ItemPlan(low, high, high, None)

    return _by_simulation(
        lambda n: simulated_power(
            n, jitter, delta, (K, L), rng, statistic=statistic, alpha=alpha, simulations=simulations
        ),
        low,
        high,
        power,
        simulations,
    )


def _by_simulation(
    at: Callable[[int], float], low: int, high: int, power: float, simulations: int
) -> ItemPlan:
    """Simulate at several n and read the answer off a fit, power = Phi(a + b sqrt(n)).

    One point alone would make the answer as noisy as its simulation.
    """
    sizes = sorted({int(n) for n in np.geomspace(max(2, 0.9 * low), max(5, 1.1 * high), 7)})
    found = [at(n) for n in sizes]
    if found[0] >= power:
        return ItemPlan(low, high, sizes[0], found[0])  # effects that nobody can miss
    share = [(p * simulations + 0.5) / (simulations + 1) for p in found]
    roots, probits = np.sqrt(sizes), np.array([normal_quantile(p) for p in share])
    # each probit's precision, by the delta method
    precision = np.exp(-(probits**2)) / (np.array(share) * (1 - np.array(share)))
    slope, intercept = np.polyfit(roots, probits, 1, w=np.sqrt(precision))
    n = ceil(((normal_quantile(power) - intercept) / slope) ** 2)
    return ItemPlan(low, high, n, normal_cdf(float(intercept + slope * sqrt(n))))


def simulated_power(
    n: int,
    jitter: float,
    delta: float,
    calls: tuple[int, int],
    rng: np.random.Generator,
    *,
    statistic: Excess = "delta_debiased",
    alpha: float = 0.05,
    simulations: int = 400,
) -> float:
    """Share of simulated audits of the planning model in which the exact test rejects.

    Parameters
    ----------
    n : int
        Items.
    jitter, delta, statistic, alpha
        As in `items_for`.
    calls : tuple of int
        K and L.
    rng : numpy.random.Generator
        Seeded by the caller.
    simulations : int
        Simulated audits.

    Returns
    -------
    float
    """
    flip = _flip_share(jitter, delta)
    K, L = calls
    none = np.zeros(n, dtype=np.int64)
    hits = 0
    for _ in range(simulations):
        doubtful = rng.random(n) < 4 * jitter
        p = np.where(doubtful, rng.beta(0.5, 0.5, n), rng.integers(0, 2, n))
        q = np.where(rng.random(n) < flip, 1 - p, p)
        base = Counts(rng.binomial(K, p), np.full(n, K), none)
        other = Counts(rng.binomial(L, q), np.full(n, L), none)
        test = no_effect(base, other, statistic=statistic)
        hits += isinstance(test, ExactTest) and test.p_value <= alpha
    return hits / simulations


def detectable_effect(
    n: int,
    jitter: float,
    K: int,
    L: int,
    *,
    statistic: Excess = "delta_debiased",
    alpha: float = 0.05,
    power: float = 0.8,
) -> tuple[float, float] | None:
    """Smallest effect that n items can show, bracketed in closed form.

    Parameters
    ----------
    n : int
        Items.
    jitter, K, L, statistic, alpha, power
        As in `items_for`.

    Returns
    -------
    tuple of float or None
        Effects whose bracket of items ends, and begins, at n: with the first the power is .58 to
        .76, with the second .91 to .99. None where even a flip of every item is not found.
    """
    largest = 1 - 2 * jitter

    def bracket(effect: float) -> tuple[int, int]:
        plan = items_for(jitter, effect, K, L, statistic=statistic, alpha=alpha, power=power)
        return plan.low, plan.high

    ends = []
    for end in (0, 1):
        low, high = 0.0, largest
        if bracket(largest)[end] > n:
            return None
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if bracket(middle)[end] <= n else (middle, high)
        ends.append(high)
    return ends[0], ends[1]
