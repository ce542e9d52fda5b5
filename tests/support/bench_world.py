"""What benchmarks share: CPU time in pairs, medians, a server of its own process, a table."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

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
