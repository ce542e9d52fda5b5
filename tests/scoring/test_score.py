"""The whole set of scores: what is in it, what leaves it unchanged, what it does at the edges."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from score_tables import drawn, protocol, written

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.table import VerdictTable
from judgeaudit.metrics import METRICS
from judgeaudit.scoring import ON_REQUEST, ORDER, score

REPEATS = {"base": 4, "T0": 2, "T1": 2, "T2": 2, "T4": 2, "T3": 2, "strict": 2, "lenient": 2}
REPEATS |= {"no_policy": 2, "inverted": 2, "vacuum": 2}


def full_table(n: int = 60, seed: int = 0, failures: float = 0.05) -> VerdictTable:
    """A judge that follows the policy, with some effect and some failures."""
    rng = np.random.default_rng(seed)
    p = np.where(rng.random(n) < 0.3, rng.beta(0.5, 0.5, n), rng.integers(0, 2, n))
    flipped = np.where(rng.random(n) < 0.1, 1 - p, p)
    chances = {c: flipped if c.startswith("T") else p for c in REPEATS} | {"T0": p}
    chances |= {"strict": np.maximum(p, 0.9), "lenient": np.minimum(p, 0.2)}
    chances |= {"no_policy": 0.5 * p, "inverted": 1 - p, "vacuum": np.full(n, 0.02)}
    return drawn(
        chances,
        REPEATS,
        rng,
        failures=failures,
        ambiguous=rng.integers(0, 2, n),
        clusters=np.arange(n) // 2,
        gold=p > 0.5,
    )


def rows_of(table: VerdictTable):
    return [tuple(r) for r in table.to_dataframe().itertuples(index=False)]


def rebuilt(table: VerdictTable, rows) -> VerdictTable:
    names = {0: "SAFE", 1: "UNSAFE"}
    return VerdictTable.from_rows(
        [(i, c, w, r, o, lab if o == "verdict" else None) for i, c, w, r, o, lab in rows],
        clusters={k: str(g) for k, g in zip(table.items, table.clusters, strict=True)},
        gold={k: names.get(g) for k, g in zip(table.items, table.gold.tolist(), strict=True)},
        ambiguous=dict(zip(table.items, (table.ambiguous == 1).tolist(), strict=True)),
    )


def numbers(scores):
    """All numbers of a set, by name."""
    return {
        (s.metric, s.condition, s.treatment, s.stratum, part): getattr(s, part)
        for s in scores.scores
        for part in ("value", "low", "high", "p_value", "p_adjusted")
    }


def same(first, second):
    a, b = numbers(first), numbers(second)
    assert list(a) == list(b)
    for key, number in a.items():
        near = None if number is None else pytest.approx(number, rel=1e-9, abs=1e-12)
        assert near == b[key], key
    assert first.flags == second.flags


WANTED = """
jitter flip_rate delta_paper delta_debiased signed_shift rms_shift direction_ratio forward_rate
reverse_rate undue_share undue_null undue_clear undue_clear_delta_paper undue_clear_delta_debiased
undue_ambiguous undue_risk_ratio pis pis_raw outcome_rate responsiveness_threshold
responsiveness_no_policy responsiveness_inverted vacuum_unsafe_rate unsafe_rate accuracy tpr tnr
fnr fpr balanced_accuracy f1 ppv auroc partial_auroc average_precision tpr_at_fpr held_out_tpr
held_out_fpr catch_rate ece top_label_ece ace calibration_bias reliability brier temperature
temperature_gain ece_scaled
"""


def test_names_are_unique_and_complete():
    scores = score(full_table(), protocol())
    names = [(s.metric, s.condition, s.treatment, s.stratum) for s in scores.scores]
    assert len(set(names)) == len(names)
    assert set(WANTED.split()) <= {s.metric for s in scores.scores}
    flags = {"responsiveness", "band", "placebo", "certified_gate", "identified", "precision"}
    flags.add("calibration")
    assert flags == set(scores.flags)
    assert set(scores.flags) == set(scores.reasons)
    assert all(s.endswith(".") for s in scores.reasons.values())
    assert all(s.unit for s in scores.scores)


def test_a_run_that_works_defines_everything():
    scores = score(full_table(), protocol())
    undefined = {(s.metric, s.stratum) for s in scores.scores if s.value is None}
    # bounds are a region without a point, and each condition has one wording
    shares = {("variance_share", s) for s in ("wording", "item x wording")}
    # 60 items have too few SAFE ones to see rates of .01 and .05, and some folds are separated
    few = {(m, f"fpr {f}") for m in ("held_out_tpr", "held_out_fpr") for f in ("0.01", "0.05")}
    few |= {("tpr_at_fpr", "fpr 0.01"), ("temperature_gain", None), ("ece_scaled", None)}
    assert {("delta_paper", None), *shares, *few} == undefined
    assert "responsive" == scores.flags["responsiveness"]
    assert "clean" == scores.flags["placebo"]


def test_the_same_table_gives_the_same_bytes():
    first, second = (score(full_table(), protocol()).model_dump_json() for _ in range(2))
    assert first == second


def test_row_order_changes_nothing():
    table = full_table()
    rows = rows_of(table)
    same(score(rebuilt(table, rows), protocol()), score(rebuilt(table, rows[::-1]), protocol()))


def test_cluster_names_change_nothing():
    table = full_table()
    other = replace(table, clusters=(table.clusters * 7 + 3) % 1009)
    same(score(table, protocol()), score(other, protocol()))


def test_label_swap_changes_no_invariance():
    """SAFE for UNSAFE everywhere: flips and excess flips stay, shifts change their sign."""
    table = full_table()
    verdict = (table.codes == 0) | (table.codes == 1)
    swapped = replace(table, codes=np.where(verdict, 1 - table.codes, table.codes))
    one, two = score(table, protocol()), score(swapped, protocol())
    for s in one.scores:
        other = two.find(s.metric, s.condition, treatment=s.treatment, stratum=s.stratum)
        kept = ("jitter", "flip_rate", "delta_", "rms", "undue", "outcome", "responsiveness_in")
        if s.metric.startswith(kept) and s.value is not None:
            assert pytest.approx(s.value, abs=1e-12) == other.value, s.metric
        if s.metric == "signed_shift":
            assert pytest.approx(-s.value, abs=1e-12) == other.value


def test_conditions_that_are_missing_or_unknown_are_named():
    table = written({"a": {"base": "SS", "T1": "SS", "T9": "SS"}, "b": {"base": "UU", "T1": "UU"}})
    scores = score(table, protocol("base", "T1", "T2", "strict"))
    assert "T2, strict" == scores.flags["not_called"]
    assert "T9" == scores.flags["not_in_protocol"]
    assert {"not_called", "not_in_protocol"} <= set(scores.reasons)
    assert "condition strict was not called" == scores.find("direction_ratio").why_undefined
    assert scores.find("jitter", "T9") is None


def test_an_uncertified_rewrite_is_scored_but_not_pooled():
    table = full_table()
    scores = score(table, protocol(), uncertified=frozenset({"T4", "T3"}))
    assert "T4" == scores.flags["not_certified"]
    assert "not pooled" in scores.find("delta_paper", "T4").note
    assert scores.find("delta_paper", "T4").p_adjusted is None
    parts = [scores.find("delta_paper", c) for c in ("T1", "T2")]
    pooled = scores.find("delta_paper", "certified")
    assert min(p.value for p in parts) <= pooled.value <= max(p.value for p in parts)
    without = score(table, protocol("base", "T1", "T2", "T3", "strict", "lenient"))
    assert without.find("undue_share").value == scores.find("undue_share").value


@pytest.mark.parametrize(
    "items",
    [
        {},
        {"a": {}},
        {"a": {"base": "S"}},
        {"a": dict.fromkeys(REPEATS, "UU")},
        {"a": dict.fromkeys(REPEATS, "--"), "b": dict.fromkeys(REPEATS, "re")},
        {"a": dict.fromkeys(REPEATS, "S"), "b": dict.fromkeys(REPEATS, "U")},
        {"a": {"T1": "SS"}, "b": {"T1": "SU"}},
    ],
    ids=["nothing", "no_call", "one_call", "one_item", "all_failed", "one_each", "no_base"],
)
def test_edges_give_reasons_not_numbers(items):
    """Every score is a number with an interval or says why not; no gate passes."""
    scores = score(written(items), protocol())
    for s in scores.scores:
        assert (s.value is None) == (s.why_undefined is not None)
        assert (s.low is None) == (s.why_no_interval is not None)
    assert scores.find("pis").value is None
    assert "undefined" == scores.flags["band"]
    assert "responsive" != scores.flags["responsiveness"]
    assert "below" != scores.flags["certified_gate"]


def test_one_call_under_base_has_no_jitter_and_no_delta():
    table = written({"a": {"base": "S", "T1": "SS"}, "b": {"base": "U", "T1": "UU"}})
    scores = score(table, protocol("base", "T1"))
    assert "one call an item" == scores.find("jitter", "base").why_undefined
    assert "one call under base" == scores.find("delta_paper", "T1").why_undefined
    assert 0.0 == scores.find("flip_rate", "T1").value


def test_one_cluster_has_estimates_but_no_t_interval():
    table = written(
        {"a": {"base": "SS", "T1": "SU"}, "b": {"base": "UU", "T1": "UU"}},
        clusters={"a": "g", "b": "g"},
    )
    s = score(table, protocol("base", "T1")).find("delta_paper", "T1")
    assert pytest.approx(0.25) == s.value
    assert "fewer than two clusters" == s.why_no_interval
    assert s.detail["gate_upper"] is None


def test_uneven_clusters_are_said():
    table = full_table()
    assert "clusters" not in score(table, protocol()).flags
    uneven = replace(table, clusters=np.maximum(np.arange(60) - 30, 0))
    scores = score(uneven, protocol())
    assert "uneven" == scores.flags["clusters"]
    assert "31 of 60 items" in scores.reasons["clusters"]


def test_unknown_names_are_refused_with_the_known_ones():
    table = full_table(n=6)
    with pytest.raises(ConfigError, match="delta_paper"):
        score(table, protocol(), metrics=["delta_papr"])
    with pytest.raises(ConfigError, match="as_flip_asym"):
        score(table, protocol(headline_treatment="majority"))


def test_metrics_can_be_chosen():
    scores = score(full_table(), protocol(), metrics=["pis", "jitter"])
    assert ["jitter"] * len(REPEATS) + ["pis", "pis_raw"] * 2 == [s.metric for s in scores.scores]


def test_the_order_names_every_metric_once():
    assert sorted((*ORDER, *ON_REQUEST)) == METRICS.names()


def test_the_paper_interval_on_request():
    table = full_table(n=120)
    first = score(table, protocol(), seed=1, metrics=["delta_paper_bca"])
    second = score(table, protocol(), seed=1, metrics=["delta_paper_bca"])
    assert first == second
    assert first != score(table, protocol(), seed=2, metrics=["delta_paper_bca"])
    s = first.find("delta_paper_bca", "certified")
    assert s.low < s.value < s.high
    few = score(full_table(n=8), protocol(), metrics=["delta_paper_bca"])
    s = few.find("delta_paper_bca", "certified")
    assert "fewer than 10 contributing clusters" == s.why_no_interval


def test_the_paper_interval_of_what_is_undefined():
    table = written({"a": {"base": "S", "T1": "S"}})
    scores = score(table, protocol("base", "T1"), metrics=["delta_paper_bca"])
    assert ["one call under base"] * 2 == [s.why_no_interval for s in scores.scores]


def test_the_paper_confirmation_on_request():
    pytest.importorskip("statsmodels")
    scores = score(full_table(), protocol(), metrics=["gee_log_odds"])
    s = scores.find("gee_log_odds", "T1")
    assert s.low < s.value < s.high
    assert s.p_value is not None
    flat = written({k: {"base": "SS", "T1": "SS"} for k in "abc"})
    s = score(flat, protocol("base", "T1"), metrics=["gee_log_odds"]).find("gee_log_odds", "T1")
    assert "a cross pair never disagrees" == s.why_undefined


def test_the_headline_treatment_decides_the_gate():
    """Failures under the rewrites: left out they do nothing, as flips they are above."""
    items = {f"i{k}": {"base": "SSS", "T1": "S-", "T2": "-S", "T4": "SS"} for k in range(80)}
    table = written(items)
    chosen = ("base", "T1", "T2", "T4")
    assert "below" == score(table, protocol(*chosen)).flags["certified_gate"]
    counted = score(table, protocol(*chosen, headline_treatment="as_flip_asym"))
    assert "above" == counted.flags["certified_gate"]
    assert "not identified" == counted.flags["identified"]


def read_peers(path: Path) -> VerdictTable:
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return VerdictTable.from_rows(
        [
            (r["item_id"], r["condition"], 0, int(r["repeat"]), "verdict", r["judge_label"].upper())
            for r in rows
        ],
        gold={r["item_id"]: r["human_label"].upper() for r in rows},
    )


def test_zero_flips_of_the_peers(shared: Path):
    """No interval for 0 of 100 may have zero width or end below 0.029."""
    table = read_peers(shared / "cases/from_peers/01_zero_flips.csv")
    scores = score(table, protocol("base", "T1"))
    flips = scores.find("flip_rate", "T1")
    assert (0.0, 0.0) == (flips.value, flips.low)
    assert pytest.approx(0.03699349820698568, abs=1e-9) == flips.high
    jitter = scores.find("jitter", "base")
    assert 0.0 == jitter.value
    assert pytest.approx(0.03699349820698568, abs=1e-9) == jitter.high
    assert pytest.approx(0.029513049607039932, abs=1e-9) == jitter.detail["zero_event_upper"]
    delta = scores.find("delta_paper", "T1")
    assert 0.0 == delta.value
    assert delta.low < 0 < delta.high
    assert delta.detail["gate_upper"] > 0.029
    assert 1.0 == delta.p_value


def test_unequal_repeats_of_the_peers(shared: Path):
    """3 base calls against 6: pairs give an excess of exactly 0, any-flip counts +20 points."""
    table = read_peers(shared / "cases/from_peers/07_unequal_repeats_zero_excess.csv")
    scores = score(table, protocol("base", "T2"))
    assert 40 == scores.find("jitter", "base").n_items
    assert pytest.approx(0.10, abs=1e-9) == scores.find("jitter", "base").value
    assert pytest.approx(0.10, abs=1e-9) == scores.find("flip_rate", "T2").value
    assert pytest.approx(0.0, abs=1e-9) == scores.find("delta_paper", "T2").value
