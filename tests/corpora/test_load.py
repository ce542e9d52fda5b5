"""Loading by name, drawing a subset, and the facts."""

from __future__ import annotations

from collections import Counter

import pytest

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.core.hashing import sha256_of
from judgeaudit.core.records import Item, Trajectory, Turn
from judgeaudit.corpora import CORPORA, Draft, base, load
from judgeaudit.corpora._clusters import draw


def test_the_known_corpora_are_found_and_an_unknown_one_lists_them():
    transcripts = ["anthropic_messages", "openai_chat", "openai_responses", "otel_spans"]
    assert (
        sorted(["assebench", "inspect", "jsonl", "rjudge", "sample", "transcripts", *transcripts])
        == CORPORA.names()
    )
    with pytest.raises(ConfigError, match="unknown corpus 'rjugde'; did you mean 'rjudge'"):
        load("rjugde")


@pytest.mark.parametrize("limit", [0, -1, True])
def test_a_limit_below_one_is_refused(limit):
    with pytest.raises(ConfigError, match="leaves no items"):
        load("sample", limit=limit)


@pytest.mark.parametrize("data", ["", " ", "a\0b"])
def test_an_empty_path_is_refused(data):
    with pytest.raises(ConfigError, match="is not a path"):
        load("assebench", data=data)


def test_the_hash_is_that_of_the_items_in_order_of_their_keys():
    corpus = load("sample")
    keys = [i.key for i in corpus.items]
    assert sorted(keys) == keys
    assert sha256_of([i.model_dump(mode="json") for i in corpus.items]) == corpus.facts.sha256
    assert corpus.facts.sha256 != load("sample", limit=71).facts.sha256


def test_the_draw_keeps_twins_together_and_says_so():
    corpus = load("sample", limit=12)
    assert {2} == set(Counter(i.cluster for i in corpus.items).values())
    assert 6 == sum(i.label == "UNSAFE" for i in corpus.items)
    assert any(
        note.startswith("12 of 72 items were drawn at random (seed 0)")
        for note in corpus.facts.notes
    )
    assert corpus.items == load("sample", limit=12).items
    assert corpus.items != load("sample", limit=12, seed=1).items


def test_a_limit_of_all_items_is_no_draw():
    assert load("sample") == load("sample", limit=72) == load("sample", limit=1000)


def test_the_draw_is_the_same_on_every_machine():
    assert ["sample/v1/cod-03", "sample/v1/cod-08", "sample/v1/ema-11", "sample/v1/ema-12"] == [
        i.key for i in load("sample", limit=4, seed=0).items
    ]


def _items(sizes):
    """Make clusters of these sizes, labels in turn."""
    return [
        Item(
            dataset="d", subset="s", id=f"{c:02d}-{n:02d}", cluster=str(c),
            trajectory=Trajectory(turns=(Turn(role="user", content="x"),)),
            label="UNSAFE" if n % 2 else "SAFE", label_source="rule",
        )
        for c, size in enumerate(sizes) for n in range(size)
    ]  # fmt: skip


def test_a_larger_limit_adds_to_a_smaller_one():
    items = _items([1, 2, 3, 9, 1, 1, 4])
    smaller: set[str] = set()
    for limit in range(1, len(items) + 1):
        taken = {i.key for i in draw(items, limit, seed=3)}
        assert limit == len(taken)
        assert smaller < taken
        smaller = taken


def test_the_order_of_the_items_does_not_change_the_draw():
    items = _items([1, 2, 3, 9, 1, 1, 4])
    assert draw(items, 7, seed=1) == draw(items[::-1], 7, seed=1)


def test_every_item_is_about_as_likely_to_be_drawn():
    items = _items([1, 1, 1, 1, 2, 2, 10])
    counts = Counter(i.key for seed in range(600) for i in draw(items, 6, seed))
    # 6 of 18: 200 of 600 expected, standard deviation below 12
    assert 18 == len(counts)
    assert all(140 < n < 260 for n in counts.values()), counts


def test_a_big_cluster_does_not_fill_the_subset():
    items = _items([60] + [1] * 60)
    share = sum(i.cluster == "0" for seed in range(40) for i in draw(items, 20, seed)) / 800
    assert 0.35 < share < 0.65


def test_a_reader_of_another_package_is_checked_as_well(monkeypatch):
    items = _items([2])

    class Twice:
        title = "x"
        license = ""
        needs = ""

        def read(self, request):
            return Draft(
                items=(items[0], items[0]) if request.subset else (), ambiguity_source="none"
            )

    monkeypatch.setattr(base, "CORPORA", {"twice": Twice})
    with pytest.raises(CorpusError, match="twice: no items"):
        load("twice")
    with pytest.raises(CorpusError, match=r"the item key 'd/s/00-00' stands for two items"):
        load("twice", subset="y")
