"""Nested records as one table: what is asked for and nothing else, or a refusal with its place."""

from __future__ import annotations

import csv
import json

import pytest

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.engine.imported.flattening import flatten
from judgeaudit.engine.imported.matching import kept_parts


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def files(tmp_path):
    """Return four files of two records each, one of every form, with the same content."""
    told = {"k1": {"s": {"risk": 2, "why": 'a "b",\nc'}, "ok": True}, "k2": {"s": {"risk": None}}}
    (tmp_path / "keyed.json").write_text(json.dumps(told))
    (tmp_path / "listed.json").write_text(json.dumps(list(told.values())))
    (tmp_path / "lines.jsonl").write_text("\n".join(map(json.dumps, told.values())) + "\n")
    (tmp_path / "flat.csv").write_text('s.risk,s.why,ok\n2,"a ""b"",\nc",true\n,,\n')
    return [tmp_path / f for f in ("keyed.json", "listed.json", "lines.jsonl", "flat.csv")]


def test_every_form_of_file_gives_the_same_rows(files, tmp_path):
    for file in files:
        made = flatten([file], out=tmp_path / f"{file.name}.out.csv")
        assert ("s.risk", "s.why", "ok") == made.columns
        assert [
            {"s.risk": "2", "s.why": 'a "b",\nc', "ok": "true"},
            {"s.risk": "", "s.why": "", "ok": ""},
        ] == rows(made.path)


def test_own_columns_patterns_and_joins(files, tmp_path):
    made = flatten(
        files[:3],
        out=tmp_path / "t.csv",
        field=["from=@file~^(.)", "n=@row", "key=@key", "risk=s.risk", r"word=s.why~(\w)\W*$"],
        join=["id=from,n"],
    )
    assert (3, 6, 6) == (made.n_files, made.n_records, made.n_rows)
    found = rows(made.path)
    assert ["k:0", "k:1", "l:0", "l:1", "l:0", "l:1"] == [r["id"] for r in found]
    assert ["k1", "k2", "", "", "", ""] == [r["key"] for r in found]
    assert ["c", ""] * 3 == [r["word"] for r in found]


@pytest.fixture
def rated(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item,rater,said,note\n1, H,yes,x\n2,A,no,y\n1,A,no,z\n3,B,,x\n")
    return path


def test_rows_of_one_item_become_one(rated, tmp_path):
    fields = ["item=item", "rater=rater", "said=said"]
    made = flatten([rated], out=tmp_path / "a.csv", field=fields, pivot="rater=said")
    assert ("item", "H", "A", "B") == made.columns
    assert [["1", "yes", "no", ""], ["2", "", "no", ""], ["3", "", "", ""]] == [
        list(r.values()) for r in rows(made.path)
    ]
    made = flatten([rated], out=tmp_path / "b.csv", field=fields, pivot="rater=said", numbered=True)
    assert [["1", "yes", "no"], ["2", "no", ""], ["3", "", ""]] == [
        list(r.values()) for r in rows(made.path)
    ]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"field": ["a=itme"]}, "no record has 'itme'; did you mean 'item'"),
        ({"field": ["a"]}, "is not of the form NAME=PATH"),
        ({"field": ["a=item", "a=said"]}, "names 'a' twice"),
        ({"field": ["a=said~y"]}, "has 0 groups"),
        ({"field": ["a=said~("]}, "is no pattern"),
        ({"field": ["a=said~(y)"]}, "said is 'no', which '(y)' does not fit"),
        ({"join": ["id=item,ratre"]}, "names the column 'ratre', which is not there; did you mean"),
        ({"join": ["item=item,said"]}, "'item' is a column already"),
        ({"join": ["id=item,said"]}, "said is empty, and --join needs it"),
        ({"pivot": "rater=sad"}, "names the column 'sad'"),
        ({"pivot": "note=said", "field": ["note=note", "said=said"]}, "note 'x' has a second said"),
        ({"numbered": True}, "--numbered goes with --pivot"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(rated, tmp_path, choices, message):
    with pytest.raises((ConfigError, CorpusError)) as caught:
        flatten([rated], out=tmp_path / "t.csv", **choices)
    assert message in str(caught.value)
    assert not (tmp_path / "t.csv").exists()


def test_objects_in_a_cell_repeated_keys_and_a_table_in_the_way(tmp_path):
    (tmp_path / "a.json").write_text('{"k": {"s": {"x": [1, {"y": 5}]}}, "k": {"s": 1}}')
    with pytest.raises(CorpusError, match="'k' stands twice"):
        flatten([tmp_path / "a.json"], out=tmp_path / "t.csv")
    (tmp_path / "a.json").write_text('{"k": {"s": {"x": [1, {"y": 5}]}}}')
    with pytest.raises(CorpusError, match="'s' holds more fields") as caught:
        flatten([tmp_path / "a.json"], out=tmp_path / "t.csv", field=["s=s"])
    assert "key 'k'" in str(caught.value)
    made = flatten([tmp_path / "a.json"], out=tmp_path / "t.csv", field=["y=s.x.1.y"])
    assert [{"y": "5"}] == rows(made.path)
    with pytest.raises(ConfigError, match="something here already"):
        flatten([tmp_path / "a.json"], out=tmp_path / "t.csv", field=["y=s.x.1.y"])


# -- patterns -----------------------------------------------------------------------------------


def test_a_pattern_that_never_ends_is_stopped_and_its_text_named(tmp_path):
    texts = ["aab", "a" * 60, "ab"]
    with pytest.raises(
        ConfigError, match=r"takes more than 1 seconds on name, which is 'aaa"
    ) as caught:
        kept_parts("name", "(a+)+b", texts, ["t:1", "t:2", "t:3"], seconds=1)
    assert str(caught.value).startswith("t:2:")


@pytest.mark.parametrize("pattern", ["(a{99999999999999999999})", "(", "a{2,1}()"])
def test_what_is_no_pattern_is_refused(tmp_path, pattern):
    (tmp_path / "t.jsonl").write_text('{"a": "x"}\n')
    with pytest.raises(ConfigError, match="is no pattern"):
        flatten([tmp_path / "t.jsonl"], out=tmp_path / "o.csv", field=[f"a=a~{pattern}"])


def test_parts_of_texts_with_line_ends_and_other_scripts():
    texts = ["x: één\u2028", "", "x: 값\nx: 2", "x: \ud800"]
    assert ["één", "", "값", "\ud800"] == kept_parts("a", r"x: (\S+)", texts, list("abcd"))
