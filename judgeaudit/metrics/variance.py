"""Where the variance comes from, and what would buy most precision next."""

from __future__ import annotations

import numpy as np

from judgeaudit.core.records.scores import Score
from judgeaudit.metrics._estimate import Estimate, to_score
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import CERTIFIED, View
from judgeaudit.metrics._words import listed
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.components import PARTS, Components, variance_components
from judgeaudit.stats.precision import MORE, Precision, precision_of

__all__ = ["precision", "variance"]

_KEEPING = ("reference", "certified", "near")
_PRECISION = ("clusters", "items", "base calls", "condition calls")
_NO_INTERVAL = Undefined("a share of a variance: no interval is reckoned")


def _components(view: View) -> tuple[Components | Undefined, list[str]]:
    """Split the variance over base and the conditions that keep the policy's meaning."""
    kept = [c.id for c in view.conditions if c.kind in _KEEPING and c.side == "policy"]
    columns = [(k, j) for k, c in enumerate(kept) for j in view.table.column_indices(c)]
    # as narrow as the number of calls allows: there may be millions of items
    narrow = np.min_scalar_type(view.table.codes.shape[2])
    unsafe = np.empty((view.table.n_items, len(columns)), dtype=narrow)
    valid = np.empty_like(unsafe)
    for k, (_, j) in enumerate(columns):
        counts = view.table.column_counts([j])
        unsafe[:, k], valid[:, k] = counts.unsafe, counts.valid
    found = variance_components(
        unsafe,
        valid,
        np.array([k for k, _ in columns], dtype=np.int64),
        view.clusters,
        level=view.level,
    )
    return found, kept


@METRICS.register("variance_share")
def variance(view: View) -> Report:
    """Shares of the variance of one call's verdict, over base and content-preserving conditions.

    Fractions of the total; unbiased up to the ratio, so a small one may be negative. That of the
    clusters is negative in earnest where a cluster pairs a safe item with an unsafe one.
    """
    found, kept = _components(view)
    scores: list[Score] = []
    for name in PARTS:
        if isinstance(found, Undefined):
            estimate = Estimate(found, found)
        else:
            estimate = Estimate(
                found.share(name),
                found.shares[name],
                n_items=found.n_items,
                n_clusters=found.n_clusters,
                detail={"variance": _number(found, name), "total": found.total},
            )
        note = None
        if name == "repeat" and isinstance(found, Components) and found.unrepeated:
            once = listed([kept[k] for k in found.unrepeated])
            note = f"one call an item under {once}: its noise is taken to be that of the others"
        scores.append(
            to_score(
                estimate,
                metric="variance_share",
                stratum=name,
                unit="share of the variance of a verdict",
                better="neither",
                excluded=view.excluded(kept),
                note=note,
            )
        )
    return Report(tuple(scores))


def _number(found: Components, name: str) -> float | None:
    part = found.parts[name]
    return None if isinstance(part, Undefined) else part


@METRICS.register("precision_share")
def precision(view: View) -> Report:
    """Shares of the squared standard error of the pooled excess flip rate (the paper's).

    Flag `precision`: what shrinks the standard error most if one call in ten is added.
    """
    found = precision_of(
        view.counts(view.base), [view.counts(c) for c in view.certified], view.clusters
    )
    scores = []
    for name in _PRECISION:
        if isinstance(found, Undefined):
            estimate = Estimate(found, found)
        elif name not in found.parts:
            why = Undefined("no cluster has two items")
            estimate = Estimate(why, why)
        else:
            gain = found.gains.get(name)
            estimate = Estimate(
                found.parts[name] / found.variance,
                _NO_INTERVAL,
                n_items=int(view.pair("delta_paper", CERTIFIED).n),
                detail={"variance": found.parts[name], "gain": gain, "calls": found.calls},
            )
        scores.append(
            to_score(
                estimate,
                metric="precision_share",
                condition=CERTIFIED,
                stratum=name,
                unit="share of the squared standard error",
                better="neither",
            )
        )
    if isinstance(found, Undefined):
        said = f"Not known: {found.reason}."
        return Report(tuple(scores), {"precision": "undefined"}, {"precision": said})
    return Report(tuple(scores), {"precision": found.best}, {"precision": _advice(found)})


def _advice(found: Precision) -> str:
    told = {
        "items": "new items",
        "base calls": "base calls",
        "condition calls": "calls under the conditions",
    }
    order = sorted(found.gains, key=lambda k: -found.gains[k])
    said = [f"{100 * found.gains[k]:.1f}% if they are {told[k]}" for k in order]
    return (
        f"{100 * MORE:g}% more calls shrink the standard error of the pooled excess by "
        f"{said[0]}, by {said[1]}, and by {said[2]}: {told[order[0]]} buy most."
    )
