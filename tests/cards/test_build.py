"""A card is a pure function of its input, and its JSON has a published schema."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from card_runs import CASES, CREATED, QUIET, facts, numbers, run

from judgeaudit import cards
from judgeaudit.cards.jsonio import published
from judgeaudit.core.errors import CardError
from judgeaudit.core.records import JudgeSpec, RunFacts
from judgeaudit.core.rooms import room

PUBLISHED = room("judge_cards") / "schema" / f"card-{cards.SCHEMA_VERSION}.json"


def test_every_fact_of_a_run_stands_on_the_card():
    """A new field of RunFacts must be put on the card, or left out on purpose."""
    missing = set(RunFacts.model_fields) - set(cards.CardFacts.model_fields)
    assert set() == missing


def test_the_published_schema_is_the_schema():
    """After a change on purpose, write `judgeaudit card schema` to the file of a new version."""
    assert json.loads(PUBLISHED.read_text(encoding="utf-8")) == cards.schema()
    assert published() == PUBLISHED.read_text(encoding="utf-8")


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(cards.schema())


def test_every_card_conforms(any_run):
    data = json.loads(cards.to_json(any_run.card()))
    jsonschema.Draft202012Validator(cards.schema()).validate(data)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.pop("headline"),
        lambda d: d.update(schema_version="1.0"),
        lambda d: d["facts"].update(surprise=1),
        lambda d: d["scores"]["scores"][0].update(value="0.5"),
        lambda d: d["headline"].update(stance="excellent"),
    ],
)
def test_the_schema_refuses(spoil):
    data = json.loads(cards.to_json(CASES["good"]().card()))
    spoil(data)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(cards.schema()).validate(data)


def test_a_card_reads_back_equal(any_run):
    card = any_run.card()
    text = cards.to_json(card)
    assert card == cards.from_json(text)
    assert text == cards.to_json(cards.from_json(text))


def test_json_is_sorted_and_ends_with_one_newline():
    text = cards.to_json(CASES["good"]().card())
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")
    assert list(json.loads(text)) == sorted(json.loads(text))


def test_texts_of_renderings_stay_behind():
    text = cards.to_json(CASES["good"]().card())
    assert "policy under T1" not in text
    assert facts().renderings[1].sha256 in text


def test_identities_are_those_of_the_run_before_anything_was_hidden():
    judge = JudgeSpec(backend="litellm", model="m", api_base="http://u:p@host/v1")
    card = run(numbers(QUIET), judge=judge).card()
    assert judge.sha256 == card.facts.judge_sha256
    assert card.facts.judge.api_base == "http://[hidden]@host/v1"


def test_same_input_same_bytes(any_run):
    first, second = any_run.fresh(), any_run.fresh()
    for make in (cards.to_json, cards.to_markdown, cards.to_html):
        assert make(first) == make(second)


def test_the_order_of_keys_does_not_matter():
    one = facts(versions={"a": "1", "b": "2"}, served_models={"x": 1, "y": 2})
    two = facts(versions={"b": "2", "a": "1"}, served_models={"y": 2, "x": 1})
    scores = CASES["good"]().scores
    made = [cards.build(f, scores, created=CREATED) for f in (one, two)]
    for make in (cards.to_json, cards.to_markdown, cards.to_html):
        assert make(made[0]) == make(made[1])


_CHILD = """
import hashlib
from card_runs import CASES
from judgeaudit import cards
for name in sorted(CASES):
    run = CASES[name]()
    for text in (cards.to_json(run.card()), run.md, run.html):
        print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_bytes_do_not_hang_on_process_hash_seed_or_locale():
    support = str(Path(__file__).resolve().parents[1] / "support")
    env = {**os.environ, "PYTHONHASHSEED": "1", "LC_ALL": "C", "PYTHONPATH": support}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD], env=env, capture_output=True, text=True, check=True
    )
    texts = [
        text
        for name in sorted(CASES)
        for text in (cards.to_json(CASES[name]().card()), CASES[name]().md, CASES[name]().html)
    ]
    expected = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    assert expected == done.stdout.split()


def test_a_last_bit_does_not_change_the_bytes():
    scores = CASES["good"]().scores
    bent = scores.model_copy(
        update={
            "scores": tuple(
                x if x.value is None else x.model_copy(update={"value": x.value * (1 + 2e-16)})
                for x in scores.scores
            )
        }
    )
    a, b = (cards.build(facts(), x, created=CREATED) for x in (scores, bent))
    assert cards.to_json(a) == cards.to_json(b)


@pytest.mark.parametrize("created", ["", "yesterday", "2026-11-30", "2026-11-30T12:00:00"])
def test_a_time_without_offset_is_refused(created):
    with pytest.raises(CardError, match="created is"):
        cards.build(facts(), CASES["good"]().scores, created=created)


@pytest.mark.parametrize("extra", [{"x": object()}, {"x": float("nan")}, {"x": {"y": b"z"}}])
def test_an_extra_fact_that_is_not_json_is_refused(extra):
    with pytest.raises(CardError, match="cannot stand on a card"):
        run(numbers(QUIET), extra=extra).card()


# -- reading back -----------------------------------------------------------------------------


def _changed(**changes: object) -> str:
    return json.dumps({**json.loads(cards.to_json(CASES["good"]().card())), **changes})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON: .* at line 1, column 2"),
        ("[]", "no schema_version"),
        ("null", "no schema_version"),
        ('{"a": 1}', "no schema_version"),
        ('{"schema_version": "1.1", "schema_version": "1.1"}', "occurs twice"),
        ('{"schema_version": NaN}', "NaN is not JSON"),
        (
            '{"schema_version": "9.0"}',
            "'9.0' is newer than 1.1, the newest that this program reads",
        ),
        ('{"schema_version": "1.10"}', "'1.10' is newer than 1.1"),
        ('{"schema_version": "0.9"}', r"'0.9' is not one that this program reads \(1.0, 1.1\)"),
        ('{"schema_version": 1}', "'1' is not one that this program reads"),
        ("[" * 100_000, "nested too deeply"),
        (_changed(headline="fine"), "headline: "),
        (_changed(surprise=1), "surprise: "),
        (_changed(limits=[1]), r"limits\.0: "),
        (_changed(created="\ud800"), "surrogate|Unicode|unicode|escape"),
        (_changed(scores={"scores": [{"metric": "x", "value": "0.5"}]}), r"scores\.scores\.0"),
        (_changed(scores={"scores": [{"metric": "x"}]}), "has a value or says why"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text, message):
    with pytest.raises(CardError, match=message) as caught:
        cards.from_json(text, where="x/card.json")
    assert str(caught.value).startswith("x/card.json: ")
    assert "\n" not in str(caught.value)


def test_a_byte_order_mark_is_forgiven():
    card = CASES["good"]().card()
    assert card == cards.from_json("\ufeff" + cards.to_json(card))


def test_a_newer_card_says_to_upgrade():
    with pytest.raises(CardError, match="Upgrade judgeaudit"):
        cards.from_json(_changed(schema_version="2.0"))


def test_importing_cards_loads_no_heavy_library():
    code = (
        "import sys; from judgeaudit import cards; "
        "print([m for m in ('litellm','datasets','scipy','pandas','matplotlib') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
