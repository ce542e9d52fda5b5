"""Hold a card against the one that its ledger gives."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from judgeaudit.cards.differences import ABSENT, Difference, differences, is_words
from judgeaudit.cards.jsonio import read, to_json
from judgeaudit.cards.migrations import Migrated
from judgeaudit.cards.model import SCHEMA_VERSION, CardParameters, JudgeCard
from judgeaudit.core.errors import CardError

if TYPE_CHECKING:
    from judgeaudit.engine.view import LedgerView

__all__ = ["MOST_BYTES", "Given", "Verified", "given", "opened", "text_of", "verified"]

MOST_BYTES: Final = 64 * 2**20
"""Largest card file that is read."""

_UNCOUNTED: Final = frozenset({"software.name", "software.version"})
_MADE_WITH: Final = "parameters."


@dataclass(frozen=True, slots=True)
class Given:
    """A card that was given, and the layout in which it was written."""

    card: JudgeCard
    migrated: Migrated


@dataclass(frozen=True, slots=True)
class Verified:
    """What came of holding a card against its ledger.

    Parameters
    ----------
    differences : tuple of Difference
        Each field that differs; empty for a card that is what its ledger gives.
    faults : tuple of str
        What is wrong with the ledger itself; the card cannot be trusted further than it.
    uncompared : tuple of Difference
        What differs and does not count: fields that the card's layout did not have, and words
        where only figures were asked for.
    notes : tuple of str
        What a reader must know of this comparison.
    """

    differences: tuple[Difference, ...]
    faults: tuple[str, ...] = ()
    uncompared: tuple[Difference, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Whether nothing differs and the ledger is whole."""
        return not self.differences and not self.faults


def text_of(path: Path | str) -> str:
    """Read the text of a card's file.

    Raises
    ------
    CardError
        If there is none, it is no UTF-8, or it is too large for a card.
    """
    where = str(path)
    try:
        if Path(path).stat().st_size > MOST_BYTES:
            raise CardError(f"larger than {MOST_BYTES:,} bytes: not a card", where=where)
        return Path(path).read_bytes().decode("utf-8")
    except OSError as e:
        raise CardError(
            f"the card cannot be read: {e.strerror or e}",
            where=where,
            mend="Give the card.json of a run",
        ) from e
    except UnicodeDecodeError as e:
        raise CardError("not UTF-8", where=where, mend="Give a card.json made by judgeaudit") from e


def opened(path: Path | str) -> Given:
    """Read a card from its file; see `from_json`."""
    return Given(*read(text_of(path), where=str(path)))


def given(card: JudgeCard | Path | str) -> Given:
    """Take a card, or read it from its file."""
    if isinstance(card, JudgeCard):
        return Given(card, Migrated(json.loads(to_json(card))))
    return opened(card)


def _is_new(held: Given, found: Difference) -> bool:
    """Say whether a field did not exist yet when the card was written."""
    for step in held.migrated.steps:
        for path in step.added:
            if found.path == path or found.path.startswith(f"{path}."):
                return True
        if found.old is not ABSENT:
            continue
        if found.path.startswith("scores.scores[") and found.new["metric"] not in step.metrics:
            return True
        if found.path.removeprefix("warnings[").removesuffix("]") in step.warnings:
            return True
        for table in ("scores.flags.", "scores.reasons."):
            if found.path.startswith(table) and found.path[len(table) :] not in step.flags:
                return True
    return False


def _not_given(mine: CardParameters, theirs: CardParameters) -> list[str]:
    """Name the files that the card was made with and that were not given now."""
    here = {c.sha256 for c in theirs.certificates}
    out = [c for c in mine.certificates if c.sha256 not in here] if not here else []
    pairs = ((mine.labels, theirs.labels), (mine.statements, theirs.statements))
    out += [one for one, other in pairs if one is not None and other is None]
    return [f"{f.name} (sha256 {f.sha256[:12]})" for f in out]


def verified(
    held: Given, rebuilt: JudgeCard, view: LedgerView, *, figures: bool = False
) -> Verified:
    """Hold a card against the one that its ledger gives.

    Parameters
    ----------
    held : Given
        The card.
    rebuilt : JudgeCard
        Made from the ledger now, with the card's own time.
    view : LedgerView
        The ledger; its chain is checked too.
    figures : bool
        Compare only numbers and facts.
    """
    from judgeaudit.engine.verify import faults

    old: Any = json.loads(to_json(held.card))
    new: Any = json.loads(to_json(rebuilt))
    absent = _not_given(held.card.parameters, rebuilt.parameters)
    counted: list[Difference] = []
    uncounted: list[Difference] = []
    for found in differences(old, new):
        if found.path in _UNCOUNTED:
            continue
        apart = (
            _is_new(held, found)
            or (figures and is_words(found.path))
            or (bool(absent) and found.path.startswith(_MADE_WITH))
        )
        (uncounted if apart else counted).append(found)
    notes = list(_notes(held, rebuilt, absent, differs=bool(counted)))
    return Verified(tuple(counted), tuple(faults(view)), tuple(uncounted), tuple(notes))


def _notes(held: Given, rebuilt: JudgeCard, absent: list[str], *, differs: bool) -> list[str]:
    card, said = held.card, []
    said.append(f"The card's time, {card.created}, is taken from the card: no ledger can tell it.")
    if held.migrated.steps:
        said.append(
            f"The card is of schema version {held.migrated.version}; it was brought to "
            f"{SCHEMA_VERSION}, and compared on what it has."
        )
    mine, theirs = card.software, rebuilt.software
    if mine != theirs:
        what = f"The card was made by {mine.name} {mine.version}, and rebuilt by {theirs.version}"
        hint = "; its words may differ for that (--figures leaves them out)" if differs else ""
        said.append(f"{what}{hint}.")
    if absent:
        said.append(f"The card was made with {', '.join(absent)}, which was not given now.")
    if card.facts.ledger_sha256 == rebuilt.facts.ledger_sha256 and (
        card.facts.ledger_head not in ("", rebuilt.facts.ledger_head)
    ):
        said.append(
            "The ledger holds the same answers under another chain: it was written anew "
            "(merged or salvaged), or went on without another answer."
        )
    return said
