"""Scores of a run that stopped as soon as it was decided: always-valid in place of fixed-n."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.records import Protocol, Score, ScoreSet
from judgeaudit.metrics._words import plain
from judgeaudit.stats.adjusted_t import Gate
from judgeaudit.stats.sequential import always_valid, monitor

__all__ = ["ALWAYS_VALID", "restated"]

ALWAYS_VALID: Final = "always-valid, by betting, on one triple a cluster"

_DELTAS: Final = ("delta_paper", "delta_debiased", "rms_shift")


def restated(scores: ScoreSet, d: NDArray[np.int8], protocol: Protocol) -> ScoreSet:
    """Put the always-valid interval in the place of the one that assumes a fixed n.

    Parameters
    ----------
    scores : ScoreSet
        As of any run.
    d : array of int8, shape (n_triples,)
        Triples in the order of asking.
    protocol : Protocol
        Practical threshold and level.

    Returns
    -------
    ScoreSet
        The pooled excess flip rate (the paper's) is the mean of the triples with its always-valid
        interval; the gate follows from it. Other excess flip rates, and all p-values of effects,
        say that they assume a fixed number of items.

    References
    ----------
    estimators.md, section 10; Waudby-Smith and Ramdas 2024, JRSS B 86.
    """
    tau, alpha = protocol.practical_threshold, 1 - protocol.level
    now = monitor(d, tau, alpha=alpha)
    low, high = always_valid(d, alpha=alpha)
    gate: Gate = "inconclusive"
    if now.stop_tolerable is not None or high < tau:
        gate = "below"
    elif low > tau:
        gate = "above"
    state, words = _state(now.stop_effect, now.stop_tolerable, d.size, tau)
    interval = f"Always-valid interval [{plain(low)}, {plain(high)}]"
    return scores.model_copy(
        update={
            "scores": tuple(_restated(s, d, (low, high), protocol.level) for s in scores.scores),
            "flags": {**scores.flags, "stopping": state, "certified_gate": gate},
            "reasons": {
                **scores.reasons,
                "stopping": f"{words} {interval}; it holds whenever one stops. Intervals and "
                f"p-values of all other figures assume a fixed number of items.",
                "certified_gate": f"{words} {interval}, threshold {plain(tau)}.",
            },
        }
    )


def _state(effect: int | None, tolerable: int | None, n: int, tau: float) -> tuple[str, str]:
    if effect is not None and (tolerable is None or effect <= tolerable):
        return "effect", (
            f"The run stopped early: an effect of rewording was shown after {effect} items "
            f"(e-process)."
        )
    if tolerable is not None:
        return "tolerable", (
            f"The run stopped early: an effect of {plain(tau)} or more was ruled out after "
            f"{tolerable} items."
        )
    return "not decided", f"Nothing was decided on {n} items."


def _restated(s: Score, d: NDArray[np.int8], ends: tuple[float, float], level: float) -> Score:
    if s.metric not in _DELTAS or s.treatment != "exclude" or s.condition is None:
        return s
    fixed = "assumes a fixed number of items; this run stopped when it was decided"
    if s.metric != "delta_paper" or s.condition != "certified" or not d.size:
        return s.model_copy(update={"note": f"{s.note}; {fixed}" if s.note else fixed})
    detail = {
        **s.detail,
        "all_calls": s.value,
        "fixed_n_low": s.low,
        "fixed_n_high": s.high,
        "gate_upper": ends[1],
        "triples": float(d.size),
    }
    return s.model_copy(
        update={
            "value": float(d.mean()),
            "why_undefined": None,
            "low": ends[0],
            "high": ends[1],
            "level": level,
            "method": ALWAYS_VALID,
            "why_no_interval": None,
            "numerator": float(d.sum()),
            "denominator": float(d.size),
            "n_items": int(d.size),
            "n_clusters": int(d.size),
            "detail": detail,
            "note": "from one triple a cluster, in the order of asking; the run stopped early",
        }
    )
