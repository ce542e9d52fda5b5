"""A card of an older layout is read as one of the present layout; a newer one is refused."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from card_runs import CASES

from judgeaudit import cards
from judgeaudit.cards.jsonio import published, read
from judgeaudit.cards.migrations import MIGRATIONS, READABLE, migrated
from judgeaudit.core.errors import CardError
from judgeaudit.core.rooms import room

OLDER = Path(__file__).parent / "older"
STORED = OLDER / "1.0" / "card.json"
"""Written by the last version of the program that wrote schema 1.0."""


def test_the_steps_form_one_chain_to_the_present_layout():
    seen, version = [], next(iter(MIGRATIONS))
    while version != cards.SCHEMA_VERSION:
        seen.append(version)
        assert MIGRATIONS[version].old == version
        version = MIGRATIONS[version].new
    assert seen == list(MIGRATIONS)
    assert READABLE == (*seen, cards.SCHEMA_VERSION)


def test_each_older_layout_has_a_stored_card_and_a_published_schema():
    for version in MIGRATIONS:
        data = json.loads((OLDER / version / "card.json").read_text(encoding="utf-8"))
        assert version == data["schema_version"]
        jsonschema.Draft202012Validator(json.loads(published(version))).validate(data)
    files = {p.name for p in (room("judge_cards") / "schema").iterdir()}
    assert files == {f"card-{v}.json" for v in READABLE}


def test_a_stored_card_of_1_0_is_read_with_every_figure_it_had():
    text = STORED.read_text(encoding="utf-8")
    card, steps = read(text)
    assert steps.version == "1.0"
    old, new = json.loads(text), json.loads(cards.to_json(card))
    jsonschema.Draft202012Validator(cards.schema()).validate(new)
    assert new.pop("schema_version") == cards.SCHEMA_VERSION
    assert new["facts"].pop("ledger_head") == ""
    assert new["facts"].pop("plan_sha256") == ""
    assert new.pop("parameters") == {"certificates": [], "labels": None}
    del old["schema_version"]
    assert old == {k: v for k, v in new.items() if k in old}


def test_a_migrated_card_is_shown_in_every_format():
    card = cards.from_json(STORED.read_text(encoding="utf-8"))
    assert "Head of the ledger's hash chain | `not recorded` |" in cards.to_markdown(card)
    for make in cards.FORMATS.values():
        assert make(card)


def test_a_card_of_the_present_layout_is_left_alone():
    text = cards.to_json(CASES["good"]().card())
    assert read(text)[1].steps == ()


@pytest.mark.parametrize("path", MIGRATIONS["1.0"].added)
def test_an_old_card_with_a_field_of_today_is_refused(path):
    data = json.loads(STORED.read_text(encoding="utf-8"))
    *parents, last = path.split(".")
    node = data
    for part in parents:
        node = node[part]
    node[last] = "x"
    with pytest.raises(CardError, match=f"{path}: a card of schema version 1.0 has no such field"):
        read(json.dumps(data))


@pytest.mark.parametrize("spoil", [{"facts": 3}, {"facts": None}, {"headline": []}])
def test_a_broken_old_card_is_one_clear_line(spoil):
    data = {**json.loads(STORED.read_text(encoding="utf-8")), **spoil}
    with pytest.raises(CardError) as caught:
        read(json.dumps(data), where="c.json")
    assert str(caught.value).startswith("c.json: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("version", ["2.0", "1.2", "10", None, [], {}, 1.0, "", "1.0.0.0.0\u202e"])
def test_a_version_that_is_not_known_is_refused(version):
    with pytest.raises(CardError, match="schema version"):
        migrated({"schema_version": version})
