"""Agreement and juries on real ratings: two raters, two judges that grade, a judge and rules."""

from __future__ import annotations

import csv
import json
import re
from collections import defaultdict
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from judgeaudit import audit, cards
from judgeaudit.engine.ledger import Ledger
from judgeaudit.review.jury import jury_of_table
from judgeaudit.stats.many_raters import alpha_of, many_raters
from judgeaudit.stats.two_raters import misleading, two_raters


@pytest.fixture
def other(shared: Path) -> Path:
    folder = shared / "data" / "other"
    if not folder.is_dir():
        pytest.skip("the folder data/other is not among the shared research data")
    return folder


# -- two raters, one rare label -------------------------------------------------------------------


@pytest.fixture
def annotations(other) -> dict[tuple[str, str, str], dict[str, str]]:
    """Return rater -> "Yes" or "No" (side effect) by trajectory."""
    path = other / "agentrewardbench_annotations" / "annotations.csv"
    if not path.is_file():
        pytest.skip("agentrewardbench_annotations is not there")
    out: dict[tuple[str, str, str], dict[str, str]] = defaultdict(dict)
    with path.open(encoding="utf-8", newline="") as file:
        for r in csv.DictReader(file):
            key = r["benchmark"], r["task_id"], r["model_name"]
            if r["trajectory_side_effect"] in {"Yes", "No"}:
                out[key][r["annotator_name"].strip()] = r["trajectory_side_effect"]
    return dict(out)


def votes_of(annotations) -> tuple[np.ndarray, np.ndarray]:
    raters = sorted({r for v in annotations.values() for r in v})
    keys = sorted(annotations)
    code = {"Yes": 1, "No": 0, None: -1}
    votes = np.array([[code[annotations[k].get(r)] for r in raters] for k in keys], dtype=np.int8)
    tasks = {t: n for n, t in enumerate(sorted({k[1] for k in keys}))}
    return votes, np.array([tasks[k[1]] for k in keys])


def test_eight_raters_with_most_votes_missing(annotations):
    votes, tasks = votes_of(annotations)
    assert 8 == votes.shape[1]
    found = many_raters(votes, tasks)
    twice = [list(v.values()) for v in annotations.values() if len(v) > 1]
    assert len(twice) == found.n_items > 100
    agree = np.mean([len(set(v)) == 1 for v in twice])
    assert pytest.approx(agree) == found.figures["observed"].value
    both = sum(v.count("Yes") == 2 for v in twice)
    mixed = sum(len(set(v)) == 2 for v in twice)
    assert {2} == {len(v) for v in twice}
    assert pytest.approx(2 * both / (2 * both + mixed)) == found.figures["positive"].value
    # one label is rare: alpha is far below the share that agrees, AC1 is not
    assert found.figures["ac1"].value > found.figures["observed"].value - 0.1
    assert found.figures["alpha"].value < found.figures["ac1"].value - 0.2
    for figure in found.figures.values():
        assert figure.interval.low <= figure.value <= figure.interval.high


def test_two_raters_as_a_run(annotations, tmp_path):
    """One rater plays the judge, the other the rater: import, score, card, without any model."""
    rows = ["id,verdict,rater,task"]
    words = {"Yes": "UNSAFE", "No": "SAFE"}
    for n, (key, votes) in enumerate(sorted(annotations.items())):
        said = [words[v] for _, v in sorted(votes.items())]
        if len(said) == 2:
            rows.append(f"{n},{said[0]},{said[1]},{key[1]}")
    (tmp_path / "v.csv").write_text("\n".join(rows) + "\n")
    made = audit.import_verdicts(
        tmp_path / "v.csv", out=tmp_path / "run", item="id", verdict="verdict", rater=["rater"],
        cluster="task", one_condition="base",
    )  # fmt: skip
    scores = audit.score(made.folder)
    kappa = scores.find("agreement_kappa", stratum="judge and raters")
    assert len(rows) - 1 == kappa.n_items
    assert "of the labels are SAFE" in kappa.note
    observed = scores.find("agreement_observed", stratum="judge and raters")
    same = np.mean([len(set(r.split(",")[1:3])) == 1 for r in rows[1:]])
    assert pytest.approx(same) == observed.value
    page = cards.to_html(audit.card(made.folder))
    assert "Agreement with the labels" in page
    assert "Where people differ" in page
    with Ledger.open_readonly(made.folder / "ledger.sqlite") as view:
        assert ("rater",) == view.table().raters


# -- two judges that grade ------------------------------------------------------------------------


@pytest.fixture
def graded(other) -> tuple[np.ndarray, np.ndarray]:
    """Return grades 0 (harm) to 3 (none) by both judges, shape (90, 2), and cases as clusters."""
    folder = other / "toolemu_dual_judge"
    if not folder.is_dir():
        pytest.skip("toolemu_dual_judge is not there")
    grades: dict[tuple[str, int], dict[str, int]] = defaultdict(dict)
    cases: dict[tuple[str, int], int] = {}
    for path in sorted((folder / "trajectories").glob("*.jsonl")):
        agent, part = path.name.partition("_emu")[0], re.search(r"_r(\d+)-", path.name)[1]
        for n, line in enumerate(path.read_text("utf-8").splitlines()):
            cases[agent, int(part) * 100 + n] = json.loads(line)["case_idx"]
    for judge in ("q32", "gpt5m"):
        for path in sorted((folder / f"judge_{judge}").glob("*.jsonl")):
            agent, part = path.name.partition("_emu")[0], re.search(r"_r(\d+)-", path.name)[1]
            for line in path.read_text("utf-8").splitlines():
                record = json.loads(line)
                key = agent, int(part) * 100 + record["eval_id"]
                grades[key][judge] = record["eval_scores"]["ToolCallRisk"]
    keys = sorted(grades)
    assert {2} == {len(grades[k]) for k in keys}
    both = np.array([[grades[k]["q32"], grades[k]["gpt5m"]] for k in keys])
    return both, np.array([cases[k] for k in keys])


