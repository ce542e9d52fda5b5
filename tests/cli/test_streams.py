"""Output goes wherever it can: a narrow encoding, a full disk, a reader who went away."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from judgeaudit import audit

NARROW = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}


def run(*args, encoding="utf-8", module=("-m", "judgeaudit"), **options):
    env = os.environ | NARROW | {"PYTHONIOENCODING": encoding}
    return subprocess.run(
        [sys.executable, *module, *map(str, args)],
        env=env,
        timeout=60,
        check=False,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
    )


@pytest.fixture
def done(tmp_path):
    """A finished run."""
    folder = tmp_path / "run"
    audit.run(judge="scripted:quiet", preset="quick", limit=2, out=folder)
    return folder


def test_text_that_the_terminal_cannot_show_becomes_escapes(tmp_path):
    record = {
        "id": "한국어",
        "trajectory": {"turns": [{"role": "user", "content": "café"}]},
        "label": "SAFE",
        "label_source": "human",
    }
    data = tmp_path / "own.jsonl"
    data.write_text(json.dumps(record), encoding="utf-8")
    got = run("corpus", "items", "jsonl", "--data", data, encoding="ascii")
    assert 0 == got.returncode
    assert rb"\ud55c\uad6d\uc5b4" in got.stdout
    assert rb"caf\xe9" in got.stdout


def test_a_card_is_printed_as_utf8_whatever_the_terminal_is(done):
    got = run("card", done, "--format", "md", encoding="latin-1")
    assert 0 == got.returncode
    assert (done / "card.md").read_bytes() == got.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")  # noqa: PTH110
def test_a_full_disk_under_the_log_does_not_stop_a_run(tmp_path):
    folder = tmp_path / "run"
    with open("/dev/full", "w") as full:  # noqa: PTH123
        choices = ("--judge", "scripted:quiet", "--preset", "quick", "--limit", "2")
        got = run("audit", *choices, "--out", folder, stderr=full)
    assert 0 == got.returncode
    assert (folder / "card.html").exists()


@pytest.mark.parametrize("code", [0, 3, 130])
def test_the_exit_code_stands_though_nobody_reads_the_end(code):
    reader, writer = os.pipe()
    os.close(reader)
    told = (
        "import typer; from judgeaudit.cli._out import conclude\n"
        "app = typer.Typer()\n"
        f"app.command()(lambda: conclude('x' * 100_000, {code}))\n"
        "app()"
    )
    try:
        got = run(module=("-c", told), stdout=writer)
    finally:
        os.close(writer)
    assert (code, b"") == (got.returncode, got.stderr)
