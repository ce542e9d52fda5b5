"""Agreement of two and of many, against other implementations, by hand, and by its properties."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.agreement import krippendorff_alpha
from judgeaudit.stats.many_raters import (
    RATER_FIGURES,
    alpha_of,
    fleiss_kappa,
    many_raters,
)
from judgeaudit.stats.two_raters import FIGURES, cells_of, misleading, two_raters


def value(figure) -> float | None:
    return None if isinstance(figure.value, Undefined) else figure.value


def drawn(seed: int, n: int = 40, rate: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    one = rng.random(n) < rate
    two = np.where(rng.random(n) < 0.8, one, rng.random(n) < rate)
    return one.astype(float), two.astype(float)


# -- two raters -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_kappa_is_scikit_learns(seed):
    metrics = pytest.importorskip("sklearn.metrics")
    one, two = drawn(seed, n=10 + 7 * seed, rate=0.05 * (1 + seed))
    found = value(two_raters(one, two, np.arange(one.size)).figures["kappa"])
    if len({*one, *two}) == 1:
        assert found is None
    else:
        assert pytest.approx(metrics.cohen_kappa_score(one, two), abs=1e-12) == found


@pytest.mark.parametrize("seed", range(12))
def test_kappa_is_statsmodels(seed):
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    one, two = drawn(seed, n=60, rate=0.04 * (1 + seed))
    a, b, c, d = cells_of(one, two).sum(axis=0)
    theirs = inter_rater.cohens_kappa(np.array([[a, b], [c, d]]), return_results=False)
    found = two_raters(one, two, np.arange(60)).figures["kappa"]
    assert pytest.approx(theirs, abs=1e-12) == value(found)
    assert isinstance(found.interval, Interval)


def test_the_interval_of_kappa_is_near_the_textbooks_where_that_holds():
    """Fleiss, Cohen and Everitt's large-sample error, at 4,000 items."""
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    one, two = drawn(3, n=4000)
    a, b, c, d = cells_of(one, two).sum(axis=0)
    theirs = inter_rater.cohens_kappa(np.array([[a, b], [c, d]]))
    ours = two_raters(one, two, np.arange(4000)).figures["kappa"].interval
    assert pytest.approx(theirs.kappa_low, abs=2e-3) == ours.low
    assert pytest.approx(theirs.kappa_upp, abs=2e-3) == ours.high


def test_repeats_count_as_one_call_drawn_at_random():
    """A judge with three of four UNSAFE agrees as the mean over its four calls does."""
    shares = np.array([0.75, 0.25, 1.0, 0.0, 0.5])
    gold = np.array([1.0, 0.0, 1.0, 0.0, 1.0])
    calls = np.array([[k < 4 * p for k in range(4)] for p in shares], dtype=float)
    whole = two_raters(shares, gold, np.arange(5)).cells
    each = np.mean([two_raters(calls[:, k], gold, np.arange(5)).cells for k in range(4)], axis=0)
    assert pytest.approx(each.tolist()) == list(whole)


@pytest.mark.parametrize(
    ("one", "two", "none"),
    [
        ([0.0], [0.0], {"kappa", "alpha", "positive"}),
        ([1.0] * 9, [1.0] * 9, {"kappa", "alpha", "negative"}),
        ([1.0], [0.0], set()),
        ([0.0, 0.0], [0.0, 1.0], set()),
        ([], [], set(FIGURES)),
    ],
    ids=["one_safe", "all_unsafe", "one_apart", "one_constant", "nothing"],
)
def test_what_is_undefined_says_why(one, two, none):
    found = two_raters(np.array(one), np.array(two), np.arange(len(one))).figures
    assert none == {k for k, f in found.items() if value(f) is None}
    for figure in found.values():
        if isinstance(figure.value, Undefined):
            assert figure.value.reason
        if isinstance(figure.interval, Interval) and not isinstance(figure.value, Undefined):
            assert figure.interval.low <= figure.value <= figure.interval.high


def test_one_constant_rater_has_kappa_zero():
    one, two = np.zeros(10), np.r_[np.ones(3), np.zeros(7)]
    assert 0.0 == value(two_raters(one, two, np.arange(10)).figures["kappa"])


def test_what_is_missing_is_left_out():
    one, two = drawn(1)
    there = np.arange(40) % 3 > 0
    whole = two_raters(one, two, np.arange(40), present=there)
    assert two_raters(one[there], two[there], np.flatnonzero(there)) == whole
    with pytest.raises(ValueError, match=r"outside 0\.\.1"):
        two_raters(one * 2, two, np.arange(40))


