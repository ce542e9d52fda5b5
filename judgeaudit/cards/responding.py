"""How verdicts answered each change of the policy, each in its own unit."""

from __future__ import annotations

from typing import Final

from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.words import count, distance, ends, joined
from judgeaudit.core.records import Score

__all__ = ["is_sure", "responses"]

_FEW: Final = 30
_ENOUGH: Final = 10
_CHANGES: Final = (
    ("responsiveness_threshold", "from strict to lenient"),
    ("responsiveness_no_policy", "when the policy is deleted"),
    ("responsiveness_inverted", "when it is negated"),
)
_SAID: Final = {
    "moves": "Verdicts move {}.",
    "does not move": "Verdicts do not move {}.",
    "not shown": "Not settled: {}.",
}


def _is_fall(score: Score) -> bool:
    """Say whether it is a fall of the UNSAFE rate; else it counts verdicts that change."""
    return score.metric == "responsiveness_threshold" or score.unit.startswith("difference")


def _moved(score: Score, *, again: bool) -> str:
    """Word a movement with its unit, its interval, and its items where they are few.

    The unit is spelt out once, for two of the three share it.
    """
    assert score.value is not None
    value, limits = score.value, ends(score)
    rises = _is_fall(score) and value < 0
    if rises:
        value, limits = -value, (-limits[1], -limits[0]) if limits else None
    span = f" [{distance(limits[0])}, {distance(limits[1])}]" if limits else ""
    few = f"; {count(score.n_items)} items" if 0 < score.n_items < _FEW else ""
    if _is_fall(score):
        way = "rises" if rises else "falls"
        return f"UNSAFE rate {way} by {distance(value)} points{span}{few}"
    than = "" if again else " verdicts in 100 change than asking twice does"
    return f"{distance(value)}{span} more{than or ' in 100'}{few}"


def responses(f: Figures) -> str:
    """Word how verdicts answered each change of the policy; "" where that is not known."""
    if f.constant and f.withheld:
        n, items = count(f.outcomes()["verdict"]), count(f.facts.corpus.n_items)
        return (
            f"It gave the same answer in all {n} verdicts; {items} items cannot exclude another on "
            f"others."
        )
    again = False
    by_state: dict[str, list[str]] = {k: [] for k in _SAID}
    for metric, words in _CHANGES:
        score = f.get(metric)
        if score is not None and score.value is not None and score.note in by_state:
            by_state[score.note].append(f"{words} ({_moved(score, again=again)})")
            again = again or not _is_fall(score)
    return " ".join(_SAID[k].format(joined(v)) for k, v in by_state.items() if v)


def is_sure(f: Figures) -> bool:
    """Say whether some movement rests on more than a handful of items, or lies clear of none.

    The exact test that shows it holds on few items too, but a reader of five items with an
    interval from below 0 to above 100 should not be told that the judge reads the policy.
    """
    moving = [s for m, _ in _CHANGES if (s := f.get(m)) is not None and s.note == "moves"]
    if not moving:
        return True
    return any(s.n_items >= _ENOUGH or (s.low or 0.0) > f.threshold for s in moving)
