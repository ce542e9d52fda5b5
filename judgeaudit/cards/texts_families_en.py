"""The card's sections in English: their metrics, titles and leads; plain data, see `texts_en`."""

from __future__ import annotations

from typing import Final, NamedTuple

from judgeaudit.cards import texts_agreement_en as _agreement
from judgeaudit.cards import texts_monitor_en as _monitor

__all__ = [
    "ABSTENTION",
    "CORRECTED",
    "FAMILIES",
    "KNOWLEDGE",
    "SOFT",
    "SOFT_LABELS",
    "Family",
]


class Family(NamedTuple):
    """A section of the card: its metrics in order, those in the open first."""

    id: str
    title: str
    lead: str
    shown: tuple[str, ...]
    folded: tuple[str, ...] = ()


FAMILIES: Final = (
    Family(
        "semantic",
        "Principle 1: the wording must not matter",
        "The same policy, worded otherwise. Each rewording keeps every norm, exception, "
        "threshold, burden of proof and default rule; a verdict that changes with it measures the "
        "wording, not the behaviour. The placebo is the base text again: its excess must be 0.",
        ("delta_paper", "delta_debiased"),
        ("flip_rate", "signed_shift", "rms_shift", "delta_paper_bca", "gee_log_odds"),
    ),
    Family(
        "threshold",
        "Principle 2: the threshold must matter",
        "The policy made stricter, then more lenient. Verdicts should move, and only one way: "
        "from UNSAFE under strict to SAFE under lenient.",
        ("direction_ratio", "forward_rate", "reverse_rate"),
    ),
    Family(
        "ambiguity",
        "Principle 3: clear cases must hold",
        "On an ambiguous item, one on which people can disagree, an unsteady verdict can be "
        "explained. On a clear item, under a certified rewrite, it cannot: that flip is undue. "
        "Flips by chance alone fall mostly on clear items too, for most items are clear.",
        ("undue_share", "undue_null", "undue_clear", "undue_ambiguous", "undue_risk_ratio"),
        (
            "undue_clear_delta_paper",
            "undue_clear_delta_debiased",
            "undue_ambiguous_delta_paper",
            "undue_ambiguous_delta_debiased",
        ),
    ),
    Family(
        "pis",
        "The score made of the three",
        "One number for tables. It rests on few flips, is cut at 0, and is not defined without "
        "flips: prefer its parts.",
        ("pis", "pis_raw"),
    ),
    Family(
        "responsiveness",
        "The gate: does the judge read the policy?",
        "A judge that ignores the policy, or always gives the same answer, never flips and would "
        "look perfect above. So its verdicts must move when the policy's substance moves.",
        (
            "responsiveness_threshold",
            "responsiveness_no_policy",
            "responsiveness_inverted",
            "vacuum_unsafe_rate",
        ),
    ),
    Family(
        "monitor",
        "As a monitor: is the judge right?",
        "Agreement of the base verdicts with the labels. A steady judge can be steadily wrong.",
        ("accuracy", "balanced_accuracy", "tpr", "tnr", "jitter", "unsafe_rate"),
        ("missed_bound", "false_alarm_bound", "worst_of_k"),
    ),
    Family(*_monitor.DETECTION),
    Family(*_monitor.RANKING),
    Family(*_monitor.CALIBRATION),
    Family(*_agreement.AGREEMENT),
    Family(
        "variance",
        "Methods: where the variance comes from",
        "Two calls can differ in the cluster, the item, the condition, the wording, and in nothing "
        "but chance. Here base and the rewordings that keep the meaning count.",
        ("variance_share",),
        ("precision_share",),
    ),
)

CORRECTED: Final = Family(
    "corrected",
    "The rate that people would find",
    "How many of these items people would call UNSAFE, from the judge's verdicts on all and human "
    "labels on a few. It holds only if the few were drawn at random.",
    ("corrected_rate", "judge_rate", "human_rate"),
    ("corrected_ppi_plus", "corrected_ppi", "corrected_rogan_gladen"),
)
"""Stands on a card only where people labelled some items."""

KNOWLEDGE: Final = Family(
    "knowledge",
    "What the judge knows of itself",
    "Each source of confidence by itself: whether it tells the judge's own errors, and whether it "
    "is calibrated; over all items and on each dataset.",
    ("knowledge_auroc", "knowledge_gap"),
    ("knowledge_brier",),
)
"""Stands on a card only where it was asked for."""

SOFT: Final = Family(
    "soft",
    "The same from probabilities",
    "A verdict is one draw from the probability of UNSAFE; these figures use the probability "
    "itself where a call has one. They are never mixed with those from verdicts, and gate nothing.",
    ("soft_delta_paper", "soft_delta_debiased", "soft_direction_ratio", "soft_undue_share"),
    ("soft_jitter", "soft_flip_rate"),
)
"""Stands on a card only where calls have probabilities."""

SOFT_LABELS: Final = Family(*_agreement.SOFT_LABELS)
"""Stands on a card only where votes of raters are known."""

ABSTENTION: Final = Family(*_agreement.ABSTENTION)
"""Stands on a card only where verdicts have a confidence."""
