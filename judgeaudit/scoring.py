"""Verdict table in, scores out: every metric in a fixed order, nothing left out silently."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import Protocol, ScoreSet
from judgeaudit.core.records.scores import Score
from judgeaudit.core.table import VerdictTable
from judgeaudit.metrics import METRICS, View
from judgeaudit.metrics.failures import HEADLINES
from judgeaudit.stats.clusters import kish_clusters

__all__ = ["MONITOR", "ON_REQUEST", "ORDER", "score"]

MONITOR: Final = (
    *("fnr", "fpr", "balanced_accuracy", "f1", "ppv", "categories"),
    *("auroc", "partial_auroc", "average_precision", "tpr_at_fpr", "held_out_threshold"),
    "catch_rate",
    *("calibration", "reliability", "brier", "temperature", "calibration_by_category"),
)
"""Metrics of the judge as a monitor, beside accuracy, TPR and TNR."""

ORDER: Final = (
    "outcome_rate",
    "jitter",
    "unsafe_rate",
    "flip_rate",
    "signed_shift",
    "delta_paper",
    "delta_debiased",
    "rms_shift",
    "treatments",
    "direction_ratio",
    "forward_rate",
    "reverse_rate",
    "undue_share",
    "undue_null",
    "undue_clear",
    "undue_risk_ratio",
    "responsiveness",
    "vacuum_unsafe_rate",
    "pis",
    "accuracy",
    "tpr",
    "tnr",
    "missed_bound",
    "false_alarm_bound",
    "worst_of_k",
    *MONITOR,
    "agreement",
    "soft_labels",
    "abstention",
    "placebo",
    "certified_gate",
    "variance_share",
    "precision_share",
    "soft",
)
"""Metrics of judgeaudit in the order of their scores; those of other packages follow by name."""

ON_REQUEST: Final = ("delta_paper_bca", "gee_log_odds")
"""The paper's interval and its confirmation, computed only when they are named: the first holds
for judges that flip often only, the second needs an extra; both take more time than the rest."""


def score(
    table: VerdictTable,
    protocol: Protocol,
    *,
    seed: int = 0,
    uncertified: frozenset[str] = frozenset(),
    metrics: Sequence[str] | None = None,
) -> ScoreSet:
    """Compute all scores of one run; a pure function of its arguments.

    Parameters
    ----------
    table : VerdictTable
        Outcomes of all calls of one judge.
    protocol : Protocol
        Conditions, repeats, confidence level, practical threshold, headline treatment. Its
        conditions without a call in the table are left out, and named in the flags.
    seed : int
        Seed of what is resampled, drawn or split (BCa, floors of calibration, halves and folds).
    uncertified : frozenset of str
        Conditions of kind certified whose certificate did not pass: scored, but not pooled.
    metrics : sequence of str, optional
        Names of metrics to compute; all but those on request where it is left out. To have them
        too: `(*ORDER, *ON_REQUEST)`.

    Returns
    -------
    ScoreSet
        Scores in a fixed order, with the findings drawn from them.

    Raises
    ------
    ConfigError
        If a metric, a condition or the headline treatment is not known.
    """
    if protocol.headline_treatment not in HEADLINES:
        raise ConfigError(
            f"unknown headline treatment {protocol.headline_treatment!r}",
            mend=f"Known: {', '.join(HEADLINES)}",
        )
    view = View(table, protocol, seed, uncertified)
    scores: list[Score] = []
    flags, reasons = _remarks(view)
    for name in _names(metrics):
        report = METRICS[name](view)
        scores += report.scores
        flags.update(report.flags)
        reasons.update(report.reasons)
    return ScoreSet(scores=tuple(scores), flags=flags, reasons=reasons)


def _names(asked: Sequence[str] | None) -> list[str]:
    known = METRICS.names()
    if asked is None:
        return [*ORDER, *(n for n in known if n not in ORDER and n not in ON_REQUEST)]
    for name in asked:
        METRICS[name]  # an unknown name raises, with the known ones
    order = (*ORDER, *ON_REQUEST, *known)
    return sorted(dict.fromkeys(asked), key=order.index)


def _remarks(view: View) -> tuple[dict[str, str], dict[str, str]]:
    """Name the conditions that are not scored, or scored but not pooled, and uneven clusters."""
    flags: dict[str, str] = {}
    reasons: dict[str, str] = {}
    planned = [c.id for c in view.protocol.conditions]
    missing = [c for c in planned if not view.called(c)]
    if missing:
        flags["not_called"] = ", ".join(missing)
        reasons["not_called"] = (
            f"Left out, for no call of theirs is in the table: {', '.join(missing)}."
        )
    unknown = [c for c in view.table.conditions if c not in planned]
    if unknown:
        flags["not_in_protocol"] = ", ".join(unknown)
        reasons["not_in_protocol"] = (
            f"Left out, for the protocol does not say what they are: {', '.join(unknown)}."
        )
    kinds = {c.id: c.kind for c in view.protocol.conditions}
    voided = [c for c in planned if kinds[c] == "certified" and c in view.uncertified]
    if voided:
        flags["not_certified"] = ", ".join(voided)
        reasons["not_certified"] = (
            f"Scored, but not pooled, for no certificate of theirs passed: {', '.join(voided)}."
        )
    sizes = np.bincount(view.clusters)
    if sizes.size and 2 * kish_clusters(sizes) < sizes.size:
        flags["clusters"] = "uneven"
        reasons["clusters"] = (
            f"The largest of {sizes.size} clusters holds {int(sizes.max())} of {int(sizes.sum())} "
            f"items; they count like {kish_clusters(sizes):.0f} even ones. Intervals are widened "
            f"for it, and are still too narrow if all items of a large cluster flip together."
        )
    return flags, reasons
