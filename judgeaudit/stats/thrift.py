"""A night with few calls: anchors drawn by known chances, asked in looks, until it is decided.

Each look adds anchors. At each, base calls are held against the baseline's by exact tests, and an
interval says by how much more is wrong. Every look spends a share of the false-alarm rate, so
stopping early costs none of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from judgeaudit.stats._types import FloatArray1D, IntArray1D, Undefined
from judgeaudit.stats.adjusted_t import adjusted_t
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.exchange import Blocks, changed
from judgeaudit.stats.intervals import clopper_pearson_upper, kish_number

__all__ = ["FRACTIONS", "SPENT", "Foreseen", "Look", "Sample", "draw", "foresee", "look"]

FRACTIONS: Final = (0.4, 0.7, 1.0)
"""Share of the anchors that have been asked by the end of each look."""

SPENT: Final = (0.4, 0.3, 0.3)
"""Share of the false-alarm rate that each look may spend."""

_HINT: Final = 0.1
"""A p-value that does not show a change, but is reason enough to ask more."""

_SPLIT_DRAWN: Final = 2.0
"""How much likelier an item is drawn on which verdicts under other wordings were split."""

Outcome = Literal["pass", "fail", "undecided"]


@dataclass(frozen=True, slots=True)
class Sample:
    """Anchors with what the baseline says of them; arrays of shape (n_anchors,).

    Parameters
    ----------
    gold : array of int
        1 UNSAFE, 0 SAFE, -1 no label.
    unsafe, valid : array of int
        Base calls of the baseline, which had no part in choosing the anchors.
    weights : array of float
        Items of the corpus that each anchor stands for: 1 / the chance that it was drawn.
    """

    gold: IntArray1D
    unsafe: IntArray1D
    valid: IntArray1D
    weights: FloatArray1D

    def part(self, at: slice | IntArray1D | NDArray[np.bool_]) -> Sample:
        """Keep some anchors."""
        return Sample(self.gold[at], self.unsafe[at], self.valid[at], self.weights[at])

    @property
    def wrong(self) -> IntArray1D:
        """Wrong base calls of the baseline; 0 without a label."""
        return _wrong(self.gold, self.unsafe, self.valid)


def _wrong(gold: IntArray1D, unsafe: IntArray1D, valid: IntArray1D) -> IntArray1D:
    return np.where(gold < 0, 0, np.where(gold == 1, valid - unsafe, unsafe))


@dataclass(frozen=True, slots=True)
class Look:
    """What is known after a look.

    Parameters
    ----------
    outcome : {"pass", "fail", "undecided"}
        Fail: an exact test shows a change. Pass: a worsening as large as `drift` is ruled out.
    p_moved, p_worse : float, optional
        That verdicts moved either way, that more are wrong; each fails below alpha / 2.
    alpha : float
        What this look may spend.
    worse, low, high : float, optional
        By how much more is wrong, over the corpus that the anchors were drawn from; the interval
        is wrong with chance alpha at most on either side.
    n_compared : int
        Anchors with a verdict on both sides.
    """

    outcome: Outcome
    p_moved: float | None
    p_worse: float | None
    alpha: float
    worse: float | None
    low: float | None
    high: float | None
    n_compared: int


def draw(
    split: NDArray[np.bool_], classes: IntArray1D, order: FloatArray1D, n: int
) -> tuple[IntArray1D, FloatArray1D]:
    """Draw anchors: of each class, items that were split under other wordings twice as often.

    Parameters
    ----------
    split : array of bool, shape (n_items,)
        Whether verdicts under other wordings than the base were split. Base calls may play no
        part here: a test on calls that chose their items is no test.
    classes : array of int, shape (n_items,)
        Label of each, any labels do.
    order : array of float, shape (n_items,)
        A random number of each item.
    n : int
        Anchors wanted.

    Returns
    -------
    tuple of array
        Indices of the drawn items, so ordered that every beginning holds each stratum in its
        share; and the weight of each, items of the stratum over items drawn of it.
    """
    strata = classes.astype(np.int64) * 2 + split
    names, stratum, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    wanted = np.where(names % 2 == 1, _SPLIT_DRAWN, 1.0)
    take = _shares(sizes, wanted, min(n, int(sizes.sum())))
    picked: list[tuple[float, int, float]] = []
    for h, (size, number) in enumerate(zip(sizes.tolist(), take.tolist(), strict=True)):
        members = np.flatnonzero(stratum == h)
        ranked = members[np.argsort(order[members], kind="stable")][:number]
        picked += [
            ((r + float(order[k])) / number, int(k), size / number) for r, k in enumerate(ranked)
        ]
    picked.sort()
    return (
        np.array([k for _, k, _ in picked], dtype=np.int64),
        np.array([w for _, _, w in picked], dtype=np.float64),
    )


def _shares(sizes: IntArray1D, wanted: FloatArray1D, n: int) -> IntArray1D:
    """Share n places out by size and wish; none gets more than its size, each one at least."""
    take = np.minimum(np.ones_like(sizes), sizes)
    while take.sum() < n:
        due = np.where(take < sizes, sizes * wanted / (take + 0.5), -1.0)
        take[int(np.argmax(due))] += 1
    return take


def look(
    sample: Sample,
    unsafe: IntArray1D,
    valid: IntArray1D,
    *,
    drift: float,
    alpha: float,
    last: bool = True,
) -> Look:
    """Decide on the anchors that were asked so far.

    Parameters
    ----------
    sample : Sample
        These anchors, all looks so far together.
    unsafe, valid : array of int, shape (n_anchors,)
        Tonight's base calls.
    drift : float
        The worsening that a pass rules out.
    alpha : float
        Chance of a false alarm that this look may spend; and that of a false pass.
    last : bool
        Whether no look follows. If one does, a night on which a test hints at a change, with a
        p-value of .1 or less, does not pass yet.

    Returns
    -------
    Look

    References
    ----------
    Decision notes 0801 and 0805.
    """
    ps = [
        changed(Blocks(sample.unsafe, sample.valid, unsafe, valid), "moved"),
        changed(
            Blocks(
                sample.wrong,
                np.where(sample.gold < 0, 0, sample.valid),
                _wrong(sample.gold, unsafe, valid),
                np.where(sample.gold < 0, 0, valid),
            ),
            "more",
        ),
    ]
    moved, more = (None if isinstance(p, Undefined) else p for p in ps)
    least = min((p for p in (moved, more) if p is not None), default=1.0)
    both = (sample.gold >= 0) & (sample.valid > 0) & (valid > 0)
    worse = low = high = None
    if np.count_nonzero(both):
        weights = sample.weights[both]
        gaps = _rates(_wrong(sample.gold, unsafe, valid)[both], valid[both])
        gaps = gaps - _rates(sample.wrong[both], sample.valid[both])
        worse = float(weights @ gaps / weights.sum())
        # scaled so that trials are as many as anchors: sizes then carry the weights
        scaled = weights / weights.mean()
        # anchors were drawn one by one, and the figure is this corpus's: they are the units
        sums = cluster_sums(gaps * scaled, np.arange(gaps.size), scaled)
        inner = adjusted_t(sums, level=1 - 2 * alpha)
        if not isinstance(inner, Undefined):
            low, high = inner.low, max(inner.high, _exact_high(worse, scaled, alpha))
    outcome: Outcome = "undecided"
    if least <= alpha / 2:
        outcome = "fail"
    elif high is not None and high < drift and (last or least > _HINT):
        outcome = "pass"
    n = int(np.count_nonzero((sample.valid > 0) & (valid > 0)))
    return Look(outcome, moved, more, alpha, worse, low, high, n)


def _exact_high(worse: float, weights: FloatArray1D, alpha: float) -> float:
    """Bound a worsening from above as if it were so many anchors that turned, and no others.

    A t interval is too short where few anchors turn: one of 90 does not rule out 6 in 100.
    """
    n = kish_number(weights)
    return clopper_pearson_upper(min(max(0.0, worse), 1.0) * n, n, level=1 - alpha)


def _rates(marks: IntArray1D, calls: IntArray1D) -> FloatArray1D:
    return np.asarray(marks / calls, dtype=np.float64)


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a design does, by simulation on the baseline's own items.

    Parameters
    ----------
    fails, passes : float
        Shares of nights.
    calls : float
        Base calls of a night, on average.
    nights : int
        Simulated.
    """

    fails: float
    passes: float
    calls: float
    nights: int


