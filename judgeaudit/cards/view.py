"""What a card shows, before any format: sections, tables, tiles and plots, all as plain text.

Both templates read this and nothing else, so that Markdown and HTML cannot tell different stories.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from judgeaudit.cards import drawings
from judgeaudit.cards.cautions import open_words
from judgeaudit.cards.checklist import checked_section
from judgeaudit.cards.clean import shorten
from judgeaudit.cards.effects import alike
from judgeaudit.cards.layout import Cell, Section, Table, condition_words, table
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.model import CardWarning, Headline, JudgeCard
from judgeaudit.cards.provenance import (
    protocol_section,
    provenance_section,
    summary,
    what,
    who,
)
from judgeaudit.cards.score_rows import common_notes, score_table
from judgeaudit.cards.texts_en import (
    ABSTENTION,
    CONDITIONS,
    CORRECTED,
    FAMILIES,
    FLAGS,
    KNOWLEDGE,
    METRICS,
    SOFT,
    SOFT_LABELS,
    STANCES,
    STRATA,
    TREATMENTS,
    Family,
)
from judgeaudit.cards.tiles import (
    Tile,
    gate_tile,
    monitor_tiles,
    pis_tile,
    principle_tiles,
    responses,
)
from judgeaudit.cards.words import (
    basis,
    bound,
    clipped,
    estimate,
    interval,
    test_words,
    threshold_words,
    unit_score,
)
from judgeaudit.core.records import Score
from judgeaudit.metrics.pis import SCALE

__all__ = ["View", "view"]

_TREATED: Final = ("pis", "delta_paper", "delta_debiased")


@dataclass(frozen=True, slots=True)
class View:
    """All that a card shows, in order."""

    title: str
    created: str
    software: str
    schema_version: str
    headline: Headline
    stance: str
    warnings: tuple[CardWarning, ...]
    limits: tuple[str, ...]
    summary: tuple[tuple[str, Cell], ...]
    who: tuple[tuple[str, Cell], ...]
    what: tuple[tuple[str, Cell], ...]
    pis: Tile
    gauge: Markup
    gate: Tile
    principles: tuple[Tile, ...]
    monitor: tuple[Tile, ...]
    sections: tuple[Section, ...]


def _order(f: Figures, family: Iterable[str]) -> dict[str, int]:
    run = [c.id for c in f.facts.protocol.conditions]
    certified = [k for k, c in enumerate(run) if c in f.conditions("certified")]
    if certified:
        run.insert(certified[-1] + 1, "certified")
    return {c: k for k, c in enumerate(dict.fromkeys([*run, *family]))}


def _in_order(f: Figures, scores: Iterable[Score], metrics: Sequence[str]) -> list[Score]:
    conditions = _order(f, ())
    rank = {m: k for k, m in enumerate(metrics)}

    def key(s: Score) -> tuple[int, str, int, str, int, str, bool, str]:
        condition = s.condition or ""
        return (
            rank.get(s.metric, len(rank)),
            s.metric,
            conditions.get(condition, -1 if not condition else len(conditions)),
            condition,
            STRATA.index(s.stratum) if s.stratum in STRATA else len(STRATA),
            s.stratum or "",
            s.treatment != "exclude",
            s.treatment,
        )

    return sorted(scores, key=key)


def _is_headline(f: Figures, s: Score) -> bool:
    """Say whether a score is computed under the declared treatment (or has only one)."""
    best = f.get(s.metric, s.condition, stratum=s.stratum)
    return best is not None and best.treatment == s.treatment


def _of(f: Figures, metrics: Sequence[str]) -> list[Score]:
    found = [s for s in f.scores.scores if s.metric in metrics and _is_headline(f, s)]
    return _in_order(f, found, metrics)


def _meanings(metrics: Iterable[str]) -> tuple[tuple[str, str], ...]:
    texts = [METRICS[m] for m in metrics if m in METRICS]
    return tuple((t.title, f"{t.means} {t.do}".strip()) for t in texts if t.means or t.do)


def _by_condition(f: Figures) -> list[Table]:
    """Set the two excess flip rates beside the raw one, a row a condition."""
    rows: list[tuple[Cell | str, ...]] = []
    kinds = ("placebo", "certified", "near", "threshold", "control")
    conditions = f.conditions(*kinds)
    at = [k for k, c in enumerate(conditions) if c in f.conditions("certified")]
    conditions.insert(at[-1] + 1 if at else 0, "certified")
    for condition in conditions:
        paper, debiased = (f.get(f"delta_{k}", condition) for k in ("paper", "debiased"))
        flips = f.get("flip_rate", condition)
        if paper is None and debiased is None and flips is None:
            continue
        tested = next(
            (s for s in (debiased, paper) if s is not None and s.p_value is not None), None
        )
        any_score = paper or debiased or flips
        rows.append(
            (
                Cell(condition_words(f, condition), raw=condition not in CONDITIONS),
                estimate(flips) if flips is not None else "–",
                f"{estimate(paper)} {interval(paper)}",
                f"{estimate(debiased)} {interval(debiased)}",
                test_words(tested) if tested is not None else "–",
                basis(any_score) if any_score is not None else "–",
            )
        )
    if not rows:
        return []
    head = (
        "Condition",
        "Raw flips",
        "Excess, paper",
        "Excess, debiased",
        "Test of no effect, one-sided",
        "Basis",
    )
    return [table("By condition", head, rows)]


def _family_section(f: Figures, family: Family) -> Section:
    shown = _of(f, family.shown)
    folded: list[Score] = []
    tables = []
    if family.id == "semantic":
        shown, folded = [], shown + _of(f, family.folded)
        tables += _by_condition(f)
    elif family.id == "monitor":
        shown = [s for s in shown if s.condition in (None, "base")]
        folded = [s for s in _of(f, ("jitter", "unsafe_rate")) if s not in shown]
    else:
        folded = _of(f, family.folded)
    notes = [note for note in _notes(f, family.id) if note]
    if family.id == "pis" and f.withheld:
        shown, folded = [], shown + folded
    said = common_notes(shown)
    if said:
        words = "; ".join(said)
        notes.append(f"{words[:1].upper()}{words[1:]}.")
    if shown:
        tables.append(score_table(f, "Figures", shown, said=said))
    elif not folded:
        notes.append("Not computed in this run.")
    if folded:
        caption = "All figures, with their methods" if tables and not shown else "More figures"
        tables.append(score_table(f, caption, folded, folded=True, said=said))
    present = dict.fromkeys(s.metric for s in [*shown, *folded])
    return Section(
        id=family.id,
        title=family.title,
        lead=family.lead,
        plots=drawings.of_family(f, family.id),
        tables=tuple(tables),
        meanings=_meanings(present),
        notes=tuple(notes),
    )


def _notes(f: Figures, family: str) -> list[str]:
    """Word what was found, in the units of the card."""
    if family == "semantic":
        return [_gate_words(f), f.reason("placebo"), _sides(f), alike(f)]
    if family == "pis" and f.withheld:
        return ["No score is given to a judge that was not shown to respond to the policy."]
    if family == "pis":
        return [_weighing(f)]
    if flag := FLAGS.get(family):
        return [f.reason(flag)]
    if family == "responsiveness":
        return [responses(f) or f.reason("responsiveness")]
    return []


def _sides(f: Figures) -> str:
    """Word why the placebo has two p-values; "" where it has one or none."""
    tests = [
        f.get(m, c) for c in f.conditions("placebo") for m in ("delta_debiased", "delta_paper")
    ]
    if not f.reason("placebo") or all(s is None or s.p_value is None for s in tests):
        return ""
    return (
        "The table's p-values are one-sided: they ask whether there is more disagreement than "
        "chance makes, and so is the placebo's there. Its check above asks on both sides, more or "
        "less, and its p is twice the smaller tail, at most 1."
    )


def _weighing(f: Figures) -> str:
    """Word how far the score depends on the weights of its three parts."""
    parts = (
        f.value("delta_paper", "certified"),
        f.value("direction_ratio"),
        f.value("undue_share"),
    )
    delta, right, undue = parts
    if f.value("pis") is None or delta is None or right is None or undue is None:
        return ""
    # a weighted mean lies between the worst part alone and the best part alone
    alone = [clipped(1 - SCALE * x, "score") for x in (delta, 1 - right, undue)]
    low, high = unit_score(min(alone)), unit_score(max(alone))
    return f"By the weights given to its three parts the score could lie from {low} to {high}."


def _gate_words(f: Figures) -> str:
    """Word where rewording stands against the practical threshold."""
    gate, tau = f.flag("certified_gate"), threshold_words(f.threshold)
    delta = f.get("delta_paper", "certified")
    limit, level = bound(delta), 100 * f.facts.protocol.level
    said = f" They are {limit} ({level:g}%)." if limit else ""
    if delta is not None and delta.value is not None and gate in ("above", "below"):
        return f"Pooled, the excess flips are shown to be {gate} {tau}.{said}"
    if delta is not None and delta.value is not None and gate:
        return f"Pooled, these calls do not decide whether the excess is above {tau}.{said}"
    return f.reason("certified_gate")


def _outcome_section(f: Figures) -> Section:
    treatment = f.facts.protocol.headline_treatment
    kinds = [k for k in drawings.OUTCOMES if f.outcomes()[k]]
    head = ("Condition", "Calls", *kinds)
    rows: list[tuple[Cell | str, ...]] = []
    conditions = _order(f, sorted(f.facts.outcomes))
    for condition in sorted(f.facts.outcomes, key=lambda c: (conditions[c], c)):
        counts = f.outcomes([condition])
        known = condition in CONDITIONS
        name = condition_words(f, condition)
        cells = [f"{counts[k]:,}" for k in kinds]
        rows.append((Cell(name, raw=not known), f"{sum(counts.values()):,}", *cells))
    tables = [table("Calls by outcome", head, rows)] if rows else []
    treated = [
        s
        for s in f.scores.scores
        if s.metric in _TREATED and s.condition in (None, "certified") and s.stratum is None
    ]
    several = {s.metric for s in treated if s.treatment != "exclude"}
    if several:
        ordered = _in_order(f, [s for s in treated if s.metric in several], _TREATED)
        tables.append(score_table(f, "The same figures under each treatment", ordered))
    rates = [s for s in _of(f, ("outcome_rate",)) if s.stratum is None or s.value != 0]
    if rates:
        tables.append(score_table(f, "Rate of each outcome", rates, folded=True))
    notes = [open_words(f)] if open_words(f) else []
    if not rows:
        notes.append("No call is recorded.")
    return Section(
        id="outcomes",
        title="Calls that ended without a verdict",
        lead="A refusal, a cut or unreadable answer and an error are outcomes, never verdicts. "
        f"In the headline figures they are {TREATMENTS.get(treatment, shorten(treatment, 60))}.",
        plots=drawings.outcome_plots(f),
        tables=tuple(tables),
        notes=tuple(notes),
    )


_SOMETIMES: Final = (SOFT_LABELS, ABSTENTION, CORRECTED, KNOWLEDGE, SOFT)
"""Sections that stand on a card only where a run has what they need."""


def _has(f: Figures, metric: str) -> bool:
    return any(s.metric == metric for s in f.scores.scores)


def _other_section(f: Figures) -> Section | None:
    families = (*FAMILIES, *_SOMETIMES)
    placed = {m for fam in families for m in (*fam.shown, *fam.folded)} | {"outcome_rate"}
    rest = _in_order(f, [s for s in f.scores.scores if s.metric not in placed], ())
    if not rest:
        return None
    lead = "Figures without a section of their own."
    return Section("more", "Further figures", lead, tables=(score_table(f, "Figures", rest),))


def view(card: JudgeCard) -> View:
    """Lay a card out.

    Parameters
    ----------
    card : JudgeCard
        Cleaned.
    """
    f = Figures(card.facts, card.scores)
    sections = [
        *(_family_section(f, family) for family in FAMILIES),
        *(_family_section(f, x) for x in _SOMETIMES if _has(f, x.shown[0])),
        _outcome_section(f),
        _other_section(f),
        checked_section(card),
        protocol_section(f),
        provenance_section(f, card),
    ]
    return View(
        title=shorten(f.facts.judge.model, 90) or "unnamed",
        created=card.created,
        software=f"{card.software.name} {card.software.version}",
        schema_version=card.schema_version,
        headline=card.headline,
        stance=STANCES[card.headline.stance],
        warnings=card.warnings,
        limits=card.limits,
        summary=summary(f),
        who=who(f),
        what=what(f),
        pis=pis_tile(f),
        gauge=drawings.pis_gauge(f),
        gate=gate_tile(f),
        principles=principle_tiles(f),
        monitor=monitor_tiles(f),
        sections=tuple(s for s in sections if s is not None),
    )
