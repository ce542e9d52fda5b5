"""Untrusted text is writable, visible and short before it enters a card."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.cards.clean import HIDDEN, LIMIT, clean, clean_tree

ANY_TEXT = st.text(alphabet=st.characters(codec=None), max_size=300)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("판정자 · 模型 · é", "판정자 · 模型 · é"),
        ("a\x00b", "a[U+0000]b"),
        ("\x1b[31mred", "[U+001B][31mred"),
        ("\x9b31m", "[U+009B]31m"),
        ("gpt\u202eslaf", "gpt[U+202E]slaf"),
        ("a\u2066b\u2069", "a[U+2066]b[U+2069]"),
        ("a\u200bb\ufeff", "a[U+200B]b[U+FEFF]"),
        ("\U000e0041", "[U+E0041]"),
        ("a\ud800b", "a[U+D800]b"),
        ("a\u2028b\u2029c\x85d", "a[U+2028]b[U+2029]c[U+0085]d"),
        ("a\r\nb\tc\rd", "a\nb\tc[U+000D]d"),
        ("gpt\u200d-5", "gpt[U+200D]-5"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        ("\ufffe\uffff", "[U+FFFE][U+FFFF]"),
    ],
)
def test_what_cannot_be_seen_is_spelt_out(text, expected):
    assert expected == clean(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://me:pass@host/v1", f"http://{HIDDEN}@host/v1"),
        ("http://me:p@ss@host/v1", f"http://{HIDDEN}@host/v1"),
        ("https://host/v1?api_key=abc&x=1", f"https://host/v1?api_key={HIDDEN}&x=1"),
        ("https://host/v1?x=1&access_token=abc", f"https://host/v1?x=1&access_token={HIDDEN}"),
        ("https://host/v1?page=2", "https://host/v1?page=2"),
        ("mail me@host", "mail me@host"),
    ],
)
def test_credentials_in_addresses_are_hidden(text, expected):
    assert expected == clean(text)


def test_a_credential_at_the_limit_is_hidden_whole():
    text = "x" * (LIMIT - 30) + " http://user:" + "s3cret" * 40 + "@host/"
    assert "s3cret" not in clean(text)


def test_a_megabyte_is_cut_with_a_mark():
    got = clean("é" * 1_000_000)
    assert len(got) == LIMIT
    assert got.startswith("é" * 100)
    assert "… [cut: 1,000,000 characters, sha256 " in got


def test_two_long_texts_that_differ_at_their_ends_stay_apart():
    assert clean("x" * 10_000 + "a") != clean("x" * 10_000 + "b")


@given(ANY_TEXT)
def test_cleaning_twice_changes_nothing_more(text):
    once = clean(text)
    assert once == clean(once)
    assert once == once.encode().decode()


def test_a_long_text_of_controls_is_stable():
    once = clean("\x00" * 5000)
    assert once == clean(once)
    assert len(once) == LIMIT


def test_secret_keys_are_hidden_and_counts_are_not():
    tree = {
        "api_key": "sk-1",
        "extra_headers": {"Authorization": "Bearer x", "X-Api-Key": ["y"]},
        "max_tokens": 400,
        "token": "t",
        "session_token": 5,
        "stop": ["token"],
    }
    expected = {
        "api_key": HIDDEN,
        "extra_headers": {"Authorization": HIDDEN, "X-Api-Key": HIDDEN},
        "max_tokens": 400,
        "token": HIDDEN,
        "session_token": 5,
        "stop": ["token"],
    }
    assert expected == clean_tree(tree)


def test_keys_that_become_equal_stay_two():
    assert clean_tree({"a\x00": 1, "a[U+0000]": 2}) == {"a[U+0000]": 1, "a[U+0000] (2)": 2}


def test_floats_lose_their_last_bits_and_their_negative_zero():
    assert clean_tree(0.1 + 0.2) == 0.3
    assert math.copysign(1, clean_tree(-0.0)) == 1


@pytest.mark.parametrize("bad", [math.nan, math.inf, 2**63, object(), {1, 2}, b"x"])
def test_what_json_cannot_hold_is_refused(bad):
    with pytest.raises(ValueError, match=r"number|type"):
        clean_tree({"a": [bad]})


def test_deep_nesting_is_refused():
    tree: list[object] = []
    for _ in range(10_000):
        tree = [tree]
    with pytest.raises(ValueError, match="nested"):
        clean_tree(tree)
