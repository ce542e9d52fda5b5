"""Detection, placebo, outcome rates, bounds, jitter and the registry."""

from __future__ import annotations

import numpy as np
import pytest
from score_tables import drawn, view, written

from judgeaudit.core.errors import ConfigError
from judgeaudit.metrics import CERTIFIED, METRICS
from judgeaudit.metrics._words import listed, plain
from judgeaudit.metrics.delta import delta_debiased, delta_paper, rms_shift
from judgeaudit.metrics.detection import accuracy, tnr, tpr
from judgeaudit.metrics.failures import bounds_of, outcome_rate, outcomes, treated
from judgeaudit.metrics.gate import certified_gate, identified
from judgeaudit.metrics.jitter import jitter
from judgeaudit.metrics.placebo import placebo
from judgeaudit.metrics.unsafe_rate import unsafe_rate
from judgeaudit.stats.exact import no_effect
from judgeaudit.stats.intervals import wilson

GOLD = {"a": "UNSAFE", "b": "UNSAFE", "c": "SAFE", "d": "SAFE", "e": None}
BASE = {"a": "UUUU", "b": "UUSS", "c": "SSS-", "d": "----", "e": "UUUU"}


def one(report):
    return report.scores[0]


def detection_view(**changes):
    table = written({k: {"base": v} for k, v in BASE.items()}, gold={**GOLD, **changes})
    return view(table)


def test_detection_by_hand():
    """An item counts by the share of its verdicts that are right; failures count apart."""
    run = detection_view()
    assert pytest.approx((1 + 0.5 + 1) / 3) == one(accuracy(run)).value
    assert pytest.approx(0.75) == one(tpr(run)).value
    assert pytest.approx(1.0) == one(tnr(run)).value
    assert 3 == one(accuracy(run)).n_items
    assert {"unparseable": 5} == one(accuracy(run)).excluded
    assert pytest.approx((1 + 0.5 + 0.75 + 0) / 4) == one(accuracy(run)).detail["failures_as_wrong"]
    assert 1.0 == one(tnr(run)).detail["items_without_verdict"]


def test_one_class_has_no_rate_for_the_other():
    run = detection_view(a="SAFE", b="SAFE")
    assert "no item is labelled UNSAFE" == one(tpr(run)).why_undefined
    assert one(accuracy(run)).value is not None
    none = detection_view(**dict.fromkeys("abcd"))
    assert "no item has a gold label" == one(accuracy(none)).why_undefined
    assert "no item is labelled SAFE" == one(tnr(none)).why_undefined
    failed = view(written({"d": {"base": "--"}}, gold={"d": "SAFE"}))
    assert "no labelled item has a verdict" == one(tnr(failed)).why_undefined


def test_detection_with_one_call_an_item_is_wilson():
    items = {f"i{k}": {"base": "U" if k < 30 else "S"} for k in range(40)}
    run = view(written(items, gold=dict.fromkeys(items, "UNSAFE")))
    score = one(tpr(run))
    assert pytest.approx((wilson(30, 40).low, wilson(30, 40).high)) == (score.low, score.high)


def test_an_always_safe_judge_is_seen():
    items = {f"i{k}": {"base": "SS"} for k in range(40)}
    gold = {k: "UNSAFE" if n % 2 else "SAFE" for n, k in enumerate(items)}
    run = view(written(items, gold=gold))
    assert (0.5, 0.0, 1.0) == tuple(one(f(run)).value for f in (accuracy, tpr, tnr))


def placebo_flag(filed, n=60, base="SU"):
    items = {f"i{k:03d}": {"base": base, "T0": filed(k)} for k in range(n)}
    return placebo(view(written(items))).flags["placebo"]


def test_placebo():
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 0.5, 80)
    run = view(drawn({"base": p, "T0": p}, {"base": 5, "T0": 2}, rng))
    assert "clean" == placebo(run).flags["placebo"]
    assert "suspect" == placebo_flag(lambda k: "UU" if k % 2 else "SS", base="SSUU")
    assert "not run" == placebo(view(written({"a": {"base": "SS"}}))).flags["placebo"]
    assert "not run" == placebo_flag(lambda _: "--")


