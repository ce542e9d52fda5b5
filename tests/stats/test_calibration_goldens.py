"""Goldens of calibration and ranking, by id: the seed's experiment 1 and all that extends it."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden_calibration import FAMILIES

from judgeaudit.stats.calibration import (
    Bins,
    ace,
    brier_terms,
    ece,
    edges_of,
    equal_count,
    equal_width,
    top_label,
)
from judgeaudit.stats.ranking import auroc
from judgeaudit.stats.selective import aurc
from judgeaudit.stats.temperature import fit_temperature, log_losses, sigmoid

TERMS = {
    "reliability": "reliability",
    "resolution": "resolution",
    "uncertainty": "uncertainty",
    "within_bin_variance": "within_variance",
    "within_bin_covariance": "within_covariance",
}


@cache
def fixture(shared: Path, name: str) -> dict[str, Any]:
    return json.loads((shared / "goldens" / "fixtures" / f"{name}.json").read_text("utf-8"))


def items(shared: Path, which: str) -> tuple[np.ndarray, np.ndarray]:
    rows = fixture(shared, "experiment1")[f"items_{which}"]
    return np.array([r["p"] for r in rows]), np.array([r["y"] == 1 for r in rows])


def logits(shared: Path) -> tuple[np.ndarray, np.ndarray]:
    found = fixture(shared, "temperature_logits")
    return np.array(found["logits"]), np.array(found["labels"]) == 1


def bins_a(shared: Path, bins: int = 4) -> Bins:
    return equal_width(*items(shared, "A"), bins)


def exp1(entry: dict[str, Any], shared: Path) -> Any:
    _, kind, *rest = entry["id"].split(".", 2)
    four, two = bins_a(shared), bins_a(shared, 2)
    if rest and rest[0].startswith("bin"):
        k = int(rest[0][3:]) - 1
        gap = abs(four.gap[k])
        return {"acc": four.frequency[k], "gap": gap, "term": four.n[k] / four.n.sum() * gap}[kind]
    if kind == "merged":
        what, k = rest[0][:-2], {"12": 0, "34": 1}[rest[0][-2:]]
        gap = abs(two.gap[k])
        found = {"acc": two.frequency[k], "conf": two.mean_p[k], "gap": gap}
        return {**found, "term": two.n[k] / two.n.sum() * gap}[what]
    if kind == "top_label_ece":
        return ece(equal_width(*top_label(*items(shared, "A")), np.array(entry["inputs"]["edges"])))
    return {
        "ece.M=4": lambda: ece(four),
        "ece.M=2": lambda: ece(two),
        "ece.ratio": lambda: ece(four) / ece(two),
        "signed_gap": lambda: four.gap,
    }[entry["id"].removeprefix("exp1.")]()


def exp1_b(entry: dict[str, Any], shared: Path) -> Any:
    m, data = entry["inputs"]["M"], items(shared, "B")
    kind = entry["id"].split(".")[1]
    return {
        "ace_equal_mass": lambda: ace(equal_count(*data, m)),
        "ece_equal_width": lambda: ece(equal_width(*data, m)),
    }[kind]()


def brier(entry: dict[str, Any], shared: Path) -> Any:
    _, which, *rest = entry["id"].split(".")
    data = items(shared, which)
    terms = brier_terms(*data, equal_width(*data, 4))
    if not rest:
        return terms.brier
    if rest == ["closure_gap"]:
        return terms.brier - (terms.reliability - terms.resolution + terms.uncertainty)
    return getattr(terms, TERMS[rest[0]])


def edges(entry: dict[str, Any], shared: Path) -> Any:
    given = entry["inputs"]
    if entry["id"] == "ece.float_edges":
        p, m = np.array([given["p"]]), given["M"]
        naive = np.digitize(p, np.linspace(0, 1, m + 1)) - 1
        ours = equal_width(p, np.array([True]), m).index
        return {"naive_linspace_bin": int(naive[0]), "exact_rational_bin": int(ours[0])}
    p, y = np.array(given["p"]), np.array(given["y"]) == 1
    if entry["id"] == "ece.edge_rule.left_closed":
        return ece(equal_width(p, y, given["M"]))
    # the other rule is ours seen from the other end
    assert entry["id"] == "ece.edge_rule.right_closed"
    return ece(equal_width(1 - p, ~y, given["M"]))


def temperature(entry: dict[str, Any], shared: Path) -> Any:
    kind = entry["id"].removeprefix("temperature.")
    if kind.startswith("guo_ratio."):
        return entry["inputs"]["before"] / entry["inputs"]["after"]
    z, y = logits(shared)
    t = fit_temperature(z, y, np.arange(z.size)).value
    return {
        "T_star": lambda: t,
        "nll_before": lambda: log_losses(z, y).mean(),
        "nll_after": lambda: log_losses(z / t, y).mean(),
        "ece15.before": lambda: ece(equal_width(sigmoid(z), y, 15)),
        "ece15.after": lambda: ece(equal_width(sigmoid(z / t), y, 15)),
    }[kind]()


FIND: dict[str, Callable[[dict[str, Any], Path], Any]] = {
    "exp1": exp1,
    "exp1B": exp1_b,
    "brier": brier,
    "murphy": brier,
    "ece": edges,
    "temperature": temperature,
}


def test_every_family_has_its_function():
    assert set(FIND) == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_entry_by_id(goldens, shared: Path, family):
    """An entry that is not known fails; rounded ones follow `expected`, not the seed's print."""
    entries = goldens(f"{family}.")
    assert entries
    for name, entry in entries.items():
        found, wanted = FIND[family](entry, shared), entry["expected"]
        if isinstance(wanted, dict):
            assert wanted == found, name
        else:
            assert pytest.approx(wanted, abs=max(entry["tolerance_abs"], 1e-12)) == found, name


