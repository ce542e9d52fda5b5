from __future__ import annotations

import pytest
from engine_world import CONDITIONS

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import Condition
from judgeaudit.engine.presets import PRESETS, make_protocol


@pytest.mark.parametrize(
    ("preset", "k", "l", "ids"),
    [
        ("quick", 3, 2, "base T1 T2 T4 strict lenient no_policy inverted"),
        ("default", 5, 2, "base T0 T1 T2 T4 T3 strict lenient no_policy inverted vacuum"),
        ("paper", 3, 1, "base T1 T2 T4 strict lenient"),
    ],
)
def test_presets_ask_what_the_protocol_says(preset, k, l, ids):  # noqa: E741
    protocol = make_protocol(preset, CONDITIONS)
    assert (k, l) == (protocol.base_repeats, protocol.repeats)
    assert ids.split() == [c.id for c in protocol.conditions]


def test_the_paper_makes_eight_calls_an_item():
    protocol = make_protocol("paper", CONDITIONS)
    assert protocol.base_repeats + protocol.repeats * (len(protocol.conditions) - 1) == 8


def test_overrides_add_drop_and_count():
    protocol = make_protocol(
        "quick", CONDITIONS, add=["vacuum", "T0"], drop=["T4"], base_repeats=7, control_items=3
    )
    assert [c.id for c in protocol.conditions] == [
        "base",
        "T0",
        "T1",
        "T2",
        "strict",
        "lenient",
        "no_policy",
        "inverted",
        "vacuum",
    ]
    assert (protocol.base_repeats, protocol.repeats, protocol.control_items) == (7, 2, 3)


def test_a_users_own_condition_follows_the_known_ones():
    mine = Condition(id="A_mine", kind="near")
    protocol = make_protocol("paper", [*CONDITIONS, mine], add=["A_mine"])
    assert protocol.conditions[-1].id == "A_mine"


def test_no_item_for_the_controls_leaves_them_out():
    protocol = make_protocol("quick", CONDITIONS, control_items=0)
    assert [c.id for c in protocol.conditions] == ["base", "T1", "T2", "T4", "strict", "lenient"]


def test_explicit_conditions_always_hold_base():
    protocol = make_protocol("default", CONDITIONS, conditions=["T4"])
    assert [c.id for c in protocol.conditions] == ["base", "T4"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"preset": "fast"}, "unknown preset 'fast'"),
        ({"add": ["T9"]}, "unknown condition 'T9'"),
        ({"drop": ["T9"]}, "unknown condition 'T9'"),
        ({"drop": ["base"]}, "'base' cannot be dropped"),
        ({"repeats": 0}, "repeats is 0"),
        ({"control_items": -1}, "control_items is -1"),
        ({"level": 95.0}, "level is 95.0"),
    ],
)
def test_bad_layouts_are_named(arguments, said):
    with pytest.raises(ConfigError, match=said):
        make_protocol(**{"preset": "quick", "available": CONDITIONS, **arguments})


def test_presets_are_the_documented_ones():
    assert sorted(PRESETS) == ["default", "nightly", "paper", "quick"]
