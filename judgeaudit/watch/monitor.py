"""A history watched night after night: whether the judge changed since the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from judgeaudit.core.records._base import Record
from judgeaudit.stats._types import FloatArray1D, IntArray1D, limits
from judgeaudit.stats.adjusted_t import adjusted_t
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.nightly import Pool, evidence, level_of_night
from judgeaudit.watch.store import History, Night

__all__ = ["FACTS", "NightSeen", "Watched", "marks_of", "watch"]


class NightSeen(Record):
    """What one night adds.

    Parameters
    ----------
    run : str
        From where it was added.
    n_anchors : int
        With a base verdict.
    unsafe_rate, error_rate : float, optional
        Shares of base verdicts, averaged over anchors.
    worse, worse_low, worse_high : float, optional
        By how much more is wrong than on the baseline's night; these intervals hold for all
        nights together.
    evidence_moved, evidence_worse : float
        Each reaches 2/alpha by chance, ever, with a chance of alpha/2 at most.
    alarm : str
        "moved", "worse", "moved and worse", or "".
    new : tuple of str
        Facts in which this night differs from the one before.
    """

    number: int
    ended: str
    run: str = ""
    n_anchors: int
    unsafe_rate: float | None
    error_rate: float | None
    worse: float | None = None
    worse_low: float | None = None
    worse_high: float | None = None
    evidence_moved: float
    evidence_worse: float
    alarm: str = ""
    new: tuple[str, ...] = ()


class Watched(Record):
    """A history since its baseline.

    Parameters
    ----------
    baseline : int, optional
        The night that was pinned; None where there is none, and nothing is decided.
    alpha : float
        Chance that an alarm is ever raised though nothing changes.
    first_alarm : int, optional
        The first night on which there was one.
    why : str
        What the facts say of that night.
    """

    baseline: int | None
    alpha: float
    n_anchors: int
    nights: tuple[NightSeen, ...]
    first_alarm: int | None
    why: str = ""


def marks_of(night: Night, gold: IntArray1D) -> tuple[IntArray1D, IntArray1D]:
    """Return the wrong base verdicts of the labelled anchors, and their calls."""
    labelled = gold >= 0
    wrong = np.where(gold == 1, night.valid - night.unsafe, night.unsafe)
    return np.where(labelled, wrong, 0), np.where(labelled, night.valid, 0)


def _rates(marks: IntArray1D, calls: IntArray1D) -> FloatArray1D:
    rates = np.full(marks.shape, np.nan)
    np.divide(marks, calls, out=rates, where=calls > 0)
    return rates


def _mean(rates: FloatArray1D) -> float | None:
    there = rates[~np.isnan(rates)]
    return float(there.mean()) if there.size else None


def watch(history: History, *, alpha: float = 0.05) -> Watched:
    """Follow all nights since the baseline.

    Parameters
    ----------
    history : History
        The store.
    alpha : float
        Chance that an alarm is ever raised though nothing changes, however many nights come.

    Returns
    -------
    Watched

    References
    ----------
    Decision note 0802.
    """
    gold, every, pinned = history.gold(), history.nights(), history.baseline()
    nights = [n for n in every if pinned is None or n.number >= pinned.night]
    pools = Pool(gold.size, "moved"), Pool(gold.size, "more")
    ps: tuple[list[float | None], list[float | None]] = ([], [])
    for night in nights:
        wrong, calls = marks_of(night, gold)
        ps[0].append(pools[0].add(night.unsafe, night.valid))
        ps[1].append(pools[1].add(wrong, calls))
    # the first p-value is that of a night without one before it
    moved, worse = (evidence(p, alpha=alpha / 2) for p in ps)
    seen = []
    before: Night | None = None
    for k, night in enumerate(nights):
        said = [w for w, e in (("moved", moved), ("worse", worse)) if e.values[k] >= 2 / alpha]
        seen.append(
            NightSeen(
                number=night.number,
                ended=night.ended,
                run=night.run,
                n_anchors=int(np.count_nonzero(night.valid)),
                unsafe_rate=_mean(_rates(night.unsafe, night.valid)),
                error_rate=_mean(_rates(*marks_of(night, gold))),
                evidence_moved=float(moved.values[k]),
                evidence_worse=float(worse.values[k]),
                alarm="" if pinned is None else " and ".join(said),
                new=() if before is None else _new(before.facts, night.facts),
                **_worse(nights[0], night, gold, k, alpha),
            )
        )
        before = night
    alarms = [s for s in seen if s.alarm]
    return Watched(
        baseline=None if pinned is None else pinned.night,
        alpha=alpha,
        n_anchors=int(gold.size),
        nights=tuple(seen),
        first_alarm=alarms[0].number if alarms else None,
        why=_why(alarms[0], seen) if alarms else "",
    )


def _worse(first: Night, night: Night, gold: IntArray1D, k: int, alpha: float) -> dict[str, Any]:
    """Estimate how much more is wrong than on the first night, for all nights together."""
    if k == 0:
        return {}
    gap = _rates(*marks_of(night, gold)) - _rates(*marks_of(first, gold))
    there = np.flatnonzero(~np.isnan(gap))
    if there.size < 2:
        return {}
    sums = cluster_sums(gap[there], np.arange(there.size))
    low, high = limits(adjusted_t(sums, level=level_of_night(k, alpha=alpha)))
    return {"worse": float(gap[there].mean()), "worse_low": low, "worse_high": high}


FACTS: Final = {
    "judge": "judge (model, prompt or parameters)",
    "served": "served model",
    "fingerprints": "fingerprint of the served model",
    "policy": "content of the policy",
    "texts": "wordings of the policy",
    "corpus": "set of items",
    "corpus_version": "version of the corpus",
}
"""Facts of a night that are compared with those of the night before, in words."""


def _new(before: dict[str, Any], now: dict[str, Any]) -> tuple[str, ...]:
    return tuple(words for key, words in FACTS.items() if before.get(key) != now.get(key))


def _why(alarm: NightSeen, seen: Sequence[NightSeen]) -> str:
    changes = [(s.number, w) for s in seen if s.number <= alarm.number for w in s.new]
    if not changes:
        return "no fact of any night differs: the judge answers otherwise under the same name"
    return "; ".join(f"since night {n} another {w}" for n, w in changes)
