"""What `judgeaudit attack` found, on the card: how far a wording that says the same steers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from judgeaudit.cards.figures import count
from judgeaudit.cards.layout import Cell, Section, raw, table
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.words import percent, points
from judgeaudit.core.errors import CardError
from judgeaudit.core.records.attacked import FILE, Attacks

__all__ = ["KEY", "attacked_section", "attacked_told"]

KEY: Final = "attack"
"""Of the fact on the card."""

_WHAT: Final = {"excess": "Excess flips", "tpr": "TPR", "fpr": "FPR"}
_SHOWN: Final = (
    *("name", "base", "wording", "gain", "low", "high", "level", "naive", "clusters", "why"),
)
_SEARCH: Final = (
    *("objective", "calls", "asked", "tried", "n_train", "n_held_out", "seed", "alpha"),
)


def attacked_told(folder: Path | None, plan_sha256: str) -> dict[str, Any]:
    """Return what a card tells of `attack.json` beside a ledger; nothing where there is none.

    Parameters
    ----------
    folder : Path, optional
        Of the run.
    plan_sha256 : str
        Identity of the run's plan: attacks on another run are none on this one.

    Raises
    ------
    CardError
        If the file is no such record.
    """
    if folder is None:
        return {}
    path = folder / FILE
    try:
        found = Attacks.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValidationError) as error:
        raise CardError(
            f"this is no record of judgeaudit attack ({str(error).partition(chr(10))[0]})",
            where=str(path),
            mend="Make it again with judgeaudit attack, or remove it",
        ) from error
    told = [
        {k: getattr(a, k) for k in _SEARCH}
        | {"finalists": [{k: getattr(f, k) for k in _SHOWN} for f in a.finalists]}
        | {"sha256": a.worst.rendering.sha256}
        for a in found.attacks
        if a.plan_sha256 == plan_sha256
    ]
    return {KEY: told} if told else {}


def attacked_section(f: Figures) -> Section | None:
    """Lay out how far wordings steer the judge; None where nobody searched."""
    told = f.facts.extra.get(KEY)
    if not isinstance(told, list) or not told:
        return None
    rows: list[tuple[Cell | str, ...]] = [
        (
            _WHAT[a["objective"]],
            raw(w["name"]),
            *(Cell("-" if w[k] is None else percent(w[k])) for k in ("base", "wording")),
            _points(w["gain"]),
            _interval(w),
            _points(w["naive"]),
        )
        for a in told
        for w in a["finalists"]
    ]
    budgets = [
        f"{_WHAT[a['objective']]}: {count(a['asked'])} calls of a budget of {count(a['calls'])}, "
        f"{count(a['tried'])} wordings tried on {count(a['n_train'])} clusters, measured on "
        f"{count(a['n_held_out'])} others; intervals at {percent(1 - a['alpha'])} for all of them "
        "together."
        for a in told
    ]
    return Section(
        id="attack",
        title="How far wording steers the judge",
        lead="The worst certified wording was searched for on part of the clusters and measured on "
        "the others with fresh calls, so the gain is not inflated by the search; the gain where it "
        "was chosen, which is, stands beside it. attack.json beside the ledger holds the text.",
        tables=(
            table(
                "The worst wording on held-out clusters, in percentage points",
                ("Figure", "Wording", "Base", "This wording", "Gain", "Interval", "Where chosen"),
                rows,
            ),
        ),
        notes=tuple(budgets),
    )


def _points(x: float | None) -> str:
    return "-" if x is None else points(x)


def _interval(w: Mapping[str, Any]) -> str:
    if w["low"] is None or w["high"] is None:
        return "none"
    return f"{points(w['low'])} to {points(w['high'])}"
