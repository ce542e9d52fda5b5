"""What a section says of its figures before they are shown."""

from __future__ import annotations

from judgeaudit.cards.effects import alike
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.texts_en import FLAGS
from judgeaudit.cards.tiles import responses
from judgeaudit.cards.words import bound, clipped, threshold_words, unit_score
from judgeaudit.metrics.pis import SCALE

__all__ = ["notes_of"]


def _sides(f: Figures) -> str:
    """Word why the placebo has two p-values; "" where it has one or none."""
    tests = [
        f.get(m, c) for c in f.conditions("placebo") for m in ("delta_debiased", "delta_paper")
    ]
    if not f.reason("placebo") or all(s is None or s.p_value is None for s in tests):
        return ""
    return (
        "The table's p-values are one-sided: they ask whether there is more disagreement than "
        "chance makes, and so is the placebo's there. Its check above asks on both sides, more or "
        "less, and its p is twice the smaller tail, at most 1."
    )


def _weighing(f: Figures) -> str:
    """Word how far the score depends on the weights of its three parts."""
    parts = (
        f.value("delta_paper", "certified"),
        f.value("direction_ratio"),
        f.value("undue_share"),
    )
    delta, right, undue = parts
    if f.value("pis") is None or delta is None or right is None or undue is None:
        return ""
    # a weighted mean lies between the worst part alone and the best part alone
    alone = [clipped(1 - SCALE * x, "score") for x in (delta, 1 - right, undue)]
    low, high = unit_score(min(alone)), unit_score(max(alone))
    return f"By the weights given to its three parts the score could lie from {low} to {high}."


def _gate_words(f: Figures) -> str:
    """Word where rewording stands against the practical threshold."""
    gate, tau = f.flag("certified_gate"), threshold_words(f.threshold)
    delta = f.get("delta_paper", "certified")
    limit, level = bound(delta), 100 * f.facts.protocol.level
    said = f" They are {limit} ({level:g}%)." if limit else ""
    if delta is not None and delta.value is not None and gate in ("above", "below"):
        return f"Pooled, the excess flips are shown to be {gate} {tau}.{said}"
    if delta is not None and delta.value is not None and gate:
        return f"Pooled, these calls do not decide whether the excess is above {tau}.{said}"
    return f.reason("certified_gate")


def notes_of(f: Figures, family: str) -> list[str]:
    """Word what was found, in the units of the card; empty texts where nothing is to be said."""
    if family == "semantic":
        return [_gate_words(f), f.reason("placebo"), _sides(f), alike(f)]
    if family == "pis" and f.withheld:
        return ["No score is given to a judge that was not shown to respond to the policy."]
    if family == "pis":
        return [_weighing(f)]
    if flag := FLAGS.get(family):
        return [f.reason(flag)]
    if family == "responsiveness":
        return [responses(f) or f.reason("responsiveness")]
    return []
