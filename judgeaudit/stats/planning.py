"""What a plan of calls can show: precision by closed form, power by simulation, and the reverse."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from judgeaudit.stats.intervals import normal_quantile, t_quantile
from judgeaudit.stats.power import (
    Excess,
    ItemPlan,
    detectable_effect,
    items_for,
    pooled_error,
    simulated_power,
)
from judgeaudit.stats.single_shot import (
    Triple,
    connor_items,
    mcnemar_items,
    mcnemar_power,
    triple,
    triple_effect,
    triple_power,
)

__all__ = [
    "Detectable",
    "Triple",
    "half_width",
    "items_within",
    "needed_items",
    "power_at",
    "smallest_effect",
    "statistic_of",
    "triple",
    "triple_effect",
    "triple_power",
]

_MOST_ITEMS = 10_000_000


def statistic_of(L: int) -> Excess:
    """Name the excess flip rate that is tested with L calls under a condition."""
    return "delta_debiased" if L >= 2 else "delta_paper"


def half_width(
    n: int,
    jitter: float,
    K: int,
    L: int,
    *,
    conditions: int = 1,
    delta: float = 0.0,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> float:
    """Half-width to expect of the adjusted t interval of the pooled excess flip rate.

    Parameters
    ----------
    n : int
        Items.
    jitter, K, L, conditions, delta
        As in `power.pooled_error`; the paper's rate, which every plan defines.
    level : float
        Two-sided confidence level.
    design_effect : float
        Variance over clusters divided by that of as many unrelated items, 1 or more: n items
        count like n / design_effect.

    Returns
    -------
    float
        Infinite for fewer than two effective items.

    References
    ----------
    estimators.md, sections 4 and 9.
    """
    number = n / max(1.0, design_effect)
    if number < 2:
        return float("inf")
    error = pooled_error(1, jitter, K, L, conditions=conditions, delta=delta)
    centre = number * delta / (number + 2)
    # the two pseudo-clusters of the adjusted t are part of its spread
    spread = number * (error**2 + (delta - centre) ** 2) + 1 + 2 * centre**2
    t = t_quantile(0.5 + level / 2, round(number - 1, 1))
    return t * sqrt(spread) / (number + 2)


def items_within(
    half: float,
    jitter: float,
    K: int,
    L: int,
    *,
    conditions: int = 1,
    delta: float = 0.0,
    level: float = 0.95,
    design_effect: float = 1.0,
) -> int:
    """Items whose adjusted t interval is expected to be no wider than the estimate +- half.

    Parameters
    ----------
    half : float
        Wanted half-width, a fraction above 0.
    jitter, K, L, conditions, delta, level, design_effect
        As in `half_width`.

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If more than ten million items would be needed.
    """

    def enough(n: int) -> bool:
        found = half_width(
            n,
            jitter,
            K,
            L,
            conditions=conditions,
            delta=delta,
            level=level,
            design_effect=design_effect,
        )
        return found <= half

    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
        if high > _MOST_ITEMS:
            raise ValueError(f"a half-width of {half:g} needs more than {_MOST_ITEMS:,} items")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def needed_items(
    jitter: float,
    delta: float,
    K: int,
    L: int,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    rng: np.random.Generator | None = None,
    simulations: int = 400,
) -> ItemPlan:
    """Items with which the exact test finds an effect; K = 2, L = 1 is the single-shot triple.

    Parameters
    ----------
    jitter, delta, K, L, alpha, power, rng, simulations
        As in `power.items_for`.

    Returns
    -------
    ItemPlan
        For the triple: Connor's formula and the exact McNemar test, without simulation; its power
        is exact.
    """
    if (K, L) != (2, 1):
        return items_for(
            jitter,
            delta,
            K,
            L,
            statistic=statistic_of(L),
            alpha=alpha,
            power=power,
            rng=rng,
            simulations=simulations,
        )
    n = mcnemar_items(jitter, delta, alpha=alpha, power=power)
    low = connor_items(jitter, delta, alpha=alpha, power=power)
    return ItemPlan(low, n, n, mcnemar_power(n, jitter, delta, alpha=alpha))


def power_at(
    n: int,
    jitter: float,
    delta: float,
    K: int,
    L: int,
    *,
    alpha: float = 0.05,
    rng: np.random.Generator,
    simulations: int = 400,
) -> float:
    """Power of a plan's test with n items: exact for the triple, simulated for all others.

    Parameters
    ----------
    n : int
        Items.
    jitter, delta, K, L, alpha, rng, simulations
        As in `power.simulated_power`.

    Returns
    -------
    float
    """
    if (K, L) == (2, 1):
        return mcnemar_power(n, jitter, delta, alpha=alpha)
    return simulated_power(
        n,
        jitter,
        delta,
        (K, L),
        rng,
        statistic=statistic_of(L),
        alpha=alpha,
        simulations=simulations,
    )


@dataclass(frozen=True, slots=True)
class Detectable:
    """The smallest effect that given items can show.

    Parameters
    ----------
    effect : float
        The answer: by simulation, or the upper end without one; exact for the triple.
    low, high : float
        Bracket in closed form.
    power : float or None
        Power at `effect`; None without simulation.
    """

    effect: float
    low: float
    high: float
    power: float | None


def smallest_effect(
    n: int,
    jitter: float,
    K: int,
    L: int,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    rng: np.random.Generator | None = None,
    simulations: int = 400,
) -> Detectable | None:
    """Minimum detectable effect of n items, the reverse of `needed_items`.

    Parameters
    ----------
    n : int
        Items.
    jitter, K, L, alpha, power, rng, simulations
        As in `needed_items`.

    Returns
    -------
    Detectable or None
        None where even a flip of every item is not found.
    """
    if (K, L) == (2, 1):
        found = triple_effect(n, jitter, alpha=alpha, power=power)
        if found is None:
            return None
        return Detectable(found, found, found, mcnemar_power(n, jitter, found, alpha=alpha))
    bracket = detectable_effect(
        n, jitter, K, L, statistic=statistic_of(L), alpha=alpha, power=power
    )
    if bracket is None:
        return None
    low, high = bracket
    if rng is None:
        return Detectable(high, low, high, None)
    effects = np.linspace(0.9 * low, min(1.1 * high, 1 - 2 * jitter), 7)
    shares = [
        power_at(n, jitter, float(x), K, L, alpha=alpha, rng=rng, simulations=simulations)
        for x in effects
    ]
    return _read_off(effects, np.array(shares), (low, high), power, simulations)


def _read_off(
    effects: np.ndarray,
    shares: np.ndarray,
    bracket: tuple[float, float],
    power: float,
    simulations: int,
) -> Detectable:
    """Fit power = Phi(a + b effect) to simulated shares, and solve it for the wanted power."""
    from scipy.special import ndtr, ndtri

    share = (shares * simulations + 0.5) / (simulations + 1)
    probits = ndtri(share)
    precision = np.exp(-(probits**2)) / (share * (1 - share))
    slope, intercept = np.polyfit(effects, probits, 1, w=np.sqrt(precision))
    if slope <= 0:
        return Detectable(bracket[1], *bracket, None)
    effect = float((normal_quantile(power) - intercept) / slope)
    effect = min(max(effect, float(effects[0])), float(effects[-1]))
    return Detectable(ceil(effect * 1e5) / 1e5, *bracket, float(ndtr(intercept + slope * effect)))
