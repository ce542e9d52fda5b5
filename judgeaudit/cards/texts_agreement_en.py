"""The card's English on agreement, soft labels and abstention; plain data, see `texts_en`."""

from __future__ import annotations

from typing import Final

__all__ = ["ABSTENTION", "AGREEMENT", "METRICS", "SOFT_LABELS", "STRATA"]

METRICS: Final = {
    "agreement_observed": (
        "Agreement (P_o)",
        "Share of items on which one verdict and one label, drawn at random, are the same.",
        "High by itself where one label is rare: read it with those below.",
    ),
    "agreement_kappa": (
        "Cohen's kappa",
        (
            "Agreement beyond what the two rates of UNSAFE would give by chance. 1 is full "
            "agreement, 0 is chance."
        ),
        "Low where one label is rare, however well both do; a note says where.",
    ),
    "agreement_pabak": (
        "PABAK",
        "2 P_o - 1: kappa as if both labels were equally frequent.",
        "",
    ),
    "agreement_ac1": (
        "Gwet's AC1",
        "Agreement beyond a chance that is small where one label is rare.",
        "Holds its ground where kappa does not; it forgives misses of the rare label.",
    ),
    "agreement_positive": (
        "Agreement on UNSAFE",
        "Of the labels UNSAFE that either gives, the share that both give (2a / (2a + b + c)).",
        "The figure that counts where UNSAFE is rare.",
    ),
    "agreement_negative": (
        "Agreement on SAFE",
        "Of the labels SAFE that either gives, the share that both give.",
        "",
    ),
    "agreement_alpha": (
        "Krippendorff's alpha",
        "Agreement beyond chance for any number of raters and missing votes (nominal).",
        "Low where one label is rare, as kappa is.",
    ),
    "soft_label_brier": (
        "Brier score against raters' votes",
        (
            "Squared error of the judge's probability against the vote of a rater drawn at random. "
            "Nobody gets below the raters' own spread (floor)."
        ),
        "",
    ),
    "soft_label_log": (
        "Log score against raters' votes",
        (
            "Mean of -ln of the probability that the judge gave to a rater's vote, in nats; "
            "shares of repeats are smoothed by half a call."
        ),
        "",
    ),
    "soft_label_distance": (
        "Distance from the raters' answers",
        (
            "Squared distance between the judge's probability and the share of raters, without the "
            "noise of either. 0 is right; unbiased, so it may be below 0."
        ),
        "Compare groups of items: a judge that speaks for one population only is far from others.",
    ),
    "aurc": (
        "Area under the risk-coverage curve (AURC)",
        (
            "Mean risk over all coverages if the judge answered only where it is most confident. "
            "Lower is better; no error rate."
        ),
        "Compare it with the area if confidence meant nothing (chance).",
    ),
    "aurc_excess": (
        "Excess AURC (E-AURC)",
        "The area above that of a judge which is least confident exactly where it errs. 0 is best.",
        "",
    ),
    "selective_coverage": (
        "Coverage at the operating point",
        (
            "Share of verdicts that are kept at a threshold chosen on half of the clusters; "
            "measured on the other half."
        ),
        "Send the rest to people.",
    ),
    "selective_risk": (
        "Risk at the operating point",
        "Share of the kept verdicts that are wrong, on the half that had no part in the choice.",
        "",
    ),
    "penalised_score": (
        "Score with a penalty",
        (
            "Points a verdict: 1 right, minus the penalty wrong, 0 where the judge abstains, "
            "which it does unless its confidence is above penalty / (1 + penalty)."
        ),
        "Below the score of always answering, its confidence does harm.",
    ),
}

AGREEMENT: Final = (
    "agreement",
    "Agreement with the labels",
    (
        "One verdict beside one label, each drawn at random. No coefficient tells all where one "
        "label is rare, so all stand here. Where there are raters, set the judge with them beside "
        "them among themselves."
    ),
    ("agreement_observed", "agreement_kappa", "agreement_ac1", "agreement_positive"),
    ("agreement_negative", "agreement_pabak", "agreement_alpha"),
)

SOFT_LABELS: Final = (
    "soft_labels",
    "Where people differ",
    "The judge's probability against the answers of several raters, where no single label is true.",
    ("soft_label_brier", "soft_label_distance"),
    ("soft_label_log",),
)

ABSTENTION: Final = (
    "abstention",
    "If it may abstain",
    (
        "What the judge's errors come to if only confident verdicts are kept. Right, wrong, "
        "abstained and failed calls are never added up."
    ),
    ("aurc", "aurc_excess", "selective_coverage", "selective_risk"),
    ("penalised_score",),
)

STRATA: Final = (
    *("judge and labels", "judge and raters", "among raters", "risk at most 0.05"),
    *("penalty 1", "penalty 3", "penalty 9"),
)
