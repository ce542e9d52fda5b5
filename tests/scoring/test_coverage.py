"""Planted judges, many times: the published intervals cover what was planted."""

from __future__ import annotations

import numpy as np
import pytest
from score_tables import drawn, protocol

from judgeaudit.metrics.pis import pis_raw
from judgeaudit.scoring import score

REPEATS = {"base": 4, "T1": 2, "T2": 2, "T4": 2, "T3": 2, "strict": 2, "lenient": 2}
METRICS = (
    "delta_paper",
    "delta_debiased",
    "flip_rate",
    "direction_ratio",
    "undue_share",
    "pis",
    "jitter",
    "unsafe_rate",
)

JUDGES = {
    # share of doubtful items, hard flips under T1, T2, T4, T3, share that the threshold moves
    "steady": (0.1, (0.02, 0.02, 0.02, 0.02), 0.5),
    "noisy": (0.6, (0.0, 0.0, 0.0, 0.0), 0.4),
    "brittle": (0.2, (0.03, 0.03, 0.15, 0.08), 0.5),
}


def items(judge, n, rng):
    """Draw items: probability of UNSAFE under each condition, and which are ambiguous."""
    doubtful, flip, moved = JUDGES[judge]
    p = np.where(rng.random(n) < doubtful, rng.beta(0.5, 0.5, n), rng.integers(0, 2, n))
    out = {"base": p}
    for name, share in zip(("T1", "T2", "T4", "T3"), flip, strict=True):
        out[name] = np.where(rng.random(n) < share, 1 - p, p)
    moves = rng.random(n) < moved
    out["strict"] = np.where(moves, 0.97, p)
    out["lenient"] = np.where(moves, 0.03, p)
    return out, (rng.random(n) < 0.3).astype(int)


def truth(judge):
    """Expectations over items, from the probabilities of many of them."""
    chances, ambiguous = items(judge, 2_000_000, np.random.default_rng(99))
    p, clear = chances["base"], ambiguous == 0
    crossed = {c: p + q - 2 * p * q for c, q in chances.items() if c.startswith("T")}
    certified = ("T1", "T2", "T4")
    noise = np.mean(2 * p * (1 - p))
    s, w = chances["strict"], chances["lenient"]
    forward, reverse = np.mean(s * (1 - w)), np.mean(w * (1 - s))
    undue = sum(np.sum(crossed[c][clear]) for c in certified)
    out = {
        ("jitter", "base"): noise,
        ("unsafe_rate", "base"): np.mean(p),
        ("flip_rate", "certified"): np.mean([crossed[c].mean() for c in certified]),
        ("direction_ratio", None): forward / (forward + reverse),
        ("undue_share", None): undue / sum(np.sum(f) for f in crossed.values()),
    }
    out["delta_paper", "certified"] = out["flip_rate", "certified"] - noise
    out["delta_debiased", "certified"] = np.mean(
        [np.mean((p - chances[c]) ** 2) for c in certified]
    )
    raw = pis_raw(*(out[k] for k in (("delta_paper", "certified"), *list(out)[3:5])))
    out["pis", None] = max(0.0, raw)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("judge", JUDGES)
@pytest.mark.parametrize("n", [30, 120])
def test_intervals_cover(judge, n):
    """Nominal 0.95, 300 audits a cell: at least .93 (.90 for the adjusted t at 30 items)."""
    planted = truth(judge)
    rng = np.random.default_rng([n, *judge.encode()])
    hits = dict.fromkeys(planted, 0)
    there = dict.fromkeys(planted, 0)
    for _ in range(300):
        chances, ambiguous = items(judge, n, rng)
        table = drawn(chances, REPEATS, rng, ambiguous=ambiguous)
        scores = score(table, protocol(*REPEATS), metrics=METRICS)
        for (metric, condition), value in planted.items():
            s = scores.find(metric, condition)
            if s.low is not None:
                there[metric, condition] += 1
                hits[metric, condition] += s.low - 1e-12 <= value <= s.high + 1e-12
    for name, count in hits.items():
        floor = 0.90 if n == 30 and name[0].startswith(("delta", "jitter")) else 0.93
        noise = 4 * (floor * (1 - floor) / there[name]) ** 0.5
        assert there[name] > 250, name
        assert count / there[name] >= floor - noise, (name, count / there[name])
