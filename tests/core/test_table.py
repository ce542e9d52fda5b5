"""The verdict table counts what was asked and keeps failures apart."""

from __future__ import annotations

import numpy as np
import pytest

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.table import NOT_CALLED, VerdictTable

ROWS = [
    ("d/s/1", "base", 0, 0, "verdict", "UNSAFE"),
    ("d/s/1", "base", 0, 1, "verdict", "SAFE"),
    ("d/s/1", "base", 0, 2, "refusal", None),
    ("d/s/1", "T1", 0, 0, "verdict", "UNSAFE"),
    ("d/s/1", "T1", 1, 0, "verdict", "UNSAFE"),
    ("d/s/2", "base", 0, 0, "error", None),
]


def table(**extra) -> VerdictTable:
    return VerdictTable.from_rows(ROWS, **extra)


def test_counts_keep_failures_apart():
    counts = table().counts("base")
    assert [1, 0] == counts.unsafe.tolist()
    assert [2, 0] == counts.valid.tolist()
    assert [1, 1] == counts.failed.tolist()


def test_wordings_of_a_condition_are_pooled():
    counts = table().counts("T1")
    assert [2, 0] == counts.unsafe.tolist()
    assert ("base", "T1") == table().conditions


def test_an_absent_condition_has_no_calls():
    assert [0, 0] == table().counts("T9").valid.tolist()


def test_cells_that_were_not_called_are_marked():
    codes, mask = table().to_array()
    assert NOT_CALLED == codes[1, 0, 1]
    assert 4 == int(mask.sum())


def test_the_data_frame_has_one_row_a_call():
    frame = table().to_dataframe()
    assert len(ROWS) == len(frame)
    assert {"refusal", "error", "verdict"} == set(frame["outcome"])


def test_row_order_does_not_matter():
    back = VerdictTable.from_rows(ROWS[::-1])
    for condition in ("base", "T1"):
        ours, theirs = table().counts(condition), back.counts(condition)
        assert ours.unsafe.tolist() == theirs.unsafe.tolist()


def test_a_call_that_occurs_twice_is_refused_by_name():
    said = r"item d/s/1, condition base, repeat 0.*twice, in rows 1 and 7"
    with pytest.raises(ConfigError, match=said):
        VerdictTable.from_rows([*ROWS, ROWS[0]])


def test_a_negative_repeat_is_refused():
    with pytest.raises(ConfigError, match="row 7, item d/s/2: repeat is -1"):
        VerdictTable.from_rows([*ROWS, ("d/s/2", "base", 0, -1, "verdict", "SAFE")])


@pytest.mark.parametrize("label", ["safe", "Safe", "", "unknown"])
def test_a_gold_label_of_another_spelling_is_not_taken_for_none(label):
    with pytest.raises(ConfigError, match="item d/s/1: gold label"):
        table(gold={"d/s/1": label})


@pytest.mark.parametrize(
    "row",
    [
        ("a", "base", 0, 0, "verdict", None),
        ("a", "base", 0, 0, "refusal", "SAFE"),
        ("a", "base", 0, 0, "verdict", "safe"),
        ("a", "base", 0, 0, "unknown", None),
        ("a", "base", 0, 0, "SAFE", None),
        ("a", "base", 0, 0, "verdict", "refusal"),
    ],
)
def test_a_label_stands_exactly_where_the_outcome_is_verdict(row):
    with pytest.raises(ConfigError, match="A label"):
        VerdictTable.from_rows([row])


def test_gold_ambiguity_and_clusters_line_up_with_the_items():
    t = table(
        gold={"d/s/1": "UNSAFE"},
        ambiguous={"d/s/2": True},
        clusters={"d/s/1": "c", "d/s/2": "c"},
        strata={"d/s/1": {"domain": "web"}},
    )
    assert [1, -1] == t.gold.tolist()
    assert [-1, 1] == t.ambiguous.tolist()
    assert 1 == t.n_clusters
    assert {"domain": ("web", "")} == dict(t.strata)


def test_shapes_are_checked():
    with pytest.raises(ConfigError, match="codes have shape"):
        VerdictTable(
            items=("a",),
            clusters=np.zeros(1, np.int64),
            gold=np.zeros(1, np.int8),
            ambiguous=np.zeros(1, np.int8),
            columns=(("base", 0),),
            codes=np.zeros((2, 1, 1), np.int8),
        )
