"""What hardening found: candidates before and after, on clusters that nothing was chosen on."""

from __future__ import annotations

from typing import Literal

from judgeaudit.core.records._base import Record

__all__ = ["Candidate", "Figure", "Hardened", "Skipped", "Strategy", "Wording"]

Strategy = Literal[
    "canonical", "normalise", "panel", "abstain", "threshold", "examples", "two_stage"
]


class Figure(Record):
    """One figure before and after, and the difference.

    Parameters
    ----------
    name : str
        "excess flips", "PIS", "accuracy", ...
    before, after : float, optional
        On held-out items; None with a reason in `why`.
    before_low, before_high, after_low, after_high : float, optional
        Their intervals, at 95%.
    change, low, high : float, optional
        After less before, and its interval, at the level corrected for choosing among candidates.
    level : float, optional
        That level.
    method : str
        Of the interval of the change.
    p_value, p_adjusted : float, optional
        Test of no change; Holm's correction over candidates, for the excess flips alone.
    why : str, optional
        Why a figure or its change is not there.
    unit : str
        "fraction", "score", "requests", "tokens", "seconds", "US dollars".
    better : str
        "lower", "higher" or "neither".
    """

    name: str
    before: float | None = None
    before_low: float | None = None
    before_high: float | None = None
    after: float | None = None
    after_low: float | None = None
    after_high: float | None = None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    method: str = ""
    p_value: float | None = None
    p_adjusted: float | None = None
    why: str | None = None
    unit: str = "fraction"
    better: str = "neither"


class Wording(Record):
    """One certified wording on the training half.

    Parameters
    ----------
    wording : str
        "base", "T2", "T2/1", ...
    excess : float
        Mean flips between it and each other wording, less the mean jitter of the two.
    """

    wording: str
    excess: float


class Candidate(Record):
    """One mended judge.

    Parameters
    ----------
    name : str
        Of its folder and config.
    strategy : Strategy
    what : str
        What it does, in a sentence.
    invariant : bool
        Whether it cannot react to the wording at all, for it discards it: no merit of the judge's.
    conditions : tuple of str
        Certified conditions that its excess flips are measured under; none of its own wordings.
    figures : tuple of Figure
    shown_better : bool
        Excess flips shown to be fewer after correction, and accuracy not shown to be lower.
    asked, reused : int
        Requests made in this session, and answers that the run had already.
    accuracy : {"kept", "open", "lower", "not known"}
        Whether a loss of more than the practical threshold is ruled out, is not, or is shown; or
        there are no labels.
    responsive : str
        What the gate says: whether the verdict still follows the policy.
    folder, config : str
        Where its run lies, and the file that makes it.
    """

    name: str
    strategy: Strategy
    what: str
    invariant: bool
    conditions: tuple[str, ...]
    figures: tuple[Figure, ...]
    shown_better: bool
    accuracy: Literal["kept", "open", "lower", "not known"]
    responsive: str = ""
    folder: str = ""
    config: str = ""
    asked: int = 0
    reused: int = 0

    def figure(self, name: str) -> Figure | None:
        """Return a figure by name."""
        return next((f for f in self.figures if f.name == name), None)


class Skipped(Record):
    """A strategy that was not tried, and why."""

    strategy: Strategy
    why: str


class Hardened(Record):
    """All of it.

    Parameters
    ----------
    verdict : str
        The name of the winner, or "no candidate is shown better".
    winner : str, optional
        Name of the candidate that is exported.
    n_train, n_held_out : int
        Clusters; items stand beside them.
    alpha : float
        Chance that any candidate is said to be better though none is.
    """

    judge: str
    policy: str
    corpus: str
    run: str
    verdict: str
    winner: str | None
    seed: int
    share: float
    n_train: int
    n_train_items: int
    n_held_out: int
    n_held_out_items: int
    alpha: float
    practical_threshold: float
    wordings: tuple[Wording, ...]
    candidates: tuple[Candidate, ...]
    skipped: tuple[Skipped, ...] = ()
