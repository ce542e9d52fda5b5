"""What the documents say of the calculators and of the source texts is what the program does."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgeaudit.cli.stats import app

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "calculators.md").read_text("utf-8")
EXAMPLES = re.findall(r"```\n\$ judgeaudit stats (.+)\n((?:.+\n)+?)```", PAGE)


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[c for c, _ in EXAMPLES])
def test_an_example_prints_what_the_page_shows(command, shown):
    done = CliRunner().invoke(app, shlex.split(command))
    assert 0 == done.exit_code, done.exception
    printed = done.stdout.splitlines()
    assert [] == [line for line in shown.splitlines() if line not in printed]


def test_every_verb_stands_on_the_page():
    verbs = {str(c.name) for c in app.registered_commands}
    assert [] == [v for v in sorted(verbs) if f"**{v} " not in PAGE]
    assert {c.split()[0] for c, _ in EXAMPLES} == verbs - {"compare-runs"}


def test_every_number_that_differs_is_explained(shared: Path):
    text = (shared / "goldens" / "seed_statistics.json").read_text("utf-8")
    status = {e["id"]: e["status"] for e in json.loads(text)["entries"]}
    page = (DOCS / "seed_errata.md").read_text("utf-8")
    settled = {"exact", "rounded", "extension"}
    owed = [name for name, word in status.items() if word not in settled]
    assert len(owed) > 15
    assert [] == [name for name in owed if f"`{name}`" not in page]
    named = set(re.findall(r"^\| `([^`]+)` \|", page, flags=re.MULTILINE))
    assert named <= set(status)