tables = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=30)


@given(tables, st.randoms(use_true_random=False))
def test_order_swap_and_renaming(rows, random):
    one, two = np.array(rows, dtype=float).T
    groups = np.array([random.randrange(5) for _ in rows])
    found = two_raters(one, two, groups)
    order = np.array(random.sample(range(len(rows)), len(rows)))
    again = two_raters(one[order], two[order], groups[order] * 31 + 7)
    turned = two_raters(two, one, groups)
    swapped = two_raters(1 - one, 1 - two, groups)
    other = {"positive": "negative", "negative": "positive"}
    for name in FIGURES:
        near = (
            None
            if value(found.figures[name]) is None
            else pytest.approx(value(found.figures[name]))
        )
        assert near == value(again.figures[name])
        assert near == value(turned.figures[name])
        assert near == value(swapped.figures[other.get(name, name)])
        mine, theirs = found.figures[name].interval, again.figures[name].interval
        assert type(mine) is type(theirs)
        if isinstance(mine, Interval):
            assert pytest.approx((mine.low, mine.high), abs=1e-9) == (theirs.low, theirs.high)
            assert -1 <= mine.low <= mine.high <= 1 + 1e-12


def test_clusters_that_agree_together_widen_every_interval():
    rng = np.random.default_rng(0)
    one, two = np.repeat(np.stack([rng.random(40) < 0.4, rng.random(40) < 0.4]), 6, axis=1) * 1.0
    for name in FIGURES:
        alone = two_raters(one, two, np.arange(240)).figures[name].interval
        together = two_raters(one, two, np.arange(240) // 6).figures[name].interval
        assert together.high - together.low > 1.6 * (alone.high - alone.low)


def test_full_agreement_keeps_an_interval():
    one = np.repeat([1.0, 0.0], [10, 40])
    for name in FIGURES:
        figure = two_raters(one, one, np.arange(50)).figures[name]
        assert pytest.approx(1.0) == figure.value
        assert figure.interval.low < 0.97 < figure.interval.high


def test_nothing_misleads_without_items():
    assert misleading(two_raters(np.array([]), np.array([]), np.array([], dtype=int))) is None


# -- many raters ----------------------------------------------------------------------------------


def alpha_by_hand(votes, values, scale) -> float | None:
    """Alpha from all pairs of votes, as its definition has it."""
    rated = [[v for v in row if v >= 0] for row in votes.tolist()]
    rated = [r for r in rated if len(r) >= 2]
    flat = [v for r in rated for v in r]
    if len(set(flat)) < 2:
        return None
    n = [flat.count(k) for k in range(len(values))]

    def apart(a: int, b: int) -> float:
        if scale == "nominal":
            return float(a != b)
        if scale == "interval":
            return (values[a] - values[b]) ** 2
        low, high = min(a, b), max(a, b)
        return (sum(n[low : high + 1]) - (n[low] + n[high]) / 2) ** 2

    seen = sum(
        sum(apart(a, b) for a, b in permutations(row, 2)) / (len(row) - 1) for row in rated
    ) / len(flat)
    expected = sum(apart(a, b) for a, b in permutations(flat, 2)) / (len(flat) * (len(flat) - 1))
    return 1 - seen / expected


votes_of_three = st.lists(
    st.lists(st.integers(-1, 3), min_size=3, max_size=3), min_size=1, max_size=10
)


@settings(max_examples=60)
@given(votes_of_three, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_is_that_of_all_pairs(rows, scale):
    votes, values = np.array(rows), (0.0, 1.0, 2.5, 7.0)
    found = alpha_of(votes, np.arange(len(rows)), scale=scale, values=values)
    by_hand = alpha_by_hand(votes, values, scale)
    assert (None if by_hand is None else pytest.approx(by_hand, abs=1e-9)) == value(found)
    if isinstance(found.interval, Interval):
        assert found.interval.low <= found.value <= found.interval.high


def test_alpha_of_the_published_example():
    """Krippendorff 2011, section C and D: nominal .743, ordinal .815, interval .849."""
    rows = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")
    votes = np.array([[-1 if v == "." else int(v) - 1 for v in row] for row in rows]).T
    found = [
        round(value(alpha_of(votes, np.arange(12), scale=s, values=range(1, 6))), 3)
        for s in ("nominal", "ordinal", "interval")
    ]
    assert [0.743, 0.815, 0.849] == found


@pytest.mark.parametrize("seed", range(6))
def test_fleiss_kappa_is_statsmodels(seed):
    inter_rater = pytest.importorskip("statsmodels.stats.inter_rater")
    votes = np.random.default_rng(seed).integers(0, 3, (20, 4))
    table, _ = inter_rater.aggregate_raters(votes)
    assert pytest.approx(inter_rater.fleiss_kappa(table)) == fleiss_kappa(votes, 3)


def test_fleiss_kappa_takes_no_gaps():
    with pytest.raises(ValueError, match="missing"):
        fleiss_kappa(np.array([[0, -1]]), 2)
    assert fleiss_kappa(np.zeros((4, 2), dtype=int), 2) is None
    assert fleiss_kappa(np.zeros((4, 1), dtype=int), 2) is None


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(-1, 1), min_size=4, max_size=4), min_size=1, max_size=12))
def test_figures_of_many_by_pairs(rows):
    votes = np.array(rows)
    found = many_raters(votes, np.arange(len(rows)))
    pairs = [[(a, b) for a, b in combinations([v for v in row if v >= 0], 2)] for row in rows]
    per_item = [np.mean([a == b for a, b in p]) for p in pairs if p]
    assert len(per_item) == found.n_items
    if not per_item:
        assert {None} == {value(f) for f in found.figures.values()}
        return
    flat = [p for of in pairs for p in of]
    both, mixed = sum(a + b == 2 for a, b in flat), sum(a != b for a, b in flat)
    assert pytest.approx(np.mean(per_item)) == value(found.figures["observed"])
    positive = None if both + mixed == 0 else pytest.approx(2 * both / (2 * both + mixed))
    assert positive == value(found.figures["positive"])
    alpha = krippendorff_alpha(votes, 2)
    near = None if isinstance(alpha, Undefined) else pytest.approx(alpha.value)
    assert near == value(found.figures["alpha"])


