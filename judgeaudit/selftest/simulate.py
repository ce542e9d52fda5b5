"""Many audits of one planted judge, scored as any audit is: bias and coverage of every number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.records import Score
from judgeaudit.scoring import MONITOR, ORDER, score
from judgeaudit.selftest.truth import Key, truth_of
from judgeaudit.selftest.worlds import CALLS, CERTIFIED, PROTOCOL, WORLDS, draw, sample

__all__ = ["BOUNDS", "TESTS", "Row", "simulate"]

BOUNDS: Final = "bounds_delta_paper"
TESTS: Final = ("delta_paper", "delta_debiased")

_UNPLANTED: Final = {
    *MONITOR,
    *("missed_bound", "false_alarm_bound", "worst_of_k"),
    *("agreement", "soft_labels", "abstention"),
    *("variance_share", "precision_share"),
}
_CHECKED: Final = tuple(m for m in ORDER if m not in _UNPLANTED)
"""All metrics whose truth is planted; the monitor metrics have simulations of their own."""

_RATIOS: Final = {"direction_ratio", "undue_share", "undue_risk_ratio"}
_BENT: Final = {"rms_shift", "pis", "pis_raw"}
_SIGMAS: Final = 5.0
_RATIO_BIAS: Final = 0.05
_LEAST: Final = 30
_ALPHA: Final = 0.05


@dataclass(slots=True)
class _Tally:
    values: list[float] = field(default_factory=list)
    covered: int = 0
    intervals: int = 0
    widths: float = 0.0
    method: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """What many audits of one planted judge show of one number.

    Parameters
    ----------
    judge, n : str, int
        Planted judge, and items an audit.
    metric, condition, treatment
        Names of the score; metric "size of the exact test" for the share of false alarms.
    truth : float
        What was planted.
    audits, defined, intervals : int
        Audits made, and how many of them gave a value, and an interval.
    mean : float, optional
        Mean of the values.
    error : float
        Standard error of that mean.
    coverage : float, optional
        Share of the intervals that hold the truth; for a test: share of rejections.
    width : float, optional
        Mean width of the intervals.
    floor : float, optional
        The least coverage that is passed (for a test: the most rejections), noise not counted.
    method : str
        Of the interval.
    """

    judge: str
    n: int
    metric: str
    condition: str | None
    treatment: str
    truth: float
    audits: int
    defined: int
    intervals: int
    mean: float | None
    error: float
    coverage: float | None
    width: float | None
    floor: float | None
    method: str

    @property
    def name(self) -> str:
        """The number in words."""
        where = f" {self.condition}" if self.condition else ""
        how = "" if self.treatment == "exclude" else f" [{self.treatment}]"
        return f"{self.metric}{where}{how}"

    @property
    def bias(self) -> float | None:
        """Mean less truth."""
        return None if self.mean is None else self.mean - self.truth

    @property
    def allowed(self) -> float | None:
        """Bias that is passed: five standard errors; a share of flips is a ratio and gets more.

        None where bias is printed but not judged: clipped scores and square roots have one.
        """
        if self.mean is None or self.metric in _BENT:
            return None
        extra = _RATIO_BIAS if self.metric in _RATIOS else 0.0
        if self.metric == "undue_risk_ratio":
            return None  # few ambiguous flips: skewed beyond what a mean says
        return _SIGMAS * self.error + extra + 1e-9

    @property
    def is_biased(self) -> bool:
        """Whether the bias is more than noise."""
        return self.bias is not None and self.allowed is not None and abs(self.bias) > self.allowed

    @property
    def fails_to_cover(self) -> bool:
        """Whether the coverage (of a test: the size) misses its limit by more than noise."""
        if self.coverage is None or self.floor is None or self.intervals < _LEAST:
            return False
        noise = 3 * sqrt(self.floor * (1 - self.floor) / self.intervals)
        if self.is_test:
            return self.coverage > self.floor + noise
        return self.coverage < self.floor - noise

    @property
    def is_test(self) -> bool:
        """Whether it is the size of a test."""
        return self.metric.startswith("size")


def simulate(
    judge: str,
    n: int,
    audits: int,
    *,
    seed: int = 0,
    step: Callable[[int], None] | None = None,
) -> list[Row]:
    """Audit a planted judge many times, on new items each time.

    Parameters
    ----------
    judge : str
        Name in `WORLDS`.
    n : int
        Items an audit.
    audits : int
        Audits.
    seed : int
        Of all of them.
    step : callable, optional
        Told the number of audits done.

    Returns
    -------
    list of Row
        In the order of the scores.
    """
    world, truth = WORLDS[judge], truth_of(judge)
    rng = np.random.default_rng([seed, n, *judge.encode()])
    tallies: dict[Key, _Tally] = {}
    rejected: dict[str, list[int]] = {name: [] for name in TESTS}
    for k in range(audits):
        items = draw(world, n, rng)
        table, complete = sample(world, items, rng)
        for s in score(table, PROTOCOL, metrics=_CHECKED).scores:
            key = (s.metric, s.condition, s.treatment)
            if s.stratum is not None:
                continue
            if s.treatment == BOUNDS:
                _count_bounds(tallies.setdefault(key, _Tally()), s, complete)
                continue
            if key in truth:
                _count(tallies.setdefault(key, _Tally()), s, truth[key])
            if s.metric in rejected and s.p_value is not None and _is_null(truth, s):
                rejected[s.metric].append(int(s.p_value <= _ALPHA))
        if step is not None:
            step(k + 1)
    rows = [
        _row(judge, n, audits=audits, key=key, truth=truth.get(key), tally=t)
        for key, t in tallies.items()
    ]
    return rows + [_size(judge, n, audits, name, hits) for name, hits in rejected.items() if hits]


def _count(tally: _Tally, s: Score, truth: float) -> None:
    if s.value is not None:
        tally.values.append(s.value)
    # a score that is withheld claims nothing
    if s.low is not None and s.high is not None and not s.method.startswith("none"):
        tally.intervals += 1
        tally.covered += s.low - 1e-12 <= truth <= s.high + 1e-12
        tally.widths += s.high - s.low
        tally.method = s.method


def _count_bounds(tally: _Tally, s: Score, complete: NDArray[np.int8]) -> None:
    """Bounds hold what the audit would have found had no call failed: always."""
    if s.low is None or s.high is None or s.condition is None:
        return
    members = CERTIFIED if s.condition == "certified" else (s.condition,)
    found = float(np.mean([_paper(complete, c) for c in members]))
    tally.intervals += 1
    tally.covered += s.low - 1e-9 <= found <= s.high + 1e-9
    tally.widths += s.high - s.low
    tally.method = "bounds over all completions"


def _paper(codes: NDArray[np.int8], condition: str) -> float:
    """Compute the paper's excess flip rate of a complete table by its definition, pair by pair."""
    order = list(CALLS)
    base = codes[:, 0, : CALLS["base"]]
    other = codes[:, order.index(condition), : CALLS[condition]]
    crossed = np.mean(base[:, :, None] != other[:, None, :])
    first, second = np.triu_indices(base.shape[1], 1)
    return float(crossed - np.mean(base[:, first] != base[:, second]))