def test_a_cache_is_suspect():
    """Repeats that are answered from a cache agree too well with base."""
    items = {}
    for k in range(60):
        first = "S" if k % 2 else "U"
        items[f"i{k}"] = {"base": first + "SU", "T0": "SU"}
    flags = placebo(view(written(items))).flags
    assert "suspect" == flags["placebo"]


def test_placebo_suspects_few_clean_runs():
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(200):
        p = rng.beta(0.5, 0.5, 50)
        run = view(drawn({"base": p, "T0": p}, {"base": 5, "T0": 2}, rng))
        hits += placebo(run).flags["placebo"] == "suspect"
    assert hits / 200 <= 0.01 + 4 * (0.01 * 0.99 / 200) ** 0.5


def test_outcome_rates():
    table = written({"a": {"base": "SS-r"}, "b": {"base": "UUUe"}, "c": {"T1": "SS"}})
    found = {(s.condition, s.stratum): s for s in outcomes(view(table)).scores}
    assert pytest.approx(3 / 8) == found["base", None].value
    for kind in ("unparseable", "refusal", "error"):
        assert pytest.approx(1 / 8) == found["base", kind].value
    assert 0.0 == found["base", "truncated"].value
    assert found["base", "truncated"].high > 0.2
    assert (3.0, 8.0) == (found["base", None].numerator, found["base", None].denominator)
    assert 0.0 == found["T1", None].value


def test_unsafe_rate_is_a_mean_over_items():
    table = written({"a": {"base": "U"}, "b": {"base": "SSSS"}})
    assert pytest.approx(0.5) == one(unsafe_rate(view(table))).value


def test_treatments_by_name():
    run = view(written({"a": {"base": "SSS", "T1": "S-"}}))
    assert 0.0 == treated(run, "exclude", "T1").mean
    assert pytest.approx(0.5) == treated(run, "as_flip_asym", "T1").mean
    assert pytest.approx(0.5) == treated(run, "as_flip_asym", CERTIFIED).mean
    with pytest.raises(ConfigError, match="as_flip_sym"):
        treated(run, "drop", "T1")


def test_identified():
    items = {f"i{k}": {"base": "SSS", "T1": "SS"} for k in range(99)}
    items["x"] = {"base": "SSS", "T1": "S-"}
    run = view(written(items))
    assert certified_gate(run).flags == {"certified_gate": "below", "identified": "identified"}
    region = bounds_of(run, ("T1",))
    assert identified(region, 0.05)
    assert not identified(region, 0.004)
    assert identified(bounds_of(view(written({})), ("T1",)), 0.05) is None


def test_gate_reasons_name_the_numbers():
    above = {f"i{k}": {"base": "SSS", "T1": "UU" if k < 30 else "SS"} for k in range(60)}
    report = certified_gate(view(written(above)))
    assert "above" == report.flags["certified_gate"]
    assert report.reasons["certified_gate"].startswith("The excess flip rate of T1: 0.500 [")
    lone = certified_gate(view(written({"a": {"base": "SSS", "T1": "SS"}})))
    assert "inconclusive" == lone.flags["certified_gate"]
    assert "has no interval" in lone.reasons["certified_gate"]


def test_holm_is_over_the_certified_conditions_with_a_p_value():
    items = {
        f"i{k}": {"base": "SSSS", "T1": "SU" if k < 8 else "SS", "T2": "SS", "T4": "S", "T3": "SU"}
        for k in range(40)
    }
    found = {s.condition: s for s in delta_debiased(view(written(items))).scores}
    assert pytest.approx(min(1.0, 2 * found["T1"].p_value)) == found["T1"].p_adjusted
    assert (None, None) == (found["T4"].p_value, found["T4"].p_adjusted)
    assert "T4" in found[CERTIFIED].note
    assert found["T3"].p_value is not None
    assert found["T3"].p_adjusted is None
    assert "exact by convolution" in found["T1"].p_method
    assert "base and T1" in found["T1"].null


def test_a_sharpening_judge_has_a_negative_paper_delta_that_is_not_clipped():
    rng = np.random.default_rng(0)
    p = np.full(400, 0.7)
    run = view(drawn({"base": p, "T1": np.full(400, 0.95)}, {"base": 4, "T1": 3}, rng))
    paper, debiased = one(delta_paper(run)), one(delta_debiased(run))
    assert paper.high < 0 < debiased.low
    root = one(rms_shift(run))
    assert pytest.approx(debiased.value**0.5) == root.value
    assert root.low <= 0.25 <= root.high


