from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from engine_world import (
    CONDITIONS,
    SPEC,
    VACUUM,
    make_items,
    make_plan,
    make_renderings,
    plan_for,
    prompt_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.engine.estimate import Price
from judgeaudit.engine.plan import build_plan
from judgeaudit.engine.presets import make_protocol

layouts = st.builds(
    lambda preset, k, n, controls, wordings, seed: make_protocol(
        preset,
        CONDITIONS,
        base_repeats=k,
        repeats=n,
        control_items=controls,
        wordings=wordings,
        seed=seed,
    ),
    st.sampled_from(["quick", "default", "paper"]),
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 6),
    st.integers(1, 2),
    st.integers(0, 5),
)


def calls(plan):
    return [plan.call(k) for k in range(plan.n_calls)]


def key(call):
    return call.item, call.condition, call.wording, call.repeat


@given(layouts, st.integers(1, 7))
@settings(max_examples=40, deadline=None)
def test_every_planned_call_stands_in_the_plan_exactly_once(protocol, n):
    plan = plan_for(n, protocol)
    expected = Counter()
    wordings = {"T0": 1, "vacuum": 1}
    for condition in protocol.conditions:
        k = protocol.base_repeats if condition.id == "base" else protocol.repeats
        items = min(n, protocol.control_items or n) if condition.kind == "control" else n
        expected[condition.id] = items * k * wordings.get(condition.id, protocol.wordings)
    assert dict(expected) == plan.counts
    assert dict(expected) == dict(Counter(c.condition for c in calls(plan)))
    assert plan.n_calls == len({c.id for c in calls(plan)})


@given(layouts, st.permutations(range(6)))
@settings(max_examples=30, deadline=None)
def test_the_order_depends_on_the_seed_and_the_keys_alone(protocol, order):
    items = make_items(6)
    renderings = make_renderings(protocol.wordings)
    one = build_plan(items, renderings, protocol, SPEC, prompt_of, vacuum=VACUUM)
    other = build_plan(
        [items[k] for k in order], renderings[::-1], protocol, SPEC, prompt_of, vacuum=VACUUM
    )
    assert calls(one) == calls(other)
    assert one.sha256 == other.sha256
    reseeded = plan_for(6, protocol.model_copy(update={"seed": protocol.seed + 1}))
    assert calls(one) != calls(reseeded)
    if not any(c.kind == "control" for c in protocol.conditions):
        assert set(map(key, calls(one))) == set(map(key, calls(reseeded)))


def test_more_items_do_not_reorder_those_that_were_there():
    few, many = make_plan(4, "paper"), make_plan(9, "paper")
    mine = {key(c) for c in calls(few)}
    assert list(map(key, calls(few))) == [k for k in map(key, calls(many)) if k in mine]


def test_base_and_conditions_are_interleaved():
    """No stretch of the run is one condition: each tenth holds its share of base calls."""
    plan = make_plan(60, "default", control_items=60)
    base = np.array([c.condition == "base" for c in calls(plan)])
    share = base.mean()
    for tenth in np.array_split(base, 10):
        assert abs(tenth.mean() - share) < 5 * (share * (1 - share) / tenth.size) ** 0.5
    runs = max(len(list(g)) for _, g in itertools.groupby(c.condition for c in calls(plan)))
    assert runs < 12
    repeats = {c.repeat for c in calls(plan)[: plan.n_calls // 10]}
    assert {0, 1, 2, 3, 4} == repeats


def test_controls_are_asked_about_one_seeded_subset():
    plan = make_plan(30, "default", control_items=7, seed=3)
    subsets = {
        name: frozenset(c.item for c in calls(plan) if c.condition == name)
        for name in ("no_policy", "inverted", "vacuum")
    }
    assert len(set(subsets.values())) == 1
    assert len(subsets["vacuum"]) == 7
    other = make_plan(30, "default", control_items=7, seed=4)
    assert subsets["vacuum"] != {c.item for c in calls(other) if c.condition == "vacuum"}


def test_the_placebo_says_what_base_says_and_is_a_call_of_its_own():
    plan = make_plan(2, "default")
    at = {key(plan.call(k)): k for k in range(plan.n_calls)}
    base, placebo = at["toy//0", "base", 0, 0], at["toy//0", "T0", 0, 0]
    assert plan.prompt(base) == plan.prompt(placebo)
    assert plan.call(base).prompt_sha256 == plan.call(placebo).prompt_sha256
    assert plan.call(base).id != plan.call(placebo).id
    assert plan.call(base).seed != plan.call(placebo).seed


def test_vacuum_replaces_the_trajectory_under_the_base_policy():
    plan = make_plan(2, "default")
    k = next(k for k in range(plan.n_calls) if plan.call(k).condition == "vacuum")
    system, user = plan.prompt(k).messages
    assert system.content == "Policy as base words it (0)."
    assert user.content == "Hello."


def test_prompts_are_rebuilt_and_checked_against_the_plan():
    texts = iter(range(1000))

    def unstable(item, rendering):
        prompt = prompt_of(item, rendering)
        first = prompt.messages[0].model_copy(update={"content": f"{next(texts)}"})
        return prompt.model_copy(update={"messages": (first,)})

    protocol = make_protocol("paper", CONDITIONS)
    plan = build_plan(make_items(1), make_renderings(), protocol, SPEC, unstable)
    with pytest.raises(ConfigError, match="the prompt changed between planning and asking"):
        plan.prompt(0)


def test_an_estimate_says_what_it_is_and_an_unknown_price_is_not_zero():
    protocol = make_protocol("paper", CONDITIONS)
    args = (make_items(3), make_renderings(), protocol, SPEC, prompt_of)
    plain = build_plan(*args).estimate
    assert plain.n_calls == 24
    assert plain.tokens_note == "tokens estimated as characters / 4"
    assert (plain.cost_least, plain.cost_most) == (None, None)
    assert plain.cost_note == "the price of this model is not known"
    priced = build_plan(*args, count_tokens=lambda _: 100, price=Price(1e-6, 1e-5)).estimate
    assert priced.prompt_tokens == 2400
    assert priced.completion_tokens_most == 24 * 50
    assert pytest.approx(0.0024) == priced.cost_least
    assert pytest.approx(0.0024 + 0.012) == priced.cost_most
    uncapped = SPEC.model_copy(update={"decoding": {}})
    open_end = build_plan(*args[:3], uncapped, prompt_of, price=Price(1e-6, 1e-5)).estimate
    assert open_end.cost_most is None
    assert "no cap" in open_end.cost_note


def test_what_cannot_be_planned_is_named():
    protocol = make_protocol("default", CONDITIONS)
    items, renderings = make_items(2), make_renderings()
    with pytest.raises(CorpusError, match="no item"):
        build_plan([], renderings, protocol, SPEC, prompt_of, vacuum=VACUUM)
    with pytest.raises(CorpusError, match="toy//0: two items have the same key"):
        build_plan([items[0], *items], renderings, protocol, SPEC, prompt_of, vacuum=VACUUM)
    with pytest.raises(ConfigError, match="'T4' has no rendering"):
        build_plan(items, [r for r in renderings if r.condition != "T4"], protocol, SPEC, prompt_of)


def test_the_plan_cannot_be_changed():
    plan = make_plan(1)
    with pytest.raises(ValueError, match="read-only"):
        plan.cells[0] = 5


def test_more_calls_than_any_machine_can_hold_are_refused_before_they_are_laid_out():
    protocol = make_protocol("paper", CONDITIONS, repeats=10**12)
    with pytest.raises(ConfigError, match="calls, more than the 10,000,000 that one run can hold"):
        plan_for(2, protocol)
