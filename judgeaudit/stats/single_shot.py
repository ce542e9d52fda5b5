"""Closed forms and exact power of the simplest plan: two base calls and one call a condition."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from judgeaudit.stats._types import FloatArray1D
from judgeaudit.stats.intervals import normal_quantile

__all__ = [
    "Triple",
    "connor_items",
    "mcnemar_items",
    "mcnemar_power",
    "rate_items",
    "triple",
    "triple_effect",
    "triple_power",
]


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
    return max(1, ceil(z * z * (1 - p) / (relative_error**2 * p)))


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
    return _mixed(n, jitter + delta, _rejects(n, jitter, delta, alpha))


def _rejects(n: int, jitter: float, delta: float, alpha: float) -> FloatArray1D:
    """Chance that the sign test rejects, given m = 0..n discordant triples."""
    from scipy.special import betainc

    share = 0.5 * (1 + delta / (jitter + delta))
    m = np.arange(n + 1)
    smallest = _critical(n, alpha)
    there = smallest <= m
    reject = np.zeros(n + 1)
    reject[there] = betainc(smallest[there], m[there] - smallest[there] + 1, share)
    return reject


def _mixed(n: int, psi: float, reject: FloatArray1D) -> float:
    """Mean of `reject` over the binomial number of discordant triples."""
    from scipy.special import gammaln

    m = np.arange(n + 1)
    if psi >= 1:
        return float(reject[n])
    logs = gammaln(n + 1) - gammaln(m + 1) - gammaln(n - m + 1)
    logs += m * np.log(psi) + (n - m) * np.log1p(-psi)
    return float(np.sum(np.exp(logs) * reject[: n + 1]))


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
    psi = jitter + delta
    n = connor_items(jitter, delta, alpha=alpha, power=power)
    reach = n + max(60, n // 3)
    reject = _rejects(reach, jitter, delta, alpha)
    while _mixed(reach, psi, reject) < power:
        reach *= 2
        reject = _rejects(reach, jitter, delta, alpha)
    n = reach
    while n > 1 and _mixed(n - 1, psi, reject) >= power:
        n -= 1
    return n


@dataclass(frozen=True, slots=True)
class Triple:
    """The simplest plan, two base calls and one call under the condition, in closed form.

    Parameters
    ----------
    n_connor_one_sided, n_connor_two_sided : int
        Connor's formula.
    power_exact_at_connor : float
        Power of the exact McNemar test at the one-sided number.
    n_exact_one_sided : int
        Items from which the exact test keeps the wanted power.
    power_exact_at_n : float
        Its power there.
    """

    n_connor_one_sided: int
    n_connor_two_sided: int
    power_exact_at_connor: float
    n_exact_one_sided: int
    power_exact_at_n: float


def triple(jitter: float, delta: float, *, alpha: float = 0.05, power: float = 0.8) -> Triple:
    """Plan single-shot triples.

    Parameters
    ----------
    jitter, delta, alpha, power
        As in `single_shot.connor_items`.

    Returns
    -------
    Triple
    """
    one = connor_items(jitter, delta, alpha=alpha, power=power)
    n = mcnemar_items(jitter, delta, alpha=alpha, power=power)
    return Triple(
        n_connor_one_sided=one,
        n_connor_two_sided=connor_items(jitter, delta, alpha=alpha, power=power, two_sided=True),
        power_exact_at_connor=mcnemar_power(one, jitter, delta, alpha=alpha),
        n_exact_one_sided=n,
        power_exact_at_n=mcnemar_power(n, jitter, delta, alpha=alpha),
    )


def triple_power(
    n: int,
    jitter: float,
    delta: float,
    rng: np.random.Generator,
    *,
    alpha: float = 0.05,
    simulations: int = 2000,
) -> float:
    """Share of simulated audits of the planning model in which the McNemar test rejects.

    Verdicts are drawn, not their differences: it checks the closed form with nothing in common.

    Parameters
    ----------
    n : int
        Items.
    jitter, delta : float
        As in `power.simulated_power`.
    rng : numpy.random.Generator
        Seeded by the caller.
    alpha : float
        Size of the test.
    simulations : int
        Simulated audits.

    Returns
    -------
    float
    """
    from scipy.special import betainc

    hits = 0
    for _ in range(simulations):
        doubtful = rng.random(n) < 4 * jitter
        p = np.where(doubtful, rng.beta(0.5, 0.5, n), rng.integers(0, 2, n))
        q = np.where(rng.random(n) < delta / (1 - 2 * jitter), 1 - p, p)
        first, second, other = rng.random(n) < p, rng.random(n) < p, rng.random(n) < q
        plus = int(np.count_nonzero((other != first) & (first == second)))
        minus = int(np.count_nonzero((other == first) & (first != second)))
        p_value = float(betainc(plus, minus + 1, 0.5)) if plus else 1.0
        hits += p_value <= alpha
    return hits / simulations


def triple_effect(
    n: int, jitter: float, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Smallest effect that n single-shot triples show with the wanted power.

    Parameters
    ----------
    n : int
        Items.
    jitter, alpha, power
        As in `single_shot.mcnemar_items`.

    Returns
    -------
    float or None
        None where even a flip of every item is not found.
    """
    low, high = 0.0, 1 - 2 * jitter
    if mcnemar_power(n, jitter, high, alpha=alpha) < power:
        return None
    for _ in range(40):
        middle = 0.5 * (low + high)
        found = mcnemar_power(n, jitter, middle, alpha=alpha) >= power
        low, high = (low, middle) if found else (middle, high)
    return high