def foresee(
    sample: Sample,
    ends: tuple[int, ...],
    *,
    drift: float,
    planted: float,
    alpha: float,
    nights: int = 400,
    calls: int = 1,
    seed: int = 0,
) -> Foreseen:
    """Simulate nights of a design.

    Parameters
    ----------
    sample : Sample
        Anchors in the order of asking.
    ends : tuple of int
        Anchors asked by the end of each look.
    drift, alpha
        As of `look`; alpha is that of the whole night.
    planted : float
        By how much more is wrong in these nights: right items, drawn at random, turn.
    nights, seed : int
        How many, and of which numbers.
    calls : int
        Calls an anchor.

    Returns
    -------
    Foreseen

    Notes
    -----
    An anchor's chance of a wrong call is drawn from its posterior: a beta prior that has the
    error rate and the jitter of all anchors, and the anchor's own calls.
    """
    rng = np.random.default_rng([seed, sample.gold.size, round(1e6 * planted)])
    labelled = sample.part(sample.gold >= 0)
    prior = _prior(labelled.wrong, labelled.valid)
    counts = {"fail": 0, "pass": 0, "undecided": 0}
    asked = 0
    for _ in range(nights):
        wrong = rng.beta(sample.wrong + prior[0], sample.valid - sample.wrong + prior[1])
        right = (wrong < 0.5) & (sample.gold >= 0)
        gain = float((sample.weights * (1 - 2 * wrong))[right].sum())
        total = float(sample.weights[sample.gold >= 0].sum())
        if planted and gain > 0:
            turn = right & (rng.random(wrong.size) < planted * total / gain)
            wrong = np.where(turn, 1 - wrong, wrong)
        bad = rng.binomial(calls, wrong)
        unsafe = np.where(sample.gold == 1, calls - bad, bad)
        found: Outcome = "undecided"
        for end, share in zip(ends, SPENT, strict=True):
            part = slice(0, end)
            valid = np.full(end, calls)
            found = look(
                sample.part(part),
                unsafe[part],
                valid,
                drift=drift,
                alpha=alpha * share,
                last=end == ends[-1],
            ).outcome
            if found != "undecided":
                break
        asked += end * calls
        counts[found] += 1
    return Foreseen(counts["fail"] / nights, counts["pass"] / nights, asked / nights, nights)


def _prior(wrong: IntArray1D, valid: IntArray1D) -> tuple[float, float]:
    """Fit a beta distribution to error rate and jitter; near zero weight if calls never differ."""
    deep = valid > 1
    if not deep.any():
        return 0.5, 0.5
    w, k = wrong[deep].astype(np.float64), valid[deep].astype(np.float64)
    mean = float(np.clip((w / k).mean(), 0.01, 0.99))
    within = float((w * (k - w) / (k * (k - 1))).mean())  # of p (1 - p)
    between = max(mean * (1 - mean) - within, 1e-3)
    strength = max(within / between, 1e-3)
    return mean * strength, (1 - mean) * strength
