"""`gate`: each bar decided pass, fail or inconclusive, at a stated rate of false alarms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from judgeaudit.core.records import Score, ScoreSet
from judgeaudit.core.records._base import Record
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.intervals import normal_quantile
from judgeaudit.stats.multiplicity import holm
from judgeaudit.watch.causes import Cause, causes_of, changed_facts
from judgeaudit.watch.deciding import Check, Outcome, decide, decide_bar
from judgeaudit.watch.measures import (
    EXCHANGE,
    PER_ITEM,
    RATIOS,
    Difference,
    disagreement,
    exchange,
    of_items,
    of_scores,
)
from judgeaudit.watch.rules import GateRules, Regression
from judgeaudit.watch.sides import Side, common, load, same_protocol

__all__ = ["EXIT", "Check", "GateResult", "gate", "gate_sides"]

EXIT: Final = {"pass": 0, "fail": 1, "broken": 3, "inconclusive": 4}
"""Exit codes of a gate."""

_SAME_AS: Final = {"errors": "accuracy", "missed": "tpr", "false_alarms": "tnr"}


class GateResult(Record):
    """What a gate decided.

    Parameters
    ----------
    outcome : str
        "fail" if a bar fails, else "inconclusive" if one is not decided, else "pass"; "broken"
        where no call was answered, so that there is nothing to decide on.
    """

    run: str
    baseline: str | None
    outcome: Literal["pass", "fail", "inconclusive", "broken"]
    sentence: str
    false_alarm_rate: float
    power: float
    checks: tuple[Check, ...]
    causes: tuple[Cause, ...] = ()
    n_answered: int
    n_planned: int
    n_verdicts: int

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 3 broken, 4 inconclusive."""
        return EXIT[self.outcome]


def gate(run: Path | str, rules: GateRules, *, baseline: Path | str | None = None) -> GateResult:
    """Decide the bars on a run.

    Parameters
    ----------
    run : path
        Folder of a run, or its ledger; a card has no verdicts, so only absolute bars and figures
        with intervals are decided.
    rules : GateRules
        The bars.
    baseline : path, optional
        A run, or a card, that regression bars are held against.

    Raises
    ------
    JudgeAuditError
        If they cannot be compared, or a bar names what is not there.
    """
    return gate_sides(load(run), rules, None if baseline is None else load(baseline))


def gate_sides(run: Side, rules: GateRules, baseline: Side | None) -> GateResult:
    """Decide the bars on a run that was loaded; see `gate`."""
    if baseline is not None:
        same_protocol(baseline, run)
    facts = run.facts
    verdicts = sum(o.get("verdict", 0) for o in facts.outcomes.values())

    def ended(
        outcome: Outcome | Literal["broken"], said: str, checks: tuple[Check, ...]
    ) -> GateResult:
        causes: tuple[Cause, ...] = ()
        if baseline is not None:
            moved = any(c.kind == "regression" and c.outcome == "fail" for c in checks)
            causes = causes_of(changed_facts(baseline, run), moved=moved)
        return GateResult(
            run=run.name,
            baseline=None if baseline is None else baseline.name,
            outcome=outcome,
            sentence=said,
            false_alarm_rate=rules.false_alarm_rate,
            power=rules.power,
            checks=checks,
            causes=causes,
            n_answered=facts.n_answered,
            n_planned=facts.n_planned,
            n_verdicts=verdicts,
        )

    for side in (run, *(() if baseline is None else (baseline,))):
        if not side.facts.n_answered:
            whose = "the run" if side is run else "the baseline"
            return ended("broken", f"No call of {whose} was answered: nothing can be decided.", ())
    checks = _all(run, rules, baseline)
    share = verdicts / facts.n_planned if facts.n_planned else 0.0
    if share < rules.answered_at_least:
        missing = (
            f"only {verdicts:,} of {facts.n_planned:,} planned calls ended in a verdict, and "
            f"{rules.answered_at_least:.0%} are asked for"
        )
        checks = tuple(
            c.model_copy(update={"outcome": "inconclusive", "why": f"{c.why}; but {missing}"})
            if c.outcome == "pass"
            else c
            for c in checks
        )
    counts = {o: sum(c.outcome == o for c in checks) for o in ("pass", "fail", "inconclusive")}
    outcome: Outcome = "pass"
    if counts["fail"]:
        outcome = "fail"
    elif counts["inconclusive"]:
        outcome = "inconclusive"
    said = (
        f"{counts['pass']} of {len(checks)} bars pass, {counts['fail']} fail, "
        f"{counts['inconclusive']} inconclusive."
    )
    return ended(outcome, said, checks)


