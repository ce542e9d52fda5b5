"""The card as PDF, by a browser that is there; and one clear line where none is."""

from __future__ import annotations

import os
import re
import shutil
import stat
import time
import zlib

import pytest
from card_hostile import HOSTILE, hostile_run
from card_runs import CASES

from judgeaudit.cards.pdf import BROWSERS, find_browser, write_pdf
from judgeaudit.core.errors import CardError

THERE = next((p for p in map(shutil.which, BROWSERS) if p), None)
needs_browser = pytest.mark.skipif(THERE is None, reason="no Chromium on this machine")


def program(tmp_path, body: str) -> str:
    """Make a program of its own that is asked to print."""
    path = tmp_path / "browser"
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_without_a_browser_the_message_says_what_would_do(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CardError, match="no browser is installed") as caught:
        write_pdf(CASES["good"]().card(), tmp_path / "card.pdf")
    assert "--browser" in str(caught.value)
    assert caught.value.exit_code == 2
    with pytest.raises(CardError, match="there is no browser 'nothing-here'"):
        find_browser("nothing-here")


def test_a_browser_that_fails_leaves_the_former_file(tmp_path):
    path = tmp_path / "card.pdf"
    path.write_bytes(b"former")
    bad = program(tmp_path, "printf 'no \\033[31mroom' >&2; exit 7")
    with pytest.raises(CardError, match=r"exit code 7\): no \\x1b\[31mroom"):
        write_pdf(CASES["good"]().card(), path, browser=bad)
    assert path.read_bytes() == b"former"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["browser", "card.pdf"]


def test_a_browser_that_hangs_is_ended_with_its_children(tmp_path):
    pids = tmp_path / "pids"
    hung = program(tmp_path, f"sleep 600 & echo $! > {pids}; wait")
    with pytest.raises(CardError, match="gave up after 1 s"):
        write_pdf(CASES["good"]().card(), tmp_path / "card.pdf", browser=hung, seconds=1)
    child = int(pids.read_text())
    for _ in range(100):
        if not _alive(child):
            break
        time.sleep(0.05)
    assert not _alive(child)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:  # noqa: PTH123
            return f.read().split()[2] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@needs_browser
@pytest.mark.parametrize("card", ["good", "script"])
def test_a_card_is_printed(card, tmp_path):
    made = CASES[card]() if card in CASES else hostile_run(HOSTILE[card])
    path = write_pdf(made.card(), tmp_path / "new" / "card.pdf")
    data = path.read_bytes()
    assert data.startswith(b"%PDF-")
    pages = len(re.findall(rb"/Type\s*/Page\b", data + _unpacked(data)))
    assert pages >= 2
    # nothing in it acts when it is opened
    for active in (b"/JavaScript", b"/JS ", b"/OpenAction", b"/Launch", b"/EmbeddedFile"):
        assert active not in data + _unpacked(data)


def _unpacked(data: bytes) -> bytes:
    out = b""
    for found in re.finditer(rb"stream\r?\n(.*?)endstream", data, re.DOTALL):
        try:
            out += zlib.decompress(found[1])
        except zlib.error:
            continue
    return out
