"""The published cards are what their JSON gives, made for real, and hold no trajectory."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

import pytest

from judgeaudit import cards
from judgeaudit.cards import site
from judgeaudit.corpora import load

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "judge_cards" / "published"
FOUND = sorted(PUBLISHED.rglob("card.json"))
AGAIN = "make them again with `make cards` (python .ci/cards.py), and look at what changed"


@pytest.fixture(params=FOUND, ids=lambda p: p.parent.relative_to(PUBLISHED).as_posix())
def path(request):
    return request.param


def test_html_and_markdown_are_what_the_json_gives(path):
    card = cards.from_json(path.read_text("utf-8"), where=str(path))
    for name, text in (("card.html", cards.to_html(card)), ("card.md", cards.to_markdown(card))):
        same = path.with_name(name).read_bytes() == text.encode()
        assert same, (
            f"{path.with_name(name).relative_to(ROOT)} is not what card.json gives: {AGAIN}"
        )


def test_its_words_are_what_its_figures_give(path):
    """A sentence that was mended since stands on every card; no figure is touched for it."""
    card = cards.from_json(path.read_text("utf-8"))
    again = cards.reworded(card)
    assert cards.to_json(again) == path.read_text("utf-8"), f"{path.relative_to(ROOT)}: {AGAIN}"
    assert (again.facts, again.scores, again.created) == (card.facts, card.scores, card.created)


def test_a_card_names_its_ledger_and_was_wholly_answered(path):
    facts = cards.from_json(path.read_text("utf-8")).facts
    assert re.fullmatch("[0-9a-f]{64}", facts.ledger_sha256)
    assert re.fullmatch("[0-9a-f]{64}", facts.ledger_head)
    assert facts.n_planned == facts.n_answered > 100
    assert facts.corpus.name.startswith("sample")
    assert facts.ended.startswith(path.parent.name[:10])


def test_no_place_of_this_or_that_machine_stands_on_it(path):
    text = path.read_text("utf-8")
    assert not re.findall(r"/(?:home|root|tmp|work|Users)/", text)


def strings(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, list | tuple):
        return [x for inner in tree for x in strings(inner)]
    return [tree] if isinstance(tree, str) else []


@functools.cache
def said() -> frozenset[str]:
    """Every longer line of every trajectory."""
    texts = [x for item in load("sample").items for x in strings(item.trajectory.model_dump())]
    return frozenset(y.strip() for x in texts for y in x.splitlines() if len(y.strip()) > 40)


def test_no_trajectory_stands_on_it(path):
    assert len(said()) > 200
    held = "\n".join(strings(json.loads(path.read_text("utf-8"))))
    assert [] == [line for line in said() if line in held]


def test_there_are_six_judges_and_more_in_groups(tmp_path):
    read = site.read_folder(PUBLISHED)
    assert 6 <= len({c.judge for c in read})
    parted = site.groups(read)
    assert 6 <= len(parted[0].cards)
    assert 2 <= len(parted)
    assert all(c.as_given for c in read)
    built = site.build(PUBLISHED, tmp_path / "site")
    assert len(FOUND) == built.n_cards
