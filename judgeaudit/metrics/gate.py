"""The gate: where the effect of rewording stands against the practical threshold."""

from __future__ import annotations

from judgeaudit.metrics._estimate import Estimate, number
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import CERTIFIED, View
from judgeaudit.metrics._words import listed, plain, within
from judgeaudit.metrics.failures import bounds_of, treated_of
from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.adjusted_t import Gate, gate

__all__ = ["certified_gate", "decision", "identified"]


def decision(estimate: Estimate, threshold: float) -> Gate:
    """Place an excess flip rate against the practical threshold.

    Parameters
    ----------
    estimate : Estimate
        From `metrics.delta.excess_flip_rate`; its detail holds `gate_upper`.
    threshold : float
        The practical threshold, a fraction of call pairs.

    Returns
    -------
    {"above", "below", "inconclusive"}
        Inconclusive where it is undefined.

    References
    ----------
    estimators.md, section 4.
    """
    interval = estimate.interval
    low = interval.low if isinstance(interval, Interval) else None
    return gate(low, estimate.detail.get("gate_upper"), threshold)


def identified(region: Estimate, threshold: float) -> bool | None:
    """Say whether all completions of the failed calls lie on one side of the threshold.

    Parameters
    ----------
    region : Estimate
        From `metrics.failures.bounds`.
    threshold : float
        The practical threshold.

    Returns
    -------
    bool or None
        None where there are no bounds.
    """
    if isinstance(region.interval, Undefined):
        return None
    return region.interval.low > threshold or region.interval.high < threshold


@METRICS.register("certified_gate")
def certified_gate(view: View) -> Report:
    """Flag where the certified conditions stand, and whether failures leave it open."""
    threshold = view.protocol.practical_threshold
    treatment = view.protocol.headline_treatment
    estimate = treated_of(view, treatment, CERTIFIED)
    state = decision(estimate, threshold)
    return Report(
        flags={"certified_gate": state, "identified": _identified(view, threshold)[0]},
        reasons={
            "certified_gate": _reason(view, estimate, state, threshold),
            "identified": _identified(view, threshold)[1],
        },
    )


def _reason(view: View, estimate: Estimate, state: Gate, threshold: float) -> str:
    if isinstance(estimate.value, Undefined):
        return f"The excess flip rate is undefined ({estimate.value.reason}), so nothing is shown."
    if isinstance(estimate.interval, Undefined):
        return f"The excess flip rate has no interval ({estimate.interval.reason})."
    upper = number(estimate.detail.get("gate_upper"))
    what = (
        f"excess flip rate of {listed(view.certified)}: {plain(estimate.value)} "
        f"[{within(estimate.interval.low)}, {within(estimate.interval.high)}]"
    )
    at = plain(threshold)
    assert upper is not None
    end = {
        "above": f"its lower end is above the practical threshold {at}.",
        "below": f"its bound {within(upper)} is below the practical threshold {at}.",
        "inconclusive": (
            f"the threshold {at} lies between its lower end and its bound {within(upper)}, so "
            f"these calls do not decide."
        ),
    }[state]
    return f"The {what}; {end}"


def _identified(view: View, threshold: float) -> tuple[str, str]:
    members = (view.base, *view.certified)
    failed = sum(view.excluded(members).values())
    if not view.certified or not view.called(view.base):
        missing = "No certified condition" if view.called(view.base) else f"Not even {view.base}"
        return "not identified", f"{missing} was called."
    if failed == 0:
        return "identified", "Every call under base and the certified conditions gave a verdict."
    region = bounds_of(view, view.certified)
    known = identified(region, threshold)
    if known is None or isinstance(region.interval, Undefined):
        return "not identified", "No item has the calls that bounds need."
    words = (
        f"{failed} calls gave no verdict; over all they could have said the excess flip rate lies "
        f"between {within(region.interval.low)} and {within(region.interval.high)}"
    )
    if known:
        return "identified", f"{words}, on one side of the threshold {plain(threshold)}."
    return "not identified", f"{words}, on both sides of the threshold {plain(threshold)}."
