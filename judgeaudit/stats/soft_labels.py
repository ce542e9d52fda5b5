"""Proper scores of a judge's probabilities against a population's distribution of answers.

Where people differ there is no gold label but a distribution, known by a sample of votes. A judge
is scored on the vote of a person drawn at random: the score cannot be better than the population's
own spread allows (the floor), and what lies above the floor is the judge's distance from it. Both
parts are unbiased for any number of votes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.adjusted_t import adjusted_t
from judgeaudit.stats.clusters import cluster_sums, n_distinct
from judgeaudit.stats.pairs import ItemValues, only

__all__ = [
    "CLIP",
    "SoftScores",
    "brier_items",
    "distance_items",
    "log_items",
    "smoothed",
    "soft_scores",
]

Float2D = NDArray[np.float64]

CLIP: Final = 1e-6
"""How far a stated probability is kept from 0 and 1 for the log score."""

_ENDS: Final = {"brier": (0.0, 1.0), "log": (0.0, np.inf), "distance": (-1.0, 1.0)}
NO_VOTE: Final = "no item has both a vote of the population and an answer of the judge"
NO_PAIR: Final = "no item has two votes"


@dataclass(frozen=True, slots=True)
class SoftScores:
    """Scores against a population's answers; lower is better.

    Parameters
    ----------
    brier, log : float or Undefined
        Mean score on the vote of a person drawn at random; Brier summed over answers and halved
        (two answers: the squared error, 0 to 1), log in nats.
    brier_floor : float or Undefined
        What nobody can do better than: the population's own spread, unbiased.
    distance : float or Undefined
        Brier less its floor (and less the judge's own noise, where its probability is a share of
        repeats): the squared distance of the two distributions, halved; unbiased, may be negative.
    intervals : dict of str to Interval or Undefined
        Of brier, log and distance, over clusters.
    n_items, n_clusters : int
        Items scored, and their clusters.
    n_clipped : int
        Items on which a probability was moved off 0 or 1 for the log score.
    """

    brier: float | Undefined
    log: float | Undefined
    brier_floor: float | Undefined
    distance: float | Undefined
    intervals: dict[str, Interval | Undefined]
    n_items: int
    n_clusters: int
    n_clipped: int


def smoothed(counts: Float2D) -> Float2D:
    """Turn counts of a judge's answers into probabilities that are never 0, (s + 1/2) / (K + C/2).

    Parameters
    ----------
    counts : array of float, shape (n_items, n_answers)
        How often the judge gave each answer; a share of few repeats is often 0 or 1, which no log
        score forgives.

    Returns
    -------
    array of float, same shape

    References
    ----------
    Krichevsky and Trofimov 1981, IEEE Trans. Inf. Theory 27.

    Examples
    --------
    >>> smoothed(np.array([[3.0, 0.0]])).round(3).tolist()
    [[0.875, 0.125]]
    """
    return np.asarray((counts + 0.5) / (counts.sum(axis=1) + counts.shape[1] / 2)[:, None])


def _spread(counts: Float2D) -> tuple[FloatArray1D, BoolArray1D]:
    """Unbiased (1 - sum q^2) / 2 of each item from a sample of answers; needs two."""
    n = counts.sum(axis=1)
    pairs = n * (n - 1)
    differ = (n * n - np.sum(counts * counts, axis=1)) / 2
    there = pairs > 0
    return np.divide(differ, pairs, out=np.zeros(len(counts)), where=there), there


def brier_items(judge: Float2D, votes: Float2D) -> ItemValues:
    """Brier score of each item on a vote drawn at random, sum over answers of (p - y)^2, halved.

    Parameters
    ----------
    judge : array of float, shape (n_items, n_answers)
        Probabilities of the judge; rows add up to 1.
    votes : array of float, shape (n_items, n_answers)
        Votes of the population.

    Returns
    -------
    ItemValues
        0 to 1; defined where there is a vote.
    """
    n = votes.sum(axis=1)
    there = n > 0
    share = np.divide(votes, n[:, None], out=np.zeros_like(votes), where=there[:, None])
    values = (np.sum(judge * judge, axis=1) - 2 * np.sum(judge * share, axis=1) + 1) / 2
    return only(values, there)


def log_items(judge: Float2D, votes: Float2D) -> ItemValues:
    """Log score of each item on a vote drawn at random, -ln p(vote), in nats.

    Parameters
    ----------
    judge : array of float, shape (n_items, n_answers)
        Probabilities, kept at least `CLIP` from 0.
    votes : array of float, shape (n_items, n_answers)
        Votes of the population.

    Returns
    -------
    ItemValues
        Defined where there is a vote.
    """
    n = votes.sum(axis=1)
    there = n > 0
    share = np.divide(votes, n[:, None], out=np.zeros_like(votes), where=there[:, None])
    values = -np.sum(share * np.log(np.clip(judge, CLIP, 1 - CLIP)), axis=1)
    return only(values, there)


def distance_items(judge: Float2D, votes: Float2D, repeats: Float2D | None = None) -> ItemValues:
    """Squared distance of judge and population of each item, halved, without either's noise.

    Parameters
    ----------
    judge : array of float, shape (n_items, n_answers)
        Probabilities, or shares of repeats.
    votes : array of float, shape (n_items, n_answers)
        Votes of the population.
    repeats : array of float, same shape, optional
        Counts behind `judge`, where it is a share of repeats: its noise is taken off too.

    Returns
    -------
    ItemValues
        Defined where there are two votes (and two repeats); unbiased, so it may be negative.
    """
    brier = brier_items(judge, votes)
    floor, there = _spread(votes)
    values = brier.values - floor
    if repeats is not None:
        own, twice = _spread(repeats)
        k = np.maximum(repeats.sum(axis=1), 1)
        values, there = values - own / k, there & twice
    return only(values, brier.defined & there)


def soft_scores(
    judge: Float2D,
    votes: Float2D,
    clusters: IntArray1D,
    *,
    repeats: Float2D | None = None,
    answered: BoolArray1D | None = None,
    level: float = 0.95,
) -> SoftScores:
    """Score a judge's probabilities against the answers of a population.

    Parameters
    ----------
    judge : array of float, shape (n_items, n_answers)
        Probabilities of the judge, or shares of its repeats.
    votes : array of float, shape (n_items, n_answers)
        Votes of the population; a row of zeros where nobody voted. A distribution that is known
        without error is a row of many votes.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    repeats : array of float, shape (n_items, n_answers), optional
        Counts behind `judge`, where it is a share of repeats: the log score then is of
        `smoothed(repeats)`.
    answered : array of bool, shape (n_items,), optional
        Items on which the judge has a probability; all where it is left out.
    level : float
        Two-sided confidence level.

    Returns
    -------
    SoftScores

    References
    ----------
    Brier 1950, Mon. Weather Rev. 78; Gneiting and Raftery 2007, JASA 102; decision note 0531.

    Examples
    --------
    >>> p, votes = np.array([[0.4, 0.6]]), np.array([[400.0, 600.0]])
    >>> found = soft_scores(p, votes, np.arange(1))
    >>> round(found.brier, 3), round(found.distance, 3)
    (0.24, -0.0)
    """
    n = votes.sum(axis=1)
    used = n > 0 if answered is None else (n > 0) & answered
    judge, votes, where = judge[used], votes[used], clusters[used]
    told = repeats[used] if repeats is not None else None
    logged = judge if told is None else smoothed(told)
    floor, twice = _spread(votes)
    parts = {
        "brier": brier_items(judge, votes),
        "log": log_items(logged, votes),
        "distance": distance_items(judge, votes, told),
    }
    values: dict[str, float | Undefined] = {}
    intervals: dict[str, Interval | Undefined] = {}
    for name, part in parts.items():
        mean, nothing = part.mean, Undefined(_lack(name, part, twice))
        values[name] = nothing if mean is None else mean
        sums = cluster_sums(part.values[part.defined], where[part.defined])
        inner = adjusted_t(sums, level=level) if part.n else nothing
        if isinstance(inner, Interval) and mean is not None:
            least, most = _ENDS[name]
            low, high = max(least, min(inner.low, mean)), min(most, max(inner.high, mean))
            inner = Interval(low, high, level, inner.method)
        intervals[name] = inner
    clipped = np.any((logged < CLIP) | (logged > 1 - CLIP), axis=1)
    return SoftScores(
        brier=values["brier"],
        log=values["log"],
        brier_floor=float(floor[twice].mean()) if twice.any() else Undefined(NO_PAIR),
        distance=values["distance"],
        intervals=intervals,
        n_items=int(np.count_nonzero(used)),
        n_clusters=n_distinct(where),
        n_clipped=int(np.count_nonzero(clipped)),
    )


def _lack(name: str, part: ItemValues, twice: BoolArray1D) -> str:
    if not part.defined.size or name != "distance":
        return NO_VOTE
    return NO_PAIR if not twice.any() else "no item with two votes was judged twice"
