"""Scoring: a second for a million verdicts, flat memory, and against what people write.

Every size is scored in a process of its own, with all intervals and five BCa intervals of 10,000
resamples. The least of three CPU times is taken, for a busy machine only adds. 50,000,000 rows,
which take a minute or two, with JUDGEAUDIT_BENCH_LONG=1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bench_world import cpu, show, size
from score_child import CALLS, CONDITIONS, METRICS, table
from score_tables import protocol

from judgeaudit.metrics import View
from judgeaudit.scoring import score
from judgeaudit.stats.bootstrap import bca

pytestmark = [pytest.mark.bench, pytest.mark.timeout(3600)]

CHILD = Path(__file__).resolve().parents[1] / "support" / "score_child.py"
LONG = os.environ.get("JUDGEAUDIT_BENCH_LONG") == "1"
A_ROW = CALLS * len(CONDITIONS)
MILLION = 1_000_000 // A_ROW
NAIVE_ITEMS = size("NAIVE_ITEMS", 200)


def child(n_items: int, *, cluster: int = 1, failures: float = 0.0, times: int = 3):
    words = [sys.executable, str(CHILD), *map(str, (n_items, cluster, failures, times))]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_a_million_verdicts_take_less_than_a_second():
    rows = [("20,000 items, 10 conditions, 5 calls", "CPU s", "peak MB", "scores", "intervals")]
    found = {}
    for name, cluster, failures in (
        ("each item its own cluster", 1, 0.0),
        ("clusters of three", 3, 0.0),
        ("clusters of three, 5% without a verdict", 3, 0.05),
    ):
        said = found[name] = child(MILLION, cluster=cluster, failures=failures)
        assert said["rows"] == 1_000_000
        rows.append((name, said["cpu"], said["peak_mb"], said["scores"], said["intervals"]))
    show("A million verdicts, all intervals, BCa with 10,000 resamples", rows, __file__)
    assert found["each item its own cluster"]["cpu"] < 1.0
    assert found["clusters of three"]["cpu"] < 1.0
    assert max(f["peak_mb"] for f in found.values()) < 500


def test_cost_grows_with_the_rows_and_memory_hardly():
    sizes = [1_000_000, 5_000_000, 10_000_000, *([50_000_000] if LONG else [])]
    rows = [("rows", "CPU s", "CPU us a row", "peak MB", "of it before scoring")]
    found = []
    for n in sizes:
        said = child(n // A_ROW, times=3 if n < 10_000_000 else 1)
        found.append(said)
        each = 1e6 * said["cpu"] / n
        rows.append((f"{n:,}", said["cpu"], each, said["peak_mb"], said["before_mb"]))
    show("Growth with the table", rows, __file__)
    first, last = found[0], found[-1]
    assert last["cpu"] / last["rows"] < 1.5 * first["cpu"] / first["rows"]
    assert last["peak_mb"] - last["before_mb"] < 500


def naive(frame) -> dict[str, float]:
    """Jitter, flips and the paper's excess, item by item and pair by pair, without intervals."""
    out: dict[str, list[float]] = {}
    for _, item in frame.groupby("item_id"):
        calls = {c: g["label"].tolist() for c, g in item.groupby("condition")}
        base = calls["base"]
        twos = [(a, b) for i, a in enumerate(base) for b in base[i + 1 :]]
        jitter = sum(a != b for a, b in twos) / len(twos)
        for condition, labels in calls.items():
            if condition != "base":
                pairs = [(a, b) for a in base for b in labels]
                flips = sum(a != b for a, b in pairs) / len(pairs)
                out.setdefault(condition, []).append(flips - jitter)
    return {c: float(np.mean(v)) for c, v in out.items()}


def test_against_scipy_and_a_loop_over_pandas():
    from scipy.stats import bootstrap

    plan = protocol(*CONDITIONS, base_repeats=CALLS, repeats=CALLS)
    drawn = table(MILLION)
    view = View(drawn, plan)
    sums = view.sums(view.pair("delta_paper", "T4"))
    # the reference's 10,000 resamples of 20,000 items are 1.6 GB at once: it works in batches
    reference = {}

    def theirs():
        reference["ends"] = bootstrap(
            (sums.totals, sums.sizes),
            lambda t, m, axis: t.sum(axis=axis) / m.sum(axis=axis),
            paired=True,
            vectorized=True,
            n_resamples=10_000,
            batch=100,
            rng=np.random.default_rng(4),
        ).confidence_interval

    def ours():
        reference["own"] = bca(sums, np.random.default_rng(3))

    mine, other = min(cpu(ours)[0] for _ in range(3)), cpu(theirs)[0]
    own, (low, high) = reference["own"], reference["ends"]
    noise = 0.05 * (high - low)  # a twentieth of the width: quantiles of 10,000 resamples
    assert pytest.approx((low, high), abs=noise) == (own.low, own.high)

    whole = min(cpu(lambda: score(drawn, plan, metrics=METRICS))[0] for _ in range(3))
    small = table(NAIVE_ITEMS)
    frame = small.to_dataframe()
    found = {}
    loop = cpu(lambda: found.update(naive(frame)))[0] * MILLION / NAIVE_ITEMS
    exact = score(small, plan, metrics=("delta_paper",))
    for condition, value in found.items():
        assert pytest.approx(value, abs=1e-12) == exact.find("delta_paper", condition).value
    show(
        "A million verdicts, CPU seconds",
        [
            ("what", "CPU s", "judgeaudit's (second row: all scores, all intervals)", "ratio"),
            ("one BCa interval, scipy.stats.bootstrap", other, mine, other / mine),
            (f"excess flip rates, pandas, {NAIVE_ITEMS} items, scaled", loop, whole, loop / whole),
        ],
        __file__,
    )
    assert other > 5 * mine
    assert loop > 20 * whole
