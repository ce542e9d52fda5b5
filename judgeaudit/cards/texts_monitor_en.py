"""The card's English on a monitor's rates, ranking and calibration; plain data, see `texts_en`."""

from __future__ import annotations

from typing import Final

__all__ = ["CALIBRATION", "DETECTION", "FLAGS", "METRICS", "RANKING", "STRATA"]

METRICS: Final[dict[str, tuple[str, ...]]] = {
    "accuracy": (
        "Accuracy",
        "Share of base verdicts that equal the label. Depends on how many items are unsafe.",
        "Read TPR and TNR: on a lopsided corpus a constant answer scores well.",
    ),
    "balanced_accuracy": ("Balanced accuracy", "Mean of TPR and TNR; 50% is chance on any corpus."),
    "tpr": (
        "Unsafe items caught (TPR)",
        "Share of verdicts on unsafe items that are UNSAFE.",
        "What is missing to 100% passes the judge unseen.",
    ),
    "tnr": (
        "Safe items cleared (TNR)",
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
    "fnr": (
        "Unsafe items missed (FNR)",
        "Share of verdicts on unsafe items that are SAFE.",
        "",
    ),
    "fpr": (
        "Safe items refused (FPR)",
        "Share of verdicts on safe items that are UNSAFE: over-refusal of benign controls.",
        "Without safe items there is no control group, and every detector looks good.",
    ),
    "f1": (
        "F1 of UNSAFE",
        "Harmonic mean of precision and of unsafe items caught, at this corpus' share of UNSAFE.",
        "Do not compare it between corpora with other shares.",
    ),
    "ppv": (
        "Precision",
        (
            "Share of UNSAFE verdicts that are right: at this corpus' share of UNSAFE, and at "
            "the stated shares that deployment may have."
        ),
        "Where violations are rare, most alarms are false unless the FPR is tiny.",
    ),
    "category_tpr": ("Unsafe items caught, by category", "", ""),
    "category_fpr": ("Safe items refused, by category", "", ""),
    "category_f1": ("F1, by category", "", ""),
    "macro_tpr": (
        "Unsafe items caught, mean of categories",
        "Unweighted over the categories that have such items; those left out are counted.",
        "Far below the plain figure: a small category is missed.",
    ),
    "macro_fpr": (
        "Safe items refused, mean of categories",
        "The same for UNSAFE verdicts on safe items.",
        "",
    ),
    "macro_f1": ("F1, mean of categories", "The same for F1.", ""),
    "auroc": (
        "AUROC",
        "Chance that an unsafe item scores above a safe one, ties counting half; 0.5 is chance.",
        "",
    ),
    "partial_auroc": (
        "Partial AUROC, FPR up to 10%",
        "The part of the ROC curve that a monitor runs in, on a scale where 0.5 is chance.",
        "",
    ),
    "average_precision": (
        "Average precision (PR-AUC)",
        "Mean precision at each unsafe item, from the highest score down.",
        "Chance is the share of UNSAFE items.",
    ),
    "tpr_at_fpr": (
        "Caught at a fixed FPR",
        (
            "Share of unsafe items that score above the threshold at which so many safe ones do. "
            "The interval counts that the threshold is not known."
        ),
        "",
    ),
    "held_out_tpr": (
        "Caught at a held-out threshold",
        "The threshold was chosen on other clusters (or another data set) than it is tested on.",
        "This, not the figure above, is what to expect in use.",
    ),
    "held_out_fpr": ("Refused at a held-out threshold", "The FPR that really came of it.", ""),
    "catch_rate": (
        "Caught by an audit",
        "Share of unsafe items among the stated fraction of all items that scores highest.",
        "",
    ),
    "ece": (
        "Calibration error (ECE)",
        (
            "Mean gap between the probability of UNSAFE and how often UNSAFE is true, in ten bins "
            "of equal width."
        ),
        "Above 0 by chance alone: read its p-value, not its size.",
    ),
    "top_label_ece": (
        "Calibration error of the likelier label",
        "The same for the label that the judge gives; another figure, and not to be mixed with it.",
        "",
    ),
    "ace": ("Adaptive calibration error (ACE)", "The same in ten bins of equal count.", ""),
    "calibration_bias": (
        "Mean probability less share of UNSAFE",
        "Above 0 the judge tells of more harm than there is.",
        "",
    ),
    "category_ece": ("Calibration error, by category", "", ""),
    "reliability": (
        "Reliability diagram",
        "How often UNSAFE is true in each bin of its probability.",
        "",
    ),
    "brier": (
        "Brier score",
        "Mean squared distance between the probability of UNSAFE and the label; 0 is best.",
        "",
    ),
    "temperature": (
        "Best temperature",
        "What the logits should be divided by. Above 1 the probabilities are too bold.",
        "",
    ),
    "temperature_gain": (
        "What scaling gains",
        "Fall of the log loss on clusters that the temperature was not fitted on.",
        "Below 0 it does harm.",
    ),
    "ece_scaled": ("Calibration error after scaling", "On held-out clusters.", ""),
}
"""Name, what it is and, where there is something to do, what."""

DETECTION: Final = (
    "detection",
    "Errors and alarms: what the verdicts are worth",
    (
        "Errors on unsafe and on safe items apart, what an alarm is worth at the share of UNSAFE "
        "cases in use, and whether a kind of risk is missed."
    ),
    ("fnr", "fpr", "ppv"),
    ("f1", "macro_tpr", "macro_fpr", "macro_f1", "category_tpr", "category_fpr", "category_f1"),
)
RANKING: Final = (
    "ranking",
    "Scores and thresholds",
    (
        "How likely UNSAFE an item is to the judge, from one source, named with each figure: "
        "how well that ranks, and what a threshold or an audit makes of it."
    ),
    ("auroc", "held_out_tpr", "held_out_fpr"),
    ("partial_auroc", "tpr_at_fpr", "average_precision", "catch_rate"),
)
CALIBRATION: Final = (
    "calibration",
    "Is it as sure as it should be?",
    (
        "Probabilities against labels. An error of calibration is above 0 by chance even for a "
        "perfect judge; it is called shown only where it stands out from that floor."
    ),
    ("ece", "calibration_bias", "brier"),
    (
        *("temperature", "temperature_gain", "ece_scaled"),
        *("top_label_ece", "ace", "reliability", "category_ece"),
    ),
)

FLAGS: Final = {"detection": "control_group", "calibration": "calibration"}
"""Flag whose sentence stands in a section, by the section's id."""

STRATA: Final = (
    *(f"bin {k}" for k in range(1, 11)),
    *(f"base rate {r}" for r in ("0.001", "0.01", "0.1")),
    *(f"fpr {r}" for r in ("0.01", "0.05")),
    *(f"budget {r}" for r in ("0.01", "0.05", "0.1", "0.2")),
)
"""Strata that are names of ours, in their order."""
