"""All planted judges: every number of `expected_estimates`, none skipped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from judgeaudit.core.records import Score, ScoreSet

POINT, INTERVAL, P_VALUE = 1e-9, 1e-6, 1e-9

NAMES = [
    "judge_a_quiet",
    "judge_b_noisy_null",
    "judge_c_brittle_t4",
    "judge_d_sharpening",
    "judge_e_parse_fail",
    "judge_f_zero_flips",
    "judge_g_clustered",
    "judge_h_paper_design",
]

# golden name -> metric, where a whole block (value, n_items, intervals) is one score
BLOCKS = {
    "flip_raw": "flip_rate",
    "jitter_condition": "jitter",
    "delta_paper": "delta_paper",
    "delta_debiased": "delta_debiased",
    "signed_shift": "signed_shift",
}
AMONG = {
    "flip_raw_cert_clear": "undue_clear",
    "delta_paper_cert_clear": "undue_clear_delta_paper",
    "delta_debiased_cert_clear": "undue_clear_delta_debiased",
    "flip_raw_cert_ambiguous": "undue_ambiguous",
    "delta_paper_cert_ambiguous": "undue_ambiguous_delta_paper",
    "delta_debiased_cert_ambiguous": "undue_ambiguous_delta_debiased",
}
CERTIFIED = ("T1", "T2", "T4")


def leaves(tree: Any, path: tuple[str, ...] = ()):
    """Walk a JSON tree down to numbers, pairs of numbers and nulls."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from leaves(value, (*path, key))
    else:
        yield path, tree


def found(scores: ScoreSet, metric: str, condition: str | None = None, **names: str) -> Score:
    score = scores.find(metric, condition, **names)
    assert score is not None, (metric, condition, names)
    return score


def block(score: Score, key: str) -> Any:
    """Read one number of a block from a score."""
    if key == "value":
        return score.value
    if key == "n_items":
        return score.n_items
    if key in {"ci_am_t", "ci"}:
        ends = [score.low, score.high]
        if "am_t_low" in score.detail:  # jitter: with no event the published interval is exact
            ends = [score.detail["am_t_low"], score.detail["am_t_high"]]
    elif key == "ci_cluster_t":
        ends = [score.detail.get("cluster_t_low"), score.detail.get("cluster_t_high")]
    elif key == "gate_upper95":
        return score.detail.get("gate_upper")
    else:
        return score.detail[key]
    return None if ends == [None, None] else ends


def ours(scores: ScoreSet, path: tuple[str, ...]) -> Any:  # noqa: PLR0911 - one case a golden
    """Find our number for a golden's path; an unknown path fails."""
    match path:
        case ("jitter_base", key):
            return block(found(scores, "jitter", "base"), key)
        case ("unsafe_rate_base",):
            return found(scores, "unsafe_rate", "base").value
        case ("parse_fail_rate_base",):
            return found(scores, "outcome_rate", "base", stratum="unparseable").value
        case ("conditions", c, name, key) if name in BLOCKS:
            return block(found(scores, BLOCKS[name], c), key)
        case ("conditions", c, "perm_p_paper"):
            return found(scores, "delta_paper", c).p_value
        case ("conditions", c, "perm_p_debiased"):
            return found(scores, "delta_debiased", c).p_value
        case ("conditions", c, "parse_fail_rate"):
            return found(scores, "outcome_rate", c).value
        case ("conditions", c, "parse_policies", "bounds_delta_paper"):
            score = found(scores, "delta_paper", c, treatment="bounds_delta_paper")
            return [score.low, score.high]
        case ("conditions", c, "parse_policies", "category_debiased"):
            return found(scores, "delta_debiased", c, treatment="category_debiased").value
        case ("conditions", c, "parse_policies", treatment):
            return found(scores, "delta_paper", c, treatment=treatment).value
        case ("delta_cert_paper" | "delta_cert_debiased", key):
            return block(found(scores, path[0].replace("cert_", ""), "certified"), key)
        case ("holm_p_paper" | "holm_p_debiased",):
            metric = path[0].replace("holm_p", "delta")
            adjusted = {c: found(scores, metric, c).p_adjusted for c in CERTIFIED}
            return None if set(adjusted.values()) == {None} else adjusted
        case ("holm_p_paper" | "holm_p_debiased", c):
            return found(scores, path[0].replace("holm_p", "delta"), c).p_adjusted
        case ("R_dir", key):
            return block(found(scores, "direction_ratio"), key)
        case ("forward_rate" | "reverse_rate",):
            return found(scores, path[0]).value
        case ("U_share", key):
            return block(found(scores, "undue_share"), key)
        case ("U_share_null",):
            return found(scores, "undue_null").value
        case (name,) if name in AMONG:
            return found(scores, AMONG[name], "certified").value
        case ("PIS_raw",):
            return found(scores, "pis_raw").value
        case ("PIS",):
            return found(scores, "pis").value
        case ("PIS_ci_mover",):
            return [found(scores, "pis").low, found(scores, "pis").high]
    raise AssertionError(f"no check covers {path}")


def tolerance(path: tuple[str, ...]) -> float:
    last = path[-1]
    if "perm_p" in last or "holm" in path[0]:
        return P_VALUE
    intervals = ("ci", "PIS_ci", "gate_upper")
    return INTERVAL if last.startswith(intervals) else POINT


@pytest.mark.parametrize("name", NAMES)
def test_every_expected_number(judges, name):
    judge = judges(name)
    scores = judge.scores()
    checked = 0
    for path, expected in leaves(judge.expected["expected_estimates"]):
        actual = ours(scores, path)
        near = pytest.approx(expected, abs=tolerance(path), rel=0) if expected is not None else None
        assert near == actual, path
        checked += 1
    assert checked > 100


def test_every_planted_judge_of_the_goldens_is_named(shared: Path):
    there = (shared / "goldens" / "simulated").glob("judge_*.expected.json")
    assert sorted(NAMES) == sorted(p.name.removesuffix(".expected.json") for p in there)


def test_the_walk_finds_a_golden_that_no_check_covers(judges):
    """The guard itself: an unknown key is not skipped."""
    with pytest.raises(AssertionError, match="no check covers"):
        ours(judges("judge_a_quiet").scores(), ("conditions", "T1", "a_new_number"))


def test_what_each_judge_shows(judges):
    """The table of the goldens' README, in the words of the flags."""
    quiet = judges("judge_a_quiet").scores()
    assert found(quiet, "pis").value < 0.4
    assert quiet.flags["certified_gate"] != "above"
    brittle = judges("judge_c_brittle_t4").scores()
    small = [c for c in CERTIFIED if found(brittle, "delta_debiased", c).p_adjusted <= 0.05]
    assert small == ["T4"]
    sharp = found(judges("judge_d_sharpening").scores(), "delta_paper", "certified")
    assert sharp.high < 0
    failing = judges("judge_e_parse_fail").scores()
    assert failing.flags["identified"] == "not identified"
    blind = judges("judge_f_zero_flips").scores()
    assert blind.flags["responsiveness"] == "not responsive"
    assert found(blind, "pis").why_undefined.startswith("not responsive: ")
    assert found(blind, "direction_ratio").why_undefined == "no verdict moved"
    assert found(blind, "undue_share").why_undefined == "nothing flipped"
    paper = judges("judge_h_paper_design").scores()
    assert found(paper, "delta_debiased", "T1").why_undefined == "one call under the condition"
    for name in ("a_quiet", "b_noisy_null", "c_brittle_t4", "g_clustered", "h_paper_design"):
        assert judges(f"judge_{name}").scores().flags["responsiveness"] == "responsive"
