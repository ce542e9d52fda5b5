"""Files are written whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from card_runs import CASES

from judgeaudit import cards
from judgeaudit.core.errors import CardError


def test_three_files_with_the_bytes_of_the_formats(tmp_path):
    card = CASES["good"]().card()
    written = cards.write(card, tmp_path / "a" / "b")
    expected = {
        "json": cards.to_json(card),
        "md": cards.to_markdown(card),
        "html": cards.to_html(card),
    }
    assert expected == {k: p.read_bytes().decode("utf-8") for k, p in written.items()}
    names = sorted(p.name for p in (tmp_path / "a" / "b").iterdir())
    assert names == ["card.html", "card.json", "card.md"]


def test_files_are_readable_as_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        path = cards.write(CASES["good"]().card(), tmp_path)["json"]
    finally:
        os.umask(before)
    assert oct(0o640) == oct(path.stat().st_mode & 0o777)


def test_writing_again_replaces(tmp_path):
    cards.write(CASES["good"]().card(), tmp_path)
    path = cards.write(CASES["fragile"]().card(), tmp_path)["md"]
    assert "depend on how the policy is worded" in path.read_text(encoding="utf-8")


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "x").write_text("", encoding="utf-8")
    with pytest.raises(CardError, match="cannot be written") as caught:
        cards.write(CASES["good"]().card(), tmp_path / "x")
    assert str(tmp_path / "x") in str(caught.value)


def test_a_target_that_is_a_folder_leaves_nothing_beside(tmp_path):
    (tmp_path / "card.json").mkdir()
    with pytest.raises(CardError, match="cannot be written"):
        cards.write(CASES["good"]().card(), tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["card.json"]


_CHILD = """
import resource, signal, sys
from card_runs import CASES
from judgeaudit import cards
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
card = CASES["fragile"]().card()
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
try:
    cards.write(card, sys.argv[1])
except cards.files.CardError as e:
    print(e)
"""


def test_no_room_left_keeps_the_former_card_whole(tmp_path):
    """A file-size limit stops the write in the middle, as a full disk does."""
    cards.write(CASES["good"]().card(), tmp_path)
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    support = str(Path(__file__).resolve().parents[1] / "support")
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": support},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "the card cannot be written: File too large" in done.stdout
    assert before == {p.name: p.read_bytes() for p in tmp_path.iterdir()}
