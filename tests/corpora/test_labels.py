"""Raters' labels: what they set, and every line that is refused."""

from __future__ import annotations

import json
import re

import pytest

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.corpora import load


@pytest.fixture
def data(write, rjudge_record):
    """Five records: 0, 2, 4 are SAFE, 1 and 3 UNSAFE."""
    return write("data.json", [rjudge_record(n) for n in range(5)])


VOTES = [
    ("0", "ann", "SAFE"), ("0", "bo", "safe"), ("0", "cy", " Safe "),
    ("rjudge/full/1", "ann", "UNSAFE"), ("1", "bo", "SAFE"),
    ("2", "ann", "UNSAFE"), ("2", "bo", "UNSAFE"), ("2", "cy", "SAFE"),
    ("3", "ann", "SAFE"),
]  # fmt: skip


def _csv(votes):
    return ("item_id,rater,label\n" + "".join(f"{i},{r},{v}\n" for i, r, v in votes)).encode()


def _jsonl(votes):
    rows = [{"label": v, "rater": r, "item_id": int(i) if i.isdigit() else i} for i, r, v in votes]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


@pytest.mark.parametrize("form", [_csv, _jsonl])
def test_labels_are_the_majority_and_ambiguous_is_disagreement(write, data, form):
    corpus = load("rjudge", data=data, labels=write("labels", form(VOTES)))
    # unanimous; tied: keeps gold; two to one; one rater decides alone; nobody: as it was
    assert ["SAFE", "UNSAFE", "UNSAFE", "SAFE", "SAFE"] == [i.label for i in corpus.items]
    assert [False, True, True, None, None] == [i.ambiguous for i in corpus.items]
    facts = corpus.facts
    assert 2 == facts.n_ambiguous
    assert re.fullmatch(
        r"raters: an item is ambiguous where its raters disagree \(9 labels by 3 raters, imported from "
        r"labels, sha256 [0-9a-f]{12}\); 2 of 5 items have fewer than two raters and no flag",
        facts.ambiguity_source,
    )
    assert "4 of 5 items carry imported labels, by majority of raters." in facts.notes
    assert "The raters changed the label of 2 items." in facts.notes
    assert "1 items were tied and keep the label they had." in facts.notes


def test_bom_crlf_quotes_and_column_order_change_nothing(write, data):
    plain = load("rjudge", data=data, labels=write("labels.csv", _csv(VOTES))).items
    rows = [f'"{v}","{r}",{i}' for i, r, v in VOTES]
    raw = b"\xef\xbb\xbf" + "\r\n".join(["label,rater,item_id", *rows]).encode()
    assert plain == load("rjudge", data=data, labels=write("labels.csv", raw)).items


def test_a_flag_of_the_dataset_gives_way_to_the_raters(write, own_record, lines):
    own = [own_record(n, ambiguous=True) for n in range(2)]
    votes = [("0", "ann", "SAFE"), ("0", "bo", "SAFE")]
    corpus = load("jsonl", data=lines("x.jsonl", own), labels=write("l.csv", _csv(votes)))
    assert [False, None] == [i.ambiguous for i in corpus.items]


def test_labels_make_an_unlabelled_item_human(write, own_record, lines):
    own = [own_record(n, label=None, label_source=...) for n in range(3)]
    votes = [("0", "ann", "SAFE"), ("1", "ann", "SAFE"), ("1", "bo", "UNSAFE")]
    corpus = load("jsonl", data=lines("x.jsonl", own), labels=write("l.csv", _csv(votes)))
    assert [("SAFE", "human"), (None, "unlabelled"), (None, "unlabelled")] == [
        (i.label, i.label_source) for i in corpus.items
    ]
    assert ("human", 2) == (corpus.facts.label_source, corpus.facts.n_unlabelled)


def test_labels_of_the_sample_remain_called_author_where_raters_are_few(write):
    votes = [("fin-01", "ann", "SAFE"), ("fin-01", "bo", "SAFE")]
    facts = load("sample", labels=write("l.csv", _csv(votes))).facts
    assert "author" == facts.label_source
    assert (
        "Labels come from several sources (author 71, human 1); the weakest is named."
        in facts.notes
    )


