"""Trajectories that are too long: the middle goes, says so, and goes alike under each condition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.core.records import Trajectory, Turn
from judgeaudit.policy.shortening import middle_out, trajectory_tokens

LONG = Trajectory(
    profile="An agent.",
    turns=tuple(
        turn
        for k in range(40)
        for turn in (
            Turn(role="user", content=f"question {k} " + "q" * 90),
            Turn(role="agent", thought=f"thought {k}", action=f"answer {k} " + "a" * 90),
        )
    ),
)
SHORT = Trajectory(turns=(Turn(role="user", content="Hello"), Turn(role="agent", action=None)))


def test_what_fits_is_left_as_it_is():
    assert middle_out(SHORT, 100) is SHORT
    assert middle_out(LONG, trajectory_tokens(LONG)) is LONG


def test_beginning_and_end_stay_and_the_mark_says_how_much_is_gone():
    cut = middle_out(LONG, 600)
    assert 450 <= trajectory_tokens(cut) <= 600
    assert cut.profile == LONG.profile
    assert cut.turns[0] == LONG.turns[0]
    assert cut.turns[-1] == LONG.turns[-1]
    marks = [t for t in cut.words.split("\n") if "LEFT OUT HERE BY JUDGEAUDIT" in t]
    assert len(marks) == 1
    # every character is shown, or counted
    (mark,) = marks
    gone = int(mark.partition("JUDGEAUDIT: ")[2].partition(" ")[0].replace(",", ""))
    shown = sum(len(t) for t in cut.words.split("\n")) - len(mark)
    assert shown + gone == sum(len(t) for t in LONG.words.split("\n"))


def test_one_huge_text_is_cut_inside():
    text = "begin " + "x" * 50_000 + " end"
    cut = middle_out(Trajectory(turns=(Turn(role="user", content=text),)), 300)
    (turn,) = cut.turns
    assert turn.content.startswith("begin ")
    assert turn.content.endswith(" end")
    assert "characters of turn 1, for the record" in turn.content
    assert trajectory_tokens(cut) <= 300


texts = st.one_of(st.none(), st.text(max_size=400), st.text("ab \n", min_size=300, max_size=3_000))
turns = st.builds(
    Turn,
    role=st.sampled_from(["user", "agent", "environment"]),
    content=texts,
    thought=texts,
    action=texts,
)
trajectories = st.builds(
    Trajectory, profile=texts, turns=st.lists(turns, min_size=1, max_size=8).map(tuple)
)


@given(trajectories, st.integers(min_value=100, max_value=1_500))
def test_whatever_it_holds_it_fits_afterwards_and_is_cut_alike_each_time(trajectory, most):
    cut = middle_out(trajectory, most)
    assert trajectory_tokens(cut) <= most
    assert middle_out(trajectory, most) == cut
    assert middle_out(cut, most) is cut
    assert ("LEFT OUT HERE" in cut.words) == (trajectory_tokens(trajectory) > most)


@pytest.mark.parametrize("most", [100, 101, 250, 999])
def test_the_order_of_what_stays_is_the_order_it_had(most):
    lines = LONG.words.split("\n")
    places = [lines.index(t) for t in middle_out(LONG, most).words.split("\n") if t in lines]
    assert places == sorted(places)
