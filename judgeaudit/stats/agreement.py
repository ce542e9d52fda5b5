"""Agreement of raters beyond chance: Krippendorff's alpha and Gwet's AC1, for nominal ratings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import Undefined

__all__ = ["MISSING", "Agreement", "gwet_ac1", "krippendorff_alpha"]

MISSING = -1
"""What stands in an array of ratings where a rater did not rate an item."""

_SAME = "every rating is the same: agreement beyond chance cannot be told from chance"
_NO_PAIR = "no item has two ratings"


@dataclass(frozen=True, slots=True)
class Agreement:
    """A coefficient of agreement.

    Parameters
    ----------
    value : float
        1 for perfect agreement, 0 for chance; below 0 worse than chance. No unit.
    observed, expected : float
        The share of agreeing pairs of ratings, seen and expected by chance, 0 to 1.
    n_items, n_ratings : int
        Items with two ratings or more, and the ratings on them.
    method : str
        Name of the coefficient.
    """

    value: float
    observed: float
    expected: float
    n_items: int
    n_ratings: int
    method: str


def _counts(ratings: NDArray[np.int64], n_categories: int) -> NDArray[np.int64]:
    """Count ratings by item and category, shape (n_items, n_categories)."""
    if ratings.ndim != 2 or ratings.size == 0:
        return np.zeros((0, n_categories), dtype=np.int64)
    if ratings.max() >= n_categories or ratings.min() < MISSING:
        raise ValueError(f"ratings lie outside 0..{n_categories - 1}")
    return np.stack([(ratings == k).sum(axis=1) for k in range(n_categories)], axis=1)


def krippendorff_alpha(ratings: NDArray[np.int64], n_categories: int) -> Agreement | Undefined:
    """Krippendorff's alpha with the nominal metric.

    Parameters
    ----------
    ratings : array of int, shape (n_items, n_raters)
        Categories 0 .. n_categories - 1; `MISSING` where a rater did not rate.
    n_categories : int
        Number of categories of the scale.

    Returns
    -------
    Agreement or Undefined
        Undefined where no item has two ratings, or only one category occurs among those that
        have.

    Raises
    ------
    ValueError
        If a rating lies outside the scale.

    References
    ----------
    Krippendorff 2011, Computing Krippendorff's alpha-reliability; estimators.md, section 12.

    Examples
    --------
    >>> made = krippendorff_alpha(np.array([[0, 0], [1, 1], [0, 1]]), 2)
    >>> round(made.value, 3)
    0.444
    """
    counts = _counts(ratings, n_categories)
    counts = counts[counts.sum(axis=1) >= 2]
    if not len(counts):
        return Undefined(_NO_PAIR)
    per_item = counts.sum(axis=1)
    total = int(per_item.sum())
    by_category = counts.sum(axis=0)
    if np.count_nonzero(by_category) < 2:
        return Undefined(_SAME)
    # each item's pairs weigh 1 / (ratings - 1), so that each rating weighs the same
    pairs = (counts * (counts - 1)).sum(axis=1) / (per_item - 1)
    observed = float(pairs.sum() / total)
    expected = float((by_category * (by_category - 1)).sum() / (total * (total - 1)))
    return Agreement(
        value=1 - (1 - observed) / (1 - expected),
        observed=observed,
        expected=expected,
        n_items=len(counts),
        n_ratings=total,
        method="Krippendorff's alpha, nominal",
    )


def gwet_ac1(ratings: NDArray[np.int64], n_categories: int) -> Agreement | Undefined:
    """Gwet's AC1; with two categories the chance term is 2 pi (1 - pi).

    Defined also where all ratings are the same, which is what raters of good rewrites say.

    Parameters
    ----------
    ratings : array of int, shape (n_items, n_raters)
        Categories 0 .. n_categories - 1; `MISSING` where a rater did not rate.
    n_categories : int
        Number of categories of the scale, two or more, whether or not all of them occur.

    Returns
    -------
    Agreement or Undefined
        Undefined where no item has two ratings.

    Raises
    ------
    ValueError
        If a rating lies outside the scale, or the scale has one category.

    References
    ----------
    Gwet 2008, British Journal of Mathematical and Statistical Psychology 61; estimators.md,
    section 12.

    Examples
    --------
    >>> made = gwet_ac1(np.array([[0, 0, 0], [0, 0, 1]]), 2)
    >>> round(made.value, 3)
    0.538
    """
    if n_categories < 2:
        raise ValueError("a scale has two categories or more")
    counts = _counts(ratings, n_categories)
    per_item = counts.sum(axis=1)
    rated = per_item >= 1
    twice = per_item >= 2
    if not twice.any():
        return Undefined(_NO_PAIR)
    share = (counts[rated] / per_item[rated, None]).mean(axis=0)
    expected = float((share * (1 - share)).sum() / (n_categories - 1))
    n = per_item[twice]
    agreeing = (counts[twice] * (counts[twice] - 1)).sum(axis=1) / (n * (n - 1))
    observed = float(agreeing.mean())
    return Agreement(
        value=(observed - expected) / (1 - expected),
        observed=observed,
        expected=expected,
        n_items=int(twice.sum()),
        n_ratings=int(n.sum()),
        method="Gwet's AC1",
    )
