"""A card is held against its ledger: untouched, tampered with, older, or without one."""

from __future__ import annotations

import copy
import gzip
import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from judgeaudit import audit, cards
from judgeaudit.cards.differences import ABSENT, differences
from judgeaudit.core.errors import CardError, LedgerError

OLDER = Path(__file__).parent / "older" / "1.0"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A real run of a planted judge, and its card."""
    folder = tmp_path_factory.mktemp("run")
    audit.run(judge="scripted:brittle_t4", preset="quick", limit=6, repeats=1, out=folder)
    return folder


@pytest.fixture(scope="module")
def text(made) -> str:
    return (made / "card.json").read_text(encoding="utf-8")


@pytest.fixture
def tampered(made, text, tmp_path):
    """Change the card's JSON and verify it against the untouched ledger."""

    def verify(change, **more):
        data = json.loads(text)
        change(data)
        path = tmp_path / "card.json"
        path.write_text(json.dumps(data), encoding="utf-8")
        return audit.verify(path, made, **more)

    return verify


def test_an_untouched_card_is_what_its_ledger_gives(made):
    found = audit.verify(made / "card.json", made)
    assert found.same
    assert (found.differences, found.faults, found.uncompared) == ((), (), ())
    assert audit.verify(audit.card(made), made / "ledger.sqlite").same


def test_white_space_and_the_order_of_keys_are_no_difference(tampered):
    assert tampered(lambda d: d.update(reversed(list(d.items())))).same


def test_the_cards_own_time_is_given_to_the_rebuilding(made, text, tampered):
    late = tampered(lambda d: d.update(created="2027-01-01T00:00:00+09:00"))
    assert late.same
    assert "2027-01-01T00:00:00+09:00, is taken from the card" in late.notes[0]


def score(data, metric, condition=None):
    return next(
        s
        for s in data["scores"]["scores"]
        if (s["metric"], s["condition"], s["stratum"]) == (metric, condition, None)
    )


def test_a_figure_that_was_changed_is_named_with_old_and_new(text, tampered):
    before = score(json.loads(text), "accuracy")["value"]
    found = tampered(lambda d: score(d, "accuracy").update(value=0.987))
    assert not found.same
    (only,) = found.differences
    assert only.path == "scores.scores[accuracy].value"
    assert (only.old, only.new) == (0.987, before)


@pytest.mark.parametrize(
    ("change", "path"),
    [
        (lambda d: d["headline"].update(sentence="All is well."), "headline.sentence"),
        (lambda d: d["headline"].update(stance="no_obstacle"), "headline.stance"),
        (lambda d: d["warnings"].pop(0), "warnings[scripted]"),
        (lambda d: d["warnings"].reverse(), "warnings (order)"),
        (lambda d: d["limits"].pop(), "limits["),
        (lambda d: d["scores"]["scores"].pop(3), "scores.scores["),
        (lambda d: d["scores"]["flags"].update(band="reliable"), "scores.flags.band"),
        (lambda d: d["facts"]["judge"].update(model="gpt-9"), "facts.judge.model"),
        (lambda d: d["facts"].update(n_planned=10), "facts.n_planned"),
        (lambda d: d["facts"].update(ledger_head="0" * 64), "facts.ledger_head"),
        (lambda d: d["facts"].update(ledger_sha256="0" * 64), "facts.ledger_sha256"),
        (lambda d: d["facts"].update(plan_sha256="0" * 64), "facts.plan_sha256"),
        (lambda d: d["facts"]["versions"].update(numpy="9"), "facts.versions.numpy"),
        (lambda d: d["facts"]["extra"].update(new=1), "facts.extra.new"),
        (lambda d: d["facts"]["renderings"][1].update(passed=None), "facts.renderings[T1, en, 0]"),
        (lambda d: d["facts"]["corpus"].update(label_source="human"), "facts.corpus.label_source"),
    ],
)
def test_each_tampering_is_told_by_its_path(tampered, change, path):
    found = tampered(change)
    assert not found.same
    assert [d.path for d in found.differences if d.path.startswith(path)] == [
        d.path for d in found.differences
    ]


def test_a_score_that_was_added_is_told(tampered):
    def add(data):
        row = copy.deepcopy(data["scores"]["scores"][0])
        row["condition"] = "T9"
        data["scores"]["scores"].append(row)

    (only,) = tampered(add).differences
    assert only.new is ABSENT
    assert "T9" in only.path


