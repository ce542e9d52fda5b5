"""How well a score ranks UNSAFE above SAFE: AUROC, partial AUROC, average precision, catch rate.

Scores are sorted once into blocks of equal ones; every figure is a function of the counts of both
classes in the blocks, so nothing is quadratic and the order of rows cannot matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.intervals import normal_quantile, t_quantile
from judgeaudit.stats.shares import share_interval, spread
from judgeaudit.stats.splits import folds

__all__ = [
    "AUROC_INTERVAL",
    "Blocks",
    "Figure",
    "auroc",
    "average_precision",
    "blocks_of",
    "catch_rate",
    "figures",
    "partial_auroc",
    "standardised",
    "tpr_along",
]

AUROC_INTERVAL = "Newcombe's score interval, DeLong variance over clusters"
GROUPS = 20
"""Groups of clusters that the jackknife leaves out in turn."""

_ONE_CLASS = "only one class occurs among the items with a score"


@dataclass(frozen=True, slots=True)
class Blocks:
    """Items of each class in each block of equal scores, from the highest score down.

    Parameters
    ----------
    positive, negative : array of float, shape (n_blocks,)
        UNSAFE and SAFE items of a block.
    score : array of float, shape (n_blocks,)
        Its score.
    index : array of int, shape (n_items,)
        Block of each item.
    """

    positive: FloatArray1D
    negative: FloatArray1D
    score: FloatArray1D
    index: IntArray1D

    @property
    def one_class(self) -> bool:
        """Whether a class is missing."""
        return not (self.positive.any() and self.negative.any())


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its interval, or the reasons why there is none."""

    value: float | Undefined
    interval: Interval | Undefined


def blocks_of(scores: FloatArray1D, positive: BoolArray1D) -> Blocks:
    """Sort items into blocks of equal scores.

    Parameters
    ----------
    scores : array of float, shape (n_items,)
        The higher, the more likely UNSAFE.
    positive : array of bool, shape (n_items,)
        Whether the item is UNSAFE.
    """
    values, up = np.unique(scores, return_inverse=True)
    index = values.size - 1 - up.reshape(-1)
    total = np.bincount(index, minlength=values.size).astype(np.float64)
    hits = np.bincount(index, weights=positive, minlength=values.size).astype(np.float64)
    return Blocks(hits, total - hits, values[::-1], index)


def auroc(
    scores: FloatArray1D,
    positive: BoolArray1D,
    clusters: IntArray1D,
    *,
    level: float = 0.95,
    made: Blocks | None = None,
) -> Figure:
    """Chance that an UNSAFE item scores above a SAFE one, ties counting half (mid-ranks).

    Parameters
    ----------
    scores, positive
        As in `blocks_of`.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Confidence level.
    made : Blocks, optional
        Of these scores, where they were made before.

    Returns
    -------
    Figure
        Undefined where only one class occurs. The interval solves (A - t)^2 = z^2 D V(t), V the
        variance of Hanley and McNeil in Newcombe's form and D, 1 or more, how much larger the
        variance between clusters is than V(A) or than that between items, whichever is smaller; so
        it does not collapse at perfect separation.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson 1988, Biometrics 44; Obuchowski 1997, Biometrics 53
    (clusters); Newcombe 2006, Stat. Med. 25, 559.

    Examples
    --------
    >>> found = auroc(np.array([0.9, 0.5, 0.5, 0.1]), np.array([1, 1, 0, 0]) == 1, np.arange(4))
    >>> found.value
    0.875
    """
    made = made or blocks_of(scores, positive)
    if made.one_class:
        return Figure(Undefined(_ONE_CLASS), Undefined(_ONE_CLASS))
    pos, neg = made.positive, made.negative
    m, n = float(pos.sum()), float(neg.sum())
    above = np.cumsum(pos) - pos / 2
    below = n - np.cumsum(neg) + neg / 2
    value = float(pos @ below / (m * n))
    placed = np.where(positive, below[made.index] / n, above[made.index] / m)
    gaps = (placed - value) / np.where(positive, m, n)
    sums = np.bincount(clusters, weights=gaps)
    groups = int(np.count_nonzero(np.bincount(clusters)))
    if groups < 2:
        return Figure(value, Undefined("fewer than two clusters"))
    _, df = spread(clusters)
    design, between_items = 1.0, float(gaps @ gaps)
    if between_items > 0:
        variance = groups / (groups - 1) * float(sums @ sums)
        # V errs on the wide side for some scores; what clusters add comes on top all the same
        design = max(1.0, variance / min(_hanley(value, m, n), between_items))
    elif df is not None:  # separated, or all tied: nothing shows how far clusters go together
        design = max(m / spread(clusters[positive])[0], n / spread(clusters[~positive])[0])
    tail = 0.5 + level / 2
    z = normal_quantile(tail) if df is None else t_quantile(tail, df)
    low, high = (_solve(value, m, n, z * z * design, end) for end in (0.0, 1.0))
    return Figure(value, Interval(low, high, level, AUROC_INTERVAL))