def test_two_raters_are_the_case_of_two():
    one, two = drawn(5, n=80)
    pair = two_raters(one, two, np.arange(80)).figures
    many = many_raters(np.stack([one, two], axis=1).astype(int), np.arange(80)).figures
    for name in RATER_FIGURES:
        assert pytest.approx(value(pair[name])) == value(many[name])
        mine, theirs = pair[name].interval, many[name].interval
        assert pytest.approx((mine.low, mine.high), abs=1e-9) == (theirs.low, theirs.high)


def test_a_vote_off_the_scale_is_refused():
    with pytest.raises(ValueError, match=r"outside 0\.\.1"):
        many_raters(np.array([[0, 2]]), np.arange(1))
    assert value(alpha_of(np.array([[0, -1]]), np.arange(1))) is None


@pytest.mark.slow
@pytest.mark.parametrize("prevalence", [0.05, 0.3])
def test_intervals_cover(prevalence):
    """Nominal 95%, 80 clusters of three that share a third of their draws: 90% at least."""
    rng = np.random.default_rng(11)
    tpr, tnr, groups, size = 0.8, 0.95, 80, 3
    a, d = prevalence * tpr, (1 - prevalence) * tnr
    b, c = prevalence - a, 1 - prevalence - d
    pi, chance = (2 * a + b + c) / 2, (a + b) * (a + c) + (b + d) * (c + d)
    ac = 2 * pi * (1 - pi)
    true = {
        "observed": a + d,
        "kappa": (a + d - chance) / (1 - chance),
        "pabak": 2 * (a + d) - 1,
        "ac1": (a + d - ac) / (1 - ac),
        "positive": 2 * a / (2 * a + b + c),
        "negative": 2 * d / (2 * d + b + c),
        "alpha": 1 - (b + c) / ac,
    }
    where = np.arange(groups * size) // size

    def draw(p: float) -> np.ndarray:
        own, shared = rng.random(where.size), rng.random(groups)[where]
        return np.where(rng.random(where.size) < 1 / 3, shared, own) < p

    hits = dict.fromkeys(FIGURES, 0)
    for _ in range(400):
        gold = draw(prevalence)
        judge = np.where(gold, draw(tpr), ~draw(tnr))
        found = two_raters(gold * 1.0, judge * 1.0, where).figures
        for name, wanted in true.items():
            interval = found[name].interval
            hits[name] += isinstance(interval, Interval) and interval.low <= wanted <= interval.high
    assert min(hits.values()) >= 0.9 * 400, hits
