"""One bar, decided: by an interval that holds it or misses it, or by an exact test."""

from __future__ import annotations

from math import ceil
from typing import Literal

from judgeaudit.core.errors import ConfigError, unknown_name
from judgeaudit.core.records import ScoreSet
from judgeaudit.core.records._base import Record
from judgeaudit.stats._types import Interval
from judgeaudit.stats.intervals import normal_quantile
from judgeaudit.watch.measures import MARKS, PER_ITEM, RATIOS, Difference
from judgeaudit.watch.rules import Bar, GateRules, Regression

__all__ = ["Check", "Outcome", "decide", "decide_bar"]

Outcome = Literal["pass", "fail", "inconclusive"]


class Check(Record):
    """One bar, decided.

    Parameters
    ----------
    name : str
        What it looks at.
    kind : {"bar", "regression"}
        Absolute, or against the baseline.
    outcome : {"pass", "fail", "inconclusive"}
        What is undefined is inconclusive: it never passes.
    value, low, high : float, optional
        The score, or how much worse it got (above 0 is worse), with its interval.
    bar : str
        What was asked, in words.
    why : str
        One sentence.
    p_value, p_adjusted : float, optional
        Exact, and after Holm's correction over all bars.
    detectable : float, optional
        Smallest distance from the bar (or worsening) that is found with the wanted power.
    more_items : int, optional
        About how many more items would decide it, if the value stays; None where none would, or
        where it is decided.
    """

    name: str
    kind: Literal["bar", "regression"]
    outcome: Outcome
    value: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str = ""
    bar: str
    why: str
    p_value: float | None = None
    p_adjusted: float | None = None
    detectable: float | None = None
    n_items: int = 0
    more_items: int | None = None


def decide_bar(bar: Bar, scores: ScoreSet, alpha: float, power: float) -> Check:
    """Decide an absolute bar by the interval of a score.

    Parameters
    ----------
    bar : Bar
        The bar.
    scores : ScoreSet
        With intervals whose error is alpha on either side.
    alpha, power : float
        Of this bar alone.

    Raises
    ------
    ConfigError
        If there is no such score.
    """
    score = scores.find(bar.metric, bar.condition, treatment=bar.treatment, stratum=bar.stratum)
    name = " ".join(filter(None, (bar.metric, bar.condition, bar.stratum)))
    if score is None:
        raise ConfigError(_unknown(bar, scores))
    at = bar.at_least if bar.at_least is not None else bar.at_most
    if at is None:
        raise AssertionError
    words = f"at {'least' if bar.at_least is not None else 'most'} {at:g}"
    if score.value is None:
        return Check(
            name=name,
            kind="bar",
            outcome="inconclusive",
            bar=words,
            why=f"undefined: {score.why_undefined}",
        )
    if score.low is None or score.high is None:
        return Check(
            name=name,
            kind="bar",
            outcome="inconclusive",
            value=score.value,
            bar=words,
            why=f"no interval: {score.why_no_interval}",
            n_items=score.n_items,
        )
    sign = 1 if bar.at_least is not None else -1
    least, most = sorted((sign * (score.low - at), sign * (score.high - at)))
    outcome: Outcome = "pass" if least >= 0 else "fail" if most < 0 else "inconclusive"
    why = {
        "pass": "the whole interval holds the bar",
        "fail": "the whole interval misses the bar",
        "inconclusive": "the interval reaches over the bar",
    }[outcome]
    value = sign * (score.value - at)
    arm = max(0.0, value - least) if value >= 0 else max(0.0, most - value)
    return Check(
        name=name,
        kind="bar",
        outcome=outcome,
        value=score.value,
        low=score.low,
        high=score.high,
        level=score.level,
        method=score.method,
        bar=words,
        why=why,
        detectable=_detectable(arm, alpha, power),
        n_items=score.n_items,
        more_items=_more(score.n_items, arm, abs(value)) if outcome == "inconclusive" else None,
    )


def _unknown(bar: Bar, scores: ScoreSet) -> str:
    names = sorted({s.metric for s in scores.scores})
    if bar.metric not in names:
        return unknown_name("metric of a bar", bar.metric, names)
    wanted = ("condition", "treatment", "stratum")
    asked = ", ".join(f"{w}={getattr(bar, w)}" for w in wanted)
    there = sorted({str(s.condition) for s in scores.scores if s.metric == bar.metric})
    return f"{bar.metric} has no score of {asked}; its conditions: {', '.join(there[:12])}"


def _detectable(arm: float, alpha: float, power: float) -> float | None:
    """Scale an interval's arm, z(1 - alpha) errors long, to what is found with the wanted power."""
    z = normal_quantile(1 - alpha)
    return arm * (z + normal_quantile(power)) / z if arm > 0 else None


def _more(n: int, arm: float, gap: float) -> int | None:
    """Items beyond n at which the arm, which falls with their square root, is as short as a gap."""
    if gap <= 0 or n <= 0 or arm <= gap:
        return None
    wanted = n * (arm / gap) ** 2
    return ceil(wanted) - n if wanted < 1e7 else None


def decide(
    rule: Regression,
    found: Difference,
    p: float | None,
    rules: GateRules,
    *,
    smallest: float | None = None,
) -> Check:
    """Decide a regression bar.

    Parameters
    ----------
    rule : Regression
        The bar.
    found : Difference
        What was measured, later less earlier.
    p : float, optional
        After correction over all bars.
    rules : GateRules
        For the rate of false alarms and the power.
    smallest : float, optional
        What the test finds with that power, where that is known better than from the interval.
    """
    words = f"worse by {rule.margin:g} at most"
    if rule.check == "verdicts":
        words = f"moved by {rule.margin:g} at most"
    if found.value is None:
        return Check(
            name=rule.name,
            kind="regression",
            outcome="inconclusive",
            bar=words,
            why=f"undefined: {found.why}",
        )
    higher = rule.check in MARKS or (
        (RATIOS.get(rule.metric or "") or PER_ITEM.get(rule.metric or "", ("", "", ""))[2])
        == "higher"
    )
    sign = -1 if higher and rule.check != "verdicts" else 1
    inner = found.interval if isinstance(found.interval, Interval) else None
    value = sign * found.value + 0.0  # no -0
    low, high = (None, None) if inner is None else sorted((sign * inner.low, sign * inner.high))
    worse = rule.check in {"verdicts", *MARKS} or value > 0
    if p is not None and not rule.tolerate:
        shown = worse and p <= rules.false_alarm_rate
    else:
        shown = low is not None and low > rule.tolerate
    held = high is not None and high <= rule.margin
    outcome: Outcome = "fail" if shown else "pass" if held else "inconclusive"
    why = {
        "fail": "a change for the worse is shown",
        "pass": "a worsening beyond the margin is ruled out",
        "inconclusive": "neither a worsening nor its absence is shown",
    }[outcome]
    if rule.check == "verdicts" and shown:
        why = "verdicts moved by more than jitter"
    alpha = rules.false_alarm_rate / rules.n
    arm = 0.0 if high is None else max(0.0, high - value)
    gap = max(rule.margin - value, value - rule.tolerate)
    return Check(
        name=rule.name,
        kind="regression",
        outcome=outcome,
        value=value,
        low=low,
        high=high,
        level=None if inner is None else inner.level,
        method="; ".join(filter(None, (found.p_method, "" if inner is None else inner.method))),
        bar=words,
        why=why,
        p_value=found.p,
        p_adjusted=p,
        detectable=smallest or _detectable(arm, alpha, rules.power),
        n_items=found.n_items,
        more_items=_more(found.n_items, arm, gap) if outcome == "inconclusive" else None,
    )
