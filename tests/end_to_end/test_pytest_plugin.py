"""The pytest plugin in a project outside this repository, by a pytest of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = '''
import unittest

import pytest

def asks(messages):
    """Judge by a word; the policy stands above the trajectory."""
    assert {"role", "content"} <= set(messages[0])
    asks.calls += 1
    return "Verdict: UNSAFE" if "delete" in messages[-1]["content"] else "Verdict: SAFE"

asks.calls = 0

async def later(messages):
    return '{"verdict": "SAFE"}'

def raises(messages):
    raise ValueError("out of order")

QUIET = {"judge": "scripted:quiet", "preset": "quick"}

@pytest.mark.judgeaudit(**QUIET, accuracy_at_least=0.5)
def test_passes(judgeaudit_result):
    assert judgeaudit_result.facts.n_answered == 240

@pytest.mark.judgeaudit(**QUIET, accuracy_at_least=0.5)
def test_the_body_still_fails():
    assert "body" == "soul"

@pytest.mark.judgeaudit(judge="scripted:always_safe", preset="quick", gate="gate.toml")
def test_fails():
    raise AssertionError("a bar that fails comes first")

@pytest.mark.judgeaudit(judge="scripted:noisy", preset="quick", baseline="base", inconclusive="fail")
def test_fails_against_a_baseline():
    pass

@pytest.mark.judgeaudit(**QUIET, accuracy_at_least=0.9)
def test_skips():
    raise AssertionError("nothing is decided, so nothing is run")

@pytest.mark.judgeaudit(**QUIET, delta_paper_at_most={"certified": 0.0001}, inconclusive="xfail")
def test_xfails():
    pass

@pytest.mark.judgeaudit(judge="scripted:nobody", accuracy_at_least=0.5)
def test_errors():
    pass

@pytest.mark.judgeaudit(**QUIET)
@pytest.mark.parametrize("k", [1, 2])
def test_errors_without_a_bar(k):
    pass

@pytest.mark.judgeaudit(**QUIET, acuracy_at_least=0.5)
def test_a_mistyped_bar():
    pass

@pytest.mark.judgeaudit(judge=asks, preset="quick", limit=16, jitter_at_most={"base": 0.9})
class TestFunction:
    def test_passes(self, judgeaudit_result):
        assert judgeaudit_result.facts.judge.model.endswith("asks")
        assert asks.calls == judgeaudit_result.facts.n_planned

    @pytest.mark.judgeaudit(jitter_at_most={"base": 0.8})
    def test_is_asked_once_for_both(self, judgeaudit_result):
        assert asks.calls == judgeaudit_result.facts.n_planned

def test_fixtures(judgeaudit_audit, judgeaudit_gate):
    run = judgeaudit_audit(later, preset="quick", limit=16)
    found = judgeaudit_gate(run, jitter_at_most={"base": 0.9})
    assert found.outcome == "pass"
    judgeaudit_gate(run, tpr_at_least=0.99)

def test_a_bar_that_is_none(judgeaudit_gate):
    judgeaudit_gate("base", accuracy=0.2)

def test_a_function_that_raises(judgeaudit_audit):
    judgeaudit_audit(raises, preset="quick", limit=16)

class TestOld(unittest.TestCase):
    @pytest.mark.judgeaudit(judge="scripted:always_safe", preset="quick", gate="gate.toml")
    def test_a_method_of_unittest(self):
        pass

def test_is_left_alone():
    pass
'''
WANTED = {
    "test_passes": "passed",
    "test_the_body_still_fails": "failed",
    "test_fails": "failed",
    "test_fails_against_a_baseline": "failed",
    "test_skips": "skipped",
    "test_xfails": "skipped",
    "test_errors": "error",
    "test_errors_without_a_bar[1]": "error",
    "test_errors_without_a_bar[2]": "error",
    "test_a_mistyped_bar": "failed",
    "test_is_asked_once_for_both": "passed",
    "test_fixtures": "failed",
    "test_a_bar_that_is_none": "failed",
    "test_a_function_that_raises": "failed",
    "test_a_method_of_unittest": "failed",
    "test_is_left_alone": "passed",
}


def installed(home: Path) -> dict[str, str]:
    """Install judgeaudit's entry points, as an installer writes them; return the environment."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        points = tomllib.load(file)["project"]["entry-points"]
    info = home / "site" / "judgeaudit-0+test.dist-info"
    info.mkdir(parents=True)
    info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: judgeaudit\nVersion: 0\n")
    info.joinpath("entry_points.txt").write_text(
        "".join(
            f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in named.items())
            for group, named in points.items()
        )
    )
    # pytest rewrites the asserts of all that the distribution lists
    files = sorted((ROOT / "judgeaudit").rglob("*.py"))
    record = "".join(f"{f.relative_to(ROOT).as_posix()},,\n" for f in files)
    info.joinpath("RECORD").write_text(record)
    kept = {n: os.environ[n] for n in ("PATH", "HOME", "TMPDIR") if n in os.environ}
    return {**kept, "PYTHONPATH": f"{info.parent}:{ROOT}", "PYTHONPYCACHEPREFIX": str(home / "pyc")}


