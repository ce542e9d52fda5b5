"""Figures from probabilities: the same quantities as from verdicts, with less noise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from score_tables import drawn, protocol
from soft_world import CONDITIONS, judge, with_probabilities

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError
from judgeaudit.metrics import METRICS, View
from judgeaudit.scoring import score

SIX = protocol(*CONDITIONS)
TWICE = dict.fromkeys(CONDITIONS, 2) | {"base": 3}
ONCE = dict.fromkeys(CONDITIONS, 1)
PAIRED = {
    "soft_jitter": ("jitter", "base"),
    "soft_flip_rate": ("flip_rate", "certified"),
    "soft_delta_paper": ("delta_paper", "certified"),
    "soft_delta_debiased": ("delta_debiased", "certified"),
}


def figures(table, metrics):
    """Return the value of each (metric, condition)."""
    view = View(table, SIX)
    found = {}
    for m in metrics:
        for s in METRICS[m](view).scores:
            if s.stratum is None and s.treatment == "exclude":
                found[s.metric, s.condition] = s
    return found


def truth(planted):
    """Work the true figures out, given the items."""
    p = planted["base"]
    certified = [planted[c] for c in ("T1", "T2", "T4")]
    return {
        "soft_jitter": np.mean(2 * p * (1 - p)),
        "soft_flip_rate": np.mean([p + q - 2 * p * q for q in certified]),
        "soft_delta_paper": np.mean([(q - p) * (1 - 2 * p) for q in certified]),
        "soft_delta_debiased": np.mean([(q - p) ** 2 for q in certified]),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quiet", "noisy", "brittle", "sharpening", "drifting"])
@pytest.mark.parametrize("reasoning", [None, 6.0])
def test_soft_and_hard_measure_the_same_and_soft_has_less_noise(name, reasoning):
    """Over calls drawn again for the same items: both unbiased, and soft no noisier."""
    rng = np.random.default_rng(hash_of(name))
    planted = judge(name, 60, rng)
    wanted, runs = truth(planted), 60
    hard, soft = ({k: [] for k in PAIRED} for _ in range(2))
    for _ in range(runs):
        found = figures(
            with_probabilities(planted, TWICE, rng, reasoning=reasoning),
            ("soft", "jitter", "flip_rate", "delta_paper", "delta_debiased"),
        )
        for k, (metric, condition) in PAIRED.items():
            soft[k].append(found[k, condition].value)
            hard[k].append(found[metric, condition].value)
    for k in PAIRED:
        error = np.std(hard[k], ddof=1) / runs**0.5
        assert abs(np.mean(hard[k]) - wanted[k]) < 4 * error + 1e-12, k
        own = np.std(soft[k], ddof=1) / runs**0.5
        assert abs(np.mean(soft[k]) - wanted[k]) < 4 * own + 1e-12, k
        assert own < error if reasoning is None else own < 1.05 * error, k


def hash_of(name: str) -> int:
    return sum(map(ord, name))


def test_one_call_tells_all_where_nothing_is_sampled_before_it():
    rng = np.random.default_rng(2)
    planted = judge("brittle", 80, rng)
    found = figures(with_probabilities(planted, ONCE, rng), ("soft", "delta_debiased"))
    for k, value in truth(planted).items():
        assert pytest.approx(value) == found[k, PAIRED[k][1]].value
    assert found["delta_debiased", "certified"].value is None  # not from verdicts
    s, n = planted["strict"], planted["lenient"]
    forward, reverse = np.sum(s * (1 - n)), np.sum(n * (1 - s))
    assert pytest.approx(forward / (forward + reverse)) == found["soft_direction_ratio", None].value


def test_undue_share_from_probabilities():
    rng = np.random.default_rng(3)
    planted = judge("drifting", 50, rng)
    ambiguous = (np.arange(50) % 3 == 0).astype(int)
    table = with_probabilities(planted, ONCE, rng, ambiguous=ambiguous)
    flips = sum(
        planted["base"] + q - 2 * planted["base"] * q
        for q in (planted[c] for c in ("T1", "T2", "T4"))
    )
    wanted = flips[ambiguous == 0].sum() / flips.sum()
    s = figures(table, ("soft",))["soft_undue_share", None]
    assert pytest.approx(wanted) == s.value
    assert s.low < s.value < s.high


def test_the_source_is_printed_and_never_mixed():
    rng = np.random.default_rng(4)
    table = with_probabilities(judge("quiet", 30, rng), TWICE, rng)
    scores = score(table, SIX)
    soft = [s for s in scores.scores if s.metric.startswith("soft_")]
    assert soft
    assert all("token log-probabilities" in s.note for s in soft)
    assert "token log-probabilities" in scores.reasons["soft"]
    mixed = score(replace(table, p_sources=("a", "b")), SIX)
    soft = [s for s in mixed.scores if s.metric.startswith("soft_")]
    assert all("several sources (a, b)" in s.why_undefined for s in soft)
    assert "unusable" == mixed.flags["soft"]
    # figures from verdicts do not move
    plain = list(score(replace(table, p_unsafe=None), SIX).scores)
    # (what abstention would bring needs a confidence, which a probability is)
    needing = ("soft_", "aurc", "selective_", "penalised_")
    assert plain == [s for s in scores.scores if not s.metric.startswith(needing)]


def test_nothing_without_probabilities():
    rng = np.random.default_rng(5)
    scores = score(drawn(judge("quiet", 10, rng), TWICE, rng), SIX)
    assert not any(s.metric.startswith("soft") for s in scores.scores)
    assert "soft" not in scores.flags


def test_one_probability_that_is_not_one():
    rng = np.random.default_rng(6)
    table = with_probabilities(judge("noisy", 40, rng), TWICE, rng, reasoning=6.0)
    assert "follows" == score(table, SIX).flags["soft"]
    claimed = score(replace(table, p_whole=True), SIX)
    assert "unusable" == claimed.flags["soft"]
    assert "differ by" in claimed.find("soft_jitter", "base").why_undefined


def test_a_judge_that_says_the_likelier_word_does_not_follow():
    rng = np.random.default_rng(7)
    planted = judge("noisy", 60, rng)
    greedy = score(with_probabilities(planted, TWICE, rng, greedy=True), SIX)
    assert "does not follow" == greedy.flags["soft"]
    assert "another temperature" in greedy.find("soft_jitter", "base").note
    flagged = sum(
        score(with_probabilities(planted, TWICE, rng), SIX, metrics=["soft"]).flags["soft"]
        != "follows"
        for _ in range(100)
    )
    assert 0 == flagged


def test_failed_calls_and_missing_probabilities_are_left_out():
    rng = np.random.default_rng(8)
    table = with_probabilities(judge("noisy", 30, rng), TWICE, rng, failures=0.3)
    changed = np.where((table.codes == 0) | (table.codes == 1), table.p_unsafe, 0.123)
    assert figures(table, ("soft",)) == figures(replace(table, p_unsafe=changed), ("soft",))
    gone = table.p_unsafe.copy()
    gone[:5] = np.nan
    found = figures(replace(table, p_unsafe=gone), ("soft",))
    assert found["soft_flip_rate", "T1"].n_items <= 25


def test_with_a_shape_of_its_own():
    rng = np.random.default_rng(9)
    table = with_probabilities(judge("quiet", 5, rng), ONCE, rng)
    with pytest.raises(ConfigError, match="p_unsafe has shape"):
        replace(table, p_unsafe=table.p_unsafe[:, :1])


def test_from_a_file_to_the_card(tmp_path):
    from judgeaudit import cards

    rng = np.random.default_rng(10)
    planted = judge("brittle", 60, rng)
    table = with_probabilities(planted, ONCE, rng)
    lines = ["id,condition,verdict,p"]
    for i, item in enumerate(table.items):
        for j, (c, _) in enumerate(table.columns):
            word = "unsafe" if table.codes[i, j, 0] else "safe"
            lines.append(f"{item},{c},{word},{100 * table.p_unsafe[i, j, 0]!r}%")
    (tmp_path / "t.csv").write_text("\n".join(lines).replace("np.float64(", "").replace(")", ""))
    made = audit.import_verdicts(
        tmp_path / "t.csv",
        out=tmp_path / "run",
        p_unsafe="p",
        p_source="logprobs of the first token",
        p_whole=True,
        assume_certified=True,
    )
    found = audit.score(made.folder).find("soft_delta_debiased", "certified")
    assert pytest.approx(truth(planted)["soft_delta_debiased"]) == found.value
    page = cards.to_markdown(audit.card(made.folder))
    assert "The same from probabilities" in page
    assert "logprobs of the first token" in page
    again = audit.import_verdicts(
        tmp_path / "t.csv", out=tmp_path / "two", p_unsafe="p", p_source="stated", p_whole=True
    )
    hashes = {audit.card(f).facts.ledger_sha256 for f in (made.folder, again.folder)}
    assert 2 == len(hashes)  # where a number comes from is part of what was recorded
