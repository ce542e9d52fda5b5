"""A jury: several judges on common items, each alone, in pairs, as panels, and without labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records.scores import Score, ScoreSet
from judgeaudit.metrics._estimate import Estimate, item_mean, to_score
from judgeaudit.metrics._words import listed, plain
from judgeaudit.stats._types import IntArray1D, Undefined
from judgeaudit.stats.clusters import n_distinct
from judgeaudit.stats.jury import (
    MOST_JUDGES,
    Overlap,
    gain_over_best,
    overlap,
    panel,
    right_of,
    right_of_all,
)
from judgeaudit.stats.latent import latent_accuracy
from judgeaudit.stats.pairs import only
from judgeaudit.stats.two_raters import misleading, two_raters

__all__ = ["Jury", "jury_scores"]

Float2D = NDArray[np.float64]
Bool2D = NDArray[np.bool_]

_NO_LABEL: Final = "no common item has a gold label and the verdicts that it needs"


@dataclass(frozen=True, slots=True)
class Jury:
    """Several judges on the same items.

    Parameters
    ----------
    names : tuple of str
        Of the judges, two or more, each once.
    chances : array of float, shape (n_items, n_judges)
        Chance that each says UNSAFE: a verdict of 0 or 1, or a share of repeats.
    there : array of bool, shape (n_items, n_judges)
        Where a judge has a verdict.
    gold : array of int8, shape (n_items,)
        1 UNSAFE, 0 SAFE, -1 no label.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    flips, flips_there : array, shape (n_items, n_judges), optional
        Share of pairs of calls that flipped under the certified rewrites, and where it is known.
    notes : tuple of str
        What a reader must know of how the judges were brought together.
    """

    names: tuple[str, ...]
    chances: Float2D
    there: Bool2D
    gold: NDArray[np.int8]
    clusters: IntArray1D
    flips: Float2D | None = None
    flips_there: Bool2D | None = None
    notes: tuple[str, ...] = field(default=())


def jury_scores(jury: Jury, *, seed: int = 0, level: float = 0.95) -> ScoreSet:
    """Compute all figures of a jury.

    Parameters
    ----------
    jury : Jury
        The judges.
    seed : int
        Seed of the split into halves, and of random starts.
    level : float
        Confidence level.

    Returns
    -------
    ScoreSet
        `stratum` names the judge, the pair or the panel. Flag `latent` says whether accuracy
        without labels is estimated; its reason holds what must be read with it.

    Raises
    ------
    ConfigError
        For fewer than two judges, more than a panel can have, or a name that stands twice.
    """
    if not 2 <= len(jury.names) <= MOST_JUDGES:
        raise ConfigError(
            f"a jury of {len(jury.names)}", mend=f"Give two judges or more, up to {MOST_JUDGES}"
        )
    if len(set(jury.names)) < len(jury.names):
        raise ConfigError(f"a judge's name stands twice: {listed(jury.names)}", mend="Rename one")
    flags: dict[str, str] = {}
    reasons: dict[str, str] = {}
    latent, flags["latent"], reasons["latent"] = _latent(jury, seed, level)
    if jury.notes:
        flags["jury"], reasons["jury"] = "uneven", " ".join(jury.notes)
    scores = (
        *_alone(jury, level),
        *_panels(jury, level),
        *_gains(jury, seed, level),
        *_pairs(jury, level),
        *latent,
    )
    return ScoreSet(scores=scores, flags=flags, reasons=reasons)


def _rate(values: Float2D, there: Bool2D, jury: Jury, level: float, why: str) -> Estimate:
    return item_mean(only(values, there), jury.clusters, level=level, why=why, interval="Wilson")


def _alone(jury: Jury, level: float) -> Iterator[Score]:
    right = right_of_all(jury.chances, jury.gold)
    for k, name in enumerate(jury.names):
        labelled = jury.there[:, k] & (jury.gold >= 0)
        yield to_score(
            _rate(right[:, k], labelled, jury, level, _NO_LABEL),
            metric="jury_accuracy",
            unit="fraction of verdicts",
            better="higher",
            stratum=name,
        )
        yield to_score(
            _rate(jury.chances[:, k], jury.there[:, k], jury, level, "no verdict"),
            metric="jury_unsafe_rate",
            unit="fraction of verdicts",
            better="neither",
            stratum=name,
        )


def _panels(jury: Jury, level: float) -> Iterator[Score]:
    """Yield the majority of all judges; weights are fitted, so weighted panels stand under gain."""
    found = panel(jury.chances, jury.there)
    labelled = found.there & (jury.gold >= 0)
    tied = float(found.tied[labelled].mean()) if labelled.any() else None
    estimate = _rate(right_of(found.unsafe, jury.gold), labelled, jury, level, _NO_LABEL)
    note = "a tie counts half right, half wrong" if tied else None
    yield to_score(
        Estimate(
            estimate.value,
            estimate.interval,
            n_items=estimate.n_items,
            n_clusters=estimate.n_clusters,
            detail={"tied": tied},
        ),
        metric="jury_accuracy",
        unit="fraction of verdicts",
        better="higher",
        stratum="majority",
        note=note,
    )
    yield to_score(
        _rate(found.unsafe, found.there, jury, level, "no verdict"),
        metric="jury_unsafe_rate",
        unit="fraction of verdicts",
        better="neither",
        stratum="majority",
    )


def _gains(jury: Jury, seed: int, level: float) -> Iterator[Score]:
    for stratum in ("majority", "weighted"):
        found = gain_over_best(
            *(jury.chances, jury.there, jury.gold, jury.clusters),
            weighted=stratum == "weighted",
            seed=seed,
            level=level,
        )
        note = None
        if found.best:
            best = listed(list(dict.fromkeys(jury.names[k] for k in found.best)))
            note = f"against the best single judge ({best}), chosen on the other half of clusters"
        yield to_score(
            Estimate(
                found.value,
                found.interval,
                n_items=found.n_items,
                n_clusters=found.n_clusters,
                detail={
                    "panel_accuracy": found.panel_accuracy,
                    "best_accuracy": found.best_accuracy,
                },
            ),
            metric="jury_gain",
            unit="difference of accuracies",
            better="higher",
            stratum=stratum,
            note=note,
        )


def _pairs(jury: Jury, level: float) -> Iterator[Score]:
    right = right_of_all(jury.chances, jury.gold)
    for a, b in combinations(range(len(jury.names)), 2):
        stratum = f"{jury.names[a]} and {jury.names[b]}"
        both = jury.there[:, a] & jury.there[:, b]
        found = two_raters(
            *(jury.chances[:, a], jury.chances[:, b], jury.clusters), present=both, level=level
        )
        for name in ("observed", "kappa", "ac1", "positive", "negative"):
            figure = found.figures[name]
            yield to_score(
                Estimate(
                    figure.value,
                    figure.interval,
                    n_items=found.n_items,
                    n_clusters=found.n_clusters,
                    detail={
                        "prevalence_index": found.prevalence_index,
                        "bias_index": found.bias_index,
                    },
                ),
                metric=f"jury_agreement_{name}",
                unit="coefficient of agreement"
                if name in {"kappa", "ac1"}
                else "fraction of items",
                better="neither",
                stratum=stratum,
                note=misleading(found, plain) if name == "kappa" else None,
            )
        shared = overlap(
            *(1 - right[:, a], 1 - right[:, b], jury.clusters),
            present=both & (jury.gold >= 0),
            level=level,
        )
        yield _overlap(shared, "jury_error_overlap", stratum)
        if jury.flips is not None and jury.flips_there is not None:
            shared = overlap(
                *(jury.flips[:, a], jury.flips[:, b], jury.clusters),
                present=jury.flips_there[:, a] & jury.flips_there[:, b],
                what="flips",
                level=level,
            )
            yield _overlap(shared, "jury_flip_overlap", stratum)


def _overlap(found: Overlap, metric: str, stratum: str) -> Score:
    return to_score(
        Estimate(
            found.jaccard.value,
            found.jaccard.interval,
            n_items=found.n_items,
            n_clusters=found.n_clusters,
            detail={
                "expected": found.expected,
                "both": found.both,
                "first": found.first,
                "second": found.second,
            },
        ),
        metric=metric,
        unit="fraction of items on which either does",
        better="lower",
        stratum=stratum,
    )


def _latent(jury: Jury, seed: int, level: float) -> tuple[list[Score], str, str]:
    found = latent_accuracy(jury.chances, jury.there, jury.clusters, seed=seed, level=level)
    if isinstance(found, Undefined):
        scores = [_latent_score(name, Estimate(found, found), None) for name in jury.names]
        return scores, "undefined", f"Accuracy without labels: {found.reason}."
    scores = []
    for k, name in enumerate(jury.names):
        estimate = Estimate(
            float(found.accuracy[k]),
            found.intervals[k],
            n_items=int(np.count_nonzero(jury.there[:, k])),
            n_clusters=n_distinct(jury.clusters[jury.there[:, k]]),
            detail={
                "sensitivity": float(found.sensitivity[k]),
                "specificity": float(found.specificity[k]),
                "prevalence": found.prevalence,
                "dependence": found.dependence,
                "steps": float(found.steps),
                "starts": float(found.starts),
                "starts_alike": float(found.starts_alike),
            },
        )
        scores.append(_latent_score(name, estimate, "if judges err independently"))
    flag = "converged" if found.converged else "not converged"
    return scores, flag, f"Accuracy without labels: {'; '.join(found.caveats)}."


def _latent_score(name: str, estimate: Estimate, note: str | None) -> Score:
    return to_score(
        estimate,
        metric="latent_accuracy",
        unit="fraction of items",
        better="higher",
        stratum=name,
        note=note,
    )
