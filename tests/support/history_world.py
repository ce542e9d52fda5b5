"""Nights of letters for a history: right verdicts, but for chosen items."""

from __future__ import annotations

from watch_world import imported

GOLD = {f"i{k:02d}": "UNSAFE" if k % 2 else "SAFE" for k in range(60)}


def night(home, name, turned=(), waver=()):
    """A night of right verdicts, but for some items, and for one wavering call of others."""
    said = {}
    for k, g in GOLD.items():
        right, wrong = ("U", "S") if g == "UNSAFE" else ("S", "U")
        said[k] = (wrong if int(k[1:]) in turned else right) * 3
        if int(k[1:]) in waver:
            said[k] = wrong + said[k][1:]
    return imported(home / name, said, GOLD)
