"""`judgeaudit policy delta` and `policy wordings`, over real runs of scripted judges."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgeaudit import audit
from judgeaudit.cards import words
from judgeaudit.cli.policy_runs import app
from judgeaudit.core.errors import ConfigError, LedgerError


def run(*args: str) -> str:
    result = CliRunner().invoke(app, list(args))
    if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert 0 == result.exit_code, result.output
    return result.output


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    for policy, judge in (
        ("company_standard", "brittle_t4"),
        ("one_norm", "brittle_t4"),
        ("agent_safety", "brittle_t4"),
        ("finance", "noisy"),
    ):
        audit.run(
            judge=f"scripted:{judge}",
            preset="quick",
            policy=policy,
            conditions=("base", "T1", "T2", "T4"),
            wordings=2,
            limit=12,
            out=folder / policy,
        )
    return {p.name: p for p in folder.iterdir()}


THREE = ("company_standard", "one_norm", "agent_safety")


def test_delta_is_printed_against_the_number_of_norms(runs: dict[str, Path]):
    out = run("delta", *(str(runs[n]) for n in THREE))
    rows = re.findall(r"^ +(\d+)  (\w+) +en +(\S+) points +(\[.*?\])", out, re.MULTILINE)
    assert [("1", "one_norm"), ("8", "agent_safety"), ("40", "company_standard")] == [
        r[:2] for r in rows
    ]
    for _, name, value, interval in rows:
        score = audit.score(runs[name]).find("delta_paper", "certified")
        assert words.estimate(score) == f"{value} points"
        assert words.interval(score) == interval
    assert "Caution" not in out
    assert "a trend is a lead, not a cause" in out
    bars = [line for line in out.split("\n") if re.search(r"[-|]o|o[-|]", line)]
    assert 3 == len(bars)


def test_a_condition_of_ones_choice_is_read(runs: dict[str, Path]):
    out = run("delta", str(runs["one_norm"]), "--condition", "T4")
    score = audit.score(runs["one_norm"]).find("delta_paper", "T4")
    assert words.interval(score) in out
    assert "not computed in this run" in run("delta", str(runs["one_norm"]), "--condition", "T3")


def test_runs_that_differ_in_more_than_the_policy_are_cautioned(runs: dict[str, Path]):
    out = run("delta", str(runs["finance"]), str(runs["one_norm"] / "ledger.sqlite"))
    assert "Caution: the runs differ in more than the policy: judge.model." in out


def test_each_wording_stands_beside_its_transform(runs: dict[str, Path]):
    out = run("wordings", str(runs["agent_safety"]))
    labels = re.findall(r"^(T\d|  ) +(all|\d)  .*points .*\[", out, re.MULTILINE)
    assert [("T1", "all"), ("  ", "0"), ("  ", "1"), ("T2", "all"), ("  ", "0"), ("  ", "1"),
            ("T4", "0")] == labels  # fmt: skip
    pooled = audit.score(runs["agent_safety"]).find("delta_debiased", "T2")
    assert words.interval(pooled) in out
    assert "T4" not in run("wordings", str(runs["agent_safety"]), "--condition", "T2")


def test_what_cannot_be_read_is_named(runs: dict[str, Path], tmp_path: Path):
    with pytest.raises(LedgerError):
        run("delta", str(tmp_path))
    with pytest.raises(ConfigError, match="unknown condition 'T9'"):
        run("wordings", str(runs["one_norm"]), "--condition", "T9")
