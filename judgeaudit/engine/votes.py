"""Raters' votes on the items of a run, as its ledger keeps them: one text of votes an item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.records import Item

__all__ = ["VOTES", "votes_extra", "votes_of"]

VOTES: Final = "votes"
"""Key of a run's `extra` under which raters and their votes stand; no card prints it."""

_SIGNS: Final = {None: "-", "SAFE": "0", "UNSAFE": "1"}
_CODES: Final = {"-": -1, "0": 0, "1": 1}


def votes_extra(items: Iterable[Item]) -> dict[str, Any]:
    """Return what a ledger remembers of raters' votes; nothing where no item carries any.

    Parameters
    ----------
    items : iterable of Item
        All items of the run.
    """
    voted = [i for i in items if i.votes]
    raters = sorted({r for i in voted for r in i.votes})
    if not raters:
        return {}
    of = {i.key: "".join(_SIGNS[i.votes.get(r)] for r in raters) for i in voted}
    return {VOTES: {"raters": raters, "of": of}}


def votes_of(
    extra: Mapping[str, Any], keys: Sequence[str]
) -> tuple[NDArray[np.int8] | None, tuple[str, ...]]:
    """Return the votes on items, and the names of the raters.

    Parameters
    ----------
    extra : mapping
        Of the run.
    keys : sequence of str
        Item keys, in the table's order.

    Returns
    -------
    votes : array of int8, shape (n_items, n_raters), or None
        1 UNSAFE, 0 SAFE, -1 missing; None where the run knows no votes.
    raters : tuple of str
        In the order of the columns.
    """
    told = extra.get(VOTES)
    if not told:
        return None, ()
    raters = tuple(told["raters"])
    votes = np.full((len(keys), len(raters)), -1, dtype=np.int8)
    for k, key in enumerate(keys):
        signs = told["of"].get(key)
        if signs:
            votes[k] = [_CODES[s] for s in signs]
    return votes, raters
