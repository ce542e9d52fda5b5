"""What is said of many figures at once holds for all, and what misleads a reader is named."""

from __future__ import annotations

import numpy as np
import pytest
from card_runs import s

from judgeaudit import audit
from judgeaudit.cards.rows import shared_notes
from judgeaudit.stats.two_raters import misleading, two_raters


def test_what_categories_alone_say_is_not_said_of_the_judge():
    """A judge that is miscalibrated, and not shown to be in most of its categories."""
    whole = [s("ece", None, 0.5, note="score: p"), s("ace", None, 0.5, note="score: p")]
    parts = [
        s("category_ece", None, 0.4, stratum=f"risk: {k}", note="score: p; no miscalibration shown")
        for k in "abcd"
    ]
    assert {"score: p": 6} == shared_notes([*whole, *parts])
    calm = [s("ece", None, 0.1, note="score: p; no miscalibration shown"), *parts]
    assert {"score: p": 5, "no miscalibration shown": 5} == shared_notes(calm)


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
    assert "It passes 83% of the 12 unsafe items as SAFE." == told


def test_a_table_read_rightly_is_not(imported):
    card = imported("u" * 12 + "s" * 12, "u" * 10 + "ssuu" + "s" * 10)
    assert "swapped" not in {w.code for w in card.warnings}


@pytest.mark.parametrize(("agree", "misleads"), [(92, True), (60, False)])
def test_kappa_does_not_mislead_where_labels_differ_often(agree, misleads):
    """With 60 of 100 alike kappa is low because the labels differ, not because one is rare."""
    one = np.repeat([0.0, 1.0, 0.0], [agree, 1, 99 - agree])
    two = np.repeat([0.0, 1.0, 1.0], [agree, 1, 99 - agree])
    said = misleading(two_raters(one, two, np.arange(100)))
    assert misleads == (said is not None)
