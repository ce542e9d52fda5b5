"""The reliability diagram: UNSAFE frequency against probability of UNSAFE, bin by bin."""

from __future__ import annotations

import numpy as np

from judgeaudit.metrics._estimate import Estimate, to_score
from judgeaudit.metrics._judged import judged
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import View
from judgeaudit.metrics.calibration import BINS, found_ece
from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.calibration import equal_width
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.intervals import clustered_wilson

__all__ = ["direction", "reliability"]


def direction(mean_p: float, ends: Interval) -> str | None:
    """Say in which direction a bin misses, where its interval leaves the mean probability out.

    Examples
    --------
    >>> direction(0.9, Interval(0.5, 0.8, 0.95, ""))
    'overconfident of UNSAFE'
    >>> direction(0.4, Interval(0.5, 0.8, 0.95, ""))
    'overconfident of SAFE'
    """
    if ends.low <= mean_p <= ends.high:
        return None
    label = "UNSAFE" if mean_p >= 0.5 else "SAFE"
    beyond = mean_p > ends.high if label == "UNSAFE" else mean_p < ends.low
    return f"{'over' if beyond else 'under'}confident of {label}"


@METRICS.register("reliability")
def reliability(view: View) -> Report:
    """UNSAFE frequency of each bin that holds an item, with its interval, count and mean.

    A bin is called over- or underconfident only where the whole is shown to be miscalibrated and
    the bin's interval, at a level corrected for the number of bins, leaves its mean out.
    """
    data, found = judged(view), found_ece(view)
    if isinstance(data, Undefined) or isinstance(found, Undefined):
        return Report()
    bins = equal_width(data.p, data.unsafe, BINS)
    shown = found.floor.p_value <= 1 - view.level + 1e-12
    strict = 1 - (1 - view.level) / int(np.count_nonzero(bins.there))
    scores = []
    for k in np.flatnonzero(bins.there).tolist():
        here = bins.index == k
        sums = cluster_sums(data.unsafe[here].astype(np.float64), data.clusters[here])
        mean = float(bins.mean_p[k])
        ends = clustered_wilson(sums, level=strict)
        assert isinstance(ends, Interval)
        said = direction(mean, ends) if shown else None
        made = Estimate(
            value=float(bins.frequency[k]),
            interval=clustered_wilson(sums, level=view.level),
            numerator=sums.total,
            denominator=sums.n,
            n_items=int(sums.n),
            n_clusters=sums.n_clusters,
            detail={
                "bin": float(k + 1),
                "bin_low": float(bins.edges[k]),
                "bin_high": float(bins.edges[k + 1]),
                "n": float(bins.n[k]),
                "mean_p": mean,
                "frequency": float(bins.frequency[k]),
                "gap": float(bins.gap[k]),
            },
        )
        scores.append(
            to_score(
                made,
                metric="reliability",
                unit="fraction of items",
                better="neither",
                stratum=f"bin {k + 1}",
                note=said,
            )
        )
    return Report(tuple(scores))
