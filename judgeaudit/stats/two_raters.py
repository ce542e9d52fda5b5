"""Agreement of two who label the same items: seven figures, each with an interval over clusters.

Who says UNSAFE with which chance is all that enters: a judge asked several times counts by the
share of its verdicts, several raters by the share of their votes. So every figure is that of one
call and one rater drawn at random, as in use, and does not depend on how often anybody was asked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.intervals import clustered_wilson
from judgeaudit.stats.linearised import Pseudo, linearised

__all__ = [
    "FIGURES",
    "Figure",
    "TwoRaters",
    "cells_of",
    "misleading",
    "of_table",
    "scott_pi",
    "specific",
    "two_raters",
]

FIGURES: Final = ("observed", "kappa", "pabak", "ac1", "positive", "negative", "alpha")
"""Names of the figures, in their order."""

NO_ITEM: Final = "no item has both labels"
ONE_CATEGORY: Final = "only one label occurs: agreement beyond chance cannot be told from chance"
COUNTS_ALONE: Final = "counts do not say which items belong together"
_NONE: Final[dict[str, str]] = {
    "positive": "neither ever says UNSAFE",
    "negative": "neither ever says SAFE",
}
_SKEWED: Final = 0.5
_APART: Final = 0.2
_MOST: Final = 0.8


@dataclass(frozen=True, slots=True)
class Figure:
    """A coefficient, or why there is none, and its interval, or why there is none."""

    value: float | Undefined
    interval: Interval | Undefined


@dataclass(frozen=True, slots=True)
class TwoRaters:
    """Agreement of two on common items.

    Parameters
    ----------
    figures : dict of str to Figure
        By name as of `FIGURES`: P_o; Cohen's kappa; PABAK, 2 P_o - 1; Gwet's AC1; positive
        (UNSAFE) and negative (SAFE) agreement; Krippendorff's alpha, nominal.
    cells : tuple of float
        Both UNSAFE, only the first, only the second, both SAFE; in items.
    n_items, n_clusters : int
        Items with both labels, and their clusters.
    """

    figures: dict[str, Figure]
    cells: tuple[float, float, float, float]
    n_items: int
    n_clusters: int

    @property
    def prevalence_index(self) -> float | None:
        """Difference of both-UNSAFE and both-SAFE as a fraction of items (Byrt et al. 1993)."""
        a, _, _, d = self.cells
        return (a - d) / self.n_items if self.n_items else None

    @property
    def bias_index(self) -> float | None:
        """How much more often the first says UNSAFE, as a fraction of items."""
        _, b, c, _ = self.cells
        return (b - c) / self.n_items if self.n_items else None


# -- the coefficients as rational functions of the totals a, b, c, d ------------------------------

_Cells = NDArray[np.complex128]


def _observed(t: _Cells) -> complex:
    return complex((t[0] + t[3]) / t.sum())


def _kappa(t: _Cells) -> complex:
    a, b, c, d = t
    return complex(2 * (a * d - b * c) / ((a + b) * (b + d) + (a + c) * (c + d)))


def _ac1(t: _Cells) -> complex:
    share = (2 * t[0] + t[1] + t[2]) / (2 * t.sum())
    chance = 2 * share * (1 - share)
    return complex((_observed(t) - chance) / (1 - chance))


def _alpha(t: _Cells) -> complex:
    a, b, c, d = t
    ones, zeros = 2 * a + b + c, 2 * d + b + c
    return complex(1 - (ones + zeros - 1) * (b + c) / (ones * zeros))


_SMOOTH: Final[dict[str, Callable[[_Cells], complex]]] = {
    "kappa": _kappa,
    "ac1": _ac1,
    "alpha": _alpha,
}
_PSEUDO: Final = Pseudo(np.eye(4))


def cells_of(first: FloatArray1D, second: FloatArray1D) -> NDArray[np.float64]:
    """Spread each item over the four cells, by the chance that each says UNSAFE.

    Parameters
    ----------
    first, second : array of float, shape (n_items,)
        Chance of UNSAFE, 0 to 1: a label of 0 or 1, or a share of verdicts or votes.

    Returns
    -------
    array of float, shape (n_items, 4)
        Both UNSAFE, only the first, only the second, both SAFE.

    Examples
    --------
    >>> cells_of(np.array([1.0]), np.array([0.25])).tolist()
    [[0.25, 0.75, 0.0, 0.0]]
    """
    a = first * second
    return np.stack([a, first - a, second - a, 1 - first - second + a], axis=1)


def two_raters(
    first: FloatArray1D,
    second: FloatArray1D,
    clusters: IntArray1D,
    *,
    present: NDArray[np.bool_] | None = None,
    level: float = 0.95,
) -> TwoRaters:
    """Measure how far two agree on the items that both labelled.

    Parameters
    ----------
    first, second : array of float, shape (n_items,)
        Chance that each says UNSAFE, 0 to 1; any value where `present` is False.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    present : array of bool, shape (n_items,), optional
        Items that both labelled; all where it is left out.
    level : float
        Two-sided confidence level.

    Returns
    -------
    TwoRaters
        P_o, positive and negative agreement with Wilson's interval over clusters; kappa, AC1 and
        alpha with the linearised one. kappa and alpha are undefined where one label alone occurs,
        positive (negative) agreement where nobody says UNSAFE (SAFE).

    Raises
    ------
    ValueError
        If a chance lies outside 0 to 1.

    References
    ----------
    Cohen 1960, Educ. Psychol. Meas. 20; Byrt, Bishop and Carlin 1993, J. Clin. Epid. 46; Gwet
    2008, BJMSP 61; Cicchetti and Feinstein 1990, J. Clin. Epid. 43; Krippendorff 2011;
    estimators.md, section 12; decision note 0530.

    Examples
    --------
    >>> one = np.repeat([1.0, 1.0, 0.0, 0.0], [2, 5, 5, 88])
    >>> two = np.repeat([1.0, 0.0, 1.0, 0.0], [2, 5, 5, 88])
    >>> found = two_raters(one, two, np.arange(100)).figures
    >>> [round(found[k].value, 3) for k in ("observed", "kappa", "pabak", "ac1")]
    [0.9, 0.232, 0.8, 0.885]
    """
    if present is not None:
        first, second, clusters = first[present], second[present], clusters[present]
    if not first.size:
        nothing = Figure(Undefined(NO_ITEM), Undefined(NO_ITEM))
        return TwoRaters(dict.fromkeys(FIGURES, nothing), (0.0, 0.0, 0.0, 0.0), 0, 0)
    for values in (first, second):
        if not (values.min() >= 0 and values.max() <= 1):
            raise ValueError("a chance lies outside 0..1")
    items = cells_of(np.asarray(first, np.float64), np.asarray(second, np.float64))
    totals = items.sum(axis=0)
    sums = cluster_sums(items[:, 0] + items[:, 3], clusters)
    observed = clustered_wilson(sums, level=level)
    figures = {
        "observed": Figure(sums.total / sums.n, observed),
        "pabak": Figure(2 * sums.total / sums.n - 1, _doubled(observed)),
        "positive": _specific("positive", items, clusters, level),
        "negative": _specific("negative", items, clusters, level),
    }
    mixed = 2 * totals[0] + totals[1] + totals[2], 2 * totals[3] + totals[1] + totals[2]
    for name, f in _SMOOTH.items():
        if min(mixed) <= 0 and name != "ac1":
            figures[name] = Figure(Undefined(ONE_CATEGORY), Undefined(ONE_CATEGORY))
            continue
        figures[name] = Figure(
            f(totals.astype(np.complex128)).real,
            linearised(f, totals, lambda w: items @ w, clusters, _PSEUDO, level=level),
        )
    a, b, c, d = (float(x) for x in totals)
    return TwoRaters({k: figures[k] for k in FIGURES}, (a, b, c, d), first.size, sums.n_clusters)


def of_table(both: float, first: float, second: float, neither: float) -> TwoRaters:
    """Measure agreement from the four counts of a table; intervals need the items.

    Parameters
    ----------
    both, first, second, neither : float
        Items that both, only the first, only the second, and neither calls UNSAFE.

    Returns
    -------
    TwoRaters
        The figures of `two_raters`, undefined in the same cases.

    Examples
    --------
    >>> found = of_table(2, 5, 5, 88).figures
    >>> [round(found[k].value, 3) for k in ("observed", "kappa", "ac1")]
    [0.9, 0.232, 0.885]
    """
    cells = np.array([both, first, second, neither], dtype=np.float64)
    n, mixed = float(cells.sum()), first + second
    if n == 0:
        nothing = Figure(Undefined(NO_ITEM), Undefined(NO_ITEM))
        return TwoRaters(dict.fromkeys(FIGURES, nothing), (0.0, 0.0, 0.0, 0.0), 0, 0)
    found: dict[str, float | Undefined] = {
        "observed": (both + neither) / n,
        "pabak": 2 * (both + neither) / n - 1,
    }
    for name, same in (("positive", both), ("negative", neither)):
        found[name] = 2 * same / (2 * same + mixed) if same + mixed else Undefined(_NONE[name])
    one_label = both + mixed == 0 or neither + mixed == 0
    for name, f in _SMOOTH.items():
        lacks = one_label and name != "ac1"
        found[name] = Undefined(ONE_CATEGORY) if lacks else f(cells.astype(np.complex128)).real
    no = Undefined(COUNTS_ALONE)
    return TwoRaters(
        {k: Figure(found[k], no) for k in FIGURES}, (both, first, second, neither), int(n), 0
    )


def scott_pi(found: TwoRaters) -> float | Undefined:
    """Compute Scott's pi: as kappa, with the chance of both raters' pooled labels.

    References
    ----------
    Scott 1955, Public Opin. Q. 19, 321.

    Examples
    --------
    >>> scott_pi(of_table(45, 5, 5, 45))
    0.8
    """
    a, b, c, d = found.cells
    ones, zeros = 2 * a + b + c, 2 * d + b + c
    if not ones or not zeros:
        return Undefined(NO_ITEM if ones == zeros else ONE_CATEGORY)
    return (4 * a * d - (b + c) ** 2) / (ones * zeros)


def _doubled(interval: Interval | Undefined) -> Interval | Undefined:
    if isinstance(interval, Undefined):
        return interval
    return Interval(2 * interval.low - 1, 2 * interval.high - 1, interval.level, interval.method)


def _specific(which: str, items: NDArray[np.float64], clusters: IntArray1D, level: float) -> Figure:
    both, mixed = items[:, 0 if which == "positive" else 3], items[:, 1] + items[:, 2]
    return specific(both, both + mixed, clusters, why=_NONE[which], level=level)


def specific(
    both: FloatArray1D, either: FloatArray1D, clusters: IntArray1D, *, why: str, level: float
) -> Figure:
    """Agreement on one label, 2a / (2a + b + c), from the rate x = a / (a + b + c).

    It is 2x / (1 + x), which grows with x: so Wilson's limits of x over clusters are carried over.

    Parameters
    ----------
    both, either : array of float, shape (n_items,)
        Pairs of labels of an item that are both, and that are at least one, of this label.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    why : str
        The reason, should nobody give this label.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Figure
    """
    sums = cluster_sums(both, clusters, either)
    if sums.n <= 0:
        return Figure(Undefined(why), Undefined(why))
    inner = clustered_wilson(sums, level=level)
    if isinstance(inner, Undefined):
        return Figure(_dice(sums.total / sums.n), inner)
    ends = _dice(inner.low), _dice(inner.high)
    return Figure(_dice(sums.total / sums.n), Interval(*ends, inner.level, inner.method))


def _dice(x: float) -> float:
    return 2 * x / (1 + x)


def misleading(found: TwoRaters, words: Callable[[float], str] = "{:.3f}".format) -> str | None:
    """Say in plain words when one rare label makes kappa low though most labels agree.

    Parameters
    ----------
    found : TwoRaters
        Of which kappa and AC1 are compared.
    words : callable
        Writes a fraction.

    Returns
    -------
    str or None
        None where kappa does not mislead: where neither label is rare (prevalence index up to
        0.5), kappa and AC1 tell the same story (within 0.2), or fewer than 0.8 agree.

    Examples
    --------
    >>> one = np.repeat([1.0, 1.0, 0.0, 0.0], [2, 5, 5, 88])
    >>> two = np.repeat([1.0, 0.0, 1.0, 0.0], [2, 5, 5, 88])
    >>> misleading(two_raters(one, two, np.arange(100)))[:33]
    '0.930 of the labels are SAFE, so '
    """
    kappa, ac1 = found.figures["kappa"].value, found.figures["ac1"].value
    index = found.prevalence_index
    if index is None or isinstance(ac1, Undefined):
        return None
    a, b, c, d = found.cells
    unsafe = (2 * a + b + c) / (2 * found.n_items)
    common, rare = ("SAFE", "UNSAFE") if unsafe < 0.5 else ("UNSAFE", "SAFE")
    share = words(max(unsafe, 1 - unsafe))
    if isinstance(kappa, Undefined):
        return (
            f"all labels are {common}: that both say so is all that is known; whether they would "
            f"agree on what is {rare} is not"
        )
    # where labels often differ, kappa is low because of that
    agree = (a + d) / found.n_items
    if abs(index) <= _SKEWED or ac1 - kappa <= _APART or agree < _MOST:
        return None
    observed = words(agree)
    return (
        f"{share} of the labels are {common}, so chance alone agrees often and kappa is low "
        f"though {observed} agree; read {'positive' if rare == 'UNSAFE' else 'negative'} "
        f"agreement (on {rare}) and AC1 beside it"
    )
