"""Outputs of other tools: what the user says wins, and what is not right is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from import_world import cells
from tool_world import FILE, sample, taking

from judgeaudit.core.errors import ConfigError, CorpusError

PROMPTFOO = Path(__file__).parent / "tool_outputs" / "promptfoo.json"

took = taking


def test_a_format_can_be_named_or_forbidden(took):
    lines = [sample(0, [["SAFE"]])]
    with pytest.raises(ConfigError, match=r"unknown format 'lm-eval'.*lm_eval"):
        took({"x.jsonl": lines}, format="lm-eval", one_condition="base")
    with pytest.raises(CorpusError, match="no result of promptfoo"):
        took({"x.jsonl": lines}, format="promptfoo", one_condition="base")
    plain = [{"doc_id": 1, "condition": "base", "verdict": "SAFE"}]
    assert "table" == took({"x.jsonl": plain}).format


def test_plain_tables_are_not_put_together(took):
    with pytest.raises(ConfigError, match="2 plain tables are not put together"):
        took({"a.csv": "id,condition,verdict\n1,base,SAFE\n", "b.csv": "id\n1\n"})


def test_a_field_that_is_not_there_is_named_with_those_that_are(took):
    with pytest.raises(
        ConfigError, match=r"no call has the field 'doc.glod' .*did you mean 'doc.gold'"
    ):
        took({FILE.format("a"): [sample(0, [["SAFE"]])]}, one_condition="base", gold="doc.glod")
    with pytest.raises(CorpusError, match=r"'doc' holds more fields.*such as doc.text"):
        took({FILE.format("a"): [sample(0, [["SAFE"]])]}, one_condition="base", strata=["doc"])


def test_only_keeps_rows_of_a_plain_table_too(took):
    text = "id,condition,verdict,model\n1,base,SAFE,a\n1,base,UNSAFE,b\n2,base,UNSAFE,b\n"
    made = took({"t.csv": text}, only=["model=b"])
    assert {("1", "base", 0, 0): "UNSAFE", ("2", "base", 0, 0): "UNSAFE"} == cells(made)
    assert any("1 row was left out: model is not b, by --only." == n for n in made.notes)


@pytest.mark.parametrize(
    ("only", "said"),
    [(["model=c"], "no row has model 'c'.*'a', 'b'"), (["mdl=a"], "no column 'mdl'")],
)
def test_only_of_what_is_not_there(took, only, said):
    text = "id,condition,verdict,model\n1,base,SAFE,a\n1,base,UNSAFE,b\n"
    with pytest.raises(ConfigError, match=said):
        took({"t.csv": text}, only=only)


# -- hostile files ------------------------------------------------------------------------------


def test_a_broken_line_is_named(took):
    good = json.dumps(sample(0, [["SAFE"]]))
    with pytest.raises(CorpusError, match=r"x\.jsonl:3.*is not JSON"):
        took({"x.jsonl": f"{good}\n\n{good[:40]}\n"}, format="lm_eval", one_condition="base")


def test_bom_crlf_long_texts_and_odd_numbers_are_survived(took):
    long = {"text": "x" * 5_000_000}
    lines = [
        sample(0, [["SAFE"]], doc=long, acc=float("inf"), big=2**70),
        sample(1, [["UNSAFE"]]),
    ]
    text = "\ufeff" + "\r\n".join(map(json.dumps, lines))
    made = took({"x.jsonl": text}, one_condition="base")
    assert ["SAFE", "UNSAFE"] == [cells(made)[n, "base", 0, 0] for n in "01"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"doc_id": ' + "9" * 5000 + "}", "integer|digits"),
        ('{"a": 1, "a": 2}', "stands twice"),
        ("[" * 100_000, "nested too deeply|is not JSON"),
        ('"text"', "is a text, not an object"),
    ],
)
def test_hostile_lines_are_refused_in_one_line(took, line, said):
    with pytest.raises(CorpusError, match=said) as caught:
        took({"x.jsonl": line + "\n" + line}, format="lm_eval", one_condition="base")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_half_a_surrogate_pair_in_an_answer_is_survived_and_in_an_id_refused(took):
    made = took({"x.jsonl": [sample(0, [["\ud800\nSAFE"]])]}, one_condition="base")
    assert {("0", "base", 0, 0): "SAFE"} == cells(made)
    with pytest.raises(CorpusError, match="surrogate"):
        took({"y.jsonl": [sample("\udfff", [["SAFE"]])]}, one_condition="base")


def test_the_same_call_twice_is_refused(took):
    results = json.loads(PROMPTFOO.read_text())["results"]["results"][:1]
    with pytest.raises(CorpusError, match="stands twice"):
        took({"x.jsonl": results * 2}, item="vars.id", repeat="testIdx")
