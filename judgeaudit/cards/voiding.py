"""When figures on wording say nothing: a judge that nothing moves is not moved by words either."""

from __future__ import annotations

from typing import Final

from judgeaudit.cards.effects import shown
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.words import count

__all__ = ["VOID_FAMILIES", "is_void_metric", "void", "void_badge"]

VOID_FAMILIES: Final = frozenset({"semantic", "ambiguity", "pis"})
"""Sections whose figures are void together."""

_METRICS: Final = ("delta_", "soft_delta_", "undue_", "soft_undue_", "pis")
_NAMED: Final = frozenset(
    {"flip_rate", "soft_flip_rate", "signed_shift", "rms_shift", "direction_ratio"}
)


def is_void_metric(metric: str) -> bool:
    """Say whether a metric tells of wording, and so falls with a judge that nothing moves."""
    return metric.startswith(_METRICS) or metric in _NAMED


def void(f: Figures) -> str:
    """Word why the figures on wording say nothing; "" where they may be read.

    A judge whose verdicts a rewording is shown to move has been moved: that finding stands,
    whether or not the judge responds to the policy.

    Parameters
    ----------
    f : Figures
        Of the card.
    """
    if f.constant:
        n = count(f.outcomes()["verdict"])
        return (
            f"Nothing moved: all {n} verdicts are {f.constant}, whatever the policy said; "
            f"this says nothing about wording."
        )
    if not f.withheld or f.flag("certified_gate") == "above" or shown(f):
        return ""
    if f.withheld == "not responsive":
        return (
            "Void: the judge does not respond to the policy, so that its verdicts hold under "
            "another wording says nothing about wording."
        )
    return (
        "Void so far: it was not shown that the judge responds to the policy, and one that does "
        "not would hold under any wording."
    )


def void_badge(f: Figures) -> str:
    """Word the same in two or three words."""
    if f.constant:
        return "nothing moved"
    return "not responsive" if f.withheld == "not responsive" else "response not shown"
