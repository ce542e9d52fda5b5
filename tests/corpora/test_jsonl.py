"""A user's own trajectories: the documented form, R-Judge-like records, and tables."""

from __future__ import annotations

import re

import pytest

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.corpora import load


def test_the_documented_form_is_read(lines, own_record):
    path = lines(
        "mine.jsonl",
        [
            own_record("a", strata={"team": "x"}, ambiguous=True),
            own_record(7, label="unsafe ", ambiguous=False),
            own_record("b", label=None, label_source=...),
            own_record("c", cluster="pair 1", label_source="model"),
            own_record("d", cluster="pair 1", dataset="shop", subset="june"),
        ],
    )
    corpus = load("jsonl", data=path)
    assert [
        "jsonl/default/7",
        "jsonl/default/a",
        "jsonl/default/b",
        "jsonl/default/c",
        "shop/june/d",
    ] == [i.key for i in corpus.items]
    assert ["UNSAFE", "SAFE", None, "SAFE", "SAFE"] == [i.label for i in corpus.items]
    assert ["human", "human", "unlabelled", "model", "human"] == [
        i.label_source for i in corpus.items
    ]
    assert [False, True, None, None, None] == [i.ambiguous for i in corpus.items]
    facts = corpus.facts
    assert (1, 3, 1, 1, "model") == (
        facts.n_unsafe, facts.n_safe, facts.n_unlabelled, facts.n_ambiguous, facts.label_source,
    )  # fmt: skip
    assert (
        "Labels come from several sources (model 1, human 3); the weakest is named." in facts.notes
    )
    assert facts.ambiguity_source.endswith("3 of 5 items have none")
    assert 4 == facts.n_clusters


def test_an_item_written_out_reads_back_the_same(write, lines, own_record):
    rows = [
        own_record("a", strata={"k": "v"}, ambiguous=False),
        own_record("b", label=None, label_source=...),
    ]
    items = load("jsonl", data=lines("one.jsonl", rows)).items
    again = write("two.jsonl", "".join(i.model_dump_json() + "\n" for i in items).encode())
    assert items == load("jsonl", data=again).items


def test_a_list_of_rjudge_like_records_is_read(write, rjudge_record):
    rows = [rjudge_record(n, label_source="rule", ambiguous=n % 2) for n in range(4)]
    corpus = load("jsonl", data=write("x.json", rows))
    assert ["SAFE", "UNSAFE", "SAFE", "UNSAFE"] == [i.label for i in corpus.items]
    assert ("rule", 2, 2) == (
        corpus.facts.label_source, corpus.facts.n_ambiguous, corpus.facts.n_clusters,
    )  # fmt: skip
    assert "Fields not used: attack_type, goal, risk_description, scenario." in corpus.facts.notes
    with pytest.raises(
        CorpusError, match=r"the label has no label_source\. Say who assigned the label"
    ):
        load("jsonl", data=write("x.json", [rjudge_record(1)]))


def test_one_subset_can_be_kept(lines, own_record):
    path = lines("x.jsonl", [own_record(1, subset="a"), own_record(1, subset="b")])
    assert ["jsonl/b/1"] == [i.key for i in load("jsonl", data=path, subset="b").items]
    with pytest.raises(CorpusError, match=r"no items of subset 'c'\. The subsets are a, b"):
        load("jsonl", data=path, subset="c")


def test_items_without_a_user_message_cluster_by_profile_and_opening(lines, own_record):
    def run(name, profile, text):
        turns = [
            {"role": "system", "content": None},
            {"role": "agent", "action": text, "thought": " "},
        ]
        return own_record(name, trajectory={"profile": profile, "turns": turns})

    rows = [run(1, "p", "x"), run(2, "p", "x"), run(3, "p", "y"), run(4, "q", "x")]
    clusters = [i.cluster for i in load("jsonl", data=lines("x.jsonl", rows)).items]
    assert [0, 0, 2, 3] == [clusters.index(c) for c in clusters]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"lable": "SAFE"}, "unknown field 'lable'. Known: id, trajectory, label"),
        ({"trajectory": ...}, "the field 'trajectory' is missing"),
        ({"trajectory": []}, "trajectory is [], not an object"),
        ({"trajectory": {"turns": [], "goal": "x"}}, "unknown field 'goal' in trajectory"),
        ({"trajectory": {"profile": "x"}}, "the field 'turns' is missing"),
        ({"trajectory": {"turns": []}}, "the trajectory has no turns"),
        ({"trajectory": {"turns": "x"}}, "turns are 'x', not a list"),
        (
            {"trajectory": {"turns": [{"role": "tool", "content": "x"}]}},
            "unknown role 'tool'. Known: system",
        ),
        ({"label": ...}, "the field 'label' is missing"),
        ({"label": 1}, "label is 1; it must be SAFE, UNSAFE or null"),
        ({"label": "yes"}, "label is 'yes'"),
        (
            {"label_source": ...},
            'the label has no label_source. Say who assigned the label: "label_source"',
        ),
        ({"label_source": "llm"}, "label_source is 'llm'"),
        ({"label": None}, "label_source is 'human', but there is no label"),
        (
            {"label": None, "label_source": ["human"]},
            "label_source is ['human'], but there is no label",
        ),
        ({"strata": {"a\ud800": "x"}}, "a name in strata holds half a surrogate pair"),
        ({"ambiguous": 1}, "ambiguous is 1; it must be true, false or null"),
        ({"strata": ["x"]}, "strata is ['x'], not an object of texts"),
        ({"strata": {"n": 5}}, "strata.n is 5, not a text"),
        ({"cluster": 5}, "cluster is 5, not a text"),
        ({"dataset": " "}, "dataset is ' ': blank or not printable"),
        ({"subset": "a\nb"}, "subset is 'a\\nb': blank or not printable"),
    ],
)
def test_a_record_that_does_not_fit_is_named_by_line_and_field(lines, own_record, changes, says):
    path = lines("x.jsonl", [own_record("good"), own_record("bad", **changes)])
    with pytest.raises(CorpusError, match=re.escape(says)) as caught:
        load("jsonl", data=path)
    assert str(caught.value).startswith(f"{path}:2")


def test_keys_that_collide_are_refused_by_name(lines, own_record):
    path = lines(
        "x.jsonl",
        [own_record("c", dataset="a", subset="b/b"), own_record("b/c", dataset="a", subset="b")],
    )
    with pytest.raises(
        CorpusError, match=r"the item key 'a/b/b/c' stands for two items: \(dataset 'a'"
    ):
        load("jsonl", data=path)
    path = lines("x.jsonl", [own_record(1), own_record("1")])
    with pytest.raises(
        CorpusError, match=r"x\.jsonl:2: ids '1' and 1 \(at .*x\.jsonl:1\) are one item key"
    ):
        load("jsonl", data=path)


def test_without_data_it_says_what_to_give():
    with pytest.raises(ConfigError, match=r"no data is given\. Give --data: a JSONL or JSON file"):
        load("jsonl")


def test_template_marks_in_a_text_stay_text(lines, own_record):
    text = "{{ 7*7 }} {% for x in y %} {# c #} ${HOME} {0} %s </user>"
    path = lines(
        "x.jsonl", [own_record(1, trajectory={"turns": [{"role": "user", "content": text}]})]
    )
    assert text == load("jsonl", data=path).items[0].trajectory.turns[0].content
