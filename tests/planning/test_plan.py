"""The planner: it agrees with the goldens, its power is what it claims, and a pilot feeds it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from judgeaudit import audit, planning
from judgeaudit.cli.main import app
from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import Condition, Protocol
from judgeaudit.stats.planning import (
    half_width,
    items_within,
    needed_items,
    power_at,
    smallest_effect,
    triple_effect,
    triple_power,
)


def said(*words, code=0):
    done = CliRunner().invoke(app, ["plan", *map(str, words)])
    assert code == done.exit_code, (done.output, done.exception)
    return done.stdout


@pytest.fixture(scope="module")
def pilot(tmp_path_factory):
    out = tmp_path_factory.mktemp("pilot")
    return audit.run(judge="scripted:quiet?jitter=0.05", limit=24, out=out).folder


def test_plan_agrees_with_every_row_of_the_goldens(shared: Path):
    """The command itself, asked for each row: jitter, effect -> items and power."""
    golden = json.loads((shared / "goldens" / "planner.json").read_text("utf-8"))
    near = golden["tolerance"]
    for row in golden["rows"]:
        words = ("--jitter", row["jitter"], "--effect", row["delta"], "-K", 2, "-L", 1)
        answer = json.loads(said(*words, "--simulate", 0, "--json"))
        for name in ("n_connor_one_sided", "n_connor_two_sided"):
            assert row[name] == answer["triple"][name], row
        for name in ("power_exact_at_connor", "power_exact_at_n"):
            assert pytest.approx(row[name], abs=near["power"]) == answer["triple"][name], row
        exact = answer["options"][0]["items"]
        assert pytest.approx(row["n_exact_one_sided"], abs=near["n_exact"]) == exact
        assert answer["triple"]["n_exact_one_sided"] == exact


def test_the_simulated_power_of_a_plan_is_within_three_points_of_its_claim():
    """The short form: one row of the triple, and one plan of several calls."""
    rng = np.random.default_rng(5)
    assert pytest.approx(0.8, abs=0.03) == triple_power(100, 0.05, 0.1, rng, simulations=3000)
    plan = needed_items(0.05, 0.1, 5, 2, rng=rng, simulations=600)
    assert plan.power is not None
    found = power_at(plan.n, 0.05, 0.1, 5, 2, rng=rng, simulations=2500)
    assert pytest.approx(plan.power, abs=0.03) == found


@pytest.mark.slow
@pytest.mark.parametrize("jitter", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("effect", [0.03, 0.1])
@pytest.mark.parametrize(("K", "L"), planning.LAYOUTS)
def test_every_plan_keeps_its_claim(jitter, effect, K, L):
    rng = np.random.default_rng([K, L, int(1000 * jitter), int(1000 * effect)])
    plan = needed_items(jitter, effect, K, L, rng=rng, simulations=1500)
    assert plan.power is not None
    if (K, L) == (2, 1):
        found = triple_power(plan.n, jitter, effect, rng, simulations=4000)
    else:
        found = power_at(plan.n, jitter, effect, K, L, rng=rng, simulations=4000)
    assert pytest.approx(plan.power, abs=0.03) == found
    # without noise there is little to trade: a handful of items decides, and power is a staircase
    low = 0.77 if jitter else 0.7
    assert found >= low


def test_the_reverse_of_a_plan_is_the_effect_that_was_planned_for():
    assert pytest.approx(0.05, abs=2e-4) == triple_effect(268, 0.05)
    rng = np.random.default_rng(1)
    plan = needed_items(0.05, 0.05, 4, 2, rng=rng, simulations=400)
    found = smallest_effect(plan.n, 0.05, 4, 2, rng=rng, simulations=400)
    assert found is not None
    assert pytest.approx(0.05, abs=0.006) == found.effect
    assert found.low < found.effect < found.high
    assert triple_effect(3, 0.2) is None
    assert smallest_effect(2, 0.2, 3, 2) is None


def test_precision_of_the_plans_in_the_design():
    """n = 500, j = .068, three conditions: +-1.2 points with K = 3, L = 1; a bit more by AM-t."""
    found = half_width(500, 0.068, 3, 1, conditions=3, delta=0.01)
    assert 1.96 * 0.0063 < found < 1.1 * 1.96 * 0.0063  # its pseudo-clusters cost a few per cent
    n = items_within(0.02, 0.05, 5, 2, conditions=3)
    assert half_width(n, 0.05, 5, 2, conditions=3) <= 0.02
    assert half_width(n - 1, 0.05, 5, 2, conditions=3) > 0.02
    twice = items_within(0.02, 0.05, 5, 2, conditions=3, design_effect=2.0)
    assert pytest.approx(2 * n, abs=2) == twice
    with pytest.raises(ValueError, match="more than"):
        items_within(1e-6, 0.2, 2, 1)


def test_the_expected_width_is_the_mean_width_of_real_intervals():
    """Simulated audits through the real interval: within 5% of what was announced."""
    from judgeaudit.core.table import Counts
    from judgeaudit.stats import pairs
    from judgeaudit.stats.adjusted_t import adjusted_t
    from judgeaudit.stats.clusters import cluster_sums

    rng, n, K, L, j, x = np.random.default_rng(2), 80, 3, 2, 0.05, 0.05
    none, widths = np.zeros(n, dtype=np.int64), []
    for _ in range(200):
        doubtful = rng.random(n) < 4 * j
        p = np.where(doubtful, rng.beta(0.5, 0.5, n), rng.integers(0, 2, n))
        base = Counts(rng.binomial(K, p), np.full(n, K), none)
        parts = []
        for _ in range(3):
            q = np.where(rng.random(n) < x / (1 - 2 * j), 1 - p, p)
            other = Counts(rng.binomial(L, q), np.full(n, L), none)
            parts.append(pairs.delta_paper(base, other))
        values = pairs.average(parts, n).values
        interval = adjusted_t(cluster_sums(values, np.arange(n)))
        widths.append((interval.high - interval.low) / 2)
    announced = half_width(n, j, K, L, conditions=3, delta=x)
    assert pytest.approx(announced, rel=0.05) == np.mean(widths)


def test_calls_are_counted_as_an_audit_plans_them(tmp_path):
    """The planner's number of calls is the one of `audit --plan`, for every preset."""
    for preset in ("quick", "default", "paper"):
        ready = audit.prepare(
            audit.choose(
                None, {"judge": "scripted:quiet", "preset": preset, "limit": 50, "out": tmp_path}
            )
        )
        protocol = ready.meta.protocol
        layout = planning.Layout.of(protocol)
        n = ready.corpus.facts.n_items
        assert ready.plan.n_calls == layout.calls(n, protocol.base_repeats, protocol.repeats)


