"""The site of cards: files, groups, order and feeds."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest
from card_runs import always_safe, fragile, good, rendering
from site_world import changed, put, usual, with_corpus

from judgeaudit import cards
from judgeaudit.cards import site
from judgeaudit.cards.beside import stale
from judgeaudit.cards.site.reading import read_folder
from judgeaudit.core.errors import CardError, ConfigError

ATOM = {"a": "http://www.w3.org/2005/Atom"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = tmp_path_factory.mktemp("site")
    site.build(usual(root / "cards"), root / "out")
    return root


class _Links(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links = []
        self.feed(text)

    def handle_starttag(self, _tag, attrs):
        self.links += [v for k, v in attrs if k in ("href", "src")]


def test_every_link_of_every_page_leads_to_a_file(built):
    out = built / "out"
    pages = [*out.glob("*.html"), *out.glob("history/*.html")]
    assert len(pages) == 2 + 2
    for page in pages:
        for link in _Links(page.read_text("utf-8")).links:
            parts = urlsplit(link)
            if parts.scheme == "data" or not parts.path:
                continue
            assert parts.scheme == "", link
            assert (page.parent / unquote(parts.path)).is_file(), link


def test_the_same_cards_give_the_same_bytes(built, tmp_path):
    site.build(built / "cards", tmp_path / "again")
    first = {p.relative_to(built / "out"): p for p in (built / "out").rglob("*") if p.is_file()}
    for name, path in first.items():
        assert path.read_bytes() == (tmp_path / "again" / name).read_bytes(), name


def test_a_card_is_offered_with_its_own_bytes(built):
    for source in (built / "cards").rglob("card.json"):
        name = source.parent.relative_to(built / "cards")
        offered = built / "out" / "cards" / name
        assert source.read_bytes() == (offered / "card.json").read_bytes()
        card = cards.from_json(source.read_text("utf-8"))
        page = (offered / "card.html").read_text("utf-8")
        (up,) = re.findall('<nav class="up"><a href="([^"]*)">All cards</a></nav>', page)
        assert (offered / up).resolve() == (built / "out" / "index.html").resolve()
        assert cards.to_html(card, up=up) == page
        assert stale(offered / "card.json", card) == ()


def test_only_cards_of_the_same_policy_texts_corpus_and_protocol_share_a_group(tmp_path):
    base = good().card()
    facts = base.facts
    other_text = (
        *facts.renderings[1:],
        facts.renderings[0].model_copy(update={"sha256": "9" * 64}),
    )
    others = {
        "policy": changed(base, policy=facts.policy.model_copy(update={"sha256": "1" * 64})),
        "texts": changed(base, renderings=other_text),
        "corpus": with_corpus(base, "2" * 64),
        "protocol": changed(base, protocol_sha256="3" * 64),
    }
    put(tmp_path, "a", base)
    put(tmp_path, "b", fragile().card())
    for name, card in others.items():
        put(tmp_path, f"z-{name}", card)
    read = read_folder(tmp_path)
    first, *rest = site.groups(read)
    assert ["a", "b"] == sorted(c.id for c in first.cards)
    assert sorted(f"z-{n}" for n in others) == sorted(c.id for g in rest for c in g.cards)
    assert {1} == {len(g.cards) for g in rest}
    by_id = {c.id: c for c in read}
    for name in others:
        assert (name,) == site.differences(by_id["a"], by_id[f"z-{name}"])
        assert name in first.apart


def test_what_is_not_known_is_comparable_with_nothing(tmp_path):
    for name in ("a", "b"):
        put(tmp_path, name, changed(good().card(), protocol_sha256=""))
    parted = site.groups(read_folder(tmp_path))
    assert [1, 1] == [len(g.cards) for g in parted]
    assert all("not wholly known" in g.apart for g in parted)


def test_the_order_of_renderings_makes_no_other_texts(tmp_path):
    base = good().card()
    put(tmp_path, "a", base)
    put(tmp_path, "b", changed(base, renderings=tuple(reversed(base.facts.renderings))))
    assert 1 == len(site.groups(read_folder(tmp_path)))
    assert rendering("base").sha256 in {r.sha256 for r in base.facts.renderings}


def test_a_withheld_score_is_no_number_on_the_site(tmp_path):
    card = always_safe().card()
    put(tmp_path / "cards", "mute", card)
    site.build(tmp_path / "cards", tmp_path / "out")
    held = json.loads((tmp_path / "out" / "index.json").read_text("utf-8"))
    figures = held["cards"][0]["figures"]
    assert figures["pis"]["value"] is None
    assert "not given: not responsive" == figures["pis"]["words"]
    assert 0.5 == figures["accuracy"]["value"]


def test_the_index_for_machines(built):
    held = json.loads((built / "out" / "index.json").read_text("utf-8"))
    assert 5 == len(held["cards"])
    assert [4, 1] == [sum(c["group"] == g["id"] for c in held["cards"]) for g in held["groups"]]
    for entry in held["cards"]:
        card = cards.from_json((built / "out" / entry["json"]).read_text("utf-8"))
        assert card.headline.sentence == entry["headline"]
        assert card.facts.ledger_sha256 == entry["ledger_sha256"]
        for place in ("html", "markdown"):
            assert (built / "out" / entry[place]).is_file()


def test_both_feeds_list_the_newest_first(tmp_path):
    site.build(usual(tmp_path / "cards"), tmp_path / "out", base_url="https://example.org/x")
    root = ET.fromstring((tmp_path / "out" / "feed.xml").read_text("utf-8"))
    times = [e.text for e in root.findall("a:entry/a:updated", ATOM)]
    assert 5 == len(times)
    assert sorted(times, reverse=True) == times
    assert times[0] == root.find("a:updated", ATOM).text
    ids = [e.text for e in root.findall("a:entry/a:id", ATOM)]
    assert 5 == len(set(ids))
    feed = json.loads((tmp_path / "out" / "feed.json").read_text("utf-8"))
    assert ids == [i["id"] for i in feed["items"]]
    assert times == [i["date_published"] for i in feed["items"]]
    for item in feed["items"]:
        assert item["url"].startswith("https://example.org/x/cards/")
        assert (tmp_path / "out" / item["url"].removeprefix("https://example.org/x/")).is_file()


def test_a_history_draws_each_card_and_joins_only_like_setups(tmp_path):
    base = good().card()
    for name, created, setup in (
        ("1", "2026-01-01T00:00:00Z", "a"),
        ("2", "2026-02-01T00:00:00Z", "a"),
        ("3", "2026-04-01T00:00:00Z", "b"),
    ):
        put(tmp_path / "c", name, changed(base, created=created, judge_sha256=setup * 64))
    site.build(tmp_path / "c", tmp_path / "out")
    (page,) = (tmp_path / "out" / "history").glob("*.html")
    drawings = re.findall(r'<svg class="plot".*?</svg>', page.read_text("utf-8"))
    assert 4 == len(drawings)
    for drawing in drawings:
        assert 3 == drawing.count('class="dot"')
        assert 1 == drawing.count('class="path"')
        at = [float(x) for x in re.findall(r'<circle class="dot" cx="([\d.]+)"', drawing)]
        # 31 days, then 59
        assert 59 / 31 == pytest.approx((at[2] - at[1]) / (at[1] - at[0]), rel=0.01)
    assert 3 == drawings[0].count('class="iv"')
    assert "2026-02-01: 0.90 [0.71, 0.97]" in drawings[0]


def test_pages_of_cards_that_are_gone_go_and_other_files_stay(tmp_path):
    source, out = tmp_path / "c", tmp_path / "out"
    put(source, "a", good().card())
    gone = put(source, "b/x", always_safe().card())
    site.build(source, out)
    (out / "CNAME").write_text("cards.example.org")
    (out / "cards" / "b" / "x" / "notes.txt").write_text("mine")
    gone.unlink()
    site.build(source, out)
    assert not (out / "cards" / "b" / "x" / "card.html").exists()
    assert (out / "cards" / "b" / "x" / "notes.txt").is_file()
    assert (out / "CNAME").is_file()
    assert 1 == len([*(out / "history").iterdir()])


def test_a_folder_of_something_else_is_refused(tmp_path):
    put(tmp_path / "c", "a", good().card())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("mine")
    with pytest.raises(ConfigError, match="no site of judgeaudit"):
        site.build(tmp_path / "c", tmp_path / "out")
    for place in (tmp_path / "c", tmp_path / "c" / "site", tmp_path):
        with pytest.raises(ConfigError, match="folder of the cards"):
            site.build(tmp_path / "c", place)
    assert ["thesis.tex"] == [p.name for p in (tmp_path / "out").iterdir()]


def test_a_broken_card_is_named_and_nothing_is_written(tmp_path):
    put(tmp_path / "c", "a", good().card())
    (tmp_path / "c" / "b").mkdir()
    (tmp_path / "c" / "b" / "card.json").write_text('{"schema_version": "1.1"}')
    with pytest.raises(CardError, match=r"b/card\.json"):
        site.build(tmp_path / "c", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (tmp_path / "empty").mkdir()
    with pytest.raises(CardError, match=r"no card\.json"):
        site.build(tmp_path / "empty", tmp_path / "out")


def test_an_older_card_is_brought_here_and_its_signature_stays_behind(tmp_path, request):
    older = sorted((request.path.parent / "older").rglob("card*.json"))
    assert older
    for k, path in enumerate(older):
        place = tmp_path / "c" / str(k)
        place.mkdir(parents=True)
        (place / "card.json").write_bytes(path.read_bytes())
        (place / "card.json.sig").write_text("{}")
    built = site.build(tmp_path / "c", tmp_path / "out")
    assert tuple(str(k) for k in range(len(older))) == built.rewritten
    for k in range(len(older)):
        text = (tmp_path / "out" / "cards" / str(k) / "card.json").read_text("utf-8")
        assert cards.SCHEMA_VERSION == json.loads(text)["schema_version"]
        assert not (tmp_path / "out" / "cards" / str(k) / "card.json.sig").exists()


def test_a_signature_goes_with_a_card_that_is_offered_as_it_is(tmp_path):
    path = put(tmp_path / "c", "a", good().card())
    path.with_name("card.json.sig").write_text('{"x": 1}')
    site.build(tmp_path / "c", tmp_path / "out")
    assert '{"x": 1}' == (tmp_path / "out" / "cards" / "a" / "card.json.sig").read_text("utf-8")
