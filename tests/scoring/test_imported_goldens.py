"""The planted judges of the goldens, imported from their files: every score is the same."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from score_tables import read_judge

from judgeaudit import audit

NAMES = [
    "judge_a_quiet",
    "judge_b_noisy_null",
    "judge_c_brittle_t4",
    "judge_d_sharpening",
    "judge_e_parse_fail",
    "judge_f_zero_flips",
    "judge_g_clustered",
    "judge_h_paper_design",
]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_scores(shared: Path, tmp_path: Path, name: str):
    folder = shared / "goldens" / "simulated"
    with (folder / f"{name}.items.csv").open(encoding="utf-8") as file:
        items = {r["item_id"]: r for r in csv.DictReader(file)}
    with (folder / f"{name}.verdicts.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with (tmp_path / "t.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*rows[0], "cluster_id", "unclear"])
        for r in rows:
            item = items[r["item_id"]]
            unclear = "1" if item["clear"] == "0" else "0"
            writer.writerow([*r.values(), item["cluster_id"], unclear])
    made = audit.import_verdicts(
        tmp_path / "t.csv", out=tmp_path / "run", ambiguous="unclear", assume_certified=True
    )
    assert {"item", "condition", "repeat", "verdict", "outcome", "cluster"} == made.guessed
    mine = {
        (s.metric, s.condition, s.treatment, s.stratum): s for s in audit.score(made.folder).scores
    }
    wanted = read_judge(folder, name).scores().scores
    assert len(wanted) == len(mine)
    for s in wanted:
        found = mine[s.metric, s.condition, s.treatment, s.stratum]
        assert (s.value, s.low, s.high, s.p_value, s.n_items, s.n_clusters) == (
            found.value,
            found.low,
            found.high,
            found.p_value,
            found.n_items,
            found.n_clusters,
        ), s.metric
