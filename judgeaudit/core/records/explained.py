"""What `explain` writes: `explain.json`, a record with its version inside."""

from __future__ import annotations

from typing import Final, Literal

from judgeaudit.core.records._base import Label, Record

__all__ = ["SCHEMA", "Contrast", "Explained", "Side", "SideBySide"]

SCHEMA: Final = 1
"""Version of the record."""


class Side(Record):
    """Flips among some items, with an interval over clusters."""

    flips: int
    items: int
    rate: float | None
    low: float | None
    high: float | None


class Contrast(Record):
    """Flips among items with a feature, and among those without.

    Parameters
    ----------
    p_value, p_adjusted : float
        Of no association, by random signs over clusters; adjusted by Holm over all features.
    """

    feature: str
    having: Side
    lacking: Side
    p_value: float
    p_adjusted: float


class SideBySide(Record):
    """The judge's own words for its two verdicts on one item.

    Parameters
    ----------
    base_norms, other_norms : tuple of str
        Titles of the norms that each names.
    another : bool, optional
        Whether it names other norms for the other verdict; None where one names none.
    """

    item: str
    condition: str
    base: Label
    to: Label
    base_words: str
    other_words: str
    base_norms: tuple[str, ...]
    other_norms: tuple[str, ...]
    another: bool | None


class Explained(Record):
    """What flipping items have in common, and what the judge says of its two verdicts.

    Parameters
    ----------
    auroc, low, high : float, optional
        How well a model of all features tells flipping items from others, on clusters that it was
        not fitted on; .5 is chance.
    explains : bool
        Whether that is beyond chance: the interval lies above .5.
    why_not : str
        Where there is no figure.
    contrasts : tuple of Contrast
        By p-value.
    """

    schema_version: Literal[1] = SCHEMA
    version: str
    judge: str
    policy: str
    conditions: tuple[str, ...]
    plan_sha256: str
    n_items: int
    n_clusters: int
    n_flips: int
    auroc: float | None
    low: float | None
    high: float | None
    level: float
    explains: bool
    why_not: str
    contrasts: tuple[Contrast, ...]
    n_both_cite: int
    n_another: int
    rationales: tuple[SideBySide, ...]

    @property
    def standing(self) -> tuple[Contrast, ...]:
        """Contrasts that stand after the correction."""
        return tuple(c for c in self.contrasts if c.p_adjusted <= 1 - self.level + 1e-12)
