"""Import of scores with a line, of rows that are no verdict, and of gold in words of its own."""

from __future__ import annotations

import pytest

from judgeaudit import audit
from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.core.table import SAFE, UNSAFE
from judgeaudit.engine.ledger import Ledger


@pytest.fixture
def imported(tmp_path):
    def do(text, **choices):
        (tmp_path / "v.csv").write_text(text)
        made = audit.import_verdicts(
            tmp_path / "v.csv", out=tmp_path / "run", one_condition="base", **choices
        )
        with Ledger.open_readonly(made.folder / "ledger.sqlite") as view:
            replies = [t for (t,) in view.connection.execute("SELECT text FROM replies")]
            return made, view.table(), replies

    return do


GRADES = "id,verdict\na,0\nb,1.5\nc,2\nd,-3\ne,1e1\n"


@pytest.mark.parametrize(
    ("choices", "unsafe"),
    [
        ({"unsafe_below": 1.5}, "ad"),
        ({"unsafe_below": 0}, "d"),
        ({"unsafe_above": 1.5}, "ce"),
        ({"unsafe_above": -3}, "abce"),
        # a word that is named wins over the line
        ({"unsafe_above": 1.5, "label": ["0=UNSAFE", "1.5=unsafe"]}, "abce"),
    ],
)
def test_a_line_between_scores(imported, choices, unsafe):
    made, table, replies = imported(GRADES, **choices)
    said = {k.rpartition("/")[2]: c for k, c in zip(table.items, table.codes[:, 0, 0], strict=True)}
    assert {k: UNSAFE if k in unsafe else SAFE for k in "abcde"} == said
    # the score is what the judge said, as it stood
    assert ["-3", "0", "1.5", "1e1", "2"] == sorted(replies)
    n = 5 - len(choices.get("label", ()))
    assert any(note.startswith(f"{n} verdicts are scores: UNSAFE") for note in made.notes)


def test_the_flag_of_a_line_at_0_reaches_the_import(imported, tmp_path):
    from typer.testing import CliRunner

    from judgeaudit.cli.main import app

    (tmp_path / "v.csv").write_text(GRADES)
    words = [
        "import",
        str(tmp_path / "v.csv"),
        "--out",
        str(tmp_path / "run"),
        "--unsafe-below",
        "0",
    ]
    done = CliRunner().invoke(app, [*words, "--one-condition", "base"])
    assert 0 == done.exit_code, done.output
    assert "5 verdicts are scores: UNSAFE below 0, else SAFE." in done.output


def test_rows_that_are_no_verdict_and_gold_in_words_of_its_own(imported):
    text = "id,verdict,gold,r\na,1,0,1\nb,0,1,0\nc,-1,1,1\nd,1,-1,-1\n"
    made, table, _ = imported(
        text, verdict="verdict", gold="gold", rater=["r"], label=["1=UNSAFE", "0=SAFE", "-1=skip"],
        gold_label=["1=SAFE", "0=UNSAFE", "-1=none"],
    )  # fmt: skip
    assert ["a", "b", "d"] == [k.rpartition("/")[2] for k in table.items]
    assert [UNSAFE, SAFE, UNSAFE] == table.codes[:, 0, 0].tolist()
    assert [1, 0, -1] == table.gold.tolist()
    assert [0, 1, -1] == table.votes[:, 0].tolist()
    assert ("1 row was left out: the verdict is -1, by --label.",) == made.notes


@pytest.mark.parametrize(
    ("text", "choices", "message"),
    [
        (GRADES, {"unsafe_below": 1, "unsafe_above": 2}, "--unsafe-below does not go with"),
        (GRADES, {"unsafe_below": float("nan")}, "a threshold must be a number"),
        ("id,verdict\na,n/a\n", {"unsafe_below": 1}, "v.csv:2: the verdict is 'n/a', and is to be"),
        ("id,verdict\na,nan\n", {"unsafe_below": 1}, "the verdict is 'nan', and is to be a number"),
        ("id,verdict\na,\n", {"unsafe_below": 1}, "the verdict is empty"),
        ("id,verdict\na,1\n", {"label": ["1=skip"]}, "no row is left to import"),
        ("id,verdict\na,1\n", {"label": ["1=none"]}, "none"),
        ("id,verdict,gold\na,safe,x\n", {"gold_label": ["x=skip"]}, "--gold-label x=skip"),
        ("id,verdict,gold\na,safe,x\n", {"label": ["x=skip"]}, "an outcome and no label"),
    ],
)
def test_what_does_not_fit_is_refused(imported, text, choices, message):
    with pytest.raises((ConfigError, CorpusError)) as caught:
        imported(text, **choices)
    assert message in str(caught.value)