def test_judges_that_grade(graded):
    """The figures that the data's own notes give: .467 exact, .72 and kappa .449 at a cut."""
    grades, cases = graded
    assert (90, 45) == (len(grades), len(set(cases.tolist())))
    assert pytest.approx(0.467, abs=5e-4) == np.mean(grades[:, 0] == grades[:, 1])
    harsh = (grades <= 1) * 1.0
    found = two_raters(harsh[:, 0], harsh[:, 1], cases)
    assert pytest.approx(0.72, abs=5e-3) == found.figures["observed"].value
    assert pytest.approx(0.449, abs=5e-4) == found.figures["kappa"].value
    assert pytest.approx(0.49 - 0.70, abs=6e-3) == found.bias_index
    assert misleading(found) is None


def test_alpha_of_grades_by_all_pairs(graded):
    grades, cases = graded
    flat = grades.ravel().tolist()
    n = [flat.count(k) for k in range(4)]

    def ranks(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        return (sum(n[low : high + 1]) - (n[low] + n[high]) / 2) ** 2

    distances = {
        "nominal": lambda a, b: float(a != b),
        "ordinal": ranks,
        "interval": lambda a, b: float((a - b) ** 2),
    }
    for scale, apart in distances.items():
        seen = np.mean([apart(a, b) for a, b in grades.tolist()])
        by_chance = np.mean([apart(a, b) for a, b in permutations(flat, 2)])
        found = alpha_of(grades, cases, scale=scale, values=(0, 1, 2, 3))
        assert pytest.approx(1 - seen / by_chance) == found.value
        assert found.interval.low < found.value < found.interval.high
    # quadratic kappa, which the data's notes give, forgives that one judge is harsher; alpha does not
    first, second = grades.T
    by_chance = np.mean((first[:, None] - second[None, :]) ** 2)
    quadratic = 1 - np.mean((first - second) ** 2) / by_chance
    assert pytest.approx(0.476, abs=5e-4) == quadratic
    assert found.value < quadratic


def test_two_judges_are_a_jury_without_labels(graded, tmp_path):
    grades, cases = graded
    rows = [
        f"{n},{int(a <= 1)},{int(b <= 1)},{c}"
        for n, ((a, b), c) in enumerate(zip(grades.tolist(), cases, strict=True))
    ]
    (tmp_path / "t.csv").write_text("id,q32,gpt5m,case\n" + "\n".join(rows) + "\n")
    found = jury_of_table(
        tmp_path / "t.csv", ["q32", "gpt5m"], cluster="case", words=["1=UNSAFE", "0=SAFE"]
    )
    kappa = found.find("jury_agreement_kappa", stratum="q32 and gpt5m")
    assert pytest.approx(0.449, abs=5e-4) == kappa.value
    assert 45 == kappa.n_clusters
    assert "nothing tells which of two that differ is right" in found.reasons["latent"]
    assert pytest.approx(0.49, abs=5e-3) == found.find("jury_unsafe_rate", stratum="q32").value


# -- a judge and rules ----------------------------------------------------------------------------


def test_a_judge_against_rules(other, tmp_path):
    """OpenAgentSafety: labels -1 and results -1 are neither safe nor unsafe, but missing."""
    folder = other / "openagentsafety" / "judge"
    if not folder.is_dir():
        pytest.skip("openagentsafety is not there")
    rows, left = [], 0
    for path in sorted(folder.glob("*_safety_eval_results.json")):
        for task, told in json.loads(path.read_text("utf-8")).items():
            label = int(re.search(r"(-?\d+)\s*$", str(told["llm_label"]))[1])
            rule = int(told["rule_based_score"])
            left += label < 0 or rule < 0
            said = "refusal" if label < 0 else "UNSAFE" if label == 2 else "SAFE"
            # the tasks' checkpoints describe the unsafe act: a rule's 1 says that it was found
            gold = "" if rule < 0 else "UNSAFE" if rule else "SAFE"
            rows.append(f"{path.stem}:{task},base,{said},{gold},{task}")
    (tmp_path / "v.csv").write_text("id,condition,verdict,gold,task\n" + "\n".join(rows) + "\n")
    made = audit.import_verdicts(
        tmp_path / "v.csv", out=tmp_path / "run", gold_source="rule", cluster="task"
    )
    scores = audit.score(made.folder)
    found = {
        s.metric.removeprefix("agreement_"): s
        for s in scores.scores
        if s.stratum == "judge and labels"
    }
    both = [r.split(",") for r in rows]
    both = [(r[2], r[3]) for r in both if r[2] != "refusal" and r[3]]
    assert 1218 == len(rows)
    assert len(rows) - left == len(both) == found["observed"].n_items
    assert pytest.approx(np.mean([a == b for a, b in both])) == found["observed"].value
    a = sum(p == ("UNSAFE", "UNSAFE") for p in both)
    either = sum("UNSAFE" in p for p in both)
    assert pytest.approx(2 * a / (a + either)) == found["positive"].value
    # tasks recur over four models: clusters, not items, carry the interval
    assert found["kappa"].n_clusters < found["kappa"].n_items / 2
    assert all(s.low <= s.value <= s.high for s in found.values())
