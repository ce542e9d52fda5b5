"""Sign flips of clusters: a paired test that assumes symmetry, and nothing of the shape."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Final

import numpy as np

from judgeaudit.stats.clusters import ClusterSums
from judgeaudit.stats.paired import SIGN_FLIP, sign_flip

__all__ = ["sign_p"]

_MOST_STEPS: Final = 500_000
_DRAWS: Final = 9_999


def sign_p(sums: ClusterSums, seed: int) -> tuple[float, str]:
    """Test whether a mean of differences is 0 by flipping the signs of clusters.

    Exactly where the totals have a common step, else at random.

    Parameters
    ----------
    sums : ClusterSums
        Differences of items, summed over clusters.
    seed : int
        Of the random flips.

    Returns
    -------
    p : float
        Two-sided.
    method : str
        In words.
    """
    steps = [Fraction(t).limit_denominator(5040) for t in sums.totals.tolist()]
    scale = 1
    for step in steps:
        scale = lcm(scale, step.denominator)
        if scale > _MOST_STEPS:
            break
    if scale * float(np.abs(sums.totals).sum()) <= _MOST_STEPS:
        whole = np.array([int(s * scale) for s in steps], dtype=np.int64)
        return sign_flip(whole), SIGN_FLIP
    rng = np.random.default_rng(seed)
    seen = abs(sums.total) * (1 - 1e-12)
    there = sums.totals[sums.totals != 0]
    far = 0
    for _ in range(0, _DRAWS, 999):
        signs = rng.choice(np.array([-1.0, 1.0]), size=(999, there.size))
        far += int(np.count_nonzero(np.abs(signs @ there) >= seen))
    n = -(-_DRAWS // 999) * 999
    return (1 + far) / (n + 1), f"sign flip of clusters, {n:,} at random"
