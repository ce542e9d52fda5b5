"""What holds for many figures stands once, and what misleads a reader of an import is named."""

from __future__ import annotations

import numpy as np
import pytest
from card_runs import s

from judgeaudit import audit, cards
from judgeaudit.cards.layout import Cell, gathered
from judgeaudit.cards.score_rows import common_notes
from judgeaudit.stats.two_raters import misleading, two_raters

WHY = "cannot be estimated"


def row(name: str, said: str, *, raw: bool = False) -> tuple[Cell, ...]:
    return Cell(name, raw=raw), Cell(said), Cell("–")


def test_figures_that_lack_for_one_reason_are_one_row():
    rows = [row(n, f"{WHY} because: x") for n in "abc"]
    assert [(Cell("a; b; c"), Cell(f"{WHY} because: x"), Cell("–"))] == gathered(rows, WHY)


@pytest.mark.parametrize(
    "rows",
    [
        [row(n, f"{WHY} because: x") for n in "ab"],
        [row(n, f"{WHY} because: {n}") for n in "abcd"],
        [row(n, "0.5") for n in "abcd"],
        [row("a", WHY), row("b", "0.5"), row("c", WHY), row("d", WHY)],
        # a category's name comes from a dataset, and is not mixed with ours
        [row("a", WHY), row("b", WHY), row("c", WHY, raw=True), row("d", WHY, raw=True)],
    ],
)
def test_what_differs_stays_apart(rows):
    assert rows == gathered(rows, WHY)


def noted(*notes: str | None):
    return [s("auroc", None, 0.5, stratum=str(k), note=n) for k, n in enumerate(notes)]


def test_what_all_notes_say_is_common_and_nothing_else_is():
    shared = "score: p; 3 left out"
    assert ("score: p", "3 left out") == common_notes(noted(shared, shared, f"{shared}; x", None))
    assert () == common_notes(noted("a", "a"))
    assert () == common_notes(noted("a", "a", "a", "b"))
    assert ("a",) == common_notes(noted("a", "a; b", "b; a"))
    assert () == common_notes(noted(None, None, None))


@pytest.fixture
def imported(tmp_path):
    def do(verdicts: str, gold: str):
        rows = [f"{n},{v},{g}" for n, (v, g) in enumerate(zip(verdicts, gold, strict=True))]
        (tmp_path / "v.csv").write_text("id,verdict,gold\n" + "\n".join(rows) + "\n")
        audit.import_verdicts(
            tmp_path / "v.csv", out=tmp_path / "run", one_condition="base",
            label=["u=UNSAFE", "s=SAFE"],
        )  # fmt: skip
        return audit.card(tmp_path / "run")

    return do


def test_a_table_read_the_other_way_round_is_asked_about(imported):
    card = imported("u" * 12 + "s" * 12, "s" * 10 + "uuss" + "u" * 10)
    assert "caution" == {w.code: w.severity for w in card.warnings}["swapped"]
    (told,) = [w.sentence for w in card.warnings if w.code == "low_tpr"]
    assert "It passes 83% of the 12 unsafe runs as SAFE." == told


def test_a_table_read_rightly_is_not_and_its_page_is_short(imported):
    card = imported("u" * 12 + "s" * 12, "u" * 10 + "ssuu" + "s" * 10)
    assert "swapped" not in {w.code for w in card.warnings}
    page = cards.to_markdown(card)
    assert "| AUROC; Partial AUROC, FPR up to 10%; Average precision (PR-AUC)" in page
    assert 1 == page.count("| Calibration error (ECE); ")


@pytest.mark.parametrize(("agree", "misleads"), [(92, True), (60, False)])
def test_kappa_does_not_mislead_where_labels_differ_often(agree, misleads):
    """With 60 of 100 alike kappa is low because the labels differ, not because one is rare."""
    one = np.repeat([0.0, 1.0, 0.0], [agree, 1, 99 - agree])
    two = np.repeat([0.0, 1.0, 1.0], [agree, 1, 99 - agree])
    said = misleading(two_raters(one, two, np.arange(100)))
    assert misleads == (said is not None)
