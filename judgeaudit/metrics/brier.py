"""The Brier score of the judge's probabilities, with the five terms that it is made of."""

from __future__ import annotations

from judgeaudit.metrics._estimate import Estimate, to_score
from judgeaudit.metrics._judged import judged
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import View
from judgeaudit.metrics.calibration import BINS
from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Undefined
from judgeaudit.stats.calibration import brier_terms, equal_width
from judgeaudit.stats.clusters import n_distinct
from judgeaudit.stats.shares import mean_interval

__all__ = ["brier", "brier_of"]


def brier_of(
    p: FloatArray1D, y: BoolArray1D, clusters: IntArray1D, *, level: float = 0.95
) -> Estimate:
    """Mean squared distance between the probability of UNSAFE and the label.

    Parameters
    ----------
    p : array of float, shape (n_items,)
        Probability of UNSAFE.
    y : array of bool, shape (n_items,)
        Whether the item is UNSAFE.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    level : float
        Confidence level.

    Returns
    -------
    Estimate
        0 best, 1 worst. The detail has the five terms in ten bins, which add up to the score, and
        its skill: what share it takes off the score of always saying the base rate (None where
        one class occurs).
    """
    if not p.size:
        why = Undefined("no labelled item has a score")
        return Estimate(why, why)
    terms = brier_terms(p, y, equal_width(p, y, BINS))
    some = terms.uncertainty > 0
    return Estimate(
        value=terms.brier,
        interval=mean_interval((p - y) ** 2, clusters, level=level),
        n_items=int(p.size),
        n_clusters=n_distinct(clusters),
        detail={
            "reliability": terms.reliability,
            "resolution": terms.resolution,
            "uncertainty": terms.uncertainty,
            "within_bin_variance": terms.within_variance,
            "within_bin_covariance": terms.within_covariance,
            "skill": 1 - terms.brier / terms.uncertainty if some else None,
            "bins": float(BINS),
        },
    )


@METRICS.register("brier")
def brier(view: View) -> Report:
    """Brier score of the probability of UNSAFE, with its decomposition."""
    data = judged(view)
    if isinstance(data, Undefined):
        made = Estimate(data, data)
    else:
        made = brier_of(data.p, data.unsafe, data.clusters, level=view.level)
    return Report(
        (
            to_score(
                made,
                metric="brier",
                unit="squared probability",
                better="lower",
                excluded=view.excluded([view.base]),
                note=None if isinstance(data, Undefined) else data.note,
            ),
        )
    )
