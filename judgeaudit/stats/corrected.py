"""Rates corrected with a few human labels on a random subset of the items."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from judgeaudit.stats._types import BoolArray1D, Interval, Undefined
from judgeaudit.stats.intervals import normal_quantile, wilson

__all__ = [
    "Corrected",
    "human_only",
    "poststratified",
    "ppi",
    "rogan_gladen",
    "rogan_gladen_point",
]


@dataclass(frozen=True, slots=True)
class Corrected:
    """A corrected UNSAFE rate.

    Parameters
    ----------
    value : float or Undefined
        Fraction of items.
    interval : Interval or Undefined
        Its interval.
    weight : float, optional
        Lambda of PPI++; 1 for PPI.
    clipped : bool
        Whether the value was brought back into [0, 1].
    """

    value: float | Undefined
    interval: Interval | Undefined
    weight: float | None = None
    clipped: bool = False


def human_only(human: BoolArray1D, *, level: float = 0.95) -> Corrected:
    """Human labels alone, with Wilson's interval.

    Parameters
    ----------
    human : array of bool, shape (n_labelled,)
        Human labels, True for UNSAFE.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Corrected
    """
    if human.size == 0:
        why = Undefined("no human label")
        return Corrected(why, why)
    hits = float(np.count_nonzero(human))
    return Corrected(hits / human.size, wilson(hits, human.size, level=level))


def poststratified(
    judge: BoolArray1D, human: BoolArray1D, labelled: BoolArray1D, *, level: float = 0.95
) -> Corrected:
    """Human rates within each verdict, weighted by how often the judge gives it; MOVER interval.

    The default: for a binary judge it is PPI++ with the best weight, without its collapse.

    Parameters
    ----------
    judge : array of bool, shape (n_items,)
        The judge's verdicts on all items, True for UNSAFE.
    human : array of bool, shape (n_items,)
        Human labels; read only where `labelled`.
    labelled : array of bool, shape (n_items,)
        Items with a human label, a random subset.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Corrected
        A verdict without a labelled item takes the overall human rate with limits [0, 1].

    References
    ----------
    estimators.md, section 11.
    """
    n_labelled = int(np.count_nonzero(labelled))
    if n_labelled == 0:
        why = Undefined("no human label")
        return Corrected(why, why)
    overall = float(np.count_nonzero(human & labelled)) / n_labelled
    share = float(np.mean(judge))
    parts = []
    for verdict in (True, False):
        chosen = labelled & (judge == verdict)
        n, hits = int(np.count_nonzero(chosen)), int(np.count_nonzero(human & chosen))
        inner = wilson(hits, n, level=level)
        ends = (0.0, 1.0) if isinstance(inner, Undefined) else (inner.low, inner.high)
        parts.append((hits / n if n else overall, *ends))
    (p1, l1, u1), (p0, l0, u0) = parts
    value = share * p1 + (1 - share) * p0
    z = normal_quantile(0.5 + level / 2)
    between = z * z * share * (1 - share) * (p1 - p0) ** 2 / judge.size
    below = share**2 * (p1 - l1) ** 2 + (1 - share) ** 2 * (p0 - l0) ** 2 + between
    above = share**2 * (u1 - p1) ** 2 + (1 - share) ** 2 * (u0 - p0) ** 2 + between
    return Corrected(
        value,
        Interval(
            max(0.0, value - sqrt(below)),
            min(1.0, value + sqrt(above)),
            level,
            "post-stratified, MOVER",
        ),
    )


def ppi(
    judge: BoolArray1D,
    human: BoolArray1D,
    labelled: BoolArray1D,
    *,
    tuned: bool = True,
    level: float = 0.95,
) -> Corrected:
    """Prediction-powered inference: human rate plus what the unlabelled verdicts add.

    Parameters
    ----------
    judge, human, labelled : array of bool, shape (n_items,)
        As in `poststratified`.
    tuned : bool
        PPI++, with the weight that minimises the variance; else PPI, weight 1.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Corrected
        Undefined for fewer than two labelled or two unlabelled items, and, instead of the NaN of
        other packages, without an interval where neither judge nor labels vary.

    References
    ----------
    Angelopoulos et al. 2023, Science 382; PPI++ arXiv 2311.01453.
    """
    y, f = human[labelled].astype(float), judge[labelled].astype(float)
    rest = judge[~labelled].astype(float)
    n, m = y.size, rest.size
    if n < 2 or m < 2:
        why = Undefined("fewer than two labelled or two unlabelled items")
        return Corrected(why, why)
    weight = 1.0
    spread = float(np.var(judge.astype(float), ddof=1))
    if tuned:
        covariance = float(np.cov(y, f, ddof=1)[0, 1])
        weight = min(1.0, max(0.0, covariance / ((1 + n / m) * spread))) if spread > 0 else 0.0
    value = float(np.mean(y) + weight * (np.mean(rest) - np.mean(f)))
    variance = float(np.var(y - weight * f, ddof=1)) / n
    variance += weight**2 * float(np.var(rest, ddof=1)) / m
    if variance <= 0:
        return Corrected(value, Undefined("neither judge nor labels vary"), weight)
    half = normal_quantile(0.5 + level / 2) * sqrt(variance)
    name = "PPI++" if tuned else "PPI"
    return Corrected(value, Interval(value - half, value + half, level, name), weight)


def rogan_gladen_point(apparent: float, sensitivity: float, specificity: float) -> Corrected:
    """Rate behind an apparent rate, from a sensitivity and specificity believed to transfer.

    Parameters
    ----------
    apparent : float
        Share of UNSAFE verdicts.
    sensitivity, specificity : float
        Of the judge, from elsewhere.

    Returns
    -------
    Corrected
        Clipped to [0, 1], and says so. Undefined where sensitivity + specificity <= 1.

    References
    ----------
    Rogan and Gladen 1978, Am. J. Epid. 107.
    """
    youden = sensitivity + specificity - 1
    if youden <= 0:
        why = Undefined("sensitivity and specificity together do not exceed 1")
        return Corrected(why, why)
    raw = (apparent + specificity - 1) / youden
    value = min(1.0, max(0.0, raw))
    return Corrected(
        value, Undefined("a point needs counts to have an interval"), None, value != raw
    )


def rogan_gladen(
    judge: BoolArray1D, human: BoolArray1D, labelled: BoolArray1D, *, level: float = 0.95
) -> Corrected:
    """Rogan and Gladen's rate with sensitivity and specificity from the labelled items.

    Parameters
    ----------
    judge, human, labelled : array of bool, shape (n_items,)
        As in `poststratified`.
    level : float
        Two-sided confidence level.

    Returns
    -------
    Corrected
        Delta-method interval. Undefined where a class has no label.

    References
    ----------
    Rogan and Gladen 1978, Am. J. Epid. 107; Lang and Reiczigel 2014, Prev. Vet. Med. 113.
    """
    sick, well = labelled & human, labelled & ~human
    n1, n0 = int(np.count_nonzero(sick)), int(np.count_nonzero(well))
    if n1 == 0 or n0 == 0:
        why = Undefined("a class has no human label")
        return Corrected(why, why)
    se = int(np.count_nonzero(judge & sick)) / n1
    sp = int(np.count_nonzero(~judge & well)) / n0
    apparent = float(np.mean(judge))
    point = rogan_gladen_point(apparent, se, sp)
    if isinstance(point.value, Undefined):
        return point
    youden = se + sp - 1
    raw = (apparent + sp - 1) / youden
    variance = (
        apparent * (1 - apparent) / judge.size
        + raw**2 * se * (1 - se) / n1
        + (1 - raw) ** 2 * sp * (1 - sp) / n0
    ) / youden**2
    half = normal_quantile(0.5 + level / 2) * sqrt(variance)
    interval = Interval(max(0.0, raw - half), min(1.0, raw + half), level, "Rogan-Gladen, delta")
    return Corrected(point.value, interval, None, point.clipped)
