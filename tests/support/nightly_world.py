"""Simulated nights of planted judges on frozen anchors: what the gate and the monitor do there.

python tests/support/nightly_world.py gate 400
python tests/support/nightly_world.py monitor 400
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.stats import binomtest

from judgeaudit.stats.exchange import Blocks, changed
from judgeaudit.stats.nightly import Pool, evidence

ALPHA = 0.05
BASELINE, NIGHT = 5, 2
DRIFTS = ("none", "3 points", "6 points", "swaps")
SIZES = (50, 200, 1000)


def anchors(rng, n):
    """Chance that each anchor is judged wrongly: 80% are clear (8% of them wrong), 20% waver."""
    clear = rng.random(n) < 0.8
    return np.where(clear, rng.random(n) < 0.08, rng.beta(0.5, 0.5, n)), rng.random(n) < 0.5


def turned(rng, wrong, gold, drift):
    """Change a judge: clear right verdicts go wrong, or as many go either way within a class."""
    after = wrong.copy()
    if drift == "none":
        return after
    if drift == "swaps":
        for label in (True, False):
            bad = np.flatnonzero((wrong == 1) & (gold == label))
            good = rng.permutation(np.flatnonzero((wrong == 0) & (gold == label)))
            take = rng.permutation(bad)[: max(1, round(0.7 * bad.size))]
            after[take], after[good[: take.size]] = 0, 1
        return after
    points = float(drift.split()[0]) / 100
    good = np.flatnonzero(wrong == 0)
    after[good[rng.random(good.size) < points * wrong.size / good.size]] = 1
    return after


def calls(rng, wrong, gold, k):
    """Ask each anchor k times; return how often wrong, how often UNSAFE, and the first answers."""
    said = rng.random((k, wrong.size)) < wrong
    bad = said.sum(axis=0)
    return bad, np.where(gold, k - bad, bad), said[0]


def one_gate(rng, n, drift):
    """Return whether our gate, and McNemar's exact one-sided test, find a night changed."""
    wrong, gold = anchors(rng, n)
    after = turned(rng, wrong, gold, drift)
    bad, unsafe, first = calls(rng, wrong, gold, BASELINE)
    bad2, unsafe2, first2 = calls(rng, after, gold, NIGHT)
    k, m, one = np.full(n, BASELINE), np.full(n, NIGHT), np.ones(n, dtype=np.int64)
    ps = sorted(
        (
            changed(Blocks(unsafe, k, unsafe2, m), "moved"),
            changed(Blocks(bad, k, bad2, m), "more"),
        )
    )
    mcnemar = changed(Blocks(first.astype(np.int64), one, first2.astype(np.int64), one), "more")
    return ps[0] <= ALPHA / 2, mcnemar <= ALPHA


def gate_rates(n, drift, nights, seed=1):
    """Share of pairs of nights that our gate, and McNemar's test, find changed."""
    rng = np.random.default_rng([seed, n, DRIFTS.index(drift)])
    found = np.array([one_gate(rng, n, drift) for _ in range(nights)])
    return found.mean(axis=0).tolist()


def one_history(rng, n, drift, nights, at=30):
    """Return the night, from 0 at the baseline, of the first alarm; None without one."""
    wrong, gold = anchors(rng, n)
    pools = Pool(n, "moved"), Pool(n, "more")
    ps = [], []
    now = wrong
    slow = np.sort(rng.permutation(np.flatnonzero(wrong == 0))[: round(0.12 * n)])
    for night in range(nights + 1):
        k = BASELINE if night == 0 else NIGHT
        if drift == "slow":  # a point every ten nights
            now = wrong.copy()
            now[slow[: int(night * 0.001 * n)]] = 1
        elif night == at:
            now = turned(rng, wrong, gold, drift)
        bad, unsafe, _ = calls(rng, now, gold, k)
        for pool, marks, p in zip(pools, (unsafe, bad), ps, strict=True):
            p.append(pool.add(marks, np.full(n, k)))
        # an alarm stays, so nights after it add nothing
        if any(evidence(p, alpha=ALPHA / 2).alarm is not None for p in ps):
            return night
    return None


def history_rates(n, drift, histories, nights=90, seed=2):
    """Share of histories with an alarm, and the median night of it."""
    rng = np.random.default_rng([seed, n, len(drift)])
    found = [one_history(rng, n, drift, nights) for _ in range(histories)]
    there = [f for f in found if f is not None]
    return len(there) / histories, float(np.median(there)) if there else None


def monitor_table(histories, sizes=SIZES, kinds=(*DRIFTS, "slow")):
    """Lay out the table of docs/nightly.md, row by row as it is computed."""
    yield f"| anchors | {' | '.join(k.replace('none', 'nothing changed') for k in kinds)} |"
    yield "|---" * (len(kinds) + 1) + "|"
    for size in sizes:
        cells = []
        for kind in kinds:
            share, night = history_rates(size, kind, histories)
            if kind == "none":
                high = binomtest(round(share * histories), histories).proportion_ci(method="exact")[
                    1
                ]
                cells.append(f"{share:.1%} (at most {high:.1%})")
            else:
                cells.append(f"{share:.0%}" + ("" if night is None else f", night {night:.0f}"))
        yield f"| {size} | {' | '.join(cells)} |"


if __name__ == "__main__":
    if sys.argv[1] == "gate":
        for size in SIZES:
            for kind in DRIFTS:
                print(size, kind, gate_rates(size, kind, int(sys.argv[2])), flush=True)
    else:
        for line in monitor_table(int(sys.argv[2])):
            print(line, flush=True)
