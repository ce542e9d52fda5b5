"""Shares of the variance as scores, with a sentence on what to buy next."""

from __future__ import annotations

import numpy as np
import pytest
from score_tables import drawn, protocol, written

from judgeaudit.metrics import METRICS, View
from judgeaudit.scoring import score
from judgeaudit.stats.components import PARTS


def shares(table, metric="variance_share", condition=None):
    scores = score(table, protocol())
    return {s.stratum: s for s in scores.scores if (s.metric, s.condition) == (metric, condition)}


def test_a_judge_of_noise_and_one_of_items():
    rng = np.random.default_rng(0)
    names = ("base", "T1", "T2")
    flat = {c: np.full(80, 0.5) for c in names}
    noise = [shares(drawn(flat, dict.fromkeys(names, 4), rng)) for _ in range(20)]
    assert tuple(noise[0]) == PARTS
    for name, truth in (("repeat", 1.0), ("item", 0.0), ("item x condition", 0.0)):
        found = [n[name].value for n in noise]
        error = np.std(found, ddof=1) / 20**0.5
        assert abs(np.mean(found) - truth) < 4 * error, name
        assert sum(n[name].low <= truth <= n[name].high for n in noise) >= 16
    sure = {c: (np.arange(80) % 2).astype(float) for c in names}
    steady = shares(drawn(sure, dict.fromkeys(names, 4), rng))
    assert 1.0 == pytest.approx(steady["item"].value)
    assert 0.0 == steady["repeat"].value
    # a third of the items flip under T1 only
    flips = {**sure, "T1": np.where(np.arange(80) % 3 == 0, 1 - sure["base"], sure["base"])}
    brittle = shares(drawn(flips, dict.fromkeys(names, 4), rng))
    assert brittle["item x condition"].low > 0.05
    assert abs(brittle["condition"].value) < 0.01


def test_only_content_preserving_conditions_count():
    items = {f"i{k}": {"base": "SS", "T1": "SS", "strict": "UU"} for k in range(12)}
    assert "no two calls disagree" == shares(written(items))["item"].why_undefined


def test_advice():
    rng = np.random.default_rng(1)
    p = rng.beta(0.5, 0.5, 200)
    names = ("base", "T1", "T2")
    noisy = score(drawn(dict.fromkeys(names, p), {"base": 3, "T1": 40, "T2": 40}, rng), protocol())
    found = {s.stratum: s for s in noisy.scores if s.metric == "precision_share"}
    assert found["base calls"].value > 0.8  # no effect: all is noise, most of it of three calls
    assert "base calls" == noisy.flags["precision"]
    assert noisy.reasons["precision"].startswith("10% more calls shrink the standard error")
    assert "base calls buy most" in noisy.reasons["precision"]


def test_undefined_with_its_reason():
    report = METRICS["precision_share"](View(written({"a": {"base": "SS"}}), protocol()))
    assert "undefined" == report.flags["precision"]
    assert all(s.why_undefined for s in report.scores)
