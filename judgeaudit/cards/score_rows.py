"""Scores as rows of a card's tables; what is said of many at once is said once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from judgeaudit.cards.clean import shorten
from judgeaudit.cards.layout import Cell, Table, condition_words, gathered, table
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.texts_en import CONDITIONS, METRICS, STRATA, TREATMENTS
from judgeaudit.cards.words import NO_FIGURE, basis, estimate, interval, method
from judgeaudit.core.records import Score

__all__ = ["common_notes", "score_table"]

_BETWEEN: Final = "; "
_MANY: Final = 3


def common_notes(scores: Iterable[Score]) -> tuple[str, ...]:
    """Return what all notes of several scores say: it is said once, above them.

    Only what all say: "no miscalibration shown" of most categories is not that of the judge.
    """
    notes = [s.note.split(_BETWEEN) for s in scores if s.note]
    if len(notes) < _MANY:
        return ()
    return tuple(p for p in dict.fromkeys(notes[0]) if all(p in note for note in notes))


def _name(f: Figures, s: Score) -> Cell:
    known = METRICS.get(s.metric)
    parts = [known.title if known else shorten(s.metric, 60)]
    if s.condition is not None:
        parts.append(condition_words(f, s.condition))
    if s.stratum is not None:
        parts.append(shorten(s.stratum, 60))
    if s.treatment != "exclude":
        parts.append(f"failures {TREATMENTS.get(s.treatment, shorten(s.treatment, 60))}")
    names = ((s.condition or "base", CONDITIONS), (s.treatment, TREATMENTS))
    plain = s.stratum is None or s.stratum in STRATA
    ours = known is not None and plain and all(x in ids for x, ids in names)
    return Cell(" · ".join(parts), raw=not ours)


def _row(f: Figures, s: Score, said: Collection[str]) -> tuple[Cell, ...]:
    left = [part for part in (s.note or "").split(_BETWEEN) if part and part not in said]
    note = f"; note: {_BETWEEN.join(left)}" if left else ""
    return (
        _name(f, s),
        Cell(estimate(s) + note),
        Cell(interval(s)),
        Cell(basis(s)),
        Cell(method(s)),
    )


_HEAD: Final = ("Figure", "Estimate", "Interval", "Basis", "Method")


def score_table(
    f: Figures,
    caption: str,
    scores: Sequence[Score],
    *,
    folded: bool = False,
    said: Collection[str] = (),
) -> Table:
    """Make a table of scores, a row each; `said` is left out of their notes."""
    rows = gathered((_row(f, s, said) for s in scores), NO_FIGURE)
    return table(caption, _HEAD, rows, folded=folded)
