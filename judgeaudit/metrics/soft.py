"""The figures of the card once more, from probabilities of UNSAFE instead of verdicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from judgeaudit.core.records.scores import Score
from judgeaudit.core.table import SAFE, UNSAFE
from judgeaudit.metrics._estimate import Better, Estimate, item_mean, to_score
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import CERTIFIED, View
from judgeaudit.metrics._words import plain
from judgeaudit.metrics.delta import excess_flip_rate
from judgeaudit.metrics.direction import LENIENT, STRICT, direction_ratio, moved
from judgeaudit.metrics.flips import flip_rate
from judgeaudit.metrics.undue import clarity_of, undue_share
from judgeaudit.stats import soft
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.pairs import ItemValues, average
from judgeaudit.stats.soft import SAME, SoftCounts

__all__ = ["FOLLOWS", "soft_figures"]

FOLLOWS: Final = 4.0
"""Standard errors from which on verdicts do not follow their probabilities."""

_PAIRS: Final[dict[str, Callable[[SoftCounts, SoftCounts], ItemValues]]] = {
    "soft_flip_rate": soft.soft_flips,
    "soft_delta_paper": soft.soft_delta_paper,
    "soft_delta_debiased": soft.soft_delta_debiased,
}
_UNITS: Final = {
    "soft_flip_rate": "fraction of call pairs",
    "soft_delta_paper": "fraction of call pairs",
    "soft_delta_debiased": "mean squared difference of UNSAFE probabilities",
}
_FLIPS: Final = "fraction of flips"
_NONE: Final = "no item has the probabilities that it needs"


@dataclass(frozen=True, slots=True)
class _Soft:
    """Probabilities of a run by condition, or why they cannot be used."""

    counts: dict[str, SoftCounts]
    source: str
    why: str | None
    warning: str | None
    flag: str


def _read(view: View) -> _Soft | None:
    table = view.table
    if table.p_unsafe is None or not table.p_sources:
        return None
    source = ", ".join(table.p_sources)
    valid = (table.codes == SAFE) | (table.codes == UNSAFE)
    spread = soft.one_probability(table.p_unsafe, valid)
    why = warning = None
    if len(table.p_sources) > 1:
        why = f"probabilities come from several sources ({source}), which are never mixed"
    elif table.p_whole and spread is not None and spread > SAME:
        why = (
            f"probabilities of one prompt differ by {plain(spread)} between its calls, so one "
            "does not tell all of it"
        )
    off = soft.followed(table.p_unsafe, table.codes == UNSAFE, valid)
    flag = "not known" if off is None else "follows"
    if off is not None and off > FOLLOWS:
        flag = "does not follow"
        warning = (
            f"verdicts do not follow these probabilities ({off:.1f} standard errors): were they "
            "drawn at another temperature?"
        )
    counts = {}
    for c in view.conditions:
        at = table.column_indices(c.id)
        counts[c.id] = soft.soft_counts(table.p_unsafe[:, at], valid[:, at], whole=table.p_whole)
    return _Soft(counts, source, why, warning, flag)


@METRICS.register("soft")
def soft_figures(view: View) -> Report:
    """Compute jitter, flips, excess, direction and undue share from probabilities.

    Nothing where the table has no probabilities. Calls without one are left out here, and never
    filled in from their verdicts.
    """
    data = _read(view)
    if data is None:
        return Report()
    scores = [_jitter(view, data, c.id) for c in view.conditions]
    for metric in _PAIRS:
        scores += [
            _pair(view, data, metric, c) for c in (*(c.id for c in view.contrasts), CERTIFIED)
        ]
    scores += [_direction(view, data), _undue(view, data)]
    said = f"Figures named soft are from probabilities of UNSAFE ({data.source})"
    tail = data.why or data.warning or "verdicts follow them as draws would"
    if data.flag == "not known" and data.why is None:
        tail = "whether verdicts follow them is not known"
    flag = "unusable" if data.why else data.flag
    return Report(tuple(scores), {"soft": flag}, {"soft": f"{said}: {tail.rstrip('?')}."})


def _score(
    data: _Soft,
    estimate: Estimate,
    metric: str,
    condition: str | None,
    *,
    unit: str,
    better: Better,
) -> Score:
    if data.why is not None:
        estimate = Estimate(Undefined(data.why), Undefined(data.why))
    note = f"from probabilities ({data.source})"
    return to_score(
        estimate,
        metric=metric,
        condition=condition,
        unit=unit,
        better=better,
        note=f"{note}; {data.warning}" if data.warning else note,
    )


def _jitter(view: View, data: _Soft, condition: str) -> Score:
    values = soft.soft_jitter(data.counts[condition])
    estimate = item_mean(values, view.clusters, level=view.level, why=_NONE)
    unit = "fraction of pairs of repeats"
    return _score(data, estimate, "soft_jitter", condition, unit=unit, better="lower")


def _values(view: View, data: _Soft, metric: str, condition: str) -> ItemValues:
    if condition == CERTIFIED:
        parts = [_values(view, data, metric, c) for c in view.certified]
        return average(parts, view.table.n_items)
    return _PAIRS[metric](data.counts[view.base], data.counts[condition])


def _pair(view: View, data: _Soft, metric: str, condition: str) -> Score:
    if view.base not in data.counts or (condition == CERTIFIED and not view.certified):
        lack = Undefined(view.lack("flips", condition))
        return _score(
            data, Estimate(lack, lack), metric, condition, unit=_UNITS[metric], better="lower"
        )
    values = _values(view, data, metric, condition)
    make = flip_rate if metric == "soft_flip_rate" else excess_flip_rate
    estimate = make(values, view.clusters, level=view.level, why=_NONE)
    return _score(data, estimate, metric, condition, unit=_UNITS[metric], better="lower")


def _direction(view: View, data: _Soft) -> Score:
    if STRICT not in data.counts or LENIENT not in data.counts:
        why = Undefined("strict and lenient were not both called")
        estimate = Estimate(why, why)
    else:
        both = (soft.soft_rate(data.counts[c]) for c in (STRICT, LENIENT))
        estimate = direction_ratio(*moved(*both), view.clusters, level=view.level, why=_NONE)
    return _score(data, estimate, "soft_direction_ratio", None, unit=_FLIPS, better="higher")


def _undue(view: View, data: _Soft) -> Score:
    clarity = clarity_of(view)
    lack = None if clarity.known.any() else "ambiguity is not known"
    if not view.certified:
        lack = view.lack("flips", CERTIFIED)
    if lack is not None or view.base not in data.counts:
        why = Undefined(lack or _NONE)
        return _score(
            data, Estimate(why, why), "soft_undue_share", None, unit=_FLIPS, better="lower"
        )
    by = {c: _values(view, data, "soft_flip_rate", c) for c in view.preserving}
    estimate = undue_share(
        [by[c] for c in view.certified],
        list(by.values()),
        clarity,
        view.clusters,
        level=view.level,
    )
    estimate = replace(estimate, detail={k: v for k, v in estimate.detail.items() if k != "n_eff"})
    return _score(data, estimate, "soft_undue_share", None, unit=_FLIPS, better="lower")
