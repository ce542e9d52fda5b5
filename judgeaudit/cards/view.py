"""What a card shows, before any format: sections, tables, tiles and plots, all as plain text.

Both templates read this and nothing else, so that Markdown and HTML cannot tell different stories.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from judgeaudit.cards import drawings
from judgeaudit.cards.advice import advice
from judgeaudit.cards.attacked import attacked_section
from judgeaudit.cards.calls import account
from judgeaudit.cards.cautions import open_words
from judgeaudit.cards.checklist import checked_section
from judgeaudit.cards.clean import shorten
from judgeaudit.cards.layout import Cell, Section, Table, condition_words, table
from judgeaudit.cards.localised import localised_section
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.model import CardWarning, Headline, JudgeCard
from judgeaudit.cards.notes import failure_notes, notes_of
from judgeaudit.cards.provenance import (
    protocol_section,
    provenance_section,
    summary,
    what,
    who,
)
from judgeaudit.cards.rows import category_table, in_order, order_of, score_table, shared_notes
from judgeaudit.cards.terms import glossary
from judgeaudit.cards.texts_en import (
    ABSTENTION,
    CONDITIONS,
    CORRECTED,
    FAMILIES,
    KNOWLEDGE,
    METRICS,
    SOFT,
    SOFT_LABELS,
    STANCES,
    TREATMENTS,
    Family,
)
from judgeaudit.cards.tiles import (
    Tile,
    gate_tile,
    monitor_tiles,
    pis_tile,
    principle_tiles,
)
from judgeaudit.cards.voiding import VOID_FAMILIES, void
from judgeaudit.cards.words import (
    basis,
    estimate,
    interval,
    test_words,
)
from judgeaudit.core.records import Score

__all__ = ["View", "view"]

_TREATED: Final = ("pis", "delta_paper", "delta_debiased")


@dataclass(frozen=True, slots=True)
class View:
    """All that a card shows, in order."""

    title: str
    stand_in: str
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
    advice: tuple[tuple[str, tuple[str, ...]], ...]
    glossary: tuple[tuple[str, str], ...]
    pis: Tile
    gauge: Markup
    gate: Tile
    principles: tuple[Tile, ...]
    monitor: tuple[Tile, ...]
    sections: tuple[Section, ...]


def _is_headline(f: Figures, s: Score) -> bool:
    """Say whether a score is computed under the declared treatment (or has only one)."""
    best = f.get(s.metric, s.condition, stratum=s.stratum)
    return best is not None and best.treatment == s.treatment


def _of(f: Figures, metrics: Sequence[str]) -> list[Score]:
    found = [s for s in f.scores.scores if s.metric in metrics and _is_headline(f, s)]
    return in_order(f, found, metrics)


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
    by_category = category_table(folded)
    folded = [s for s in folded if not s.metric.startswith("category_")]
    shared = shared_notes([*shown, *folded])
    notes = [note for note in notes_of(f, family.id) if note]
    notes += [f"{part[:1].upper()}{part[1:]} ({n} figures here)." for part, n in shared.items()]
    voided = family.id in VOID_FAMILIES and bool(void(f))
    if voided:
        tables = [dataclasses.replace(t, folded=True) for t in tables]
    if voided or (family.id == "pis" and f.withheld):
        shown, folded = [], shown + folded
    if shown:
        tables.append(score_table(f, "Figures", shown, shared=shared))
    elif not folded:
        notes.append("Not computed in this run.")
    if folded:
        caption = "All figures, with their methods" if tables and not shown else "More figures"
        tables.append(score_table(f, caption, folded, folded=True, shared=shared))
    if by_category is not None:
        tables.append(by_category)
    present = dict.fromkeys(s.metric for s in shown)
    more = {s.metric: None for s in folded if s.metric not in present}
    return Section(
        id=family.id,
        title=family.title,
        lead=family.lead,
        plots=() if voided else drawings.of_family(f, family.id),
        tables=tuple(tables),
        meanings=_meanings(present or more),
        more_meanings=_meanings(more if present else ()),
        notes=tuple(notes),
    )


def _outcome_section(f: Figures) -> Section:
    treatment = f.facts.protocol.headline_treatment
    kinds = [k for k in drawings.OUTCOMES if f.outcomes()[k]]
    head = ("Condition", "Calls", *kinds)
    rows: list[tuple[Cell | str, ...]] = []
    conditions = order_of(f, sorted(f.facts.outcomes))
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
        ordered = in_order(f, [s for s in treated if s.metric in several], _TREATED)
        tables.append(score_table(f, "The same figures under each treatment", ordered))
    rates = [s for s in _of(f, ("outcome_rate",)) if s.stratum is None or s.value != 0]
    if rates:
        tables.append(score_table(f, "Rate of each outcome", rates, folded=True))
    notes = [n for n in (f"Calls: {account(f)}.", open_words(f), *failure_notes(f)) if n]
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


_METHODS: Final = "variance"
"""The section on the audit rather than the judge: after all that tells of the judge."""


def _has(f: Figures, metric: str) -> bool:
    return any(s.metric == metric for s in f.scores.scores)


def _other_section(f: Figures) -> Section | None:
    families = (*FAMILIES, *_SOMETIMES)
    placed = {m for fam in families for m in (*fam.shown, *fam.folded)} | {"outcome_rate"}
    rest = in_order(f, [s for s in f.scores.scores if s.metric not in placed], ())
    if not rest:
        return None
    lead = "Figures without a section of their own."
    return Section("more", "Further figures", lead, tables=(score_table(f, "Figures", rest),))


def _advised(f: Figures) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Set what to use the judge for, what not, and what to do next, under their titles."""
    found = advice(f)
    parts = (("Use for", found.use), ("Not for", found.avoid), ("Do next", found.then))
    return tuple((title, lines) for title, lines in parts if lines)


def _said(v: View) -> str:
    """Join the texts of the first screen."""
    tiles = (v.pis, v.gate, *v.principles, *v.monitor)
    texts = [v.headline.sentence, *(w.sentence for w in v.warnings)]
    texts += [line for _, lines in v.advice for line in lines]
    texts += [x for t in tiles for x in (t.label, t.value, t.badge, *t.lines)]
    return "\n".join((*texts, *(c.text for _, c in (*v.summary, *v.what))))


def view(card: JudgeCard) -> View:
    """Lay a card out.

    Parameters
    ----------
    card : JudgeCard
        Cleaned.
    """
    f = Figures(card.facts, card.scores)
    sections = [
        *(_family_section(f, x) for x in FAMILIES if x.id != _METHODS),
        *(_family_section(f, x) for x in _SOMETIMES if _has(f, x.shown[0])),
        localised_section(f),
        attacked_section(f),
        _outcome_section(f),
        *(_family_section(f, x) for x in FAMILIES if x.id == _METHODS),
        _other_section(f),
        checked_section(card),
        protocol_section(f),
        provenance_section(f, card),
    ]
    made = View(
        title=shorten(f.facts.judge.model, 90) or "unnamed",
        stand_in=f.stand_in,
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
        advice=_advised(f),
        glossary=(),
        pis=pis_tile(f),
        gauge=drawings.pis_gauge(f),
        gate=gate_tile(f),
        principles=principle_tiles(f),
        monitor=monitor_tiles(f),
        sections=tuple(s for s in sections if s is not None),
    )
    return dataclasses.replace(made, glossary=glossary(f, _said(made)))
