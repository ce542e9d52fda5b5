"""How far a corpus's labels can be told from the surface words of its trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import Item, Record
from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.clusters import cluster_sums
from judgeaudit.stats.intervals import clustered_wilson
from judgeaudit.stats.ranking import auroc
from judgeaudit.stats.surface import FOLDS, available, crossfit, fit

__all__ = ["Surface", "Told", "surface"]

_NAMED: Final = 10


class Told(Record):
    """One figure with its interval over clusters, or the reason why it has none.

    Parameters
    ----------
    value : float, optional
        0 to 1; None exactly where `why` says why.
    low, high : float, optional
        Ends of the interval; None where `why_no_interval` says why.
    """

    value: float | None = None
    why: str | None = None
    low: float | None = None
    high: float | None = None
    why_no_interval: str | None = None
    level: float = 0.95
    method: str = ""


class Surface(Record):
    """How far labels can be told from words: a classifier's figures on items it was not shown.

    Parameters
    ----------
    auroc : Told
        Chance that an UNSAFE item looks more like UNSAFE than a SAFE one does; .5 is nothing.
    accuracy : Told
        Share of labels that it gets right.
    majority : float, optional
        Share that the more frequent label would get right; None without labels.
    n_items, n_clusters, n_unlabelled : int
        Labelled items, their clusters, and items left out for want of a label.
    folds : int
        Each fold of clusters was judged by a model fitted on the others.
    unsafe_words, safe_words : tuple of str
        Words and pairs of words that speak most for each label, over all items.
    """

    auroc: Told
    accuracy: Told
    majority: float | None
    n_items: int
    n_clusters: int
    n_unlabelled: int
    folds: int
    method: str
    unsafe_words: tuple[str, ...] = ()
    safe_words: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What the figures say, in one sentence."""
        low, high = self.auroc.low, self.auroc.high
        if self.auroc.value is None:
            return f"Whether labels can be told from words is not known: {self.auroc.why}."
        if low is not None and low > 0.5:
            return (
                "Labels can be told from surface words better than by chance: a judge must beat "
                "these figures before its accuracy shows that it understands anything."
            )
        if high is not None and high < 0.5:
            return (
                "Words mislead: near items carry opposite labels, so a classifier of words is "
                "worse than chance, and a judge that is better read more than words."
            )
        return "It was not shown that labels can be told from surface words."


def surface(
    items: Sequence[Item], *, n_folds: int = FOLDS, seed: int = 0, level: float = 0.95
) -> Surface:
    """Judge every labelled item by a classifier of words that saw no item of its cluster.

    Parameters
    ----------
    items : sequence of Item
        The corpus.
    n_folds, seed : int
        Folds of clusters, and the seed by which they are dealt out.
    level : float
        Confidence level.

    Raises
    ------
    ConfigError
        Without scikit-learn.
    """
    if not available():
        raise ConfigError(
            "telling labels from words needs scikit-learn, which is not installed",
            mend="Install it with `pip install 'judgeaudit[control]'`",
        )
    known = sorted((i for i in items if i.label is not None), key=lambda i: i.key)
    texts = [i.trajectory.words for i in known]
    unsafe = np.array([i.label == "UNSAFE" for i in known], dtype=np.bool_)
    clusters = np.unique([i.cluster for i in known], return_inverse=True)[1].reshape(-1)
    made = crossfit(texts, unsafe.astype(np.float64), clusters, n_folds=n_folds, seed=seed)
    facts = {
        "n_items": len(known),
        "n_clusters": int(np.unique(clusters).size),
        "n_unlabelled": len(items) - len(known),
        "method": "TF-IDF of words and pairs of words, logistic regression, folds of clusters",
        "majority": float(max(unsafe.mean(), 1 - unsafe.mean())) if known else None,
    }
    if isinstance(made, Undefined) or unsafe.all() or not unsafe.any():
        why = made.reason if isinstance(made, Undefined) else "every label is the same"
        none = Told(why=why, why_no_interval=why, level=level)
        return Surface(auroc=none, accuracy=none, folds=0, **facts)
    right = ((made.probability >= 0.5) == unsafe).astype(np.float64)
    wilson = clustered_wilson(cluster_sums(right, clusters), level=level)
    area = auroc(made.probability, unsafe, clusters, level=level)
    assert not isinstance(area.value, Undefined)  # both classes are there
    for_unsafe, for_safe = fit(texts, unsafe.astype(np.float64)).strongest(_NAMED)
    return Surface(
        auroc=_told(area.value, area.interval, level),
        accuracy=_told(float(right.mean()), wilson, level),
        folds=len(made.models),
        unsafe_words=tuple(for_unsafe),
        safe_words=tuple(for_safe),
        **facts,
    )


def _told(value: float, interval: Interval | Undefined, level: float) -> Told:
    if isinstance(interval, Undefined):
        return Told(value=value, why_no_interval=interval.reason, level=level)
    ends = {"low": interval.low, "high": interval.high}
    return Told(value=value, **ends, level=level, method=interval.method)
