"""Scores as rows of tables: their order, their names, and what is said once for many of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Final

from judgeaudit.cards.clean import shorten
from judgeaudit.cards.layout import Cell, Table, condition_words, table
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.texts_en import CONDITIONS, METRICS, STRATA, TREATMENTS
from judgeaudit.cards.words import basis, estimate, interval, joined, method, test_words
from judgeaudit.core.records import Score

__all__ = ["category_table", "in_order", "order_of", "score_table", "shared_notes"]

_HEAD: Final = ("Figure", "Estimate", "Interval", "Basis", "Method")
_CATEGORY: Final = "category_"
_OFTEN: Final = 3


def order_of(f: Figures, family: Iterable[str]) -> dict[str, int]:
    """Place the conditions of a run, the pool after the certified ones."""
    run = [c.id for c in f.facts.protocol.conditions]
    certified = [k for k, c in enumerate(run) if c in f.conditions("certified")]
    if certified:
        run.insert(certified[-1] + 1, "certified")
    return {c: k for k, c in enumerate(dict.fromkeys([*run, *family]))}


def in_order(f: Figures, scores: Iterable[Score], metrics: Sequence[str]) -> list[Score]:
    """Sort scores by metric, condition, stratum (the whole first) and treatment."""
    conditions = order_of(f, ())
    rank = {m: k for k, m in enumerate(metrics)}

    def key(s: Score) -> tuple[int, str, int, str, int, str, bool, str]:
        condition = s.condition or ""
        known = STRATA.index(s.stratum) if s.stratum in STRATA else len(STRATA)
        return (
            rank.get(s.metric, len(rank)),
            s.metric,
            conditions.get(condition, -1 if not condition else len(conditions)),
            condition,
            -1 if s.stratum is None else known,
            s.stratum or "",
            s.treatment != "exclude",
            s.treatment,
        )

    return sorted(scores, key=key)


def _name(f: Figures, s: Score, strata: Sequence[str]) -> Cell:
    known = METRICS.get(s.metric)
    parts = [known.title if known else shorten(s.metric, 60)]
    if s.condition is not None:
        parts.append(condition_words(f, s.condition))
    if strata:
        parts.append(", ".join(shorten(x, 60) for x in strata))
    if s.treatment != "exclude":
        parts.append(f"failures {TREATMENTS.get(s.treatment, shorten(s.treatment, 60))}")
    names = ((s.condition or "base", CONDITIONS), (s.treatment, TREATMENTS))
    plain = all(x in STRATA for x in strata)
    ours = known is not None and plain and all(x in ids for x, ids in names)
    return Cell(" · ".join(parts), raw=not ours)


def _parts(s: Score) -> list[str]:
    return s.note.split("; ") if s.note else []


def shared_notes(scores: Iterable[Score]) -> dict[str, int]:
    """Find what the notes of three scores or more say alike: it is said once, above them.

    Parameters
    ----------
    scores : iterable of Score
        Those of a section.

    Returns
    -------
    dict of str to int
        Part of a note, and how many scores have it.
    """
    several = list(scores)
    found = Counter(part for s in several for part in dict.fromkeys(_parts(s)))
    # what categories alone say ("no miscalibration shown") would be read as said of the judge
    whole = {p for s in several if not s.metric.startswith("category_") for p in _parts(s)}
    return {part: n for part, n in found.items() if n >= _OFTEN and part in whole}


def _row(
    f: Figures, alike: Sequence[Score], shared: dict[str, int] | None = None
) -> tuple[Cell, ...]:
    s = alike[0]
    rest = [part for part in _parts(s) if part not in (shared or {})]
    note = f"; note: {'; '.join(rest)}" if rest else ""
    strata = [x.stratum for x in alike if x.stratum is not None]
    return (
        _name(f, s, strata),
        Cell(estimate(s) + note),
        Cell(interval(s)),
        Cell(basis(s)),
        Cell(method(s)),
    )


def _lacks(s: Score) -> tuple[object, ...]:
    """Tell apart what cannot share a row: only undefined figures of one metric and reason can."""
    if s.value is not None or s.low is not None or s.stratum is None:
        return (id(s),)
    return (s.metric, s.condition, s.treatment, s.why_undefined, s.note, basis(s))


def score_table(
    f: Figures,
    caption: str,
    scores: Sequence[Score],
    *,
    folded: bool = False,
    shared: dict[str, int] | None = None,
) -> Table:
    """Set scores out, a row each; what is undefined for one reason is one row.

    Parameters
    ----------
    f : Figures
        Of the card.
    caption : str
        The table's.
    scores : sequence of Score
        In their order.
    folded : bool
        Whether it stands behind a disclosure.
    shared : dict of str to int, optional
        Parts of notes that are said elsewhere.
    """
    rows = [_row(f, list(alike), shared) for _, alike in groupby(scores, key=_lacks)]
    return table(caption, _HEAD, rows, folded=folded)


def category_table(scores: Sequence[Score]) -> Table | None:
    """Set the figures of categories out, a row a category and a column a figure.

    Parameters
    ----------
    scores : sequence of Score
        Those of one section, in their order; others than `category_...` are passed over.

    Returns
    -------
    Table or None
        None where there are none.
    """
    own = [s for s in scores if s.metric.startswith(_CATEGORY)]
    if not own:
        return None
    metrics = list(dict.fromkeys(s.metric for s in own))
    titles = [METRICS[m].title.removesuffix(", by category") for m in metrics if m in METRICS]
    rows: list[tuple[Cell | str, ...]] = []
    for category in dict.fromkeys(s.stratum for s in own):
        here = {s.metric: s for s in own if s.stratum == category}
        cells = [_figure(here.get(m)) for m in metrics]
        rows.append((Cell(shorten(category or "", 60), raw=True), *cells, f"{_n_items(here):,}"))
    how = joined(list(dict.fromkeys(s.method for s in own if s.method)))
    return table(
        f"By category{f' ({how})' if how else ''}",
        ("Category", *titles, "Items"),
        rows,
        folded=True,
    )


def _n_items(here: dict[str, Score]) -> int:
    """Count the items of a category: those of both labels, where rates stand apart by label."""
    by_label = [here[m].n_items for m in ("category_tpr", "category_fpr") if m in here]
    return sum(by_label) if by_label else max(s.n_items for s in here.values())


def _figure(s: Score | None) -> str:
    if s is None:
        return "–"
    if s.value is None:
        return s.why_undefined or "–"
    tested = f", {test_words(s)}" if s.p_value is not None else ""
    return f"{estimate(s)} {interval(s)}{tested}"
