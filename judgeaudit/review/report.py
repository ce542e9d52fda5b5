"""What raters' votes come to: first-pass rate, agreement, and who failed the attention checks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.records import Dimension
from judgeaudit.policy.rating import DIMENSIONS, Decision, RatedPair, Sheet, Vote
from judgeaudit.policy.rating.records import CHOICES, QUESTIONS, same_rater
from judgeaudit.policy.rating.tally import LEAST_RATERS
from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.agreement import MISSING, Agreement, gwet_ac1, krippendorff_alpha
from judgeaudit.stats.intervals import wilson

__all__ = ["DimensionAgreement", "RatingReport", "rating_report", "words"]


@dataclass(frozen=True, slots=True)
class DimensionAgreement:
    """Agreement of the raters on one dimension.

    Parameters
    ----------
    votes : tuple of int
        Votes of yes, no and unsure on the real rewrites.
    alpha, ac1 : Agreement or Undefined
        Over the real rewrites alone. Good rewrites have nearly one answer: alpha is then low or
        undefined, however well raters agree.
    alpha_all, ac1_all : Agreement or Undefined
        Over all pairs, the planted wrong ones included.
    """

    dimension: Dimension
    votes: tuple[int, int, int]
    alpha: Agreement | Undefined
    ac1: Agreement | Undefined
    alpha_all: Agreement | Undefined
    ac1_all: Agreement | Undefined


@dataclass(frozen=True, slots=True)
class RatingReport:
    """What a set of votes comes to.

    Parameters
    ----------
    passed, certified : int
        Rewrites that passed, of those with enough raters: the first-pass rate.
    interval : Interval or Undefined
        Of that rate.
    open_pairs : int
        Rewrites without enough raters.
    """

    sheet: Sheet
    decision: Decision
    passed: int
    certified: int
    interval: Interval | Undefined
    open_pairs: int
    dimensions: tuple[DimensionAgreement, ...]


def _array(
    pairs: list[RatedPair], raters: list[str], votes: dict[tuple[str, str, str], int], d: Dimension
) -> NDArray[np.int64]:
    rows = [[votes.get((r, p.id, d), MISSING) for r in raters] for p in pairs]
    return np.array(rows, dtype=np.int64).reshape(len(pairs), len(raters))


def rating_report(
    sheet: Sheet, votes: tuple[Vote, ...], decision: Decision, *, level: float = 0.95
) -> RatingReport:
    """Report on votes; agreement is that of the raters whose votes count.

    Parameters
    ----------
    sheet, votes, decision
        As given to and returned by `decide`.
    level : float
        Of the interval of the first-pass rate.
    """
    counting = [same_rater(r) for r in decision.raters if r not in decision.left_out]
    coded = {(same_rater(v.rater), v.pair, str(v.dimension)): CHOICES.index(v.vote) for v in votes}
    real = [p for p in sheet.pairs if p.planted is None]
    found = []
    for d in DIMENSIONS:
        some, every = (_array(list(ps), counting, coded, d) for ps in (real, sheet.pairs))
        found.append(
            DimensionAgreement(
                dimension=d,
                votes=(int((some == 0).sum()), int((some == 1).sum()), int((some == 2).sum())),
                alpha=krippendorff_alpha(some, len(CHOICES)),
                ac1=gwet_ac1(some, len(CHOICES)),
                alpha_all=krippendorff_alpha(every, len(CHOICES)),
                ac1_all=gwet_ac1(every, len(CHOICES)),
            )
        )
    made = decision.certificates
    passed = sum(c.passed for c in made)
    return RatingReport(
        sheet=sheet,
        decision=decision,
        passed=passed,
        certified=len(made),
        interval=wilson(passed, len(made), level=level),
        open_pairs=len(decision.pairs) - len(made),
        dimensions=tuple(found),
    )


def _figure(a: Agreement | Undefined) -> str:
    return "–" if isinstance(a, Undefined) else f"{a.value:.2f}"


def words(report: RatingReport) -> str:
    """Lay the report out as plain text."""
    head = f"Sheet {report.sheet.name}, policy {report.sheet.policy_id}"
    parts = [[head], _raters(report), _rewrites(report), [_first_pass(report)], _agreement(report)]
    return "\n\n".join("\n".join(part) for part in parts)


def _raters(report: RatingReport) -> list[str]:
    decision = report.decision
    planted = {p.id: p.planted for p in report.sheet.pairs if p.planted is not None}
    lines = ["Raters and attention checks (wrong rewrites planted on purpose)"]
    for r in decision.raters:
        n, failed = decision.checked[r], decision.failed[r]
        said = f"passed {n} of {n}" if n else "no check answered in full"
        if failed:
            which = "; ".join(f"{i}: {planted[i]}" for i in failed)
            said = f"FAILED {len(failed)} of {n} ({which})"
        out = "; votes do not count" if r in decision.left_out else ""
        lines.append(f"  {r}: {said}{out}")
    return lines


def _rewrites(report: RatingReport) -> list[str]:
    lines = ["Rewrites"]
    for p in report.decision.pairs:
        label = f"  {p.pair.condition} wording {p.pair.wording}"
        if p.certificate is None:
            said = f"open, {len(p.raters)} of {LEAST_RATERS} raters voted on all dimensions"
            lines.append(f"{label}: {said}")
            continue
        verdict = "passed" if p.certificate.passed else "FAILED"
        lines.append(f"{label}: {verdict} ({p.certificate.note})")
        lines += [f"      {f.dimension}: {f.what}" for f in p.certificate.findings]
    return lines


def _first_pass(report: RatingReport) -> str:
    interval = report.interval
    if isinstance(interval, Undefined):
        return "First-pass rate: undefined, no rewrite has enough raters"
    rate = report.passed / report.certified
    return (
        f"First-pass rate: {report.passed} of {report.certified} = {rate:.2f} "
        f"[{interval.low:.2f}, {interval.high:.2f}] ({interval.method})"
    )


def _agreement(report: RatingReport) -> list[str]:
    lines = [
        "Agreement of the raters who count (no interval: the pairs are few and not a sample)",
        "                      votes on the rewrites     rewrites      with the planted",
        "                         yes   no unsure       alpha   AC1       alpha   AC1",
    ]
    for x in report.dimensions:
        yes, no, unsure = x.votes
        figures = [_figure(a) for a in (x.alpha, x.ac1, x.alpha_all, x.ac1_all)]
        a, b, c, d = (f"{f:>5}" for f in figures)
        title = QUESTIONS[x.dimension][0]
        lines.append(f"  {title:<22} {yes:>3}  {no:>3} {unsure:>6}       {a} {b}       {c} {d}")
    every = [a for x in report.dimensions for a in (x.alpha, x.alpha_all, x.ac1, x.ac1_all)]
    reasons = sorted({a.reason for a in every if isinstance(a, Undefined)})
    lines += ["  (alpha: Krippendorff, nominal; AC1: Gwet)"]
    return [*lines, *(f"  –: undefined, {reason}" for reason in reasons)]
