"""Which single rewording is shown to move verdicts; a pooled figure may hide it."""

from __future__ import annotations

from typing import NamedTuple

from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.texts_en import CONDITIONS
from judgeaudit.cards.words import ends, estimate, interval, joined, points, test_words
from judgeaudit.core.records import Score

__all__ = ["Shown", "alike", "rewording", "shown"]


class Shown(NamedTuple):
    """A certified condition whose test of no effect is rejected, and its excess flips.

    Parameters
    ----------
    condition : str
        Its id.
    p : float
        The smaller p-value of the two excess flip rates, after Holm's correction over the
        conditions, times the number of tests that it is the smallest of.
    paper : Score or None
        The paper's excess flip rate, which counts flips in 100.
    """

    condition: str
    p: float
    paper: Score | None

    @property
    def size(self) -> float:
        """The paper's figure, 0 where it is not known."""
        return self.paper.value if self.paper is not None and self.paper.value is not None else 0.0

    @property
    def is_sized(self) -> bool:
        """Whether the paper's figure lies above 0 with its interval, so that it may be told."""
        return self.size > 0 and self.paper is not None and (self.paper.low or 0.0) > 0

    @property
    def how_many(self) -> str:
        """Word a size that the interval does not settle; "" where there is none to tell."""
        if self.paper is None or self.paper.value is None or ends(self.paper) is None:
            return ""
        return f"; how many is not settled ({points(self.paper.value)} {interval(self.paper)})"

    def exceeds(self, threshold: float) -> bool:
        """Say whether the whole interval lies above a threshold, a fraction."""
        return self.is_sized and self.paper is not None and (self.paper.low or 0.0) > threshold


def shown(f: Figures) -> list[Shown]:
    """List the pooled conditions that are shown to move verdicts, the surest first."""
    alpha = 1 - f.facts.protocol.level
    found = []
    for condition in f.pooled:
        tests = [f.get(m, condition) for m in ("delta_paper", "delta_debiased")]
        p = [s.p_adjusted for s in tests if s is not None and s.p_adjusted is not None]
        # the smaller of two p-values is no p-value: there were two chances to be small
        if p and len(p) * min(p) <= alpha:
            found.append(Shown(condition, len(p) * min(p), tests[0]))
    return sorted(found, key=lambda x: (-x.p, x.size, x.condition), reverse=True)


def alike(f: Figures) -> str:
    """Word why conditions with other raw flips have one debiased excess; "" where none do.

    One deviating call among all calls of an item, be it 1 of K under base or 1 of L under the
    condition, adds 1/K - 1/K or 1/L - 1/L: nothing. What is left can come from base alone.
    """
    groups: dict[tuple[str, str, str], list[str]] = {}
    flips: dict[str, str] = {}
    for condition in f.conditions("placebo", "certified", "near", "threshold"):
        debiased, raw = f.get("delta_debiased", condition), f.get("flip_rate", condition)
        if debiased is None or debiased.value is None or raw is None or raw.value is None:
            continue
        flips[condition] = estimate(raw)
        said = (estimate(debiased), interval(debiased), test_words(debiased).split(" (")[0])
        groups.setdefault(said, []).append(condition)
    same = [g for g in groups.values() if len({flips[c] for c in g}) > 1]
    if not same:
        return ""
    return (
        f"The debiased excess is the same for {'; and for '.join(joined(g) for g in same)}, though "
        f"raw flips differ, because it takes the noise of both sides off: a single call that "
        f"deviates from all others of its item adds to the raw flips and exactly nothing to the "
        f"excess, and the base calls, from which the rest can come, are shared."
    )


def rewording(condition: str) -> str:
    """Name a condition and what it changes.

    Examples
    --------
    >>> rewording("T4"), rewording("mine")
    ('T4 (exceptions in front)', 'mine')
    """
    name = CONDITIONS.get(condition, "")
    return f"{condition} ({name})" if name else condition
