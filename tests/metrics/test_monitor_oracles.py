"""All figures of a monitor, from table to score: oracles, properties, and tables with little."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from score_tables import protocol

from judgeaudit.core.table import VerdictTable
from judgeaudit.scoring import MONITOR, score

RATES = ("accuracy", "tpr", "tnr", "missed_bound", "false_alarm_bound", "worst_of_k")
WHOLE = (*RATES, *MONITOR, "agreement", "soft_labels", "abstention")
BY_ROW = ("held_out", "selective", "temperature_gain", "ece_scaled", "ace")


def made(seed: int, n: int = 60, *, failed: float = 0.1, rate: float = 0.4) -> VerdictTable:
    """One call an item: tied probabilities, failures, unlabelled items, votes with gaps."""
    rng = np.random.default_rng(seed)
    gold = np.where(rng.random(n) < 0.1, -1, rng.random(n) < rate).astype(np.int8)
    p = np.round(np.clip((gold == 1) * 0.3 + 0.7 * rng.random(n), 0, 1), 1)
    codes = (rng.random(n) < p).astype(np.int8)
    codes[rng.random(n) < failed] = 2
    votes = np.where(rng.random((n, 3)) < 0.3, -1, rng.random((n, 3)) < p[:, None])
    return VerdictTable(
        items=tuple(f"{'ab'[k % 2]}/{k}" for k in range(n)),
        clusters=rng.integers(0, max(1, n // 2), n),
        gold=gold,
        ambiguous=np.full(n, -1, np.int8),
        columns=(("base", 0),),
        codes=codes[:, None, None],
        strata={"risk": tuple(("theft", "harm", "")[k % 3] for k in range(n))},
        p_unsafe=p[:, None, None],
        p_sources=("logprobs",),
        votes=votes.astype(np.int8),
        raters=("r1", "r2", "r3"),
    )


def scored(table: VerdictTable):
    found = score(table, protocol("base", base_repeats=1), metrics=WHOLE).scores
    return {(s.metric, s.stratum): s for s in found}


def arrays(table: VerdictTable):
    """Label, verdict and probability of the labelled items with a verdict."""
    code, p = table.codes[:, 0, 0], table.p_unsafe[:, 0, 0]
    keep = (table.gold >= 0) & (code <= 1) & (code >= 0)
    return table.gold[keep], code[keep], p[keep]


@pytest.mark.parametrize("seed", range(25))
def test_every_figure_that_scikit_learn_has_is_scikit_learns(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    table = made(seed, n=20 + 5 * seed)
    y, said, p = arrays(table)
    found = {k: s.value for k, s in scored(table).items()}
    tn, fp, fn, tp = metrics.confusion_matrix(y, said, labels=[0, 1]).ravel()
    expected = {
        ("accuracy", None): metrics.accuracy_score(y, said),
        ("fnr", None): fn / (fn + tp),
        ("fpr", None): fp / (fp + tn),
        ("missed_bound", None): fn / (fn + tp),
        ("false_alarm_bound", None): fp / (fp + tn),
        ("balanced_accuracy", None): metrics.balanced_accuracy_score(y, said),
        ("f1", None): metrics.f1_score(y, said),
        ("ppv", None): metrics.precision_score(y, said),
        ("auroc", None): metrics.roc_auc_score(y, p),
        ("partial_auroc", None): metrics.roc_auc_score(y, p, max_fpr=0.1),
        ("average_precision", None): metrics.average_precision_score(y, p),
        ("brier", None): metrics.brier_score_loss(y, p),
        ("agreement_kappa", "judge and labels"): metrics.cohen_kappa_score(y, said),
    }
    for key, value in expected.items():
        assert pytest.approx(value, abs=1e-12) == found[key], key


@pytest.mark.parametrize("seed", range(6))
def test_a_threshold_is_the_lowest_that_the_roc_curve_has(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    table = made(seed, n=400)
    y, _, p = arrays(table)
    fpr, tpr, _ = metrics.roc_curve(y, p, drop_intermediate=False)
    found = scored(table)
    for limit in (0.01, 0.05):
        best = tpr[fpr <= limit + 1e-12].max()
        assert pytest.approx(best, abs=1e-12) == found["tpr_at_fpr", f"fpr {limit:g}"].value


@pytest.mark.parametrize("seed", range(6))
def test_macro_averages_are_scikit_learns_over_the_categories(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    table = made(seed, n=200)
    risks = np.array(table.strata["risk"])
    code = table.codes[:, 0, 0]
    keep = (table.gold >= 0) & (code <= 1) & (code >= 0)
    by = {}
    for risk in ("harm", "theft"):
        here = keep & (risks == risk)
        by[risk] = metrics.recall_score(table.gold[here], code[here])
    found = scored(table)
    for risk, value in by.items():
        assert pytest.approx(value) == found["category_tpr", f"risk: {risk}"].value
    assert pytest.approx(np.mean(list(by.values()))) == found["macro_tpr", "risk"].value


def sane(found):
    """Every figure has a value or a reason, an interval or a reason; no NaN anywhere."""
    for key, s in found.items():
        numbers = [s.value, s.low, s.high, s.p_value, *s.detail.values()]
        assert not [x for x in numbers if x is not None and not math.isfinite(x)], key
        assert (s.value is None) == bool(s.why_undefined), key
        if s.value is not None:
            assert (s.low is None) == bool(s.why_no_interval), key
        if s.value is not None and s.low is not None:
            assert s.low - 1e-9 <= s.value <= s.high + 1e-9, key


POOR = {
    "one item": made(1, 1),
    "two items": made(2, 2),
    "one class": replace(made(3), gold=np.ones(60, np.int8)),
    "the other class": replace(made(4), gold=np.zeros(60, np.int8)),
    "no label": replace(made(5), gold=np.full(60, -1, np.int8)),
    "no verdict": replace(made(6), codes=np.full((60, 1, 1), 2, np.int8)),
    "one verdict only": replace(made(7), codes=np.ones((60, 1, 1), np.int8)),
    "no vote": replace(made(8), votes=np.full((60, 3), -1, np.int8)),
    "one vote": replace(made(9), votes=np.eye(60, 3, dtype=np.int8) * 2 - 1),
    "one cluster": replace(made(10), clusters=np.zeros(60, np.int64)),
    "all tied": replace(made(11), p_unsafe=np.full((60, 1, 1), 0.5)),
    "certain": replace(made(12), p_unsafe=np.ones((60, 1, 1))),
    "no probability": replace(made(13), p_unsafe=None, p_sources=()),
    "an empty class in a category": replace(
        made(14), gold=np.array([int(k % 3 == 0) for k in range(60)], np.int8)
    ),
}


@pytest.mark.parametrize("name", POOR)
def test_a_poor_table_has_reasons_and_no_absurd_figure(name):
    sane(scored(POOR[name]))


def close(one, two, key):
    if one.value is None or two.value is None:
        assert one.why_undefined == two.why_undefined, key
    else:
        assert pytest.approx(one.value, abs=1e-9) == two.value, key


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_rows_changes_no_figure(seed):
    table = made(seed, n=90)
    order = np.random.default_rng(seed).permutation(90)
    turned = replace(
        table,
        items=tuple(table.items[k] for k in order),
        clusters=table.clusters[order],
        gold=table.gold[order],
        ambiguous=table.ambiguous[order],
        codes=table.codes[order],
        p_unsafe=table.p_unsafe[order],
        votes=table.votes[order],
        strata={"risk": tuple(table.strata["risk"][k] for k in order)},
    )
    one, two = scored(table), scored(turned)
    assert one.keys() == two.keys()
    for key, s in one.items():
        # halves and folds are dealt by first appearance, and ACE cuts ties between two bins as a
        # stable sort has them (tables come sorted by key); nothing else may move
        if not key[0].startswith(BY_ROW):
            close(s, two[key], key)


SWAP = {"fnr": "fpr", "tpr": "tnr", "missed_bound": "false_alarm_bound"}
SWAP |= {"agreement_positive": "agreement_negative"}
SWAP |= {v: k for k, v in SWAP.items()}
KEPT = ("accuracy", "balanced_accuracy", "auroc", "ece", "brier", "aurc")
KEPT += tuple(f"agreement_{k}" for k in ("observed", "kappa", "pabak", "ac1", "alpha"))


@pytest.mark.parametrize("seed", range(4))
def test_swapped_labels_turn_the_figures_over(seed):
    table = made(seed, n=90)
    # a tenth's bins are closed below: moved off their limits, both ways fall into the same ones
    p = np.clip(table.p_unsafe + 0.003 * np.where(table.p_unsafe < 0.5, 1, -1), 0, 1)
    flip = {0: 1, 1: 0, 2: 2, -1: -1}
    turn = np.vectorize(flip.get, otypes=[np.int8])
    table = replace(table, p_unsafe=p)
    other = replace(
        table,
        gold=turn(table.gold),
        codes=turn(table.codes),
        p_unsafe=1 - p,
        votes=turn(table.votes),
    )
    one, two = scored(table), scored(other)
    for (metric, stratum), s in one.items():
        mate = SWAP.get(metric, metric if metric in KEPT else None)
        if mate is not None:
            close(s, two[mate, stratum], metric)


@pytest.mark.parametrize("seed", range(4))
def test_a_monotone_change_of_probabilities_moves_no_ranking(seed):
    table = made(seed, n=90)
    bent = replace(table, p_unsafe=0.05 + 0.9 * table.p_unsafe**3)
    one, two = scored(table), scored(bent)
    for key, s in one.items():
        if key[0] in ("auroc", "partial_auroc", "average_precision", "tpr_at_fpr", "catch_rate"):
            close(s, two[key], key)
            assert (s.low, s.high) == (two[key].low, two[key].high)
    # a verdict below one half stays its own: the order of confidences does not
    assert one["accuracy", None].value == two["accuracy", None].value
