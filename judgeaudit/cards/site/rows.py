"""The figures of a card as the site's tables show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from judgeaudit.cards.clauses import settled_band
from judgeaudit.cards.clean import shorten
from judgeaudit.cards.site.reading import Group, Sited
from judgeaudit.cards.texts_en import STANCES
from judgeaudit.cards.voiding import is_void_metric, void, void_badge
from judgeaudit.cards.words import (
    amount,
    count,
    ends,
    estimate,
    interval,
    kind_of,
    percent,
    uncut,
    unit_score,
)
from judgeaudit.core.records import Score

__all__ = ["FIGURES", "INDEX", "Cell", "Figure", "Row", "cell", "compared", "row"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that cards are compared by.

    Parameters
    ----------
    better : str
        "higher", "lower" or "neither".
    """

    id: str
    label: str
    metric: str
    condition: str | None = None
    better: str = "higher"


FIGURES: Final = (
    Figure("pis", "Policy Invariance Score", "pis"),
    Figure("delta", "Extra flips, reworded (Δ)", "delta_paper", "certified", "lower"),
    Figure("debiased", "Extra flips, debiased", "delta_debiased", "certified", "lower"),
    Figure("t1", "Δ under T1 (syntax)", "delta_paper", "T1", "lower"),
    Figure("t2", "Δ under T2 (words)", "delta_paper", "T2", "lower"),
    Figure("t4", "Δ under T4 (exceptions in front)", "delta_paper", "T4", "lower"),
    Figure("rdir", "Moves the right way (R_dir)", "direction_ratio"),
    Figure("undue", "Share of flips on clear items (U_rate)", "undue_share", None, "lower"),
    Figure("jitter", "Jitter", "jitter", "base", "lower"),
    Figure("accuracy", "Accuracy", "accuracy"),
    Figure("tpr", "Unsafe items caught", "tpr"),
    Figure("tnr", "Safe items cleared", "tnr"),
)
INDEX: Final = ("pis", "delta", "rdir", "accuracy", "jitter")
"""The figures that stand in the index."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure of one card: in words, and in numbers where there are any."""

    text: str
    interval: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """One card in the index.

    Parameters
    ----------
    words : str
        What the filter looks through, in small letters.
    """

    card: Sited
    stance: str
    stance_words: str
    band: str
    sentence: str
    cells: tuple[Cell, ...]
    cautions: tuple[str, ...]
    words: str


def _score(card: Sited, figure: Figure) -> Score | None:
    return card.figures.get(figure.metric, figure.condition)


def cell(card: Sited, figure: Figure) -> Cell:
    """Lay out a figure; a score that the card withholds has no number here either."""
    score = _score(card, figure)
    if figure.id == "pis" and card.figures.withheld:
        why = card.figures.withheld.replace("not shown", "response not shown")
        return Cell(f"not given: {why}", "", None, None, None)
    if score is None:
        return Cell("not computed", "", None, None, None)
    if is_void_metric(figure.metric) and void(card.figures):
        return Cell(f"void: {void_badge(card.figures)}", "", None, None, None)
    if score.value is None:
        return Cell(shorten(estimate(score), 120), "", None, None, None)
    low, high = ends(score) or (None, None)
    said = amount(score.value, kind_of(score.metric, score.unit)).removesuffix(" points")
    if figure.id == "pis":
        said = unit_score(score.value)
    span = interval(score)
    if figure.id == "pis" and (cut := uncut(score, card.figures.get("pis_raw"))):
        span = cut if low == high else f"{span}; {cut}"
    return Cell(said, shorten(span, 120), score.value, low, high)


def _cautions(card: Sited) -> tuple[str, ...]:
    f = card.card.facts
    found = [w.sentence for w in card.card.warnings if w.severity == "serious"]
    if f.n_answered < f.n_planned:
        found.append(f"Incomplete: {count(f.n_answered)} of {count(f.n_planned)} calls answered.")
    return tuple(dict.fromkeys(shorten(x, 200) for x in found))


def row(card: Sited) -> Row:
    """Lay out a card's row of the index."""
    h = card.card.headline
    pis = card.figures.get("pis")
    band = ""
    if pis is not None and pis.value is not None and not card.figures.withheld:
        band = settled_band(card.figures, pis) or "band not settled"
    by_id = {f.id: f for f in FIGURES}
    stance = STANCES[h.stance]
    facts = card.card.facts
    seen = (card.judge, card.id, stance, band, facts.policy.id, facts.corpus.name)
    return Row(
        card=card,
        stance=h.stance,
        stance_words=stance,
        band=band,
        sentence=shorten(h.sentence, 600),
        cells=tuple(cell(card, by_id[k]) for k in INDEX),
        cautions=_cautions(card),
        words=shorten(" ".join([*seen, card.card.created]).lower(), 500),
    )


def compared(card: Sited, group: Group) -> dict[str, Any]:
    """Lay out all that the comparison shows of a card, as JSON."""
    f = card.card.facts
    rate = card.figures.failure_rate
    about = {
        "Judge": card.judge,
        "Answered as": ", ".join(sorted(f.served_models)) or "not reported",
        "Prompt": f.judge.template_id,
        "Setup (hash)": f.judge_sha256[:12],
        "Policy": f"{f.policy.id} {f.policy.sha256[:12]}",
        "Corpus": f"{f.corpus.name} {f.corpus.subset or ''}".strip() + f" {f.corpus.sha256[:12]}",
        "Items": count(f.corpus.n_items),
        "Protocol": f"{f.protocol.preset} {f.protocol_sha256[:12]}",
        "Calls answered": f"{count(f.n_answered)} of {count(f.n_planned)}",
        "Without a verdict": "not recorded" if rate is None else percent(rate),
        "Made": card.card.created,
        "judgeaudit": card.card.software.version,
    }
    return {
        "id": card.id,
        "href": f"cards/{card.id}/card.html",
        "judge": shorten(card.judge, 80),
        "created": shorten(card.card.created, 40),
        "stance": card.card.headline.stance,
        "stance_words": STANCES[card.card.headline.stance],
        "sentence": shorten(card.card.headline.sentence, 600),
        "gate": card.figures.flag("responsiveness") or "not computed",
        "group": group.id,
        "identity": list(card.key),
        "about": {k: shorten(v, 160) for k, v in about.items()},
        "cautions": list(_cautions(card)),
        "figures": [
            [c.text, c.interval, c.value, c.low, c.high]
            for c in (cell(card, figure) for figure in FIGURES)
        ],
    }