def test_figures_alone_leaves_words_out_and_numbers_in(tampered):
    def both(data):
        data["headline"]["sentence"] = "All is well."
        data["limits"] = []
        score(data, "accuracy")["value"] = 0.987

    found = tampered(both, figures=True)
    assert ["scores.scores[accuracy].value"] == [d.path for d in found.differences]
    assert "headline.sentence" in {d.path for d in found.uncompared}


def test_another_version_of_the_program_is_a_note(tampered):
    other = tampered(lambda d: d["software"].update(version="0.0.9"))
    assert other.same
    assert any("was made by judgeaudit 0.0.9" in n for n in other.notes)

    def words(data):
        data["software"]["version"] = "0.0.9"
        data["headline"]["sentence"] = "Otherwise."

    changed = tampered(words)
    assert not changed.same
    assert any("--figures leaves them out" in n for n in changed.notes)


def test_another_runs_ledger_differs_in_its_head_and_answers(made, tmp_path):
    audit.run(judge="scripted:quiet", preset="quick", limit=6, repeats=1, out=tmp_path)
    paths = {d.path for d in audit.verify(made / "card.json", tmp_path).differences}
    assert {"facts.ledger_head", "facts.ledger_sha256", "facts.judge.model"} <= paths


def test_a_ledger_that_was_changed_is_a_fault_of_the_ledger(made, tmp_path):
    path = tmp_path / "ledger.sqlite"
    shutil.copyfile(made / "ledger.sqlite", path)
    with sqlite3.connect(path) as db:
        triggers = db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for (name,) in triggers:  # whoever tampers with a ledger does not stop at these
            db.execute(f"DROP TRIGGER {name}")
        db.execute(
            "UPDATE verdicts SET label = CASE label WHEN 'SAFE' THEN 'UNSAFE' ELSE 'SAFE' END "
            "WHERE call = (SELECT min(call) FROM verdicts WHERE label IS NOT NULL)"
        )
    db.close()
    found = audit.verify(made / "card.json", path)
    assert not found.same
    assert any("was changed after it was written" in f for f in found.faults)
    # the head that is stored was not touched, and so the chain alone would not tell
    assert "facts.ledger_head" not in {d.path for d in found.differences}
    assert "facts.ledger_sha256" in {d.path for d in found.differences}


def test_without_a_ledger_it_is_said(made, tmp_path):
    with pytest.raises(LedgerError, match="there is no ledger here"):
        audit.verify(made / "card.json", tmp_path)


# -- files beside the ledger --------------------------------------------------------------------


@pytest.fixture
def labelled(made, tmp_path):
    """A card made with human labels on a few random items."""
    from judgeaudit.engine.ledger import Ledger
    from judgeaudit.review.correcting import draw

    with Ledger.open_readonly(made / "ledger.sqlite") as view:
        sheet = draw(view, 4, 0)
    labels = tmp_path / "labels.csv"
    head, *rows = sheet.splitlines()
    at = head.split(",").index("item_id")
    ids = [r.split(",")[at] for r in rows]
    labels.write_text(
        "item_id,label\n"
        + "".join(f"{i},{('SAFE', 'UNSAFE')[k % 2]}\n" for k, i in enumerate(ids)),
        encoding="utf-8",
    )
    return audit.card(made, labels=labels), labels


def test_the_card_names_the_labels_it_was_made_with_and_needs_them(made, labelled):
    card, labels = labelled
    assert card.parameters.labels.name == "labels.csv"
    assert audit.verify(card, made, labels=labels).same
    without = audit.verify(card, made)
    assert not without.same
    assert any("was made with labels.csv" in n for n in without.notes)
    assert "parameters" not in {d.path.partition(".")[0] for d in without.differences}


def test_other_labels_than_those_differ_by_their_hash(made, labelled):
    card, labels = labelled
    labels.write_bytes(labels.read_bytes() + b"\n")
    paths = {d.path for d in audit.verify(card, made, labels=labels).differences}
    assert paths == {"parameters.labels.sha256"}


# -- a card of an older layout ------------------------------------------------------------------


