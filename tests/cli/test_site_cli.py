"""`judgeaudit site` as a user meets it."""

from __future__ import annotations

import subprocess
import sys

from card_runs import good
from site_world import changed, put


def judgeaudit(*args, cwd):
    return subprocess.run(
        [sys.executable, "-m", "judgeaudit", *args],
        capture_output=True, text=True, check=False, cwd=cwd,
    )  # fmt: skip


def test_a_site_and_its_refusals_in_one_line_each(tmp_path):
    put(tmp_path / "cards", "a", changed(good().card(), served_models={"\x1b[2Jx": 1}))
    done = judgeaudit("site", "cards", cwd=tmp_path)
    assert (0, "site/index.html: 1 card in 1 group that may be compared\n") == (
        done.returncode,
        done.stdout,
    )
    assert "a: not the file's own bytes" in done.stderr
    for args, says in (
        (("site", "nowhere"), "nowhere: no such folder"),
        (("site", "cards", "-o", "."), "cannot stand in the folder of the cards"),
        (("site", "cards", "--base-url", "ftp://x"), "no http address"),
    ):
        done = judgeaudit(*args, cwd=tmp_path)
        assert (2, 1) == (done.returncode, len(done.stderr.splitlines())), done.stderr
        assert says in done.stderr