def _hanley(a: float, m: float, n: float) -> float:
    """Variance of the AUROC at a, with both class sizes replaced by their mean in the numerator."""
    more = (m + n) / 2 - 1
    return a * (1 - a) * (1 + more * (1 - a) / (2 - a) + more * a / (1 + a)) / (m * n)


def _solve(a: float, m: float, n: float, scale: float, end: float) -> float:
    """Find where (a - t)^2 = scale V(t) between the estimate and an end; the end if nowhere."""
    if a == end:
        return end
    inner, outer = a, end
    for _ in range(60):
        middle = (inner + outer) / 2
        if (a - middle) ** 2 <= scale * _hanley(middle, m, n):
            inner = middle
        else:
            outer = middle
    return inner


# -- figures of the counts alone ------------------------------------------------------------------


def partial_auroc(positive: FloatArray1D, negative: FloatArray1D, max_fpr: float) -> float:
    """Mean TPR over false positive rates up to a limit, ROC points joined by straight lines.

    Parameters
    ----------
    positive, negative : array of float, shape (n_blocks,)
        Counts, from the highest score down; both classes occur.
    max_fpr : float
        The limit, above 0, up to 1.

    Returns
    -------
    float
        The area divided by the limit, 0 to 1; `standardised` puts chance at 0.5.
    """
    return _partial(np.cumsum(positive), np.cumsum(negative), max_fpr)


def _partial(hits: FloatArray1D, false: FloatArray1D, max_fpr: float) -> float:
    """Do the same from cumulative counts; blocks beyond the limit are not looked at."""
    end = min(false.size, 1 + int(np.searchsorted(false, max_fpr * false[-1], side="right")))
    fpr = np.concatenate(([0.0], false[:end] / false[-1]))
    tpr = np.concatenate(([0.0], hits[:end] / hits[-1]))
    stop = int(np.searchsorted(fpr, max_fpr, side="right"))
    if stop < fpr.size:
        share = (max_fpr - fpr[stop - 1]) / (fpr[stop] - fpr[stop - 1])
        last = tpr[stop - 1] + share * (tpr[stop] - tpr[stop - 1])
        fpr = np.append(fpr[:stop], max_fpr)
        tpr = np.append(tpr[:stop], last)
    return float(np.sum(np.diff(fpr) * (tpr[1:] + tpr[:-1])) / 2 / max_fpr)


def _vertices(positive: FloatArray1D, negative: FloatArray1D) -> tuple[FloatArray1D, FloatArray1D]:
    """Return the corners of the ROC curve, (0, 0) the first: one a block of equal scores."""
    fpr = np.concatenate(([0.0], np.cumsum(negative) / negative.sum()))
    tpr = np.concatenate(([0.0], np.cumsum(positive) / positive.sum()))
    return fpr, tpr


def tpr_along(blocks: Blocks, fprs: FloatArray1D) -> FloatArray1D:
    """TPR at given false positive rates, ROC points joined by straight lines.

    Parameters
    ----------
    blocks : Blocks
        Both classes occur.
    fprs : array of float, shape (n,)
        0 to 1; where the curve rises at one of them, its upper end counts.

    Returns
    -------
    array of float, shape (n,)

    Examples
    --------
    >>> made = blocks_of(np.array([0.9, 0.5, 0.5, 0.1]), np.array([1, 1, 0, 0]) == 1)
    >>> tpr_along(made, np.array([0.0, 0.25, 1.0])).tolist()
    [0.5, 0.75, 1.0]
    """
    fpr, tpr = _vertices(blocks.positive, blocks.negative)
    last = np.append(fpr[1:] != fpr[:-1], True)  # the upper end of each rise
    return np.asarray(np.interp(fprs, fpr[last], tpr[last]), dtype=np.float64)


def standardised(mean_tpr: float, max_fpr: float) -> float:
    """Put a mean TPR up to a false positive rate on McClish's scale: 0.5 chance, 1 perfect.

    References
    ----------
    McClish 1989, Med. Decis. Making 9, 190.

    Examples
    --------
    >>> standardised(0.05, 0.1), standardised(1.0, 0.1)
    (0.5, 1.0)
    """
    least, most = max_fpr / 2, 1.0
    return 0.5 * (1 + (mean_tpr - least) / (most - least))


