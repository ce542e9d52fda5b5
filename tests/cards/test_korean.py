"""The card in Korean: the first screen whole, names left alone, nothing of a stranger obeyed."""

from __future__ import annotations

import re

import pytest
from card_hostile import HOSTILE, hostile_run
from card_plots import drawn_run
from card_runs import CASES

from judgeaudit import cards
from judgeaudit.cards import texts_en, texts_ko
from judgeaudit.cards.headline import headline
from judgeaudit.cards.korean import in_korean, korean
from judgeaudit.cards.lookup import Figures
from judgeaudit.cards.sentences_ko import SENTENCES
from judgeaudit.cards.view import view
from judgeaudit.core.errors import CardError

HANGUL = re.compile("[\uac00-\ud7a3]")
ENGLISH = re.compile(r"[a-z]{3,} [a-z]{2,}")
NUMBER = re.compile(r"\d[\d.,]*")


def first_screen(v) -> list[str]:
    tiles = [v.pis, v.gate, *v.principles, *v.monitor]
    return [
        v.stance,
        v.headline.sentence,
        *(t.label for t in tiles),
        *(line for t in tiles for line in (t.value, t.badge, *t.lines)),
        *v.limits,
        *(k for k, _ in (*v.who, *v.what, *v.summary)),
    ]


@pytest.mark.parametrize("name", ["good", "fragile", "incomplete"])
def test_the_first_screen_is_korean(name):
    laid = view(CASES[name]().card())
    own = in_korean(laid)
    said = [(a, b) for a, b in zip(first_screen(laid), first_screen(own), strict=True)]
    left = [b for _, b in said if ENGLISH.search(b)]
    assert [] == left
    assert HANGUL.search(own.headline.sentence)
    assert laid.title == own.title


def test_a_translation_keeps_every_number(any_run):
    laid = view(any_run.card())
    for a, b in zip(first_screen(laid), first_screen(in_korean(laid)), strict=True):
        if "T4" not in a and "PIS" not in a:
            assert sorted(NUMBER.findall(a)) == sorted(NUMBER.findall(b)), (a, b)
    a, b = laid.headline.sentence, in_korean(laid).headline.sentence
    wanted = {n for n in NUMBER.findall(a) if n != "100"}
    assert wanted <= set(NUMBER.findall(b))


def test_every_headline_is_korean(any_run):
    card = any_run.card()
    said = headline(Figures(card.facts, card.scores)).sentence
    assert HANGUL.search(korean(said))
    assert "This" not in korean(said)


def test_ids_of_both_languages_agree():
    for name in ("METRICS", "CONDITIONS", "STANCES", "BANDS", "TREATMENTS", "EVIDENCE", "LIMITS"):
        assert set() == set(getattr(texts_ko, name)) - set(getattr(texts_en, name)), name
    known = {x.id for x in (*texts_en.FAMILIES, texts_en.ABSTENTION)}
    assert known == set(texts_ko.FAMILIES)
    for gone in ("METRICS",):
        shown = {m for fam in texts_en.FAMILIES[:6] for m in fam.shown}
        assert set() == shown - set(getattr(texts_ko, gone))


def test_gaps_of_a_sentence_are_groups_of_its_pattern():
    for pattern, own in SENTENCES:
        groups = re.compile(pattern).groups
        assert {int(k) for k in re.findall(r"\{(\d)\}", own)} <= set(range(groups)), pattern


def test_an_unknown_text_stays_english():
    assert "A sentence nobody has put into Korean." == korean(
        "A sentence nobody has put into Korean."
    )


@pytest.mark.parametrize("name", sorted(HOSTILE))
def test_what_a_stranger_wrote_is_inert_and_unchanged(name):
    card = hostile_run(HOSTILE[name]).card()
    page, text = cards.to_html(card, language="ko"), cards.to_markdown(card, language="ko")
    assert "<script" not in page
    assert '<html lang="ko">' in page
    english = cards.to_html(card)
    raw = re.compile(r"<(bdi|code)[^>]*>.*?</\1>", re.DOTALL)
    assert [m[0] for m in raw.finditer(english)] == [m[0] for m in raw.finditer(page)]
    assert not re.search(r"(?m)^<(?!/?details|summary)", text)


@pytest.mark.parametrize(
    "text",
    [
        "This judge " + "it flags ; " * 60,
        "scores low (PIS" + " because, yet , but " * 30,
        "{0.__class__} {9}",
        "This judge {0} {x!r}",
        "1 of " * 100,
        ", ".join(["and when"] * 60),
    ],
)
def test_a_strangers_text_formats_nothing(text):
    made = korean(text)
    assert isinstance(made, str)
    assert "class '" not in made


def test_drawings_speak_korean_and_stay_well_formed():
    from xml.etree import ElementTree as ET

    own = in_korean(view(drawn_run().card()))
    plots = [p for s in own.sections for p in s.plots]
    assert {"plot-flow", "plot-roc", "plot-risk", "plot-reliability", "plot-weights"} <= {
        p.id for p in plots
    }
    for p in plots:
        root = ET.fromstring(p.svg)
        assert HANGUL.search(root.get("aria-label")), p.id
        assert HANGUL.search(p.title), p.id


def test_another_language_is_refused():
    with pytest.raises(CardError, match="xx"):
        cards.to_html(CASES["good"]().card(), language="xx")


def test_the_same_card_is_the_same_bytes():
    card = drawn_run().card()
    assert cards.to_html(card, language="ko") == cards.to_html(card, language="ko")
