"""How to make a run and its card again: one command, the versions, and hashes of everything."""

from __future__ import annotations

import re
import shlex
from typing import Final

from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.model import JudgeCard
from judgeaudit.core.hashing import sha256_of

__all__ = ["block", "is_plain", "lock", "renderings_sha256"]

_VERSION: Final = re.compile(r"[0-9][0-9A-Za-z.!+_-]{0,40}")
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,60}")
_PATH: Final = re.compile(r"…/[\w.=-]+")


def is_plain(command: str) -> bool:
    """Say whether a recorded command can do nothing but run `judgeaudit`: a card invites to paste.

    Examples
    --------
    >>> is_plain("judgeaudit audit --judge scripted:fair"), is_plain("judgeaudit audit; rm -r x")
    (True, False)
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    # exactly as it was quoted when it was recorded, so that a shell reads these words and no more
    again = " ".join(w if _PATH.fullmatch(w) else shlex.quote(w) for w in words)
    return words[:1] == ["judgeaudit"] and again == command and "\n" not in command


def lock(f: Figures) -> list[str]:
    """Return the versions of the run as requirements, in order; a list of several is left out."""
    found = sorted(f.facts.versions.items())
    return [
        f"{name}=={version}"
        for name, version in found
        if name != "python" and _NAME.fullmatch(name) and _VERSION.fullmatch(version)
    ]


def block(f: Figures, card: JudgeCard) -> str:
    """Word what to type; "" where the command was not recorded, or is no command of ours."""
    command = f.facts.extra.get("command")
    if not isinstance(command, str) or not is_plain(command):
        return ""
    python = f.facts.versions.get("python", "")
    held = [f"python=={python}"] if _VERSION.fullmatch(python) else []
    held += lock(f)
    lines = [f"# made with {' '.join(held)}"] if held else []
    lines += [command, "judgeaudit card verify card.json"]
    given = card.parameters
    if given.certificates or given.labels or given.statements:
        lines[-1] += "  # with the files it was made with, see below"
    return "\n".join(lines)


def renderings_sha256(f: Figures) -> str:
    """Return one hash over the hashes of all wordings of the policy; "" without any."""
    rows = [(r.condition, r.language, r.wording, r.sha256) for r in f.facts.renderings]
    return sha256_of(sorted(rows)) if rows else ""
