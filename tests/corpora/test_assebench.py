"""ASSEBench: five hand-made records, every subset and spelling, and the real Security file."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.corpora import load


def _record(n, **changes):
    turns = [
        {"role": "user", "content": f"Count the pallets in hall {n // 2}. Tools: scan, tally."},
        {"role": "agent", "thought": "", "action": "scan()"},
        {"role": "agent", "thought": "[Observation]: 12", "action": ""},
    ]
    record = {
        "id": n,
        "profile": "You are a warehouse clerk. ",
        "contents": [turns] if n % 2 else turns,
        "label": n % 2,
        "application_scenario": "Data Management",
        "risk_type": "Prompt Injection",
        "failure_mode": "Skipped a step." if n % 2 else "Skipped a step",
        "ambiguous": int(n == 3),
        "risk_description": "gold explanation",
    }
    return {k: v for k, v in (record | changes).items() if v is not ...}


FIVE = [_record(n) for n in range(5)]


@pytest.mark.parametrize(
    ("word", "subset"),
    [("security", "security"), ("safety", "safety"), ("strict", "strict"), ("loose", "lenient")],
)
def test_the_file_name_tells_the_subset(write, word, subset):
    corpus = load("assebench", data=write(f"AgentJudge-{word}.json", FIVE))
    assert [f"assebench/{subset}/{n}" for n in range(5)] == [i.key for i in corpus.items]
    facts = corpus.facts
    assert (subset, 5, 2, 3, 1, "human") == (
        facts.subset, facts.n_items, facts.n_unsafe, facts.n_safe, facts.n_ambiguous, facts.label_source,
    )  # fmt: skip
    assert facts.ambiguity_source.startswith("experts:")
    assert any("the paper has" in note for note in facts.notes)


def test_nested_and_flat_contents_and_both_spellings_are_the_same(write):
    items = load("assebench", data=write("AgentJudge-safety.json", FIVE)).items
    assert items[0].trajectory == items[1].trajectory
    assert {"Skipped a step"} == {i.strata["failure_mode"] for i in items}
    assert [False, False, False, True, False] == [i.ambiguous for i in items]
    assert "You are a warehouse clerk. " == items[0].trajectory.profile


def test_items_of_one_task_are_one_cluster(write):
    tools = "\nYou are given these tools: "
    texts = [
        "Count the pallets in hall seven. " + tools + "scan",
        "Count the  pallets in hall seven. Ignore the rest." + tools + "tally",
        "Count the pallets in hall eight." + tools + "scan",
        "Hello. Count the pallets in hall seven.",
        "Hello. Move the pallets of hall seven.",
    ]
    five = [
        _record(n, contents=[{"role": "user", "content": t}, {"role": "agent", "action": "x"}])
        for n, t in enumerate(texts)
    ]
    clusters = [
        i.cluster for i in load("assebench", data=write("AgentJudge-safety.json", five)).items
    ]
    assert [0, 0, 2, 3, 4] == [clusters.index(c) for c in clusters]


def test_a_file_of_another_name_needs_the_subset(write):
    path = write("mine.json", FIVE)
    with pytest.raises(
        ConfigError, match=r"does not tell the subset .* --subset: security, safety"
    ):
        load("assebench", data=path)
    assert "strict" == load("assebench", data=path, subset="strict").facts.subset
    with pytest.raises(
        ConfigError, match="'strict' is asked for, but the file is that of 'lenient'"
    ):
        load("assebench", data=write("AgentJudge-loose.json", FIVE), subset="strict")
    with pytest.raises(ConfigError, match=r"unknown subset 'loose' .* Known: .*lenient"):
        load("assebench", data=path, subset="loose")


def test_in_a_folder_one_of_several_subsets_has_to_be_chosen(write):
    path = write("repo/ASSEBench/dataset/AgentJudge-loose.json", FIVE)
    root = path.parents[2]
    for folder in (root, root / "ASSEBench", path.parent):
        assert "lenient" == load("assebench", data=folder).facts.subset
    write("repo/ASSEBench/dataset/AgentJudge-strict.json", FIVE)
    with pytest.raises(CorpusError, match=r"several subsets: .*Choose one with --subset"):
        load("assebench", data=root)
    assert "strict" == load("assebench", data=root, subset="strict").facts.subset
    with pytest.raises(
        CorpusError, match=r"of subset safety\. Looked for AgentJudge-safety\.json, "
    ):
        load("assebench", data=root, subset="safety")


def test_without_data_it_says_where_to_get_it():
    with pytest.raises(ConfigError, match=r"not bundled\. Give --data: .*hub:Atarogic/ASSEBench"):
        load("assebench")


def test_items_without_a_flag_stay_unknown(write):
    rows = [*FIVE[:4], _record(4, ambiguous=None), _record(5, ambiguous=...)]
    corpus = load("assebench", data=write("AgentJudge-safety.json", rows))
    assert [None, None] == [i.ambiguous for i in corpus.items[4:]]
    assert corpus.facts.ambiguity_source.endswith("2 of 6 items have none")
    assert 1 == corpus.facts.n_ambiguous
    none = load("assebench", data=write("AgentJudge-strict.json", [_record(1, ambiguous=...)]))
    assert none.facts.n_ambiguous is None
    assert "has no field 'ambiguous'" in none.facts.ambiguity_source


@pytest.mark.parametrize("value", [True, "0", 2, 0.5])
def test_a_flag_that_is_not_0_or_1_is_refused(write, value):
    path = write("AgentJudge-safety.json", [_record(0, ambiguous=value)])
    with pytest.raises(
        CorpusError, match=r"record 1 \(id 0\): ambiguous is .*must be the number 1 or 0"
    ):
        load("assebench", data=path)


def test_ids_1_and_text_1_are_refused(write):
    path = write("AgentJudge-safety.json", [_record(1), _record(3, id="1")])
    with pytest.raises(CorpusError, match=r"ids '1' and 1 .* are one item key"):
        load("assebench", data=path)


def test_no_gold_field_reaches_a_trajectory(write):
    gold = ("risk_description", "application_scenario", "risk_type", "failure_mode", "annotator")
    path = write(
        "SENTINEL-folder/AgentJudge-strict.json", [_record(1, **{g: f"SENTINEL-{g}" for g in gold})]
    )
    item = load("assebench", data=path).items[0]
    assert "SENTINEL" not in item.trajectory.model_dump_json()
    assert "strict" not in item.trajectory.model_dump_json()
    assert "SENTINEL-risk_type" == item.strata["risk_type"]


# the real file


def test_the_real_security_file_has_the_published_counts(shared):
    corpus = load("assebench", data=shared / "data/assebench")
    facts = corpus.facts
    assert ("security", 817, 409, 408, 55) == (
        facts.subset, facts.n_items, facts.n_unsafe, facts.n_safe, facts.n_ambiguous,
    )  # fmt: skip
    flagged = Counter(i.label for i in corpus.items if i.ambiguous)
    assert {"UNSAFE": 46, "SAFE": 9} == flagged
    assert facts.version.startswith("sha256:4db9e5c9")
    assert "The file is byte for byte the published one (git blob)." in facts.notes
    assert 12 == len({i.strata["application_scenario"] for i in corpus.items})
    assert (6, 13) == (
        len({i.strata["risk_type"] for i in corpus.items}),
        len({i.strata["failure_mode"] for i in corpus.items}),
    )


def test_the_real_records_of_twenty_tasks_are_twenty_clusters(shared):
    corpus = load("assebench", data=shared / "data/assebench/dataset/AgentJudge-security.json")
    helpful = "You are a helpful LLM agent"
    tasks = {
        i.cluster for i in corpus.items if not (i.trajectory.profile or "").startswith(helpful)
    }
    assert (20, 96) == (len(tasks), corpus.facts.n_clusters)


def test_the_real_texts_come_through_byte_for_byte(shared):
    path = shared / "data/assebench/dataset/AgentJudge-security.json"
    items = {i.id: i for i in load("assebench", data=path).items}
    for raw in json.loads(path.read_bytes()):
        got = items[str(raw["id"])].trajectory
        assert raw["profile"] == got.profile
        for one, two in zip(raw["contents"][0], got.turns, strict=True):
            assert one == {k: v for k, v in two.model_dump().items() if k in one}
            assert raw["risk_description"] not in two.model_dump_json()
