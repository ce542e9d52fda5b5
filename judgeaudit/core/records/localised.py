"""What `localise` writes: `localise.json`, a record with its version inside."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from judgeaudit.core.records._base import Label, Record

__all__ = ["SCHEMA", "Cause", "Localised", "Moved", "Searched", "Section"]

SCHEMA: Final = 1
"""Version of the record."""


class Share(Record):
    """A share of the flips of a condition that were traced, with its interval over clusters."""

    n: int
    of: int
    share: float
    low: float | None
    high: float | None
    method: str
    to_unsafe: int
    to_safe: int


class Moved(Record):
    """An edit, and how many of the flips it has a part in.

    Parameters
    ----------
    key, name : str
        See `Edit`.
    before, after : tuple of str
        What it takes out of the base text, and what it puts there.
    spans : tuple of (int, int)
        Where these words stand in the base text; empty spans where something is only put in.
    alone : int
        Flips that this edit is enough for by itself.
    part : Share
        Flips that it has a part in, alone or with others.
    """

    key: str
    name: str
    norm: int | None
    before: tuple[str, ...]
    after: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    alone: int
    part: Share


class Cause(Record):
    """A smallest set of edits that flips items.

    Parameters
    ----------
    edits, names : tuple of str
        One edit, or several that flip only together.
    named : bool
        Whether it was found more often than wrong searches would find it.
    p_adjusted : float
        Chance of so many wrong searches, times the number of sets (Bonferroni).
    kinds, datasets : dict of str to int
        Items, by whether they are clear, and by their dataset.
    """

    edits: tuple[str, ...]
    names: tuple[str, ...]
    whole: bool
    named: bool
    p_adjusted: float
    part: Share
    kinds: dict[str, int]
    datasets: dict[str, int]


class Searched(Record):
    """One flip that was searched."""

    item: str
    dataset: str
    cluster: str
    kind: str
    condition: str
    base: Label
    to: Label
    status: Literal["found", "gone", "unresolved", "budget"]
    causes: tuple[tuple[str, ...], ...]
    why: str
    log_e: float
    calls: int
    weak: int


class Section(Record):
    """What was found under one condition.

    Parameters
    ----------
    n_compared, n_flips : int
        Items with a verdict under both texts in the run, and those whose verdict differs.
    n_begun, n_real, n_gone, n_unresolved, n_budget : int
        Flips that were asked again; that came back and were traced; that did not come back; whose
        search found nothing that stood; that the budget did not reach.
    """

    condition: str
    wording: int
    summary: str
    n_compared: int
    n_flips: int
    n_begun: int
    n_real: int
    n_gone: int
    n_unresolved: int
    n_budget: int
    causes: tuple[Cause, ...]
    edits: tuple[Moved, ...]
    base_text: str
    rewrite_text: str

    @property
    def named(self) -> tuple[Cause, ...]:
        """Causes that stand, most frequent first."""
        return tuple(c for c in self.causes if c.named)


class Localised(Record):
    """Which edits flip a judge's verdicts.

    Parameters
    ----------
    calls, calls_most, rounds : int
        Calls made, calls allowed, and rounds in which they were made.
    level : float
        Expected share of flips called real that are not; where none is, the chance of any.
    error, sure : float
        Chance that one question of a search, and one of its confirmation, is answered wrongly.
    interval_level : float
        Of the intervals.
    """

    schema_version: Literal[1] = SCHEMA
    version: str
    judge: str
    policy: str
    corpus: str
    plan_sha256: str
    calls: int
    calls_most: int
    rounds: int
    level: float
    error: float
    sure: float
    interval_level: float
    sections: tuple[Section, ...]
    items: tuple[Searched, ...] = Field(default=())

    @property
    def found(self) -> bool:
        """Whether any cause stands."""
        return any(s.named for s in self.sections)
