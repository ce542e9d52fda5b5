"""`card`: the verbs, their exit codes, and that `card RUN` is still what it was."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from judgeaudit import audit, cards
from judgeaudit.cli import main

OLDER = Path(__file__).parents[1] / "cards" / "older" / "1.0"


def outside(*words, cwd=None) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a process of its own."""
    command = [sys.executable, "-m", "judgeaudit", "card", *map(str, words)]
    return subprocess.run(command, cwd=cwd, env={**os.environ}, capture_output=True, check=False)


@dataclass
class Done:
    """What a command in this process ended in."""

    returncode: int
    stdout: bytes
    stderr: bytes


@pytest.fixture
def cli(monkeypatch, capsysbinary):
    """Run the command in this process, as the script does but for its signals."""
    monkeypatch.setattr(main, "_listen", lambda: None)

    def call(*words, cwd=None) -> Done:
        monkeypatch.setattr(sys, "argv", ["judgeaudit", "card", *map(str, words)])
        if cwd is not None:
            monkeypatch.chdir(cwd)
        capsysbinary.readouterr()
        with pytest.raises(SystemExit) as ended:
            main.run()
        return Done(int(ended.value.code or 0), *capsysbinary.readouterr())

    return call


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    """A folder with a run, a signed card, and keys."""
    folder = tmp_path_factory.mktemp("cards")
    run = folder / "run"
    audit.run(judge="scripted:brittle_t4", preset="quick", limit=6, repeats=1, out=run)
    assert 0 == outside("keygen", "me", cwd=folder).returncode
    assert 0 == outside("sign", "run/card.json", "--key", "me.key.pem", cwd=folder).returncode
    return folder


def test_card_run_is_what_it_was(cli, world):
    short = outside("run", "--format", "json", cwd=world)
    assert 0 == short.returncode, short.stderr
    assert (world / "run" / "card.json").read_bytes() == short.stdout
    assert short.stdout == cli("--format", "json", "run", cwd=world).stdout
    assert short.stdout == cli("make", "run", "--format=json", cwd=world).stdout
    written = cli("run", "--out", "new", cwd=world)
    assert ["new/card.json", "new/card.md", "new/card.html"] == written.stdout.decode().split()


def test_a_run_in_a_folder_named_like_a_verb(cli, world, tmp_path):
    shutil.copytree(world / "run", tmp_path / "verify")
    assert 0 == cli("./verify", "--format", "badge", cwd=tmp_path).returncode
    assert 0 == cli("make", "verify", "--format", "badge", cwd=tmp_path).returncode


@pytest.mark.slow
@pytest.mark.parametrize("form", sorted(cards.FORMATS))
def test_each_format_of_a_run_and_of_its_card_are_the_same_bytes(cli, world, form):
    of_run = cli("run", "--format", form, cwd=world)
    assert 0 == of_run.returncode, of_run.stderr
    assert of_run.stdout == cli("run/card.json", "--format", form, cwd=world).stdout
    assert cards.FORMATS[form](audit.card(world / "run")).encode() == of_run.stdout
    out = cli("run", "--format", form, "--out", f"out-{form}", cwd=world).stdout.decode().strip()
    assert of_run.stdout == (world / out).read_bytes()


def test_an_unknown_format_and_what_a_card_cannot_take(cli, world):
    wrong = cli("run", "--format", "docx", cwd=world)
    assert (2, b"") == (wrong.returncode, wrong.stdout)
    assert b"unknown format 'docx'" in wrong.stderr
    wrong = cli("run/card.json", "--created", "2026-01-01T00:00:00Z", cwd=world)
    assert 2 == wrong.returncode
    assert b"need its run" in wrong.stderr


def test_pdf_without_a_browser_is_one_line_and_exit_2(cli, world, tmp_path):
    got = cli("run", "--format", "pdf", "--browser", "no-such-browser", cwd=world)
    assert 2 == got.returncode
    assert 1 == len(got.stderr.decode().strip().splitlines())
    assert b"--browser" in got.stderr


def test_a_card_in_korean_stands_beside_the_english_one(cli, world):
    made = cli("run/card.json", "--language", "ko", "--out", "own", cwd=world)
    assert ["own/card.ko.html", "own/card.ko.md"] == made.stdout.decode().split()
    text = (world / "own" / "card.ko.md").read_text(encoding="utf-8")
    assert "## 먼저 읽을 것" in text
    printed = cli("run/card.json", "--language", "ko", "--format", "md", cwd=world)
    assert text == printed.stdout.decode()
    for words in (("--language", "xx"), ("--language", "ko", "--format", "csv")):
        assert 2 == cli("run/card.json", *words, cwd=world).returncode


def test_an_older_card_is_shown_and_said_to_be_older(cli, tmp_path):
    got = cli(OLDER / "card.json", "--format", "json", cwd=tmp_path)
    assert 0 == got.returncode
    assert cards.SCHEMA_VERSION == json.loads(got.stdout)["schema_version"]
    assert b"brought from schema version 1.0" in got.stderr


