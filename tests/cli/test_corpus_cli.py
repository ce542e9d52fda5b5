"""`judgeaudit corpus`: what it prints, and what a hostile dataset cannot make it print."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from judgeaudit.cli.corpus import app
from judgeaudit.core.errors import ConfigError, CorpusError


def _run(*args):
    result = CliRunner().invoke(app, [str(a) for a in args])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


@pytest.fixture
def hostile(tmp_path):
    """A corpus whose texts try to drive the terminal."""
    record = {
        "id": "h1",
        "trajectory": {
            "profile": "p\x1b]0;title\x07",
            "turns": [
                {"role": "user", "content": "\x1b[2Jred\nfake/line/1  SAFE\u202egnp"},
                {"role": "agent", "thought": None, "action": "[bold]x[/bold] \x9b31m \x00"},
            ],
        },
        "label": "UNSAFE",
        "label_source": "human",
        "strata": {"k\x1b[31m": "v\x07"},
        "cluster": "c\x1b[31m",
    }
    path = tmp_path / "hostile.jsonl"
    path.write_text(json.dumps(record))
    return path


def test_list_names_every_corpus_with_what_it_needs():
    out = _run("list")
    for line in (
        "sample: Bundled sample",
        "bundled: needs no --data",
        "rjudge: R-Judge",
        "CC BY-NC-SA",
    ):
        assert line in out


def test_show_prints_the_facts_and_the_strata():
    rows = dict(
        line.split(None, 1) for line in _run("show", "sample").splitlines() if line[:2] != "by"
    )
    assert ("72", "36", "36", "14") == (
        rows["items"],
        rows["clusters"],
        rows["unsafe"],
        rows["ambiguous"],
    )
    assert "by norm" in _run("show", "sample")


def test_show_prints_json_that_is_the_facts():
    assert 4 == json.loads(_run("show", "sample", "--limit", 4, "--json"))["n_items"]


@pytest.mark.parametrize("name", ["rjudge", "assebench", "jsonl"])
def test_show_without_data_says_what_the_corpus_is(name):
    assert "needs --data: " in _run("show", name)


def test_show_jsonl_prints_the_form():
    assert '"label": "SAFE", "label_source": "human"}' in _run("show", "jsonl")


def test_items_prints_one_line_an_item():
    lines = _run("items", "sample", "--limit", 3).splitlines()
    assert 3 == len(lines)
    assert all(line.startswith("sample/v1/") for line in lines)


@pytest.mark.parametrize("verb", [("items",), ("items", "--full"), ("show",), ("check",)])
def test_a_hostile_dataset_cannot_drive_the_terminal(hostile, verb):
    name, *flags = verb
    out = _run(name, "jsonl", "--data", hostile, *flags)
    assert not set(out) & set("\x1b\x07\x00\x9b\u202e\r")
    if name == "items":
        assert 1 == sum(line.startswith(("jsonl/", "fake/")) for line in out.splitlines())


def test_items_in_full_shows_markup_and_escapes_as_they_are(hostile):
    out = _run("items", "jsonl", "--data", hostile, "--full")
    assert "        [bold]x[/bold] \\x9b31m \\x00" in out
    assert "        fake/line/1  SAFE\\u202egnp" in out


def test_check_says_ok_and_what_will_be_undefined(hostile):
    out = _run("check", "jsonl", "--data", hostile)
    assert out.startswith("ok: 1 items in 1 clusters, 1 unsafe, 0 safe, 0 unlabelled\n")
    assert "U_rate will be undefined" in out
    assert "U_rate" not in _run("check", "jsonl", "--data", hostile, "--assume-ambiguity", "none")


def test_errors_go_up_to_the_one_place_that_prints_them(tmp_path):
    with pytest.raises(CorpusError, match="no such file"):
        _run("check", "jsonl", "--data", tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="unknown corpus"):
        _run("show", "nothing")


def test_real_data_pass_the_check(shared):
    out = _run("check", "rjudge", "--data", shared / "data/rjudge/by_category")
    assert out.startswith("ok: 571 items in 138 clusters, 301 unsafe, 270 safe, 0 unlabelled\n")
