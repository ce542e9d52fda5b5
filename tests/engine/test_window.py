"""The window and the bucket, without a clock: told of ends, asked for widths and waits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgeaudit.engine.window import Bucket, Window


def round_of(window, seconds=0.2, *, n=None, full=True):
    for _ in range(n or max(window.width, 8)):
        window.ended("answered", seconds, cuts=window.cuts, full=full)


def grown(most=256, rounds=12):
    window = Window(most)
    for _ in range(rounds):
        round_of(window)
    return window


def test_it_doubles_a_round_up_to_the_most():
    window, widths = Window(100), []
    for _ in range(4):
        widths.append(window.width)
        round_of(window, n=window.width)
    assert [16, 32, 64, 100] == widths


def test_it_starts_no_wider_than_the_most():
    assert 3 == Window(3).width


def test_it_does_not_grow_where_it_is_not_the_bound():
    window = Window(100)
    for _ in range(5):
        round_of(window, full=False)
    assert 16 == window.width


def test_a_limit_halves_it_once_for_all_that_were_in_flight():
    window = grown(64)
    for _ in range(40):
        window.ended("limited", 0.1, cuts=0, full=True)
    assert 32 == window.width
    window.ended("limited", 0.1, cuts=window.cuts, full=True)
    assert 16 == window.width


def test_after_a_cut_it_grows_by_one_a_round():
    window = grown(64)
    window.ended("limited", 0.1, cuts=window.cuts, full=True)
    round_of(window, n=33)
    assert 33 == window.width


def test_trouble_of_the_server_takes_three_tenths_and_never_all():
    window = grown(100)
    window.ended("failed", 0.1, cuts=window.cuts, full=True)
    assert 70 == window.width
    for _ in range(50):
        window.ended("failed", 0.1, cuts=window.cuts, full=True)
    assert 1 == window.width


def test_what_says_nothing_of_the_load_changes_nothing():
    window = grown(100)
    window.ended("other", 9.0, cuts=window.cuts, full=True)
    assert (100, 0) == (window.width, window.cuts)


def test_slow_answers_hold_it_and_very_slow_ones_narrow_it():
    window = Window(256)
    round_of(window, 0.2)
    round_of(window, 0.4)
    wide = window.width
    round_of(window, 0.4)
    assert wide == window.width
    round_of(window, 0.6)
    assert wide > window.width >= int(wide * 0.85) - 1
    width = window.width
    for _ in range(3):
        round_of(window, 0.2)
    assert width < window.width


def test_differences_of_a_few_milliseconds_are_noise():
    window = Window(256)
    for seconds in (0.001, 0.01, 0.03, 0.04, 0.05):
        round_of(window, seconds)
    assert 256 == window.width


def test_a_model_that_has_become_slower_for_good_is_believed_in_the_end():
    window = Window(64)
    for _ in range(4):
        round_of(window, 0.2)
    for _ in range(120):
        round_of(window, 2.0)
    assert 64 == window.width


def test_a_fixed_window_stays():
    window = Window(50, adaptive=False)
    for end in ("limited", "failed", "answered"):
        window.ended(end, 9.0, cuts=0, full=True)
    assert 50 == window.width


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 300),
    st.lists(
        st.tuples(
            st.sampled_from(["answered", "limited", "failed", "other"]),
            st.floats(0, 100),
            st.booleans(),
        ),
        max_size=400,
    ),
)
def test_it_always_stays_between_one_and_the_most(most, ends):
    window = Window(most)
    for end, seconds, full in ends:
        window.ended(end, seconds, cuts=window.cuts, full=full)
        assert 1 <= window.width <= most


def passes(bucket, amounts, now=0.0):
    """Let callers come one after the other, each as soon as the one before has passed."""
    out = []
    for amount in amounts:
        now += bucket.take(now, amount)
        out.append(now)
    return out


@pytest.mark.parametrize("per_minute", [1, 7, 60, 90, 600, 5000])
def test_no_minute_sees_more_requests_than_allowed(per_minute):
    times = np.array(passes(Bucket(per_minute), [1] * (3 * per_minute + 5)))
    most = int((np.searchsorted(times, times + 60) - np.arange(times.size)).max())
    assert per_minute * 0.9 - 1 <= most <= per_minute


def test_a_bucket_that_rested_lets_no_more_than_a_second_through_at_once():
    bucket = Bucket(600)
    bucket.take(0.0, 1)
    times = passes(bucket, [1] * 30, now=1000.0)
    assert 10 == sum(t == 1000.0 for t in times)


def test_who_comes_later_waits_longer():
    bucket = Bucket(60)
    waits = [bucket.take(0.0, 1) for _ in range(4)]
    assert pytest.approx([0, 1, 2, 3]) == waits


def test_an_amount_that_was_thought_too_high_is_given_back():
    bucket = Bucket(6000)  # 100 a second
    assert 0 == bucket.take(0.0, 100)
    slow = bucket.take(0.0, 100)
    other = Bucket(6000)
    other.take(0.0, 100)
    other.correct(-90)
    assert other.take(0.0, 100) < slow / 5


def test_an_amount_that_no_bucket_holds_passes_all_the_same():
    times = passes(Bucket(600), [100] * 7)
    assert 59 <= times[6] - times[0] <= 70


def test_answers_that_queue_for_this_process_are_not_the_providers_slowness():
    """64 answers that come at once are read one after the other: 3 ms each say nothing."""
    window = Window(256)
    round_of(window, 0.2)
    round_of(window, 0.2)
    round_of(window, 0.38)  # 1.9 times, but by less than 64 times 3 ms
    assert 128 == window.width
    window.ended("answered", 0.38, cuts=window.cuts, full=True)
    assert 129 == window.width


def test_after_slowness_that_passes_it_goes_on_doubling():
    window = Window(256)
    round_of(window, 0.2)
    round_of(window, 0.4)
    stood = window.width
    round_of(window, 0.4)
    assert stood == window.width
    round_of(window, 0.2)
    round_of(window, 0.2)
    assert 2 * stood == window.width
