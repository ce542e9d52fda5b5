"""What a judge knows of itself: whether confidence tells its right verdicts from its wrong ones.

Not in the registry: sources come from beside the ledger (questions that were asked afterwards).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from judgeaudit.core.records.scores import Score
from judgeaudit.metrics._estimate import Better, Estimate, to_score
from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Interval, Undefined
from judgeaudit.stats.adjusted_t import adjusted_t
from judgeaudit.stats.calibration import ece, equal_width
from judgeaudit.stats.clusters import cluster_sums, n_distinct
from judgeaudit.stats.intervals import clustered_wilson
from judgeaudit.stats.ranking import auroc

__all__ = ["Source", "knowledge_of", "knowledge_scores"]

_BINS: Final = 10
_NO_ROW: Final = "no verdict on a labelled item has a confidence of this source"
_NOT_A_CHANCE: Final = "it is no probability, so it cannot be calibrated"

_Named = tuple[str, str, Better]
_METRICS: Final[tuple[_Named, ...]] = (
    ("knowledge_auroc", "score 0-1", "higher"),
    ("knowledge_gap", "confidence minus share of right verdicts", "neither"),
    ("knowledge_brier", "mean squared error of confidence", "lower"),
)


@dataclass(frozen=True, slots=True)
class Source:
    """One source of confidence in a judge's verdicts.

    Parameters
    ----------
    name : str
        "stated", "logprobs", "repeats", "p_true", "p_ik", "p_ik_learned", ...
    confidence : array of float, shape (n_calls,)
        Higher where the verdict is thought likelier to be right; NaN where there is none.
    probability : bool
        Whether it claims to be the probability that the verdict is right.
    note : str, optional
        What it rests on.
    """

    name: str
    confidence: FloatArray1D
    probability: bool = True
    note: str | None = None


def knowledge_of(
    source: Source,
    right: BoolArray1D,
    clusters: IntArray1D,
    items: IntArray1D | None = None,
    *,
    level: float = 0.95,
) -> tuple[Estimate, Estimate, Estimate]:
    """Measure a source of confidence against the judge's own errors.

    Parameters
    ----------
    source : Source
        Confidences, one a call.
    right : array of bool, shape (n_calls,)
        Whether the verdict is that of the label.
    clusters : array of int, shape (n_calls,)
        Cluster of each call's item.
    items : array of int, shape (n_calls,), optional
        Item of each call, to be counted; each call is one where it is left out.
    level : float
        Confidence level.

    Returns
    -------
    (Estimate, Estimate, Estimate)
        AUROC for right against wrong verdicts; mean confidence less the share of right ones, above
        0 where the judge is overconfident (its detail holds the top-label ECE, another figure than
        the ECE of the probability of UNSAFE); Brier score.
    """
    there = np.isfinite(source.confidence)
    said, hit, of = source.confidence[there], right[there], clusters[there]
    if not said.size:
        none = Estimate(Undefined(_NO_ROW), Undefined(_NO_ROW))
        return none, none, none
    calls = {"calls": float(said.size), "wrong": float(np.count_nonzero(~hit))}
    n_items = said.size if items is None else np.unique(items[there]).size
    n_clusters = n_distinct(of)

    def estimate(
        value: float | Undefined, interval: Interval | Undefined, **more: float
    ) -> Estimate:
        return Estimate(
            value, interval, n_items=int(n_items), n_clusters=n_clusters, detail=calls | more
        )

    area = auroc(said, hit, of, level=level)
    if isinstance(area.value, Undefined):
        why = Undefined("the judge is always right" if hit.all() else "the judge is never right")
        told = estimate(why, why)
    else:
        told = estimate(area.value, area.interval)
    if not source.probability:
        chance = Undefined(_NOT_A_CHANCE)
        return told, estimate(chance, chance), estimate(chance, chance)
    gap = said - hit
    # squared errors lie in 0 to 1, gaps in -1 to 1
    ends = (
        adjusted_t(cluster_sums(gap, of), level=level),
        clustered_wilson(cluster_sums(gap**2, of), level=level),
    )
    top = ece(equal_width(said, hit, _BINS))
    return (
        told,
        estimate(float(gap.mean()), ends[0], ece_top_label=top),
        estimate(float((gap**2).mean()), ends[1]),
    )


def knowledge_scores(
    sources: Sequence[Source],
    right: BoolArray1D,
    clusters: IntArray1D,
    items: IntArray1D,
    datasets: Sequence[str],
    *,
    level: float = 0.95,
) -> tuple[Score, ...]:
    """Compare sources of confidence, over all calls and within each dataset.

    Parameters
    ----------
    sources : sequence of Source
        They are set side by side, and never mixed.
    right, clusters, items
        As of `knowledge_of`.
    datasets : sequence of str, length n_calls
        Dataset of each call's item: a source that holds on one need not hold on another.
    level : float
        Confidence level.

    Returns
    -------
    tuple of Score
        `stratum` names the source, and the dataset where there are several.
    """
    names = sorted(set(datasets))
    of = np.array(list(datasets), dtype=object)
    parts = [("", np.ones(right.size, dtype=np.bool_))]
    if len(names) > 1:
        parts += [(f", on {name}", np.asarray(of == name, dtype=np.bool_)) for name in names]
    scores = []
    for source in sources:
        for words, part in parts:
            some = Source(source.name, source.confidence[part], source.probability)
            made = knowledge_of(some, right[part], clusters[part], items[part], level=level)
            for (metric, unit, better), estimate in zip(_METRICS, made, strict=True):
                scores.append(
                    to_score(
                        estimate,
                        metric=metric,
                        unit=unit,
                        better=better,
                        stratum=f"{source.name}{words}",
                        note=source.note if metric == "knowledge_auroc" else None,
                    )
                )
    order = [m for m, *_ in _METRICS]
    return tuple(sorted(scores, key=lambda s: order.index(s.metric)))
