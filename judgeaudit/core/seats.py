"""The choices of several audits at once: what holds for all judges, and what for one alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from judgeaudit.core.choosing import Spell, spec_from
from judgeaudit.core.command import folder_of_choices
from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import AuditSpec

__all__ = ["Seat", "seats_of"]

_LONGEST: Final = 60


@dataclass(frozen=True, slots=True)
class Seat:
    """One judge of a panel.

    Parameters
    ----------
    spec : AuditSpec
        The choices of its audit, `out` included.
    own : frozenset of str
        Choices that were made for this judge alone: its limits and its budget are then its own.
    """

    spec: AuditSpec
    own: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """What the judge is called in messages; with its address, where that tells it apart."""
        placed = "api_base" in self.own
        return f"{self.spec.judge} at {self.spec.api_base}" if placed else self.spec.judge


def seats_of(
    judges: Sequence[str | Mapping[str, Any]],
    choices: Mapping[str, Any],
    spell: Spell = "{}=".format,
) -> tuple[Seat, ...]:
    """Give each judge the choices that hold for all, and its own.

    Parameters
    ----------
    judges : sequence of str or mapping
        Names; or tables of choices, which win over those of all.
    choices : mapping
        Keys of `AuditSpec`, for all. `out` is then a folder of folders, one a judge.
    spell : callable
        How a key is spelt in messages.

    Raises
    ------
    ConfigError
        No judge, one that is there twice, or a choice that cannot be.
    """
    tables = [{"judge": j} if isinstance(j, str) else dict(j) for j in judges]
    if not tables:
        raise ConfigError("no judge is named", mend="Name one or more")
    out = choices.get("out")
    seats = []
    for table in tables:
        if "judge" not in table:
            raise ConfigError("a judge of several has no name", mend="Give it a key 'judge'")
        spec = spec_from({**choices, **table}, spell)
        seats.append(Seat(spec, frozenset(table) - {"judge", "out"}))
    if out is not None:
        seats = [
            seat if "out" in table else _below(Path(out), seat, seats)
            for seat, table in zip(seats, tables, strict=True)
        ]
    folders = [str(s.spec.out or folder_of_choices(s.spec)) for s in seats]
    for seat, folder in zip(seats, folders, strict=True):
        if folders.count(folder) > 1:
            raise ConfigError(
                f"the judge {seat.spec.judge!r} is there twice, with the same choices",
                mend="Name it once, or give one of them an 'out' of its own",
            )
    return tuple(seats)


def _below(out: Path, seat: Seat, seats: Sequence[Seat]) -> Seat:
    slug = _slug(seat.spec.judge)
    # by its choices, not by its place: the same command finds it again in any order
    if [_slug(s.spec.judge) for s in seats].count(slug) > 1:
        slug += f"-{folder_of_choices(seat.spec).name[-8:]}"
    return Seat(seat.spec.model_copy(update={"out": out / slug}), seat.own)


def _slug(judge: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", judge).strip("-.")[:_LONGEST] or "judge"
