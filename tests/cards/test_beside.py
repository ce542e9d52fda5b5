"""`card verify` looks at the pages beside a card too, and at a run's folder."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from judgeaudit import audit, cards
from judgeaudit.cards.beside import stale
from judgeaudit.cli.main import app


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    audit.run(judge="scripted:quiet", preset="quick", limit=4, repeats=1, out=folder)
    return folder


def verify(*args):
    return CliRunner().invoke(app, ["card", "verify", *map(str, args)])


def test_pages_of_an_untouched_run_are_what_its_card_gives(made):
    assert verify(made).exit_code == 0
    assert verify(made / "card.json").exit_code == 0


@pytest.mark.parametrize("name", ["card.html", "card.md"])
def test_a_page_that_was_changed_is_named(made, name):
    page = made / name
    kept = page.read_bytes()
    page.write_bytes(kept.replace(b"Judge Card", b"Judge Lard", 1))
    try:
        found = verify(made)
        told = json.loads(verify(made, "--json").stdout)
    finally:
        page.write_bytes(kept)
    assert found.exit_code == 1
    assert f"pages: {name}: not what card.json gives" in found.stdout
    assert (told["good"], told["stale_pages"]) == (False, [name])


def test_korean_pages_and_tables_are_looked_at_too(made):
    card = cards.from_json((made / "card.json").read_text("utf-8"))
    made_here = {
        "card.ko.html": cards.to_html(card, language="ko"),
        "card.ko.md": cards.to_markdown(card, language="ko"),
        "card.svg": cards.to_badge(card),
        "card.tex": cards.to_latex(card),
        "card.csv": cards.to_csv(card),
    }
    for name, text in made_here.items():
        (made / name).write_bytes(text.encode())
    try:
        assert stale(made / "card.json", card) == ()
        for name in made_here:
            (made / name).write_bytes(b"x")
        assert set(made_here) == set(stale(made / "card.json", card))
    finally:
        for name in made_here:
            (made / name).unlink()


def test_a_way_back_elsewhere_is_no_page_of_ours(made):
    """Only an index above the page may be linked: any other address is a change."""
    card = cards.from_json((made / "card.json").read_text("utf-8"))
    page = made / "card.html"
    kept = page.read_bytes()
    try:
        page.write_bytes(cards.to_html(card, up="../../index.html").encode())
        assert stale(made / "card.json", card) == ()
        page.write_bytes(cards.to_html(card, up="https://example.org/index.html").encode())
        assert stale(made / "card.json", card) == ("card.html",)
    finally:
        page.write_bytes(kept)


def test_a_card_of_another_version_is_noted_and_not_failed(made):
    path = made / "card.json"
    kept = path.read_text("utf-8")
    data = json.loads(kept)
    data["software"]["version"] = "0.0.9"
    try:
        path.write_text(json.dumps(data), "utf-8")
        found = verify(made)
    finally:
        path.write_text(kept, "utf-8")
    assert found.exit_code == 0
    assert "it was made by judgeaudit 0.0.9, whose pages may differ" in found.stdout