def test_the_schema_is_printed(cli, tmp_path):
    now = json.loads(cli("schema", cwd=tmp_path).stdout)
    assert cards.schema() == now
    old = json.loads(cli("schema", "--schema-version", "1.0", cwd=tmp_path).stdout)
    assert "ledger_head" not in json.dumps(old)
    wrong = cli("schema", "--schema-version", "7", cwd=tmp_path)
    assert (2, True) == (wrong.returncode, b"unknown schema version '7'" in wrong.stderr)


# -- verify -------------------------------------------------------------------------------------


def tampered(world, tmp_path, old="untrustworthy", new="reliable") -> Path:
    path = tmp_path / "card.json"
    text = (world / "run" / "card.json").read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def test_an_untouched_card_exits_0(cli, world):
    for words in (("run/card.json",), ("run/card.json", "--run", "run")):
        got = cli("verify", *words, cwd=world)
        assert 0 == got.returncode, got.stderr
        assert b"is what its ledger gives" in got.stdout


def test_a_tampered_card_exits_1_with_each_field_old_and_new(cli, world, tmp_path):
    card = tampered(world, tmp_path)
    got = outside("verify", card, "--run", "run", cwd=world)
    assert 1 == got.returncode
    assert 'scores.flags.band: card "reliable", ledger "untrustworthy"' in got.stdout.decode()
    told = json.loads(cli("verify", card, "--run", "run", "--json", cwd=world).stdout)
    assert told["good"] is False
    row = next(d for d in told["differences"] if d["path"] == "scores.flags.band")
    assert ("reliable", "untrustworthy") == (row["card"], row["ledger"])


def test_hostile_fields_do_nothing_in_the_terminal(cli, world, tmp_path):
    data = json.loads((world / "run" / "card.json").read_text(encoding="utf-8"))
    data["facts"]["extra"]["\x1b[2J\u202e"] = "\x1b]8;;http://evil.example\x07" + "A" * 5_000_000
    card = tmp_path / "card.json"
    card.write_text(json.dumps(data), encoding="utf-8")
    got = cli("verify", card, "--run", "run", cwd=world)
    assert 1 == got.returncode
    assert b"\x1b" not in got.stdout + got.stderr
    assert "\u202e" not in got.stdout.decode()
    assert len(got.stdout) < 5_000
    assert b"\x1b" not in cli("verify", card, "--run", "run", "--json", cwd=world).stdout


def test_without_a_ledger_it_is_said_and_exits_2(cli, world, tmp_path):
    shutil.copy(world / "run" / "card.json", tmp_path)
    got = cli("verify", "card.json", cwd=tmp_path)
    assert 2 == got.returncode
    assert b"ledger is not at hand" in got.stderr
    got = cli("verify", "card.json", "--run", "nowhere", cwd=tmp_path)
    assert (2, True) == (got.returncode, b"there is no ledger here" in got.stderr)
    got = cli("verify", "gone.json", cwd=tmp_path)
    assert (2, True) == (got.returncode, b"the card cannot be read" in got.stderr)


# -- signatures ---------------------------------------------------------------------------------


def test_a_signed_card_is_rebuilt_and_its_signature_checked(cli, world):
    got = cli("verify", "run/card.json", "--public-key", "me.pub.pem", cwd=world)
    assert 0 == got.returncode, got.stderr
    assert b"signature: holds" in got.stdout
    assert b"is what its ledger gives" in got.stdout


def test_a_signature_is_checked_without_a_ledger_and_that_is_said(cli, world, tmp_path):
    for name in ("run/card.json", "run/card.json.sig", "me.pub.pem"):
        shutil.copy(world / name, tmp_path)
    got = cli("verify", "card.json", "--public-key", "me.pub.pem", cwd=tmp_path)
    assert 0 == got.returncode
    assert b"no figure of the card was checked" in got.stdout


def test_an_altered_card_a_wrong_key_and_a_missing_file(cli, world, tmp_path):
    card = tampered(world, tmp_path)
    sig, public = world / "run" / "card.json.sig", world / "me.pub.pem"
    got = cli("verify", card, "--signature", sig, "--public-key", public)
    assert 1 == got.returncode
    assert b"DOES NOT HOLD" in got.stdout
    assert b"changed after it was signed" in got.stdout
    assert 0 == cli("keygen", "other", cwd=tmp_path).returncode
    whole = world / "run" / "card.json"
    got = cli("verify", whole, "--public-key", tmp_path / "other.pub.pem")
    assert 1 == got.returncode
    assert b"signed with the key" in got.stdout
    got = cli("verify", card, "--public-key", public)
    assert 2 == got.returncode
    assert 1 == len(got.stderr.decode().strip().splitlines())
    assert b"card.json.sig" in got.stderr
    got = cli("verify", whole, "--signature", sig)
    assert 2 == got.returncode
    assert b"--public-key" in got.stderr
    got = cli("sign", whole, "--key", tmp_path / "gone")
    assert (2, 1) == (got.returncode, len(got.stderr.decode().strip().splitlines()))


def test_help_names_the_verbs_and_the_short_form(cli):
    text = cli("--help").stdout.decode()
    for verb in ("make", "verify", "sign", "keygen", "schema"):
        assert verb in text
    assert "short for" in text
    assert "Exit codes" in cli("verify", "--help").stdout.decode()
