"""The search itself, on judges whose whole table of answers is known."""

from __future__ import annotations

import math
import random
from collections import Counter

import pytest

from judgeaudit.cure.localise_search import Found, Searching, rates, search
from judgeaudit.stats.localising import beyond_error, e_bh, either_rate, least_needed

KEYS = tuple(f"e{k}" for k in range(24))
EVERYTHING = frozenset(KEYS)


def run(flips, *, noise=0.0, seed=0, lost=0.0, guesses=(), may_ask=lambda _: True):
    """Search with a judge that flips where `flips(subset)` says so; return what, and the calls."""
    rng = random.Random(seed)
    of = Searching(KEYS, may_ask, 0.1, 0.9, guesses=lambda: list(guesses))
    work, calls = search(of), 0

    def answer(subset):
        if rng.random() < lost:
            return None
        return flips(subset) != (rng.random() < noise)

    asks = next(work)
    while True:
        calls += sum(asks.values())
        try:
            asks = work.send({s: [answer(s) for _ in range(n)] for s, n in asks.items()})
        except StopIteration as end:
            return end.value, calls


def needs(*sets):
    return lambda subset: any(frozenset(s) <= subset for s in sets)


CASES = {
    "one": [("e7",)],
    "pair": [("e2", "e19")],
    "neighbours": [("e11", "e12")],
    "three": [("e1", "e9", "e23")],
    "either": [("e3",), ("e20",)],
    "one or a pair": [("e5",), ("e14", "e22")],
    "everything": [KEYS],
}


@pytest.mark.parametrize("causes", CASES.values(), ids=CASES)
def test_the_smallest_sets_are_found(causes):
    found, calls = run(needs(*causes))
    assert ("found", set(map(frozenset, causes))) == (found.status, set(found.causes))
    assert calls < 500


@pytest.mark.parametrize("causes", [CASES["one"], CASES["pair"]], ids=["one", "pair"])
def test_noise_seldom_fools_it(causes):
    wanted = set(map(frozenset, causes))
    right = sum(set(run(needs(*causes), noise=0.08, seed=s)[0].causes) == wanted for s in range(60))
    assert right >= 55


def test_a_search_that_is_not_monotone_still_ends_in_a_set_that_flips():
    """e4 flips, unless e5 is there too; e21 flips always."""

    def flips(subset):
        return "e21" in subset or ("e4" in subset and "e5" not in subset)

    found, _ = run(flips)
    assert found.causes[0] in ({"e21"}, {"e4"})
    assert all(flips(c) for c in found.causes)


def test_what_other_items_react_to_is_tried_first_and_saves_calls():
    guess = frozenset(("e2", "e19"))
    plain, many = run(needs(guess))
    helped, few = run(needs(guess), guesses=[frozenset(("e1",)), guess])
    assert plain.causes == helped.causes == (guess,)
    assert few < many / 2


def test_a_guess_that_is_too_large_does_not_stand():
    found, _ = run(needs(("e7",)), guesses=[frozenset(("e7", "e8"))])
    assert Found("found", (frozenset(("e7",)),)) == found


def test_texts_that_are_not_certified_are_never_asked_and_a_larger_set_is_named():
    """Alone e7 is no policy: with its neighbour it is."""
    asked = []

    def may_ask(subset):
        fine = ("e6" in subset) == ("e7" in subset)
        if fine:
            asked.append(subset)
        return fine

    found, _ = run(needs(("e7",)), may_ask=may_ask)
    assert (frozenset(("e6", "e7")),) == found.causes


def test_a_judge_that_gives_no_verdict_in_between_is_said_to_give_none():
    found, calls = run(needs(("e7",)), lost=1.0)
    assert "unresolved" == found.status
    assert "no verdict" in found.why
    assert calls < 40


def test_some_lost_answers_do_no_harm():
    found, _ = run(needs(("e7",)), lost=0.3, seed=4)
    assert (frozenset(("e7",)),) == found.causes


def test_the_two_rates_keep_away_from_ends_and_middle():
    assert (0.1, 0.9) == rates(Counter({False: 20}), Counter({True: 20}))
    assert (0.3, 0.7) == rates(Counter({False: 5, True: 5}), Counter({True: 5, False: 5}))


def test_walds_test_errs_as_seldom_as_it_says():
    """At the two rates themselves, where it errs most."""
    rng, error, wrong, n = random.Random(1), 0.05, 0, 2000
    for k in range(n):
        high = bool(k % 2)
        ones = zeros = 0
        while abs(ratio := either_rate(ones, zeros, 0.2, 0.8)) < math.log(0.95 / 0.05):
            for _ in range(least_needed(ratio, 0.2, 0.8, error)):
                one = rng.random() < (0.8 if high else 0.2)
                ones, zeros = ones + one, zeros + (not one)
        wrong += (ratio > 0) != high
    assert wrong / n <= error + 3 * math.sqrt(error / n)


def test_e_bh_rejects_by_rank_and_nothing_without_evidence():
    assert [] == e_bh([])
    assert [False] * 3 == e_bh([2.9, 2.9, 2.9])
    assert [True] * 3 == e_bh([3.0, 3.0, 3.0])
    assert [True, False] == e_bh([math.log(40), 2.9])
    assert [False, False] == e_bh([math.log(39), 2.9])


def test_beyond_error_is_the_binomial_tail():
    assert 1 == pytest.approx(beyond_error(0, 7, 0.02))
    assert 0.02 == pytest.approx(beyond_error(1, 1, 0.02))
    assert 1 - 0.98**5 == pytest.approx(beyond_error(1, 5, 0.02))
