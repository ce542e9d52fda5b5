"""Goldens of agreement and abstention, by id; an entry that no check knows fails."""

from __future__ import annotations

import csv
import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judgeaudit.stats._types import Undefined
from judgeaudit.stats.abstaining import expected_gain, penalty_threshold
from judgeaudit.stats.agreement import gwet_ac1, krippendorff_alpha
from judgeaudit.stats.calibration import ece, equal_width
from judgeaudit.stats.many_raters import fleiss_kappa, many_raters
from judgeaudit.stats.ranking import auroc
from judgeaudit.stats.selective import (
    Curve,
    aurc,
    aurc_trapezoid,
    oracle_aurc_limit,
    risk_coverage,
)
from judgeaudit.stats.two_raters import misleading, two_raters

NAMES = {
    "po": "observed",
    "kappa": "kappa",
    "pabak": "pabak",
    "ac1": "ac1",
    "PA": "positive",
    "NA": "negative",
    "alpha": "alpha",
    "scott_pi": None,
}


def raters(table: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    n = [table[k] for k in ("both_pos", "only_r1", "only_r2", "both_neg")]
    return np.repeat([1.0, 1.0, 0.0, 0.0], n), np.repeat([1.0, 0.0, 1.0, 0.0], n)


def figures(table: dict[str, int]):
    one, two = raters(table)
    return two_raters(one, two, np.arange(one.size)).figures


def value(figure) -> float | None:
    return None if isinstance(figure.value, Undefined) else figure.value


def agreement(entry: dict[str, Any]) -> Any:
    given = entry["inputs"]
    kind = entry["id"].split(".")[-1]
    if kind == "degenerate_all_negative":
        found = figures(given["table"])
        return {k: value(found[NAMES[k]]) for k in entry["expected"]}
    if kind == "title14_kappa_021_candidates":
        # the golden stops at twelve
        found = {str(n): tables_of(n, given["po"])[:12] for n in given["n"]}
        for a, b, c, d in (cells for listed in found.values() for cells in listed):
            table = {"both_pos": a, "only_r1": b, "only_r2": c, "both_neg": d}
            assert 0.21 == round(value(figures(table)["kappa"]), 2)
        return found
    if kind == "scott_pi":
        # Fleiss' kappa of two raters is Scott's pi
        votes = np.stack(raters(given["table"]), axis=1).astype(np.int64)
        return fleiss_kappa(votes, 2)
    return value(figures(given["table"])[NAMES[kind]])


def tables_of(n: int, po: float) -> list[list[int]]:
    """All tables with this agreement whose kappa rounds to 0.21, in the golden's order."""
    agreeing = round(po * n)
    out = []
    for both in range(agreeing + 1):
        for first in range((n - agreeing) // 2 + 1):
            cells = both, first, n - agreeing - first, agreeing - both
            kappa = kappa_by_hand(*cells)
            if kappa is not None and round(kappa, 2) == 0.21:
                out.append(list(cells))
    return out


def kappa_by_hand(a: int, b: int, c: int, d: int) -> float | None:
    n = a + b + c + d
    chance = ((a + b) * (a + c) + (c + d) * (b + d)) / n**2
    return None if chance == 1 else ((a + d) / n - chance) / (1 - chance)


def abstention(entry: dict[str, Any]) -> Any:
    given = entry["inputs"]
    if entry["id"].split(".")[1] == "threshold":
        return penalty_threshold(given["penalty"])
    return expected_gain(given["c"], given["penalty"])


def ties(entry: dict[str, Any]) -> Any:
    sure = np.array(entry["inputs"]["conf"], dtype=float)
    wrong = np.array(entry["inputs"]["correct"]) == 0
    return aurc(sure, wrong, np.arange(sure.size)).value


class Experiment:
    """The second experiment of the seed: ten items with confidences."""

    def __init__(self, shared: Path) -> None:
        folder = shared / "goldens" / "fixtures"
        items = json.loads((folder / "experiment2.json").read_text("utf-8"))["items"]
        self.sure = np.array([i["conf"] for i in items])
        self.wrong = np.array([i["correct"] for i in items]) == 0
        self.items = items

    @property
    def curve(self) -> Curve:
        return risk_coverage(self.sure, self.wrong)

    def value(self, entry: dict[str, Any]) -> Any:
        found = aurc(self.sure, self.wrong, np.arange(10))
        part = entry["id"].removeprefix("exp2.")
        given = entry["inputs"]
        if part.startswith("risk."):
            return self.curve.risk[given["k"] - 1]
        if part.startswith("operating_point."):
            answered = self.sure >= given["tau"]
            coverage = float(part.rpartition("=")[2])
            assert pytest.approx(coverage) == answered.mean()
            return self.curve.risk[np.count_nonzero(answered) - 1]
        right = ~self.wrong
        if part.startswith("ece."):
            return ece(equal_width(self.sure, right, given["M"]))
        return {
            "auroc_conf_vs_correct": lambda: auroc(self.sure, right, np.arange(10)).value,
            "brier_conf": lambda: np.mean((self.sure - right) ** 2),
            "aurc": lambda: found.value,
            "aurc_oracle": lambda: found.oracle,
            "aurc_random_expected": lambda: found.chance,
            "e_aurc": lambda: found.excess,
            "aurc_oracle_asymptotic": lambda: oracle_aurc_limit(given["r"]),
            "aurc_trapezoid_0.1_1.0": lambda: aurc_trapezoid(self.curve),
            "aurc_trapezoid_normalised": lambda: aurc_trapezoid(self.curve, per_width=True),
        }[part]()


@pytest.mark.parametrize("family", ["agreement", "abstention", "aurc", "exp2"])
def test_every_entry_of_agreement_and_abstention(shared: Path, goldens, family):
    entries = goldens(f"{family}.")
    assert entries
    experiment = Experiment(shared)
    checks = {"agreement": agreement, "abstention": abstention, "aurc": ties}
    for name, entry in entries.items():
        found = checks.get(family, experiment.value)(entry)
        expected = entry["expected"]
        if isinstance(expected, float | int):
            expected = pytest.approx(expected, abs=max(entry["tolerance_abs"], 1e-12), rel=0)
        assert expected == found, name


def test_kappa_misleads_in_the_paradox_and_not_in_the_balanced_table(goldens):
    tables = {
        name.split(".")[1]: e["inputs"]["table"]
        for name, e in goldens("agreement.").items()
        if "table" in e["inputs"]
    }

    def said(name: str) -> str | None:
        one, two = raters(tables[name])
        return misleading(two_raters(one, two, np.arange(one.size)))

    assert "of the labels are SAFE" in said("paradox_95pct")
    assert "positive agreement (on UNSAFE)" in said("paradox_90pct_sym")
    assert said("paradox_balanced_90pct") is None
    assert "all labels are SAFE" in said("degenerate_all_negative")


def test_the_second_experiment(shared: Path):
    """Ranks, confidences and the curve stand together: the fixture's order is ours."""
    experiment = Experiment(shared)
    assert [i["rank"] for i in experiment.items] == list(range(1, 11))
    assert experiment.sure.tolist() == experiment.curve.threshold.tolist()
    errors = np.cumsum(experiment.wrong)
    assert pytest.approx((errors / np.arange(1, 11)).tolist()) == experiment.curve.risk.tolist()
    assert 4 == errors[-1]


def test_planted_annotators(shared: Path):
    folder = shared / "goldens" / "simulated"
    expected = json.loads((folder / "annotators_planted.expected.json").read_text("utf-8"))
    with (folder / "annotators_planted.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [c for c in rows[0] if c != "item_id"]
    votes = np.array([[int(r[c]) if r[c] else -1 for c in names] for r in rows])
    found = many_raters(votes, np.arange(len(votes)))
    complete = votes[(votes >= 0).all(axis=1)]
    pairs = []
    for a, b in combinations(range(len(names)), 2):
        both = (votes[:, a] >= 0) & (votes[:, b] >= 0)
        one, two = votes[both, a].astype(float), votes[both, b].astype(float)
        pairs.append(two_raters(one, two, np.arange(one.size)).figures["positive"].value)
    true_prevalence = expected.pop("true_prevalence")
    assert {
        "n": len(votes),
        "raters": len(names),
        "krippendorff_alpha": found.figures["alpha"].value,
        "gwet_ac1": found.figures["ac1"].value,
        "mean_pairwise_agreement": found.figures["observed"].value,
        "pabak_multi": found.figures["pabak"].value,
        "fleiss_kappa_complete_cases": fleiss_kappa(complete, 2),
        "n_complete": len(complete),
        "mean_pairwise_positive_agreement": math.fsum(pairs) / len(pairs),
        "share_unanimous": found.unanimous,
    } == {k: pytest.approx(v, abs=1e-9) for k, v in expected.items()}
    # what was planted: raters say UNSAFE about as often as items are
    assert abs((votes == 1).sum() / (votes >= 0).sum() - true_prevalence) < 0.1
    # the two implementations of the house agree
    assert pytest.approx(krippendorff_alpha(votes, 2).value) == found.figures["alpha"].value
    assert pytest.approx(gwet_ac1(votes, 2).value) == found.figures["ac1"].value
