"""Numbers and lists in plain sentences. Percent appears only where a card is rendered."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["listed", "plain", "within"]


def plain(value: float) -> str:
    """Write a number with three decimals, or three significant digits where it is smaller.

    Examples
    --------
    >>> plain(0.0487), plain(2.1e-07), plain(-0.0)
    ('0.049', '2.1e-07', '0')
    """
    if value == 0:
        return "0"
    return f"{value:.3f}" if abs(value) >= 0.001 else f"{value:.2g}"


def listed(names: Sequence[str]) -> str:
    """Join names as a sentence does.

    Examples
    --------
    >>> listed(["T1", "T2", "T4"])
    'T1, T2 and T4'
    """
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def within(value: float) -> str:
    """Write the end of an interval of a difference of rates: never beyond -1 or 1.

    With very few clusters an interval reaches further than the quantity can. The score keeps it
    as it was computed; a sentence does not claim the impossible.

    Examples
    --------
    >>> within(4.452), within(-0.2)
    ('1.000', '-0.200')
    """
    return plain(min(1.0, max(-1.0, value)))
