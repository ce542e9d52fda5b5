"""The numbers as CSV and as LaTeX."""

from __future__ import annotations

import csv
import io
import re

import pytest
from card_runs import CASES, numbers, run, s
from hypothesis import given
from hypothesis import strategies as st

from judgeaudit import cards
from judgeaudit.cards.numbers import csv_cell, latex_text


def rows(card: cards.JudgeCard) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(cards.to_csv(card))))


def test_every_score_is_one_row_with_the_numbers_of_the_json(any_run):
    card = any_run.card()
    got = rows(card)
    assert len(card.scores.scores) == len(got)
    for score, row in zip(card.scores.scores, got, strict=True):
        assert score.metric == row["metric"]
        for name in ("value", "low", "high", "p_value", "n_items"):
            number = getattr(score, name)
            assert ("" if number is None else repr(number)) == row[name]
        assert None not in row


def test_a_negative_number_stays_a_number():
    card = run([s("signed_shift", "T1", -0.25, -0.5, -0.1)]).card()
    assert rows(card)[0]["value"] == "-0.25"


def test_an_undefined_figure_says_why_and_is_no_zero():
    row = next(r for r in rows(CASES["always_safe"]().card()) if r["metric"] == "pis")
    assert row["value"] == ""
    assert row["why_undefined"] == "no verdict moved"


def test_each_row_carries_the_verdict_and_the_serious_warnings():
    card = CASES["incomplete"]().card()
    for row in rows(card):
        assert row["stance"] == card.headline.stance
        assert set(row["serious"].split()) == {"incomplete", "served_changed", "uncertified"}


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "\r\n=1", '"=1', "\uff1d1", "\u22121", "|x"],
)
def test_a_formula_is_a_text(text):
    assert csv_cell(text).startswith("'")


@given(st.text(max_size=30))
def test_no_cell_begins_as_a_formula(text):
    cell = csv_cell(text)
    assert not re.match(r"[\s\"]*[=+\-@\uff1d\uff0b\uff0d\uff20]", cell)
    assert "\n" not in cell


def _plain(tex: str) -> str:
    """Read back what `latex_text` writes; anything else that LaTeX would act on is an error."""
    names = {
        r"\textbackslash{}": "\\",
        r"\textasciicircum{}": "^",
        r"\textasciitilde{}": "~",
        r"\textless{}": "<",
        r"\textgreater{}": ">",
        r"\textbar{}": "|",
        r"\textquotedbl{}": '"',
        r"\textasciigrave{}": "`",
        r"\{": "{",
        r"\}": "}",
        r"\$": "$",
        r"\&": "&",
        r"\#": "#",
        r"\_": "_",
        r"\%": "%",
        "{'}": "'",
        "{-}": "-",
        "{[}": "[",
        "{]}": "]",
        "{*}": "*",
    }
    token = re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True))))
    out, at = [], 0
    while at < len(tex):
        found = token.match(tex, at)
        if found:
            out.append(names[found[0]])
            at = found.end()
            continue
        assert tex[at] not in "\\{}$&#^_~%<>|\"`'[]", tex[at:]
        out.append(tex[at])
        at += 1
    return "".join(out)


@given(st.text(alphabet=st.characters(max_codepoint=126), max_size=40))
def test_latex_reads_back_as_it_was(text):
    assert " ".join(text.split()) == _plain(latex_text(text))


def test_other_scripts_are_spelt_out_and_do_not_stop_latex():
    assert latex_text("한 é") == "{[}U+D55C{]} é"


def test_the_latex_table_has_a_row_for_each_score_and_five_cells_each(any_run):
    card = any_run.card()
    lines = [x for x in cards.to_latex(card).splitlines() if x.startswith(r"\relax ")]
    assert len(card.scores.scores) == len(lines)
    for line in lines:
        assert line.endswith(r"\\")
        assert 4 == len(re.findall(r"(?<!\\)&", line))


def test_the_latex_table_says_the_headline_and_the_serious_warnings():
    text = cards.to_latex(CASES["incomplete"]().card())
    assert r"\textbf{Serious:}" in text
    assert "Incomplete run: 1,000 of 1,380" in text
    assert r"\begin{longtable}" in text
    assert r"\end{longtable}" in text


def test_an_undefined_figure_stands_in_latex_with_its_reason():
    scores = [s("pis", None, None, why_undefined="no verdict moved")]
    text = cards.to_latex(run(scores).card())
    assert "cannot be estimated because: no verdict moved" in text
    assert r"\textbf{Serious:}" not in cards.to_latex(run(numbers({"T1": 0.0})).card())
