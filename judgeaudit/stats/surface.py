"""How far a label can be told from the words of a text alone: TF-IDF and logistic regression.

Every text is judged by a model that saw no text of its cluster, so that a word which only names
the source of an item tells nothing. Needs the extra `control` (scikit-learn).
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from judgeaudit.stats._types import BoolArray1D, FloatArray1D, IntArray1D, Undefined

__all__ = ["FOLDS", "CrossFit", "TextModel", "available", "crossfit", "fit", "grouped_folds"]

FOLDS: Final = 5
"""Folds of the cross-fit, or as many as there are clusters."""

_WORDS: Final = 50_000
_WORD: Final = r"(?u)\b\w+\b"


def available() -> bool:
    """Say whether scikit-learn is installed."""
    return importlib.util.find_spec("sklearn") is not None


@dataclass(frozen=True, slots=True)
class TextModel:
    """A fitted model of texts.

    Parameters
    ----------
    share : float
        Mean of the targets it was fitted on, 0 to 1.
    pipeline : object, optional
        Vectoriser and regression of scikit-learn; None where all targets were the same, so that
        `share` is all there is to predict.
    """

    share: float
    pipeline: Any = None

    def predict(self, texts: Sequence[str]) -> FloatArray1D:
        """Return the probability of target 1 for each text, shape (n_texts,)."""
        if self.pipeline is None or not texts:
            return np.full(len(texts), self.share, dtype=np.float64)
        found = self.pipeline.predict_proba(list(texts))[:, 1]
        return np.asarray(found, dtype=np.float64)

    def strongest(self, most: int) -> tuple[list[str], list[str]]:
        """Return the words that speak most for target 1, and most against it, in any text."""
        if self.pipeline is None:
            return [], []
        vectoriser, regression = (step for _, step in self.pipeline.steps)
        names, weights = vectoriser.get_feature_names_out(), regression.coef_[0]
        order = np.argsort(weights, kind="stable")
        for_it = [str(names[k]) for k in order[::-1][:most] if weights[k] > 0]
        return for_it, [str(names[k]) for k in order[:most] if weights[k] < 0]

    def reasons(self, text: str, *, most: int = 5) -> tuple[list[str], list[str]]:
        """Return the words of a text that speak most for target 1, and most against it."""
        if self.pipeline is None:
            return [], []
        vectoriser, regression = (step for _, step in self.pipeline.steps)
        row = vectoriser.transform([text])
        weights = row.data * regression.coef_[0][row.indices]
        order = np.argsort(weights, kind="stable")
        ends = [*order[:most], *order[-most:]]
        wanted = {int(row.indices[k]) for k in ends}
        names = {k: word for word, k in vectoriser.vocabulary_.items() if k in wanted}
        against = [names[row.indices[k]] for k in order[:most] if weights[k] < 0]
        for_it = [names[row.indices[k]] for k in order[::-1][:most] if weights[k] > 0]
        return for_it, against


@dataclass(frozen=True, slots=True)
class CrossFit:
    """Predictions for texts by models that saw none of their cluster.

    Parameters
    ----------
    probability : array of float, shape (n_items,)
        Probability of target 1.
    fold : array of int, shape (n_items,)
        Fold of each item; all items of a cluster are in one.
    models : tuple of TextModel
        `models[k]` was fitted without fold k.
    """

    probability: FloatArray1D
    fold: IntArray1D
    models: tuple[TextModel, ...]


def grouped_folds(clusters: IntArray1D, n_folds: int = FOLDS, *, seed: int = 0) -> IntArray1D:
    """Deal clusters out to folds of about the same number of items.

    Parameters
    ----------
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    n_folds : int
        Folds at most; there are never more than clusters.
    seed : int
        Decides which of equally large clusters comes first.

    Returns
    -------
    array of int, shape (n_items,)
        Fold of each item, 0 and up.
    """
    names, index, sizes = np.unique(clusters, return_inverse=True, return_counts=True)
    shuffled = np.random.default_rng(seed).permutation(names.size)
    order = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    load = np.zeros(max(1, min(n_folds, names.size)), dtype=np.int64)
    of_cluster = np.zeros(names.size, dtype=np.int64)
    for cluster in order:
        of_cluster[cluster] = int(np.argmin(load))
        load[of_cluster[cluster]] += sizes[cluster]
    return np.asarray(of_cluster[index.reshape(-1)], dtype=np.int64)


def fit(texts: Sequence[str], targets: FloatArray1D) -> TextModel:
    """Fit TF-IDF of words and pairs of words, and a logistic regression on them.

    Parameters
    ----------
    texts : sequence of str, length n_items
        The texts.
    targets : array of float, shape (n_items,)
        0 to 1; a share counts as that much of a 1 and the rest of a 0.

    Returns
    -------
    TextModel

    Raises
    ------
    ModuleNotFoundError
        Without scikit-learn.
    """
    share = float(np.mean(targets))
    if share in (0.0, 1.0):
        return TextModel(share)
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    weight = np.concatenate([targets, 1 - targets])
    side = np.concatenate([np.ones(len(targets)), np.zeros(len(targets))])
    used = weight > 0
    doubled = [t for t, u in zip([*texts, *texts], used.tolist(), strict=True) if u]
    # single letters and digits are words too: no text may be without any
    words = TfidfVectorizer(
        sublinear_tf=True, ngram_range=(1, 2), max_features=_WORDS, token_pattern=_WORD
    )
    pipeline = make_pipeline(words, LogisticRegression(C=10.0, max_iter=2000))
    try:
        pipeline.fit(doubled, side[used], logisticregression__sample_weight=weight[used])
    except ValueError as error:
        if "empty vocabulary" in str(error):
            return TextModel(share)
        raise
    return TextModel(share, pipeline)


def crossfit(
    texts: Sequence[str],
    targets: FloatArray1D,
    clusters: IntArray1D,
    *,
    known: BoolArray1D | None = None,
    n_folds: int = FOLDS,
    seed: int = 0,
) -> CrossFit | Undefined:
    """Predict each text's target by a model that was fitted without its cluster.

    Parameters
    ----------
    texts : sequence of str, length n_items
        The texts.
    targets : array of float, shape (n_items,)
        0 to 1.
    clusters : array of int, shape (n_items,)
        Cluster index of each item.
    known : array of bool, shape (n_items,), optional
        Items whose target is known; the others are predicted, never fitted on.
    n_folds, seed
        As of `grouped_folds`.

    Returns
    -------
    CrossFit or Undefined
        Undefined where there are fewer than two clusters, or a fold leaves no known target.
    """
    there = np.ones(len(texts), dtype=np.bool_) if known is None else known
    if not there.any():
        return Undefined("no item has a label to learn from")
    if np.unique(clusters[there]).size < 2:
        return Undefined("fewer than two clusters to learn from")
    fold = grouped_folds(clusters, n_folds, seed=seed)
    probability = np.zeros(len(texts), dtype=np.float64)
    models: list[TextModel] = []
    for k in range(int(fold.max()) + 1):
        learnt = np.flatnonzero((fold != k) & there).tolist()
        if not learnt:
            return Undefined("all labels are in one fold")
        model = fit([texts[i] for i in learnt], targets[learnt])
        asked = np.flatnonzero(fold == k).tolist()
        probability[asked] = model.predict([texts[i] for i in asked])
        models.append(model)
    return CrossFit(probability, fold, tuple(models))
