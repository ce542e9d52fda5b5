"""Agreement, soft labels and abstention as scores: of what, of whom, and with what beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from score_tables import protocol, written

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.table import VerdictTable
from judgeaudit.scoring import score

FIGURES = ("observed", "kappa", "pabak", "ac1", "positive", "negative", "alpha")


def table(**changes) -> VerdictTable:
    """Six items; the judge is asked twice, fails once, and is of two minds once."""
    made = written(
        {
            "a": {"base": "UU"},
            "b": {"base": "US"},
            "c": {"base": "SS"},
            "d": {"base": "S-"},
            "e": {"base": "--"},
            "f": {"base": "SS"},
        },
        gold={"a": "UNSAFE", "b": "UNSAFE", "c": "SAFE", "d": "SAFE", "e": "SAFE", "f": None},
    )
    return replace(made, **changes)


def scores(of: VerdictTable, *metrics: str):
    return score(of, protocol("base"), metrics=metrics)


VOTES = {
    "votes": np.array(
        [[1, 1, -1], [1, 0, 1], [0, 0, 0], [-1, -1, -1], [0, 0, 0], [0, 1, -1]], dtype=np.int8
    ),
    "raters": ("ann", "bo", "cy"),
}


def test_judge_and_labels():
    found = scores(table(), "agreement")
    assert {"judge and labels"} == {s.stratum for s in found.scores}
    assert list(FIGURES) == [s.metric.removeprefix("agreement_") for s in found.scores]
    s = found.find("agreement_observed", stratum="judge and labels")
    # a, c, d whole and b half, of four items with a label and a verdict
    assert pytest.approx(3.5 / 4) == s.value
    assert (4, 4) == (s.n_items, s.n_clusters)
    assert {"unparseable": 3} == s.excluded
    assert 1.5 == s.detail["both_unsafe"]
    assert 0.5 == s.detail["only_judge_safe"]
    assert pytest.approx((1.5 - 2) / 4) == s.detail["prevalence_index"]
    for s in found.scores:
        assert s.low <= s.value <= s.high


def test_votes_add_the_judge_with_raters_and_raters_among_themselves():
    found = scores(table(**VOTES), "agreement")
    pairs = ("judge and labels", "judge and raters", "among raters")
    assert set(pairs) == {s.stratum for s in found.scores}
    # with a rater drawn at random: a 1, b (1/2 x 2/3 + 1/2 x 1/3), c 1, f 1/2
    s = found.find("agreement_observed", stratum="judge and raters")
    assert pytest.approx((1 + 0.5 + 1 + 0.5) / 4) == s.value
    # raters: a 1, b 1/3, c 1, e 1, f 0
    s = found.find("agreement_observed", stratum="among raters")
    assert pytest.approx((1 + 1 / 3 + 1 + 1 + 0) / 5) == s.value
    assert (5, 13.0, 0.6) == (s.n_items, s.detail["votes"], s.detail["unanimous"])
    assert found.find("agreement_kappa", stratum="among raters") is None


def test_a_note_says_where_kappa_misleads():
    rows = {f"i{k:03d}": {"base": "U" if k in {0, 1, 2, 3} else "S"} for k in range(100)}
    gold = {k: "UNSAFE" if int(k[1:]) in {0, 4, 5} else "SAFE" for k in rows}
    found = scores(written(rows, gold=gold), "agreement")
    kappa = found.find("agreement_kappa", stratum="judge and labels")
    assert kappa.value < 0.3
    assert found.find("agreement_ac1", stratum="judge and labels").value > 0.9
    assert kappa.note.startswith("0.965 of the labels are SAFE, so chance alone agrees often")
    assert all(s.note is None for s in found.scores if s.metric != "agreement_kappa")


@pytest.mark.parametrize("gold", [{}, {"a": "SAFE"}])
def test_without_labels_there_is_a_reason(gold):
    found = scores(written({"a": {"base": "-"}, "b": {"base": "S"}}, gold=gold), "agreement")
    assert {"no item has both labels"} == {s.why_undefined for s in found.scores}


def test_votes_that_do_not_fit_the_table_are_refused():
    with pytest.raises(ConfigError, match=r"votes have shape \(6, 3\), expected \(6, 2\)"):
        table(votes=VOTES["votes"], raters=("ann", "bo"))
    with pytest.raises(ConfigError, match="a vote is out of range"):
        table(votes=VOTES["votes"] * 2, raters=VOTES["raters"])


# -- soft labels ----------------------------------------------------------------------------------


def test_soft_labels_need_votes():
    assert () == scores(table(), "soft_labels").scores


def test_soft_labels_from_shares_of_repeats():
    found = scores(table(**VOTES), "soft_labels")
    brier = found.find("soft_label_brier")
    # a 0, b 1/4, c 0, f (0 + 1) / 2; d has no vote, e no verdict
    assert pytest.approx((0 + 0.25 + 0 + 0.5) / 4) == brier.value
    assert "share of repeats" in brier.note
    assert found.find("soft_label_log").low == 0.0
    assert found.find("soft_label_distance").n_items == 4


def test_soft_labels_from_probabilities():
    p = np.full((6, 1, 2), 0.3)
    found = scores(table(**VOTES, p_unsafe=p, p_sources=("logits",)), "soft_labels")
    brier = found.find("soft_label_brier")
    of = [0.49, (0.49 * 2 + 0.09) / 3, 0.09, (0.49 + 0.09) / 2]
    assert pytest.approx(np.mean(of)) == brier.value
    assert "logits" in brier.note


def test_soft_labels_by_population():
    groups = {"language": ("ko", "ko", "en", "en", "", "en"), "category": tuple("abcdef")}
    found = scores(table(**VOTES, strata=groups), "soft_labels")
    strata = {s.stratum for s in found.scores}
    assert {None, "language: en", "language: ko"} == strata
    assert pytest.approx(0.125) == found.find("soft_label_brier", stratum="language: ko").value
    assert pytest.approx(0.25) == found.find("soft_label_brier", stratum="language: en").value


# -- abstention -----------------------------------------------------------------------------------


def confident(n: int = 60, seed: int = 0) -> VerdictTable:
    rng = np.random.default_rng(seed)
    gold = (rng.random(n) < 0.4).astype(np.int8)
    sure = 0.5 + rng.random((n, 1, 2)) / 2
    right = rng.random((n, 1, 2)) < sure
    codes = np.where(right, gold[:, None, None], 1 - gold[:, None, None]).astype(np.int8)
    codes[0, 0, 0], codes[1, 0, 1] = 4, -1
    confidence = np.where(np.arange(n)[:, None, None] == 2, np.nan, sure).astype(np.float32)
    return VerdictTable(
        items=tuple(f"i{k:03d}" for k in range(n)),
        clusters=np.arange(n),
        gold=np.where(np.arange(n) == 3, -1, gold).astype(np.int8),
        ambiguous=np.full(n, -1, np.int8),
        columns=(("base", 0),),
        codes=codes,
        confidence=confidence,
    )


def test_abstention_needs_a_confidence():
    assert () == scores(table(), "abstention").scores


def test_right_wrong_failed_and_unsure_calls_stay_apart():
    of = confident()
    found = scores(of, "abstention")
    area = found.find("aurc")
    # 60 items of two calls: one failed, one not made, two without a confidence, two without a label
    assert 114 == area.detail["right"] + area.detail["wrong"]
    assert (1.0, 2.0) == (area.detail["failed"], area.detail["without_confidence"])
    assert area.detail["oracle"] <= area.value <= area.detail["chance"]
    assert pytest.approx(area.value - area.detail["oracle"]) == found.find("aurc_excess").value
    assert {"unparseable": 1} == area.excluded
    for penalty in (1, 3, 9):
        s = found.find("penalised_score", stratum=f"penalty {penalty}")
        kinds = [s.detail[k] for k in ("right", "wrong", "abstained")]
        assert 114 == sum(kinds)
        assert pytest.approx((kinds[0] - penalty * kinds[1]) / 114) == s.value
        assert pytest.approx(penalty / (1 + penalty)) == s.detail["threshold"]


def test_the_operating_point_is_a_score_with_its_threshold():
    of = confident(n=400)
    right = np.where(of.codes >= 0, of.gold[:, None, None], -1).astype(np.int8)
    found = scores(replace(of, codes=right), "abstention")
    coverage = found.find("selective_coverage", stratum="risk at most 0.05")
    # nearly all is answered: from the lowest confidence of the half on which it was chosen
    assert 0.95 < coverage.value <= 1
    assert coverage.detail["threshold"] < 0.53
    assert "chosen on one half" in coverage.note
    risk = found.find("selective_risk", stratum="risk at most 0.05")
    assert (0.0, 0.0) == (risk.value, risk.low)
    assert risk.detail["abstained"] == coverage.detail["abstained"]


def test_a_target_that_cannot_be_kept_has_no_operating_point():
    of = confident(n=400)
    wrong = np.where(of.codes >= 0, 1 - of.gold[:, None, None], -1).astype(np.int8)
    found = scores(replace(of, codes=wrong), "abstention")
    for metric in ("selective_coverage", "selective_risk"):
        s = found.find(metric, stratum="risk at most 0.05")
        assert "no threshold keeps the risk below 0.05" in s.why_undefined


def test_probabilities_stand_in_where_no_confidence_is_stated():
    of = confident()
    sure = np.nan_to_num(of.confidence.astype(float), nan=0.5)
    p = np.where(of.codes == 1, sure, 1 - sure)
    other = replace(of, confidence=None, p_unsafe=p, p_sources=("logits",))
    stated = replace(of, confidence=sure.astype(np.float32))
    one, two = (scores(t, "abstention").find("aurc") for t in (stated, other))
    assert pytest.approx(one.value, abs=1e-9) == two.value


def test_no_case_has_a_reason():
    of = replace(confident(), gold=np.full(60, -1, np.int8))
    found = scores(of, "abstention")
    assert found.scores
    assert {"no verdict has both a label to check it by and a confidence"} == {
        s.why_undefined for s in found.scores
    }
