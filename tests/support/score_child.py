"""Score a drawn table in a process of its own, and say what it took: one JSON line."""

from __future__ import annotations

import json
import sys
import time

import numpy as np
from bench_world import peak_mb
from score_tables import KINDS, protocol

from judgeaudit.core.table import VerdictTable
from judgeaudit.scoring import ORDER, score

CONDITIONS = tuple(c for c in KINDS if c != "vacuum")
CALLS = 5
METRICS = (*ORDER, "delta_paper_bca")
"""All scores of a card and the paper's BCa intervals, 10,000 resamples each."""


def table(n_items: int, *, cluster: int = 1, failures: float = 0.0) -> VerdictTable:
    """Draw a judge: a fifth of the items in doubt, 5% flip under each certified condition."""
    rng = np.random.default_rng(1)
    doubtful = rng.random(n_items) < 0.2
    p = np.where(doubtful, rng.beta(0.5, 0.5, n_items), rng.integers(0, 2, n_items))
    codes = np.empty((n_items, len(CONDITIONS), CALLS), dtype=np.int8)
    for k, condition in enumerate(CONDITIONS):
        turns = (KINDS[condition] == "certified") & (rng.random(n_items) < 0.05)
        q = np.where(turns, 1 - p, p)
        for at in range(0, n_items, 100_000):  # in blocks: drawing must not set the peak
            part = slice(at, at + 100_000)
            size = q[part].size, CALLS
            codes[part, k] = rng.random(size, dtype=np.float32) < q[part, None]
            if failures:
                codes[part, k][rng.random(size, dtype=np.float32) < failures] = 4
    return VerdictTable(
        items=tuple(map(str, range(n_items))),
        clusters=np.arange(n_items) // cluster,
        gold=rng.integers(0, 2, n_items).astype(np.int8),
        ambiguous=(rng.random(n_items) < 0.3).astype(np.int8),
        columns=tuple((c, 0) for c in CONDITIONS),
        codes=codes,
    )


def main() -> None:
    """Arguments: items, items a cluster, share of failed calls, times."""
    n_items, cluster, failures, times = (float(a) for a in sys.argv[1:])
    plan = protocol(*CONDITIONS, base_repeats=CALLS, repeats=CALLS)
    score(table(60), plan, metrics=METRICS)  # what is imported late is not what is measured
    drawn = table(int(n_items), cluster=int(cluster), failures=failures)
    before, used = peak_mb(), []
    for _ in range(int(times)):
        start = time.process_time()
        scores = score(drawn, plan, metrics=METRICS)
        used.append(time.process_time() - start)
    print(
        json.dumps(
            {
                "rows": drawn.codes.size,
                "cpu": min(used),
                "peak_mb": peak_mb(),
                "before_mb": before,
                "scores": len(scores.scores),
                "intervals": sum(s.low is not None for s in scores.scores),
            }
        )
    )


if __name__ == "__main__":
    main()
