"""Agreement of raters against published worked examples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.stats._types import Undefined
from judgeaudit.stats.agreement import MISSING, Agreement, gwet_ac1, krippendorff_alpha

# Krippendorff 2011, section C: four observers, twelve units, values 1 to 5, with gaps
OBSERVERS = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
EXAMPLE = np.array(
    [[MISSING if v == "." else int(v) - 1 for v in row.split()] for row in OBSERVERS]
).T


def test_alpha_of_the_published_example():
    made = krippendorff_alpha(EXAMPLE, 5)
    assert isinstance(made, Agreement)
    assert 0.743 == round(made.value, 3)
    assert (11, 40) == (made.n_items, made.n_ratings)


def test_ac1_of_the_same_example():
    # irrCAC, gwet.ac1.raw on cac.raw4raters, the same ratings: 0.77544 with pa 0.81818
    made = gwet_ac1(EXAMPLE, 5)
    assert isinstance(made, Agreement)
    assert (0.81818, 0.77544) == (round(made.observed, 5), round(made.value, 5))


def test_two_categories_use_the_binary_chance_term():
    ratings = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1], [0, 1, 1]])
    made = gwet_ac1(ratings, 2)
    pi = 6 / 12
    assert isinstance(made, Agreement)
    assert made.expected == pytest.approx(2 * pi * (1 - pi))


def test_one_category_has_no_alpha_but_an_ac1_of_one():
    ratings = np.zeros((4, 3), dtype=np.int64)
    undefined = krippendorff_alpha(ratings, 3)
    assert isinstance(undefined, Undefined)
    assert "every rating is the same" in undefined.reason
    made = gwet_ac1(ratings, 3)
    assert isinstance(made, Agreement)
    assert 1.0 == made.value


def test_single_ratings_give_nothing():
    ratings = np.array([[0, MISSING], [MISSING, 1]])
    assert isinstance(krippendorff_alpha(ratings, 2), Undefined)
    assert isinstance(gwet_ac1(ratings, 2), Undefined)
    assert isinstance(gwet_ac1(np.zeros((0, 0), dtype=np.int64), 2), Undefined)


def test_a_rating_off_the_scale_is_refused():
    with pytest.raises(ValueError, match=r"outside 0\.\.1"):
        krippendorff_alpha(np.array([[0, 2]]), 2)
    with pytest.raises(ValueError, match="two categories"):
        gwet_ac1(np.array([[0, 0]]), 1)


@given(
    st.lists(st.lists(st.integers(-1, 2), min_size=3, max_size=3), min_size=2, max_size=8),
    st.permutations([0, 1, 2]),
)
def test_neither_order_nor_names_matter(rows, names):
    ratings = np.array(rows)
    renamed = np.where(ratings < 0, MISSING, np.array(names)[ratings])
    for coefficient in (krippendorff_alpha, gwet_ac1):
        a, b = coefficient(ratings, 3), coefficient(renamed[::-1, ::-1], 3)
        assert type(a) is type(b)
        if isinstance(a, Agreement) and isinstance(b, Agreement):
            assert a.value == pytest.approx(b.value)
            assert a.value <= 1 + 1e-12
