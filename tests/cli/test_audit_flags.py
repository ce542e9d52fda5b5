"""A value that cannot be used is named as its author wrote it: a flag, a keyword, a line of a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from judgeaudit import audit
from judgeaudit.cli.main import app
from judgeaudit.core.command import flag_of
from judgeaudit.core.errors import ConfigError


def said_of(*flags: str) -> str:
    done = CliRunner().invoke(app, ["audit", "--judge", "scripted:quiet", "--plan", *flags])
    assert isinstance(done.exception, ConfigError), done.output
    return str(done.exception)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--limit", "0"], "--limit is 0. It must be 1 or more"),
        (["-K", "0"], "--base-repeats is 0. It must be 1 or more"),
        (["--concurrency", "5000"], "--concurrency is 5000. It must be 4096 or less"),
        (["--output-format", "xml"], "--output-format is 'xml'. It must be 'auto'"),
        (["--wordings", "0"], "--wordings is 0. It must be 1 or more"),
    ],
)
def test_a_flag_is_named_as_a_flag(flags, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert said_of(*flags).startswith(said)


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("control:nope", "unknown control 'nope'"),
        ("control:tfidf_logreg?folds=1", "folds='1' is not a whole number"),
        ("scripted:nope", "unknown scripted judge 'nope'"),
    ],
)
def test_a_judge_that_there_is_not_is_refused_before_a_plan_is_printed(
    judge, said, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["audit", "--judge", judge, "--preset", "quick"])
    assert isinstance(done.exception, ConfigError)
    assert said in str(done.exception)
    assert "plan" not in done.output


def test_a_line_of_the_file_is_named_though_flags_are_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("audit.toml").write_text('judge = "scripted:quiet"\nlimit = 0\n', encoding="utf-8")
    said = said_of("--seed", "1")
    assert said == "audit.toml, line 2: key 'limit' is 0. It must be 1 or more"


def test_a_keyword_is_named_as_a_keyword():
    with pytest.raises(ConfigError, match=r"^limit= is 0\. It must be 1 or more$"):
        audit.run(limit=0)
    with pytest.raises(ConfigError, match=r"^unknown limt=\. Did you mean 'limit'\?$"):
        audit.run(limt=5)


def test_every_choice_has_a_flag():
    import typer

    command = typer.main.get_command(app).commands["audit"]
    flags = {o for p in command.params for o in (*p.opts, *p.secondary_opts)}
    assert {flag_of(c) for c in audit.CHOICES} - flags == {"--decoding"}
