"""`gate.toml`: what a run must hold, and what must not have got worse since a baseline."""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal, Self

from pydantic import Field, model_validator

from judgeaudit.core.errors import ConfigError, unknown_name
from judgeaudit.core.records._base import Record
from judgeaudit.core.toml import read_toml, record_from
from judgeaudit.watch.measures import MARKS, PER_ITEM, RATIOS

__all__ = ["EXACT", "Bar", "GateRules", "Regression", "read_rules"]

EXACT: Final = ("verdicts", *MARKS)
"""Checks of the base verdicts themselves, decided by exact tests on calls."""


class Bar(Record):
    """An absolute bar on a score.

    Parameters
    ----------
    metric, condition, treatment, stratum
        Of the score, as `judgeaudit score --json` prints it.
    at_least, at_most : float
        The bar; exactly one of them.
    """

    metric: str
    condition: str | None = None
    treatment: str = "exclude"
    stratum: str | None = None
    at_least: float | None = None
    at_most: float | None = None

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError(f"the bar on {self.metric} needs at_least or at_most, one of them")
        return self


class Regression(Record):
    """A bar on what changed since the baseline.

    Parameters
    ----------
    check : str, optional
        "verdicts" (base verdicts moved, either way), "errors", "missed" or "false_alarms" (more
        base verdicts are wrong); exact tests.
    metric, condition : str, optional
        Instead: a figure that must not get worse.
    margin : float
        It passes where a worsening of more than this is ruled out.
    tolerate : float
        It fails where more than this is shown.
    """

    check: Literal["verdicts", "errors", "missed", "false_alarms"] | None = None
    metric: str | None = None
    condition: str | None = None
    margin: float = Field(default=0.05, gt=0)
    tolerate: float = Field(default=0.0, ge=0)

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.check is None) == (self.metric is None):
            raise ValueError("a regression bar needs check or metric, one of them")
        if self.check == "verdicts" and self.tolerate:
            raise ValueError("verdicts: an exact test of any change tolerates none; leave it out")
        if self.tolerate >= self.margin:
            raise ValueError("tolerate must lie below margin")
        return self

    @property
    def name(self) -> str:
        """What it looks at, in a word or two."""
        return self.check or " ".join(filter(None, (self.metric, self.condition)))


class GateRules(Record):
    """All of `gate.toml`.

    Parameters
    ----------
    false_alarm_rate : float
        Chance that the gate fails though every bar holds and nothing changed; all bars together.
    power : float
        For which the minimum detectable change is stated.
    answered_at_least : float
        Share of planned calls that must have ended in a verdict; below it nothing passes.
    bar, regression : tuple
        The bars.
    """

    false_alarm_rate: float = Field(default=0.05, gt=0, lt=0.5)
    power: float = Field(default=0.8, gt=0.5, lt=1)
    answered_at_least: float = Field(default=0.9, ge=0, le=1)
    bar: tuple[Bar, ...] = ()
    regression: tuple[Regression, ...] = ()

    @property
    def n(self) -> int:
        """Number of bars."""
        return len(self.bar) + len(self.regression)


def read_rules(path: Path | None, *, baseline: bool) -> GateRules:
    """Read `gate.toml`; without one a baseline is held to its verdicts and errors.

    Raises
    ------
    ConfigError
        If the file does not fit, names what is not known, or there is nothing to decide.
    """
    if path is None:
        if not baseline:
            raise ConfigError(
                "a gate without a baseline needs bars", mend="Write them down, --config gate.toml"
            )
        usual = (Regression(check="verdicts"), Regression(check="errors"))
        return GateRules(regression=usual)
    data, text = read_toml(path)
    rules = record_from(GateRules, data, text=text, path=path)
    if not rules.n:
        raise ConfigError(
            "holds no bar, so nothing would be decided",
            where=str(path),
            mend="Add [[bar]] or [[regression]]",
        )
    known = [*PER_ITEM, *RATIOS]
    for wanted in rules.regression:
        if wanted.metric is not None and wanted.metric not in known:
            raise ConfigError(
                unknown_name("metric of a regression bar", wanted.metric, known), where=str(path)
            )
        if wanted.metric in {"unsafe_rate", "signed_shift"}:
            raise ConfigError(
                f"{wanted.metric} has no worse side",
                where=str(path),
                mend='Use check = "verdicts", or a bar',
            )
    if rules.regression and not baseline:
        raise ConfigError(
            "holds regression bars, and no baseline was given",
            where=str(path),
            mend="Add --baseline RUN, or leave them out",
        )
    return rules
