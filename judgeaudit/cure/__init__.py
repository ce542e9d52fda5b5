"""From diagnosis to cure: the words that flip a judge, its hardening, how far wording steers it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgeaudit.cure.hardened import Hardened

__all__ = ["load"]


def load(path: Path | str) -> Hardened:
    """Load a hardened judge from its file; see `judgeaudit.cure.hardened`."""
    from judgeaudit.cure.hardened import load as loading

    return loading(path)
