"""Nightly: what changed between two runs, whether a run passes, and a history of nights.

::

    from judgeaudit import watch

    found = watch.compare("runs/monday", "runs/tuesday")
    print(found.verdict, [c.kind for c in found.causes])
"""

from __future__ import annotations

from judgeaudit.watch.changes import Change, Comparison, compare
from judgeaudit.watch.deciding import Check
from judgeaudit.watch.gating import GateResult, gate
from judgeaudit.watch.rules import GateRules, read_rules
from judgeaudit.watch.store import History

__all__ = [
    "Change",
    "Check",
    "Comparison",
    "GateResult",
    "GateRules",
    "History",
    "compare",
    "gate",
    "read_rules",
]
