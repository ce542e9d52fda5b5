"""Finding a text in items, trajectories, replies and notes."""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.engine.chain import storable

if TYPE_CHECKING:
    from judgeaudit.viewer.explorer import Run

__all__ = ["Search"]

_KEPT: Final = 8
_TRAJECTORIES: Final = """
SELECT i.id FROM items i CROSS JOIN parts p ON p.id = i.trajectory WHERE p.body LIKE ? ESCAPE '\\'
"""
_REPLIES: Final = """
SELECT DISTINCT c.cell FROM replies r CROSS JOIN calls c ON c.position = r.call
WHERE r.text LIKE ?1 ESCAPE '\\' OR r.rationale LIKE ?1 ESCAPE '\\'
OR r.reasoning LIKE ?1 ESCAPE '\\' OR r.refusal LIKE ?1 ESCAPE '\\'
"""


class Search:
    """The last searches of a run. Upper and lower case of ASCII letters are the same.

    Parameters
    ----------
    run : Run
        What is searched.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._kept: OrderedDict[object, NDArray[np.bool_]] = OrderedDict()

    def mask(self, text: str) -> NDArray[np.bool_]:
        """Say of every contrast whether its item, its replies, those under base or its note match.

        Returns
        -------
        array of bool, shape (n_items, n_contrasts)
        """
        key = (text, self._run.version, self._run.marks_version)
        if key not in self._kept:
            self._kept[key] = self._find(text)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]

    def _find(self, text: str) -> NDArray[np.bool_]:
        index = self._run.index
        items, low = index.items, text.casefold()
        whole = np.zeros((len(items.keys), len(index.columns)), dtype=bool)
        for row, (key, strata) in enumerate(zip(items.keys, items.strata, strict=True)):
            if low in key.casefold() or any(low in v.casefold() for v in strata.values()):
                whole[row] = True
        with self._run.source.read() as db:
            # a trajectory is kept as JSON, and a quotation mark in it has a backslash before it
            inside = _like(json.dumps(text, ensure_ascii=False)[1:-1])
            for (row,) in db.execute(_TRAJECTORIES, (inside,)):
                whole[row] = True
            cells = np.fromiter((r[0] for r in db.execute(_REPLIES, (_like(text),))), np.int64)
        hit = np.zeros(whole.size, dtype=bool)
        hit[cells] = True
        hits = hit.reshape(whole.shape)
        # what was said under base is shown beside every contrast of the item
        whole |= hits | hits[:, index.base].any(axis=1, keepdims=True)
        for cell, mark in self._run.marks.items():
            if low in mark.note.casefold():
                whole[divmod(cell, len(index.columns))] = True
        found: NDArray[np.bool_] = whole[:, index.contrasts]
        return found


def _like(text: str) -> object:
    for special in ("\\", "%", "_"):
        text = text.replace(special, "\\" + special)
    return storable(f"%{text}%")
