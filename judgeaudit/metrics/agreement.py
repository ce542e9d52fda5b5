"""Agreement: of the judge with labels and raters, and of the raters among themselves.

One coefficient misleads where one label is rare, so all stand together: the share that agrees,
kappa, PABAK, AC1, agreement on UNSAFE and on SAFE, and alpha.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.records import Outcome
from judgeaudit.core.records.scores import Score
from judgeaudit.metrics._estimate import Estimate, to_score
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import View
from judgeaudit.metrics._words import plain
from judgeaudit.stats._types import FloatArray1D
from judgeaudit.stats.many_raters import ManyRaters, many_raters
from judgeaudit.stats.two_raters import Figure, TwoRaters, misleading, two_raters

__all__ = ["AMONG", "WITH_LABELS", "WITH_RATERS", "agreement", "vote_shares"]

WITH_LABELS = "judge and labels"
WITH_RATERS = "judge and raters"
AMONG = "among raters"
"""The pairs that are compared; strata of the scores."""

_UNITS = {
    "observed": "fraction of items",
    "kappa": "coefficient of agreement",
    "pabak": "coefficient of agreement",
    "ac1": "coefficient of agreement",
    "positive": "fraction of labels UNSAFE",
    "negative": "fraction of labels SAFE",
    "alpha": "coefficient of agreement",
}


def vote_shares(votes: NDArray[np.int8]) -> tuple[FloatArray1D, NDArray[np.bool_]]:
    """Share of UNSAFE among the votes of each item, and where there is a vote.

    Parameters
    ----------
    votes : array of int8, shape (n_items, n_raters)
        1 UNSAFE, 0 SAFE, -1 missing.

    Returns
    -------
    shares : array of float, shape (n_items,)
        0 where nobody voted.
    there : array of bool, shape (n_items,)
    """
    n = np.count_nonzero(votes >= 0, axis=1)
    unsafe = np.count_nonzero(votes == 1, axis=1)
    shares = np.divide(unsafe, n, out=np.zeros(len(votes)), where=n > 0)
    return shares, n > 0


def _pair(found: TwoRaters, stratum: str, excluded: Mapping[Outcome, int]) -> list[Score]:
    a, b, c, d = found.cells
    detail: dict[str, float | None] = {
        "both_unsafe": a,
        "only_judge_unsafe": b,
        "only_judge_safe": c,
        "both_safe": d,
        "prevalence_index": found.prevalence_index,
        "bias_index": found.bias_index,
    }
    note = misleading(found, plain)
    return [
        _score(
            figure,
            name,
            stratum,
            items=(found.n_items, found.n_clusters),
            detail=detail,
            excluded=excluded,
            note=note if name == "kappa" else None,
        )
        for name, figure in found.figures.items()
    ]


def _raters(found: ManyRaters) -> list[Score]:
    detail = {"votes": float(found.n_votes), "unanimous": found.unanimous}
    items = found.n_items, found.n_clusters
    return [
        _score(figure, name, AMONG, items=items, detail=detail, excluded={}, note=None)
        for name, figure in found.figures.items()
    ]


def _score(
    figure: Figure,
    name: str,
    stratum: str,
    *,
    items: tuple[int, int],
    detail: dict[str, float | None],
    excluded: Mapping[Outcome, int],
    note: str | None,
) -> Score:
    n_items, n_clusters = items
    return to_score(
        Estimate(
            figure.value,
            figure.interval,
            n_items=n_items,
            n_clusters=n_clusters,
            detail=detail,
        ),
        metric=f"agreement_{name}",
        unit=_UNITS[name],
        better="higher",
        stratum=stratum,
        excluded=excluded,
        note=note,
    )


@METRICS.register("agreement")
def agreement(view: View) -> Report:
    """Agreement of base verdicts with the gold labels and, where raters' votes are known, theirs.

    A judge counts by one call drawn at random, raters by one vote drawn at random, so that the
    judge stands beside a single rater. Failed calls are left out.
    """
    table = view.table
    judge = view.rate(view.base)
    left_out = view.excluded([view.base])
    found = two_raters(
        judge.values,
        (table.gold == 1).astype(np.float64),
        view.clusters,
        present=judge.defined & (table.gold >= 0),
        level=view.level,
    )
    scores = _pair(found, WITH_LABELS, left_out)
    if table.votes is not None:
        shares, there = vote_shares(table.votes)
        found = two_raters(
            judge.values, shares, view.clusters, present=judge.defined & there, level=view.level
        )
        scores += _pair(found, WITH_RATERS, left_out)
        scores += _raters(many_raters(table.votes, view.clusters, level=view.level))
    return Report(tuple(scores))
