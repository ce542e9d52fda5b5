"""Which plots a card has, and what stands in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from markupsafe import Markup

from judgeaudit.cards.clauses import is_unscored
from judgeaudit.cards.layout import Plot, condition_words
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.monitor_drawings import (
    flow_plots,
    ranking_plots,
    reliability_plots,
    risk_plots,
    weight_plots,
)
from judgeaudit.cards.plots import Mark, Row, Stack, gauge, intervals, stacked
from judgeaudit.cards.words import (
    amount,
    ends,
    interval,
    kind_of,
    percent_tick,
    points_tick,
    spoken_interval,
    threshold_words,
)
from judgeaudit.core.records import Score

__all__ = ["OUTCOMES", "of_family", "outcome_plots", "pis_gauge"]

OUTCOMES: Final = ("verdict", "refusal", "truncated", "unparseable", "ambiguous", "error")
"""Outcomes in the order in which they are drawn."""

_NARROW: Final = 18
"""Characters of a stranger's condition id that fit beside a figure on a phone."""


def pis_gauge(f: Figures) -> Markup:
    """Draw the score on its bands; nothing where no score is given."""
    pis = f.get("pis")
    if pis is None or f.withheld or pis.value is None:
        return Markup()
    low, high = ends(pis) or (None, None)
    spoken = spoken_interval(pis) or "no interval"
    if is_unscored(f, pis):
        return gauge(None, low, high, f"Policy Invariance Score not given; {spoken}.")
    said = amount(pis.value, "score")
    return gauge(pis.value, low, high, f"Policy Invariance Score {said}; {spoken}.")


def _mark(score: Score | None, style: str) -> Mark:
    if score is None:
        return Mark(None)
    low, high = ends(score) or (None, None)
    if style == "bar":
        return Mark(score.value, low, high, "bar")
    return Mark(score.value, low, high, "ring" if style == "ring" else "dot")


def _figure(score: Score | None) -> str:
    if score is None or score.value is None:
        return "–"
    shown = amount(score.value, kind_of(score.metric, score.unit)).removesuffix(" points")
    return f"{shown} {interval(score) if ends(score) else ''}".rstrip()


def _bars(f: Figures, rows: Sequence[tuple[str, str, str | None]]) -> list[Row]:
    out = []
    for label, metric, condition in rows:
        score = f.get(metric, condition)
        if score is not None:
            why = score.why_undefined
            out.append(Row(label, _figure(score), (_mark(score, "bar"),), why))
    return out


def _described(title: str, rows: Sequence[Row]) -> str:
    said = "; ".join(
        f"{r.label} {r.text if r.text != '–' else 'cannot be estimated'}" for r in rows
    )
    return f"{title}: {said}."


def _excess(f: Figures) -> tuple[Plot, ...]:
    order = [*f.conditions("placebo"), *f.conditions("certified"), "certified"]
    order += f.conditions("near")
    rows = []
    for condition in order:
        debiased, paper = (f.get(f"delta_{k}", condition) for k in ("debiased", "paper"))
        if debiased is None and paper is None:
            continue
        why = None if paper is None else paper.why_undefined
        label = condition_words(f, condition, _NARROW)
        marks = (_mark(paper, "dot"), _mark(debiased, "ring"))
        rows.append(Row(label, _figure(paper), marks, why))
    if not rows:
        return ()
    title = "Extra flips by condition"
    tau = f.threshold
    svg = intervals(
        "excess",
        rows,
        _described(title, rows),
        number=points_tick,
        zone=(-tau, tau),
        least=(-tau, 2 * tau),
    )
    caption = (
        "Percentage points of flips beyond jitter, with intervals. "
        "Right of the shaded range: more than the practical threshold. The placebo must hold 0."
    )
    key = (
        ("dot", "as in the paper"),
        ("ring", "debiased"),
        ("zone", f"within {threshold_words(tau)}"),
    )
    return (Plot("plot-excess", title, caption, svg, key),)


