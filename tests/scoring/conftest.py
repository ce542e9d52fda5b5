"""Planted judges of the goldens, and small tables."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from judgeaudit.core.records import Condition, Protocol, ScoreSet
from judgeaudit.core.table import VerdictTable
from judgeaudit.scoring import score

KINDS = {
    "base": "reference",
    "T0": "placebo",
    "T1": "certified",
    "T2": "certified",
    "T4": "certified",
    "T3": "near",
    "strict": "threshold",
    "lenient": "threshold",
    "no_policy": "control",
    "inverted": "control",
    "vacuum": "control",
}


def protocol(*conditions: str, **changes: Any) -> Protocol:
    """A protocol of these conditions, all of them where none is named."""
    chosen = tuple(
        Condition(id=c, kind=KINDS[c], side="trajectory" if c == "vacuum" else "policy")
        for c in conditions or KINDS
    )
    given = {"preset": "test", "base_repeats": 5, "repeats": 2, "conditions": chosen}
    return Protocol(**{**given, **changes})


@dataclass(frozen=True)
class Planted:
    """A planted judge: its table, what is expected, and what we say."""

    name: str
    table: VerdictTable
    protocol: Protocol
    expected: dict[str, Any]

    def scores(self) -> ScoreSet:
        """Score the table."""
        return score(self.table, self.protocol)


def read_judge(folder: Path, name: str) -> Planted:
    """Read a planted judge from the goldens."""
    with (folder / f"{name}.items.csv").open(encoding="utf-8") as file:
        items = list(csv.DictReader(file))
    with (folder / f"{name}.verdicts.csv").open(encoding="utf-8") as file:
        rows = [
            (r["item_id"], r["condition"], 0, int(r["repeat"]), r["outcome"], r["label"] or None)
            for r in csv.DictReader(file)
        ]
    table = VerdictTable.from_rows(
        rows,
        clusters={r["item_id"]: r["cluster_id"] for r in items},
        ambiguous={r["item_id"]: r["clear"] == "0" for r in items},
    )
    expected = json.loads((folder / f"{name}.expected.json").read_text(encoding="utf-8"))
    return Planted(name, table, protocol(*table.conditions), expected)


@pytest.fixture
def judges(shared: Path):
    """Read a planted judge by name."""
    return lambda name: read_judge(shared / "goldens" / "simulated", name)
