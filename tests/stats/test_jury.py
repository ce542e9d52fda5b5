"""Panels by enumeration, overlap by sets, gains against their parts, latent accuracy as planted."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.jury import (
    gain_over_best,
    overlap,
    panel,
    right_of_all,
    vote_weights,
)
from judgeaudit.stats.latent import latent_accuracy

SAME = 1e-9


def planted(seed: int, tpr, tnr, *, n: int = 600, prevalence: float = 0.3, missing: float = 0.0):
    """Judges that err independently: verdicts, where they are there, labels."""
    rng = np.random.default_rng(seed)
    gold = rng.random(n) < prevalence
    rates = np.where(gold[:, None], np.array(tpr), 1 - np.array(tnr))
    verdicts = (rng.random(rates.shape) < rates) * 1.0
    return verdicts, rng.random(rates.shape) >= missing, gold.astype(np.int8)


# -- panels ---------------------------------------------------------------------------------------


@given(
    st.lists(st.floats(0, 1), min_size=1, max_size=4),
    st.lists(st.sampled_from([0.5, 1.0, 2.0, -1.0]), min_size=4, max_size=4),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_a_panel_by_enumeration(chances, weights, present):
    k = len(chances)
    there = np.array([present[:k]])
    found = panel(np.array([chances]), there, np.array(weights[:k]))
    unsafe = tied = 0.0
    inside = [j for j in range(k) if present[j]]
    for votes in product((0, 1), repeat=len(inside)):
        chance = np.prod(
            [chances[j] if v else 1 - chances[j] for j, v in zip(inside, votes, strict=True)]
        )
        sway = sum(weights[j] * (2 * v - 1) for j, v in zip(inside, votes, strict=True))
        unsafe += chance * (sway > SAME) + chance * (abs(sway) <= SAME) / 2
        tied += chance * (abs(sway) <= SAME)
    if not inside:
        unsafe = tied = 0.0
    assert bool(inside) == found.there[0]
    assert pytest.approx(unsafe, abs=1e-9) == found.unsafe[0]
    assert pytest.approx(tied, abs=1e-9) == found.tied[0]


def test_condorcet():
    """Three judges that are right in 80% of cases, independently, are so in 89.6% together."""
    found = panel(np.full((1, 3), 0.8), np.ones((1, 3), dtype=bool))
    assert pytest.approx(0.8**3 + 3 * 0.8**2 * 0.2) == found.unsafe[0]


def test_too_large_a_panel_is_refused():
    with pytest.raises(ValueError, match="at most 10"):
        panel(np.zeros((1, 11)), np.ones((1, 11), dtype=bool))


def test_weights_are_log_odds_and_never_infinite():
    verdicts = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    there = np.array([[True, True, True], [True, True, True], [True, True, False]])
    weights = vote_weights(verdicts, there, np.array([1, 1, 0], dtype=np.int8))
    assert pytest.approx(np.log([3.5 / 0.5, 0.5 / 3.5, 1.5 / 1.5]).tolist()) == weights.tolist()
    nothing = vote_weights(verdicts, there, np.full(3, -1, dtype=np.int8))
    assert [0.0, 0.0, 0.0] == nothing.tolist()


# -- overlap --------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=12))
def test_overlap_by_sets(rows):
    a, b, there = np.array(rows).T
    first = {k for k, r in enumerate(rows) if r[0] and r[2]}
    second = {k for k, r in enumerate(rows) if r[1] and r[2]}
    found = overlap(a * 1.0, b * 1.0, np.arange(len(rows)), present=there)
    if not first | second:
        assert isinstance(found.jaccard.value, Undefined)
        assert found.expected is None
        return
    assert pytest.approx(len(first & second) / len(first | second)) == found.jaccard.value
    assert (len(first), len(second)) == (found.first, found.second)
    assert (
        0 <= found.jaccard.interval.low <= found.jaccard.value <= found.jaccard.interval.high <= 1
    )


def test_independent_errors_overlap_as_expected():
    verdicts, there, gold = planted(0, [0.7, 0.7], [0.7, 0.7], n=20_000)
    wrong = 1 - right_of_all(verdicts, gold)
    found = overlap(wrong[:, 0], wrong[:, 1], np.arange(20_000), present=there[:, 0])
    assert pytest.approx(found.expected, abs=0.01) == found.jaccard.value
    assert found.jaccard.interval.low <= found.expected <= found.jaccard.interval.high


# -- what a panel gains ---------------------------------------------------------------------------


def test_the_gain_is_a_paired_difference_on_items_that_chose_nothing():
    verdicts, there, gold = planted(1, [0.9, 0.85, 0.85], [0.9, 0.85, 0.85], missing=0.05)
    where = np.arange(600) // 2
    found = gain_over_best(verdicts, there, gold, where)
    assert pytest.approx(found.panel_accuracy - found.best_accuracy) == found.value
    assert found.n_items == np.count_nonzero(there.all(axis=1))
    assert found.interval.low < found.value < found.interval.high
    # the majority needs no fitting: it is the same whichever half is tested
    whole = there.all(axis=1)
    votes = verdicts[whole].sum(axis=1) >= 2
    assert pytest.approx(np.mean(votes == gold[whole])) == found.panel_accuracy


def test_weights_silence_a_judge_that_guesses():
    verdicts, there, gold = planted(2, [0.95, 0.5, 0.5], [0.95, 0.5, 0.5], n=1000)
    equal = gain_over_best(verdicts, there, gold, np.arange(1000))
    weighted = gain_over_best(verdicts, there, gold, np.arange(1000), weighted=True)
    assert (0, 0) == weighted.best
    assert equal.interval.high < 0
    assert 0.0 == weighted.value


def test_the_best_of_equals_is_not_flattered():
    """Judges alike and independent: the chosen one's tested accuracy is their common 70%."""
    accuracies = []
    for seed in range(40):
        verdicts, there, gold = planted(seed, [0.7] * 5, [0.7] * 5, n=100)
        accuracies.append(gain_over_best(verdicts, there, gold, np.arange(100)).best_accuracy)
    assert pytest.approx(0.7, abs=0.02) == np.mean(accuracies)