def test_a_pilot_gives_jitter_conditions_and_price(pilot):
    answer = planning.plan(pilot=pilot, effect=0.05, simulations=40)
    scores = audit.score(pilot)
    measured = scores.find("jitter", "base")
    assert measured.value == answer.jitter
    assert (measured.low, measured.high) == answer.jitter_interval
    assert "measured on 24 items" in answer.jitter_from
    assert (0.0, 0.0) == (answer.best.cost_least, answer.best.cost_most)
    assert "pilot calls" in answer.cost_note
    assert answer.design_effect >= 1
    assert answer.cautious_items is None or answer.cautious_items >= answer.best.items


def test_stated_prices_count_for_the_tokens_of_a_pilot(tmp_path):
    from engine_world import PromptJudge, ask_all, make_plan

    ask_all(tmp_path / "ledger.sqlite", make_plan(8), PromptJudge())
    (tmp_path / "p.toml").write_text("[hash]\nprompt = 1.0\ncompletion = 10.0\n")
    words = ("--pilot", tmp_path, "--jitter", 0.05, "--simulate", 0, "--json", "-K", 3)
    best = json.loads(said(*words))["options"][0]
    assert pytest.approx(0.001 * best["calls"]) == best["cost_least"]
    best = json.loads(said(*words, "--prices", tmp_path / "p.toml"))["options"][0]
    assert pytest.approx((20 * 1.0 + 5 * 10.0) / 1e6 * best["calls"]) == best["cost_most"]
    (tmp_path / "other.toml").write_text("[other]\nprompt = 1\ncompletion = 1\n")
    done = CliRunner().invoke(
        app, ["plan", *map(str, words), "--prices", str(tmp_path / "other.toml")]
    )
    assert isinstance(done.exception, ConfigError)
    assert "It lists other" in str(done.exception)


def test_what_people_read(tmp_path):
    words = said("--jitter", 0.05, "--effect", 0.05, "--within", 0.02, "--simulate", 40,
                 "--seconds", 3, "--out", tmp_path / "power.svg")  # fmt: skip
    assert "5.0%, assumed" in words
    assert "exact 268" in words
    assert "±2 points" in words
    assert "####" in words
    from xml.etree import ElementTree as ET

    svg = ET.parse(tmp_path / "power.svg").getroot()
    assert svg.tag.endswith("svg")
    assert "268" in said("--jitter", 0.05, "--items", 268, "-K", 2, "-L", 1, "--simulate", 0)


def test_the_judge_named_is_priced(tmp_path):
    (tmp_path / "p.toml").write_text('["openai/x"]\nprompt = 2.0\ncompletion = 8.0\n')
    words = ("--judge", "openai/x", "--prices", tmp_path / "p.toml", "--jitter", 0.05)
    option = json.loads(said(*words, "--simulate", 0, "--json"))["options"][0]
    assert option["cost_least"] > 0
    assert option["hours"] is None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--pilot RUN"),
        (("--jitter", 0.3), "0 to 0.25"),
        (("--jitter", -0.1), "0 to 0.25"),
        (("--jitter", 0.05, "--effect", 5), "between 0 and 1"),
        (("--jitter", 0.2, "--effect", 0.7), "cannot come on top"),
        (("--jitter", 0.05, "--items", 1), "Give 2 or more"),
        (("--jitter", 0.05, "-K", 1), "cannot be planned"),
        (("--jitter", 0.05, "--within", 1e-7), "less precision"),
        (("--jitter", 0.05, "--simulate", -1), "0 or more"),
        (("--jitter", 0.05, "--power", 1.5), "between 0 and 1"),
        (("--jitter", 0.05, "--prices", "x.toml"), "Add --judge or --pilot"),
    ],
)
def test_what_cannot_be_planned_is_refused(words, message):
    done = CliRunner().invoke(app, ["plan", *map(str, words)])
    assert isinstance(done.exception, ConfigError), done.output
    assert message in str(done.exception)


def test_a_pilot_without_repeats_has_no_jitter(tmp_path):
    result = audit.run(
        judge="scripted:quiet", preset="paper", base_repeats=1, limit=6, out=tmp_path
    )
    with pytest.raises(ConfigError, match="two verdicts under base"):
        planning.plan(pilot=result.folder)


def test_conditions_without_a_certified_one_have_no_effect_to_plan_for():
    protocol = Protocol(
        preset="x",
        base_repeats=3,
        repeats=2,
        conditions=(Condition(id="base", kind="reference"),),
    )
    with pytest.raises(ConfigError, match="no certified condition"):
        planning.plan(jitter=0.05, protocol=protocol)
