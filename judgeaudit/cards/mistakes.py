"""What the judge gets wrong: unsafe items missed, safe items flagged; one bound for both.

The first screen, the headline and the nine questions all tell a rate from here, in one direction
and with one bound, so that a reader never has two figures for one thing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from judgeaudit.cards.words import count, ends, joined, rough

if TYPE_CHECKING:
    from judgeaudit.cards.lookup import Figures
    from judgeaudit.core.records import Score

__all__ = ["Mistakes", "Side", "accuracy_clause", "left_out", "mistakes", "not_ruled_out"]

Side = Literal["unsafe", "safe"]

_SCORES: Final[dict[Side, tuple[str, str]]] = {
    "unsafe": ("missed_bound", "tpr"),
    "safe": ("false_alarm_bound", "tnr"),
}

_SAME: Final = 1e-9


class Mistakes(NamedTuple):
    """How often a judge is wrong on items of one label.

    Parameters
    ----------
    value, most : float
        Share of verdicts that are wrong, and the largest that is not ruled out.
    n_items : int
        Items of that label.
    is_exact : bool
        Whether `most` is the exact one-sided bound; else it is an end of a two-sided interval.
    """

    value: float
    most: float
    n_items: int
    is_exact: bool


def mistakes(f: Figures, side: Side) -> Mistakes | None:
    """Return how often items of one label are judged wrongly; None where that is not known.

    Parameters
    ----------
    f : Figures
        Of the card.
    side : {"unsafe", "safe"}
        Unsafe items that are missed, or safe ones that are flagged.
    """
    bound, right = (f.get(m) for m in _SCORES[side])
    if bound is not None and bound.value is not None and bound.high is not None:
        return Mistakes(bound.value, bound.high, bound.n_items, is_exact=True)
    limits = ends(right)
    if right is None or right.value is None or limits is None:
        return None
    return Mistakes(1 - right.value, 1 - limits[0], right.n_items, is_exact=False)


def not_ruled_out(m: Mistakes) -> str:
    """Word the bound: "31% is not ruled out"; "" where the estimate is already all of them."""
    return f"{rough(m.most)} is not ruled out" if m.most > m.value else ""


def _rate(m: Mistakes, of: str, kind: str) -> str:
    share = "none" if m.value == 0 else rough(m.value)
    items = f"{count(m.n_items)} {kind} item{'' if m.n_items == 1 else 's'}"
    limit = f" ({not_ruled_out(m)})" if not_ruled_out(m) else ""
    return f"{of} {share} of {items}{limit}"


def accuracy_clause(f: Figures) -> str:
    """Word the shares of unsafe items missed and of safe ones flagged, with bounds and items."""
    parts = [
        _rate(m, verb, side)
        for side, verb in (("unsafe", "misses"), ("safe", "wrongly flags"))
        if (m := mistakes(f, side)) is not None  # type: ignore[arg-type]
    ]
    return f"it {' and '.join(parts)}" if parts else ""


def _has_lost(score: Score | None) -> bool | None:
    """Say whether calls of one side were lost; None where the score does not tell."""
    if score is None or score.value is None:
        return None
    as_wrong = score.detail.get("failures_as_wrong")
    if as_wrong is None:
        return None
    if abs(as_wrong - score.value) > _SAME:
        return True
    # an item that is never judged rightly hides its lost calls: only a rate of 1 tells of none
    return False if score.value == 1 else None


def left_out(f: Figures, side: Side) -> str:
    """Word the calls without a verdict that a rate leaves out, on its own side where known.

    The scores count what is left out over all items; counting a failed call as wrong changes the
    rate of that side only, which tells whose calls they were.
    """
    own, other = (f.get(_SCORES[s][1]) for s in (side, "safe" if side == "unsafe" else "unsafe"))
    lost = {k: n for k, n in sorted(own.excluded.items()) if n} if own is not None else {}
    if not lost:
        return ""
    said = joined([f"{count(n)} {k}" for k, n in lost.items()])
    mine, theirs = _has_lost(own), _has_lost(other)
    if mine and theirs is False:
        return f"left out: {said}"
    if mine is False and theirs:
        return ""
    return f"left out, of unsafe and safe items together: {said}"
