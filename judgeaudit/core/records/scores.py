"""Scores: every published number, with its interval or the reason why it has none."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from judgeaudit.core.records._base import Outcome, Record

__all__ = ["Score", "ScoreSet"]


class Score(Record):
    """One number of an audit.

    Parameters
    ----------
    metric : str
        The metric's id ("delta_paper", "direction_ratio", "pis").
    condition : str, optional
        Condition id, or "certified" for the pool of T1, T2, T4; None where it has no meaning.
    value : float, optional
        None exactly when `why_undefined` says why.
    low, high : float, optional
        Interval limits; None exactly when `why_no_interval` says why.
    level : float, optional
        Confidence level of the interval (0.95).
    method : str
        Name of the interval's method ("adjusted t over clusters", "Wilson-Kish").
    unit : str
        "fraction of call pairs", "fraction of flips", "score 0-1", ...
    better : str
        "higher", "lower" or "neither".
    treatment : str
        How outcomes without a verdict were treated ("exclude", "as_flip_asym", ...).
    excluded : dict of Outcome to int
        Calls left out of this number, by outcome.
    p_value, null : optional
        Every p-value names its null hypothesis and its method (in `p_method`).
    detail : dict of str to float or None
        Companion numbers that are printed beside the value (flips, n_eff, gate bound, ...).
    note : str, optional
        A warning that must be printed with the number ("only 3 flips").
    """

    metric: str
    condition: str | None = None
    value: float | None = None
    why_undefined: str | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str = ""
    why_no_interval: str | None = None
    numerator: float | None = None
    denominator: float | None = None
    n_items: int = 0
    n_clusters: int = 0
    excluded: dict[Outcome, int] = Field(default_factory=dict)
    unit: str = ""
    better: str = "neither"
    treatment: str = "exclude"
    stratum: str | None = None
    p_value: float | None = None
    p_adjusted: float | None = None
    p_method: str | None = None
    null: str | None = None
    detail: dict[str, float | None] = Field(default_factory=dict)
    note: str | None = None

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.value is None) == (self.why_undefined is None):
            raise ValueError(f"{self.metric}: a score has a value or says why it has none")
        if (self.low is None) != (self.high is None):
            raise ValueError(f"{self.metric}: an interval has two ends")
        if (self.low is None) == (self.why_no_interval is None):
            raise ValueError(f"{self.metric}: a score has an interval or says why it has none")
        if self.p_value is not None and self.null is None:
            raise ValueError(f"{self.metric}: a p-value names its null hypothesis")
        return self


class ScoreSet(Record):
    """All scores of one audit, in a fixed order, with the verdicts drawn from them.

    Parameters
    ----------
    scores : tuple of Score
        The numbers; `(metric, condition, treatment, stratum)` is unique.
    flags : dict of str to str
        Named findings in a few words ("responsiveness": "responsive", "band": "fragile",
        "placebo": "clean").
    reasons : dict of str to str
        One plain sentence per flag.
    """

    scores: tuple[Score, ...]
    flags: dict[str, str] = Field(default_factory=dict)
    reasons: dict[str, str] = Field(default_factory=dict)

    def find(
        self,
        metric: str,
        condition: str | None = None,
        *,
        treatment: str = "exclude",
        stratum: str | None = None,
    ) -> Score | None:
        """Return the one score with these names, or None."""
        for s in self.scores:
            if (s.metric, s.condition, s.treatment, s.stratum) == (
                metric,
                condition,
                treatment,
                stratum,
            ):
                return s
        return None
