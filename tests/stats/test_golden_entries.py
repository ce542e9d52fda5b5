"""Entries of the seed's statistics that concern this room, by id; an uncovered id fails."""

from __future__ import annotations

import math
from typing import Any

import golden_calibration
import pytest

from judgeaudit.metrics.pis import SCALE, WEIGHTS, pis_raw
from judgeaudit.stats._types import Interval
from judgeaudit.stats.corrected import rogan_gladen_point
from judgeaudit.stats.intervals import clopper_pearson_upper, wilson
from judgeaudit.stats.multiplicity import any_of
from judgeaudit.stats.simplex import win_share
from judgeaudit.stats.single_shot import rate_items

PREFIXES = (
    "rule_of_three.",
    "cp_upper_one_sided.",
    "asr.",
    "multiplicity.",
    "pis.",
    "rogan_gladen.",
    "sample_size.",
)

ELSEWHERE = {
    *("agreement", "tails"),  # test_golden_calculators
    *("exp2", "aurc", "abstention"),  # test_agreement_goldens
    "semantic_entropy",  # test_entropy
    *golden_calibration.FAMILIES,  # test_calibration_goldens
}
"""Families that other files check."""

W1, W2, W3 = WEIGHTS


def upper(n: float) -> float:
    return clopper_pearson_upper(0, n)


def relative_error(n: int) -> float:
    return 3 / n / upper(n) - 1


def first_below(limit: float) -> int:
    return next(n for n in range(1, 1000) if relative_error(n) < limit)


def rule_of_three(entry: dict[str, Any]) -> Any:
    kind, n = entry["id"].split(".")[1], entry["inputs"].get("n")
    return {
        "ln005": lambda: math.log(0.05),
        "rule_of_4": lambda: -math.log1p(-entry["inputs"]["conf"]),
        "exact_upper": lambda: upper(n),
        "approx": lambda: 3 / n,
        "rel_error": lambda: relative_error(n),
        "first_n_rel_error_below_2pct": lambda: first_below(0.02),
        "first_n_rel_error_below_1pct": lambda: first_below(0.01),
        "gap_n100_pp": lambda: 3 / n - upper(n),
    }[kind]()


def asr(entry: dict[str, Any]) -> Any:
    kind, given = entry["id"].split(".")[1], entry["inputs"]
    if kind == "fisher_2of200_vs_8of1000":
        return fisher(*given["t"])
    interval = wilson(given["x"], given["n"])
    assert isinstance(interval, Interval)
    return {
        "wilson_low": interval.low,
        "wilson_high": interval.high,
        "wilson_ratio": interval.high / max(interval.low, 1e-300),
        "point": given["x"] / given["n"],
    }[kind]


def fisher(first: list[int], second: list[int]) -> float:
    """Fisher's test by hand: the same hypergeometric law as the exact test's."""
    a, b = sum(first), sum(second)
    total, hits = a + b, first[0] + second[0]
    chance = {
        k: math.comb(a, k) * math.comb(b, hits - k) / math.comb(total, hits)
        for k in range(hits + 1)
    }
    return sum(p for p in chance.values() if p <= chance[first[0]] * (1 + 1e-9))


def sample_size(entry: dict[str, Any]) -> Any:
    kind, given = entry["id"].split(".")[1], entry["inputs"]
    if kind == "ratio_1pct_vs_10pct":
        return (1 - given["p1"]) / given["p1"] / ((1 - given["p2"]) / given["p2"])
    if kind.startswith("dn_dp"):
        return -(given["z"] ** 2) / (given["eps"] ** 2 * given["p"] ** 2)
    if kind.startswith("raw"):
        # the ceiling of the raw size is the product's number; the raw one is its formula
        raw = given["z"] ** 2 * (1 - given["p"]) / (given["eps"] ** 2 * given["p"])
        assert math.ceil(raw) == rate_items(given["p"], given["eps"], z=given["z"])
        return raw
    return rate_items(given["p"], given["eps"], z=given["z"])


def pis(entry: dict[str, Any]) -> Any:
    kind, given = entry["id"].split(".")[1], entry["inputs"]
    if kind in {"forward", "case"}:
        return max(0.0, pis_raw(given["delta"], given["R_dir"], given["U"]))
    if kind == "implied_U":
        found = (pis_raw(given["delta"], given["R_dir"], 0) - given["PIS"]) / (SCALE * W3)
        assert pytest.approx(given["PIS"]) == pis_raw(given["delta"], given["R_dir"], found)
        return found
    if kind == "implied_delta":
        return (pis_raw(0, given["R_dir"], given["U"]) - given["PIS"]) / (SCALE * W1)
    if kind == "share_of_penalty_from_U":
        delta, undue = 0.011, 0.18533333333333338
        loss = 1 - pis_raw(delta, 1, undue)
        return (1 - pis_raw(0, 1, undue)) / loss
    if kind == "simplex_win_fraction":
        return {pair: win_share(*(given[j] for j in pair.split(">"))) for pair in entry["expected"]}
    return {
        # arithmetic of published figures; no function of ours is behind it
        "spread_max": lambda: 0.70 / 0.03,
        "implied_parse_failure_share": lambda: (
            (given["delta_as_flip"] - given["delta_excl"]) / (1 - given["delta_excl"])
        ),
        "delta_spread": lambda: 7.6 / 1.1,
    }[kind]()


def value_of(entry: dict[str, Any]) -> Any:  # noqa: PLR0911 - one case a prefix
    given = entry["inputs"]
    match entry["id"].split(".")[0]:
        case "rule_of_three":
            return rule_of_three(entry)
        case "cp_upper_one_sided":
            return clopper_pearson_upper(given["x"], given["n"], level=given["conf"])
        case "asr":
            return asr(entry)
        case "multiplicity":
            return any_of(given["m"], given["alpha"])
        case "rogan_gladen":
            return rogan_gladen(given)
        case "sample_size":
            return sample_size(entry)
        case "pis":
            return pis(entry)
    raise AssertionError(f"no check covers {entry['id']}")


def rogan_gladen(given: dict[str, float]) -> float:
    found = rogan_gladen_point(given["apparent"], given["se"], given["sp"])
    raw = (given["apparent"] + given["sp"] - 1) / (given["se"] + given["sp"] - 1)
    assert found.clipped == (raw < 0)
    assert max(0.0, raw) == pytest.approx(found.value)
    return raw


def test_every_family_is_checked_here_or_elsewhere(goldens):
    families = {name.split(".")[0] for name in goldens("")}
    checked = {prefix.removesuffix(".") for prefix in PREFIXES}
    assert families == checked | ELSEWHERE
    assert not checked & ELSEWHERE


@pytest.mark.parametrize("prefix", PREFIXES)
def test_every_entry_of_a_prefix(goldens, prefix):
    entries = goldens(prefix)
    assert entries
    for name, entry in entries.items():
        tolerance = max(entry["tolerance_abs"], 1e-12)
        found = value_of(entry)
        expected = pytest.approx(entry["expected"], abs=tolerance, rel=0)
        assert expected == found, name