HEAD = b"item_id,rater,label\n"


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf \n", "the file is empty"),
        (HEAD, "the file holds no ratings"),
        (b"item_id,rater\n0,ann\n", ":1: the header is ['item_id', 'rater']. The columns are item_id"),
        (b"item_id,rater,label,why\n", ":1: the header is"),
        (HEAD + b"0,ann,SAFE\n\n9,ann,SAFE\n", ":4: unknown item '9'"),
        (HEAD + b"rjudge/ful/3,ann,SAFE\n", "unknown item 'rjudge/ful/3' (did you mean 'rjudge/full/3'?). item_id"),
        (HEAD + b"0,ann,SAFE\n1,ann,SAFE\n0, ann ,SAFE\n", ":4: rater 'ann' rates item '0' twice, first at"),
        (HEAD + b"0,ann,SAFE\nrjudge/full/0,ann,UNSAFE\n", ":3: rater 'ann' rates item"),
        (HEAD + b"0,ann,maybe\n", ":2: label is 'maybe'; it must be SAFE or UNSAFE"),
        (HEAD + b"0,ann,1\n", ":2: label is '1'"),
        (HEAD + b"0,ann,\n", ":2: label is ''"),
        (HEAD + b"0, ,SAFE\n", ":2: rater is blank"),
        (HEAD + b"0,ann\n", ":2: 2 cells where the header has 3"),
        (HEAD + b'0,"ann\nx",SAFE\n0,bo,what\n', ":4: label is 'what'"),
        (HEAD + b'0,"ann"x,SAFE\n', ":2: is not CSV"),
        (HEAD + b"0,\xe9,SAFE\n", "is not UTF-8 (byte 22)"),
        (b'{"item_id": "0", "rater": "ann"}\n', ":1: the field 'label' is missing"),
        (b'{"item_id": "0", "rater": "ann", "label": 1}\n', ":1: label is 1, not a text"),
        (b'{"item_id": true, "rater": "ann", "label": "SAFE"}\n', ":1: item_id is True, not a text"),
        (b'{"item_id": 0, "rater": "a", "label": "SAFE", "x": 1}\n', ":1: unknown field 'x'"),
        (b'{"item_id": 0, "rater": "a", "label": "SAFE"}\n{"item_id": 8, "rater": "a", "label": "SAFE"}',
         ":2: unknown item '8'"),
        (b'{"item_id": 0, "rater": NaN, "label": "SAFE"}\n', ":1: NaN is not JSON"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_be_used_is_named(write, data, raw, says):
    path = write("labels.csv", raw)
    with pytest.raises(CorpusError, match=re.escape(says)) as caught:
        load("rjudge", data=data, labels=path)
    assert str(caught.value).startswith(str(path))


def test_a_bare_id_that_two_items_have_is_refused(write, lines, own_record):
    own = [own_record(1, subset="a"), own_record(1, subset="b")]
    path = lines("x.jsonl", own)
    with pytest.raises(CorpusError, match=r"several items have the id '1'\. Write the whole key"):
        load("jsonl", data=path, labels=write("l.csv", _csv([("1", "ann", "SAFE")])))
    votes = [("jsonl/a/1", r, "UNSAFE") for r in ("ann", "bo")]
    corpus = load("jsonl", data=path, labels=write("l.csv", _csv(votes)))
    assert ["UNSAFE", "SAFE"] == [i.label for i in corpus.items]


def test_labels_do_not_change_the_draw_and_are_counted_over_it(write, data):
    plain = load("rjudge", data=data, limit=3, seed=5)
    votes = [(str(n), r, "UNSAFE") for n in range(5) for r in ("ann", "bo")]
    corpus = load("rjudge", data=data, limit=3, seed=5, labels=write("l.csv", _csv(votes)))
    assert [i.key for i in plain.items] == [i.key for i in corpus.items]
    assert "6 labels by 2 raters" in corpus.facts.ambiguity_source


def test_a_missing_label_file_is_named(data, tmp_path):
    with pytest.raises(CorpusError, match=r"nothing\.csv: no such file"):
        load("rjudge", data=data, labels=tmp_path / "nothing.csv")


# a named assumption


def test_an_assumption_fills_unknown_flags_and_says_so(data):
    corpus = load("rjudge", data=data, assume_ambiguity="none")
    assert {False} == {i.ambiguous for i in corpus.items}
    assert 0 == corpus.facts.n_ambiguous
    assert corpus.facts.ambiguity_source.startswith(
        "assumed ('none', all items): every item without a flag is taken as unambiguous, which "
        "nobody has checked; otherwise: none: R-Judge has no ambiguity field"
    )


def test_an_assumption_beside_labels_fills_the_rest(write, data):
    labels = write("labels.csv", _csv(VOTES))
    corpus = load("rjudge", data=data, labels=labels, assume_ambiguity="none")
    assert [False, True, True, False, False] == [i.ambiguous for i in corpus.items]
    assert "assumed ('none', 2 of 5 items)" in corpus.facts.ambiguity_source
    assert "otherwise: raters:" in corpus.facts.ambiguity_source


def test_an_assumption_with_nothing_to_act_on_is_refused():
    with pytest.raises(ConfigError, match="has nothing to act on: all 72 items have a flag"):
        load("sample", assume_ambiguity="none")
    with pytest.raises(
        ConfigError, match=r"unknown assumption 'all' about ambiguity\. Known: none"
    ):
        load("sample", assume_ambiguity="all")
