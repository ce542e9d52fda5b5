"""How often a gate would have cried wolf: it is tried on the nights of a history."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import ScoreSet
from judgeaudit.core.records._base import Record
from judgeaudit.core.table import Counts
from judgeaudit.stats._types import IntArray1D, Undefined, limits
from judgeaudit.stats.adjusted_t import adjusted_t
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.exchange import Blocks, changed
from judgeaudit.stats.intervals import clopper_pearson, normal_quantile
from judgeaudit.stats.multiplicity import holm
from judgeaudit.stats.pairs import delta_debiased, delta_paper
from judgeaudit.watch.deciding import Check, decide, decide_bar
from judgeaudit.watch.measures import MARKS, PER_ITEM, Difference, of_scores
from judgeaudit.watch.monitor import marks_of
from judgeaudit.watch.rules import GateRules, Regression
from judgeaudit.watch.store import History, Night

__all__ = ["Rehearsal", "Replayed", "rehearse"]


class Replayed(Record):
    """One night, had the gate been there."""

    number: int
    outcome: str
    failed: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()


class Rehearsal(Record):
    """A gate tried on a history.

    Parameters
    ----------
    baseline : int
        The night that all later ones were held against.
    nights : tuple of Replayed
        Each later night. Whether a failure was a false alarm the history does not know.
    redealt : int
        How often calls of the baseline and of a later night were dealt out again between the
        two, so that nothing can have changed; 0 without a check of base verdicts.
    false_alarms, low, high : float, optional
        Share of these on which such a check fails: false alarms, all of them; with its interval.
    """

    baseline: int
    nights: tuple[Replayed, ...]
    redealt: int
    false_alarms: float | None = None
    low: float | None = None
    high: float | None = None
    stated: float


def rehearse(history: History, rules: GateRules, *, deals: int = 400, seed: int = 0) -> Rehearsal:
    """Try a gate on the nights of a history since its baseline.

    Parameters
    ----------
    history : History
        The store.
    rules : GateRules
        The gate.
    deals : int
        How often calls are dealt out again, over all nights.
    seed : int
        Of the dealing.

    Raises
    ------
    ConfigError
        If no baseline is pinned, or no night came after it.
    """
    pinned = history.baseline()
    if pinned is None:
        raise ConfigError(
            "no baseline is pinned", where=history.where, mend="judgeaudit history pin NIGHT"
        )
    gold, nights = history.gold(), history.nights()
    base = next(n for n in nights if n.number == pinned.night)
    later = [n for n in nights if n.number > pinned.night]
    if not later:
        raise ConfigError(
            f"no night came after the baseline, night {pinned.night}",
            where=history.where,
            mend="Add runs, one a night",
        )
    replayed = tuple(_replay(base, night, gold, rules) for night in later)
    exact = [r for r in rules.regression if r.check is not None]
    if not exact:
        return Rehearsal(
            baseline=base.number, nights=replayed, redealt=0, stated=rules.false_alarm_rate
        )
    rng = np.random.default_rng(seed)
    bad = 0
    for k in range(deals):
        first, second = _deal(base, later[k % len(later)], rng)
        checks = _checks(first, second, gold, rules)
        bad += any(c.outcome == "fail" for c in checks)
    ends = clopper_pearson(bad, deals)
    low, high = limits(ends)
    return Rehearsal(
        baseline=base.number,
        nights=replayed,
        redealt=deals,
        false_alarms=bad / deals,
        low=low,
        high=high,
        stated=rules.false_alarm_rate,
    )


def _replay(base: Night, night: Night, gold: IntArray1D, rules: GateRules) -> Replayed:
    alpha = rules.false_alarm_rate / rules.n
    checks = [
        decide_bar(b, _at(night.scores, alpha), alpha, rules.power) for b in rules.bar
    ] + _checks(base, night, gold, rules)
    outcomes = {c.outcome for c in checks}
    worst = next(o for o in ("fail", "inconclusive", "pass") if o in outcomes)
    return Replayed(
        number=night.number,
        outcome=worst,
        failed=tuple(c.name for c in checks if c.outcome == "fail"),
        undecided=tuple(c.name for c in checks if c.outcome == "inconclusive"),
    )


def _at(scores: ScoreSet, alpha: float) -> ScoreSet:
    """Stretch the arms of stored intervals to this error on either side."""
    made = []
    for s in scores.scores:
        if s.value is None or s.low is None or s.high is None or s.level is None:
            made.append(s)
            continue
        arms = normal_quantile(1 - alpha) / normal_quantile(0.5 + s.level / 2)
        ends = {
            "low": s.value - arms * (s.value - s.low),
            "high": s.value + arms * (s.high - s.value),
            "level": 1 - 2 * alpha,
        }
        made.append(s.model_copy(update=ends))
    return ScoreSet(scores=tuple(made))


def _checks(a: Night, b: Night, gold: IntArray1D, rules: GateRules) -> list[Check]:
    level = 1 - 2 * rules.false_alarm_rate / rules.n
    found = [_measured(r, a, b, gold, level) for r in rules.regression]
    ps: dict[str, float | None] = {f"bar {k}": 1.0 for k in range(len(rules.bar))}
    ps |= {str(k): 1.0 if d.p is None else d.p for k, d in enumerate(found)}
    adjusted = holm(ps)
    return [
        decide(r, d, None if d.p is None else adjusted[str(k)], rules)
        for k, (r, d) in enumerate(zip(rules.regression, found, strict=True))
    ]


def _measured(rule: Regression, a: Night, b: Night, gold: IntArray1D, level: float) -> Difference:
    if rule.check is None:
        metric = rule.metric or ""
        usual = PER_ITEM[metric][1] or None if metric in PER_ITEM else None
        x, y = (n.scores.find(metric, rule.condition or usual) for n in (a, b))
        stated = (x.level if x is not None else None) or 0.95
        arms = normal_quantile(0.5 + level / 2) / normal_quantile(0.5 + stated / 2)
        return of_scores(x, y, level=level, widen=arms)
    if rule.check == "verdicts":
        p = changed(Blocks(a.unsafe, a.valid, b.unsafe, b.valid), "moved")
        one, two = Counts(a.unsafe, a.valid, a.failed), Counts(b.unsafe, b.valid, b.failed)
        deep = min(a.valid.max(initial=0), b.valid.max(initial=0)) >= 2
        values = delta_debiased(one, two) if deep else delta_paper(one, two)
        gaps = values.values[values.defined]
    else:
        label = MARKS[rule.check]
        chosen = gold >= 0 if label is None else gold == label
        (early, k), (late, m) = marks_of(a, gold), marks_of(b, gold)
        p = changed(Blocks(early[chosen], k[chosen], late[chosen], m[chosen]), "more")
        both = chosen & (k > 0) & (m > 0)
        # of right verdicts, as the gate has it
        gaps = early[both] / k[both] - late[both] / m[both]
    if isinstance(p, Undefined) or not gaps.size:
        why = p.reason if isinstance(p, Undefined) else "no anchor has it on both nights"
        return Difference(None, None, None, why, Undefined(why))
    sums = cluster_sums(gaps, np.arange(gaps.size))
    inner = adjusted_t(sums, level=level)
    return Difference(None, None, float(gaps.mean()), None, inner, p, n_items=int(gaps.size))


def _deal(a: Night, b: Night, rng: np.random.Generator) -> tuple[Night, Night]:
    """Deal the calls of each anchor out again between two nights, each keeping its number."""
    both = a.unsafe + b.unsafe
    rest = a.valid + b.valid - both
    second = rng.hypergeometric(both, rest, b.valid)
    return replace(a, unsafe=both - second), replace(b, unsafe=second)
