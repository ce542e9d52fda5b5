"""What an earlier session found: a result is never replaced by one that says less."""

from __future__ import annotations

from pathlib import Path

from judgeaudit.cards.localised import read_localised
from judgeaudit.core.records.localised import Localised

__all__ = ["fuller", "kept_for"]


def kept_for(
    folder: Path, plan_sha256: str, conditions: frozenset[str], calls: int
) -> Localised | None:
    """Return what stands in a run's folder, where a larger budget found it already.

    Parameters
    ----------
    folder : Path
        Of the run.
    plan_sha256 : str
        Identity of the run's plan.
    conditions : frozenset of str
        That are traced.
    calls : int
        Calls at most, now.

    Raises
    ------
    CardError
        If the file is no such record.
    """
    old = read_localised(folder)
    if old is None or old.plan_sha256 != plan_sha256 or old.calls_most <= calls:
        return None
    return old if _conditions(old) == conditions else None


def fuller(folder: Path, new: Localised) -> Localised | None:
    """Return what stands in a run's folder, where it says more about the run than a new result.

    Raises
    ------
    CardError
        If the file is no such record.
    """
    old = read_localised(folder)
    if old is None or old.plan_sha256 != new.plan_sha256:
        return None
    if _conditions(old) == _conditions(new):
        return old if _ended(old) > _ended(new) else None
    # of another rewrite: only one that reached nothing is kept back
    return old if _ended(old) and not _ended(new) else None


def _conditions(found: Localised) -> frozenset[str]:
    return frozenset(s.condition for s in found.sections)


def _ended(found: Localised) -> int:
    """Count the flips whose search was not cut off by the budget."""
    return sum(i.status != "budget" for i in found.items)
