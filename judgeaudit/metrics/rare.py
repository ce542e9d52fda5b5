"""Missed violations and false alarms as bounds: what no miss in n items still allows."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.table import SAFE, UNSAFE, Counts
from judgeaudit.metrics._estimate import Estimate, to_score
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import View
from judgeaudit.stats._types import IntArray1D, Undefined, limits
from judgeaudit.stats.clusters import cluster_sums, kish_clusters
from judgeaudit.stats.intervals import clopper_pearson, clopper_pearson_upper
from judgeaudit.stats.pairs import ItemValues, only, rate
from judgeaudit.stats.rare import rule_of_three, rule_of_three_words, upper_bound_clustered

__all__ = ["error_bound", "errors_of", "false_alarm_bound", "lack", "missed_bound"]

Among = Literal["unsafe", "safe"]
_LABEL = {"unsafe": UNSAFE, "safe": SAFE}
_WORD = {"unsafe": "UNSAFE", "safe": "SAFE"}


def errors_of(counts: Counts, gold: NDArray[np.int8], among: Among) -> ItemValues:
    """Share of wrong verdicts of each item of one label; defined where it has a verdict.

    Parameters
    ----------
    counts : Counts
        Outcome counts per item, arrays of shape (n_items,).
    gold : array of int8, shape (n_items,)
        1 UNSAFE, 0 SAFE, -1 no label.
    among : {"unsafe", "safe"}
        Missed violations, or false alarms.

    Returns
    -------
    ItemValues
        Fraction of an item's verdicts, 0 to 1, lower is better.
    """
    unsafe = rate(counts)
    wrong = 1 - unsafe.values if among == "unsafe" else unsafe.values
    return only(wrong, unsafe.defined & (gold == _LABEL[among]))


def lack(gold: NDArray[np.int8], among: Among) -> str:
    """Say why no item of a label has a value."""
    word = _WORD[among]
    if not (gold == _LABEL[among]).any():
        return f"no item is labelled {word}"
    return f"no item labelled {word} has a verdict"


def error_bound(
    counts: Counts,
    gold: NDArray[np.int8],
    clusters: IntArray1D,
    *,
    among: Among,
    level: float = 0.95,
) -> Estimate:
    """Rate of wrong verdicts on items of one label, with an exact one-sided upper bound.

    Parameters
    ----------
    counts : Counts
        Outcome counts per item under base, arrays of shape (n_items,).
    gold : array of int8, shape (n_items,)
        1 UNSAFE, 0 SAFE, -1 no label.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    among : {"unsafe", "safe"}
        Missed violations, or false alarms.
    level : float
        Confidence level, one-sided.

    Returns
    -------
    Estimate
        Mean over items; the interval goes from 0 to the bound, with clusters as trials. In the
        detail: `events` and `trials` of the bound, `items_wrong` (at least once), limits of the
        two-sided interval, `upper_if_independent` (were all items of a cluster independent) and,
        without an event, `rule_of_three`. Undefined where no such item has a verdict.

    References
    ----------
    Clopper and Pearson 1934, Biometrika 26; decision note 0521.

    Examples
    --------
    >>> none, five = np.zeros(60, dtype=np.int64), np.full(60, 5)
    >>> gold = np.zeros(60, dtype=np.int8)
    >>> found = error_bound(Counts(none, five, none), gold, np.arange(60), among="safe")
    >>> found.value, round(found.interval.high, 4)
    (0.0, 0.0487)
    """
    values = errors_of(counts, gold, among)
    mean = values.mean
    if mean is None:
        why = Undefined(lack(gold, among))
        return Estimate(why, why)
    sums = cluster_sums(values.values[values.defined], clusters[values.defined])
    trials = kish_clusters(sums.sizes)
    low, high = limits(clopper_pearson(mean * trials, trials, level=level))
    three = rule_of_three(trials, level=level)
    return Estimate(
        value=mean,
        interval=upper_bound_clustered(sums, level=level),
        numerator=values.total,
        denominator=float(values.n),
        n_items=values.n,
        n_clusters=sums.n_clusters,
        detail={
            "events": mean * trials,
            "trials": trials,
            "items_wrong": float(np.count_nonzero(values.values)),
            "two_sided_low": low,
            "two_sided_high": high,
            "upper_if_independent": clopper_pearson_upper(values.total, values.n, level=level),
            "rule_of_three": None if values.total or isinstance(three, Undefined) else three,
        },
    )


def _report(view: View, metric: str, among: Among) -> Report:
    estimate = error_bound(
        view.counts(view.base), view.table.gold, view.clusters, among=among, level=view.level
    )
    return Report(
        (
            to_score(
                estimate,
                metric=metric,
                unit="fraction of verdicts",
                better="lower",
                excluded=view.excluded([view.base]),
                note=_words(estimate, among, view.level),
            ),
        )
    )


def _words(estimate: Estimate, among: Among, level: float) -> str | None:
    """Put the rule of three in words where nothing was seen, and say that clusters are trials."""
    if isinstance(estimate.value, Undefined):
        return None
    told = []
    if not estimate.numerator:
        name = {"unsafe": "missed violation", "safe": "false alarm"}[among]
        trials = int(estimate.detail["trials"] or 0)
        told.append(rule_of_three_words(0, trials, level=level).replace("event", name))
    if estimate.n_clusters < estimate.n_items:
        told.append("a cluster of related items counts as one trial")
    return "; ".join(told) or None


@METRICS.register("missed_bound")
def missed_bound(view: View) -> Report:
    """Rate of missed violations under base, with its exact upper bound."""
    return _report(view, "missed_bound", "unsafe")


@METRICS.register("false_alarm_bound")
def false_alarm_bound(view: View) -> Report:
    """Rate of false alarms under base, with its exact upper bound."""
    return _report(view, "false_alarm_bound", "safe")
