"""Goldens of the calculators, by id: each number as `judgeaudit stats` prints it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from judgeaudit.cli.stats import app
from judgeaudit.stats.two_raters import of_table


def stats(*words: Any) -> dict[str, Any]:
    """What the calculator finds."""
    done = CliRunner().invoke(app, [*map(str, words), "--json"])
    assert 0 == done.exit_code, (words, done.output, done.exception)
    answer = json.loads(done.stdout)
    assert answer["formula"]
    assert answer["source"]
    return answer["found"]


def tails(kind: str, given: dict[str, Any]) -> Any:
    if kind.startswith("worst_of_k_unbiased"):
        words = ("--events", given["c"], "--samples", given["n"])
        return stats("worst-of-k", given["k"], *words)["worst of k"]
    if kind.startswith("likert"):
        return stats("quantile", 0.95, *given["scores"])["mean"]
    if kind == "poisson_approx":
        # the product has no approximation; its exact number lies this near to it
        exact = stats("deployment", 10**6, "--rate", given["lam"] / 10**6)
        found = -float(np.expm1(-given["lam"]))
        assert pytest.approx(found, abs=3e-9) == exact["chance of at least one"]
        return found
    if kind.startswith("max_p"):
        words = ("--target", given["target"])
        return stats("deployment", given["N"], *words)["largest tolerable rate"]
    if "k" in given:
        return stats("worst-of-k", given["k"], "--rate", given["p"])["worst of k"]
    return stats("deployment", given["N"], "--rate", given["p"])["chance of at least one"]


NAMES = {
    "po": "observed agreement",
    "kappa": "Cohen's kappa",
    "pabak": "PABAK",
    "ac1": "Gwet's AC1",
    "scott_pi": "Scott's pi",
    "PA": "positive agreement",
    "NA": "negative agreement",
    "alpha": "Krippendorff's alpha",
}


def candidates(sizes: list[int]) -> dict[str, list[list[int]]]:
    """Tables with an agreement of exactly 0.9 and a kappa that rounds to 0.21."""
    out: dict[str, list[list[int]]] = {}
    for n in sizes:
        out[str(n)] = []
        for a in range(n * 9 // 10 + 1):
            for b in range(n // 20 + 1):
                cells = [a, b, n // 10 - b, n * 9 // 10 - a]
                kappa = of_table(*cells).figures["kappa"].value
                if isinstance(kappa, float) and round(kappa, 2) == 0.21:
                    out[str(n)].append(cells)
    return out


def agreement(kind: str, given: dict[str, Any], expected: Any) -> Any:
    if kind == "title14_kappa_021_candidates":
        found = candidates(given["n"])
        # the golden lists the first dozen of a size
        return {n: tables[: len(expected[n])] for n, tables in found.items()}
    table = given["table"]
    answer = stats("agreement", *(table[k] for k in ("both_pos", "only_r1", "only_r2", "both_neg")))
    if isinstance(expected, dict):
        return {key: answer[NAMES[key]] for key in expected}
    return answer[NAMES[kind.split(".")[1]]]


def asr(kind: str, given: dict[str, Any]) -> Any:
    if kind.startswith("fisher"):
        (x1, o1), (x2, o2) = given["t"]
        return stats("compare-rates", x1, x1 + o1, x2, x2 + o2)["p"]
    words = ("--queries", 1, "--categories", 1)
    found = stats("asr", given["x"], given["n"], *words)
    plain = stats("wilson", given["x"], given["n"])
    assert (plain["lower limit"], plain["upper limit"]) == (
        found["lower limit"],
        found["upper limit"],
    )
    return {
        "wilson_low": found["lower limit"],
        "wilson_high": found["upper limit"],
        "wilson_ratio": found["upper limit"] / max(found["lower limit"], 1e-300),
        "point": found["attack success rate"],
    }[kind.split(".", maxsplit=1)[0]]


def bound(given: dict[str, Any]) -> float:
    if given["n"] == 0:
        # no data, no answer: the command refuses, the function's bound is 1
        refused = CliRunner().invoke(app, ["upper-bound", "0", "0"])
        assert "Without a trial" in str(refused.exception)
        from judgeaudit.stats.intervals import clopper_pearson_upper

        return clopper_pearson_upper(0, 0)
    words = ("--level", given["conf"])
    return stats("upper-bound", given["x"], given["n"], *words)["upper bound"]


def rule_of_three(kind: str, given: dict[str, Any]) -> Any:
    if kind == "ln005":
        # the constant behind the 3: n times the exact bound comes to -ln 0.05 as n grows
        n = 10**12
        found = float(np.log(0.05))
        near = pytest.approx(-found, abs=1e-6)
        assert near == n * stats("rule-of-three", n)["exact bound"]
        return found
    if kind.startswith("rule_of_4"):
        return stats("rule-of-three", 1, "--level", given["conf"])["rule of three"]
    if kind.startswith("first_n"):
        limit = 0.02 if "2pct" in kind else 0.01
        name = "rule over exact, less 1"
        return next(k for k in range(60, 400) if stats("rule-of-three", k)[name] < limit)
    if kind == "gap_n100_pp":
        found = stats("rule-of-three", 100)
        return found["rule of three"] - found["exact bound"]
    found = stats("rule-of-three", given["n"])
    return {
        "exact_upper": found["exact bound"],
        "approx": found["rule of three"],
        "rel_error": found["rule over exact, less 1"],
    }[kind.split(".", maxsplit=1)[0]]


def sample_size(kind: str, given: dict[str, Any]) -> Any:
    if kind == "ratio_1pct_vs_10pct":
        raw = [
            stats("sample-size", p, "--relative-error", given["eps"])["before rounding up"]
            for p in (given["p1"], given["p2"])
        ]
        return raw[0] / raw[1]
    words = ("--relative-error", given["eps"], "--z", given["z"])
    if kind.startswith("dn_dp"):
        # the slope of the formula, by a central difference of its numbers before rounding up
        step = 1e-7
        up, down = (
            stats("sample-size", given["p"] + s, *words)["before rounding up"]
            for s in (step, -step)
        )
        return (up - down) / (2 * step)
    found = stats("sample-size", given["p"], *words)
    return found["items" if kind.startswith("ceil") else "before rounding up"]


def pis(given: dict[str, Any]) -> float:
    words = ("--delta", given["delta"], "--direction", given["R_dir"], "--undue", given["U"])
    return stats("pis", *words)["PIS"]


def rogan_gladen(given: dict[str, Any]) -> float:
    words = ("--apparent", given["apparent"], "--se", given["se"], "--sp", given["sp"])
    found = stats("rogan-gladen", *words)
    assert found["corrected rate"] == max(0.0, found["before clipping"])
    return found["before clipping"]


def value_of(name: str, entry: dict[str, Any]) -> Any:
    family, kind = name.split(".", 1)
    given = entry["inputs"]
    return {
        "tails": lambda: tails(kind, given),
        "agreement": lambda: agreement(kind, given, entry["expected"]),
        "asr": lambda: asr(kind, given),
        "cp_upper_one_sided": lambda: bound(given),
        "rule_of_three": lambda: rule_of_three(kind, given),
        "sample_size": lambda: sample_size(kind, given),
        "multiplicity": lambda: stats("any-of", given["m"], "--alpha", given["alpha"])[
            "chance of a false finding"
        ],
        "rogan_gladen": lambda: rogan_gladen(given),
        "pis": lambda: pis(given),
    }[family]()


FAMILIES = (
    *("tails.", "agreement.", "asr.", "cp_upper_one_sided.", "rule_of_three.", "sample_size."),
    *("multiplicity.", "rogan_gladen.", "pis.forward.", "pis.case."),
)


@pytest.mark.parametrize("prefix", FAMILIES)
def test_every_entry_by_id(goldens, prefix):
    entries = goldens(prefix)
    assert entries
    for name, entry in entries.items():
        found, expected = value_of(name, entry), entry["expected"]
        near = max(entry["tolerance_abs"], 1e-12)
        if "dn_dp" in name:
            near = 1.0  # of a million: a difference quotient
        if isinstance(expected, float):
            expected = pytest.approx(expected, abs=near, rel=0)
        assert expected == found, name
