"""Planner, early stopping, corrected rates: goldens, and the properties they promise."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from judgeaudit.stats._types import Interval, Undefined
from judgeaudit.stats.corrected import (
    human_only,
    poststratified,
    ppi,
    rogan_gladen,
    rogan_gladen_point,
)
from judgeaudit.stats.power import (
    detectable_effect,
    items_for,
    moments,
    pooled_error,
    simulated_power,
)
from judgeaudit.stats.sequential import (
    always_valid,
    effect_process,
    monitor,
    tolerable_process,
    triples,
)
from judgeaudit.stats.single_shot import (
    connor_items,
    mcnemar_items,
    mcnemar_power,
    rate_items,
)


def test_planner(shared: Path):
    plan = json.loads((shared / "goldens" / "planner.json").read_text("utf-8"))
    assert (0.05, 0.8) == (plan["alpha"], plan["power"])
    near = plan["tolerance"]
    for row in plan["rows"]:
        j, x = row.pop("jitter"), row.pop("delta")
        assert pytest.approx(j + x) == row.pop("psi")
        assert connor_items(j, x) == row.pop("n_connor_one_sided")
        n = connor_items(j, x)
        assert connor_items(j, x, two_sided=True) == row.pop("n_connor_two_sided")
        expected = row.pop("power_exact_at_connor")
        assert pytest.approx(expected, abs=near["power"]) == mcnemar_power(n, j, x)
        exact = row.pop("n_exact_one_sided")
        assert pytest.approx(exact, abs=near["n_exact"]) == mcnemar_items(j, x)
        expected = row.pop("power_exact_at_n")
        assert pytest.approx(expected, abs=near["power"]) == mcnemar_power(exact, j, x)
        assert {} == row


def test_mcnemar_without_a_doubt():
    """No jitter and every item flips: five triples of one sign have p = 1/32."""
    assert 5 == mcnemar_items(0.0, 1.0)
    assert pytest.approx(0.0) == mcnemar_power(4, 0.0, 1.0)
    assert pytest.approx(1.0) == mcnemar_power(5, 0.0, 1.0)


def test_rate_items_with_the_exact_quantile():
    assert 7300 == rate_items(0.05, 0.1, z=1.96)
    assert 7299 == rate_items(0.05, 0.1)


def test_moments_against_simulation():
    """The mean is the effect, whatever the calls; the variances are those of drawn items."""
    for statistic, K, L in (("delta_debiased", 4, 2), ("delta_paper", 3, 1)):
        m = moments(0.05, 0.03, K, L, statistic=statistic)
        assert pytest.approx(0.03) == m.mean
        assert m.null_variance < m.variance
    # hand: no jitter, hard flips only: x is 0 or 1
    m = moments(0.0, 0.1, 2, 2)
    assert pytest.approx((0.1, 0.0, 0.09)) == (m.mean, m.null_variance, m.variance)


def test_moments_refuse_what_the_model_cannot_hold():
    with pytest.raises(ValueError, match="jitter"):
        moments(0.3, 0.01, 3, 2)
    with pytest.raises(ValueError, match="hard flips"):
        moments(0.2, 0.9, 3, 2)
    with pytest.raises(ValueError, match="not defined"):
        moments(0.1, 0.01, 3, 1, statistic="delta_debiased")


def test_pooled_error_of_the_plans_in_the_design():
    """n = 500, j = .068, three conditions, an effect of one point."""
    for K, L, expected in ((3, 1, 0.0063), (6, 1, 0.0046), (5, 2, 0.0045)):
        found = pooled_error(500, 0.068, K, L, conditions=3, delta=0.01)
        assert pytest.approx(expected, abs=0.00015) == found


def test_pooled_error_of_one_condition_is_that_of_an_item():
    m = moments(0.05, 0.03, 3, 2)
    found = pooled_error(100, 0.05, 3, 2, conditions=1, delta=0.03, statistic="delta_debiased")
    assert pytest.approx((m.variance / 100) ** 0.5) == found


def test_items_for_closed_form():
    plan = items_for(0.05, 0.03, 4, 2)
    assert (105, 253, 253, None) == (plan.low, plan.high, plan.n, plan.power)


def test_items_for_by_a_short_simulation():
    plan = items_for(0.02, 0.2, 3, 2, rng=np.random.default_rng(0), simulations=40)
    assert plan.low < plan.n <= plan.high
    assert pytest.approx(0.8, abs=0.05) == plan.power


@pytest.mark.slow
@pytest.mark.parametrize(("K", "L", "about"), [(4, 2, 145), (5, 5, 72)])
def test_items_for_by_simulation(K, L, about):
    """About 150 and 75 items, as the design's example; the power is as claimed."""
    rng = np.random.default_rng(0)
    plan = items_for(0.05, 0.03, K, L, rng=rng)
    assert pytest.approx(about, rel=0.1) == plan.n
    found = simulated_power(plan.n, 0.05, 0.03, (K, L), rng, simulations=1500)
    assert pytest.approx(0.8, abs=0.03) == found