def test_a_negative_debiased_delta_is_printed_and_has_no_root():
    """Noise alone: the estimate may fall below 0, and the root of that is 0, not its size."""
    items = {f"i{k}": {"base": "SU", "T1": "SU"} for k in range(40)}
    run = view(written(items))
    found, root = one(delta_debiased(run)), one(rms_shift(run))
    assert pytest.approx(-0.5) == found.value
    assert found.high < 0
    assert (0.0, 0.0, 0.0) == (root.value, root.low, root.high)


def test_jitter_of_every_condition():
    table = written({"a": {"base": "SU", "T1": "S"}, "b": {"base": "SS", "T1": "S"}})
    found = {s.condition: s for s in jitter(view(table)).scores}
    assert 0.5 == found["base"].value
    assert "one call an item" == found["T1"].why_undefined
    failed = view(written({"a": {"base": "S-"}}))
    assert "no item has two verdicts" == one(jitter(failed)).why_undefined


def test_registry_refuses_an_unknown_metric():
    assert "pis" in METRICS
    with pytest.raises(ConfigError, match="did you mean 'pis'"):
        METRICS["piss"]


def test_words():
    assert ["0", "0.049", "2.1e-07", "1.000"] == [plain(x) for x in (0.0, 0.0487, 2.1e-7, 1.0)]
    assert ["", "a", "a and b", "a, b and c"] == [listed(list(x)) for x in ("", "a", "ab", "abc")]


def test_nothing_called_is_not_identified():
    for items in ({"a": {"base": "SS"}}, {"a": {"T1": "SS"}}):
        flags = certified_gate(view(written(items))).flags
        assert {"certified_gate": "inconclusive", "identified": "not identified"} == flags
    short = certified_gate(view(written({"a": {"base": "-", "T1": "S"}})))
    assert "No item has the calls" in short.reasons["identified"]


def test_an_outcome_rate_needs_a_call():
    found = outcome_rate(np.zeros(3), np.zeros(3), np.arange(3))
    assert "no call" == found.value.reason


def test_the_placebos_check_is_two_sided_and_says_so():
    """The flag doubles the smaller tail of the test whose upper tail stands in the table."""
    items = {
        f"i{k}": {"base": "SU" if k < 3 else "SS", "T0": "SU" if k < 2 else "SS"} for k in range(9)
    }
    run = view(written(items))
    base, filed = run.counts("base"), run.counts("T0")
    upper, lower = (
        no_effect(base, filed, statistic="delta_debiased", side=side).p_value
        for side in ("upper", "lower")
    )
    reported = delta_debiased(run).scores[0]
    assert (reported.condition, reported.p_value) == ("T0", upper)
    both = min(1.0, 2 * min(upper, lower))
    assert both != upper
    assert f"(two-sided p {both:.3f}: " in placebo(run).reasons["placebo"]


def test_single_deviating_calls_leave_the_debiased_excess_as_it_is():
    """By hand: item a adds 2/5 - (2*2*3/(5*4))/2 = 1/10; one deviating call an item adds 0."""
    quiet = {"base": "SSSSS", "T1": "SS", "T2": "SS"}
    items = {f"i{k}": dict(quiet) for k in range(18)}
    items["a"] = {"base": "UUSSS", "T1": "SS", "T2": "SS"}
    items["b"] = {"base": "USSSS", "T1": "SS", "T2": "SS"}
    for k in range(4):
        items[f"i{k}"]["T2"] = "SU"
    run = view(written(items))
    first, second = (
        next(s for s in delta_debiased(run).scores if s.condition == c) for c in ("T1", "T2")
    )
    assert first.value == pytest.approx(0.1 / 20)
    for field in ("value", "low", "high", "p_value"):
        assert getattr(first, field) == pytest.approx(getattr(second, field)), field
    raw = [s.value for s in METRICS["flip_rate"](run).scores if s.condition in ("T1", "T2")]
    # 2/5 + 1/5 of item pairs; 4 items with half their pairs more
    assert raw == pytest.approx([0.6 / 20, 2.6 / 20])
