"""One account of a run's calls, and whether the wording decides if there is a verdict at all."""

from __future__ import annotations

from typing import Final, NamedTuple

from judgeaudit.cards.clean import shorten
from judgeaudit.cards.effects import rewording
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.words import count, joined, p_value, percent
from judgeaudit.stats.multiplicity import holm
from judgeaudit.stats.two_rates import fisher

__all__ = [
    "Failing",
    "account",
    "failing",
    "failing_words",
    "failure_kinds",
    "lost_words",
    "worst_failing",
]

_MOST_NAMED: Final = 4
_POOL: Final = "certified"
_TRANSPORT: Final = "error"


class Failing(NamedTuple):
    """Calls without a verdict under a rewording, beside those under the base text.

    Parameters
    ----------
    condition : str
        Its id; "certified" for the pooled rewordings.
    n, total : int
        Calls without a verdict, and all calls, under it.
    base_n, base_total : int
        The same under the base text.
    p : float
        Fisher's exact test of equal rates, two-sided, after Holm's correction.
    """

    condition: str
    n: int
    total: int
    base_n: int
    base_total: int
    p: float

    @property
    def more(self) -> float:
        """By how much a call is likelier to end without a verdict than under the base text."""
        return self.n / self.total - self.base_n / self.base_total


def failure_kinds(f: Figures) -> str:
    """Word how many calls failed in which way, the most frequent first."""
    kinds = [(k, n) for k, n in f.outcomes().most_common() if k != "verdict" and n]
    return joined([f"{count(n)} {k}" for k, n in kinds])


def _lost(f: Figures, conditions: list[str]) -> tuple[int, int]:
    found = f.outcomes(conditions)
    total = sum(found.values())
    return total - found["verdict"], total


def lost_words(f: Figures) -> str:
    """Word how many calls ended without a verdict, as written, reworded and elsewhere.

    Parameters
    ----------
    f : Figures
        Of a card of which some calls failed.
    """
    reworded = f.conditions("certified")
    others = [c for c in f.facts.outcomes if c not in {"base", *reworded}]
    shares = []
    for words, group in (("as written", ["base"]), ("reworded", reworded), ("of others", others)):
        n, total = _lost(f, group)
        if total:
            shares.append(f"{percent(n / total)} {words}")
    by_share: dict[float, list[str]] = {}
    for c in sorted(f.facts.outcomes):
        n, total = _lost(f, [c])
        by_share.setdefault(n / total if total else 0.0, []).append(shorten(c, 30))
    worst = joined(by_share[max(by_share)][:_MOST_NAMED])
    n, total = _lost(f, ["base"])
    base = f", of which {count(n)} of {count(total)} ended so" if total else ""
    return (
        f"{percent(f.failure_rate or 0.0)} of calls ended without a verdict ({count(f.n_failed)} "
        f"of {count(f.n_calls)}: {failure_kinds(f)}): {', '.join(shares)}; most under {worst}. "
        f"Figures are over the rest; accuracy is over calls as written only{base}."
    )


def account(f: Figures) -> str:
    """Word what became of the calls: planned, answered, with a verdict, without one by outcome.

    Parameters
    ----------
    f : Figures
        Of the card.
    """
    planned, verdicts = f.facts.n_planned, f.outcomes()["verdict"]
    said = f"{count(planned)} planned, {count(f.facts.n_answered)} answered: "
    said += f"{count(verdicts)} with a verdict, {count(f.n_failed)} without"
    return f"{said} ({failure_kinds(f)})" if f.n_failed else said


def _counts(f: Figures, conditions: list[str]) -> tuple[int, int]:
    """Count calls that the judge left without a verdict, and all; a broken line is no answer."""
    found = f.outcomes(conditions)
    total = sum(found.values())
    return total - found["verdict"] - found[_TRANSPORT], total


def failing(f: Figures) -> list[Failing]:
    """Test for each rewording, and for the pool, whether it changes how often there is a verdict.

    Null: no item's chance of a call without a verdict differs from that under the base text.
    Every item has the same number of calls on each side, so what differs between items makes the
    counts vary less than Fisher's test supposes: it errs to the side of silence. A run with
    missing calls is not tested, for it may lack the calls of some items only.

    Parameters
    ----------
    f : Figures
        Of the card.

    Returns
    -------
    list of Failing
        The pool first, then the conditions in their order; empty where nothing can be tested.
    """
    items = f.facts.corpus.n_items
    base_n, base_total = _counts(f, ["base"])
    if not items or not base_total or base_total % items or f.facts.n_answered < f.facts.n_planned:
        return []
    groups = {c: [c] for c in (*f.pooled, *f.conditions("near"))}
    if len(f.pooled) > 1:
        groups = {_POOL: f.pooled, **groups}
    seen = {name: _counts(f, members) for name, members in groups.items()}
    seen = {name: (n, total) for name, (n, total) in seen.items() if total and not total % items}
    p = holm({name: fisher(n, t, base_n, base_total) for name, (n, t) in seen.items()})
    return [Failing(c, n, t, base_n, base_total, p[c]) for c, (n, t) in seen.items()]


def worst_failing(f: Figures) -> Failing | None:
    """Return the finding that the wording decides whether there is a verdict; None without one.

    The pool speaks where it is shown, else the condition with the largest difference. A
    difference that is shown and lies within the practical threshold is no finding.
    """
    alpha = 1 - f.facts.protocol.level
    shown = [x for x in failing(f) if x.p <= alpha and abs(x.more) > f.threshold]
    pool = [x for x in shown if x.condition == _POOL]
    return next(iter(pool or sorted(shown, key=lambda x: -abs(x.more))), None)


def failing_words(f: Figures, found: Failing) -> str:
    """Word the comparison with its counts and its test."""
    many = found.condition == _POOL
    where = f"rewordings {joined(f.pooled)}" if many else f"rewording {rewording(found.condition)}"
    return (
        f"{count(found.n)} of {count(found.total)} calls end without a verdict under the {where}, "
        f"and {count(found.base_n)} of {count(found.base_total)} under the text as written "
        f"(Fisher's exact test, {p_value(found.p)})"
    )
