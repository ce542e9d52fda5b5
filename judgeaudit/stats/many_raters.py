"""Agreement of several raters with missing votes: alpha for three scales, AC1, shares of pairs.

All are smooth functions of sums over items, and have intervals over clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.agreement import MISSING
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.intervals import clustered_wilson
from judgeaudit.stats.linearised import Pseudo, linearised
from judgeaudit.stats.two_raters import Figure, specific

__all__ = [
    "RATER_FIGURES",
    "ManyRaters",
    "Scale",
    "alpha_of",
    "fleiss_kappa",
    "many_raters",
    "vote_counts",
]

Scale = Literal["nominal", "ordinal", "interval"]
"""How far two categories are apart: all alike, by ranks, or by their values."""

RATER_FIGURES: Final = ("observed", "pabak", "ac1", "positive", "negative", "alpha")
"""Names of the figures of several raters, in their order."""

NO_PAIR: Final = "no item has two votes"
SAME: Final = "every rating is the same: agreement beyond chance cannot be told from chance"

Float2D = NDArray[np.float64]
_Complex = NDArray[np.complex128]


@dataclass(frozen=True, slots=True)
class ManyRaters:
    """Agreement of several raters.

    Parameters
    ----------
    figures : dict of str to Figure
        P_o, the mean over items of the share of agreeing pairs; PABAK, 2 P_o - 1; AC1; positive
        and negative agreement over all pairs; alpha, nominal.
    n_items, n_clusters : int
        Items with two votes or more, and their clusters.
    n_votes : int
        Votes on them.
    unanimous : float or None
        Share of those items on which all agree.
    """

    figures: dict[str, Figure]
    n_items: int
    n_clusters: int
    n_votes: int
    unanimous: float | None


def vote_counts(ratings: NDArray[np.int64] | NDArray[np.int8], n_categories: int) -> Float2D:
    """Count the votes of each item by category.

    Parameters
    ----------
    ratings : array of int, shape (n_items, n_raters)
        Categories 0 .. n_categories - 1, `MISSING` where a rater did not vote.
    n_categories : int
        Number of categories of the scale.

    Returns
    -------
    array of float, shape (n_items, n_categories)

    Raises
    ------
    ValueError
        If a rating lies outside the scale.
    """
    if ratings.size and (ratings.max() >= n_categories or ratings.min() < MISSING):
        raise ValueError(f"ratings lie outside 0..{n_categories - 1}")
    kinds = [np.count_nonzero(ratings == k, axis=1) for k in range(n_categories)]
    return np.stack(kinds, axis=1).astype(np.float64)


# -- Krippendorff's alpha --------------------------------------------------------------------------


def _apart(scale: Scale, values: FloatArray1D, totals: _Complex) -> _Complex:
    """Squared distance of each two categories; by ranks it depends on how often each occurs."""
    if scale == "nominal":
        return 1 - np.eye(values.size, dtype=np.complex128)
    if scale == "interval":
        return np.square(values[:, None] - values[None, :]).astype(np.complex128)
    middle = np.cumsum(totals) - totals / 2
    return np.square(middle[:, None] - middle[None, :])


def _alpha(scale: Scale, values: FloatArray1D, flat: _Complex) -> complex:
    """Alpha of the matrix of coincidences: 1 - (N - 1) sum(o d) / sum(n n' d)."""
    seen = flat.reshape(values.size, values.size)
    totals = seen.sum(axis=0)
    apart = _apart(scale, values, totals)
    expected = np.sum(np.outer(totals, totals) * apart)
    return complex(1 - (totals.sum() - 1) * np.sum(seen * apart) / expected)


def alpha_of(
    ratings: NDArray[np.int64] | NDArray[np.int8],
    clusters: IntArray1D,
    *,
    scale: Scale = "nominal",
    values: Sequence[float] = (0.0, 1.0),
    level: float = 0.95,
) -> Figure:
    """Krippendorff's alpha with an interval over clusters.

    Parameters
    ----------
    ratings : array of int, shape (n_items, n_raters)
        Places in `values`; `MISSING` where a rater did not vote.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    scale : {"nominal", "ordinal", "interval"}
        How far categories are apart. Ordinal needs them in their order.
    values : sequence of float
        The categories; their numbers matter on an interval scale only.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Figure
        1 for perfect agreement, 0 for chance. Undefined where no item has two votes, or only one
        category occurs.

    References
    ----------
    Krippendorff 2011, Computing Krippendorff's alpha-reliability; decision note 0530.

    Examples
    --------
    >>> votes = np.array([[0, 0], [1, 1], [0, 1]])
    >>> round(alpha_of(votes, np.arange(3)).value, 3)
    0.444
    """
    counts = vote_counts(ratings, len(values))
    twice = counts.sum(axis=1) >= 2
    return _alpha_figure(
        counts[twice], clusters[twice], scale, np.asarray(values, np.float64), level
    )


def _alpha_figure(
    counts: Float2D, clusters: IntArray1D, scale: Scale, values: FloatArray1D, level: float
) -> Figure:
    if not len(counts):
        return Figure(Undefined(NO_PAIR), Undefined(NO_PAIR))
    n_votes = counts.sum(axis=1)
    by_category = counts.sum(axis=0)
    if np.count_nonzero(by_category) < 2:
        return Figure(Undefined(SAME), Undefined(SAME))
    k = values.size
    others = counts / (n_votes - 1)[:, None]
    seen = counts.T @ others - np.diag(others.sum(axis=0))

    def project(weights: FloatArray1D) -> FloatArray1D:
        w = weights.reshape(k, k)
        pairs = np.sum((counts @ w) * others, axis=1)
        return np.asarray(pairs - others @ np.diag(w), dtype=np.float64)

    def f(flat: _Complex) -> complex:
        return _alpha(scale, values, flat)

    per_item = float(n_votes.mean())
    rows = np.zeros((k * k, k, k))
    for a in range(k):
        for b in range(k):
            rows[a * k + b, a, b] += per_item / 2
            rows[a * k + b, b, a] += per_item / 2
    pseudo = Pseudo(rows.reshape(k * k, k * k))
    flat = seen.reshape(-1)
    interval = linearised(f, flat, project, clusters, pseudo, level=level)
    return Figure(f(flat.astype(np.complex128)).real, interval)


# -- Gwet's AC1 ------------------------------------------------------------------------------------


def _ac1(t: _Complex) -> complex:
    """AC1 of (shares of each category, agreement, items with two votes); by items with a vote."""
    k = t.size - 2
    shares = t[:k] / t[:k].sum()
    chance = np.sum(shares * (1 - shares)) / (k - 1)
    return complex((t[k] / t[k + 1] - chance) / (1 - chance))


def _ac1_figure(counts: Float2D, clusters: IntArray1D, level: float) -> Figure:
    n_votes = counts.sum(axis=1)
    rated, twice = n_votes >= 1, n_votes >= 2
    if not twice.any():
        return Figure(Undefined(NO_PAIR), Undefined(NO_PAIR))
    k = counts.shape[1]
    rows = np.zeros((len(counts), k + 2))
    np.divide(counts, n_votes[:, None], out=rows[:, :k], where=rated[:, None])
    rows[:, k] = _agreeing(counts, n_votes)
    rows[:, k + 1] = twice
    rows, clusters = rows[rated], clusters[rated]
    kinds = np.zeros((k * k, k + 2))
    for a in range(k):
        for b in range(k):
            kinds[a * k + b, a] += 0.5
            kinds[a * k + b, b] += 0.5
            kinds[a * k + b, k] = a == b
    kinds[:, k + 1] = 1
    totals = rows.sum(axis=0)
    interval = linearised(_ac1, totals, lambda w: rows @ w, clusters, Pseudo(kinds), level=level)
    return Figure(_ac1(totals.astype(np.complex128)).real, interval)


def _agreeing(counts: Float2D, n_votes: FloatArray1D) -> FloatArray1D:
    """Share of an item's pairs of votes that agree; 0 where there is no pair."""
    pairs = n_votes * (n_votes - 1)
    same = np.sum(counts * (counts - 1), axis=1)
    return np.asarray(np.divide(same, pairs, out=np.zeros(len(counts)), where=pairs > 0))


def fleiss_kappa(ratings: NDArray[np.int64], n_categories: int) -> float | None:
    """Fleiss' kappa of raters without missing votes; Scott's pi for two raters.

    Not reported: alpha is the same up to a small-sample term, and takes missing votes.

    Parameters
    ----------
    ratings : array of int, shape (n_items, n_raters)
        Categories 0 .. n_categories - 1.
    n_categories : int
        Number of categories of the scale.

    Returns
    -------
    float or None
        None where only one category occurs, or no item has two votes.

    Raises
    ------
    ValueError
        If a vote is missing.

    References
    ----------
    Fleiss 1971, Psychol. Bull. 76.
    """
    if (ratings < 0).any():
        raise ValueError("a vote is missing")
    counts = vote_counts(ratings, n_categories)
    if not len(counts) or ratings.shape[1] < 2:
        return None
    share = counts.sum(axis=0) / counts.sum()
    chance = float(np.sum(share * share))
    observed = float(_agreeing(counts, counts.sum(axis=1)).mean())
    return None if chance >= 1 else (observed - chance) / (1 - chance)


def many_raters(
    ratings: NDArray[np.int64] | NDArray[np.int8],
    clusters: IntArray1D,
    *,
    level: float = 0.95,
) -> ManyRaters:
    """Measure how far several raters agree on SAFE (0) and UNSAFE (1), with missing votes.

    Parameters
    ----------
    ratings : array of int, shape (n_items, n_raters)
        1, 0, or `MISSING`.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Two-sided confidence level.

    Returns
    -------
    ManyRaters
        Each item with two votes counts once in P_o, PABAK and AC1 (whose chance term rests on all
        items with a vote); each pair of votes counts once in positive and negative agreement.

    References
    ----------
    Gwet 2008, BJMSP 61; Krippendorff 2011; Cicchetti and Feinstein 1990, J. Clin. Epid. 43;
    estimators.md, section 12; decision note 0530.
    """
    counts = vote_counts(ratings, 2)
    n_votes = counts.sum(axis=1)
    twice = n_votes >= 2
    if not twice.any():
        nothing = Figure(Undefined(NO_PAIR), Undefined(NO_PAIR))
        return ManyRaters(dict.fromkeys(RATER_FIGURES, nothing), 0, 0, 0, None)
    two, where = counts[twice], clusters[twice]
    agreeing = _agreeing(two, n_votes[twice])
    sums = cluster_sums(agreeing, where)
    interval = clustered_wilson(sums, level=level)
    rate = sums.total / sums.n
    doubled: Interval | Undefined = interval
    if isinstance(interval, Interval):
        ends = 2 * interval.low - 1, 2 * interval.high - 1
        doubled = Interval(*ends, interval.level, interval.method)
    figures = {
        "observed": Figure(rate, interval),
        "pabak": Figure(2 * rate - 1, doubled),
        "ac1": _ac1_figure(counts, clusters, level),
        "positive": _specific(two, where, 1, level),
        "negative": _specific(two, where, 0, level),
        "alpha": _alpha_figure(two, where, "nominal", np.array([0.0, 1.0]), level),
    }
    return ManyRaters(
        figures,
        n_items=int(np.count_nonzero(twice)),
        n_clusters=sums.n_clusters,
        n_votes=int(n_votes[twice].sum()),
        unanimous=float(np.mean(agreeing == 1)),
    )


def _specific(counts: Float2D, clusters: IntArray1D, label: int, level: float) -> Figure:
    """Agreement on a label over all pairs of votes of an item."""
    own, other = counts[:, label], counts[:, 1 - label]
    both, mixed = own * (own - 1) / 2, own * other
    # pairs of one item are no independent trials: they are scaled so that an average item is one
    there = both + mixed
    scale = 1 / max(1.0, float(there[there > 0].mean())) if there.any() else 1.0
    why = f"nobody says {('SAFE', 'UNSAFE')[label]}"
    return specific(both * scale, there * scale, clusters, why=why, level=level)
