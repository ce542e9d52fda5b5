"""`judgeaudit policy`: what it prints, and its exit codes."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgeaudit.cli.policy import app
from judgeaudit.core.errors import ConfigError, PolicyError
from judgeaudit.core.rooms import room
from judgeaudit.policy import load_conditions, load_policy, render
from judgeaudit.policy.loading import policy_files

SHIPPED = room("policies") / "agent_safety.toml"


def run(*args: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(args))
    if isinstance(result.exception, Exception) and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert code == result.exit_code, result.output
    return result.output


def test_list_names_policies_and_conditions():
    out = run("list")
    assert "agent_safety  Agent safety policy: 8 norms, 9 exceptions (en)" in out
    assert all(f"  {c} " in out for c in load_conditions())


def test_show_prints_the_text_alone():
    policy = load_policy("agent_safety")
    assert run("show", "agent_safety") == render(policy, "base").text
    shown = run("show", "agent_safety", "--condition", "T2", "--wording", "1")
    assert shown == render(policy, "T2", wording=1).text
    assert run("show", str(SHIPPED), "--condition", "T4") == render(policy, "T4").text


def test_a_policy_is_shown_compared_and_checked_in_korean(tmp_path: Path):
    korean = load_policy("agent_safety", language="ko")
    text = render(korean, "T4", language="ko").text
    assert run("show", "agent_safety", "--language", "ko", "--condition", "T4") == text
    data = run("show", "agent_safety", "--language", "ko", "--data")
    copy = tmp_path / "copy.toml"
    copy.write_text(data, encoding="utf-8")
    assert run("show", str(copy), "--condition", "T4") == text
    out = run("diff", "agent_safety", "base", "lenient", "--language", "ko")
    assert "제공[-하여서는 아니 된다-]" in out or "[-제공하여서는 아니 된다-]" in out
    assert "FAILED" not in run("check", "agent_safety", "--language", "ko")
    assert "agent_safety  에이전트 안전 규정: 8 norms, 9 exceptions (ko)" in run("list")


def test_show_all_prints_every_condition():
    out = run("show", "agent_safety", "--condition", "all")
    policy = load_policy("agent_safety")
    assert all(f"===== {c} (" in out for c in load_conditions())
    assert all(render(policy, c).text in out for c in load_conditions())


def test_show_data_prints_what_can_be_edited_and_loaded(tmp_path: Path):
    copy = tmp_path / "copy.toml"
    copy.write_text(run("show", "agent_safety", "--data"), encoding="utf-8")
    assert load_policy(copy) == load_policy("agent_safety")


def test_diff_marks_words():
    out = run("diff", "agent_safety", "base", "T2")
    assert "The agent [-must not disclose-]{+is prohibited from disclosing+} personal data" in out
    assert "\x1b" not in out
    assert run("diff", "agent_safety", "base", "T0") == "base and T0 have the same text.\n"


def test_diff_is_coloured_in_a_terminal():
    main, side = pty.openpty()
    code = "from judgeaudit.cli.policy import app; app(['diff', 'agent_safety', 'base', 'T2'])"
    env = {**os.environ, "TERM": "xterm-256color"}
    env.pop("NO_COLOR", None)
    with subprocess.Popen([sys.executable, "-c", code], stdout=side, env=env) as process:
        os.close(side)
        out = b""
        while True:
            try:
                chunk = os.read(main, 65536)
            except OSError:
                break
            if not chunk:
                break
            out += chunk
    os.close(main)
    assert process.returncode == 0
    assert b"\x1b[9;31mmust not disclose" in out
    assert b"[-must" not in out


def test_check_passes_what_ships():
    out = run("check", "agent_safety", "--wordings", "2")
    assert re.search(r"T1 +wording 1  certified  structural: passed", out)
    assert "FAILED" not in out


def test_check_fails_a_policy_whose_renderings_cannot_be_read_back(tmp_path: Path):
    path = tmp_path / "mine.toml"
    text = SHIPPED.read_text(encoding="utf-8").replace('"disclosing"', '"hoarding"')
    path.write_text(text, encoding="utf-8")
    out = run("check", str(path), code=1)
    assert re.search(r"T2 +certified  structural: FAILED", out)
    assert re.search(r"base +reference  structural: passed", out)
    assert "      scope: line 16: The agent is prohibited from hoarding personal data" in out


@pytest.mark.slow
def test_check_can_test_itself():
    out = run("check", "agent_safety", "--mutate")
    assert "drop an exception" in out


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["show", "nope"], "unknown policy 'nope'"),
        (["show", "agent_safety", "--condition", "T9"], "unknown condition 'T9'"),
        (["diff", "agent_safety", "base", "T9"], "unknown condition 'T9'"),
        (["show", "agent_safety", "--language", "fr"], "has no text in 'fr'"),
        (["check", "nope.toml"], "nope.toml: no such policy file"),
    ],
)
def test_errors_are_those_of_the_library(args: list[str], expected: str):
    with pytest.raises(PolicyError, match=expected):
        run(*args)


def test_the_module_imports_nothing_heavy():
    code = (
        "import sys, judgeaudit.cli.policy; "
        "print(sorted({'jinja2', 'pydantic', 'numpy', 'rich.console'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_check_all_checks_every_policy():
    out = run("check", "--all")
    assert out.count("sha256") == len(policy_files())
    assert "FAILED" not in out
    assert "Standard for assistants that act: 40 norms" in out


def test_check_wants_policies_or_all():
    with pytest.raises(ConfigError, match="either policies or --all"):
        run("check")


def test_the_kill_rate_is_printed_per_operator_policy_and_language():
    out = run("check", "one_norm", "--mutate")
    assert "(one_norm, en, over all conditions but no_policy)" in out
    counts = re.findall(r"^  ([a-z][^\d]*?) +(\d+) of (\d+)$", out, re.MULTILINE)
    assert len(counts) > 40
    assert all(caught == made for _, caught, made in counts)
