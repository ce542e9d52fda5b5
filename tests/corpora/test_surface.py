"""What a corpus's card says of its words."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from judgeaudit.cli.corpus import app
from judgeaudit.core.errors import ConfigError
from judgeaudit.corpora import load
from judgeaudit.corpora._surface import surface

pytest.importorskip("sklearn")


def shown(*args: object) -> str:
    result = CliRunner().invoke(app, ["surface", *map(str, args)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.output


def own(lines, own_record, texts, *, cluster=None):
    records = []
    for n, (text, label) in enumerate(texts):
        record = own_record(n, label=label, label_source="human" if label else None)
        record["trajectory"]["turns"] = [{"role": "user", "content": text}]
        record["cluster"] = cluster(n) if cluster else str(n)
        records.append(record)
    return lines("own.jsonl", records)


def test_the_sample_has_both_figures_with_intervals():
    found = surface(load("sample").items)
    assert (72, 36, 0, 0.5) == (found.n_items, found.n_clusters, found.n_unlabelled, found.majority)
    for told in (found.auroc, found.accuracy):
        assert told.low is not None
        assert told.high is not None
        assert told.value is not None
        assert told.low < told.value < told.high


def test_a_leak_is_found_and_named(lines, own_record):
    texts = [
        (f"note {n} {('fine', 'leaked')[n % 2]}", ("SAFE", "UNSAFE")[n % 2]) for n in range(40)
    ]
    out = shown("jsonl", "--data", own(lines, own_record, texts))
    assert "leaked" in out.split("words, unsafe")[1].split("\n")[0]
    assert "no interval" not in out


def test_words_that_only_name_the_source_tell_nothing(lines, own_record):
    texts = [(f"source{n // 4} item", ("SAFE", "UNSAFE")[n // 4 % 2]) for n in range(80)]
    path = own(lines, own_record, texts, cluster=lambda n: str(n // 4))
    found = json.loads(shown("jsonl", "--data", path, "--json"))
    assert found["auroc"]["low"] is None or found["auroc"]["low"] < 0.5


@pytest.mark.parametrize(
    ("labels", "why"), [(["SAFE"], "every label is the same"), ([None], "no item has a label")]
)
def test_what_cannot_be_told_is_said(lines, own_record, labels, why):
    path = own(lines, own_record, [(f"t {n}", labels[0]) for n in range(6)])
    assert why in shown("jsonl", "--data", path)


@pytest.mark.slow
def test_r_judges_words_tell_its_labels(shared):
    data = shared / "data" / "rjudge" / "by_category"
    if not data.is_dir():
        pytest.skip("R-Judge is not here")
    found = surface(load("rjudge", data=str(data)).items)
    assert found.auroc.low is not None
    assert found.auroc.low > 0.8
    assert "better than by chance" in found.sentence


def test_without_scikit_learn_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("judgeaudit.corpora._surface.available", lambda: False)
    with pytest.raises(ConfigError, match="judgeaudit\\[control\\]"):
        surface(load("sample").items)
