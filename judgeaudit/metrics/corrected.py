"""UNSAFE rates from a judge's verdicts on all items and human labels on a random few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from judgeaudit.core.records.scores import Score
from judgeaudit.metrics._estimate import Estimate, PValue, to_score
from judgeaudit.stats import corrected
from judgeaudit.stats._types import BoolArray1D, Interval, Undefined
from judgeaudit.stats.intervals import wilson

__all__ = ["CORRECTED", "Labelled", "corrected_rates"]

CORRECTED = (
    *("corrected_rate", "judge_rate", "human_rate", "corrected_ppi_plus", "corrected_ppi"),
    "corrected_rogan_gladen",
)
"""Metrics of corrected rates, the default first."""

_UNIT = "fraction of items"
_NULL = "the labelled items are a random draw of all: the judge calls as many of them UNSAFE"
_SUSPECT = 0.01


@dataclass(frozen=True, slots=True)
class Labelled:
    """Verdicts on all items, and labels on some.

    Parameters
    ----------
    judge : array of bool, shape (n_items,)
        The judge's verdict on each item, True for UNSAFE.
    human : array of bool, shape (n_items,)
        Human labels; read only where `labelled`.
    labelled : array of bool, shape (n_items,)
        Items with a human label.
    without : int
        Items left out, for the judge gave no verdict on them.
    n_clusters : int
        Clusters of the items.
    """

    judge: BoolArray1D
    human: BoolArray1D
    labelled: BoolArray1D
    without: int = 0
    n_clusters: int = 0


def _drawn_at_random(data: Labelled) -> PValue | None:
    """Test whether the labelled items look like a draw: two-sided hypergeometric, exact."""
    n, hits = int(np.count_nonzero(data.labelled)), int(np.count_nonzero(data.judge))
    if n == 0:
        return None
    from scipy.stats import hypergeom  # takes a second to import

    law = hypergeom(data.judge.size, hits, n)
    chances = law.pmf(np.arange(n + 1))
    seen = chances[int(np.count_nonzero(data.judge & data.labelled))]
    p = float(min(1.0, chances[chances <= seen * (1 + 1e-9)].sum()))
    return PValue(p, _NULL, "hypergeometric, two-sided")


def corrected_rates(
    data: Labelled,
    *,
    level: float = 0.95,
    sensitivity: float | None = None,
    specificity: float | None = None,
) -> tuple[Score, ...]:
    """Estimate the human UNSAFE rate of all items in six ways, the default first.

    Parameters
    ----------
    data : Labelled
        Verdicts and labels. Labels count only if their items were drawn at random.
    level : float
        Two-sided confidence level.
    sensitivity, specificity : float, optional
        Of the judge, from elsewhere and believed to transfer: for Rogan and Gladen's rate, which
        otherwise takes those of the labelled items.

    Returns
    -------
    tuple of Score
        `corrected_rate` is post-stratified by the judge's verdict, with a MOVER interval.

    References
    ----------
    estimators.md, section 11.
    """
    judge, human, labelled = data.judge, data.human, data.labelled
    n_labelled = int(np.count_nonzero(labelled))
    stated = sensitivity is not None and specificity is not None
    made = {
        "corrected_rate": corrected.poststratified(judge, human, labelled, level=level),
        "judge_rate": _plain(judge, level),
        "human_rate": corrected.human_only(human[labelled], level=level),
        "corrected_ppi_plus": corrected.ppi(judge, human, labelled, level=level),
        "corrected_ppi": corrected.ppi(judge, human, labelled, tuned=False, level=level),
        "corrected_rogan_gladen": corrected.rogan_gladen_point(
            float(np.mean(judge)), sensitivity, specificity
        )
        if sensitivity is not None and specificity is not None
        else corrected.rogan_gladen(judge, human, labelled, level=level),
    }
    p = _drawn_at_random(data)
    return tuple(
        to_score(
            Estimate(
                found.value,
                found.interval,
                n_items=n_labelled if name == "human_rate" else judge.size,
                n_clusters=data.n_clusters,
                detail={
                    "labelled": float(n_labelled),
                    "items": float(judge.size),
                    "without_a_verdict": float(data.without),
                    **({} if found.weight is None else {"weight": found.weight}),
                },
            ),
            metric=name,
            unit=_UNIT,
            better="neither",
            p=p if name == "corrected_rate" else None,
            note=_note(name, data, p, clipped=found.clipped, stated=stated),
        )
        for name, found in made.items()
    )


def _plain(judge: BoolArray1D, level: float) -> corrected.Corrected:
    if judge.size == 0:
        why = Undefined("no item has a verdict")
        return corrected.Corrected(why, why)
    hits = float(np.count_nonzero(judge))
    interval: Interval | Undefined = wilson(hits, judge.size, level=level)
    return corrected.Corrected(hits / judge.size, interval)


def _note(
    name: str, data: Labelled, p: PValue | None, *, clipped: bool, stated: bool
) -> str | None:
    told = []
    if name == "corrected_rate":
        if p is not None and p.value < _SUSPECT:
            told.append(
                "the labelled items do not look drawn at random: the judge calls another share of "
                "them UNSAFE than of all"
            )
        if data.without:
            told.append(f"{data.without} items without a verdict are left out")
        if 0 < data.n_clusters < data.judge.size:
            told.append("items of one cluster count as independent")
    if clipped:
        told.append("brought back into 0 to 1")
    if name == "corrected_rogan_gladen" and stated:
        told.append("sensitivity and specificity are stated, not estimated here")
    return "; ".join(told) or None