def _is_null(truth: Mapping[Key, float], s: Score) -> bool:
    moved = truth.get(("delta_debiased", s.condition, "exclude"))
    return s.condition != "certified" and moved is not None and moved == 0


def _row(judge: str, n: int, *, audits: int, key: Key, truth: float | None, tally: _Tally) -> Row:
    values = np.array(tally.values)
    planted = 0.0 if truth is None else truth
    error = 0.0
    if values.size:
        # a rare event may be missed by all audits: its own noise is the least that is allowed for
        rare = abs(planted) * max(0.0, 1 - abs(planted)) / n
        error = sqrt(max(float(values.var()), rare) / values.size)
    return Row(
        judge=judge,
        n=n,
        metric=key[0],
        condition=key[1],
        treatment=key[2],
        truth=planted,
        audits=audits,
        defined=int(values.size),
        intervals=tally.intervals,
        mean=float(values.mean()) if values.size else None,
        error=error,
        coverage=tally.covered / tally.intervals if tally.intervals else None,
        width=tally.widths / tally.intervals if tally.intervals else None,
        floor=None if WORLDS[judge].flagged else _floor(key, n, tally.method),
        method=tally.method,
    )


def _floor(key: Key, n: int, method: str) -> float | None:
    if key[2] == BOUNDS:
        return 1.0
    if not method:
        return None
    # the design's own table for the adjusted t: .905 at 30 items, .928 and more from 60 on
    if "adjusted t" in method:
        return 0.905 if n < 60 else 0.928
    return 0.93


def _size(judge: str, n: int, audits: int, metric: str, hits: list[int]) -> Row:
    return Row(
        judge=judge,
        n=n,
        metric=f"size of the exact test, {metric}",
        condition=None,
        treatment="exclude",
        truth=0.0,
        audits=audits,
        defined=0,
        intervals=len(hits),
        mean=None,
        error=0.0,
        coverage=sum(hits) / len(hits),
        width=None,
        floor=_ALPHA,
        method="share of p-values of 5% or less",
    )
