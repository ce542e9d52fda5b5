"""How many items and calls a wanted precision costs, and what given ones can show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, comb, exp, inf, lgamma, sqrt
from typing import Literal

import numpy as np

from judgeaudit.core.table import Counts
from judgeaudit.stats import pairs
from judgeaudit.stats._types import FloatArray1D
from judgeaudit.stats.exact import ExactTest, no_effect
from judgeaudit.stats.intervals import normal_quantile

__all__ = [
    "ItemPlan",
    "Moments",
    "connor_items",
    "detectable_effect",
    "items_for",
    "mcnemar_items",
    "mcnemar_power",
    "moments",
    "pooled_error",
    "rate_items",
    "simulated_power",
]

Excess = Literal["delta_paper", "delta_debiased"]


def rate_items(p: float, relative_error: float, *, z: float | None = None) -> int:
    """Items that estimate a rate with a given relative error, ceil(z^2 (1-p) / (e^2 p)).

    Parameters
    ----------
    p : float
        The rate, above 0.
    relative_error : float
        Half-width of the 95% interval over the rate.
    z : float, optional
        Normal quantile; the exact 97.5% one where it is left out (1.96 changes some answers).

    Returns
    -------
    int

    Examples
    --------
    >>> rate_items(0.01, 0.2, z=1.96)
    9508
    """
    z = normal_quantile(0.975) if z is None else z
    return ceil(z * z * (1 - p) / (relative_error**2 * p))


def connor_items(
    jitter: float,
    delta: float,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    two_sided: bool = False,
) -> int:
    """Items for the single-shot triple: two base calls and one call under the condition.

    Parameters
    ----------
    jitter, delta : float
        Jitter and excess flip rate that is to be found, fractions; delta above 0.
    alpha, power : float
        Size of the test and wanted power.
    two_sided : bool
        Whether alpha is split over both sides.

    Returns
    -------
    int

    References
    ----------
    Connor 1987, Biometrics 43; estimators.md, section 9.

    Examples
    --------
    >>> connor_items(0.05, 0.05)
    246
    """
    psi = jitter + delta
    z_size = normal_quantile(1 - (alpha / 2 if two_sided else alpha))
    z_power = normal_quantile(power)
    return ceil((z_size * sqrt(psi) + z_power * sqrt(psi - delta**2)) ** 2 / delta**2)


def mcnemar_power(n: int, jitter: float, delta: float, *, alpha: float = 0.05) -> float:
    """Power of the one-sided exact McNemar test on n single-shot triples.

    Parameters
    ----------
    n : int
        Items.
    jitter, delta : float
        True jitter and excess flip rate.
    alpha : float
        Size of the test.

    Returns
    -------
    float
    """
    from scipy.special import betainc, gammaln

    psi = jitter + delta
    share = 0.5 * (1 + delta / psi)
    m = np.arange(n + 1)
    smallest = _critical(n, alpha)
    log_n = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
    rest = (n - m) * np.log1p(-psi) if psi < 1 else np.where(m == n, 0.0, -inf)
    weight = np.exp(log_n + m * np.log(psi) + rest)
    there = smallest <= m
    reject = np.zeros(n + 1)
    reject[there] = betainc(smallest[there], m[there] - smallest[there] + 1, share)
    return float(np.sum(weight * reject))


def _critical(n: int, alpha: float) -> FloatArray1D:
    """Smallest number of +1 among m = 0..n that the sign test rejects; m + 1 where none does."""
    from scipy.special import bdtrik, betainc

    m = np.arange(1, n + 1)
    # P(X >= c) <= alpha; the quantile is rounded, so it is checked and moved by one if need be
    c = np.floor(bdtrik(1 - alpha, m, 0.5)) + 1

    def tail(x: FloatArray1D) -> FloatArray1D:
        inside = np.clip(x, 1, m)
        return np.where(x > m, 0.0, np.where(x <= 0, 1.0, betainc(inside, m - inside + 1, 0.5)))

    for _ in range(3):
        c = np.where(tail(c) > alpha, c + 1, c)
        c = np.where((c > 0) & (tail(c - 1) <= alpha), c - 1, c)
    return np.concatenate(([1.0], np.minimum(c, m + 1)))


def mcnemar_items(jitter: float, delta: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Items from which the exact McNemar test keeps the wanted power.

    Parameters
    ----------
    jitter, delta : float
        Jitter and excess flip rate that is to be found, fractions; delta above 0.
    alpha, power : float
        Size of the test and wanted power.

    Returns
    -------
    int
        Power of an exact test goes up and down with n; from this n on it does not fall below.
    """
    start = connor_items(jitter, delta, alpha=alpha, power=power)
    n = start + max(40, start // 5)
    while mcnemar_power(n, jitter, delta, alpha=alpha) < power + 0.01:
        n += max(20, start // 20)
    while n > 1 and mcnemar_power(n - 1, jitter, delta, alpha=alpha) >= power:
        n -= 1
    return n


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
    still = doubtful * _doubtful(s, K, t, L) + (1 - doubtful) * _settled(s, K, t, L)
    moved = doubtful * _doubtful(s, K, L - t, L) + (1 - doubtful) * _settled(s, K, L - t, L)
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


def _doubtful(s: np.ndarray, K: int, t: np.ndarray, L: int) -> FloatArray1D:
    """P(s, t) for p ~ Beta(1/2, 1/2)."""
    return np.array(
        [
            comb(K, a) * comb(L, b) * exp(_log_beta(a + b, K + L - a - b))
            for a, b in zip(s.tolist(), t.tolist(), strict=True)
        ]
    )


def _log_beta(a: int, b: int) -> float:
    """Log of B(a + 1/2, b + 1/2) / B(1/2, 1/2)."""
    return lgamma(a + 0.5) + lgamma(b + 0.5) - lgamma(a + b + 1) - 2 * lgamma(0.5)


def _settled(s: np.ndarray, K: int, t: np.ndarray, L: int) -> FloatArray1D:
    """P(s, t) for p = 0 or 1, each with chance 1/2."""
    return 0.5 * ((s == 0) & (t == 0)) + 0.5 * ((s == K) & (t == L))


def pooled_error(
    n: int, jitter: float, K: int, L: int, conditions: int, *, statistic: Excess = "delta_paper"
) -> float:
    """Standard error of the pooled excess flip rate of a judge without an effect.

    All conditions share the base calls, so their item values are correlated.

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
    statistic : {"delta_paper", "delta_debiased"}
        Which excess flip rate.

    Returns
    -------
    float
    """
    _flip_share(jitter, 0.0)
    grids = np.meshgrid(*(np.arange(m + 1) for m in (K, L, L)), indexing="ij")
    s, t, u = (a.reshape(-1) for a in grids)
    x = _item_value(s, K, t, L, statistic)
    y = _item_value(s, K, u, L, statistic)
    doubtful = 4 * jitter
    chances = np.array(
        [
            comb(K, a) * comb(L, b) * comb(L, c) * exp(_log_beta(a + b + c, K + 2 * L - a - b - c))
            for a, b, c in zip(s.tolist(), t.tolist(), u.tolist(), strict=True)
        ]
    )
    # items at 0 or 1 have the value 0 in every condition
    mean = doubtful * float(np.sum(chances * x))
    variance = doubtful * float(np.sum(chances * x * x)) - mean**2
    covariance = doubtful * float(np.sum(chances * x * y)) - mean**2
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

    def at(n: int) -> float:
        return simulated_power(
            n, jitter, delta, K, L, rng, statistic=statistic, alpha=alpha, simulations=simulations
        )

    n, reached = _bisect(at, low, high, power)
    return ItemPlan(low, high, n, reached)


def _bisect(at: Callable[[int], float], low: int, high: int, power: float) -> tuple[int, float]:
    reached = at(high)
    while reached < power:
        low, high = high, ceil(1.2 * high)
        reached = at(high)
    while high - low > max(1, high // 50):
        middle = (low + high) // 2
        found = at(middle)
        if found >= power:
            high, reached = middle, found
        else:
            low = middle
    return high, reached


def simulated_power(
    n: int,
    jitter: float,
    delta: float,
    K: int,
    L: int,
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
    jitter, delta, K, L, statistic, alpha
        As in `items_for`.
    rng : numpy.random.Generator
        Seeded by the caller.
    simulations : int
        Simulated audits.

    Returns
    -------
    float
    """
    flip = _flip_share(jitter, delta)
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
    ends = []
    for pick in (lambda plan: plan.low, lambda plan: plan.high):
        low, high = 0.0, largest
        if (
            pick(items_for(jitter, largest, K, L, statistic=statistic, alpha=alpha, power=power))
            > n
        ):
            return None
        for _ in range(40):
            middle = 0.5 * (low + high)
            plan = items_for(jitter, middle, K, L, statistic=statistic, alpha=alpha, power=power)
            if pick(plan) <= n:
                high = middle
            else:
                low = middle
        ends.append(high)
    return ends[0], ends[1]
