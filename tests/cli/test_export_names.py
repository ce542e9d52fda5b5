"""The name of an exported file says its form, or the command asks."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from judgeaudit import audit
from judgeaudit.cli.ledger import app
from judgeaudit.core.errors import ConfigError


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("export") / "run"
    audit.run(judge="scripted:quiet", preset="quick", limit=4, conditions=("base",), out=out)
    return out


@pytest.mark.parametrize("name", ["e.csv", "e", "e.txt"])
def test_a_name_of_another_form_is_refused_and_nothing_is_written(run, tmp_path, name):
    result = CliRunner().invoke(app, ["export", str(run), "--out", str(tmp_path / name)])
    assert isinstance(result.exception, ConfigError)
    assert "--format jsonl or parquet" in str(result.exception.mend)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("parts", [["e.jsonl"], ["e.ndjson"], ["e.csv", "--format", "jsonl"]])
def test_a_name_or_a_format_will_do(run, tmp_path, parts):
    target = tmp_path / parts[0]
    result = CliRunner().invoke(app, ["export", str(run), "--out", str(target), *parts[1:]])
    assert result.exit_code == 0
    assert target.read_text().startswith('{"')
