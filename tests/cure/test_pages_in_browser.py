"""The pages of localise and attack in Chromium: nothing too wide, no fault, no request."""

from __future__ import annotations

import pytest
from page_world import BROWSER, looker
from typer.testing import CliRunner

from judgeaudit import audit
from judgeaudit.cli.main import app

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine (set CHROMIUM)"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages") / "run"
    judge = "scripted:hears_word?jitter=0.02"
    audit.run(judge=judge, preset="default", limit=24, out=folder)
    for words in (
        ("localise", folder, "--calls", 500),
        ("attack", folder, "--objective", "excess", "--calls", 900, "-o", folder / "attack.html"),
    ):
        done = CliRunner().invoke(app, [str(w) for w in words])
        assert 0 == done.exit_code, done.output
    return folder


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["localise.html", "attack.html"])
def test_axe_finds_no_violation_and_no_request_leaves(run, name, scheme):
    with looker(scheme) as tab:
        tab.look(run / name)