def test_detectable_effect_is_the_reverse_of_items_for():
    low, high = detectable_effect(253, 0.05, 4, 2)
    assert pytest.approx(0.03, abs=0.001) == high
    assert low < high
    assert detectable_effect(2, 0.2, 3, 2) is None


def read_triples(shared: Path, name: str):
    with (shared / "goldens/simulated" / f"{name}.csv").open(encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda r: int(r["order"]))
    columns = ("orig_run1", "orig_run2", "variant_run1")
    return triples(*(np.array([int(r[c]) for r in rows], dtype=np.int8) for c in columns))


@pytest.mark.parametrize("name", ["sequential_reject", "sequential_pass"])
def test_sequential_goldens(shared: Path, name):
    text = (shared / "goldens/simulated" / f"{name}.expected.json").read_text("utf-8")
    expected = json.loads(text)
    d = read_triples(shared, name)
    found = monitor(d, expected.pop("tau"), alpha=expected.pop("alpha"))
    assert expected.pop("N") == d.size
    assert expected.pop("excess") == np.count_nonzero(d == 1)
    assert expected.pop("deficit") == np.count_nonzero(d == -1)
    assert expected.pop("delta_hat") == pytest.approx(d.mean())
    assert expected.pop("log_e_final") == pytest.approx(found.log_effect[-1], abs=1e-9)
    assert expected.pop("log_capital_final") == pytest.approx(found.log_tolerable[-1], abs=1e-9)
    assert expected.pop("stop_index_reject") == found.stop_effect
    assert expected.pop("stop_index_pass") == found.stop_tolerable
    plus, moved = np.count_nonzero(d == 1), np.count_nonzero(d)
    from scipy.special import betainc

    p = betainc(plus, moved - plus + 1, 0.5)
    assert expected.pop("mcnemar_exact_one_sided_p_final") == pytest.approx(p)
    assert {"planted_delta", "planted_jitter"} == set(expected)


def test_effect_process_is_a_mixture_of_likelihood_ratios():
    """Against numerical integration over theta."""
    d = np.array([1, 1, -1, 0, 1], dtype=np.int8)
    theta = 0.5 + (np.arange(200_000) + 0.5) / 400_000
    expected = np.log(np.mean(2 * theta * 2 * theta * 2 * (1 - theta) * 2 * theta))
    assert pytest.approx(expected, abs=1e-6) == effect_process(d)[-1]
    assert pytest.approx(0.0, abs=1e-12) == effect_process(np.zeros(3, dtype=np.int8))[-1]


def test_a_bet_does_not_know_its_own_outcome():
    """Changing the last triple changes the capital through that outcome only."""
    d = np.array([0, 1, 0, 0, -1], dtype=np.int8)
    other = d.copy()
    other[-1] = 1
    first, second = tolerable_process(d, 0.05), tolerable_process(other, 0.05)
    assert first[:-1].tolist() == second[:-1].tolist()
    assert first[-1] > second[-1]


def draw(rng, n, jitter, delta):
    """Triples with P(d = 1) = (j + x + x) / 2 and P(d = -1) = j / 2."""
    return rng.choice(
        np.array([1, -1, 0], dtype=np.int8),
        size=n,
        p=[jitter / 2 + delta, jitter / 2, 1 - jitter - delta],
    )


@pytest.mark.slow
def test_stopping_errs_as_rarely_as_it_says():
    """At no effect, and at the threshold, 600 looks each: at most alpha, within noise."""
    rng = np.random.default_rng(0)
    wrong = {"effect": 0, "tolerable": 0, "interval": 0}
    for _ in range(500):
        wrong["effect"] += monitor(draw(rng, 600, 0.05, 0.0), 0.05).stop_effect is not None
        at_threshold = draw(rng, 600, 0.05, 0.05)
        wrong["tolerable"] += monitor(at_threshold, 0.05).stop_tolerable is not None
        low, high = always_valid(at_threshold[: rng.integers(20, 600)], grid=400)
        wrong["interval"] += not low <= 0.05 <= high
    for count in wrong.values():
        assert count / 500 <= 0.05 + 4 * (0.05 * 0.95 / 500) ** 0.5


