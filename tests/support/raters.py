"""Raters of a sheet: careful ones, and ones that do not read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from judgeaudit.policy.rating import DIMENSIONS, RatedPair, Sheet, Vote
from judgeaudit.policy.rating.tables import vote_table

Says = Callable[[RatedPair, str], str]


def careful(pair: RatedPair, dimension: str) -> str:
    """Say no to what a planted rewrite moves, and yes to all else."""
    return "no" if pair.planted is not None and dimension == (pair.expected or "scope") else "yes"


def careless(pair: RatedPair, dimension: str) -> str:
    """Say yes to everything."""
    return "yes"


def votes_of(sheet: Sheet, rater: str, says: Says = careful) -> list[Vote]:
    return [
        Vote(
            rater=rater,
            pair=p.id,
            original_sha256=p.original_sha256,
            rewrite_sha256=p.rewrite_sha256,
            dimension=d,
            vote=says(p, d),
        )
        for p in sheet.pairs
        for d in DIMENSIONS
    ]


def vote_file(folder: Path, sheet: Sheet, rater: str, says: Says = careful) -> Path:
    path = folder / f"votes-{rater}.csv"
    path.write_bytes(vote_table(sheet, votes_of(sheet, rater, says)).encode())
    return path
