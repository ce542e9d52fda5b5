"""Transcripts become labelled items: the label from the field that the user names, or none."""

from __future__ import annotations

import json

import pytest
from transcript_world import CHAT, said

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.corpora import load
from judgeaudit.engine.imported.converting import convert


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "t.jsonl"
    lines = [
        {**CHAT, "id": n, "metadata": {"secure": n % 2 == 0, "task": f"k{n // 2}"}}
        for n in range(4)
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def test_labels_are_taken_from_the_field_named(file, tmp_path):
    made = convert(
        "transcripts", file, out=tmp_path / "i.jsonl", label_field="metadata.secure",
        label=["true=SAFE", "false=UNSAFE"], label_source="rule", cluster_field="metadata.task",
        strata=["task=metadata.task"], id_field="id",
    )  # fmt: skip
    assert (4, {"SAFE": 2, "UNSAFE": 2}) == (made.n_items, made.labels)
    corpus = load("jsonl", data=made.path)
    assert ["SAFE", "UNSAFE", "SAFE", "UNSAFE"] == [i.label for i in corpus.items]
    assert ["k0", "k0", "k1", "k1"] == [i.cluster for i in corpus.items]
    assert {"task": "k0"} == corpus.items[0].strata
    assert "rule" == corpus.facts.label_source
    assert said(load("transcripts", data=file)) == said(corpus)


def test_without_a_label_field_there_is_no_label(file, tmp_path):
    made = convert("openai_chat", file, out=tmp_path / "i.jsonl")
    assert {"unlabelled": 4} == made.labels
    assert [None] * 4 == [i.label for i in load("jsonl", data=made.path).items]


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"label_field": "metadata.secure"}, "nobody said who assigned"),
        ({"label": ["true=SAFE"]}, "go with --label-field"),
        (
            {"label_field": "messages.0.content", "label_source": "rule"},
            "part of what a judge sees",
        ),
        (
            {"label_field": "metadata.secur", "label_source": "rule"},
            "no transcript has the field.*metadata.secure",
        ),
        ({"label_field": "metadata.secure", "label_source": "me"}, "unknown source of labels"),
        (
            {
                "label_field": "metadata.secure",
                "label_source": "rule",
                "label": ["true=SAFE", "false=UNSAFE", "no=SAFE"],
            },
            "'no'.*no transcript has that word",
        ),
    ],
)
def test_choices_that_do_not_fit_are_refused(file, tmp_path, choices, said):
    with pytest.raises(ConfigError, match=said):
        convert("transcripts", file, out=tmp_path / "i.jsonl", **choices)
    assert not (tmp_path / "i.jsonl").exists()


def test_a_word_that_nobody_explained_is_refused_with_its_place(file, tmp_path):
    with pytest.raises(CorpusError, match=r"t\.jsonl:2.*nobody said what that means"):
        convert("transcripts", file, out=tmp_path / "i.jsonl", label_field="metadata.secure",
                label_source="rule", label=["true=SAFE"])  # fmt: skip


def test_a_corpus_that_holds_no_transcripts_is_refused(file, tmp_path):
    with pytest.raises(ConfigError, match="'jsonl' is no corpus of transcripts"):
        convert("jsonl", file, out=tmp_path / "i.jsonl")