def test_always_valid_interval():
    rng = np.random.default_rng(1)
    d = draw(rng, 2000, 0.05, 0.1)
    low, high = always_valid(d)
    assert low < d.mean() < high
    assert high - low < 0.12
    wide = always_valid(d[:100])
    assert wide[0] < low
    assert wide[1] > high
    assert (-1.0, 1.0) == always_valid(d[:0])
    mirrored = always_valid(-d)
    assert (-high, -low) == pytest.approx(mirrored)


def read_labels(shared: Path):
    with (shared / "goldens/simulated/ppi_planted.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    judge = np.array([r["judge_unsafe"] == "1" for r in rows])
    human = np.array([r["human_unsafe"] == "1" for r in rows])
    return judge, human, np.array([r["human_unsafe"] != "" for r in rows])


def ends(found):
    assert isinstance(found.interval, Interval)
    return [found.interval.low, found.interval.high]


def test_corrected_rates_goldens(shared: Path):
    expected = json.loads(
        (shared / "goldens/simulated/ppi_planted.expected.json").read_text("utf-8")
    )
    judge, human, labelled = read_labels(shared)
    assert (expected.pop("N_total"), expected.pop("n_labelled")) == (judge.size, labelled.sum())
    assert expected.pop("naive_judge_rate") == pytest.approx(judge.mean())
    found, wanted = human_only(human[labelled]), expected.pop("human_only")
    assert wanted.pop("value") == pytest.approx(found.value)
    assert wanted.pop("wilson") == pytest.approx(ends(found), abs=1e-9)
    assert {} == wanted
    for name, tuned in (("ppi_lambda1", False), ("ppi_pp", True)):
        found, wanted = ppi(judge, human, labelled, tuned=tuned), expected.pop(name)
        assert wanted.pop("value") == pytest.approx(found.value, abs=1e-9)
        assert wanted.pop("ci") == pytest.approx(ends(found), abs=1e-6)
        assert wanted.pop("lambda_", 1.0) == pytest.approx(found.weight, abs=1e-9)
        assert {} == wanted
    found, wanted = poststratified(judge, human, labelled), expected.pop("poststratified_mover")
    assert wanted.pop("value") == pytest.approx(found.value, abs=1e-9)
    assert wanted.pop("ci") == pytest.approx(ends(found), abs=1e-6)
    counts = wanted.pop("table")
    for says in (True, False):
        chosen = labelled & (judge == says)
        n = (counts[f"judge{says:d}_human1"], counts[f"judge{says:d}_n"])
        assert n == (human[chosen].sum(), chosen.sum())
    assert {} == wanted
    found, wanted = rogan_gladen(judge, human, labelled), expected.pop("rogan_gladen")
    assert wanted.pop("value") == pytest.approx(found.value, abs=1e-9)
    assert wanted.pop("ci_delta") == pytest.approx(ends(found), abs=1e-6)
    point = rogan_gladen_point(judge.mean(), wanted["se"], wanted["sp"])
    assert point.value == pytest.approx(found.value, abs=1e-9)
    assert wanted.pop("youden") == pytest.approx(wanted.pop("se") + wanted.pop("sp") - 1)
    assert {} == wanted
    # what was planted, not what an estimator may print
    assert {"true_rate_population", "true_rate_in_file"} == set(expected)


def test_corrected_rates_where_others_give_nan():
    nothing = np.zeros(50, dtype=bool)
    some = np.arange(50) < 20
    found = ppi(nothing, nothing, some)
    assert 0.0 == found.value
    assert Undefined("neither judge nor labels vary") == found.interval
    found = poststratified(nothing, nothing, some)
    assert 0.0 == found.value
    assert ends(found)[0] == 0.0
    assert 0.1 < ends(found)[1] < 0.2
    assert isinstance(poststratified(nothing, nothing, nothing).value, Undefined)
    assert isinstance(human_only(nothing[:0]).value, Undefined)
    assert isinstance(ppi(nothing, nothing, nothing).value, Undefined)
    assert isinstance(rogan_gladen(nothing, nothing, some).value, Undefined)
    half = np.arange(50) % 2 == 0  # says UNSAFE regardless: se + sp = 1
    human = np.arange(50) % 4 < 2
    assert isinstance(rogan_gladen(half, human, np.arange(50) < 40).value, Undefined)
    assert isinstance(rogan_gladen_point(0.1, 0.5, 0.5).value, Undefined)


def test_a_verdict_without_a_label_takes_the_overall_rate_and_any_limits():
    judge = np.arange(40) < 10
    human = np.arange(40) == 12
    labelled = np.arange(40) >= 10  # none of the judge's UNSAFE items
    found = poststratified(judge, human, labelled)
    assert 1 / 30 == pytest.approx(found.value)
    assert ends(found)[1] > 0.25 * (1 - 1 / 30)
