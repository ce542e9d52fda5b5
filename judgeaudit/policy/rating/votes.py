"""Read votes, and refuse by line whatever does not belong to the sheet."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, get_args

from pydantic import ValidationError

from judgeaudit.core.errors import PolicyError, unknown_name
from judgeaudit.core.hashing import sha256_text
from judgeaudit.core.records import Dimension
from judgeaudit.policy.rating.records import CHOICES, RatedPair, Sheet, Vote, same_rater
from judgeaudit.policy.rating.tables import read_rows

__all__ = ["read_votes"]

_SHOWN: Final = 10


def read_votes(sheet: Sheet, paths: Iterable[Path]) -> tuple[Vote, ...]:
    """Read files of votes on a sheet.

    A row with an empty vote is an open question and is left out. A row without a rater takes the
    one name that its file holds.

    Raises
    ------
    PolicyError
        If any row does not match the sheet: another sheet, an unknown pair, a changed text, an
        unknown dimension or vote, the same vote twice, a rater in two files, a rater without a
        name. All such rows are named, by file and line; no vote of any file is taken.
    """
    votes: list[Vote] = []
    faults: list[str] = []
    voted_in: dict[str, Path] = {}
    for path in paths:
        taken, found = _file(sheet, path)
        for name in dict.fromkeys(v.rater for v in taken):
            key = same_rater(name)
            if key in voted_in:
                faults.append(
                    f"{path}: rater {name!r} has voted already, in {voted_in[key]}: keep one file"
                )
            voted_in[key] = path
        votes += taken
        faults += found
    if faults:
        more = f"\n  and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        lines = "\n  ".join(faults[:_SHOWN])
        raise PolicyError(
            f"{len(faults)} of the votes do not match the sheet; none was taken:\n  {lines}{more}"
        )
    return tuple(votes)


def _file(sheet: Sheet, path: Path) -> tuple[list[Vote], list[str]]:
    pairs = {p.id: p for p in sheet.pairs}
    rows = list(read_rows(path))
    names = {row["rater"].strip() for _, row in rows} - {""}
    only = names.pop() if len(names) == 1 else ""
    votes: list[Vote] = []
    faults: list[str] = []
    first: dict[tuple[str, str, str], int] = {}
    for line, row in rows:
        fault = _mismatch(sheet, pairs, row)
        said = row["vote"].strip().lower()
        if fault is None and said:
            vote, fault = _vote(row, only, said)
            if vote is not None:
                key = (same_rater(vote.rater), vote.pair, vote.dimension)
                if key in first:
                    fault = (
                        f"{vote.rater!r} voted twice on {vote.dimension} of pair {vote.pair} "
                        f"(first on line {first[key]})"
                    )
                first.setdefault(key, line)
                votes.append(vote)
        if fault is not None:
            faults.append(f"{path}, line {line}: {fault}")
    return votes, faults


def _mismatch(sheet: Sheet, pairs: dict[str, RatedPair], row: dict[str, str]) -> str | None:
    """Say in what a row does not belong to the sheet."""
    if row["sheet"].strip() != sheet.name:
        return f"it is a vote on sheet {row['sheet'].strip()!r}, not on {sheet.name}"
    pair = pairs.get(row["pair"].strip())
    if pair is None:
        return f"there is no pair {row['pair'].strip()!r} on the sheet"
    for what in ("original", "rewrite"):
        if row[f"{what}_sha256"].strip().lower() != getattr(pair, f"{what}_sha256"):
            return (
                f"the {what} of pair {pair.id} was rated with another text than the sheet's "
                "(its sha256 differs)"
            )
        shown = row.get(what, "")
        # spreadsheets change line ends; nothing else may change
        if shown and sha256_text(_lines(shown)) != sha256_text(_lines(getattr(pair, what))):
            return f"the {what} of pair {pair.id} was changed in the table"
    if row["dimension"].strip() not in get_args(Dimension):
        return unknown_name("dimension", row["dimension"].strip(), list(get_args(Dimension)))
    return None


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").rstrip()


def _vote(row: dict[str, str], only: str, said: str) -> tuple[Vote | None, str | None]:
    name = row["rater"].strip() or only
    if not name:
        return None, "there is no rater"
    if said not in CHOICES:
        return None, f"{said!r} is not a vote; a vote is one of {', '.join(CHOICES)}"
    try:
        return (
            Vote.model_validate(
                {
                    "rater": name,
                    "pair": row["pair"].strip(),
                    "original_sha256": row["original_sha256"].strip().lower(),
                    "rewrite_sha256": row["rewrite_sha256"].strip().lower(),
                    "dimension": row["dimension"].strip(),
                    "vote": said,
                }
            ),
            None,
        )
    except ValidationError as e:
        error = e.errors(include_url=False)[0]
        return None, f"{name!r}: {error['ctx']['error'] if 'ctx' in error else error['msg']}"
