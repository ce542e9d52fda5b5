"""The placebo: the base prompt filed as if it were a transform. Its effect must be 0."""

from __future__ import annotations

from typing import Literal

from judgeaudit.core.table import Counts
from judgeaudit.metrics._registry import METRICS, Report
from judgeaudit.metrics._view import View
from judgeaudit.metrics._words import plain
from judgeaudit.stats._types import Undefined
from judgeaudit.stats.exact import ExactTest, no_effect

__all__ = ["SIZE", "check", "placebo"]

SIZE = 0.01
"""Chance that the check suspects a clean run."""


def check(base: Counts, filed: Counts) -> ExactTest | Undefined:
    """Test, on both sides, that the placebo's verdicts are those of base.

    Too large a distance shows drift; too small a one shows a cache that answered repeats.

    Parameters
    ----------
    base, filed : Counts
        Outcome counts per item under base and under the placebo, arrays of shape (n_items,).

    Returns
    -------
    ExactTest or Undefined
        On the debiased excess flip rate, else on the paper's, else on the signed shift.
    """
    result: ExactTest | Undefined = Undefined("no item has verdicts under both")
    statistics: tuple[Literal["delta_debiased", "delta_paper", "shift"], ...] = (
        "delta_debiased",
        "delta_paper",
        "shift",
    )
    for statistic in statistics:
        result = no_effect(base, filed, statistic=statistic, side="two")
        if isinstance(result, ExactTest):
            break
    return result


@METRICS.register("placebo")
def placebo(view: View) -> Report:
    """Flag whether the run is clean, by its placebo."""
    named = [c.id for c in view.conditions if c.kind == "placebo"]
    if not named or not view.called(view.base):
        return _flag("not run", "No placebo was called: drift and caches are not checked for.")
    worst: ExactTest | None = None
    for condition in named:
        found = check(view.counts(view.base), view.counts(condition))
        if isinstance(found, ExactTest) and (worst is None or found.p_value < worst.p_value):
            worst = found
    if worst is None:
        return _flag("not run", f"{named[0]} has no verdicts to check for drift and caches.")
    # several placebos: Bonferroni keeps the size of the whole check
    p = min(1.0, worst.p_value * len(named))
    if p <= SIZE:
        return _flag(
            "suspect",
            f"The placebo, an identical prompt, differs from base by more than chance allows "
            f"(two-sided p {plain(p)}): the model drifted, calls were not interleaved, or a cache "
            f"answered.",
        )
    return _flag(
        "clean",
        f"The placebo, an identical prompt, shows no effect (two-sided p {plain(p)}: neither the "
        f"excess of flips that drift makes, nor the lack of them that a cache makes).",
    )


def _flag(state: str, reason: str) -> Report:
    return Report(flags={"placebo": state}, reasons={"placebo": reason})
