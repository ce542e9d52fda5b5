"""Planted judges with a probability a call, for tests of figures from probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from score_tables import drawn

from judgeaudit.core.table import VerdictTable

CONDITIONS = ("base", "T1", "T2", "T4", "strict", "lenient")


def judge(name: str, n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Plant the probability of UNSAFE of each item under each condition."""
    doubtful = {"quiet": 0.15, "noisy": 1.0}.get(name, 0.4)
    sure = (rng.random(n) < 0.5).astype(float)
    p = np.where(rng.random(n) < doubtful, rng.beta(0.5, 0.5, n), sure)
    made = dict.fromkeys(CONDITIONS, p)
    if name == "brittle":
        made["T4"] = np.where(rng.random(n) < 0.2, 1 - p, p)
    if name == "sharpening":
        sharp = np.where(p > 0.5, 1 - (1 - p) * 0.4, p * 0.4)
        made |= {"T1": sharp, "T2": sharp, "T4": sharp}
    if name == "drifting":  # each item a little, in its own direction
        for c in ("T1", "T2", "T4"):
            made[c] = np.clip(p + rng.normal(0, 0.1, n), 0, 1)
    made["strict"] = np.minimum(1, p + 0.15)
    made["lenient"] = np.maximum(0, p - 0.15)
    return made


def with_probabilities(
    planted: Mapping[str, np.ndarray],
    repeats: Mapping[str, int],
    rng: np.random.Generator,
    *,
    reasoning: float | None = None,
    greedy: bool = False,
    **more,
) -> VerdictTable:
    """Draw verdicts, each from its call's own probability.

    `reasoning`: calls of a prompt differ, their probabilities are drawn around the prompt's (beta,
    with this many pseudo-counts). `greedy`: the likelier word is said.
    """
    table = drawn(planted, repeats, rng, **more)
    p = np.full(table.codes.shape, np.nan)
    for k, c in enumerate(planted):
        around = np.broadcast_to(
            np.asarray(planted[c])[:, None], (table.n_items, repeats[c])
        ).copy()
        if reasoning is not None:
            inner = (around > 0) & (around < 1)
            a = around[inner] * reasoning
            around[inner] = rng.beta(a, reasoning - a)
        p[:, k, : repeats[c]] = around
    said = p > 0.5 if greedy else rng.random(p.shape) < p
    codes = np.where((table.codes == 0) | (table.codes == 1), said, table.codes).astype(np.int8)
    return replace(
        table,
        codes=codes,
        p_unsafe=p,
        p_sources=("token log-probabilities",),
        p_whole=reasoning is None,
    )
