"""Is the judge as sure as it should be? ECE, its top-label variant, ACE, and the direction."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from judgeaudit.core.records.scores import Score
from judgeaudit.metrics._estimate import Better, Estimate, PValue, to_score
from judgeaudit.metrics._judged import Judged, fields_of, judged, take
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import View
from judgeaudit.metrics._words import plain
from judgeaudit.stats import calibration as bins_of
from judgeaudit.stats._types import BoolArray1D, FloatArray1D, Undefined
from judgeaudit.stats.adjusted_t import adjusted_t
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.floor import CALIBRATED, FLOOR_TEST, Floor, floor_of
from judgeaudit.stats.multiplicity import holm

__all__ = ["BINS", "SENSITIVITY", "Found", "calibration", "calibration_by_category", "found_ece"]

BINS: Final = 10
SENSITIVITY: Final = (5, 10, 15, 20)
"""Numbers of bins at which an error is printed, to show how far it hangs on them."""

_SEED: Final = 3
_UNIT: Final = "probability"


class Found(NamedTuple):
    """An error of calibration with its bins, and what chance makes of a calibrated judge."""

    value: float
    floor: Floor
    by_bins: dict[int, float]


def _measure(p: FloatArray1D, y: BoolArray1D, data: Judged, view: View, kind: str) -> Found:
    """Measure ECE, or ACE, at several numbers of bins; the floor at one."""
    make = bins_of.equal_count if kind == "ace" else bins_of.equal_width
    error = bins_of.ace if kind == "ace" else bins_of.ece
    rng = np.random.default_rng([view.seed, _SEED])
    made = make(p, y, BINS)
    floor = floor_of(
        *(p, y, made, data.clusters, rng), equal_weights=kind == "ace", level=view.level
    )
    return Found(error(made), floor, {m: error(make(p, y, m)) for m in SENSITIVITY})


def found_ece(view: View) -> Found | Undefined:
    """Return the ECE of the probability of UNSAFE, computed once."""
    data = judged(view)
    if isinstance(data, Undefined):
        return data
    return view.memo("ece", lambda: _measure(data.p, data.unsafe, data, view, "ece"))


def _estimate(found: Found, data: Judged) -> Estimate:
    return Estimate(
        value=found.value,
        interval=found.floor.interval,
        n_items=int(data.p.size),
        n_clusters=data.n_clusters,
        detail={
            "bins": float(BINS),
            "floor": found.floor.mean,
            "floor_over_clusters": found.floor.mean_clusters,
            **{f"bins_{m}": value for m, value in found.by_bins.items()},
        },
    )


def _score(
    view: View,
    data: Judged | Undefined,
    made: Estimate,
    metric: str,
    *,
    better: Better = "lower",
    stratum: str | None = None,
    p: PValue | None = None,
    note: str | None = None,
) -> Score:
    said = [] if isinstance(data, Undefined) else [data.note]
    return to_score(
        made,
        metric=metric,
        unit=_UNIT,
        better=better,
        stratum=stratum,
        excluded=view.excluded([view.base]),
        p=p,
        note="; ".join([*said, *([note] if note else [])]) or None,
    )


def _p(floor: Floor, adjusted: float | None = None) -> PValue:
    return PValue(floor.p_value, CALIBRATED, FLOOR_TEST, adjusted)


@METRICS.register("calibration")
def calibration(view: View) -> Report:
    """ECE, top-label ECE and ACE with their floors, and the bias of the probabilities.

    The flag says that miscalibration is shown only where the ECE stands out from what chance
    makes of a calibrated judge.
    """
    data, found = judged(view), found_ece(view)
    names = ("ece", "top_label_ece", "ace", "calibration_bias")
    if isinstance(data, Undefined) or isinstance(found, Undefined):
        why = data if isinstance(data, Undefined) else found
        assert isinstance(why, Undefined)
        gone = Estimate(why, why)
        scores = tuple(
            _score(view, data, gone, n, better="neither" if n == names[-1] else "lower")
            for n in names
        )
        reason = f"Whether the judge is calibrated is not known: {why.reason}."
        return Report(scores, {"calibration": "not known"}, {"calibration": reason})
    sure, right = bins_of.top_label(data.p, data.unsafe)
    rest = {
        "top_label_ece": _measure(sure, right, data, view, "ece"),
        "ace": _measure(data.p, data.unsafe, data, view, "ace"),
    }
    scores = tuple(
        _score(view, data, _estimate(f, data), name, p=_p(f.floor))
        for name, f in {"ece": found, **rest}.items()
    )
    bias = _score(view, data, _bias(data, view.level), "calibration_bias", better="neither")
    return Report((*scores, bias), *_flag(found, data, view.level))


def _bias(data: Judged, level: float) -> Estimate:
    gaps = data.p - data.unsafe
    sums = cluster_sums(gaps, data.clusters)
    return Estimate(
        value=float(gaps.mean()),
        interval=adjusted_t(sums, level=level),
        n_items=int(gaps.size),
        n_clusters=sums.n_clusters,
        detail={"mean_p": float(data.p.mean()), "frequency": float(data.unsafe.mean())},
    )


def _flag(found: Found, data: Judged, level: float) -> tuple[dict[str, str], dict[str, str]]:
    floor = found.floor
    shown = floor.p_value <= 1 - level + 1e-12
    flag = "miscalibrated" if shown else "no miscalibration shown"
    sentence = (
        f"The ECE is {plain(found.value)} where a calibrated judge would have "
        f"{plain(floor.mean)} by chance (p = {plain(floor.p_value)}; {data.source}): "
    )
    tail = "it is more than chance." if shown else "no miscalibration is shown."
    return {"calibration": flag}, {"calibration": sentence + tail}


@METRICS.register("calibration_by_category")
def calibration_by_category(view: View) -> Report:
    """ECE of each category of each descriptor, with its floor; Holm's correction over them."""
    data = judged(view)
    if isinstance(data, Undefined):
        return Report()
    scores: list[Score] = []
    for field, (index, names) in fields_of(view).items():
        parts: dict[str, tuple[Judged, Found]] = {}
        for k, category in enumerate(names):
            keep = index[data.at] == k
            if keep.any():
                own = take(data, keep)
                parts[category] = own, _measure(own.p, own.unsafe, own, view, "ece")
        adjusted = holm({c: f.floor.p_value for c, (_, f) in parts.items()})
        for category, (own, f) in parts.items():
            low = adjusted[category] <= 1 - view.level + 1e-12
            scores.append(
                _score(
                    view,
                    own,
                    _estimate(f, own),
                    "category_ece",
                    stratum=f"{field}: {category}",
                    p=_p(f.floor, adjusted[category]),
                    note=None if low else "no miscalibration shown",
                )
            )
    return Report(tuple(scores))
