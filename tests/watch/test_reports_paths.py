"""Files that would cost something are refused before any work."""

from __future__ import annotations

import os

import pytest
from watch_world import cli, imported

from judgeaudit.core.errors import ConfigError

GOLD = {f"i{k}": "UNSAFE" if k % 2 else "SAFE" for k in range(8)}
RIGHT = {k: g[0] if g == "SAFE" else "U" for k, g in GOLD.items()}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    home = tmp_path_factory.mktemp("paths")
    for name, n in (("r1", 3), ("r2", 3)):
        imported(home / name, {k: v * n for k, v in RIGHT.items()}, GOLD)
    (home / "gate.toml").write_text('[[bar]]\nmetric = "accuracy"\nat_least = 0.5\n')
    os.link(home / "r1" / "ledger.sqlite", home / "linked.x")
    assert 0 == cli("history", "add", home / "r1", "--store", home / "st").exit_code
    return home


def refused(done, *words):
    assert isinstance(done.exception, ConfigError), (done.output, done.exception)
    assert done.exception.mend
    assert "" == done.stdout
    for w in words:
        assert w in str(done.exception)


@pytest.mark.parametrize("option", ["--junit", "--sarif", "--webhook", "--markdown"])
@pytest.mark.parametrize(
    "name", ["r1/ledger.sqlite", "r2/ledger.sqlite", "gate.toml", "linked.x", "st/history.sqlite"]
)
def test_a_report_replaces_no_input(home, option, name):
    before = (home / name).read_bytes()
    done = cli(
        *("gate", home / "r1", "--baseline", home / "r2", "--config", home / "gate.toml"),
        *(option, home / "r1" / ".." / name),
    )
    refused(done, option, "would overwrite")
    assert before == (home / name).read_bytes()


def test_two_reports_are_two_files(home, tmp_path):
    args = ("gate", home / "r1", "--baseline", home / "r2")
    one, again = tmp_path / "same.x", tmp_path / "." / "no" / ".." / "same.x"
    refused(cli(*args, "--sarif", one, "--junit", again), "--junit and --sarif", "the same file")
    assert not one.exists()
    # a sink takes any number
    assert 2 != cli(*args, "--sarif", "/dev/null", "--junit", "/dev/null").exit_code


def test_an_empty_webhook_is_said(home):
    refused(cli("gate", home / "r1", "--baseline", home / "r2", "--webhook", ""), "is empty")


@pytest.mark.parametrize("option", ["-o", "--svg", "--csv"])
def test_a_page_that_cannot_be_written_is_said_first(home, tmp_path, option):
    page = ("history", "page", "--store", home / "st")
    refused(cli(*page, option, tmp_path / "no" / "x"), "a folder that is not there")
    refused(cli(*page, option, home / "st"), "is a folder")
    before = (home / "st" / "history.sqlite").read_bytes()
    refused(cli(*page, option, home / "st" / "history.sqlite"), "would overwrite")
    assert before == (home / "st" / "history.sqlite").read_bytes()


def test_pages_are_files_of_their_own(home, tmp_path):
    page = ("history", "page", "--store", home / "st")
    refused(cli(*page, "--svg", tmp_path / "x", "--csv", tmp_path / "x"), "the same file")
    assert 0 == cli(*page, "--svg", tmp_path / "x.svg", "--csv", tmp_path / "x.csv").exit_code


def test_anchors_replace_no_ledger(home):
    before = (home / "r1" / "ledger.sqlite").read_bytes()
    done = cli("nightly", "freeze", home / "r1", "--anchors", home / "r1" / "ledger.sqlite")
    refused(done, "would overwrite")
    assert before == (home / "r1" / "ledger.sqlite").read_bytes()
