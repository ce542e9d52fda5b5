"""The recipes of docs/howto_import_ratings.md, as they stand there, on the data that they name."""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from judgeaudit import audit
from judgeaudit.core.records import ScoreSet
from judgeaudit.engine.ledger import Ledger

PAGE = Path(__file__).parents[2] / "docs" / "howto_import_ratings.md"
SHELL = 'set -e\njudgeaudit() { "$PYTHON" -m judgeaudit "$@"; }\n'


def recipe(shared: Path, folder: Path, heading: str, data: str) -> str:
    """Run the commands below a heading in a shell; return what they print."""
    source = shared / "data" / "other"
    if not (source / data).is_dir():
        pytest.skip(f"{data} is not among the shared research data")
    text = PAGE.read_text("utf-8").partition(f"## {heading}\n")[2]
    (block,) = re.findall(r"```sh\n(.*?)```", text.partition("\n## ")[0], re.DOTALL)
    done = subprocess.run(
        ["bash", "-c", SHELL + block],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "DATA": str(source), "PYTHON": sys.executable},
    )
    assert (0, "") == (done.returncode, done.stderr)
    return done.stdout


def value(scores: ScoreSet, metric: str, **more: str) -> float:
    found = scores.find(metric, **more)
    assert found.value is not None, found.why_undefined
    assert found.low <= found.value <= found.high
    return found.value


def test_two_raters_a_rating_a_row(shared, tmp_path):
    printed = recipe(shared, tmp_path, "Two raters, a rating a row", "agentrewardbench_annotations")
    votes = defaultdict(list)
    path = shared / "data" / "other" / "agentrewardbench_annotations" / "annotations.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for r in csv.DictReader(file):
            votes[r["task_id"], r["model_name"]].append(r["trajectory_side_effect"])
    assert "1408 records" in printed
    assert {1: 1196, 2: 106} == Counter(map(len, votes.values()))
    pairs = Counter(tuple(v) for v in votes.values() if len(v) == 2 and "Unsure" not in v)
    a, d = pairs["Yes", "Yes"], pairs["No", "No"]
    n = pairs.total()
    assert 106 == n
    scores = audit.score(tmp_path / "raters")
    between = "judge and raters"
    assert value(scores, "agreement_observed", stratum=between) == pytest.approx((a + d) / n)
    assert value(scores, "agreement_positive", stratum=between) == pytest.approx(
        2 * a / (n + a - d)
    )
    q = (2 * a + pairs["Yes", "No"] + pairs["No", "Yes"]) / (2 * n)
    chance = 2 * q * (1 - q)
    ac1 = ((a + d) / n - chance) / (1 - chance)
    assert value(scores, "agreement_ac1", stratum=between) == pytest.approx(ac1)
    caught = a / (a + pairs["No", "Yes"])
    assert value(scores, "tpr") == pytest.approx(caught)
    first = [v[0] for v in votes.values() if v[0] != "Unsure"]
    rate = next(s for s in scores.scores if s.metric == "unsafe_rate" and s.condition == "base")
    assert rate.value == pytest.approx(first.count("Yes") / len(first))
    assert 1 == sum(v[0] == "Unsure" for v in votes.values())
    assert "1 row was left out: the verdict is Unsure, by --label." in printed


def grades(folder: Path) -> dict[tuple[str, str, int], dict[str, int]]:
    out: dict[tuple[str, str, int], dict[str, int]] = defaultdict(dict)
    for judge in ("judge_q32", "judge_gpt5m"):
        for path in (folder / judge).glob("*.jsonl"):
            agent, part = path.name.partition("_emu")[0], re.search(r"_r(\d+-\d+)_", path.name)[1]
            for line in path.read_text("utf-8").splitlines():
                record = json.loads(line)
                key = agent, part, record["eval_id"]
                out[key][judge] = record["eval_scores"]["ToolCallRisk"]
    return out


@pytest.mark.slow
def test_two_judges_that_grade(shared, tmp_path):
    printed = recipe(shared, tmp_path, "Two judges that grade", "toolemu_dual_judge")
    by = grades(shared / "data" / "other" / "toolemu_dual_judge")
    assert 90 == len(by)
    both = [(g["judge_q32"], g["judge_gpt5m"]) for g in by.values()]
    for n, judge in enumerate(("Qwen_Qwen3-32B", "gpt-5-mini")):
        with Ledger.open_readonly(tmp_path / judge / "ledger.sqlite") as view:
            assert 45 == len(set(view.table().clusters.tolist()))
            kept = Counter(t for (t,) in view.connection.execute("SELECT text FROM replies"))
        assert Counter(str(pair[n]) for pair in both) == kept
        scores = audit.score(tmp_path / judge)
        (rate,) = [s for s in scores.scores if s.metric == "unsafe_rate" and s.condition == "base"]
        assert rate.value == pytest.approx(sum(pair[n] < 2 for pair in both) / 90)
        assert scores.find("accuracy").value is None
    # the figures that are known of these files: agreement .72 and kappa .449 at this line
    assert re.search(r"jury_agreement_observed .* 72\.2%", printed)
    assert re.search(r"jury_agreement_kappa .* 0\.449", printed)
    only = [sum(a < 2 <= b for a, b in both), sum(b < 2 <= a for a, b in both)]
    assert f"only the first {only[0]}, only the second {only[1]} of 90" in printed
    tenth = sorted(b for _, b in both)[8]
    assert re.search(rf"^ *quantile +{tenth}\b", printed, re.MULTILINE), printed


def test_a_judge_and_rules(shared, tmp_path):
    printed = recipe(shared, tmp_path, "A judge and rules", "openagentsafety")
    seen: Counter[tuple[int, int]] = Counter()
    for path in (shared / "data" / "other" / "openagentsafety" / "judge").glob("*.json"):
        for told in json.loads(path.read_text("utf-8")).values():
            label = int(told["llm_label"].rpartition(":")[2])
            seen[label, int(told["rule_based_score"])] += 1
    assert 1218 == seen.total()
    left = sum(n for (label, _), n in seen.items() if label == -1)
    assert f"{left} rows were left out: the verdict is -1, by --label." in printed
    scores = audit.score(tmp_path / "rules")
    tp, fn = seen[2, 1], seen[1, 1] + seen[0, 1]
    fp, tn = seen[2, 0], seen[1, 0] + seen[0, 0]
    assert value(scores, "tpr") == pytest.approx(tp / (tp + fn))
    assert value(scores, "tnr") == pytest.approx(tn / (tn + fp))
    n = tp + fn + fp + tn
    assert value(scores, "agreement_observed", stratum="judge and labels") == pytest.approx(
        (tp + tn) / n
    )
    says, is_so = (tp + fp) / n, (tp + fn) / n
    chance = says * is_so + (1 - says) * (1 - is_so)
    kappa = ((tp + tn) / n - chance) / (1 - chance)
    assert value(scores, "agreement_kappa", stratum="judge and labels") == pytest.approx(kappa)
    assert kappa > 0.2


def test_a_rule_that_is_1_says_that_the_unsafe_act_was_found(shared):
    """What decides the direction of those labels: the checkpoint says the act, the rule finds it."""
    folder = shared / "data" / "other" / "openagentsafety"
    if not folder.is_dir():
        pytest.skip("openagentsafety is not among the shared research data")
    told = (folder / "tasks" / "safety-bypass-auth" / "checkpoints.md").read_text("utf-8")
    assert "uses or writes the internal backdoor token" in told
    found = json.loads((folder / "gpt-4o" / "eval_safety-bypass-auth.json").read_text("utf-8"))
    assert {"total": 1, "result": 1} == found["final_score"]
