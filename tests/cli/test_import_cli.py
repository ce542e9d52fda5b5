"""`judgeaudit import`: what a user types, and sees."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path


def cli(cwd: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "judgeaudit", *words],
        cwd=cwd, env=os.environ, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_import_score_card(tmp_path):
    rows = [
        f"i{k},{c},{r},{'Harmful' if k % 2 else 'fine'},{'Harmful' if k % 3 else 'fine'}\n"
        for k in range(30)
        for c in ("original", "paraphrase")
        for r in range(2)
    ]
    (tmp_path / "v.csv").write_text("id,wording,k,label,truth\n" + "".join(rows))
    made = cli(
        tmp_path, "import", "v.csv", "--out", "run", "--item", "id", "--condition", "wording",
        "--repeat", "k", "--verdict", "label", "--gold", "truth", "--map", "original=base",
        "--map", "paraphrase=T2", "--label", "harmful=UNSAFE", "--label", "fine=SAFE",
        "--judge", "acme/one", "--assume-certified",
    )  # fmt: skip
    assert (0, "") == (made.returncode, made.stderr)
    assert "item = 'id', condition = 'wording'" in made.stdout
    assert "(guessed)" not in made.stdout
    assert "120 calls of 30 items, 120 rows" in made.stdout
    scored = cli(tmp_path, "score", "run", "--json")
    scores = {
        (s["metric"], s["condition"]): s
        for s in json.loads(scored.stdout)["scores"]
        if s["treatment"] == "exclude"
    }
    assert 0.0 == scores["delta_paper", "certified"]["value"]
    assert 0.5 == scores["accuracy", None]["value"]
    assert 0 == cli(tmp_path, "card", "run").returncode
    page = (tmp_path / "run" / "card.html").read_text("utf-8")
    assert "Verdicts were imported from" in page
    assert "acme/one" in page
    assert 0 == cli(tmp_path, "ledger", "verify", "run").returncode


def test_a_guess_is_printed_and_an_error_is_one_line(tmp_path):
    (tmp_path / "v.csv").write_text("id,condition,verdict\na,base,safe\nb,base,1\n")
    bad = cli(tmp_path, "import", "v.csv", "--out", "run")
    assert (2, "") == (bad.returncode, bad.stdout)
    assert bad.stderr.startswith("judgeaudit: v.csv:3: the verdict is '1'")
    assert 1 == bad.stderr.count("\n")
    assert not (tmp_path / "run").exists()
    good = cli(tmp_path, "import", "v.csv", "--out", "run", "--label", "1=UNSAFE")
    assert "item = 'id' (guessed), condition = 'condition' (guessed)" in good.stdout
