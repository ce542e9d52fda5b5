"""Stopping early without fooling oneself: an e-process, a betting bound, always-valid limits.

Items come in random order, one triple each: d = 1[v != o1] - 1[o1 != o2] with two base calls o and
one call v under the condition, so E d is the paper's excess flip rate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import FloatArray1D

__all__ = [
    "Monitor",
    "always_valid",
    "effect_process",
    "monitor",
    "tolerable_process",
    "triples",
]

Verdicts = NDArray[np.int8]


@dataclass(frozen=True, slots=True)
class Monitor:
    """What a sequence of triples shows so far.

    Parameters
    ----------
    log_effect, log_tolerable : array of float, shape (n_items,)
        Log of the e-process against "no effect" and of the capital against "effect >= tau", after
        each item.
    stop_effect, stop_tolerable : int, optional
        Number of items after which each first reached 1/alpha; None if it never did.
    """

    log_effect: FloatArray1D
    log_tolerable: FloatArray1D
    stop_effect: int | None
    stop_tolerable: int | None


def triples(first: Verdicts, second: Verdicts, other: Verdicts) -> NDArray[np.int8]:
    """Score single-shot triples: d = 1[v != o1] - 1[o1 != o2].

    Parameters
    ----------
    first, second, other : array of int8, shape (n_items,)
        Two base verdicts and one under the condition, 1 UNSAFE, 0 SAFE.

    Returns
    -------
    array of int8, shape (n_items,)
        -1, 0 or 1; not 0 exactly where v differs from the second base verdict.
    """
    d = (first != other).astype(np.int8) - (first != second).astype(np.int8)
    return np.asarray(d, dtype=np.int8)


def effect_process(d: NDArray[np.int8]) -> FloatArray1D:
    """Log of the e-process against H0: P(d = 1) <= P(d = -1), after each item.

    Uniform mixture over theta in (1/2, 1) of the likelihood ratio of the signs. By Ville's
    inequality it ever reaches 1/alpha with chance at most alpha under H0, at any stopping time.

    Parameters
    ----------
    d : array of int8, shape (n_items,)
        Triples in random order.

    Returns
    -------
    array of float, shape (n_items,)

    References
    ----------
    Ville 1939; Howard et al. 2021, Ann. Stat. 49; estimators.md, section 10.
    """
    from scipy.special import betaln

    a, b = np.cumsum(d == 1), np.cumsum(d == -1)
    out = (a + b + 1) * np.log(2) + betaln(a + 1, b + 1) + _log_upper_half(a + 1.0, b + 1.0)
    return np.asarray(out, dtype=np.float64)


def _log_upper_half(a: FloatArray1D, b: FloatArray1D) -> FloatArray1D:
    """Log of 1 - I_{1/2}(a, b), by the symmetric form, which does not cancel."""
    from scipy.special import betainc

    upper = betainc(b, a, 0.5)
    return np.asarray(np.log(np.maximum(upper, 1e-300)), dtype=np.float64)


def tolerable_process(d: NDArray[np.int8], tau: float, *, alpha: float = 0.05) -> FloatArray1D:
    """Log of the capital that bets against "the effect is at least tau", after each item.

    Parameters
    ----------
    d : array of int8, shape (n_items,)
        Triples in random order.
    tau : float
        Practical threshold.
    alpha : float
        The level that the bets are tuned for.

    Returns
    -------
    array of float, shape (n_items,)

    References
    ----------
    Waudby-Smith and Ramdas 2024, JRSS B 86; estimators.md, section 10.
    """
    y = (d.astype(np.float64) + 1) / 2
    return _capital(y, np.array([(tau + 1) / 2]), alpha)[:, 0]


def _capital(y: FloatArray1D, means: FloatArray1D, alpha: float) -> NDArray[np.float64]:
    """Log capital against "mean >= m" for each m, shape (n_items, n_means)."""
    i = np.arange(1, y.size + 1)
    mean = (0.5 + np.cumsum(y)) / (i + 1)
    variance = (0.25 + np.cumsum((y - mean) ** 2)) / (i + 1)
    before = np.concatenate(([0.25], variance[:-1]))  # a bet may not know its own outcome
    wanted = np.sqrt(2 * np.log(1 / alpha) / (before * i * np.log(i + 1)))
    bets = np.minimum(wanted[:, None], 0.75 / (1 - means)[None, :])
    return np.cumsum(np.log1p(-bets * (y[:, None] - means[None, :])), axis=0)


def monitor(d: NDArray[np.int8], tau: float, *, alpha: float = 0.05) -> Monitor:
    """Follow both processes and say where each would have stopped.

    Parameters
    ----------
    d : array of int8, shape (n_items,)
        Triples in random order.
    tau : float
        Practical threshold.
    alpha : float
        Error of each of the two statements, whenever one stops.

    Returns
    -------
    Monitor
    """
    effect, tolerable = effect_process(d), tolerable_process(d, tau, alpha=alpha)
    bar = np.log(1 / alpha)
    return Monitor(effect, tolerable, _first(effect >= bar), _first(tolerable >= bar))


def _first(reached: NDArray[np.bool_]) -> int | None:
    return int(np.argmax(reached)) + 1 if reached.any() else None


def always_valid(
    d: NDArray[np.int8], *, alpha: float = 0.05, grid: int = 2000
) -> tuple[float, float]:
    """Interval of the effect that holds whenever one stops: what is printed after an early stop.

    Parameters
    ----------
    d : array of int8, shape (n_items,)
        Triples in random order, up to the stop.
    alpha : float
        1 - confidence; each side gets half.
    grid : int
        Values of the effect that are tried on (-1, 1); limits are rounded outwards to it.

    Returns
    -------
    tuple of float
        Lower and upper limit, within [-1, 1].

    References
    ----------
    Waudby-Smith and Ramdas 2024, JRSS B 86.
    """
    if d.size == 0:
        return -1.0, 1.0
    y = (d.astype(np.float64) + 1) / 2
    means = (np.arange(grid) + 0.5) / grid
    bar = np.log(2 / alpha)

    def limit(values: FloatArray1D) -> float:
        # rejected at any time is rejected for good; the limit lies above all that is kept
        kept = ~(np.max(_capital(values, means, alpha / 2), axis=0) >= bar)
        return float(np.flatnonzero(kept)[-1] + 1) / grid if kept.any() else 0.0

    upper, lower = limit(y), 1 - limit(1 - y)
    return 2 * lower - 1, 2 * upper - 1
