"""What figures from probabilities save in calls: the table of docs/soft.md, made again."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from score_tables import protocol
from soft_world import CONDITIONS, judge, with_probabilities

from judgeaudit.metrics import METRICS, View

FOUR = protocol(*CONDITIONS[:4])
JUDGES = ("quiet", "noisy", "brittle", "sharpening", "drifting")
WAYS = (
    ("hard, 5 + 2 calls", 5, 2, None, False),
    ("soft, 5 + 2 calls, reasoning first", 5, 2, 6.0, True),
    ("soft, 1 + 1 calls, verdict first", 1, 1, None, True),
)
ITEMS = 120
DOCS = Path(__file__).parents[2] / "docs" / "soft.md"


def spread(name: str, way: tuple, runs: int, seed: int) -> tuple[float, float, float, float]:
    """Return bias, standard error, half the interval's width and its coverage; items drawn anew.

    Of the debiased excess, pooled over three conditions.
    """
    _, base, other, reasoning, soft = way
    rng = np.random.default_rng([seed, JUDGES.index(name), WAYS.index(way)])
    many = judge(name, 200_000, rng)
    wanted = np.mean([(many[c] - many["base"]) ** 2 for c in ("T1", "T2", "T4")])
    repeats = {"base": base, **dict.fromkeys(("T1", "T2", "T4"), other)}
    values, widths, hits = [], [], 0
    for _ in range(runs):
        planted = {c: p for c, p in judge(name, ITEMS, rng).items() if c in repeats}
        table = with_probabilities(planted, repeats, rng, reasoning=reasoning)
        if not soft:
            table = replace(table, p_unsafe=None, p_sources=())
        metric = "soft" if soft else "delta_debiased"
        wanted_name = "soft_delta_debiased" if soft else "delta_debiased"
        (s,) = [
            s
            for s in METRICS[metric](View(table, FOUR)).scores
            if (s.metric, s.condition) == (wanted_name, "certified")
        ]
        values.append(s.value)
        widths.append((s.high - s.low) / 2)
        hits += s.low <= wanted <= s.high
    bias, se = float(np.mean(values) - wanted), float(np.std(values, ddof=1))
    return bias, se, float(np.mean(widths)), hits / runs


def rows(runs: int, seed: int = 0) -> list[str]:
    """Write the table of the docs."""
    head = ("judge", *(way[0] for way in WAYS), "fewer calls, reasoning", "fewer calls, verdict")
    out = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for name in JUDGES:
        found = [spread(name, way, runs, seed) for way in WAYS]
        calls = [base + 3 * other for _, base, other, _, _ in WAYS]
        cells = [f"{100 * se:.2f} / {100 * w:.1f} / {cover:.3f}" for _, se, w, cover in found]
        gains = [
            (found[0][1] ** 2 * calls[0]) / (found[k][1] ** 2 * calls[k])
            if found[k][1] > 0
            else None
            for k in (1, 2)
        ]
        said = ["no error is left" if g is None or g > 1000 else f"{g:.1f} times" for g in gains]
        out.append(f"| {name} | {' | '.join(cells)} | {' | '.join(said)} |")
    return out


@pytest.mark.slow
def test_the_table_of_the_docs_holds():
    """Fewer runs give the same standard errors within their own error."""
    stated = [
        [float(x) for x in re.findall(r"\d+\.\d+", line)][:9]
        for line in DOCS.read_text("utf-8").split("\n")
        if line.startswith(tuple(f"| {name} |" for name in JUDGES))
    ]
    assert len(JUDGES) == len(stated)
    for name, numbers in zip(JUDGES, stated, strict=True):
        for k, way in enumerate(WAYS):
            bias, se, _, cover = spread(name, way, 400, seed=1)
            assert abs(bias) < 4 * se / 400**0.5 + 1e-9, (name, way)
            assert 100 * se == pytest.approx(numbers[3 * k], rel=0.2, abs=0.006), (name, way)
            assert cover >= 0.93, (name, way)


if __name__ == "__main__":
    print("\n".join(rows(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)))
