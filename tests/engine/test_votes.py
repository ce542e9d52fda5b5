"""Raters' votes: from a file of labels or a table's columns into the ledger, and out again."""

from __future__ import annotations

import pytest
from import_world import facts, importing, refused, table  # noqa: F401

from judgeaudit import audit, cards
from judgeaudit.core.errors import ConfigError
from judgeaudit.core.records import Item, Trajectory
from judgeaudit.corpora import load
from judgeaudit.engine.ledger import Ledger
from judgeaudit.engine.votes import votes_extra, votes_of

TEXT = """id,wording,label,ann,bo,cy
a,base,UNSAFE,UNSAFE,UNSAFE,
b,base,SAFE,SAFE,UNSAFE,SAFE
c,base,SAFE,,UNSAFE,UNSAFE
d,base,SAFE,,,
e,base,SAFE,SAFE,UNSAFE,
"""
NAMED = {"item": "id", "condition": "wording", "verdict": "label"}


def item(name: str, **votes: str) -> Item:
    key = {"dataset": "d", "subset": "s", "id": name, "cluster": name}
    return Item(**key, trajectory=Trajectory(turns=()), votes=votes)


def test_items_without_votes_are_written_as_before():
    """The hash of a corpus that never had votes must not move."""
    assert "votes" not in item("a").model_dump(mode="json")
    assert {"ann": "SAFE"} == item("a", ann="SAFE").model_dump(mode="json")["votes"]
    assert item("a", ann="SAFE") == Item.model_validate(item("a", ann="SAFE").model_dump())


def test_there_and_back():
    items = [item("a", bo="UNSAFE", ann="SAFE"), item("b"), item("c", cy="SAFE")]
    extra = votes_extra(items)
    votes, raters = votes_of(extra, [i.key for i in items])
    assert ("ann", "bo", "cy") == raters
    assert [[0, 1, -1], [-1, -1, -1], [-1, -1, 0]] == votes.tolist()
    assert {} == votes_extra([item("a")])
    assert (None, ()) == votes_of({}, ["d/s/a"])


def test_import_of_columns_of_raters(take):
    made = take(TEXT, **NAMED, rater=["ann", "bo", "cy"])
    found = table(made)
    assert ("ann", "bo", "cy") == found.raters
    assert [[1, 1, -1], [0, 1, 0], [-1, 1, 1], [-1] * 3, [0, 1, -1]] == found.votes.tolist()
    # the majority is the label, a tie none; disagreement is ambiguity, one vote or none says nothing
    assert [1, 0, 1, -1, -1] == found.gold.tolist()
    assert [0, 1, 0, -1, 1] == found.ambiguous.tolist()
    assert "its raters in the imported table disagree" in facts(made).corpus.ambiguity_source


def test_columns_of_their_own_come_before_raters(take):
    text = TEXT.replace("id,wording,label", "id,wording,label,truth,hard").replace(
        "base,UNSAFE,", "base,UNSAFE,SAFE,1,"
    )
    text = text.replace("base,SAFE,", "base,SAFE,UNSAFE,0,")
    found = table(take(text, **NAMED, gold="truth", ambiguous="hard", rater=["ann", "bo", "cy"]))
    assert [0, 1, 1, 1, 1] == found.gold.tolist()
    assert [1, 0, 0, 0, 0] == found.ambiguous.tolist()
    assert 3 == found.votes.shape[1]


def test_votes_are_in_no_card(take):
    made = take(TEXT, **NAMED, rater=["ann", "bo", "cy"])
    assert "votes" not in facts(made).extra
    card = audit.card(made.folder)
    page = cards.to_html(card)
    assert "among raters" in page
    assert '"of":' not in cards.to_json(card)


def test_what_is_wrong_with_votes_is_refused(take, tmp_path):
    twice = TEXT + "a,T1,SAFE,SAFE,UNSAFE,\n"
    refused(take, tmp_path, twice, "rater 'ann'", "line 2", **NAMED, rater=["ann", "bo"])
    refused(
        take, tmp_path, TEXT.replace("b,base,SAFE,SAFE", "b,base,SAFE,perhaps"),
        "the label of rater 'ann' is 'perhaps'", **NAMED, rater=["ann"],
    )  # fmt: skip
    refused(take, tmp_path, TEXT, "no column 'dee'", error=ConfigError, **NAMED, rater=["dee"])
    refused(
        take, tmp_path, TEXT, "named for --verdict and for --rater",
        error=ConfigError, **NAMED, rater=["label"],
    )  # fmt: skip


@pytest.mark.parametrize("again", [False, True])
def test_an_audit_with_labels_of_raters(tmp_path, again):
    """The ledger keeps the votes; a run that goes on has the same ones."""
    keys = [i.key for i in load("sample", limit=6).items]
    rows = [f"{k},{r},{'UNSAFE' if n % 2 else 'SAFE'}\n" for n, k in enumerate(keys) for r in "xy"]
    labels = tmp_path / "labels.csv"
    labels.write_text("item_id,rater,label\n" + "".join(rows))
    choices = {
        "judge": "scripted:quiet", "corpus": "sample", "preset": "quick", "limit": 6,
        "labels": labels, "out": tmp_path / "run",
    }  # fmt: skip
    result = audit.run(**choices)
    if again:
        result = audit.run(**choices)
    with Ledger.open_readonly(result.folder / "ledger.sqlite") as view:
        found = view.table()
    assert ("x", "y") == found.raters
    wanted = {k: n % 2 for n, k in enumerate(keys)}
    for key, votes in zip(found.items, found.votes.tolist(), strict=True):
        assert [wanted.get(key, -1)] * 2 == votes
    s = result.scores.find("agreement_observed", stratum="among raters")
    assert (1.0, 6) == (s.value, s.n_items)