@pytest.fixture
def older(tmp_path) -> Path:
    """A run and a card as they were when the layout was 1.0."""
    shutil.copyfile(OLDER / "card.json", tmp_path / "card.json")
    with gzip.open(OLDER / "ledger.sqlite.gz") as packed:
        (tmp_path / "ledger.sqlite").write_bytes(packed.read())
    return tmp_path


def test_a_card_of_1_0_is_compared_on_what_it_has(older):
    """If a change moves a number on purpose ("Results" in the changelog), name it here."""
    found = audit.verify(older / "card.json", older, figures=True)
    assert () == found.differences
    assert found.same
    paths = {d.path for d in found.uncompared}
    assert {"facts.ledger_head", "facts.plan_sha256"} <= paths
    assert any("schema version 1.0" in n for n in found.notes)


@pytest.mark.parametrize("metric", ["accuracy", "delta_paper"])
def test_a_card_of_1_0_that_was_tampered_with_is_found_out(older, metric):
    path = older / "card.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    rows = data["scores"]["scores"]
    gone = next(s for s in rows if s["metric"] == metric)
    rows.remove(gone)
    data["facts"]["n_answered"] -= 1
    path.write_text(json.dumps(data), encoding="utf-8")
    paths = [d.path for d in audit.verify(path, older, figures=True).differences]
    assert "facts.n_answered" in paths
    assert [p for p in paths if p.startswith(f"scores.scores[{metric}")]


def test_a_figure_that_1_0_did_not_know_is_not_missed_on_its_card(older):
    from judgeaudit.cards.verify import opened, verified
    from judgeaudit.engine.ledger import Ledger

    given = opened(older / "card.json")
    rebuilt = audit.card(older, created=given.card.created)
    scores = rebuilt.scores
    new = scores.scores[0].model_copy(update={"metric": "of_tomorrow"})
    scores = scores.model_copy(
        update={"scores": (*scores.scores, new), "flags": {**scores.flags, "tomorrow": "yes"}}
    )
    rebuilt = rebuilt.model_copy(update={"scores": scores})
    with Ledger.open_readonly(older / "ledger.sqlite") as view:
        found = verified(given, rebuilt, view, figures=True)
    assert found.same
    told = {d.path for d in found.uncompared}
    assert "scores.flags.tomorrow" in told
    assert [p for p in told if p.startswith("scores.scores[of_tomorrow")]


# -- the comparison alone -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (1, True, [("", 1, True)]),
        (0, False, [("", 0, False)]),
        (0.1, "0.1", [("", 0.1, "0.1")]),
        ({"a": None}, {}, [("a", None, ABSENT)]),
        ([1], [1, None], [("[1]", ABSENT, None)]),
        ({"a": {"b": [{"c": 1}]}}, {"a": {"b": [{"c": 2}]}}, [("a.b[0].c", 1, 2)]),
        ([], {}, [("", [], {})]),
        ({"x": 1}, {"x": 1}, []),
    ],
)
def test_differences(old, new, expected):
    assert expected == [(d.path, d.old, d.new) for d in differences(old, new)]


def test_rows_of_the_same_name_are_told_by_their_place():
    twice = {"scores": {"scores": [{"metric": "a", "value": 1}, {"metric": "a", "value": 2}]}}
    other = copy.deepcopy(twice)
    other["scores"]["scores"][1]["value"] = 3
    assert ["scores.scores[1].value"] == [d.path for d in differences(twice, other)]


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"{}", b"[]", b'{"schema_version": "9.9"}'])
def test_what_is_no_card_is_refused(made, tmp_path, content):
    path = tmp_path / "card.json"
    path.write_bytes(content)
    with pytest.raises(CardError) as caught:
        audit.verify(path, made)
    assert str(path) in str(caught.value)


def test_a_file_that_is_too_large_is_not_read(made, tmp_path):
    path = tmp_path / "card.json"
    with path.open("wb") as f:
        f.truncate(2**31)
    with pytest.raises(CardError, match="not a card"):
        audit.verify(path, made)


def test_a_hand_made_card_with_a_hostile_field_is_one_difference(tampered):
    found = tampered(lambda d: d["facts"]["extra"].update({"<script>\u202e": "\x1b[2J"}))
    assert ["facts.extra.<script>\u202e"] == [d.path for d in found.differences]
    assert cards.SCHEMA_VERSION == "1.1"
