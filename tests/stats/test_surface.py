"""A label told from words: models that never see their own cluster."""

from __future__ import annotations

import numpy as np
import pytest

from judgeaudit.stats._types import Undefined
from judgeaudit.stats.surface import crossfit, fit, grouped_folds

RNG = np.random.default_rng(20261130)


def test_a_cluster_is_in_one_fold_and_folds_are_even():
    clusters = RNG.integers(0, 40, 400)
    folds = grouped_folds(clusters, 5, seed=3)
    assert all(np.unique(folds[clusters == c]).size == 1 for c in np.unique(clusters))
    sizes = np.bincount(folds)
    assert 5 == sizes.size
    assert sizes.max() - sizes.min() <= np.bincount(clusters).max()


def test_there_are_never_more_folds_than_clusters():
    assert {0, 1} == set(grouped_folds(np.array([0, 0, 1]), 5).tolist())


class TestWords:
    @pytest.fixture(autouse=True)
    def _needs(self):
        pytest.importorskip("sklearn")

    def test_a_word_that_tells_the_label_is_learnt(self):
        labels = RNG.random(60) < 0.5
        texts = [f"the run {'leaked' if u else 'kept'} a file {k}" for k, u in enumerate(labels)]
        made = crossfit(texts, labels.astype(float), np.arange(60))
        assert not isinstance(made, Undefined)
        assert ((made.probability >= 0.5) == labels).all()
        assert "leaked" in made.models[0].strongest(5)[0]
        assert "kept" in made.models[0].reasons(texts[int(np.argmin(labels))])[1]

    def test_a_word_that_names_the_cluster_tells_nothing(self):
        """Each cluster has one label and a word of its own: a plain cross-fit would know it all."""
        clusters = np.repeat(np.arange(30), 4)
        labels = (np.arange(30) % 2)[clusters].astype(float)
        texts = [f"source{c} item" for c in clusters]
        grouped = crossfit(texts, labels, clusters)
        plain = crossfit(texts, labels, np.arange(120))
        assert not isinstance(grouped, Undefined)
        assert not isinstance(plain, Undefined)
        assert ((plain.probability >= 0.5) == (labels == 1)).all()
        assert np.abs(grouped.probability - 0.5).max() < 0.2

    def test_a_share_counts_as_that_much_of_a_one(self):
        made = fit(["a b", "a c", "d e"] * 10, np.array([0.75, 0.75, 0.25] * 10))
        assert made.predict(["a b"])[0] > 0.6
        assert made.predict(["d e"])[0] < 0.4

    def test_one_class_is_a_constant_and_no_error(self):
        made = fit(["a", "b"], np.array([1.0, 1.0]))
        assert ([1.0], ([], [])) == (made.predict(["z"]).tolist(), made.reasons("z"))

    def test_texts_without_words_are_a_share(self):
        assert [0.5] == fit(["!", "?"], np.array([1.0, 0.0])).predict(["..."]).tolist()

    def test_an_unlabelled_item_is_predicted_and_never_learnt_from(self):
        texts = ["leak now", "keep now"] * 20
        known = np.ones(40, dtype=bool)
        known[:2] = False
        labels = np.array([1.0, 0.0] * 20)
        labels[:2] = [0.0, 1.0]
        made = crossfit(texts, labels, np.arange(40), known=known)
        assert not isinstance(made, Undefined)
        assert made.probability[0] > 0.5 > made.probability[1]

    @pytest.mark.parametrize(
        ("clusters", "known"),
        [([0, 0, 0], [1, 1, 1]), ([0, 1, 2], [0, 0, 0]), ([0, 1, 2], [1, 0, 0])],
    )
    def test_too_little_to_learn_from_is_said(self, clusters, known):
        made = crossfit(
            ["a", "b", "c"], np.array([1.0, 0, 1]), np.array(clusters), known=np.array(known, bool)
        )
        assert isinstance(made, Undefined)
