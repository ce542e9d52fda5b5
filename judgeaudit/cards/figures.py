"""Counts, costs, durations and p-values in words; see `words`, which hands them on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["count", "duration", "joined", "money", "p_value"]

_SMALLEST_P: Final = 1e-9


def p_value(p: float) -> str:
    """Word a p-value with its sign of relation.

    Examples
    --------
    >>> p_value(0.0), p_value(3e-12), p_value(0.0123), p_value(1.0)
    ('p < 1e-9', 'p < 1e-9', 'p = 0.012', 'p = 1')
    """
    if p < _SMALLEST_P:
        return "p < 1e-9"
    if p < 1e-4:
        return f"p = {p:.0e}".replace("e-0", "e-")
    if p > 0.999 and p < 1:
        return "p > 0.999"
    return f"p = {p:.2g}"


def count(n: float) -> str:
    """Word a count with thousands apart; expected counts keep one digit.

    Examples
    --------
    >>> count(1234), count(7.5)
    ('1,234', '7.5')
    """
    return f"{n:,.0f}" if float(n).is_integer() else f"{n:,.1f}"


def joined(parts: Sequence[str], last: str = "and") -> str:
    """Join words for a sentence.

    Examples
    --------
    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def money(dollars: float | None) -> str:
    """Word a cost in US dollars; an unknown cost is unknown, never 0."""
    if dollars is None:
        return "unknown"
    if 0 < dollars < 0.01:
        return "under US$0.01"
    return f"US${dollars:,.2f}"


def duration(seconds: float | None) -> str:
    """Word a duration.

    Examples
    --------
    >>> duration(42.0), duration(272.0), duration(7322.0), duration(None)
    ('42 s', '4 min 32 s', '2 h 2 min', 'not recorded')
    """
    if seconds is None:
        return "not recorded"
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
