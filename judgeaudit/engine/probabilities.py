"""Probabilities of UNSAFE that a ledger keeps beside its verdicts, with where they come from."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.engine.chain import plain_text

__all__ = ["MARK", "WHOLE", "probabilities"]

MARK: Final = "probabilities"
"""Key of a run's `extra` that says that its answers carry probabilities."""

WHOLE: Final = "probabilities_whole"
"""Key that says that nothing is sampled before the verdict."""

_SQL: Final = """
SELECT c.cell * ? + c.repeat, r.extra FROM replies r JOIN calls c ON c.position = r.call
WHERE r.extra IS NOT NULL
"""


def probabilities(
    db: sqlite3.Connection, depth: int, size: int, unnamed: str = "not stated"
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Read the probability of UNSAFE of each call.

    Parameters
    ----------
    db : sqlite3.Connection
        The ledger.
    depth, size : int
        Repeats of a cell at most, and cells times repeats.
    unnamed : str
        The source of probabilities beside which none is kept.

    Returns
    -------
    values : array of float, shape (size,)
        NaN where there is none.
    sources : tuple of str
        Where they come from; several must not be mixed.
    """
    values = np.full(size, np.nan)
    sources: set[str] = set()
    for call, text in db.execute(_SQL, (depth,)):
        extra: dict[str, Any] = json.loads(plain_text(text))
        if extra.get("p_unsafe") is not None:
            values[call] = extra["p_unsafe"]
            sources.add(str(extra.get("p_source") or unnamed))
    return values, tuple(sorted(sources))
