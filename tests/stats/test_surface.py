"""A label told from words: models that never see their own cluster, and an area with an interval."""

from __future__ import annotations

import numpy as np
import pytest

from judgeaudit.stats._auroc import Auroc, auroc
from judgeaudit.stats._types import Interval, Undefined
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


@pytest.mark.parametrize("seed", range(20))
def test_auroc_is_scikit_learns_with_ties(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 60))
    scores, positive = np.round(rng.random(n), 1), rng.random(n) < 0.5
    made = auroc(scores, positive, np.arange(n))
    if positive.all() or not positive.any():
        assert isinstance(made, Undefined)
        return
    assert isinstance(made, Auroc)
    assert metrics.roc_auc_score(positive, scores) == pytest.approx(made.value, abs=1e-12)


def test_auroc_of_one_item_is_undefined():
    assert isinstance(auroc(np.array([0.5]), np.array([True]), np.array([0])), Undefined)


def test_auroc_does_not_know_row_order_and_swaps_with_the_classes():
    scores, positive, clusters = RNG.random(80), RNG.random(80) < 0.4, RNG.integers(0, 20, 80)
    made, order = auroc(scores, positive, clusters), RNG.permutation(80)
    again = auroc(scores[order], positive[order], clusters[order])
    swapped = auroc(-scores, ~positive, clusters)
    for other in (again, swapped, auroc(np.exp(3 * scores), positive, clusters)):
        assert isinstance(other, Auroc)
        assert isinstance(made, Auroc)
        assert made.value == pytest.approx(other.value)


def test_aurocs_interval_is_wider_where_items_are_copies_of_each_other():
    scores, positive = RNG.random(40), RNG.random(40) < 0.5
    scores = scores + 0.3 * positive
    alone = auroc(scores, positive, np.arange(40))
    copied = auroc(np.repeat(scores, 5), np.repeat(positive, 5), np.repeat(np.arange(40), 5))
    naive = auroc(np.repeat(scores, 5), np.repeat(positive, 5), np.arange(200))
    widths = []
    for made in (alone, copied, naive):
        assert isinstance(made, Auroc)
        assert isinstance(made.interval, Interval)
        widths.append(made.interval.high - made.interval.low)
    assert widths[0] == pytest.approx(widths[1])
    assert widths[2] < 0.6 * widths[1]


def test_auroc_without_a_wrong_pair_has_no_interval():
    made = auroc(np.array([0.1, 0.2, 0.8, 0.9]), np.array([0, 0, 1, 1], dtype=bool), np.arange(4))
    assert isinstance(made, Auroc)
    assert (1.0, Undefined("no pair is in the wrong order")) == (made.value, made.interval)


@pytest.mark.slow
def test_aurocs_interval_covers_the_truth():
    """Two normals one apart, pairs of items in a cluster: the area is Phi(1/sqrt 2)."""
    from scipy.stats import norm

    truth, rng, inside = norm.cdf(2**-0.5), np.random.default_rng(1), 0
    for _ in range(1000):
        positive = np.repeat(rng.random(60) < 0.5, 2)
        shared = np.repeat(rng.normal(size=60), 2)
        scores = positive + np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.normal(size=120)
        made = auroc(scores, positive, np.repeat(np.arange(60), 2))
        assert isinstance(made, Auroc)
        assert isinstance(made.interval, Interval)
        inside += made.interval.low <= truth <= made.interval.high
    assert 0.93 <= inside / 1000 <= 0.97


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
