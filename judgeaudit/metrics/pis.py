"""Policy Invariance Score: one number from three, with what it hides printed beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from judgeaudit.core.records.scores import Score
from judgeaudit.metrics._estimate import Estimate, to_score
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import CERTIFIED, View
from judgeaudit.metrics._words import plain
from judgeaudit.metrics.direction import LENIENT, STRICT, ratio_of
from judgeaudit.metrics.failures import treated_of
from judgeaudit.metrics.responsiveness import responsiveness_of
from judgeaudit.metrics.undue import share_of
from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.mover import Term, mover_sum

__all__ = ["BANDS", "SCALE", "WEIGHTS", "band", "pis", "pis_interval", "pis_raw"]

WEIGHTS: Final = (0.4, 0.3, 0.3)
"""Weights of excess flips, wrong direction and undue flips."""

SCALE: Final = 5.0

BANDS: Final = ((0.85, "reliable"), (0.60, "moderate"), (0.40, "fragile"))
"""Lower edges; below the last it is untrustworthy. Ours: the paper publishes examples only."""

MOVER: Final = "MOVER"

_TREATMENTS: Final = ("exclude", "as_flip_asym")


def pis_raw(delta: float, direction: float, undue: float) -> float:
    """Policy Invariance Score before it is clipped at 0.

    Parameters
    ----------
    delta : float
        The paper's excess flip rate, pooled over the certified conditions; may be negative.
    direction : float
        Direction ratio, 0 to 1.
    undue : float
        Undue share of flips, 0 to 1.

    Returns
    -------
    float
        At most 1 (but for a negative delta), higher is better.

    References
    ----------
    arXiv 2605.06161; estimators.md, section 7.

    Examples
    --------
    >>> round(pis_raw(0.036, 1.0, 0.305), 2)
    0.47
    """
    w1, w2, w3 = WEIGHTS
    return 1 - SCALE * (w1 * delta + w2 * (1 - direction) + w3 * undue)


def pis_interval(delta: Estimate, direction: Estimate, undue: Estimate) -> tuple[float, float]:
    """Interval of the raw score by MOVER from the intervals of its parts, not clipped.

    Parameters
    ----------
    delta, direction, undue : Estimate
        Parts with their intervals; an undefined part, or one without an interval, contributes its
        full range linearly: [0, 1].

    Returns
    -------
    tuple of float
        Lower and upper limit.

    References
    ----------
    Zou and Donner 2008, Stat. Med. 27, 1693.
    """
    w1, w2, w3 = WEIGHTS
    low, high = mover_sum(
        (
            _term(-SCALE * w1, delta),
            _term(SCALE * w2, direction),
            _term(-SCALE * w3, undue),
        )
    )
    return 1 - SCALE * w2 + low, 1 - SCALE * w2 + high


def _term(weight: float, part: Estimate) -> Term:
    if isinstance(part.value, Undefined) or isinstance(part.interval, Undefined):
        return Term(weight, None, 0.0, 1.0)
    return Term(weight, part.value, part.interval.low, part.interval.high)


def band(score: float) -> str:
    """Name the band of a score.

    Parameters
    ----------
    score : float
        Policy Invariance Score, 0 to 1.

    Returns
    -------
    str
        "reliable", "moderate", "fragile" or "untrustworthy".

    Examples
    --------
    >>> [band(score) for score in (0.70, 0.47, 0.41, 0.28)]
    ['moderate', 'fragile', 'fragile', 'untrustworthy']
    """
    return next((name for edge, name in BANDS if score >= edge), "untrustworthy")


@dataclass(frozen=True, slots=True)
class _Parts:
    delta: Estimate
    direction: Estimate
    undue: Estimate


def _parts(view: View, treatment: str) -> _Parts:
    # as in the published pair, a treatment changes the excess flips only
    return _Parts(treated_of(view, treatment, CERTIFIED), ratio_of(view), share_of(view))


def _raw(parts: _Parts) -> float | Undefined:
    values = []
    for name, part in (
        ("excess flip rate", parts.delta),
        ("direction ratio", parts.direction),
        ("undue share", parts.undue),
    ):
        if isinstance(part.value, Undefined):
            return Undefined(f"the {name} is undefined: {part.value.reason}")
        values.append(part.value)
    return pis_raw(*values)


def _withheld(view: View) -> str | None:
    """Say why a judge gets no score: it was not shown to read the policy."""
    gate = responsiveness_of(view)
    if gate.state == "responsive":
        return None
    name = "not responsive" if gate.state == "not responsive" else "responsiveness not shown"
    return f"{name}: {gate.reason.rstrip('.')}"


def _estimates(view: View, treatment: str) -> tuple[Estimate, Estimate]:
    """Clipped and raw score of a run."""
    parts = _parts(view, treatment)
    raw = _raw(parts)
    low, high = pis_interval(parts.delta, parts.direction, parts.undue)
    interval = Interval(low, high, view.level, MOVER)
    withheld = _withheld(view)
    if withheld is not None:
        raw = Undefined(withheld)
        interval = Interval(0.0, 1.0, view.level, "none: the score is withheld")
    clipped = Interval(_clip(interval.low), _clip(interval.high), view.level, interval.method)
    n_items, n_clusters = parts.delta.n_items, parts.delta.n_clusters
    return (
        Estimate(
            raw if isinstance(raw, Undefined) else max(0.0, raw),
            clipped,
            n_items=n_items,
            n_clusters=n_clusters,
        ),
        Estimate(raw, interval, n_items=n_items, n_clusters=n_clusters),
    )


def _clip(value: float) -> float:
    return min(1.0, max(0.0, value))


@METRICS.register("pis")
def pis(view: View) -> Report:
    """Policy Invariance Score, clipped and raw, under both readings of failed calls."""
    found = {t: _estimates(view, t) for t in _TREATMENTS}
    values = [c.value for c, _ in found.values() if not isinstance(c.value, Undefined)]
    both = len(values) == len(_TREATMENTS)
    span: dict[str, float | None] = {
        "span_low": min(values) if both else None,
        "span_high": max(values) if both else None,
    }
    scores: list[Score] = []
    for treatment, (clipped, raw) in found.items():
        for metric, estimate in (("pis", replace(clipped, detail=span)), ("pis_raw", raw)):
            scores.append(
                to_score(
                    estimate,
                    metric=metric,
                    treatment=treatment,
                    unit="score 0-1",
                    better="higher",
                    excluded=view.excluded((view.base, *view.preserving, STRICT, LENIENT)),
                )
            )
    headline = view.protocol.headline_treatment
    shown = found.get(headline, found["exclude"])[0]
    name, reason = _band(shown)
    return Report(tuple(scores), flags={"band": name}, reasons={"band": reason})


def _band(estimate: Estimate) -> tuple[str, str]:
    if isinstance(estimate.value, Undefined):
        return "undefined", f"No score, hence no band: {estimate.value.reason}."
    name = band(estimate.value)
    assert isinstance(estimate.interval, Interval)
    low, high = estimate.interval.low, estimate.interval.high
    where = f"PIS {plain(estimate.value)} [{plain(low)}, {plain(high)}] is {name}"
    if band(low) == band(high):
        return name, f"{where}, over all of its interval."
    return name, f"{where}; its interval reaches from {band(low)} to {band(high)}."
