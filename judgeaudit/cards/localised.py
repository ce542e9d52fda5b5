"""What `judgeaudit localise` found, on the card: which edits of a rewrite flip verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from judgeaudit.cards.figures import count
from judgeaudit.cards.layout import Cell, Section, Table, raw, table
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.words import percent
from judgeaudit.core.errors import CardError
from judgeaudit.core.records.localised import Localised

__all__ = ["FILE", "KEY", "localised_section", "localised_told", "read_localised"]

KEY: Final = "localise"
"""Of the fact on the card."""

FILE: Final = "localise.json"
"""Beside the ledger of the run."""

_MOST: Final = 12


def read_localised(folder: Path) -> Localised | None:
    """Read what was localised in a run; None where nobody did.

    Raises
    ------
    CardError
        If the file is no such record.
    """
    path = folder / FILE
    try:
        return Localised.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise CardError(
            f"this is no record of judgeaudit localise ({str(error).partition(chr(10))[0]})",
            where=str(path),
            mend="Make it again with judgeaudit localise, or remove it",
        ) from error


def localised_told(folder: Path, plan_sha256: str) -> dict[str, Any] | None:
    """Return what a card tells of the record beside a ledger; None where there is none.

    Parameters
    ----------
    folder : Path
        Of the run.
    plan_sha256 : str
        Identity of the run's plan: the record of another run is none of this one.

    Raises
    ------
    CardError
        If the file is no such record.
    """
    found = read_localised(folder)
    if found is None or found.plan_sha256 != plan_sha256:
        return None
    shown = {"base_text", "rewrite_text", "edits", "summary"}
    return {
        "calls": found.calls,
        "calls_most": found.calls_most,
        "level": found.level,
        "interval_level": found.interval_level,
        "sections": [
            s.model_dump(mode="json", exclude=shown)
            | {"causes": [c.model_dump(mode="json") for c in s.causes[:_MOST]]}
            for s in found.sections
        ],
    }


def localised_section(f: Figures) -> Section | None:
    """Lay out which edits flip verdicts; None where nobody traced them."""
    told = f.facts.extra.get(KEY)
    if not isinstance(told, Mapping):
        return None
    tables = [_table(s) for s in told["sections"] if s["causes"]]
    notes = [_note(s) for s in told["sections"]]
    return Section(
        id="words",
        title="Which words flip verdicts",
        lead="Flips were asked again and traced to the smallest edits behind them; every text that "
        f"was asked reads back as the same policy. {count(told['calls'])} calls of at most "
        f"{count(told['calls_most'])}. Shares are of the flips traced, with intervals over "
        "clusters. localise.html beside the ledger shows the policy's words in colour.",
        tables=tuple(tables),
        notes=tuple(notes),
    )


def _table(section: Mapping[str, Any]) -> Table:
    return table(
        f"Smallest edits that flip a verdict under {section['condition']}",
        ("Edits", "Share of the flips", "Interval", "To UNSAFE", "To SAFE", "Note"),
        [
            (
                Cell("the whole rewrite")
                if c["whole"]
                else raw(" together with ".join(c["names"])),
                f"{percent(c['part']['share'])} ({c['part']['n']} of {c['part']['of']})",
                _interval(c["part"]),
                count(c["part"]["to_unsafe"]),
                count(c["part"]["to_safe"]),
                "" if c["named"] else "may be a wrong search",
            )
            for c in section["causes"]
        ],
    )


def _names(names: Sequence[str]) -> Cell:
    return raw(" together with ".join(names))


def _interval(part: Mapping[str, Any]) -> str:
    if part["low"] is None:
        return f"none: {part['method']}"
    return f"{percent(part['low'])} to {percent(part['high'])}"


def _note(s: Mapping[str, Any]) -> str:
    traced = f"{s['n_begun']} of {s['n_flips']} flips under {s['condition']} were asked again"
    if s["n_begun"] and s["n_gone"] == s["n_begun"]:
        return f"{traced}, and none came back: it was jitter."
    return (
        f"{traced}: {s['n_real']} were traced, {s['n_gone']} did not come back, "
        f"{s['n_unresolved']} could not be traced, {s['n_budget']} were left when the budget ended."
    )
