"""Watching a judge night after night: evidence that stays valid however long one watches."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi
from typing import Final

import numpy as np

from judgeaudit.stats._types import FloatArray1D, Undefined
from judgeaudit.stats.exchange import Blocks, Question, changed

__all__ = ["Evidence", "Pool", "evidence", "level_of_night", "night_value"]

_HALF: Final = 30
"""Half of the prior weight lies on changes within so many nights."""


def night_value(p: float) -> float:
    """Turn a p-value into an e-value: the mixture of e p^(e-1) over e in (0, 1).

    Parameters
    ----------
    p : float
        A valid p-value, above 0.

    Returns
    -------
    float
        Its mean is at most 1 where the null is true.

    References
    ----------
    Vovk and Wang 2021, Ann. Stat. 49.

    Examples
    --------
    >>> round(night_value(0.001), 1), round(night_value(1.0), 1)
    (20.8, 0.5)
    """
    if p > 0.9999:  # its limit at 1; the formula cancels there
        return 0.5
    p = max(p, 1e-300)
    return (1 - p + p * log(p)) / (p * log(p) ** 2)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a series of nights shows so far.

    Parameters
    ----------
    values : array of float, shape (n_nights,)
        The e-process after each night.
    alarm : int, optional
        The first night, from 0, on which it reached 1/alpha.
    """

    values: FloatArray1D
    alarm: int | None


def evidence(p_values: list[float | None], *, alpha: float) -> Evidence:
    """Gather the p-values of endless nights into one e-process, whenever the change came.

    The capital that starts on night k (with weight 30/((k+29)(k+30)), which sum to 1) is
    multiplied by the e-value of each night from then on. If nothing ever changes, the chance that
    it *ever* reaches 1/alpha is at most alpha.

    Parameters
    ----------
    p_values : list of float or None
        Of each night, independent of one another under the null, as those of `Pool` are; a night
        without one changes nothing.
    alpha : float
        Chance of a false alarm in all nights together.

    Returns
    -------
    Evidence

    References
    ----------
    Ville 1939; Vovk, Gammerman and Shafer 2022, ch. 8 (conformal test martingales); decision
    note 0802.

    Examples
    --------
    >>> evidence([0.5] * 20 + [1e-9], alpha=0.05).alarm
    20
    """
    running, values = 0.0, []
    for k, p in enumerate(p_values, start=1):
        running += _HALF / ((k + _HALF - 1) * (k + _HALF))
        running = min(running * (1.0 if p is None else night_value(p)), 1e290)
        # what has not started yet is capital that was not bet
        values.append(running + _HALF / (k + _HALF))
    made = np.array(values, dtype=np.float64)
    reached = np.flatnonzero(made >= 1 / alpha)
    return Evidence(made, int(reached[0]) if reached.size else None)


class Pool:
    """The calls of all nights so far on the anchors, and the p-value of each night against them.

    Each night is compared with all nights before it together, given the total of both: so the
    p-values of different nights are independent if nothing changes, though they share calls.

    Parameters
    ----------
    n_items : int
        Anchors.
    question : {"moved", "more"}
        As of `exchange.changed`.
    """

    def __init__(self, n_items: int, question: Question) -> None:
        self._question: Question = question
        self._marks = np.zeros(n_items, dtype=np.int64)
        self._calls = np.zeros(n_items, dtype=np.int64)

    def add(self, marks: np.ndarray, calls: np.ndarray) -> float | None:
        """Add a night; return its p-value, None where it can have none.

        Parameters
        ----------
        marks, calls : array of int, shape (n_items,)
            Marks (UNSAFE, or wrong) and verdicts of each anchor.
        """
        found = changed(Blocks(self._marks, self._calls, marks, calls), self._question)
        self._marks = self._marks + marks
        self._calls = self._calls + calls
        return None if isinstance(found, Undefined) else found


def level_of_night(k: int, *, alpha: float) -> float:
    """Confidence level of the k-th interval of a series all of which hold together.

    Parameters
    ----------
    k : int
        From 1.
    alpha : float
        Chance that any of endlessly many intervals misses.

    Returns
    -------
    float
        1 - alpha 6 / (pi k)^2.
    """
    return 1 - alpha * 6 / (pi * k) ** 2
