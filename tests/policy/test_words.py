"""Small tools: verb forms, segments, word differences, lines of keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit.policy._toml import parse, place
from judgeaudit.policy.morphology_en import forms
from judgeaudit.policy.segment import statements, tokens
from judgeaudit.policy.worddiff import in_order_of, plain_diff, word_diff


@pytest.mark.parametrize(
    ("base", "gerund", "participle"),
    [
        ("disclose", "disclosing", "disclosed"),
        ("run", "running", "run"),
        ("take", "taking", "taken"),
        ("carry", "carrying", "carried"),
        ("plan", "planning", "planned"),
        ("permit", "permitting", "permitted"),
        ("visit", "visiting", "visited"),
        ("tie", "tying", "tied"),
        ("see", "seeing", "seen"),
        ("play", "playing", "played"),
        ("mimic", "mimicking", "mimicked"),
        ("withhold", "withholding", "withheld"),
        ("learn", "learning", "learned"),
        ("get", "getting", "got"),
        ("free", "freeing", "freed"),
    ],
)
def test_the_reader_knows_the_forms_of_verbs(base: str, gerund: str, participle: str):
    f = forms(base)
    assert f["base"] == {base}
    assert gerund in f["gerund"]
    assert participle in f["participle"]


@pytest.mark.parametrize(
    ("base", "form", "not_a_form"),
    [("share", "gerund", "sparing"), ("take", "participle", "taked"), ("run", "participle", "ran")],
)
def test_other_words_are_no_forms(base: str, form: str, not_a_form: str):
    assert not_a_form not in forms(base)[form]


def test_statements_keep_number_line_and_block():
    text = "# Title\n\n1. **Name.** One must\n   act. Then stop!\n2. Two.\n\nIn this: x"
    found = [(s.words, s.line, s.number, s.heading, s.first) for s in statements(text)]
    assert found == [
        (("title",), 1, None, True, True),
        (("name",), 3, 1, False, True),
        (("one", "must", "act"), 3, 1, False, False),
        (("then", "stop"), 4, 1, False, False),
        (("two",), 5, 2, False, True),
        (("in", "this"), 7, None, False, True),
        (("x",), 7, None, False, False),
    ]


def test_tokens_leave_nothing_out_but_emphasis():
    words = [t.text for t in tokens("It **mustn't** cost €1,000.50, can’t it? {{ x }}")]
    assert words == [
        "it", "must", "not", "cost", "€", "1,000.50", ",", "can", "not", "it", "?", "{", "{", "x",
        "}", "}",
    ]  # fmt: skip


def test_abbreviations_do_not_end_a_sentence():
    assert len(statements("Use a tool, e.g. a lamp, at no. 5.")) == 1


@given(st.text(alphabet="ab \n.,'-"), st.text(alphabet="ab \n.,'-"))
def test_a_difference_holds_both_texts(old: str, new: str):
    pieces = word_diff(old, new)
    assert old == "".join(t for kind, t in pieces if kind != "added")
    assert new == "".join(t for kind, t in pieces if kind != "removed")


def test_a_difference_in_plain_text():
    pieces = word_diff("It must not share data.\nEnd.", "It is forbidden to share data.\nEnd.")
    assert plain_diff(pieces) == "It [-must not-]{+is forbidden to+} share data.\nEnd."
    assert plain_diff(word_diff("a\nb\n", "a\nc\nd\n")) == "a\n[-b-]{+c+}\n{+d+}\n"


def test_lines_of_keys_in_arrays_inline_tables_and_long_strings():
    text = (
        "a = 1 # b = 2\n"
        "long = '''\n"
        "c = 3\n"
        "[[no]]\n"
        "'''\n"
        "list = [\n"
        "  'x = 1',\n"
        "]\n"
        "[[t]]\n"
        "k.l = { m = 4 }\n"
        "[[t.u]]\n"
        "v = 'a # b'\n"
        "[[t]]\n"
        "[[t.u]]\n"
        "[[t.u]]\n"
        'v = "]"\n'
        '"q" = 1\n'
    )
    data, lines = parse(text, "f")
    assert data["t"][1]["u"][1]["v"] == "]"
    assert lines[("a",)] == 1
    assert lines[("list",)] == 6
    assert ("c",) not in lines
    assert lines[("t", 0, "k", "l")] == 10
    assert lines[("t", 0, "u", 0, "v")] == 12
    assert lines[("t", 1, "u", 1, "v")] == 16
    assert lines[("t", 1, "u", 1, "q")] == 17
    assert place("f", ("t", 0, "k", "l", "m"), lines) == "f, line 10, t[0].k.l.m"


def test_items_are_compared_in_the_order_of_the_new_text():
    old = "# T\n1. **A.** a\n2. **B.** b\n\nx\n- **C.** c"
    new = "# T\n- **C.** cc\n\n1. **B.** bb\n2. **A.** aa"
    assert in_order_of(new, old) == "# T\n- **C.** c\n2. **B.** b\n\nx\n1. **A.** a"
    assert in_order_of("# T\n1. **Z.** z", old) == old
    assert in_order_of(old, old) == old
