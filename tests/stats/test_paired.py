"""Paired and unpaired comparisons, corrections and agreement of a table, against others."""

from __future__ import annotations

from dataclasses import astuple
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize
from scipy import stats as scipy_stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep

from judgeaudit.stats._types import Undefined
from judgeaudit.stats.agreement import gwet_ac1, krippendorff_alpha
from judgeaudit.stats.multiplicity import benjamini_hochberg, holm
from judgeaudit.stats.paired import (
    MCNEMAR,
    NEWCOMBE,
    SIGN_FLIP,
    PairedCounts,
    compare_pairs,
    mcnemar,
    newcombe_paired,
    sign_flip,
    tango,
)
from judgeaudit.stats.two_raters import misleading, of_table, scott_pi, two_raters
from judgeaudit.stats.two_rates import fisher, newcombe_unpaired

cells = st.tuples(*[st.integers(0, 60)] * 4).filter(lambda t: sum(t) > 0)


@given(st.integers(0, 80), st.integers(0, 80))
def test_mcnemar_is_that_of_statsmodels_and_of_the_binomial_test(b, c):
    theirs = statsmodels_mcnemar(np.array([[5, b], [c, 5]]), exact=True).pvalue
    assert pytest.approx(min(1.0, theirs)) == mcnemar(b, c)
    if b + c:
        assert pytest.approx(scipy_stats.binomtest(b, b + c).pvalue) == mcnemar(b, c)


def test_published_intervals_of_paired_rates():
    """Fagerland, Lydersen and Laake 2014, Stat. Med. 33: airway hyper-responsiveness, n = 21."""
    table = PairedCounts(1, 1, 7, 12)
    assert (-0.507, -0.026) == tuple(round(v, 3) for v in astuple(newcombe_paired(table))[:2])
    assert (-0.517, -0.026) == tuple(round(v, 3) for v in astuple(tango(table))[:2])


def likelihood_score(table: PairedCounts, delta: float) -> float:
    """Score statistic with the nuisance found by maximising the likelihood numerically."""
    b, c, n = table.first, table.second, table.n

    def loss(q: float) -> float:
        terms = ((b, q + delta), (c, q), (n - b - c, 1 - 2 * q - delta))
        return -sum(k * np.log(max(p, 1e-300)) for k, p in terms if k)

    low, high = max(0.0, -delta), (1 - delta) / 2
    q = optimize.minimize_scalar(loss, bounds=(low, high), method="bounded",
                                 options={"xatol": 1e-12}).x  # fmt: skip
    return (b - c - n * delta) / np.sqrt(n * (2 * q + delta * (1 - delta)))


@pytest.mark.parametrize("counts", [(36, 12, 2, 0), (10, 3, 9, 30), (1, 1, 7, 12), (20, 8, 8, 4)])
def test_tangos_limits_solve_the_score_equation(counts):
    table = PairedCounts(*counts)
    interval = tango(table)
    for end, z in ((interval.low, 1.959964), (interval.high, -1.959964)):
        assert pytest.approx(z, abs=1e-4) == likelihood_score(table, end)


@given(cells)
def test_intervals_of_paired_rates_turn_with_the_judges(counts):
    table = PairedCounts(*counts)
    a, b, c, d = counts
    turned = PairedCounts(a, c, b, d)
    for make in (newcombe_paired, tango):
        one, other = make(table), make(turned)
        assert pytest.approx((-other.high, -other.low), abs=1e-9) == (one.low, one.high)
        assert -1 <= one.low <= table.difference + 1e-12
        assert table.difference - 1e-12 <= one.high <= 1


@pytest.mark.parametrize("p", [(0.05, 0.05), (0.2, 0.05), (0.02, 0.3)])
def test_intervals_of_paired_rates_cover(p):
    """Exact coverage by enumeration of the discordant pairs, n = 30, no pair agreeing on it."""
    b_share, c_share = p
    n, truth = 30, b_share - c_share
    law = scipy_stats.multinomial(n, [b_share, c_share, 1 - b_share - c_share])
    for make in (newcombe_paired, tango):
        covered = 0.0
        for b in range(n + 1):
            for c in range(n + 1 - b):
                weight = law.pmf([b, c, n - b - c])
                if weight < 1e-9:
                    continue
                found = make(PairedCounts(0, b, c, n - b - c))
                covered += weight * (found.low <= truth <= found.high)
        assert covered >= 0.925, make.__name__


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_sign_flips_by_enumeration(totals):
    seen = abs(sum(totals))
    sums = [abs(sum(s * t for s, t in zip(signs, totals, strict=True)))
            for signs in product((-1, 1), repeat=len(totals))]  # fmt: skip
    wanted = sum(s >= seen for s in sums) / len(sums)
    assert pytest.approx(wanted) == sign_flip(np.array(totals))


@given(st.integers(0, 40), st.integers(0, 40))
def test_sign_flips_of_single_items_are_mcnemars(b, c):
    totals = np.array([1] * b + [-1] * c + [0] * 3)
    assert pytest.approx(mcnemar(b, c)) == sign_flip(totals)


