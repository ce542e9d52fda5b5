"""How the tests of the peers' cases read, write and compare their tables."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from score_tables import protocol

from judgeaudit.corpora import load
from judgeaudit.scoring import score
from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.intervals import clopper_pearson
from judgeaudit.stats.two_raters import two_raters

NEAR = 1e-9

BEYOND = {
    "cohen_kappa": "kappa",
    "gwet_ac1": "ac1",
    "pabak": "pabak",
    "krippendorff_alpha": "alpha",
}
"""Name of a coefficient in the answers, and ours."""


def accuracy(found, wanted) -> None:
    """Agreement with the human label and its Wilson interval, every item counted."""
    scores = score(found.table(), protocol(*found.table().conditions))
    s = scores.find("accuracy")
    assert wanted["n"] == s.n_items
    assert pytest.approx(wanted["agreement"], abs=NEAR) == s.value
    if "agreement_wilson95" in wanted:
        assert pytest.approx(wanted["agreement_wilson95"], abs=NEAR) == [s.low, s.high]
    beyond_chance(found, wanted)


def beyond_chance(found, wanted) -> None:
    """Agreement of judge and human beyond chance, where there is an answer."""
    table = found.table()
    (column,) = table.column_indices("base")
    judge = table.codes[:, column, 0].astype(float)
    made = two_raters(judge, table.gold.astype(float), np.arange(table.n_items)).figures
    for name, figure in BEYOND.items():
        if name not in wanted:
            continue
        value = made[figure].value
        if wanted[name] is None:
            assert isinstance(value, Undefined), name
        else:
            assert pytest.approx(wanted[name], abs=NEAR) == value, name


def stated(found) -> tuple[np.ndarray, np.ndarray]:
    """Confidence that was stated, and whether the verdict was right."""
    rows = found.rows()
    right = [r["judge_label"] == r["human_label"] for r in rows]
    return np.array([float(r["confidence"]) for r in rows]), np.array(right)


def exact(x: float, n: float) -> list[float]:
    interval = clopper_pearson(x, n)
    assert isinstance(interval, Interval)
    return [interval.low, interval.high]


def corpus_of(rows, path: Path, *, sep: str = "\n", bom: bool = False, label: str = "human_label"):
    """Write rows as a user's own corpus, their text as the user's message, and load it."""
    made = [
        json.dumps(
            {
                "id": r["item_id"],
                "trajectory": {"turns": [{"role": "user", "content": r.get("text", "x")}]},
                "label": r[label],
                "label_source": "human",
            },
            ensure_ascii=False,
        )
        for r in rows
    ]
    path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + sep.join(made).encode())
    return load("jsonl", data=path)


def ratings_of(rows, path: Path, *, rater: str, label: str, sep: str = "\n", bom: bool = False):
    """Write rows as raters' labels, without a newline at the end."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=sep)
    writer.writerow(["item_id", "rater", "label"])
    writer.writerows([r["item_id"], r[rater], r[label]] for r in rows)
    whole = out.getvalue().removesuffix(sep).encode()
    path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + whole)
    return path
