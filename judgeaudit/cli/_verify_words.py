"""What `card verify` finds, and how it says it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from judgeaudit.core.terminal import plain

if TYPE_CHECKING:
    from judgeaudit.cards.differences import Difference
    from judgeaudit.cards.verify import Verified

__all__ = ["Checked", "checked"]

_MOST: Final = 200
_WIDTH: Final = 160


def _value(value: Any) -> str:
    from judgeaudit.cards.clean import shorten
    from judgeaudit.cards.differences import ABSENT

    if value is ABSENT:
        return "absent"
    return plain(shorten(json.dumps(value, ensure_ascii=False), _WIDTH))


def _lines(found: Sequence[Difference]) -> list[str]:
    lines = [
        f"  {plain(d.path, limit=_WIDTH)}: card {_value(d.old)}, ledger {_value(d.new)}"
        for d in found[:_MOST]
    ]
    return lines + ([f"  … and {len(found) - _MOST} more"] if len(found) > _MOST else [])


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of it: the rebuilding, the signature, either, or both."""

    card: Path
    rebuilt: Verified | None
    signed: str | None
    broken: str | None = None
    pages: tuple[str, ...] = ()
    pages_by: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing that was checked failed."""
        same = self.rebuilt is None or self.rebuilt.same
        return self.broken is None and same and (not self.pages or bool(self.pages_by))

    def _pages(self) -> list[str]:
        """Say which pages beside the card are not what it gives."""
        if not self.pages:
            return []
        what = f"{', '.join(plain(p) for p in self.pages)}: not what {plain(self.card.name)} gives"
        if self.pages_by:
            return [f"note: {what} now; it was made by {self.pages_by}, whose pages may differ"]
        return [f"pages: {what}; make them again with `judgeaudit card RUN --format all`"]

    def words(self) -> str:
        """Say it to a person."""
        lines = []
        if self.broken:
            lines.append(f"signature: DOES NOT HOLD: {plain(self.broken)}")
        elif self.signed:
            lines.append(f"signature: holds, by the key {self.signed}")
        if self.rebuilt is None:
            lines.append(
                "ledger: not at hand, so that no figure of the card was checked; give it with --run"
            )
            return "\n".join([*lines, *self._pages()])
        found = self.rebuilt
        lines += [f"ledger: {plain(fault, limit=500)}" for fault in found.faults]
        if found.differences:
            n = len(found.differences)
            lines.append(f"card: {n} field{'s differ' if n > 1 else ' differs'} from its ledger")
            lines += _lines(found.differences)
        else:
            lines.append("card: every field that was compared is what its ledger gives")
        if found.uncompared:
            lines.append(f"not counted: {len(found.uncompared)} more")
            lines += _lines(found.uncompared)
        lines += self._pages()
        return "\n".join([*lines, *(f"note: {plain(n, limit=500)}" for n in found.notes)])

    def as_json(self) -> dict[str, Any]:
        """Say it to a machine."""
        from judgeaudit.cards.differences import ABSENT

        def row(d: Difference) -> dict[str, Any]:
            pair = (("card", d.old), ("ledger", d.new))
            return {"path": d.path, **{k: v for k, v in pair if v is not ABSENT}}

        out: dict[str, Any] = {"good": self.good, "signed_by": self.signed}
        if self.broken:
            out["signature"] = self.broken
        out["stale_pages"] = list(self.pages)
        if self.rebuilt is not None:
            out |= {
                "differences": [row(d) for d in self.rebuilt.differences],
                "uncompared": [row(d) for d in self.rebuilt.uncompared],
                "ledger_faults": list(self.rebuilt.faults),
                "notes": list(self.rebuilt.notes),
            }
        return out


def checked(
    card: Path,
    run: Path | None,
    *,
    certificates: Sequence[Path],
    labels: Path | None,
    statements: Path | None,
    figures: bool,
    signature: Path | None,
    public_key: Path | None,
) -> Checked:
    """Check what can be checked; see `judgeaudit card verify`.

    Raises
    ------
    CardError, LedgerError
        If a file is missing or cannot be read, or there is neither ledger nor public key.
    """
    from judgeaudit import audit
    from judgeaudit._version import __version__
    from judgeaudit.cards import signing
    from judgeaudit.cards.beside import stale
    from judgeaudit.cards.verify import opened
    from judgeaudit.core.errors import CardError

    if card.is_dir():
        card = card / "card.json"
    held = opened(card)  # what is no card needs no ledger to be refused
    made_by = f"{held.card.software.name} {held.card.software.version}"
    old = bool(held.migrated.steps) or held.card.software.version != __version__
    pages = stale(card, held.card)
    by = made_by if old else ""
    signed = broken = None
    if public_key is not None:
        try:
            found = signing.check(card, signature or signing.signature_path(card), public_key)
            signed = found.key_id
        except signing.SignatureMismatchError as error:
            broken = str(error)
    beside = card.parent / audit.LEDGER
    if run is None and not beside.exists():
        if public_key is None:
            raise CardError(
                "the card's ledger is not at hand: it can be neither rebuilt nor compared",
                where=str(card),
                mend="Give the run with --run, or a signature's key with --public-key",
            )
        return Checked(card, None, signed, broken, pages, by)
    rebuilt = audit.verify(
        card,
        run or beside,
        certificates=certificates,
        labels=labels,
        statements=statements,
        figures=figures,
    )
    return Checked(card, rebuilt, signed, broken, pages, by)
