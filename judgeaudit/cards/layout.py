"""The parts of a card's layout: cells, tables and sections, all plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from judgeaudit.cards.clean import shorten
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.texts_en import CONDITIONS

__all__ = [
    "Cell",
    "Plot",
    "Section",
    "Table",
    "condition_words",
    "ident",
    "raw",
    "table",
]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell.

    Parameters
    ----------
    text : str
        What it says.
    raw : bool
        Whether it comes from a model, a dataset or a user: set apart in every format.
    mono : bool
        Whether it is an identifier, to be read letter by letter.
    """

    text: str
    raw: bool = False
    mono: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table; the first cell of a row is its heading. `folded`: behind a disclosure."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing, what it shows in words, and the key to its marks as (style class, word).

    `table` holds its figures where no other table of the section does.
    """

    id: str
    title: str
    caption: str
    svg: Markup
    key: tuple[tuple[str, str], ...] = ()
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the card below the first screen."""

    id: str
    title: str
    lead: str
    plots: tuple[Plot, ...] = ()
    tables: tuple[Table, ...] = ()
    meanings: tuple[tuple[str, str], ...] = ()
    more_meanings: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    command: str = ""

    @property
    def every_table(self) -> tuple[Table, ...]:
        """The tables, and those behind plots: for a format without plots."""
        return (*self.tables, *(p.table for p in self.plots if p.table is not None))


def raw(text: object, width: int = 400) -> Cell:
    """Make a cell of untrusted text."""
    return Cell(shorten(str(text), width), raw=True)


def ident(text: object, width: int = 400) -> Cell:
    """Make a cell of an identifier: a model's name, a hash, a parameter."""
    return Cell(shorten(str(text), width), raw=True, mono=True)


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[Cell | str]],
    *,
    folded: bool = False,
) -> Table:
    """Make a table of cells and of our own words."""
    cells = tuple(tuple(Cell(c) if isinstance(c, str) else c for c in row) for row in rows)
    return Table(caption, tuple(head), cells, folded)


def condition_words(f: Figures, condition: str, width: int = 60) -> str:
    """Name a condition with a word on what it changes; an unknown one is cut to `width`."""
    if condition == "certified":
        pooled = f.pooled
        return f"{'+'.join(pooled)}, pooled" if 0 < len(pooled) <= 4 else "certified, pooled"
    known = CONDITIONS.get(condition)
    return f"{condition}: {known}" if known else shorten(condition, width)