def pytest_in(project: Path, env: dict[str, str], *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider", *args],
        cwd=project, env=env, text=True, capture_output=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Make a project that has judgeaudit installed, and a run to hold others against."""
    home = tmp_path_factory.mktemp("outside")
    env = installed(home)
    project = home / "project"
    project.mkdir()
    project.joinpath("test_judges.py").write_text(TESTS, encoding="utf-8")
    project.joinpath("gate.toml").write_text('[[bar]]\nmetric = "accuracy"\nat_least = 0.9\n')
    project.joinpath("pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    subprocess.run(
        [sys.executable, "-m", "judgeaudit", "audit", "--judge", "scripted:always_unsafe",
         "--preset", "quick", "--out", "base", "--quiet"],
        cwd=project, env=env, check=True, capture_output=True,
    )  # fmt: skip
    return project, env


@pytest.mark.slow
def test_an_audit_is_a_test(project):
    folder, env = project
    done = pytest_in(folder, env, "--junitxml=junit.xml", "-rsx")
    root = ET.parse(folder / "junit.xml").getroot()
    found: dict[str, list[str]] = {}
    for case in root.iter("testcase"):
        ends = [c.tag for c in case if c.tag in {"failure", "error", "skipped"}]
        words = {"failure": "failed", "skipped": "skipped", "error": "error"}
        found.setdefault(case.get("name"), []).append(words[ends[0]] if ends else "passed")
    assert ["passed", "passed"] == found.pop("test_passes"), done.stdout
    assert {k: [v] for k, v in WANTED.items() if k != "test_passes"} == found, done.stdout
    said = done.stdout
    assert "judgeaudit: fail: 0 of 1 bars pass, 1 fail, 0 inconclusive." in said
    assert re.search(r"fail: accuracy: 0\.5 \[.*\], at least 0\.9: the whole interval misses", said)
    assert "fail: verdicts: " in said
    assert re.search(
        r"^SKIPPED .* judgeaudit: inconclusive: .*; about \d+ more items", said, re.MULTILINE
    )
    assert "unknown scripted judge 'nobody'" in said
    assert "the marker holds no bar" in said
    assert "did you mean 'accuracy'" in said
    assert "accuracy= is no bar" in said
    assert "During handling" not in said
    assert "test_judges.py" not in said.partition("test_errors _")[2].partition("____")[0]
    properties = {
        (p.get("name"), p.get("value"))
        for case in root.iter("testcase")
        if case.get("name") == "test_fails"
        for p in case.iter("property")
    }
    assert ("judgeaudit_outcome", "fail") in properties


@pytest.mark.slow
def test_inconclusive_is_what_the_project_says_and_never_a_pass(project):
    folder, env = project
    for way, end in (("fail", "1 failed"), ("xfail", "1 xfailed"), ("sleep", "1 failed")):
        done = pytest_in(folder, env, "-k", "test_skips", "-o", f"judgeaudit_inconclusive={way}")
        assert end in done.stdout, done.stdout
    assert "It must be skip, xfail, fail" in done.stdout
    done = pytest_in(folder, env, "-k", "test_xfails", "--runxfail")
    assert "1 failed" in done.stdout


@pytest.mark.slow
def test_runs_may_be_kept(project):
    folder, env = project
    for _ in range(2):
        done = pytest_in(folder, env, "-k", "test_skips", "-o", "judgeaudit_out=kept")
        assert "1 skipped" in done.stdout
    assert 1 == len(list((folder / "kept").glob("*/ledger.sqlite")))
    pytest_in(folder, env, "-k", "TestFunction", "-o", "judgeaudit_out=kept")
    assert 1 == len(list((folder / "kept").iterdir())), "a function's answers are not kept"


def test_a_pytest_that_marks_nothing_loads_nothing(tmp_path):
    """Whoever has judgeaudit installed starts pytest as fast as before."""
    env = installed(tmp_path)
    project = tmp_path / "project"
    project.mkdir()
    project.joinpath("test_it.py").write_text(
        "import sys\n\n"
        "def test_it(pytestconfig):\n"
        "    assert pytestconfig.pluginmanager.has_plugin('judgeaudit')\n"
        "    heavy = {'numpy', 'pydantic', 'scipy', 'pandas', 'typer', 'judgeaudit.core.errors'}\n"
        "    assert not heavy & set(sys.modules)\n"
    )
    alone = ("-p", "no:hypothesispytest", "-p", "no:anyio", "-W", "error")
    done = pytest_in(project, env, *alone)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_our_own_suite_has_the_plugin_or_does_not_mind(pytestconfig):
    """An editable install made before the plugin has no entry point for it."""
    from judgeaudit import pytest_plugin

    assert {"judgeaudit_audit", "judgeaudit_gate", "judgeaudit_result"} < set(pytest_plugin.__all__)
    loaded = pytestconfig.pluginmanager.get_plugin("judgeaudit")
    assert loaded in {None, pytest_plugin}