def _all(run: Side, rules: GateRules, baseline: Side | None) -> tuple[Check, ...]:
    # each bar may be wrong with chance alpha / n, on either side
    alpha = rules.false_alarm_rate / rules.n
    level = 1 - 2 * alpha
    scores = run.scores(level) if rules.bar else ScoreSet(scores=())
    checks = [decide_bar(b, scores, alpha, rules.power) for b in rules.bar]
    if baseline is None:
        return tuple(checks)
    pair = (baseline, run)
    if baseline.table is not None and run.table is not None:
        pair = common(baseline, run)
    found = [_measured(r, *pair, level) for r in rules.regression]
    smallest = {
        k: _smallest(*pair, alpha, rules.power)
        for k, r in enumerate(rules.regression)
        if r.check == "verdicts" and found[k].value is not None
    }
    ps: dict[str, float | None] = {f"bar {k}": 1.0 for k in range(len(checks))}
    ps |= {str(k): 1.0 if d.p is None else d.p for k, d in enumerate(found)}
    adjusted = holm(ps)
    for k, (rule, difference) in enumerate(zip(rules.regression, found, strict=True)):
        p = None if difference.p is None else adjusted[str(k)]
        checks.append(decide(rule, difference, p, rules, smallest=smallest.get(k)))
    return tuple(checks)


def _measured(rule: Regression, a: Side, b: Side, level: float) -> Difference:
    if a.table is None or b.table is None:
        if rule.check is not None:
            why = "a card holds no verdicts"
            return Difference(None, None, None, why, Undefined(why))
        condition = rule.condition or (
            PER_ITEM[rule.metric or ""][1] or None if rule.metric in PER_ITEM else None
        )
        x, y = (s.scores().find(rule.metric or "", condition) for s in (a, b))
        return of_scores(x, y, level=level, widen=_arms(x, level))
    one, two, seed = a.view(), b.view(), b.protocol.seed
    if rule.metric in RATIOS:
        name = rule.metric or ""
        x, y = (s.scores(level, [name]).find(name, rule.condition) for s in (a, b))
        return of_scores(x, y, level=level)
    if rule.metric is not None:
        return of_items(one, two, rule.metric, rule.condition, level=level, seed=seed)
    check = rule.check or ""
    p = exchange(one, two, check)
    metric = _SAME_AS.get(check, "unsafe_rate")
    found = of_items(one, two, metric, None, level=level, seed=seed)
    if check == "verdicts":
        found = disagreement(one, two, level=level)
    lacking = p.reason if isinstance(p, Undefined) else found.why
    exact = None if isinstance(p, Undefined) else p
    value = None if exact is None else found.value
    return replace(found, value=value, why=lacking, p=exact, p_method=EXCHANGE)


def _arms(score: Score | None, level: float) -> float:
    stated = (score.level if score is not None else None) or 0.95
    return normal_quantile(0.5 + level / 2) / normal_quantile(0.5 + stated / 2)


def _smallest(a: Side, b: Side, alpha: float, power: float) -> float | None:
    """Return the share of hard flips that the exact test finds on these items and calls."""
    from judgeaudit.stats.power import detectable_effect

    one, two = a.view(), b.view()
    first, second = one.counts(one.base), two.counts(two.base)
    K, L = int(first.valid.max(initial=0)), int(second.valid.max(initial=0))
    jitter = one.jitter(one.base).mean
    if K < 2 or L < 2 or jitter is None or jitter > 0.25:
        return None
    n = int(((first.valid > 1) & (second.valid > 1)).sum())
    found = detectable_effect(n, jitter, K, L, alpha=alpha, power=power) if n else None
    return None if found is None else found[1]