def test_too_few_clusters_have_no_gain():
    verdicts, there, gold = planted(3, [0.9, 0.9], [0.9, 0.9], n=30)
    found = gain_over_best(verdicts, there, gold, np.arange(30) % 3)
    assert "fewer than four clusters" in found.value.reason


# -- accuracy without labels ----------------------------------------------------------------------


TPR, TNR = (0.9, 0.8, 0.75, 0.85), (0.95, 0.9, 0.8, 0.9)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_planted_accuracies_are_found_without_labels(missing):
    verdicts, there, gold = planted(4, TPR, TNR, n=3000, missing=missing)
    found = latent_accuracy(verdicts, there, np.arange(3000))
    assert found.converged
    assert pytest.approx(gold.mean(), abs=0.03) == found.prevalence
    assert pytest.approx(TPR, abs=0.06) == found.sensitivity.tolist()
    assert pytest.approx(TNR, abs=0.04) == found.specificity.tolist()
    for k, interval in enumerate(found.intervals):
        true = 0.3 * TPR[k] + 0.7 * TNR[k]
        assert interval.low - 0.01 <= true <= interval.high + 0.01
    assert np.mean((found.posterior > 0.5) == (gold == 1)) > 0.93
    assert found.dependence < 0.02


def test_neither_order_of_items_nor_of_judges_matters():
    verdicts, there, _ = planted(5, TPR, TNR, missing=0.1)
    found = latent_accuracy(verdicts, there, np.arange(600))
    order = np.random.default_rng(0).permutation(600)
    again = latent_accuracy(verdicts[order][:, ::-1], there[order][:, ::-1], order)
    assert pytest.approx(found.accuracy.tolist(), abs=1e-3) == again.accuracy.tolist()[::-1]
    assert pytest.approx(found.posterior[order].tolist(), abs=1e-2) == again.posterior.tolist()


def test_renaming_the_labels_turns_the_model_over():
    verdicts, there, _ = planted(6, TPR, TNR)
    found = latent_accuracy(verdicts, there, np.arange(600))
    other = latent_accuracy(1 - verdicts, there, np.arange(600))
    assert pytest.approx(found.prevalence, abs=1e-3) == 1 - other.prevalence
    assert pytest.approx(found.sensitivity.tolist(), abs=1e-3) == other.specificity.tolist()


def test_shared_errors_are_seen_and_said():
    """Two of four judges are copies: the model takes what they share for truth."""
    verdicts, there, gold = planted(7, TPR, TNR, n=2000)
    verdicts[:, 3] = verdicts[:, 2]
    found = latent_accuracy(verdicts, there, np.arange(2000))
    true = np.mean(verdicts[:, 2] == gold)
    assert found.accuracy[2] > true + 0.05
    assert any("independently" in c for c in found.caveats)


def test_three_judges_fit_always_and_two_are_refused():
    verdicts, there, _ = planted(8, TPR[:3], TNR[:3], n=2000)
    found = latent_accuracy(verdicts, there, np.arange(2000))
    assert found.dependence < 1e-3
    assert any("nothing can speak against it" in c for c in found.caveats)
    two = latent_accuracy(verdicts[:, :2], there[:, :2], np.arange(2000))
    assert "fewer than three judges" in two.reason


def test_what_cannot_be_estimated_says_why():
    verdicts, there, _ = planted(9, TPR, TNR, n=50)
    constant = verdicts.copy()
    constant[:, 0] = 0
    assert (
        "1 of 4 judges always say the same"
        in latent_accuracy(constant, there, np.arange(50)).reason
    )
    nobody = np.zeros_like(there)
    assert "no item has a verdict" == latent_accuracy(verdicts, nobody, np.arange(50)).reason
    apart = np.eye(4, dtype=bool)[np.arange(50) % 4]
    assert "no item was judged by two" in latent_accuracy(verdicts, apart, np.arange(50)).reason
    pair = latent_accuracy(verdicts, there, np.arange(50) % 2)
    assert all(isinstance(i, Undefined) for i in pair.intervals)


@pytest.mark.slow
def test_intervals_of_latent_accuracy_cover_where_the_model_holds():
    hits = 0
    true = [0.3 * a + 0.7 * b for a, b in zip(TPR, TNR, strict=True)]
    for seed in range(60):
        verdicts, there, _ = planted(100 + seed, TPR, TNR, n=300)
        found = latent_accuracy(verdicts, there, np.arange(300))
        hits += sum(
            isinstance(i, Interval) and i.low <= t <= i.high
            for i, t in zip(found.intervals, true, strict=True)
        )
    assert hits >= 0.88 * 240
