"""Logs of Inspect AI as trajectories."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from inspect_world import FIXTURE, sample, write_eval, write_json

from judgeaudit.core.errors import ConfigError, CorpusError
from judgeaudit.corpora import load
from judgeaudit.corpora.inspect_log import trajectory_of_messages

GOLD = "?gold=metadata.harmful&label=true:UNSAFE&label=false:SAFE&source=author"


def said(item) -> list[tuple[str, str | None, str | None]]:
    return [(t.role, t.thought, t.action or t.content) for t in item.trajectory.turns]


def by_id(corpus) -> dict:
    return {i.id: i for i in corpus.items}


# -- a log of the current release ------------------------------------------------------------------


def test_a_log_of_the_current_release_is_read():
    corpus = load("inspect", data=FIXTURE)
    items = by_id(corpus)
    assert list(items) == ["1#1", "1#2", "2#1", "2#2", "3#1", "3#2", "4#1", "4#2"]
    assert 4 == corpus.facts.n_clusters
    assert {"inspect:shop:1"} == {items["1#1"].cluster, items["1#2"].cluster}
    assert 8 == corpus.facts.n_unlabelled
    assert said(items["1#1"]) == [
        ("user", None, "Refund order 8, please."),
        ("agent", None, 'I refund it.\nrefund({"order": 8, "amount": 12.5})'),
        ("environment", None, "order 8: 12.50 refunded"),
        ("agent", None, "It is refunded."),
    ]
    assert "You are a shop's assistant." == items["1#1"].trajectory.profile
    assert ("environment", None, "[error: unknown] more than the order's price") == said(
        items["2#1"]
    )[2]
    notes = " ".join(corpus.facts.notes)
    assert "Samples whose run ended in an error, judged as far as they go: 2." in notes
    assert "Images, sounds and files, of which a judge sees a mark in brackets: 2." in notes


def test_reasoning_is_thought_and_an_image_is_a_mark():
    item = by_id(load("inspect", data=FIXTURE))["3#1"]
    assert ("user", None, "What is this?\n[image]") == said(item)[0]
    assert ("agent", "A dot.", "A dot.") == said(item)[1]
    assert "You see pictures.\n\nYou are a shop's assistant." == item.trajectory.profile


def test_labels_are_there_only_where_the_user_names_their_field():
    items = by_id(load("inspect", data=f"{FIXTURE}{GOLD}&strata=metadata.kind"))
    assert ["SAFE", "UNSAFE", "SAFE", None] == [items[f"{n}#1"].label for n in (1, 2, 3, 4)]
    assert ("author", "unlabelled") == (items["1#1"].label_source, items["4#1"].label_source)
    assert {"metadata.kind": "picture"} == items["3#2"].strata
    scored = by_id(
        load(
            "inspect",
            data=f"{FIXTURE}?gold=scores.careful&label=C:SAFE&label=I:UNSAFE&source=model",
        )
    )
    assert ["SAFE", "UNSAFE", None] == [scored[f"{n}#1"].label for n in (1, 2, 3)]


def test_labels_are_not_in_a_trajectory():
    for item in load("inspect", data=f"{FIXTURE}{GOLD}").items:
        shown = item.trajectory.model_dump_json()
        assert "harmful" not in shown
        assert "GRADE" not in shown


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?gold=metadata.harmful", "nobody says who assigned the labels"),
        ("?gold=metadata.harmful&source=human", "metadata.harmful is 'false', and nobody said"),
        ("?gold=store.x&source=human", "gold='store'"),
        ("?label=true:UNSAFE", "no field is named as gold"),
        ("?gold=metadata.harmful&source=human&label=true", "not of the form WORD:SAFE"),
        ("?gold=metadata.harmful&source=human&label=true:BAD", "not of the form WORD:SAFE"),
        ("?gould=1", "did you mean 'gold'?"),
        ("?gold=scores.several&source=model", "scores.several is {'harm': 0.1, 'help': 0.5}, no single value"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_label_is_refused(query, message):
    with pytest.raises((ConfigError, CorpusError), match=re.escape(message)):
        load("inspect", data=f"{FIXTURE}{query}")


# -- real logs -------------------------------------------------------------------------------------


REAL = {
    "2025-09-23T08-09-58-04-00_security-guide_LuxZJVwvymC3S3SyoJczxB.eval": (16, 16),
    "2025-11-07T10-59-47-05-00_websearch-addition-problem_LqPDntDnkk4h2fSqQ8i6CE.eval": (1, 1),
    "log_message_deduplication.eval": (1, 1),
    "log_read_sample.json": (1, 1),
    "log_streaming.eval": (4, 2),
}


@pytest.fixture
def real(shared) -> Path:
    folder = shared / "data" / "inspect_logs"
    if not folder.is_dir():
        pytest.skip("the real logs of Inspect are not on this machine")
    return folder


@pytest.mark.parametrize("name", REAL)
def test_a_real_log_is_read(real, name):
    corpus = load("inspect", data=real / name)
    assert REAL[name] == (corpus.facts.n_items, corpus.facts.n_clusters)
    for item in corpus.items:
        roles = [t.role for t in item.trajectory.turns]
        assert "user" == roles[0]
        assert "agent" == roles[-1]
        assert "attachment://" not in item.trajectory.words


def test_pooled_messages_of_a_real_log_give_the_same_trajectory(real, tmp_path):
    """The log holds its messages twice: whole, and as references to a pool in its events."""
    import zipfile

    path = real / "log_message_deduplication.eval"
    whole = load("inspect", data=path).items[0].trajectory
    with zipfile.ZipFile(path) as log:
        one = json.loads(log.read("samples/0_epoch_1.json"))
    assert [11] == [len(one["message_pool"])]
    bare = write_eval(tmp_path / "bare.eval", [{**one, "messages": []}])
    corpus = load("inspect", data=bare)
    assert whole == corpus.items[0].trajectory
    assert 11 == len(whole.turns) - 1
    assert "Samples without messages, read from their last request: 1." in corpus.facts.notes


def test_a_folder_of_real_logs_is_one_corpus(real):
    corpus = load("inspect", data=real)
    assert (23, 20) == (corpus.facts.n_items, corpus.facts.n_clusters)
    assert {"popularity@log_read_sample", "popularity@log_streaming"} < {
        i.subset for i in corpus.items
    }
    assert 4 == load("inspect", data=real, subset="popularity@log_streaming").facts.n_items


# -- what samples can hold -------------------------------------------------------------------------


def one(tmp_path, **more):
    return load("inspect", data=write_eval(tmp_path / "x.eval", [sample(**more)]))


def test_a_single_epoch_keeps_the_samples_ids(tmp_path):
    assert "inspect/shop/1" == one(tmp_path).items[0].key


def test_a_json_log_reads_as_the_zip_does(tmp_path):
    samples = [sample(k, e) for k in ("a", "b") for e in (1, 2)]
    a = load("inspect", data=write_eval(tmp_path / "x.eval", samples))
    b = load("inspect", data=write_json(tmp_path / "x.json", samples))
    assert a.items == b.items


def test_ids_with_slashes_and_dots_are_ids(tmp_path):
    ids = ["a/b", "../../etc/passwd", "x_epoch_1"]
    made = write_eval(tmp_path / "x.eval", [sample(i) for i in ids])
    assert sorted(ids) == [i.id for i in load("inspect", data=made).items]
    assert [made] == list(tmp_path.iterdir())


def test_attachments_and_nested_arguments_are_put_in_place(tmp_path):
    call = {"function": "write", "arguments": {"to": {"text": "attachment://aa"}, "n": 1}}
    messages = [
        {"role": "user", "content": "attachment://aa"},
        {"role": "assistant", "content": [{"type": "text", "text": "attachment://bb"}], "tool_calls": [call]},
        {"role": "tool", "content": "attachment://gone"},
    ]  # fmt: skip
    corpus = one(tmp_path, messages=messages, attachments={"aa": "long one", "bb": "long two"})
    assert said(corpus.items[0]) == [
        ("user", None, "long one"),
        ("agent", None, 'long two\nwrite({"to": {"text": "long one"}, "n": 1})'),
        ("environment", None, "attachment://gone"),
    ]
    assert "Texts that refer to an attachment which the log does not hold: 1." in corpus.facts.notes


def test_a_tool_of_the_server_is_a_call_and_its_result(tmp_path):
    used = {"type": "tool_use", "name": "web_search", "arguments": '{"q": "x"}', "result": "found"}
    parts = [
        {"type": "reasoning", "reasoning": "I look."},
        used,
        {"type": "reasoning", "reasoning": "secret", "redacted": True},
        {"type": "text", "text": "It is x."},
        {"type": "data", "data": {"k": 1}},
        {"type": "document", "document": "data:x", "filename": "a.pdf"},
    ]
    corpus = one(tmp_path, messages=[{"role": "assistant", "content": parts}])
    assert said(corpus.items[0]) == [
        ("agent", "I look.", 'web_search({"q": "x"})'),
        ("environment", None, "found"),
        ("agent", "[reasoning that the provider does not show]", "It is x.\n[data]\n[document: a.pdf]"),
    ]  # fmt: skip


def test_a_grader_is_no_part_of_the_trajectory(tmp_path):
    """Where messages are missing they come from events: from those of the run, not of its scorers."""

    def asked(text: str, answer: str, span: str) -> dict:
        output = {"choices": [{"message": {"role": "assistant", "content": answer}}]}
        return {"event": "model", "span_id": span, "input": [{"role": "user", "content": text}], "output": output}  # fmt: skip

    events = [
        {"event": "span_begin", "id": "s", "type": "solvers", "name": "solvers"},
        asked("Hello!", "Good day.", "s"),
        {"event": "span_begin", "id": "z", "type": "scorers", "name": "scorers"},
        {"event": "span_begin", "id": "g", "parent_id": "z", "type": "scorer", "name": "safe"},
        asked("Grade this: UNSAFE if ...", "GRADE: I", "g"),
        {"event": "span_begin", "id": "h", "parent_id": "g", "type": "x", "name": "inner"},
        asked("And again", "GRADE: I", "h"),
    ]
    corpus = one(tmp_path, messages=..., events=events)
    assert [("user", None, "Hello!"), ("agent", None, "Good day.")] == said(corpus.items[0])
    old = [
        asked("Hello!", "Good day.", ""),
        {"event": "step", "action": "begin", "type": "scorer", "name": "safe"},
        asked("Grade this", "GRADE: I", ""),
        {"event": "step", "action": "end", "type": "scorer", "name": "safe"},
    ]
    assert said(corpus.items[0]) == said(one(tmp_path, messages=[], events=old).items[0])


def test_a_sample_without_messages_and_events_is_its_input_and_output(tmp_path):
    output = {"choices": [{"message": {"role": "assistant", "content": "Bye."}}]}
    corpus = one(tmp_path, messages=..., output=output)
    assert [("user", None, "Hello!"), ("agent", None, "Bye.")] == said(corpus.items[0])


def test_empty_and_invalidated_samples_are_left_out_and_told(tmp_path):
    samples = [
        sample(1),
        sample(2, messages=[{"role": "user", "content": " "}]),
        sample(3, invalidation={"author": "me"}),
    ]
    corpus = load("inspect", data=write_eval(tmp_path / "x.eval", samples))
    assert ["1"] == [i.id for i in corpus.items]
    notes = " ".join(corpus.facts.notes)
    assert "Samples without any text, left out: 1." in notes
    assert "Samples invalidated by whoever ran them, left out: 1." in notes


def test_half_surrogates_and_nul_survive(tmp_path):
    corpus = one(tmp_path, messages=[{"role": "user", "content": "a\ud83d b\x00c"}])
    assert "a\ufffd b\x00c" == corpus.items[0].trajectory.turns[0].content
    assert "Texts with half a surrogate pair, which is replaced by U+FFFD: 1." in corpus.facts.notes
    assert corpus.items[0].model_dump_json()


def test_a_large_message_is_read_whole(tmp_path):
    text = "x" * 20_000_000
    corpus = one(tmp_path, messages=[{"role": "user", "content": text}])
    assert text == corpus.items[0].trajectory.turns[0].content


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"messages": "x"}, "messages is 'x', not a list"),
        ({"messages": ["x"]}, "message 1: is 'x', not an object"),
        ({"messages": [{"role": "judge", "content": "x"}]}, "message 1: unknown role 'judge'"),
        ({"messages": [{"role": "user", "content": 3}]}, "message 1: content is 3"),
        ({"messages": [{"role": "user", "content": [{"type": "smell"}]}]}, "unknown kind of content 'smell'"),
        ({"messages": [{"role": "assistant", "content": "", "tool_calls": 3}]}, "tool_calls is 3"),
        ({"attachments": 3}, "'attachments' is no object"),
        ({"epoch": 0}, "epoch is 0"),
        ({"epoch": True}, "epoch is True"),
        ({"messages": ..., "events": [3]}, "'events' is no list of objects"),
        ({"messages": ..., "events": [{"event": "model", "input": [], "input_refs": [[0, 9]]}]}, "outside of a pool of 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named_with_its_place(tmp_path, more, message):
    made = write_json(tmp_path / "x.json", [sample(**more)])
    with pytest.raises(CorpusError) as caught:
        load("inspect", data=made)
    assert message in str(caught.value)
    assert "x.json, sample 1" in str(caught.value)


def test_ids_that_would_be_one_are_refused(tmp_path):
    made = write_json(tmp_path / "x.json", [sample(1), sample("1")])
    with pytest.raises(CorpusError, match="are one item key"):
        load("inspect", data=made)


def test_messages_of_a_state_are_a_trajectory():
    """Objects with `model_dump`, as Inspect's are, or mappings: for a scorer that wants to see what a judge sees."""

    class Message:
        def model_dump(self) -> dict:
            return {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "hm"}], "tool_calls": None}  # fmt: skip

    made = trajectory_of_messages([{"role": "system", "content": "p"}, Message()])
    assert ("p", "hm", None) == (made.profile, made.turns[0].thought, made.turns[0].action)
