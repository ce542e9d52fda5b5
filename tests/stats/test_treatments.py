"""Every treatment of calls without a verdict, against enumerated pairs and completions."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgeaudit.core.table import Counts
from judgeaudit.stats import pairs, treatments

# 0 SAFE, 1 UNSAFE, None no verdict
CALLS = st.lists(st.sampled_from([0, 1, None]), min_size=0, max_size=4)


def as_counts(*items):
    return Counts(
        np.array([sum(c == 1 for c in calls) for calls in items]),
        np.array([sum(c is not None for c in calls) for calls in items]),
        np.array([sum(c is None for c in calls) for calls in items]),
    )


def share(couples, apart):
    couples = list(couples)
    return sum(apart(a, b) for a, b in couples) / len(couples) if couples else None


def fails_or_differs(a, b):
    return a is None or b is None or a != b


def differs(a, b):
    return a != b


def value(found):
    return found.values[0] if found.defined[0] else None


def valid(calls):
    return [c for c in calls if c is not None]


@given(CALLS, CALLS)
def test_as_flip(base, other):
    crossed = share(product(base, other), fails_or_differs)
    asym = share(combinations(valid(base), 2), differs)
    sym = share(combinations(base, 2), fails_or_differs)
    for noise, function in ((asym, treatments.as_flip_asym), (sym, treatments.as_flip_sym)):
        wanted = None if noise is None or not other else crossed - noise
        found = value(function(as_counts(base), as_counts(other)))
        assert pytest.approx(wanted, abs=1e-12) == found


@given(CALLS, CALLS)
def test_category_debiased(base, other):
    wanted = None
    if len(base) >= 2 and len(other) >= 2:
        inside = [share(combinations(calls, 2), differs) for calls in (base, other)]
        wanted = share(product(base, other), differs) - sum(inside) / 2
    found = value(treatments.category_debiased(as_counts(base), as_counts(other)))
    assert pytest.approx(wanted, abs=1e-12) == found


def completions(calls):
    holes = [k for k, c in enumerate(calls) if c is None]
    for fill in product((0, 1), repeat=len(holes)):
        done = list(calls)
        for k, c in zip(holes, fill, strict=True):
            done[k] = c
        yield done


def slow_bounds(base, conditions):
    """Enumerate all completions of base and conditions together."""
    if len(base) < 2 or not any(conditions):
        return None, None
    seen = []
    for done in completions(base):
        noise = share(combinations(done, 2), differs)
        for others in product(*(completions(c) for c in conditions if c)):
            rates = [share(product(done, other), differs) - noise for other in others]
            seen.append(sum(rates) / len(rates))
    return min(seen), max(seen)


@settings(max_examples=60)
@given(CALLS, st.lists(CALLS, min_size=1, max_size=2))
def test_bounds_are_sharp(base, conditions):
    low, high = treatments.bounds_delta_paper(
        as_counts(base), [as_counts(other) for other in conditions]
    )
    expected = slow_bounds(base, conditions)
    assert pytest.approx(expected, abs=1e-12) == (value(low), value(high))


@given(st.lists(st.tuples(CALLS, CALLS), min_size=1, max_size=6))
def test_bounds_of_many_items_are_those_of_each(items):
    base = as_counts(*(b for b, _ in items))
    other = as_counts(*(o for _, o in items))
    low, high = treatments.bounds_delta_paper(base, [other])
    for k, (b, o) in enumerate(items):
        one = treatments.bounds_delta_paper(as_counts(b), [as_counts(o)])
        assert (one[0].values[0], one[1].values[0]) == (low.values[k], high.values[k])


@given(st.lists(st.integers(0, 1), min_size=2, max_size=4), st.lists(st.integers(0, 1), min_size=1))
def test_without_failures_all_treatments_agree(base, other):
    b, o = as_counts(base), as_counts(other)
    paper = value(pairs.delta_paper(b, o))
    low, high = treatments.bounds_delta_paper(b, [o])
    found = [value(treatments.as_flip_asym(b, o)), value(treatments.as_flip_sym(b, o))]
    found += [value(low), value(high)]
    assert [paper] * 4 == pytest.approx(found, abs=1e-12)


@given(CALLS, CALLS)
def test_bounds_contain_every_reading_that_ignores_failures(base, other):
    """The estimate with all failed calls left out need not lie inside; a completed one must."""
    low, high = treatments.bounds_delta_paper(as_counts(base), [as_counts(other)])
    done = [0 if c is None else c for c in base], [1 if c is None else c for c in other]
    inside = pairs.delta_paper(as_counts(done[0]), as_counts(done[1]))
    if inside.defined[0]:
        assert value(low) - 1e-12 <= inside.values[0] <= value(high) + 1e-12
