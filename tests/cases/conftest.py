"""The inputs that broke other packages, and what is right for each."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from judgeaudit.core.table import VerdictTable


@dataclass(frozen=True)
class Case:
    """One file with its answers."""

    path: Path
    answers: dict[str, Any]

    def rows(self) -> list[dict[str, str]]:
        """Read the file with nothing of the product."""
        with self.path.open(encoding="utf-8-sig", newline="") as file:
            if self.path.suffix == ".csv":
                return list(csv.DictReader(file))
            return [json.loads(line) for line in file.read().split("\n") if line.strip()]

    def table(self) -> VerdictTable:
        """Make a verdict table of the rows; the labels are read as they should be."""
        rows = self.rows()
        return VerdictTable.from_rows(
            [
                (
                    r["item_id"],
                    r["condition"],
                    0,
                    int(r["repeat"]),
                    "verdict",
                    r["judge_label"].strip().upper(),
                )
                for r in rows
            ],
            gold={r["item_id"]: r["human_label"].strip().upper() for r in rows},
        )


@pytest.fixture
def folder(shared: Path) -> Path:
    """Return the folder of the cases."""
    return shared / "cases" / "from_peers"


@pytest.fixture
def case(folder: Path) -> Callable[[str], Case]:
    """Find a case by its file name."""
    answers = json.loads((folder / "answers.json").read_text("utf-8"))
    by_file = {name: found for key, found in answers.items() for name in key.split(" / ")}
    return lambda name: Case(folder / name, by_file[name])
