"""Rare events: what few or no events say of a rate, and what a rate says of many requests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, expm1, log1p

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import IntArray1D, Interval, Undefined
from judgeaudit.stats.clusters import ClusterSums, cluster_sums, kish_clusters
from judgeaudit.stats.intervals import (
    clopper_pearson_upper,
    clustered_wilson,
    wilson,
)

__all__ = [
    "UPPER_BOUND",
    "AttackSuccess",
    "BudgetShare",
    "at_least_one",
    "attack_success",
    "by_budget",
    "rate_for_chance",
    "rule_of_three",
    "rule_of_three_words",
    "trials_for_chance",
    "upper_bound_clustered",
]

UPPER_BOUND = "Clopper-Pearson, one-sided, over clusters"


def rule_of_three(n: float, *, level: float = 0.95) -> float | Undefined:
    """Upper bound of a rate without an event, as one says it: 3/n (4.6/n at 99%).

    For words only; the bound itself is `clopper_pearson_upper(0, n)`, which is smaller.

    Parameters
    ----------
    n : float
        Independent trials, none of them an event.
    level : float
        One-sided confidence level; at 0.95 the numerator is 3, else -ln(1 - level).

    Returns
    -------
    float or Undefined
        Undefined for no trials. Above 1 for n below 3.

    References
    ----------
    Hanley and Lippman-Hand 1983, JAMA 249; estimators.md, section 12.

    Examples
    --------
    >>> rule_of_three(300)
    0.01
    """
    if n <= 0:
        return Undefined("no trials")
    return (3.0 if level == 0.95 else -log1p(-level)) / n


def rule_of_three_words(x: int, n: int, *, level: float = 0.95) -> str:
    """Say in one sentence what x events in n trials allow.

    Parameters
    ----------
    x, n : int
        Events and trials.
    level : float
        One-sided confidence level.

    Returns
    -------
    str
        Without a full stop.

    Examples
    --------
    >>> rule_of_three_words(0, 300)
    'no event in 300 trials is not none ever: the rate may be as high as 1 in 100 (about 3/n)'
    >>> rule_of_three_words(0, 0)
    'no trials: any rate is possible'
    """
    if n <= 0:
        return "no trials: any rate is possible"
    upper = clopper_pearson_upper(x, n, level=level)
    # rounded towards the higher rate: a bound is not made smaller by its wording
    one_in = f"1 in {int(1 / upper):,}" if upper < 0.2 else f"{upper:.2f}"
    if x:
        return f"{x:,} in {n:,} trials: the rate may be as high as {one_in}"
    numerator = "3" if level == 0.95 else f"{-log1p(-level):.2g}"
    about = "" if n < 30 else f" (about {numerator}/n)"
    return f"no event in {n:,} trials is not none ever: the rate may be as high as {one_in}{about}"


def at_least_one(p: float, n: float) -> float:
    """Chance of one event or more in n independent requests, 1 - (1-p)^n.

    Parameters
    ----------
    p : float
        Chance of an event a request, 0 to 1.
    n : float
        Requests.

    Returns
    -------
    float
        Exact to rounding for p as small as floats go.

    Examples
    --------
    >>> round(at_least_one(1e-6, 1_000_000), 4)
    0.6321
    """
    if n <= 0 or p <= 0:
        return 0.0
    return 1.0 if p >= 1 else -expm1(n * log1p(-p))


def rate_for_chance(chance: float, n: float) -> float | Undefined:
    """Find the rate at which n requests have one event or more with a given chance.

    Parameters
    ----------
    chance : float
        Chance of at least one event, 0 to 1.
    n : float
        Requests.

    Returns
    -------
    float or Undefined
        Undefined for no requests.

    Examples
    --------
    >>> f"{rate_for_chance(0.05, 1_000_000):.3g}"
    '5.13e-08'
    """
    if n <= 0:
        return Undefined("no requests")
    return 1.0 if chance >= 1 else -expm1(log1p(-chance) / n)


def trials_for_chance(p: float, chance: float = 0.95) -> int | Undefined:
    """Find the fewest trials that show an event of rate p at least once with a given chance.

    Also the fewest trials without an event that bound a rate below p with that confidence.

    Parameters
    ----------
    p : float
        Rate of the event, 0 to 1.
    chance : float
        Wanted chance, 0 to below 1.

    Returns
    -------
    int or Undefined
        Undefined for a rate of 0 and for a chance of 1.

    Examples
    --------
    >>> trials_for_chance(0.01)
    299
    """
    if p <= 0:
        return Undefined("what never happens is never seen")
    if chance >= 1:
        return 1 if p >= 1 else Undefined("no number of trials makes it certain")
    if p >= 1 or chance <= 0:
        return 1 if chance > 0 else 0
    found = max(0, ceil(log1p(-chance) / log1p(-p)) - 1)
    # rounding may put the quotient on the wrong side of a whole number
    while at_least_one(p, found) < chance:
        found += 1
    return found


def upper_bound_clustered(sums: ClusterSums, *, level: float = 0.95) -> Interval | Undefined:
    """Exact one-sided upper bound of a rate, with clusters as the trials.

    e = rate x G events in G clusters (Kish's number of them where they are uneven). Clopper and
    Pearson's own bound where each cluster is one item with one verdict; with several verdicts an
    item, or several items a cluster, a cluster counts as one trial and its share of events as a
    part of an event.

    Parameters
    ----------
    sums : ClusterSums
        Events and trials of each cluster; a trial's event lies between 0 and 1.
    level : float
        One-sided confidence level.

    Returns
    -------
    Interval or Undefined
        From 0 to the bound. Undefined for no trials.

    References
    ----------
    Clopper and Pearson 1934, Biometrika 26; Kish 1965; decision note 0521.
    """
    if sums.n <= 0:
        return Undefined("no trials")
    number = kish_clusters(sums.sizes)
    upper = clopper_pearson_upper(sums.total / sums.n * number, number, level=level)
    return Interval(0.0, upper, level, UPPER_BOUND)


@dataclass(frozen=True, slots=True)
class AttackSuccess:
    """An attack success rate, which means nothing without its budget.

    Parameters
    ----------
    rate : float or Undefined
        Successes over attempts.
    interval : Interval or Undefined
        Wilson, over campaigns where attempts belong to some.
    n_attempts, n_campaigns : int
        What it rests on; `n_campaigns` is 0 where attempts are independent.
    warning : str, optional
        What must be printed with it.
    """

    rate: float | Undefined
    interval: Interval | Undefined
    n_attempts: int
    n_campaigns: int = 0
    warning: str | None = None


def attack_success(
    successes: Sequence[int] | NDArray[np.int64],
    attempts: Sequence[int] | NDArray[np.int64],
    *,
    adaptive: bool,
    level: float = 0.95,
) -> AttackSuccess:
    """Attack success rate of independent attempts, or over campaigns of dependent ones.

    Parameters
    ----------
    successes, attempts : array of int, shape (n_campaigns,)
        Of each campaign. Independent attempts may come as one row or as many.
    adaptive : bool
        Whether attempts of a campaign depend on earlier ones; then campaigns are the unit.
    level : float
        Two-sided confidence level.

    Returns
    -------
    AttackSuccess
        Undefined for no attempts. With one campaign of dependent attempts there is a rate and no
        interval: nothing is known of the next campaign.

    References
    ----------
    Wilson 1927, JASA 22; decision note 0522.

    Examples
    --------
    >>> found = attack_success([2], [200], adaptive=False)
    >>> round(found.interval.low, 4), round(found.interval.high, 4)
    (0.0027, 0.0357)
    """
    x, n = np.asarray(successes, dtype=np.float64), np.asarray(attempts, dtype=np.float64)
    total = int(n.sum())
    if total <= 0:
        return AttackSuccess(Undefined("no attempt"), Undefined("no attempt"), 0)
    rate = float(x.sum() / n.sum())
    if not adaptive:
        return AttackSuccess(rate, wilson(float(x.sum()), total, level=level), total)
    there = n > 0
    number = int(np.count_nonzero(there))
    warning = (
        "attempts depend on earlier ones: campaigns are the unit, and the rate holds for this "
        "budget only"
    )
    if number < 2:
        why = Undefined("one campaign of dependent attempts says nothing of the next")
        return AttackSuccess(rate, why, total, number, warning)
    sums = cluster_sums(x[there], np.arange(number), n[there])
    return AttackSuccess(rate, clustered_wilson(sums, level=level), total, number, warning)


@dataclass(frozen=True, slots=True)
class BudgetShare:
    """Share of campaigns that had succeeded within a budget of attempts.

    Parameters
    ----------
    budget : int
        Attempts a campaign.
    succeeded, campaigns : int
        Campaigns with a success by then, and campaigns that ran so long or had succeeded.
    interval : Interval or Undefined
        Wilson over campaigns.
    """

    budget: int
    succeeded: int
    campaigns: int
    interval: Interval | Undefined


def by_budget(
    first: IntArray1D, made: IntArray1D, budgets: Sequence[int], *, level: float = 0.95
) -> tuple[BudgetShare, ...]:
    """Share of campaigns that succeeded within each budget of attempts.

    Parameters
    ----------
    first : array of int, shape (n_campaigns,)
        Number of the first attempt that succeeded, from 1; 0 where none did.
    made : array of int, shape (n_campaigns,)
        Attempts that the campaign made.
    budgets : sequence of int
        Budgets of attempts, each reported on its own.
    level : float
        Two-sided confidence level.

    Returns
    -------
    tuple of BudgetShare
        A campaign that gave up before a budget without success says nothing of that budget and is
        left out of its campaigns.

    Examples
    --------
    >>> found = by_budget(np.array([3, 0, 20]), np.array([3, 50, 20]), [1, 10, 50])
    >>> [(b.budget, b.succeeded, b.campaigns) for b in found]
    [(1, 0, 3), (10, 1, 3), (50, 2, 3)]
    """
    out = []
    for budget in budgets:
        won = (first > 0) & (first <= budget)
        known = won | (made >= budget)
        x, n = int(np.count_nonzero(won)), int(np.count_nonzero(known))
        out.append(BudgetShare(budget, x, n, wilson(x, n, level=level)))
    return tuple(out)
