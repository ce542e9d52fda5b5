"""Another distribution adds a corpus, a judge, a metric and two formats, and the CLI uses each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "extend.md"


def _block(name: str) -> str:
    """Return the block of the page that is saved as this file."""
    text = PAGE.read_text("utf-8")
    return (
        text.partition(f"Save as `{name}`")[2]
        .partition("\n```")[2]
        .partition("\n")[2]
        .partition("\n```")[0]
    )


@pytest.fixture
def run(tmp_path):
    """Install the page's distribution into a folder of its own; return the CLI with it."""
    site = tmp_path / "site"
    info = site / "ours-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n")
    points = _block("pyproject.toml").partition("[project.entry-points")[2]
    lines = ("[project.entry-points" + points).splitlines()
    (info / "entry_points.txt").write_text(
        "\n".join(
            line.replace('[project.entry-points."', "[").replace('"]', "]") if line.startswith("[")
            else line.replace('"', "")
            for line in lines
        )
    )  # fmt: skip
    (site / "ours.py").write_text(_block("ours.py") + "\n")

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        paths = [str(site), str(Path(__file__).parents[2])]
        return subprocess.run(
            [sys.executable, "-m", "judgeaudit", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return call


def test_a_format_of_verdicts_is_recognised(run, tmp_path):
    (tmp_path / "verdicts.txt").write_text("#ours\n1 base SAFE\n1 T1 UNSAFE\n2 base !\n2 T1 SAFE\n")
    imported = run("import", "verdicts.txt", "--out", "from")
    assert "format      ours (recognised)" in imported.stdout, imported.stderr
    assert "4 calls of 2 items" in imported.stdout


@pytest.mark.slow
def test_each_is_used_through_the_cli(run, tmp_path):
    listed = run("corpus", "list")
    assert "haiku: Three little runs" in listed.stdout, listed.stderr
    audited = run(
        *("audit", "--judge", "coin:fair", "--corpus", "haiku", "--preset", "quick"),
        *("--out", "run", "--quiet"),
    )
    assert 0 == audited.returncode, audited.stderr
    scored = run("score", "run")
    assert "calls_per_item" in scored.stdout, scored.stdout + scored.stderr
    card = run("card", "run", "--format", "line")
    assert "coin:fair" in card.stdout, card.stderr
    assert 1 == len(card.stdout.splitlines())
    assert 0 == run("card", "run", "--format", "line", "--out", "made").returncode
    assert card.stdout == (tmp_path / "made" / "card.line.txt").read_text("utf-8")


def test_one_that_cannot_be_loaded_is_named_in_one_line(run, tmp_path):
    (tmp_path / "site" / "ours.py").write_text("raise RuntimeError('no licence here')\n")
    done = run("corpus", "list")
    assert 2 == done.returncode
    assert (
        "the corpus 'haiku' of ours cannot be loaded: RuntimeError: no licence here" in done.stderr
    )
    assert "Traceback" not in done.stderr


def test_two_of_one_name_are_refused(run, tmp_path):
    (info,) = (tmp_path / "site").glob("*.dist-info")
    points = (info / "entry_points.txt").read_text()
    (info / "entry_points.txt").write_text(points.replace("line =", "md ="))
    done = run("card", "nowhere.json", "--format", "md")
    assert 2 == done.returncode
    assert "two card format entries are called 'md'" in done.stderr
