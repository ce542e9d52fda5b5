"""A monitor's card of 50,000 and of 1,000,000 verdicts: CPU and memory of the whole process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from bench_world import show, size

pytestmark = [pytest.mark.bench, pytest.mark.timeout(900)]

SUPPORT = Path(__file__).resolve().parents[1] / "support"
FIGURES = (
    *(f"agreement_{k} judge and labels" for k in ("observed", "kappa", "pabak", "ac1")),
    *("ece", "brier", "auroc"),
)
LIMITS = {50_000: (2.0, 300.0), 1_000_000: (15.0, 1024.0)}
PEERS = {50_000: "2.45 s, 139 MB", 1_000_000: "28.8 s, 1.6 GB"}
"""judgegate: kappa with a bootstrap of 10,000, and kappa per class."""


def drawn(path, n):
    """One verdict an item, its probability, its label; three items a cluster."""
    rng = np.random.default_rng(20261130)
    truth = rng.beta(0.4, 0.4, n)
    np.savez(
        path,
        gold=(rng.random(n) < truth).astype(np.int8),
        codes=(rng.random(n) < truth).astype(np.int8),
        p=np.clip(truth + rng.normal(0, 0.05, n), 0, 1),
        clusters=np.arange(n) // 3,
    )
    return path


def in_a_process(arrays, page, which):
    """Run it on one core; the figures are those of the child, imports included."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, str(SUPPORT / "monitor_child.py"), str(arrays), str(page), which],
        env={**os.environ, **one},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("rows", [50_000, 1_000_000])
def test_a_monitors_card(tmp_path, rows):
    n = size("ROWS", rows)
    arrays, page = drawn(tmp_path / "arrays.npz", n), tmp_path / "card.html"
    table, found = [("", "CPU s", "MB", "scores", "limit", "peer")], {}
    cpu, mb = LIMITS[rows]
    for which in ("named", "whole"):
        found[which] = in_a_process(arrays, page, which)
        told = found[which]
        limit = f"{cpu:g} s, {mb:g} MB"
        table.append((which, told["cpu"], told["mb"], told["scores"], limit, PEERS[rows]))
        assert "</html>" in page.read_text(encoding="utf-8")
    show(f"{n:,} verdicts to a page; named: {', '.join(FIGURES)}", table, __file__)
    for figure in FIGURES:
        value, low, high = found["named"]["made"][figure]
        assert low <= value <= high, figure
    for told in found.values():
        assert told["cpu"] <= cpu
        assert told["mb"] <= mb
