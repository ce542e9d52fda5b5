"""What benchmarks share: CPU time in pairs, medians, a server of its own process, a table."""

from __future__ import annotations

import contextlib
import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")

LOOPBACK = Path(__file__).resolve().parent / "loopback.py"


@contextlib.contextmanager
def server(latency: float) -> Iterator[str]:
    """Run the loopback server in a process of its own, so that its CPU time is not ours."""
    words = [sys.executable, str(LOOPBACK), "--latency", str(latency), "--seconds", "14400"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def cpu(work: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU seconds (all threads) and the wall-clock seconds of some work."""
    wall, used = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - used, time.perf_counter() - wall


def pairs(
    one: Callable[[], object], other: Callable[[], object], n: int = 3
) -> tuple[float, float, float]:
    """Measure two works in turn; return both medians of CPU seconds and the median ratio."""
    found = []
    for k in range(n):
        first, second = (one, other) if k % 2 == 0 else (other, one)
        a, _ = cpu(first)
        b, _ = cpu(second)
        found.append((a, b) if k % 2 == 0 else (b, a))
    ours = statistics.median(a for a, _ in found)
    theirs = statistics.median(b for _, b in found)
    return ours, theirs, statistics.median(a / b for a, b in found)


def marginal_pairs(
    one: Callable[[T], object], other: Callable[[T], object], sizes: list[T], n: int = 3
) -> tuple[float, float, float]:
    """Measure two works in turn, each at a small and a large size; return medians of what the
    large one takes more, and the median ratio."""
    small, large = sizes
    found = []
    for k in range(n):
        more = {}
        for work in (one, other) if k % 2 == 0 else (other, one):
            more[work] = cpu(lambda w=work: w(large))[0] - cpu(lambda w=work: w(small))[0]
        found.append((more[one], more[other]))
    ours = statistics.median(a for a, _ in found)
    theirs = statistics.median(b for _, b in found)
    return ours, theirs, statistics.median(a / b for a, b in found)


async def alternating(
    one: Callable[[int], Awaitable[object]], other: Callable[[int], Awaitable[object]], n: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Let two works do one piece after the other, in turn, in one event loop.

    Pieces of a second or two: what slows the machine down for longer slows both. Returns CPU
    seconds and wall-clock seconds, shape (n, 2); piece 0 of both warms up and is not among them.
    """
    used, wall = np.empty((n, 2)), np.empty((n, 2))
    for k in range(n + 1):
        for j in (0, 1) if k % 2 else (1, 0):
            gc.collect()  # or one pays for what the other left behind
            before, began = time.process_time(), time.perf_counter()
            await (one, other)[j](k)
            if k:
                used[k - 1, j] = time.process_time() - before
                wall[k - 1, j] = time.perf_counter() - began
    return used, wall


def median_ratio(pairs: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return the median ratio of first to second, and its 95% interval (bootstrap of pairs)."""
    ratios = pairs[:, 0] / pairs[:, 1]
    drawn = np.random.default_rng(0).choice(ratios, (4000, len(ratios)))
    low, high = np.quantile(np.median(drawn, axis=1), [0.025, 0.975])
    return float(np.median(ratios)), float(low), float(high)


def show(title: str, rows: list[tuple[object, ...]], file: str) -> None:
    """Print a table, and the command that makes it again."""
    print(f"\n{title}")
    text = [[f"{v:.3g}" if isinstance(v, float) else str(v) for v in row] for row in rows]
    widths = [max(len(row[k]) for row in text) for k in range(len(text[0]))]
    for row in text:
        print("  " + "  ".join(v.ljust(w) for v, w in zip(row, widths, strict=True)).rstrip())
    name = Path(file)
    print(
        f"  again: python -m pytest -m bench -s {name.parent.parent.name}/{name.parent.name}/{name.name}"
    )


def peak_mb() -> float:
    """Return the peak memory of this process so far, in MB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def size(name: str, default: int) -> int:
    """Return a number that the environment may change (JUDGEAUDIT_BENCH_...)."""
    return int(os.environ.get(f"JUDGEAUDIT_BENCH_{name}", default))
