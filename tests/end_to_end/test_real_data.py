"""Real datasets through the command line: what they hold, and a whole audit of R-Judge."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from loopback import MODEL, Loopback


def judgeaudit(*words: object) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, "-m", "judgeaudit", *map(str, words)],
        capture_output=True, text=True, check=False, env=env | {"OPENAI_API_KEY": "sk-none"},
    )  # fmt: skip


# items, safe, unsafe, ambiguous: the README of the data, and the sample's own
COUNTS = {
    "sample": (["sample"], 72, 36, 36, 14),
    "by_category": (["rjudge", "--data", "rjudge/by_category"], 571, 270, 301, None),
    "agentauditor": (["rjudge", "--data", "rjudge/agentauditor"], 564, 266, 298, None),
    "agentauditor_file": (
        ["rjudge", "--data", "rjudge/agentauditor/rjudge.json"], 564, 266, 298, None,
    ),
    "website_v1": (["rjudge", "--data", "rjudge/website_v1"], 162, 57, 105, None),
    "security": (["assebench", "--data", "assebench"], 817, 408, 409, 55),
    "security_file": (
        ["assebench", "--data", "assebench/dataset/AgentJudge-security.json"], 817, 408, 409, 55,
    ),
}  # fmt: skip


def show(shared: Path, words: list[str]) -> subprocess.CompletedProcess[str]:
    at = [str(shared / "data" / w) if "--data" in words[:k] else w for k, w in enumerate(words)]
    done = judgeaudit("corpus", "show", *at, "--json")
    assert 0 == done.returncode, done.stderr
    return done


@pytest.mark.parametrize("name", COUNTS)
def test_corpus_show_has_the_published_counts(shared, name):
    words, items, safe, unsafe, ambiguous = COUNTS[name]
    facts = json.loads(show(shared, words).stdout)
    assert (items, safe, unsafe, 0, ambiguous) == (
        facts["n_items"], facts["n_safe"], facts["n_unsafe"], facts["n_unlabelled"],
        facts["n_ambiguous"],
    )  # fmt: skip


def test_corpus_show_in_words_has_them_too(shared):
    done = judgeaudit("corpus", "show", "rjudge", "--data", shared / "data/rjudge/by_category")
    rows = dict(line.split(None, 1) for line in done.stdout.splitlines() if line[:3] != "by ")
    assert ("571", "138", "301", "270", "not known") == tuple(
        rows[w] for w in ("items", "clusters", "unsafe", "safe", "ambiguous")
    )
    strata = [line for line in done.stdout.splitlines() if line.startswith("by category")]
    for wanted in ("Application 252", "Finance 126", "IoT 30", "Program 128", "Web 35"):
        assert wanted in strata[0]


@pytest.mark.slow
def test_a_hundred_items_of_rjudge_cost_as_many_requests_as_planned(shared, tmp_path):
    items, controls = 100, 40
    planned = items * (5 + 7 * 2) + controls * 3 * 2
    data = shared / "data/rjudge/by_category"
    out = tmp_path / "run"
    with Loopback("hash") as server:
        words = [
            *("audit", "--corpus", "rjudge", "--data", data, "--judge", f"openai/{MODEL}"),
            *("--api-base", server.api_base, "--limit", items, "--out", out),
        ]
        said = judgeaudit(*words, "--plan")
        assert f" {planned:,} calls" in said.stdout
        assert 0 == server.n_requests
        done = judgeaudit(*words)
        assert 0 == done.returncode, done.stderr
        assert planned == server.n_requests
        # as often as its cell: 5 base calls and 2 of the placebo are one prompt
        times = Counter(Counter(s.prompt for s in server.seen).values())
        again = judgeaudit(*words)
        assert 0 == again.returncode, again.stderr
        assert planned == server.n_requests
    assert {7, 2} >= set(times)
    assert items == times[7]
    card = json.loads((out / "card.json").read_text("utf-8"))
    facts = card["facts"]
    assert (planned, planned, planned) == (
        facts["n_planned"], facts["n_answered"], facts["requests"],
    )  # fmt: skip
    assert items == facts["corpus"]["n_items"]
    assert "default" == facts["protocol"]["preset"]
    scores = {(s["metric"], s["condition"]): s for s in card["scores"]["scores"]}
    placebo = scores["delta_debiased", "T0"]
    assert (0.0, items) == (placebo["value"], placebo["n_items"])
    share = scores["undue_share", None]
    assert share["value"] is None
    assert "ambiguity" in share["why_undefined"]
