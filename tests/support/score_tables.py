"""Verdict tables for tests of the numbers: read from the goldens, drawn, or written out."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judgeaudit.core.records import Condition, Protocol, ScoreSet
from judgeaudit.core.table import VerdictTable
from judgeaudit.metrics import View
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

LETTERS = {"S": "SAFE", "U": "UNSAFE", "-": "unparseable", "r": "refusal", "e": "error"}


def protocol(*conditions: str, **changes: Any) -> Protocol:
    """Make a protocol of these conditions, all of them where none is named."""
    chosen = tuple(
        Condition(id=c, kind=KINDS[c], side="trajectory" if c == "vacuum" else "policy")
        for c in conditions or KINDS
    )
    given = {"preset": "test", "base_repeats": 5, "repeats": 2, "conditions": chosen}
    return Protocol(**{**given, **changes})


def written(
    items: Mapping[str, Mapping[str, str]],
    *,
    gold: Mapping[str, str | None] | None = None,
    ambiguous: Mapping[str, bool | None] | None = None,
    clusters: Mapping[str, str] | None = None,
) -> VerdictTable:
    """Write a table out: item -> condition -> one letter a call (S, U, -, r, e)."""
    rows = []
    for item, conditions in items.items():
        for condition, calls in conditions.items():
            for repeat, letter in enumerate(calls):
                name = LETTERS[letter]
                label = name if name in {"SAFE", "UNSAFE"} else None
                outcome = "verdict" if label else name
                rows.append((item, condition, 0, repeat, outcome, label))
    return VerdictTable.from_rows(
        rows, gold=gold, ambiguous=ambiguous, clusters=clusters, items=list(items)
    )


def drawn(
    probabilities: Mapping[str, Sequence[float]],
    repeats: Mapping[str, int],
    rng: np.random.Generator,
    *,
    failures: float = 0.0,
    ambiguous: Sequence[int] | None = None,
    clusters: Sequence[int] | None = None,
    gold: Sequence[int] | None = None,
) -> VerdictTable:
    """Draw a table from the probability of UNSAFE of each item under each condition."""
    conditions = list(probabilities)
    n, depth = len(next(iter(probabilities.values()))), max(repeats.values())
    codes = np.full((n, len(conditions), depth), -1, dtype=np.int8)
    for k, c in enumerate(conditions):
        p = np.asarray(probabilities[c])[:, None]
        codes[:, k, : repeats[c]] = rng.random((n, repeats[c])) < p
    codes[(rng.random(codes.shape) < failures) & (codes >= 0)] = 4
    return VerdictTable(
        items=tuple(f"i{k:05d}" for k in range(n)),
        clusters=np.arange(n) if clusters is None else np.asarray(clusters, dtype=np.int64),
        gold=np.full(n, -1, np.int8) if gold is None else np.asarray(gold, dtype=np.int8),
        ambiguous=np.full(n, -1, np.int8)
        if ambiguous is None
        else np.asarray(ambiguous, dtype=np.int8),
        columns=tuple((c, 0) for c in conditions),
        codes=codes,
    )


def view(table: VerdictTable, *, uncertified: frozenset[str] = frozenset(), **changes: Any) -> View:
    """Look at a table under the protocol of all conditions."""
    return View(table, protocol(**changes), uncertified=uncertified)


@dataclass(frozen=True)
class Planted:
    """A planted judge of the goldens: its table, and what is expected."""

    name: str
    table: VerdictTable
    expected: dict[str, Any]

    def scores(self) -> ScoreSet:
        """Score the table under the conditions that it has."""
        return score(self.table, protocol(*self.table.conditions))


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
    return Planted(name, table, expected)
