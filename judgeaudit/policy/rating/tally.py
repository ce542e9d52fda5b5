"""From votes to certificates: who counts, and what they certify."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from judgeaudit.core.errors import PolicyError
from judgeaudit.core.records import Certificate, Dimension, Finding
from judgeaudit.policy.rating.records import (
    DIMENSIONS,
    Choice,
    RatedPair,
    Sheet,
    Vote,
    same_rater,
)

__all__ = ["LEAST_RATERS", "Decision", "PairDecision", "Rule", "decide"]

LEAST_RATERS: Final = 3
"""Raters who must have voted on all six dimensions of a pair."""

Rule = Literal["unanimous", "majority"]
"""How many of the raters must say `yes` on each dimension: all, or more than half."""


@dataclass(frozen=True, slots=True)
class PairDecision:
    """What became of one rewrite.

    Parameters
    ----------
    raters : tuple of str
        Who voted on all six dimensions and counts.
    votes : dict
        By dimension, how many said what.
    certificate : Certificate, optional
        None where too few raters count.
    """

    pair: RatedPair
    raters: tuple[str, ...]
    votes: dict[Dimension, Counter[Choice]]
    certificate: Certificate | None


@dataclass(frozen=True, slots=True)
class Decision:
    """What a set of votes comes to.

    Parameters
    ----------
    pairs : tuple of PairDecision
        The real rewrites, in the order of the sheet.
    raters : tuple of str
        All who voted, in the order in which they came.
    failed : dict of str to tuple of str
        By rater, the planted wrong rewrites in which no `no` was said.
    checked : dict of str to int
        By rater, the planted ones that were voted on in full.
    left_out : tuple of str
        Raters whose votes do not count, for they failed more checks than allowed, or were not
        checked at all.
    """

    pairs: tuple[PairDecision, ...]
    raters: tuple[str, ...]
    failed: dict[str, tuple[str, ...]]
    checked: dict[str, int]
    left_out: tuple[str, ...]

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """All certificates, passed or not."""
        return tuple(p.certificate for p in self.pairs if p.certificate is not None)


Ballots = dict[str, dict[str, dict[Dimension, Choice]]]


def decide(
    sheet: Sheet, votes: Sequence[Vote], *, rule: Rule = "unanimous", allow_failed: int = 0
) -> Decision:
    """Decide what votes certify.

    Parameters
    ----------
    sheet : Sheet
        What was rated.
    votes : sequence of Vote
        As read by `read_votes`.
    rule : {"unanimous", "majority"}
        How many raters must say `yes` on each dimension. `unsure` is not `yes`.
    allow_failed : int
        Attention checks that a rater may fail and still count. A check is failed if a rater
        said `no` on none of the six dimensions of a wrong rewrite.

    Raises
    ------
    PolicyError
        If a vote is not on the texts of the sheet, or one rater voted twice.
    """
    ballots, names = _ballots(sheet, votes)
    planted = [p for p in sheet.pairs if p.planted is not None]
    failed: dict[str, tuple[str, ...]] = {}
    checked: dict[str, int] = {}
    for key, name in names.items():
        full = [p for p in planted if len(ballots[key].get(p.id, {})) == len(DIMENSIONS)]
        checked[name] = len(full)
        failed[name] = tuple(p.id for p in full if "no" not in ballots[key][p.id].values())
    left_out = tuple(n for n in names.values() if len(failed[n]) > allow_failed or not checked[n])
    counting = {key: name for key, name in names.items() if name not in left_out}
    return Decision(
        pairs=tuple(_pair(p, ballots, counting, rule) for p in sheet.pairs if p.planted is None),
        raters=tuple(names.values()),
        failed=failed,
        checked=checked,
        left_out=left_out,
    )


def _ballots(sheet: Sheet, votes: Sequence[Vote]) -> tuple[Ballots, dict[str, str]]:
    pairs = {p.id: p for p in sheet.pairs}
    ballots: Ballots = {}
    names: dict[str, str] = {}
    for v in votes:
        pair = pairs.get(v.pair)
        if pair is None or (v.original_sha256, v.rewrite_sha256) != (
            pair.original_sha256,
            pair.rewrite_sha256,
        ):
            raise PolicyError(f"a vote of {v.rater!r} is not on a pair of sheet {sheet.name}")
        key = same_rater(v.rater)
        names.setdefault(key, v.rater)
        said = ballots.setdefault(key, {}).setdefault(v.pair, {})
        if v.dimension in said:
            raise PolicyError(f"{v.rater!r} voted twice on {v.dimension} of pair {v.pair}")
        said[v.dimension] = v.vote
    return ballots, names


def _pair(pair: RatedPair, ballots: Ballots, counting: dict[str, str], rule: Rule) -> PairDecision:
    full = {
        name: said
        for key, name in counting.items()
        if len(said := ballots[key].get(pair.id, {})) == len(DIMENSIONS)
    }
    votes = {d: Counter(said[d] for said in full.values()) for d in DIMENSIONS}
    if len(full) < LEAST_RATERS:
        return PairDecision(pair, tuple(full), votes, None)
    n = len(full)
    findings = tuple(
        Finding(
            dimension=d,
            where=f"pair {pair.id}",
            what=f"kept by {votes[d]['yes']} of {n} raters "
            f"({votes[d]['no']} no, {votes[d]['unsure']} unsure)",
        )
        for d in DIMENSIONS
        if not (votes[d]["yes"] == n if rule == "unanimous" else 2 * votes[d]["yes"] > n)
    )
    certificate = Certificate(
        rendering_sha256=pair.rewrite_sha256,
        base_sha256=pair.original_sha256,
        evidence="human",
        passed=not findings,
        findings=findings,
        note=f"{n} raters, {rule} on each of six dimensions",
    )
    return PairDecision(pair, tuple(full), votes, certificate)