def test_two_judges_on_common_items():
    first = np.array([True] * 6 + [False] * 14)
    second = np.array([False] * 5 + [True] * 2 + [False] * 13)
    alone = compare_pairs(first, second)
    assert (1, 5, 1, 13) == astuple(alone.table)
    assert (0.2, MCNEMAR, NEWCOMBE) == (alone.difference, alone.p_method, alone.interval.method)
    assert mcnemar(5, 1) == alone.p_value
    clustered = compare_pairs(first, second, np.arange(20) // 2)
    assert (SIGN_FLIP, 10) == (clustered.p_method, clustered.n_clusters)
    assert clustered.interval.low < clustered.difference < clustered.interval.high
    nothing = compare_pairs(np.array([], dtype=bool), np.array([], dtype=bool))
    assert isinstance(nothing.difference, Undefined)
    assert isinstance(newcombe_paired(PairedCounts(0, 0, 0, 0)), Undefined)
    assert isinstance(tango(PairedCounts(0, 0, 0, 0)), Undefined)


def test_the_clustered_test_keeps_its_level_where_mcnemar_does_not():
    """Clusters of six that move together, no judge better: 4,000 tables."""
    rng, clusters = np.random.default_rng(2), np.repeat(np.arange(30), 6)
    naive = kept = 0
    for _ in range(2000):
        lean = rng.integers(0, 3, 30)[clusters]
        one = compare_pairs(lean == 1, lean == 2, clusters)
        kept += one.p_value <= 0.05
        naive += mcnemar(one.table.first, one.table.second) <= 0.05
    assert kept / 2000 <= 0.05 + 3 * (0.05 * 0.95 / 2000) ** 0.5
    assert naive / 2000 > 0.2


@pytest.mark.parametrize("m", [1, 2, 7, 20])
@pytest.mark.parametrize("seed", range(5))
def test_corrections_are_those_of_statsmodels(m, seed):
    values = np.random.default_rng(seed).beta(0.4, 2, m).round(2).tolist()  # rounded: with ties
    named = {f"t{k}": p for k, p in enumerate(values)}
    for ours, method in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        theirs = multipletests(values, method=method)[1]
        assert pytest.approx(list(theirs), abs=1e-12) == list(ours(named).values())


def test_a_test_without_a_p_value_is_not_counted():
    assert {"b": 0.02} == benjamini_hochberg({"a": None, "b": 0.02})
    assert {} == benjamini_hochberg({"a": None})


rates = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(rates, rates)
def test_two_rates_are_those_of_scipy_and_statsmodels(one, two):
    (x1, n1), (x2, n2) = one, two
    theirs = scipy_stats.fisher_exact([[x1, n1 - x1], [x2, n2 - x2]]).pvalue
    assert pytest.approx(theirs, abs=1e-9) == fisher(x1, n1, x2, n2)
    low, high = confint_proportions_2indep(x1, n1, x2, n2, method="newcomb")
    found = newcombe_unpaired(x1, n1, x2, n2)
    assert pytest.approx((low, high), abs=1e-9) == (found.low, found.high)


def test_two_rates_without_trials():
    assert 1.0 == fisher(0, 0, 3, 5)
    assert isinstance(newcombe_unpaired(0, 0, 3, 5), Undefined)


def rated(counts) -> np.ndarray:
    pairs = [(1, 1)] * counts[0] + [(1, 0)] * counts[1] + [(0, 1)] * counts[2]
    return np.array(pairs + [(0, 0)] * counts[3])


@given(cells)
def test_agreement_of_a_table_is_that_of_its_ratings(counts):
    a, b, c, d = counts
    table, n = of_table(*counts), sum(counts)
    found = {name: figure.value for name, figure in table.figures.items()}
    assert (a + d) / n == found["observed"]
    assert pytest.approx(gwet_ac1(rated(counts), 2).value) == found["ac1"]
    alpha = krippendorff_alpha(rated(counts), 2)
    if isinstance(alpha, Undefined):
        assert isinstance(found["alpha"], Undefined)
        assert isinstance(found["kappa"], Undefined)
        assert isinstance(scott_pi(table), Undefined)
        return
    assert pytest.approx(alpha.value) == found["alpha"]
    theirs = cohens_kappa(np.array([[a, b], [c, d]]), return_results=False)
    assert pytest.approx(theirs, abs=1e-12) == found["kappa"]
    # Krippendorff's alpha is Scott's pi but for the size of the sample
    assert pytest.approx(1 - 2 * n * (1 - alpha.value) / (2 * n - 1)) == scott_pi(table)
    turned = of_table(d, c, b, a).figures
    assert (found["positive"], found["negative"]) == (
        turned["negative"].value,
        turned["positive"].value,
    )


@given(cells)
def test_a_table_and_its_items_have_the_same_figures(counts):
    one, two = rated(counts).T.astype(float)
    items, table = two_raters(one, two, np.arange(one.size)), of_table(*counts)
    for name, figure in table.figures.items():
        assert isinstance(figure.interval, Undefined)
        theirs = items.figures[name].value
        if isinstance(theirs, Undefined):
            assert theirs == figure.value
        else:
            assert pytest.approx(theirs, abs=1e-12) == figure.value


def test_agreement_without_a_category_or_an_item():
    nothing = of_table(0, 0, 0, 0)
    assert all(isinstance(f.value, Undefined) for f in nothing.figures.values())
    assert isinstance(scott_pi(nothing), Undefined)
    same = {name: figure.value for name, figure in of_table(7, 0, 0, 0).figures.items()}
    assert (1.0, 1.0, 1.0) == (same["observed"], same["ac1"], same["positive"])
    assert isinstance(same["negative"], Undefined)


def test_kappa_is_explained_where_prevalence_makes_it_low():
    assert "kappa is low though 0.900 agree" in misleading(of_table(2, 5, 5, 88))
    assert misleading(of_table(45, 5, 5, 45)) is None
    assert "all labels are SAFE" in misleading(of_table(0, 0, 0, 9))
    assert misleading(of_table(2, 30, 30, 38)) is None
    assert misleading(of_table(10, 0, 0, 90)) is None
