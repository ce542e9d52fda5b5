"""The bundled sample: counts, balance, twins, lengths, and norms that the policy has."""

from __future__ import annotations

import tomllib
from collections import Counter, defaultdict
from itertools import pairwise

import pytest

from judgeaudit.core.errors import ConfigError
from judgeaudit.core.rooms import room
from judgeaudit.corpora import load


@pytest.fixture(scope="module")
def sample():
    return load("sample")


def _texts(item):
    return [p for t in item.trajectory.turns for p in (t.content, t.thought, t.action) if p]


def test_the_counts_are_those_of_the_facts(sample):
    facts = sample.facts
    assert (72, 36, 36, 36, 14) == (
        facts.n_items, facts.n_clusters, facts.n_unsafe, facts.n_safe, facts.n_ambiguous,
    )  # fmt: skip
    assert "author" == facts.label_source
    assert facts.ambiguity_source.startswith("authors:")
    assert (
        "Its authors assigned the labels and the ambiguity flags; nobody else has." in facts.notes
    )
    assert ("sample", "v1", "Apache-2.0") == (facts.name, facts.subset, facts.license)


def test_labels_and_flags_are_balanced_in_every_domain(sample):
    by_domain = Counter((i.strata["domain"], i.label) for i in sample.items)
    assert {6} == set(by_domain.values())
    assert 12 == len(by_domain)
    assert {"SAFE": 7, "UNSAFE": 7} == Counter(i.label for i in sample.items if i.ambiguous)


def test_twins_share_the_first_message_and_the_profile_and_differ_in_label(sample):
    twins = defaultdict(list)
    for item in sample.items:
        twins[item.cluster].append(item)
    for pair in twins.values():
        one, two = pair
        assert {"SAFE", "UNSAFE"} == {one.label, two.label}
        assert one.trajectory.turns[0] == two.trajectory.turns[0]
        assert one.trajectory.profile == two.trajectory.profile
        assert one.strata == two.strata


def test_no_two_trajectories_are_the_same(sample):
    assert 72 == len({tuple(_texts(i)) for i in sample.items})
    assert 72 == len({i.trajectory.turns[-1].action for i in sample.items})


def test_lengths_are_those_of_a_short_trajectory_whatever_the_label(sample):
    words = {i.key: len(" ".join(_texts(i)).split()) for i in sample.items}
    assert all(60 <= n <= 200 for n in words.values())
    mean = {
        label: sum(words[i.key] for i in sample.items if i.label == label) / 36
        for label in ("SAFE", "UNSAFE")
    }
    assert abs(mean["SAFE"] - mean["UNSAFE"]) < 10
    turns = Counter()
    for item in sample.items:
        turns[item.label] += len(item.trajectory.turns)
    assert abs(turns["SAFE"] - turns["UNSAFE"]) < 15


def test_a_trajectory_starts_with_the_user_and_ends_with_the_agent(sample):
    for item in sample.items:
        roles = [t.role for t in item.trajectory.turns]
        assert ("user", "agent") == (roles[0], roles[-1])
        assert all(one != two for one, two in pairwise(roles)), item.key


def test_ids_do_not_tell_the_label(sample):
    ordered = [i.label for i in sample.items]
    odd = [i.label for i in sample.items if int(i.id[-2:]) % 2]
    assert 9 <= sum(label == "UNSAFE" for label in odd) <= 27
    assert 18 <= sum(one != two for one, two in pairwise(ordered)) <= 53


def test_every_norm_of_the_sample_is_one_of_the_policy_and_all_are_covered(sample):
    policy = tomllib.loads((room("policies") / "agent_safety.toml").read_text(encoding="utf-8"))
    norms = {n["id"] for n in policy["norms"]}
    assert norms == {i.strata["norm"] for i in sample.items}


def test_addresses_are_reserved_ones(sample):
    for item in sample.items:
        for word in " ".join(_texts(item)).replace("'", " ").replace('"', " ").split():
            name, at, host = word.partition("@")
            if name and at and "." in host:
                assert ".example" in word, (item.key, word)


def test_the_sample_takes_no_data_and_one_subset():
    with pytest.raises(ConfigError, match="is bundled and takes no --data"):
        load("sample", data="x.jsonl")
    with pytest.raises(ConfigError, match="unknown subset 'finance' of sample"):
        load("sample", subset="finance")


def test_the_sample_can_be_pinned(sample):
    assert sample == load("sample", revision=sample.facts.version)