def test_what_the_seed_claims_of_temperature_holds_in_one_pair_of_four(goldens):
    ratios = [e["expected"] for e in goldens("temperature.guo_ratio").values()]
    assert (4, 1) == (len(ratios), sum(r > 10 for r in ratios))


@pytest.mark.parametrize("which", ["A", "B"])
def test_the_bins_of_experiment_1(shared: Path, which):
    """Both item sets have the seed's bin table; the edge rule is ours."""
    made = equal_width(*items(shared, which), 4)
    table = fixture(shared, "experiment1")["bins"]
    assert [b["n"] for b in table] == made.n.tolist()
    assert [b["mean_conf"] for b in table] == pytest.approx(made.mean_p.tolist())
    assert [b["positives"] for b in table] == pytest.approx((made.n * made.frequency).tolist())
    assert [b["low"] for b in table] == edges_of(4)[:-1].tolist()
    assert [b["high"] for b in table] == edges_of(4)[1:].tolist()


def test_the_planted_table(shared: Path):
    folder = shared / "goldens" / "simulated"
    with (folder / "calibration_planted.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    expected = json.loads((folder / "calibration_planted.expected.json").read_text("utf-8"))
    z, p = (np.array([float(r[c]) for r in rows]) for c in ("logit", "p_unsafe"))
    y = np.array([r["label"] == "1" for r in rows])
    each = np.arange(y.size)
    fitted = fit_temperature(z, y, each)
    t = fitted.value
    assert fitted.interval.low < expected["true_temperature"] < fitted.interval.high
    ten = brier_terms(p, y, equal_width(p, y, 10))
    wrong = (p >= 0.5) != y
    selective = aurc(np.maximum(p, 1 - p), wrong, each)
    found = {
        "n": y.size,
        "T_star": t,
        "nll_before": log_losses(z, y).mean(),
        "nll_after": log_losses(z / t, y).mean(),
        "ece_p_unsafe": {m: ece(equal_width(p, y, int(m))) for m in expected["ece_p_unsafe"]},
        "ece_top_label": {
            m: ece(equal_width(*top_label(p, y), int(m))) for m in expected["ece_top_label"]
        },
        "ace_p_unsafe": {m: ace(equal_count(p, y, int(m))) for m in expected["ace_p_unsafe"]},
        "ece15_after_T": ece(equal_width(sigmoid(z / t), y, 15)),
        "murphy10": {
            "brier": ten.brier,
            "reliability": ten.reliability,
            "resolution": ten.resolution,
            "uncertainty": ten.uncertainty,
            "wbv": ten.within_variance,
            "wbc": ten.within_covariance,
        },
        "auroc": auroc(p, y, each).value,
        "brier": ten.brier,
        "error_rate": wrong.mean(),
        "aurc_tie_expected": selective.value,
        "aurc_oracle": selective.oracle,
        "e_aurc": selective.excess,
    }
    assert set(expected) == {*found, "true_temperature", "edge_rule"}
    for name, value in found.items():
        near = 1e-6 if name in {"T_star", "ece15_after_T"} else 1e-9
        assert pytest.approx(expected[name], abs=near) == value, name
