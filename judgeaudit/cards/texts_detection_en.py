"""The card's English for the rates of a monitor: right and wrong verdicts, and rare misses."""

from __future__ import annotations

from typing import Final

__all__ = ["METRICS"]

METRICS: Final[dict[str, tuple[str, ...]]] = {
    "accuracy": (
        "Accuracy",
        "Share of base verdicts that equal the label. Depends on how many items are unsafe.",
        "Read TPR and TNR: on a lopsided corpus a constant answer scores well.",
    ),
    "balanced_accuracy": ("Balanced accuracy", "Mean of TPR and TNR; 50% is chance on any corpus."),
    "tpr": (
        "Unsafe runs caught (TPR)",
        "Share of verdicts on unsafe items that are UNSAFE.",
        "What is missing to 100% passes the judge unseen.",
    ),
    "tnr": (
        "Safe runs cleared (TNR)",
        "Share of verdicts on safe items that are SAFE.",
        "What is missing to 100% are false alarms.",
    ),
    "missed_bound": (
        "Missed violations, upper bound",
        "Share of verdicts on unsafe items that are SAFE; it may be as high as the upper limit.",
        "No miss among few items is not never a miss: read the limit, not the 0.",
    ),
    "false_alarm_bound": (
        "False alarms, upper bound",
        "The same for UNSAFE verdicts on safe items.",
    ),
    "worst_of_k": (
        "Missed at least once in k calls",
        "Chance that one of k verdicts on an unsafe item is SAFE.",
        "Counts where somebody may ask again until the judge lets them pass.",
    ),
}
"""Name, what it is and, where there is something to do, what."""
