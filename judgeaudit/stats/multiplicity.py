"""Correction of p-values for several tests."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["any_of", "benjamini_hochberg", "holm"]


def holm(p_values: Mapping[str, float | None]) -> dict[str, float]:
    """Holm's step-down adjustment.

    Parameters
    ----------
    p_values : mapping of str to float or None
        A test without a p-value is left out of the number of tests; the caller names it.

    Returns
    -------
    dict of str to float
        Adjusted p-values of the tests that have one, in the order given.

    References
    ----------
    Holm 1979, Scand. J. Stat. 6.

    Examples
    --------
    >>> holm({"T1": 0.04, "T2": 0.01, "T4": None})
    {'T1': 0.04, 'T2': 0.02}
    """
    known = {name: p for name, p in p_values.items() if p is not None}
    adjusted: dict[str, float] = {}
    largest = 0.0
    for rank, name in enumerate(sorted(known, key=known.__getitem__)):
        largest = max(largest, min(1.0, (len(known) - rank) * known[name]))
        adjusted[name] = largest
    return {name: adjusted[name] for name in known}


def benjamini_hochberg(p_values: Mapping[str, float | None]) -> dict[str, float]:
    """Benjamini and Hochberg's adjustment: of the tests that are called, how many are wrong.

    Controls the expected share of false findings among those found, which is less than Holm's
    promise (that there is no false one), for independent or positively dependent tests.

    Parameters
    ----------
    p_values : mapping of str to float or None
        A test without a p-value is left out of the number of tests; the caller names it.

    Returns
    -------
    dict of str to float
        Adjusted p-values of the tests that have one, in the order given.

    References
    ----------
    Benjamini and Hochberg 1995, JRSS B 57.

    Examples
    --------
    >>> benjamini_hochberg({"a": 0.01, "b": 0.04, "c": 0.03, "d": None})
    {'a': 0.03, 'b': 0.04, 'c': 0.04}
    """
    known = {name: p for name, p in p_values.items() if p is not None}
    adjusted: dict[str, float] = {}
    smallest = 1.0
    for rank, name in reversed(list(enumerate(sorted(known, key=known.__getitem__), start=1))):
        smallest = min(smallest, known[name] * len(known) / rank)
        adjusted[name] = smallest
    return {name: adjusted[name] for name in known}


def any_of(m: int, alpha: float = 0.05) -> float:
    """Chance that at least one of m independent tests rejects, though no null is false.

    Parameters
    ----------
    m : int
        Number of tests.
    alpha : float
        Level of each.

    Returns
    -------
    float
    """
    return float(1 - (1 - alpha) ** m)
