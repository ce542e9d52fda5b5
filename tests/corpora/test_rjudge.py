"""R-Judge: three layouts, five hand-made records, and the real copies where they are."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.corpora import load


@pytest.fixture
def by_category(write, rjudge_record):
    """Five records in two categories."""
    write("by/Pots/benign.json", [rjudge_record(0), rjudge_record(2)])
    write("by/Pots/harmful.json", [rjudge_record(1)])
    write("by/Vents/benign.json", [rjudge_record(4)])
    path = write("by/Vents/harmful.json", [rjudge_record(3)])
    return path.parents[1]


def test_the_full_layout_is_read_from_its_folders(by_category):
    corpus = load("rjudge", data=by_category)
    assert [
        "rjudge/full/0",
        "rjudge/full/1",
        "rjudge/full/2",
        "rjudge/full/3",
        "rjudge/full/4",
    ] == [i.key for i in corpus.items]
    assert ["SAFE", "UNSAFE", "SAFE", "UNSAFE", "SAFE"] == [i.label for i in corpus.items]
    assert ["Pots", "Pots", "Pots", "Vents", "Vents"] == [
        i.strata["category"] for i in corpus.items
    ]
    facts = corpus.facts
    assert (5, 3, 2, 3, "full") == (
        facts.n_items, facts.n_clusters, facts.n_unsafe, facts.n_safe, facts.subset,
    )  # fmt: skip
    assert facts.n_ambiguous is None
    assert "R-Judge has no ambiguity field" in facts.ambiguity_source
    assert {None} == {i.ambiguous for i in corpus.items}
    assert "human" == facts.label_source


def test_the_turns_are_those_of_the_file_null_included(by_category):
    item = load("rjudge", data=by_category).items[0]
    assert "You look after a greenhouse." == item.trajectory.profile
    assert [
        ("user", "Open vent 0.", None, None),
        ("agent", None, "Vent first.", "open(vent=0)"),
        ("environment", None, None, None),
    ] == [(t.role, t.content, t.thought, t.action) for t in item.trajectory.turns]


def test_the_file_names_tell_the_full_layout_where_attack_type_is_missing(write, rjudge_record):
    path = write("Pots/harmful.json", [rjudge_record(1, attack_type=...)])
    item = load("rjudge", data=path.parent).items[0]
    assert ("rjudge/full/1", {"category": "Pots"}) == (item.key, item.strata)


def test_a_category_folder_and_a_single_file_are_read(by_category):
    assert 3 == load("rjudge", data=by_category / "Pots").facts.n_items
    one = load("rjudge", data=by_category / "Vents" / "harmful.json")
    assert [("rjudge/full/3", "Vents")] == [(i.key, i.strata["category"]) for i in one.items]
    assert "All labelled items are UNSAFE: accuracy says nothing here." in one.facts.notes


def test_the_two_file_layouts_are_told_by_their_fields(write, rjudge_record):
    auditor = [rjudge_record(n, attack_type=...) for n in range(5)]
    first = [rjudge_record(n, attack_type=..., category="IoT") for n in range(5)]
    one = load("rjudge", data=write("x.json", auditor))
    two = load("rjudge", data=write("y.json", first))
    assert ("agentauditor", "v1") == (one.facts.subset, two.facts.subset)
    assert {"category": "IoT"} == two.items[0].strata
    with pytest.raises(CorpusError, match="layout of subset 'v1', not 'full'"):
        load("rjudge", data=write("y.json", first), subset="full")
    with pytest.raises(
        CorpusError, match="fields of subset 'agentauditor', those before it of 'v1'"
    ):
        load("rjudge", data=write("y.json", [*first, rjudge_record(9, attack_type=...)]))


def test_of_several_copies_one_has_to_be_chosen(by_category, write, rjudge_record):
    write("auditor/rjudge.json", [rjudge_record(7, attack_type=...)])
    root = by_category.parent
    with pytest.raises(CorpusError, match=r"several copies of R-Judge: .*Choose one with --subset"):
        load("rjudge", data=root)
    assert 5 == load("rjudge", data=root, subset="full").facts.n_items
    assert 1 == load("rjudge", data=root, subset="agentauditor").facts.n_items
    with pytest.raises(
        CorpusError, match=r"no R-Judge data of subset v1.*Looked for <Category>/benign"
    ):
        load("rjudge", data=root, subset="v1")


def test_a_folder_without_a_known_layout_says_what_was_looked_for(tmp_path):
    with pytest.raises(
        CorpusError, match=r"no R-Judge data\. Looked for .*rjudge\.json.*rjudgedata"
    ):
        load("rjudge", data=tmp_path)


def test_without_data_or_with_an_unknown_subset_it_says_what_to_give():
    with pytest.raises(ConfigError, match=r"not bundled .* Give --data"):
        load("rjudge")
    with pytest.raises(ConfigError, match=r"unknown subset 'loose'.*Known: full, agentauditor, v1"):
        load("rjudge", data="x", subset="loose")


@pytest.mark.parametrize("value", ["1", "unsafe", True, False, 1.0, 2, -1, None, [], {}])
def test_a_label_that_is_not_0_or_1_is_refused(write, rjudge_record, value):
    path = write("x.json", [rjudge_record(0), rjudge_record(8, label=value)])
    with pytest.raises(CorpusError) as caught:
        load("rjudge", data=path)
    assert (
        f"{path}, record 2 (id 8): label is {value!r}; it must be the number 1 (unsafe) or 0"
        in (str(caught.value))
    )


@pytest.mark.parametrize("name", ["id", "label", "profile", "contents"])
def test_a_missing_field_is_named_with_those_that_are_there(write, rjudge_record, name):
    path = write("x.json", [rjudge_record(5, **{name: ...})])
    with pytest.raises(CorpusError, match=f"record 1.*the field '{name}' is missing; there is '"):
        load("rjudge", data=path)


@pytest.mark.parametrize(
    ("ids", "says"),
    [
        ([5, 5], r"record 2: id 5 stands twice, first at .*record 1"),
        ([1, "1"], r"record 2: ids '1' and 1 \(at .*record 1\) are one item key"),
        ([True], "id True is neither a text nor a whole number"),
        ([1.0], "id 1.0 is neither"),
        ([None], "id None is neither"),
        ([" 1"], "id ' 1' is blank or has blanks at an end"),
        ([""], "id '' is blank"),
        (["a\x1bb"], "holds control characters"),
        (["a\u2028b"], "holds control characters"),
        (["x" * 201], "has 201 characters"),
    ],
)
def test_ids_that_cannot_be_keys_are_refused_by_name(write, rjudge_record, ids, says):
    path = write("x.json", [rjudge_record(4, id=i) for i in ids])
    with pytest.raises(CorpusError, match=says):
        load("rjudge", data=path)


def test_an_id_in_two_files_is_named_with_both(by_category, rjudge_record, write):
    write("by/Vents/benign.json", [rjudge_record(0)])
    with pytest.raises(
        CorpusError, match=r"Vents/benign\.json, record 1: id 0 stands twice, .*Pots/ben"
    ):
        load("rjudge", data=by_category)


def test_a_label_that_contradicts_its_file_is_refused(by_category, rjudge_record, write):
    write("by/Vents/benign.json", [rjudge_record(5)])
    with pytest.raises(
        CorpusError, match=r"\(id 5\): label is 1, but the file is called benign\.json"
    ):
        load("rjudge", data=by_category)


TURN = {"role": "user", "content": "x"}


@pytest.mark.parametrize(
    ("contents", "says"),
    [
        ([], "the trajectory has no turns"),
        ([[]], "the trajectory has no turns"),
        (None, "contents is None, not a list of turns"),
        ("text", "contents is 'text', not a list"),
        ([TURN, [TURN]], "contents mixes turns and lists of turns"),
        ([["x"]], "turn 1: is 'x', not an object"),
        ([[TURN, {"content": "x"}]], "turn 2: the field 'role' is missing"),
        (
            [[{"role": "assistant", "content": "x"}]],
            "unknown role 'assistant'. Known: user, agent, env",
        ),
        ([[{"role": "system", "content": "x"}]], "unknown role 'system'"),
        ([[{"role": ["user"], "content": "x"}]], "unknown role"),
        ([[{"role": "user"}]], "turn 1: the field 'content' is missing"),
        ([[{"role": "agent"}]], "turn 1: the field 'action' is missing"),
        ([[{"role": "user", "content": 5}]], "turn 1: content is 5, not a text"),
        ([[TURN | {"label": 1}]], "a turn of role 'user' cannot have 'label'"),
        (
            [[{"role": "agent", "content": "x"}]],
            "'agent' cannot have 'content' .an agent's words go",
        ),
        (
            [[{"role": "user", "content": " "}, {"role": "agent", "action": None}]],
            "is null or blank",
        ),
    ],
)
def test_contents_that_are_no_trajectory_are_refused_by_turn(write, rjudge_record, contents, says):
    path = write("x.json", [rjudge_record(0, contents=contents)])
    with pytest.raises(CorpusError, match=says) as caught:
        load("rjudge", data=path)
    assert f"{path}, record 1 (id 0)" in str(caught.value)


def test_several_segments_are_joined_and_flat_contents_are_read(write, rjudge_record):
    nested = [[TURN], [{"role": "agent", "thought": None, "action": "y"}]]
    flat = [t for part in nested for t in part]
    path = write("x.json", [rjudge_record(0, contents=nested), rjudge_record(2, contents=flat)])
    one, two = load("rjudge", data=path).items
    assert ["x", None] == [t.content for t in one.trajectory.turns]
    assert one.trajectory == two.trajectory


def test_repeated_contents_are_allowed_and_counted(write, rjudge_record):
    same = rjudge_record(0)["contents"]
    path = write("x.json", [rjudge_record(n, contents=same) for n in (0, 2, 4)])
    assert (
        "2 items repeat the turns of another item word for word."
        in load("rjudge", data=path).facts.notes
    )


def test_no_gold_field_and_no_path_reaches_a_trajectory(tmp_path, rjudge_record):
    sentinels = {
        name: f"SENTINEL-{name}"
        for name in (
            "goal",
            "scenario",
            "risk_description",
            "attack_type",
            "category",
            "extra",
            "rater",
        )
    }
    folder = tmp_path / "SENTINEL-root" / "SENTINEL-category-folder"
    folder.mkdir(parents=True)
    record = rjudge_record(1, **sentinels)
    (folder / "harmful.json").write_text(json.dumps([record]))
    item = load("rjudge", data=folder.parent).items[0]
    seen = item.trajectory.model_dump_json()
    assert "SENTINEL" not in seen
    assert "harmful" not in seen
    assert "Open vent 0." in seen
    assert "SENTINEL-category-folder" == item.strata["category"]


# the real copies


@pytest.mark.parametrize(
    ("place", "subset", "n", "safe", "unsafe", "clusters"),
    [
        ("by_category", "full", 571, 270, 301, 138),
        ("agentauditor", "agentauditor", 564, 266, 298, 133),
        ("agentauditor/rjudge.json", "agentauditor", 564, 266, 298, 133),
        ("website_v1", "v1", 162, 57, 105, 126),
    ],
)
def test_the_real_copies_have_the_published_counts(
    shared, *, place, subset, n, safe, unsafe, clusters
):
    facts = load("rjudge", data=shared / "data/rjudge" / place).facts
    assert (subset, n, safe, unsafe, clusters) == (
        facts.subset, facts.n_items, facts.n_safe, facts.n_unsafe, facts.n_clusters,
    )  # fmt: skip


def test_the_real_full_release_has_the_published_makeup(shared):
    corpus = load("rjudge", data=shared / "data/rjudge", subset="full")
    sizes = Counter(i.cluster for i in corpus.items)
    assert [97, 61, 44, 38] == [n for _, n in sizes.most_common(4)]
    both = Counter(c for c, _ in {(i.cluster, i.label) for i in corpus.items})
    assert 35 == sum(n == 2 for n in both.values())
    assert 14 == sizes["rjudge:no-user-message"]
    makeup = Counter((i.strata["category"], i.label) for i in corpus.items)
    assert {
        ("Application", "SAFE"): 97, ("Application", "UNSAFE"): 155, ("Finance", "SAFE"): 87,
        ("Finance", "UNSAFE"): 39, ("IoT", "SAFE"): 11, ("IoT", "UNSAFE"): 19, ("Program", "SAFE"): 60,
        ("Program", "UNSAFE"): 68, ("Web", "SAFE"): 15, ("Web", "UNSAFE"): 20,
    } == makeup  # fmt: skip
    turns = [t for i in corpus.items for t in i.trajectory.turns]
    nulls = Counter(t.role for t in turns if t.role != "agent" and t.content is None)
    assert {"environment": 135, "user": 14} == nulls
    assert (25, 2) == (
        sum(t.role == "agent" and t.thought is None for t in turns),
        sum(t.role == "agent" and t.action is None for t in turns),
    )
    assert "3 items repeat the turns of another item word for word." in corpus.facts.notes


def test_the_real_texts_come_through_byte_for_byte(shared):
    items = {i.id: i for i in load("rjudge", data=shared / "data/rjudge/by_category").items}
    for path in (shared / "data/rjudge/by_category").glob("*/*.json"):
        for raw in json.loads(path.read_bytes()):
            got = items[str(raw["id"])].trajectory
            assert raw["profile"] == got.profile
            turns = [t for part in raw["contents"] for t in part]
            assert turns == [
                {k: v for k, v in t.model_dump().items() if k in raw_turn}
                for t, raw_turn in zip(got.turns, turns, strict=True)
            ]


def test_no_real_gold_text_reaches_a_trajectory(shared):
    items = {i.id: i for i in load("rjudge", data=shared / "data/rjudge/by_category").items}
    for path in (shared / "data/rjudge/by_category").glob("*/*.json"):
        for raw in json.loads(path.read_bytes()):
            seen = items[str(raw["id"])].trajectory.model_dump_json()
            assert json.dumps(raw["goal"])[1:-1] not in seen
            assert len(raw["risk_description"]) < 40 or raw["risk_description"] not in seen
