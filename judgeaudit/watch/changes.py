"""`compare`: what moved between two runs, whether by more than chance, and why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from judgeaudit.core.records import Score
from judgeaudit.core.records._base import Record
from judgeaudit.metrics import View
from judgeaudit.metrics._view import CERTIFIED
from judgeaudit.metrics.compared import compared
from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.intervals import normal_quantile
from judgeaudit.stats.multiplicity import holm
from judgeaudit.watch.causes import Cause, causes_of, changed_facts
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
from judgeaudit.watch.sides import Side, common, load, same_protocol

__all__ = ["Change", "Comparison", "compare", "compare_sides"]

_PER_ITEM: Final = (
    *("jitter", "flip_rate", "signed_shift", "delta_paper", "delta_debiased"),
    *("accuracy", "tpr", "tnr"),
)


class Change(Record):
    """One figure of two runs.

    Parameters
    ----------
    metric : str
        Id of the figure; "verdicts_moved" is the disagreement between the two runs on the same
        prompt, less the jitter within each.
    before, after : float, optional
        Of the first and of the second run, on common items; None where the figure lies between.
    value : float, optional
        Second less first; None exactly when `why_undefined` says why.
    p_value, p_adjusted : float, optional
        Exact where there is a test; Holm's correction over all figures that were looked at.
    moved : bool
        Whether it moved by more than chance, after correction.
    decided_by : str
        The test, or the interval at a level corrected for all figures.
    """

    metric: str
    condition: str | None = None
    before: float | None = None
    after: float | None = None
    value: float | None = None
    why_undefined: str | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str = ""
    p_value: float | None = None
    p_adjusted: float | None = None
    moved: bool = False
    decided_by: str = ""
    n_items: int = 0
    n_clusters: int = 0
    better: str = "neither"


class Comparison(Record):
    """Two runs, or two cards.

    Parameters
    ----------
    first, second : str
        Names as given.
    verdict : {"changed", "no change shown"}
        Whether anything moved by more than chance.
    alpha : float
        Chance that anything is said to have moved though nothing did.
    n_common, n_only_first, n_only_second : int
        Items; of cards, which hold none, 0.
    causes : tuple of Cause
        Facts that differ, or what their absence says.
    untested : tuple of str
        Figures that could not be compared.
    """

    first: str
    second: str
    verdict: Literal["changed", "no change shown"]
    alpha: float
    n_common: int
    n_only_first: int
    n_only_second: int
    changes: tuple[Change, ...]
    causes: tuple[Cause, ...]
    untested: tuple[str, ...] = ()


def compare(a: Path | str, b: Path | str, *, alpha: float = 0.05) -> Comparison:
    """Compare two runs on their common items; or, where one is a card, by printed scores.

    Parameters
    ----------
    a, b : path
        Folder of a run, its ledger, or a `card.json`; b is the later one.
    alpha : float
        Chance that anything is said to have moved though nothing did.

    Returns
    -------
    Comparison

    Raises
    ------
    ConfigError
        If they were made under different protocols, or have no item in common.
    """
    return compare_sides(load(a), load(b), alpha=alpha)


def compare_sides(a: Side, b: Side, *, alpha: float = 0.05) -> Comparison:
    """Compare two sides that were loaded; see `compare`."""
    same_protocol(a, b)
    facts = changed_facts(a, b)
    n_first = 0 if a.table is None else a.table.n_items
    n_second = 0 if b.table is None else b.table.n_items
    n_common = 0
    rows: list[Change]
    if a.table is not None and b.table is not None:
        one, two = common(a, b)
        n_common = one.verdicts.n_items
        rows = _of_runs(one, two, alpha)
    else:
        names = [*RATIOS, *_PER_ITEM]
        rows = _of_scores(a, b, names, None, alpha)
        n_first = n_second = 0
    decided = _decided(rows, alpha)
    moved = any(r.moved for r in decided)
    return Comparison(
        first=a.name,
        second=b.name,
        verdict="changed" if moved else "no change shown",
        alpha=alpha,
        n_common=n_common,
        n_only_first=n_first - n_common if n_common else 0,
        n_only_second=n_second - n_common if n_common else 0,
        changes=decided,
        causes=causes_of(facts, moved=moved),
        untested=tuple(
            _name(r) for r in decided if r.value is None or (r.p_value is None and r.low is None)
        ),
    )


def _name(row: Change) -> str:
    return row.metric if row.condition is None else f"{row.metric} {row.condition}"


def _of_runs(a: Side, b: Side, alpha: float) -> list[Change]:
    one, two, level = a.view(), b.view(), 1 - alpha
    rows = [_moved(one, two, level)]
    # the later run first: second less first
    rows += [_from_score(s) for s in compared(b.verdicts, a.verdicts, level=level)]
    contrasts = [c.id for c in one.contrasts if two.called(c.id)]
    wanted: list[tuple[str, str | None]] = [("flip_rate", c) for c in contrasts]
    wanted += [
        (m, usual if (usual := PER_ITEM[m][1]) in {CERTIFIED, "base"} else None) for m in _PER_ITEM
    ]
    for metric, condition in wanted:
        found = of_items(one, two, metric, condition, level=level, seed=a.protocol.seed)
        rows.append(_row(metric, condition, found, PER_ITEM[metric][2]))
    # ratios are decided by an interval, corrected for everything that is looked at
    strict = 1 - alpha / (len(rows) + len(RATIOS))
    return rows + _of_scores(a, b, list(RATIOS), strict, alpha)


def _of_scores(
    a: Side, b: Side, names: list[str], level: float | None, alpha: float
) -> list[Change]:
    wanted = None if level is None else names
    first, second = a.scores(level, wanted), b.scores(level, wanted)
    rows = []
    for metric in names:
        usual = PER_ITEM[metric][1] or None if metric in PER_ITEM else None
        x, y = first.find(metric, usual), second.find(metric, usual)
        stated = (x.level if x is not None else None) or 0.95
        # a card's intervals were made for one figure alone
        strict = level or 1 - alpha / len(names)
        arms = (
            1.0 if level else normal_quantile(0.5 + strict / 2) / normal_quantile(0.5 + stated / 2)
        )
        found = of_scores(x, y, level=strict, widen=arms)
        better = RATIOS.get(metric) or PER_ITEM[metric][2]
        rows.append(_row(metric, usual, found, better))
    return rows


def _moved(a: View, b: View, level: float) -> Change:
    p = exchange(a, b, "verdicts")
    found = disagreement(a, b, level=level)
    if isinstance(p, Undefined) or found.value is None:
        why = p.reason if isinstance(p, Undefined) else found.why
        return Change(metric="verdicts_moved", condition=a.base, why_undefined=why)
    found = replace(found, p=p, p_method=EXCHANGE)
    return _row("verdicts_moved", a.base, found, "lower")


def _row(metric: str, condition: str | None, found: Difference, better: str) -> Change:
    inner = found.interval if isinstance(found.interval, Interval) else None
    return Change(
        metric=metric,
        condition=condition,
        before=found.before,
        after=found.after,
        value=found.value,
        why_undefined=found.why,
        low=None if inner is None else inner.low,
        high=None if inner is None else inner.high,
        level=None if inner is None else inner.level,
        method="" if inner is None else inner.method,
        p_value=found.p,
        decided_by=found.p_method,
        n_items=found.n_items,
        n_clusters=found.n_clusters,
        better=better,
    )


def _from_score(s: Score) -> Change:
    second, first = s.detail.get("first_only"), s.detail.get("second_only")
    both, n = s.detail.get("both"), s.n_items
    known = bool(n) and second is not None and first is not None and both is not None
    return Change(
        metric=s.metric,
        condition="base",
        before=((both or 0) + (first or 0)) / n if known else None,
        after=((both or 0) + (second or 0)) / n if known else None,
        value=s.value,
        why_undefined=s.why_undefined,
        low=s.low,
        high=s.high,
        level=s.level,
        method=s.method,
        p_value=s.p_value,
        decided_by=s.p_method or "",
        n_items=s.n_items,
        n_clusters=s.n_clusters,
        better=s.better,
    )


def _decided(rows: list[Change], alpha: float) -> tuple[Change, ...]:
    """Correct over everything: tests by Holm, as if each interval alone were a test not passed."""
    looked = {k: r for k, r in enumerate(rows) if r.value is not None}
    ps = {str(k): 1.0 if r.p_value is None else r.p_value for k, r in looked.items()}
    adjusted = holm(ps)
    out = []
    for k, row in enumerate(rows):
        if row.value is None:
            out.append(row)
        elif row.p_value is not None:
            p = adjusted[str(k)]
            out.append(row.model_copy(update={"p_adjusted": p, "moved": p <= alpha}))
        else:
            apart = row.low is not None and row.high is not None and not row.low <= 0 <= row.high
            by = f"interval at {row.level:.2%}" if row.level is not None else "its interval"
            out.append(row.model_copy(update={"moved": apart, "decided_by": by}))
    return tuple(out)
