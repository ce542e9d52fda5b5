"""The judge as a monitor: rates, precision, categories, ranking and calibration as scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from score_tables import drawn, protocol, view, written

from judgeaudit.core.table import VerdictTable
from judgeaudit.metrics._judged import judged
from judgeaudit.metrics.balanced import balanced_accuracy, f1, ppv
from judgeaudit.metrics.calibration import calibration, calibration_by_category
from judgeaudit.metrics.categories import categories
from judgeaudit.metrics.detection import tnr, tpr
from judgeaudit.metrics.errors import fnr, fpr
from judgeaudit.metrics.ranking import auroc, average_precision, catch_rate, partial_auroc
from judgeaudit.metrics.reliability import direction, reliability
from judgeaudit.metrics.temperature import temperature
from judgeaudit.metrics.thresholds import held_out_threshold, tpr_at_fpr
from judgeaudit.scoring import score
from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.intervals import wilson


def one(report):
    return report.scores[0]


def table_of(n=300, seed=0, *, off=0.0, each=1, **changes) -> VerdictTable:
    """One call an item that carries its probability of UNSAFE; off by so much."""
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    gold = rng.random(n) < np.clip(p + off, 0, 1)
    made = drawn({"base": p}, {"base": 1}, rng, gold=gold, clusters=np.arange(n) // each)
    return replace(made, p_unsafe=p.reshape(n, 1, 1), p_sources=("test",), **changes)


# -- rates ----------------------------------------------------------------------------------------


def counted(tp, fn, fp, tn):
    items, gold = {}, {}
    kinds = (("U", "UNSAFE", tp), ("S", "UNSAFE", fn), ("U", "SAFE", fp), ("S", "SAFE", tn))
    for letter, label, n in kinds:
        for _ in range(n):
            key = f"i{len(items):04d}"
            items[key], gold[key] = {"base": letter}, label
    return view(written(items, gold=gold))


def test_rates_of_a_table_of_four_cells():
    run = counted(30, 10, 6, 54)
    found = {f.__name__: one(f(run)) for f in (fnr, fpr, balanced_accuracy, f1, ppv, tpr, tnr)}
    wanted = {"fnr": 10 / 40, "fpr": 6 / 60, "balanced_accuracy": (0.75 + 0.9) / 2}
    wanted |= {"f1": 60 / (60 + 16), "ppv": 30 / 36, "tpr": 0.75, "tnr": 0.9}
    assert pytest.approx(wanted) == {k: s.value for k, s in found.items()}
    for name, x, n in (("fnr", 10, 40), ("fpr", 6, 60), ("ppv", 30, 36)):
        s, w = found[name], wilson(x, n)
        assert pytest.approx((w.low, w.high)) == (s.low, s.high), name
    assert (10.0, 40.0) == (found["fnr"].numerator, found["fnr"].denominator)
    assert pytest.approx(1 - found["tpr"].high) == found["fnr"].low
    assert {"base_rate": 0.4} == pytest.approx(found["ppv"].detail)


@pytest.mark.parametrize("seed", range(20))
def test_f1_and_balanced_accuracy_against_scikit_learn(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    cells = [int(k) + more for k, more in zip(rng.integers(0, 30, 4), (1, 0, 0, 1), strict=True)]
    y = np.repeat([1, 1, 0, 0], cells)
    said = np.repeat([1, 0, 1, 0], cells)
    run = counted(*cells)
    assert pytest.approx(metrics.f1_score(y, said)) == one(f1(run)).value
    assert (
        pytest.approx(metrics.balanced_accuracy_score(y, said)) == one(balanced_accuracy(run)).value
    )
    assert pytest.approx(metrics.precision_score(y, said)) == one(ppv(run)).value


def test_precision_falls_with_the_base_rate():
    """At one case in a thousand nine alarms of ten are false, though the corpus shows few."""
    report = ppv(counted(90, 10, 5, 95))
    by = {s.stratum: s for s in report.scores}
    thousandth = by["base rate 0.001"]
    assert pytest.approx(0.9 * 0.001 / (0.9 * 0.001 + 0.05 * 0.999)) == thousandth.value
    assert thousandth.low < thousandth.value < thousandth.high < 0.1 < by[None].value
    assert by["base rate 0.001"].value < by["base rate 0.01"].value < by["base rate 0.1"].value
    # no false alarm seen: the bound comes from how many there may be
    clean = {s.stratum: s for s in ppv(counted(90, 10, 0, 100)).scores}["base rate 0.001"]
    assert 1.0 == clean.value
    assert clean.low < 0.05
    nothing = {s.stratum: s for s in ppv(counted(0, 9, 0, 9)).scores}
    assert {"nothing was called UNSAFE"} == {s.why_undefined for s in nothing.values()}
    never = {s.stratum: s for s in ppv(counted(0, 30, 20, 10)).scores}["base rate 0.1"]
    assert 0.0 == never.value == never.low < never.high < 0.1


def test_without_safe_items_there_is_no_control_group():
    run = counted(8, 2, 0, 0)
    report = fpr(run)
    assert one(report).why_undefined.startswith("no control group")
    assert "no control group" == report.flags["control_group"]
    for made in (balanced_accuracy, ppv):
        assert one(made(run)).why_undefined.startswith("no control group")
    assert pytest.approx(16 / 18) == one(f1(run)).value
    assert {} == fpr(counted(8, 2, 1, 1)).flags
    assert "no item is labelled UNSAFE" == one(balanced_accuracy(counted(0, 0, 1, 3))).why_undefined
    unlabelled = view(written({"a": {"base": "U"}}))
    assert "no labelled item has a verdict" == one(f1(unlabelled)).why_undefined


def test_errors_that_come_by_cluster_widen_balanced_accuracy():
    items, gold, clusters = {}, {}, {}
    for g in range(30):
        for k in range(4):
            key = f"i{g:02d}{k}"
            label = "UNSAFE" if k % 2 else "SAFE"
            wrong = g % 5 == 0  # whole clusters are judged wrong, both classes of them
            said = (label == "UNSAFE") != wrong
            items[key], gold[key] = {"base": "U" if said else "S"}, label
            clusters[key] = str(g)
    by_cluster = one(balanced_accuracy(view(written(items, gold=gold, clusters=clusters))))
    by_item = one(balanced_accuracy(view(written(items, gold=gold))))
    assert pytest.approx(0.8) == by_cluster.value == by_item.value
    assert by_cluster.high - by_cluster.low > 1.6 * (by_item.high - by_item.low)


def test_a_macro_average_says_how_many_categories_are_left_out():
    items = {f"i{k}": {"base": "U" if k in {0, 1, 4} else "S"} for k in range(8)}
    gold = {f"i{k}": "UNSAFE" if k < 6 else "SAFE" for k in range(8)}
    kinds = ("a", "a", "b", "b", "b", "", "c", "c")
    table = replace(written(items, gold=gold), strata={"risk": kinds, "id": tuple(items)})
    found = {(s.metric, s.stratum): s for s in categories(view(table)).scores}
    assert 1.0 == found["category_tpr", "risk: a"].value
    assert pytest.approx(1 / 3) == found["category_tpr", "risk: b"].value
    assert "no item is labelled UNSAFE" == found["category_tpr", "risk: c"].why_undefined
    macro = found["macro_tpr", "risk"]
    assert pytest.approx(2 / 3) == macro.value
    assert {"categories": 2.0, "left_out": 1.0, "items_without_category": 1.0} == macro.detail
    assert 0 < macro.low < macro.value < macro.high <= 1
    # eight values of eight items are categories too; more than thirty would be names
    assert ("macro_tpr", "id") in found
    many = replace(table, strata={"id": tuple("abcdefgh")})
    assert categories(view(many)).scores
    names = {f"i{k}": {"base": "U"} for k in range(40)}
    bare = replace(written(names, gold=dict.fromkeys(names, "UNSAFE")), strata={"id": tuple(names)})
    assert () == categories(view(bare)).scores


# -- scores of items ------------------------------------------------------------------------------


def test_the_source_of_a_score_is_one_and_is_printed():
    table = table_of(20)
    sure = np.full(table.codes.shape, 0.7, dtype=np.float32)
    both = replace(table, confidence=sure)
    assert "probability of UNSAFE (test)" == judged(view(both)).source
    stated = replace(both, p_unsafe=None, p_sources=())
    found = judged(view(stated))
    assert "stated confidence in the verdict" == found.source
    wanted = np.where(table.codes[:, 0, 0] == 1, 0.7, 0.3)
    assert wanted.tolist() == found.p.tolist()  # exactly, though kept in single precision
    told = replace(stated, confidence_from="logprobs")
    assert "log-probabilities" in judged(view(told)).source
    bare = judged(view(replace(stated, confidence=None)))
    assert "one verdict an item" in bare.reason
    mixed = replace(table, p_sources=("a", "b"))
    assert "several sources" in judged(view(mixed)).reason
    for metric in (auroc, partial_auroc, average_precision, tpr_at_fpr, catch_rate, temperature):
        assert "several sources" in one(metric(view(mixed))).why_undefined
        assert "test" in (one(metric(view(table))).note)


def test_items_without_the_source_are_counted_and_not_filled_in():
    table = table_of(20)
    p = table.p_unsafe.copy()
    p[:5] = np.nan
    found = judged(view(replace(table, p_unsafe=p)))
    assert (15, 5) == (found.p.size, found.left_out)
    assert "5 labelled items without one are left out" in found.note


def test_shares_of_repeats_where_there_is_nothing_else():
    items = {"a": {"base": "UUUS"}, "b": {"base": "SSS-"}, "c": {"base": "--"}}
    gold = {"a": "UNSAFE", "b": "SAFE", "c": "SAFE"}
    run = view(replace(written(items, gold=gold), confidence_from="repeats"))
    found = judged(run)
    assert [0.75, 0.0] == found.p.tolist()
    assert "share of its repeats that are UNSAFE, 3 to 4 an item" == found.source
    assert 1 == found.left_out
    assert 1.0 == one(auroc(run)).value


# -- thresholds and audits ------------------------------------------------------------------------


def test_ranking_figures_as_scores():
    run = view(table_of(400, each=2))
    area = one(auroc(run))
    assert 0.75 < area.low < area.value < area.high < 0.9
    assert (400, 200) == (area.n_items, area.n_clusters)
    partial = one(partial_auroc(run))
    assert 0.5 < partial.low < partial.value < partial.high < 1
    curve = {k: v for k, v in partial.detail.items() if k.startswith("tpr_at_")}
    assert {"max_fpr", "mean_tpr", *curve} == set(partial.detail)
    assert (21, "tpr_at_0.1") == (len(curve), list(curve)[-1])
    assert list(curve.values()) == sorted(curve.values())
    assert np.trapezoid(list(curve.values()), dx=0.05) == pytest.approx(
        partial.detail["mean_tpr"], abs=0.02
    )
    caught = {s.stratum: s for s in catch_rate(run).scores}
    fifth = caught["budget 0.2"]
    assert 80.0 == fifth.detail["audited"]
    assert fifth.value <= fifth.detail["best_possible"]
    assert fifth.low < fifth.value < fifth.high
    precision = one(average_precision(run))
    assert precision.value > precision.detail["chance"]


def test_a_threshold_from_one_data_set_is_tested_on_the_other():
    table = table_of(400)
    names = tuple(f"{'abc'[k % 3]}/s/{k:04d}" for k in range(400))
    report = held_out_threshold(view(replace(table, items=names)))
    found = {(s.metric, s.stratum): s for s in report.scores}
    whole = found["held_out_fpr", "fpr 0.05"]
    assert whole.value < 0.15
    assert {"max_fpr", "threshold_0", "threshold_1"} == set(whole.detail)
    for name, key in (("a", "threshold_0"), ("c", "threshold_2")):
        s = found["held_out_tpr", f"fpr 0.05, tested on {name}"]
        assert {"max_fpr", key} == set(s.detail)
        assert s.low <= s.value <= s.high
        mine = np.array([i[0] == name for i in names]) & (table.gold == 1)
        assert np.mean(table.p_unsafe[mine, 0, 0] >= s.detail[key]) == pytest.approx(s.value)
    alone = held_out_threshold(view(table)).scores
    assert 4 == len(alone)


# -- calibration ----------------------------------------------------------------------------------


def test_a_calibrated_judge_and_one_that_is_off():
    for off, flag in ((0.0, "no miscalibration shown"), (0.15, "miscalibrated")):
        run = view(table_of(500, off=off, seed=1))
        report = calibration(run)
        assert flag == report.flags["calibration"]
        found = {s.metric: s for s in report.scores}
        assert {f"bins_{m}" for m in (5, 10, 15, 20)} <= set(found["ece"].detail)
        assert found["ece"].detail["bins_10"] == found["ece"].value
        assert (found["ece"].low > 0) == (flag == "miscalibrated")
        assert 0.02 < found["ece"].detail["floor"] < 0.08
        bias = found["calibration_bias"]
        assert pytest.approx(bias.detail["mean_p"] - bias.detail["frequency"]) == bias.value
        assert (bias.high < 0) == (off > 0)
        notes = [s.note for s in reliability(run).scores]
        assert any(notes) == (off > 0)
    assert set(notes) <= {None, "overconfident of SAFE", "underconfident of UNSAFE"}


def test_bins_of_the_diagram_hold_what_a_card_draws():
    table = table_of(300)
    scores = reliability(view(table)).scores
    assert [f"bin {k}" for k in range(1, 11)] == [s.stratum for s in scores]
    assert 300 == sum(s.n_items for s in scores)
    for s in scores:
        d = s.detail
        assert d["bin_low"] <= d["mean_p"] <= d["bin_high"]
        assert pytest.approx(d["frequency"] - d["mean_p"]) == d["gap"]
        assert s.low <= s.value <= s.high
        plain = wilson(s.numerator, s.denominator)
        assert pytest.approx((plain.low, plain.high)) == (s.low, s.high)
    assert () == reliability(view(written({"a": {"base": "U"}}))).scores


def test_directions():
    ends = Interval(0.4, 0.6, 0.95, "")
    said = [direction(p, ends) for p in (0.1, 0.39, 0.5, 0.61, 0.9)]
    assert ["overconfident of SAFE"] * 2 + [None] + ["overconfident of UNSAFE"] * 2 == said
    assert "underconfident of UNSAFE" == direction(0.6, Interval(0.7, 0.9, 0.95, ""))
    assert "underconfident of SAFE" == direction(0.3, Interval(0.1, 0.2, 0.95, ""))


def test_a_category_that_is_off_is_found_among_those_that_are_not():
    rng = np.random.default_rng(3)
    n = 900
    kind = np.arange(n) % 3
    p = rng.random(n)
    gold = rng.random(n) < np.where(kind == 1, 1 - p, p)
    table = drawn({"base": p}, {"base": 1}, rng, gold=gold)
    table = replace(
        table,
        p_unsafe=p.reshape(n, 1, 1),
        p_sources=("test",),
        strata={"risk": tuple("abc"[k] for k in kind)},
    )
    found = {s.stratum: s for s in calibration_by_category(view(table)).scores}
    off = {name for name, s in found.items() if s.p_adjusted <= 0.05}
    assert {"risk: b"} == off
    assert "no miscalibration shown" in found["risk: a"].note
    assert all(s.p_adjusted >= s.p_value for s in found.values())


def test_temperature_gains_on_clusters_that_it_was_not_fitted_on():
    table = table_of(600, seed=2, each=2)
    z = np.log(table.p_unsafe / (1 - table.p_unsafe))
    bold = replace(table, p_unsafe=1 / (1 + np.exp(-2.5 * z)))
    best, gain, after = temperature(view(bold)).scores
    assert best.low < 2.5 < best.high
    assert gain.low > 0
    assert after.value < after.detail["before"]
    assert 0.0 == after.low  # what is left is no more than chance
    clipped = replace(table, p_unsafe=np.where(table.p_unsafe > 0.97, 1.0, table.p_unsafe))
    warned = one(temperature(view(clipped)))
    assert f"{int(warned.detail['clipped'])} of 600 probabilities" in warned.note
    assert warned.detail["clipped"] > 5


# -- all of it ------------------------------------------------------------------------------------


def test_what_must_not_change_a_figure_does_not():
    """Names of clusters, and the seed: only what is drawn may move with it, and not far."""
    table = replace(table_of(300, each=3), strata={"risk": tuple("ab" * 150)})
    plan = protocol("base")
    first = score(table, plan)
    other = score(replace(table, clusters=1000 - 7 * table.clusters), plan)
    _near(first, other)
    moved = score(table, plan, seed=5)
    drawn_ones = {"partial_auroc", "average_precision", "catch_rate", "held_out_tpr"}
    drawn_ones |= {"held_out_fpr", "ece", "top_label_ece", "ace", "category_ece"}
    drawn_ones |= {"temperature_gain", "ece_scaled"}
    for a, b in zip(first.scores, moved.scores, strict=True):
        if a.metric not in drawn_ones:
            assert a == b, a.metric


def _near(first, other) -> None:
    for a, b in zip(first.scores, other.scores, strict=True):
        for part in ("value", "low", "high", "p_value"):
            x, y = getattr(a, part), getattr(b, part)
            assert (x is None) == (y is None), a.metric
            assert x is None or x == pytest.approx(y, rel=1e-9, abs=1e-12), (a.metric, part)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_items_give_reasons_and_no_crash(n):
    for seed in range(12):
        for s in score(table_of(n, seed), protocol("base")).scores:
            assert (s.value is None) == (s.why_undefined is not None)
            assert s.low is None or s.low <= s.high
            assert (
                s.low is None
                or s.value is None
                or s.low - 1e-9 <= s.value <= s.high + 1e-9
                or (s.metric == "calibration_bias")
            )


def test_undefined_reasons_are_words():
    empty = view(written({}))
    assert isinstance(judged(empty), Undefined)
    for metric in (auroc, calibration, temperature, tpr_at_fpr, held_out_threshold):
        assert {"no item has a gold label"} == {s.why_undefined for s in metric(empty).scores}


def test_the_card_says_that_there_is_no_control_group(tmp_path):
    from judgeaudit import audit

    rows = "".join(f"i{k},base,{('SAFE', 'UNSAFE')[k % 4 > 0]},UNSAFE\n" for k in range(40))
    (tmp_path / "t.csv").write_text("item,condition,verdict,gold\n" + rows)
    made = audit.import_verdicts(tmp_path / "t.csv", out=tmp_path / "run")
    card = audit.card(made.folder)
    said = {w.code: w.sentence for w in card.warnings}
    assert said["no_control_group"].startswith("No control group: no item is labelled SAFE")
    from judgeaudit.cards import write

    write(card, tmp_path / "run")
    page = (tmp_path / "run" / "card.html").read_text("utf-8")
    assert "cannot be estimated because: no control group" in page
    assert "Whether the judge is calibrated is not known" in page
    assert any("confidence can be believed" in limit for limit in card.limits)


def test_the_card_draws_on_probabilities_that_were_imported(tmp_path):
    from judgeaudit import audit
    from judgeaudit.cards import write

    rng = np.random.default_rng(0)
    lines = ["item,condition,verdict,gold,p"]
    for k in range(200):
        p = round(float(rng.random()), 3)
        gold = "UNSAFE" if rng.random() < p else "SAFE"
        lines.append(f"i{k},base,{'UNSAFE' if p >= 0.5 else 'SAFE'},{gold},{p}")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    made = audit.import_verdicts(
        tmp_path / "t.csv", out=tmp_path / "run", p_unsafe="p", p_source="made up"
    )
    card = audit.card(made.folder)
    write(card, tmp_path / "run")
    page = (tmp_path / "run" / "card.html").read_text("utf-8")
    assert "no miscalibration is shown" in page
    assert "probability of UNSAFE (made up)" in page
    assert not any("confidence can be believed" in limit for limit in card.limits)
    assert 10 == len([s for s in card.scores.scores if s.metric == "reliability"])
