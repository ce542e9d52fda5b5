"""What a metric is, and where metrics are found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from judgeaudit.core.records.scores import Score
from judgeaudit.core.registry import Registry
from judgeaudit.metrics._view import View

__all__ = ["METRICS", "Metric", "Report"]


@dataclass(frozen=True, slots=True)
class Report:
    """What one metric has to say of a run.

    Parameters
    ----------
    scores : tuple of Score
        In a fixed order; `(metric, condition, treatment, stratum)` is unique over all metrics.
    flags : mapping of str to str
        Named findings in a few words.
    reasons : mapping of str to str
        One plain sentence per flag.
    """

    scores: tuple[Score, ...] = ()
    flags: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)


Metric = Callable[[View], Report]
"""A metric's wrapper: reads the view of a run, returns its scores and findings."""

METRICS: Registry[Metric] = Registry("metric", "judgeaudit.metrics", "judgeaudit.metrics")
