"""`judgeaudit policy render`: every policy, every condition, every language."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgeaudit.cli.policy_render import app
from judgeaudit.core.errors import ConfigError
from judgeaudit.core.rooms import room
from judgeaudit.policy import load_conditions, load_policy, render
from judgeaudit.policy.loading import policy_files


def run(*args: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["render", *args])
    if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code == result.exit_code, result.output
    return result.output


@pytest.mark.slow
def test_all_prints_every_policy_under_every_condition_in_every_language():
    out = run("--all")
    heads = re.findall(r"^===== (\w+) / (\w+) / (\w+) / (\w+) =====$", out, re.MULTILINE)
    policies = [load_policy(path) for path in policy_files()]
    wanted = [(p.id, c, p.language, "passed") for p in policies for c in load_conditions()]
    assert wanted == heads
    assert render(load_policy("company_standard"), "T1T2T4").text in out


def test_chosen_policies_conditions_and_wordings():
    out = run("one_norm", "finance", "--condition", "T1", "--condition", "T2", "--wording", "1")
    assert 4 == out.count("=====\n")
    assert render(load_policy("finance"), "T2", wording=1).text in out


def test_a_text_that_does_not_certify_is_named_and_ends_in_1(tmp_path: Path):
    path = tmp_path / "mine.toml"
    text = (room("policies") / "one_norm.toml").read_text(encoding="utf-8")
    path.write_text(text.replace('"taking"', '"talking"'), encoding="utf-8")
    out = run(str(path), "--condition", "T2", code=1)
    assert "===== one_norm / T2 / en / FAILED =====" in out
    assert "scope: line 9: The agent is prohibited from talking an irreversible action" in out


@pytest.mark.parametrize("args", [[], ["one_norm", "--all"]])
def test_it_wants_policies_or_all(args: list[str]):
    with pytest.raises(ConfigError, match="give policies"):
        run(*args)