def _movement(f: Figures) -> tuple[Plot, ...]:
    plots = []
    rows = _bars(
        f,
        (
            ("UNSAFE → SAFE (right)", "forward_rate", None),
            ("SAFE → UNSAFE (wrong)", "reverse_rate", None),
        ),
    )
    if rows:
        title = "From the strict to the lenient policy"
        svg = intervals("movement", rows, _described(title, rows), number=percent_tick)
        caption = "Share of pairs of calls whose verdict moves, with intervals."
        plots.append(Plot("plot-movement", title, caption, svg))
    levels = _bars(
        f,
        [
            (condition_words(f, c, _NARROW), "unsafe_rate", c)
            for c in ("strict", "base", "lenient", "no_policy", "inverted")
        ],
    )
    if len(levels) > 1:
        title = "Share judged UNSAFE under each policy"
        svg = intervals("levels", levels, _described(title, levels), number=percent_tick)
        caption = "It should fall from strict to lenient, and move when the policy goes or turns."
        plots.append(Plot("plot-levels", title, caption, svg))
    return tuple(plots)


def _where(f: Figures) -> tuple[Plot, ...]:
    plots = []
    rows = _bars(
        f,
        (
            ("clear items", "undue_clear", None),
            ("ambiguous items", "undue_ambiguous", None),
        ),
    )
    if rows:
        title = "Where flips fall"
        svg = intervals("where", rows, _described(title, rows), number=percent_tick)
        caption = (
            "Flips per pair of calls under certified rewrites. Clear items should be the steadier."
        )
        plots.append(Plot("plot-where", title, caption, svg))
    share, null = f.get("undue_share"), f.get("undue_null")
    if share is not None or null is not None:
        found = Row("found", _figure(share), (_mark(share, "dot"),))
        chance = Row("by chance (U_0)", _figure(null), (_mark(null, "ring"),))
        rows = [found] + ([chance] if null is not None else [])
        title = "Share of flips that are on clear items"
        svg = intervals(
            "undue", rows, _described(title, rows), number=percent_tick, least=(0.0, 1.0)
        )
        caption = "Left of chance: instability gathers on ambiguous items, as it should."
        plots.append(Plot("plot-undue", title, caption, svg))
    return tuple(plots)


_MAKERS: Final[dict[str, tuple[Callable[[Figures], tuple[Plot, ...]], ...]]] = {
    "semantic": (_excess,),
    "threshold": (flow_plots, _movement),
    "ambiguity": (_where,),
    "pis": (weight_plots,),
    "ranking": (ranking_plots,),
    "calibration": (reliability_plots,),
    "abstention": (risk_plots,),
}


def of_family(f: Figures, family: str) -> tuple[Plot, ...]:
    """Return the plots of a section; none where nothing was computed."""
    makers = _MAKERS.get(family, ())
    return tuple(plot for maker in makers for plot in maker(f))


def outcome_plots(f: Figures) -> tuple[Plot, ...]:
    """Draw the outcomes of each condition as stacked bars."""
    order = [c.id for c in f.facts.protocol.conditions]
    order += sorted(set(f.facts.outcomes) - set(order))
    rows, said = [], []
    for condition in order:
        counts = f.outcomes([condition])
        total = sum(counts.values())
        if not total:
            continue
        parts = tuple((kind, counts[kind] / total) for kind in OUTCOMES)
        failed = total - counts["verdict"]
        text = f"{failed:,} of {total:,} failed"
        label = condition_words(f, condition, _NARROW)
        rows.append(Stack(label, text, parts))
        said.append(f"{label} {text}")
    if not rows:
        return ()
    title = "Outcomes by condition"
    key = tuple((kind, kind) for kind in OUTCOMES if f.outcomes()[kind])
    svg = stacked("outcomes", rows, f"{title}: {'; '.join(said)}.")
    caption = "Share of calls by what they ended in."
    return (Plot("plot-outcomes", title, caption, svg, key),)
