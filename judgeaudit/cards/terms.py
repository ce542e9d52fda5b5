"""Which words of the first screen are explained, and in which sense."""

from __future__ import annotations

import re
from typing import Final

from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.texts_glossary_en import GLOSSARY

__all__ = ["glossary"]

_SEEN: Final = {
    "item": r"\bitems?\b",
    "flip": r"\b[Ff]lips?\b",
    "jitter": r"\b[Jj]itter\b",
    "excess": r"Δ|[Ee]xtra flips|[Ee]xcess",
    "points": r"\bpoints\b",
    "threshold": r"practical threshold|threshold of",
    "policies": r"\bstrict\b|\blenient\b|\bdeleted\b|\bnegated\b",
    "certified": r"\bT[124]\b|\b[Rr]ewor|[Cc]ertified",
    "placebo": r"\b[Pp]lacebo\b|\bT0\b",
    "clear": r"\bclear items\b|\bambiguous\b",
    "undue": r"\bU_rate\b|\bU_0\b",
    "direction": r"\bR_dir\b",
    "pis": r"\bPIS\b",
    "gate": r"\bgate bound\b",
    "bound": r"not ruled out|cannot rule out",
    "cluster": r"\bclusters?\b",
    "void": r"\b[Vv]oid\b",
}
"""What tells that a term stands on the first screen, by its id."""


def _sense(name: str, f: Figures) -> str:
    """Choose how a rewording was checked: by people, by votes of a model, or by a program."""
    if name != "certified":
        return name
    wanted = set(f.conditions("certified"))
    found = {r.evidence for r in f.facts.renderings if r.condition in wanted and r.passed}
    if found == {"human"}:
        return "certified_human"
    return "certified_model" if "model" in found else name


def glossary(f: Figures, said: str) -> tuple[tuple[str, str], ...]:
    """List terms and meanings of a card's first screen, in their order.

    Parameters
    ----------
    f : Figures
        Of the card.
    said : str
        All that the first screen says.
    """
    found = [name for name, pattern in _SEEN.items() if re.search(pattern, said)]
    return tuple(GLOSSARY[_sense(name, f)] for name in found)
