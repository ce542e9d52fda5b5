"""What is said once: notes that many figures share, figures undefined for one reason, categories."""

from __future__ import annotations

from card_runs import QUIET, numbers, run, s

SOURCE = "score of an item: stated confidence"


def section(made, title):
    return made.md.split(f"## {title}")[1].split("\n## ")[0]


def test_a_note_that_many_figures_share_is_said_once():
    figures = [
        s("auroc", None, 0.8, 0.7, 0.9, note=SOURCE),
        s("partial_auroc", None, 0.7, 0.6, 0.8, note=f"{SOURCE}; three were clipped"),
        s("average_precision", None, 0.8, 0.7, 0.9, note=SOURCE),
    ]
    part = section(run([*numbers(QUIET), *figures]), "Scores and thresholds")
    assert 1 == part.lower().count(SOURCE)
    assert "Score of an item: stated confidence (3 figures here)." in part
    assert "note: three were clipped" in part


def test_a_note_of_two_figures_stays_with_them():
    figures = [s(m, None, 0.8, 0.7, 0.9, note=SOURCE) for m in ("auroc", "average_precision")]
    part = section(run([*numbers(QUIET), *figures]), "Scores and thresholds")
    assert 2 == part.count(f"note: {SOURCE}")


def test_figures_undefined_for_one_reason_are_one_row():
    figures = [
        s("held_out_tpr", None, None, stratum=f"fpr {r}", why_undefined="too few SAFE items")
        for r in ("0.01", "0.05")
    ]
    figures.append(s("held_out_fpr", None, None, stratum="fpr 0.01", why_undefined="another"))
    part = section(run([*numbers(QUIET), *figures]), "Scores and thresholds")
    assert 1 == part.count("too few SAFE items")
    assert "held-out threshold · fpr 0.01, fpr 0.05 |" in part
    assert 1 == part.count("because: another")


def test_a_category_is_one_row_of_all_its_figures():
    figures = [
        s("category_tpr", None, 0.75, 0.5, 0.9, stratum="risk: a|b", unit="fraction", n_items=8),
        s("category_fpr", None, None, stratum="risk: a|b", why_undefined="no item", n_items=0),
        s("category_tpr", None, 0.5, 0.2, 0.8, stratum="risk: <i>", unit="fraction", n_items=4),
        s("category_fpr", None, 0.25, 0.1, 0.5, stratum="risk: <i>", unit="fraction", n_items=5),
    ]
    made = run([*numbers(QUIET), *figures])
    part = section(made, "Errors and alarms")
    rows = [line for line in part.splitlines() if line.startswith("| `risk")]
    assert 2 == len(rows)
    assert "75.0%" in rows[1]
    assert "no item | 8 |" in rows[1]
    assert rows[0].endswith("| 9 |")
    assert "<i>" not in made.html.split("<main", 1)[-1].replace("<i></i>", "")


def test_the_whole_stands_before_its_parts():
    figures = [
        s("ppv", None, 0.2, 0.1, 0.3, stratum="base rate 0.01", unit="fraction"),
        s("ppv", None, 0.6, 0.5, 0.7, unit="fraction"),
    ]
    part = section(run([*numbers(QUIET), *figures]), "Errors and alarms")
    assert part.index("| Precision |") < part.index("| Precision · base rate 0.01 |")
