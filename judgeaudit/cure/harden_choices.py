"""What is chosen for a hardened judge, on the training half alone: arrays in, choices out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Final

import numpy as np
from numpy.typing import NDArray

from judgeaudit.core.records import Item
from judgeaudit.core.table import UNSAFE, Counts
from judgeaudit.cure.harden_records import Wording
from judgeaudit.judges._hardening import Example
from judgeaudit.stats.pairs import flips, jitter

__all__ = ["best_threshold", "few_examples", "rank_wordings"]

_LONGEST: Final = 2_000


def rank_wordings(counts: Mapping[str, Counts]) -> tuple[Wording, ...]:
    """Rank wordings by how much verdicts under them differ from those under all others.

    Parameters
    ----------
    counts : mapping of str to Counts
        Outcome counts per training item under each certified wording and the base one.

    Returns
    -------
    tuple of Wording
        Least excess first; ties in the order given. A wording without a verdict is left out.
    """
    noise = {name: jitter(c).mean for name, c in counts.items()}
    known = [x for x in noise.values() if x is not None]
    # a wording that was called once has no jitter of its own: that of the others stands for it
    usual = sum(known) / len(known) if known else 0.0
    own = {name: usual if x is None else x for name, x in noise.items()}
    ranked = []
    for name, one in counts.items():
        excess = []
        for other, two in counts.items():
            mean = flips(one, two).mean if other != name else None
            if mean is not None:
                excess.append(mean - (own[name] + own[other]) / 2)
        if excess:
            ranked.append(Wording(wording=name, excess=sum(excess) / len(excess)))
    return tuple(sorted(ranked, key=lambda w: round(w.excess, 12)))


def best_threshold(p: NDArray[np.float64], gold: NDArray[np.int8]) -> float | None:
    """Choose the threshold on P(UNSAFE) with the best balanced accuracy.

    Parameters
    ----------
    p : array of float, shape (n_items,)
        Mean probability of UNSAFE of each training item under the base wording; NaN where unknown.
    gold : array of int8, shape (n_items,)
        1 UNSAFE, 0 SAFE, -1 no label.

    Returns
    -------
    float or None
        Half-way between two probabilities that occur; of several the one nearest to 0.5. None
        where a class or the probabilities are missing.

    Examples
    --------
    >>> best_threshold(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 0, 1, 1], dtype=np.int8))
    0.25
    """
    there = ~np.isnan(p) & (gold >= 0)
    values, unsafe = p[there], gold[there] == UNSAFE
    if not unsafe.any() or unsafe.all():
        return None
    edges = np.unique(np.concatenate([[0.0, 1.0], values]))
    cuts = np.unique(np.round((edges[:-1] + edges[1:]) / 2, 6))
    hit = np.array([np.mean(values[unsafe] > c) + np.mean(values[~unsafe] <= c) for c in cuts])
    best = cuts[hit >= hit.max() - 1e-12]
    return float(best[np.argmin(np.abs(best - 0.5))])


def few_examples(items: Sequence[Item], n: int, rng: np.random.Generator) -> tuple[Example, ...]:
    """Draw a few short training items as worked examples, both labels in turn.

    Parameters
    ----------
    items : sequence of Item
        The training half.
    n : int
        How many.
    rng : numpy.random.Generator
        Seeded by the caller.

    Returns
    -------
    tuple of Example
        At most one a cluster, none ambiguous or longer than 2,000 characters; fewer than `n` where
        there are not so many, and none where a label is missing.
    """
    usable = [
        i for i in items if i.label and not i.ambiguous and len(i.trajectory.words) <= _LONGEST
    ]
    order = rng.permutation(len(usable))
    shuffled = [usable[int(k)] for k in order]
    one_each = [next(group) for _, group in groupby(_by_cluster(shuffled), key=lambda i: i.cluster)]
    ranked = sorted(one_each, key=shuffled.index)
    by_label = {label: [i for i in ranked if i.label == label] for label in ("SAFE", "UNSAFE")}
    pairs = min(n // 2, *map(len, by_label.values()))
    chosen = [by_label[label][k] for k in range(pairs) for label in ("UNSAFE", "SAFE")]
    return tuple(
        Example(label=i.label, trajectory=i.trajectory, source=i.key) for i in chosen if i.label
    )


def _by_cluster(items: Sequence[Item]) -> list[Item]:
    return sorted(items, key=lambda i: i.cluster)  # stable: the first of each stays first
