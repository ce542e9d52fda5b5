"""The badge: one picture, its words in its title, and no score that the card withholds."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from card_runs import CASES, QUIET, numbers, run

from judgeaudit import cards
from judgeaudit.cards.badge import _COLOURS, _GREY, message

SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_has_a_name_and_the_headline(any_run):
    card = any_run.card()
    root = ET.fromstring(cards.to_badge(card))
    title, desc = root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")
    assert root.get("role") == "img"
    assert title == root.get("aria-label")
    assert card.facts.judge.model in title
    assert message(card) in title
    assert card.headline.sentence in desc
    assert {e.tag.removeprefix(SVG) for e in root.iter()} == {
        *("svg", "title", "desc", "rect", "g", "text")
    }
    assert "http" not in cards.to_badge(card).replace("http://www.w3.org/2000/svg", "")


def test_the_score_stands_with_its_interval():
    assert message(CASES["good"]().card()) == "0.90 [0.71, 0.97]"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("always_safe", "do not use"),
        ("failed", "cannot tell"),
        ("no_ambiguity", "cannot tell"),
        ("incomplete", "0.66 [0.45, 0.83] · 3 warnings"),
    ],
)
def test_what_is_no_score_is_none_on_the_badge(name, expected):
    assert message(CASES[name]().card()).startswith(expected)


def test_a_judge_at_chance_gets_no_number_however_steady():
    scores = numbers(QUIET, pis=(0.95, 0.9, 0.99), accuracy=(0.5, 0.5, 0.5))
    card = run(scores, {"band": "reliable"}).card()
    assert card.headline.code == "no_better_than_chance"
    assert message(card) == "do not use"


def _luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", [*_COLOURS.values(), _GREY])
def test_white_is_legible_on_every_colour(colour):
    assert 1.05 / (_luminance(colour) + 0.05) >= 4.5