def average_precision(positive: FloatArray1D, negative: FloatArray1D) -> float:
    """Area under precision against recall in steps: the mean precision at each UNSAFE item.

    Parameters
    ----------
    positive, negative : array of float, shape (n_blocks,)
        Counts, from the highest score down; an UNSAFE item occurs.
    """
    hits = np.cumsum(positive)
    return _precision(positive, hits, hits + np.cumsum(negative))


def _precision(positive: FloatArray1D, hits: FloatArray1D, taken: FloatArray1D) -> float:
    precision = np.divide(hits, taken, out=np.zeros_like(hits), where=taken > 0)
    return float(positive @ precision / hits[-1])


def catch_rate(positive: FloatArray1D, negative: FloatArray1D, budget: float) -> float:
    """Share of the UNSAFE items among the given fraction of items with the highest scores.

    Parameters
    ----------
    positive, negative : array of float, shape (n_blocks,)
        Counts, from the highest score down; an UNSAFE item occurs.
    budget : float
        Fraction of all items that is audited; a block that is reached in part counts in part,
        as it would on average over random orders of equal scores.
    """
    return _caught(np.cumsum(positive), np.cumsum(positive + negative), budget)


def _caught(hits: FloatArray1D, taken: FloatArray1D, budget: float) -> float:
    """Interpolate between the blocks around the budget, the first of which begins at nothing."""
    reach = budget * float(taken[-1])
    k = min(taken.size - 1, int(np.searchsorted(taken, reach)))
    before, had = (float(taken[k - 1]), float(hits[k - 1])) if k else (0.0, 0.0)
    size = float(taken[k]) - before
    share = (reach - before) / size if size > 0 else 0.0
    return (had + share * (float(hits[k]) - had)) / float(hits[-1])


def figures(
    scores: FloatArray1D,
    positive: BoolArray1D,
    clusters: IntArray1D,
    rng: np.random.Generator,
    *,
    max_fprs: Sequence[float] = (),
    budgets: Sequence[float] = (),
    level: float = 0.95,
    made: Blocks | None = None,
) -> list[Figure]:
    """Compute mean TPR up to false positive rates, average precision and catch rates.

    Parameters
    ----------
    scores, positive, clusters, level, made
        As in `auroc`.
    rng : numpy.random.Generator
        Deals clusters to the groups of the jackknife.
    max_fprs, budgets : sequence of float
        Limits of partial areas, and audit budgets.

    Returns
    -------
    list of Figure
        One for each limit, the average precision, one for each budget. All undefined where only
        one class occurs. Intervals: Wilson's with the variance of a jackknife that leaves out a
        twentieth of the clusters at a time; it holds for quantiles too, where leaving out one
        cluster would not.

    References
    ----------
    Shao and Wu 1989, Ann. Stat. 17, 1176 (leaving out many).
    """
    made = made or blocks_of(scores, positive)
    if made.one_class:
        gone = Figure(Undefined(_ONE_CLASS), Undefined(_ONE_CLASS))
        return [gone] * (len(max_fprs) + 1 + len(budgets))

    def all_of(pos: FloatArray1D, neg: FloatArray1D) -> list[float]:
        hits, false = np.cumsum(pos), np.cumsum(neg)
        taken = hits + false
        return [
            *(_partial(hits, false, f) for f in max_fprs),
            _precision(pos, hits, taken),
            *(_caught(hits, taken, b) for b in budgets),
        ]

    values = all_of(made.positive, made.negative)
    variances = _jackknife(made, positive, folds(clusters, GROUPS, rng, positive), all_of)
    number, df = spread(clusters[positive])
    return [
        Figure(
            value,
            share_interval(
                value,
                None if variances is None else float(variances[k]),
                most=float(made.positive.sum()),
                bare=number,
                df=df,
                level=level,
            ),
        )
        for k, value in enumerate(values)
    ]


def _jackknife(
    made: Blocks,
    positive: BoolArray1D,
    group: IntArray1D,
    all_of: Callable[[FloatArray1D, FloatArray1D], list[float]],
) -> FloatArray1D | None:
    """Variances of figures from leaving out each group; None where that leaves one class."""
    left_out = []
    size = made.score.size
    for g in range(int(group.max()) + 1):
        there = group == g
        index, hit = made.index[there], positive[there]
        pos = made.positive - np.bincount(index[hit], minlength=size)
        neg = made.negative - np.bincount(index[~hit], minlength=size)
        if not (pos.any() and neg.any()):
            return None
        left_out.append(all_of(pos, neg))
    k = len(left_out)
    if k < 2:
        return None
    out: FloatArray1D = (k - 1) ** 2 / k * np.var(np.array(left_out), axis=0, ddof=1)
    return out
