"""Temperature scaling: how much too bold the probabilities are, and what scaling would mend."""

from __future__ import annotations

from typing import Final

import numpy as np

from judgeaudit.core.records.scores import Score
from judgeaudit.metrics._estimate import Better, Estimate, PValue, to_score
from judgeaudit.metrics._judged import Judged, judged
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import View
from judgeaudit.metrics.calibration import BINS
from judgeaudit.stats._types import FloatArray1D, Undefined
from judgeaudit.stats.adjusted_t import cluster_t
from judgeaudit.stats.calibration import ece, equal_width
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.floor import CALIBRATED, FLOOR_TEST, floor_of
from judgeaudit.stats.splits import folds
from judgeaudit.stats.temperature import (
    cross_fitted,
    fit_temperature,
    log_losses,
    logits_of,
    sigmoid,
)

__all__ = ["FOLDS", "temperature"]

FOLDS: Final = 5
_SEED: Final = 4
_NAMES: Final[tuple[tuple[str, str, Better], ...]] = (
    ("temperature", "factor, 1 where none is needed", "neither"),
    ("temperature_gain", "nats an item", "higher"),
    ("ece_scaled", "probability", "lower"),
)


@METRICS.register("temperature")
def temperature(view: View) -> Report:
    """Best temperature, what it gains on clusters that it was not fitted on, and the ECE then.

    Logits come from the probabilities, moved away from 0 and 1 by 1e-6; how many were is said.
    """
    data = judged(view)
    if isinstance(data, Undefined):
        gone = Estimate(data, data)
        return Report(tuple(_score(view, gone, k, None) for k in range(3)))
    logits, clipped = logits_of(data.p)
    note = data.note
    if clipped:
        note += (
            f"; warning: {clipped} of {data.p.size} probabilities lie within 1e-6 of 0 or 1 and "
            "were moved there, so their logits are made up"
        )
    fitted = fit_temperature(logits, data.unsafe, data.clusters, level=view.level)
    best = Estimate(
        fitted.value, fitted.interval, detail={"clipped": float(clipped)}, **_size(data)
    )
    rng = np.random.default_rng([view.seed, _SEED])
    fold = folds(data.clusters, FOLDS, rng, data.unsafe)
    near = 1.0 if isinstance(fitted.value, Undefined) else fitted.value
    held = cross_fitted(logits, data.unsafe, fold, near=near)
    if isinstance(held, Undefined):
        gain, after, p = Estimate(held, held), Estimate(held, held), None
    else:
        gain = _gain(data, logits, *held, view.level)
        after, p = _after(data, held[0], view.level, rng)
    return Report(
        (
            _score(view, best, 0, note),
            _score(view, gain, 1, note),
            _score(view, after, 2, note, p),
        )
    )


def _size(data: Judged) -> dict[str, int]:
    return {"n_items": int(data.p.size), "n_clusters": data.n_clusters}


def _gain(
    data: Judged,
    logits: FloatArray1D,
    scaled: FloatArray1D,
    temperatures: FloatArray1D,
    level: float,
) -> Estimate:
    before, now = log_losses(logits, data.unsafe), log_losses(scaled, data.unsafe)
    gains = before - now
    return Estimate(
        value=float(gains.mean()),
        interval=cluster_t(cluster_sums(gains, data.clusters), level=level),
        detail={
            "log_loss_before": float(before.mean()),
            "log_loss_after": float(now.mean()),
            "folds": float(temperatures.size),
            "temperature_low": float(temperatures.min()),
            "temperature_high": float(temperatures.max()),
        },
        **_size(data),
    )


def _after(
    data: Judged, scaled: FloatArray1D, level: float, rng: np.random.Generator
) -> tuple[Estimate, PValue]:
    q = np.round(sigmoid(scaled), 12)
    bins = equal_width(q, data.unsafe, BINS)
    floor = floor_of(q, data.unsafe, bins, data.clusters, rng, level=level)
    before = ece(equal_width(data.p, data.unsafe, BINS))
    made = Estimate(
        value=ece(bins),
        interval=floor.interval,
        detail={"before": before, "floor": floor.mean, "bins": float(BINS)},
        **_size(data),
    )
    return made, PValue(floor.p_value, CALIBRATED, FLOOR_TEST)


def _score(
    view: View, made: Estimate, which: int, note: str | None, p: PValue | None = None
) -> Score:
    metric, unit, better = _NAMES[which]
    return to_score(
        made,
        metric=metric,
        unit=unit,
        better=better,
        excluded=view.excluded([view.base]),
        p=p,
        note=note,
    )
