"""What the README says is true: its code runs, its commands and files exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_the_python_example_runs(tmp_path):
    (code,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert 0 == done.returncode, done.stderr
    lines = done.stdout.splitlines()
    assert "scripted judge" in lines[0]
    assert "True" == lines[1]
    assert (tmp_path / "demo" / "card.html").is_file()


@pytest.mark.parametrize(
    "verb",
    sorted(
        set(re.findall(r"(?:`|^)judgeaudit ((?:policy |corpus )?[a-z]+)", README, re.MULTILINE))
    ),
)
def test_every_command_named_exists(verb):
    done = subprocess.run(
        [sys.executable, "-m", "judgeaudit", *verb.split(), "--help"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert 0 == done.returncode, done.stderr


def test_every_link_and_folder_named_exists():
    paths = re.findall(r"\]\(([^)#:]+)\)", README)
    paths += [p for p in re.findall(r"`([a-z_]+/[A-Za-z_./]*)`", README) if "…" not in p]
    assert paths
    missing = [p for p in paths if not (ROOT / p).exists()]
    assert [] == missing


def test_every_flag_named_exists():
    shown = "".join(
        subprocess.run(
            [sys.executable, "-m", "judgeaudit", *verb.split(), "--help"],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"COLUMNS": "200"},
        ).stdout
        for verb in (
            *("audit", "import", "correct", "attack", "harden", "gate"),
            *("card make", "card verify", "card log-mlflow"),
        )
    )
    for flag in set(re.findall(r"`?(--[a-z][a-z-]+)", README)) - {"--data"}:
        assert flag in shown, flag


def test_every_make_target_named_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"\bmake ([a-z]+)", README)):
        assert re.search(rf"^([a-z ]*\b)?{target}\b.*:", makefile, flags=re.MULTILINE), target


def test_what_the_readme_installs_is_here():
    """Until there is a release, nothing is installed by a name that an index would look up."""
    wanted = re.findall(r"pip install ([^\s`#]+)", README)
    assert wanted
    assert {"."} == {w.strip('"').partition("[")[0] for w in wanted}
    extras = {e for w in wanted for e in re.findall(r"\[(\w+)\]", w)}
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert extras <= set(project["optional-dependencies"])
