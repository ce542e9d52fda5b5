"""Whatever stands on a card, or in the name of its folder, is inert on every page of a site."""

from __future__ import annotations

import json
import re
import unicodedata
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from card_hostile import HOSTILE
from card_runs import good
from site_world import changed, hostile, put

from judgeaudit import cards
from judgeaudit.cards import site
from judgeaudit.cards.site.pages import script_data

SCRIPTS = {"index.html": 1, "compare.html": 2}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile")
    site.build(hostile(root / "cards"), root / "out", title='</title><script>alert("t")</script>')
    return root / "out"


class _Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.links = [], set(), []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {k for k, _ in attrs}
        self.links += [v or "" for k, v in attrs if k in ("href", "src", "action")]


def pages(built):
    found = [*built.glob("*.html"), *built.glob("history/*.html")]
    assert len(found) > len(HOSTILE)
    return found


def assert_clean(text):
    text.encode("utf-8")
    kinds = {"Cc", "Cs", "Cf", "Zl", "Zp"}
    assert {"\n"} >= {c for c in text if unicodedata.category(c) in kinds}


def test_no_page_has_more_scripts_or_handlers_than_ours(built):
    for path in pages(built):
        text = path.read_text("utf-8")
        assert_clean(text)
        page = _Page(text)
        assert SCRIPTS.get(path.name, 0) == page.tags.count("script"), path
        assert not {a for a in page.attributes if a.startswith("on") or a == "style"}
        assert not {"img", "iframe", "object", "form", "base", "b", "details"} & set(page.tags)
        assert page.tags.count("title") == 1
        for link in page.links:
            assert re.fullmatch(r"#[\w-]+|data:,|(\.\./)?[a-z0-9./_-]+", link), link


def test_files_have_plain_names(built):
    for path in built.rglob("*"):
        assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*", path.name), path
        assert path.resolve().is_relative_to(built)


def test_the_data_of_the_comparison_is_what_was_put_in(built):
    text = (built / "compare.html").read_text("utf-8")
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text)
    held = json.loads(data)
    assert len(HOSTILE) == len(held["cards"])
    assert any("<script>alert(1)</script>" in c["judge"] for c in held["cards"])


def test_nothing_in_a_data_block_ends_it():
    tree = {k: v for k, v in HOSTILE.items() if k not in ("surrogate", "huge")}
    text = str(script_data(tree))
    assert not set("<>&\u2028\u2029") & set(text)
    assert tree == json.loads(text)


def test_feeds_are_well_formed(built):
    text = (built / "feed.xml").read_text("utf-8")
    assert_clean(text)
    root = ET.fromstring(text)
    assert {"feed", "id", "title", "updated", "author", "name", "link", "entry", "summary"} == {
        e.tag.rpartition("}")[2] for e in root.iter()
    }
    for name in ("feed.json", "index.json"):
        found = (built / name).read_text("utf-8")
        assert_clean(found)
        json.loads(found)


def test_a_dirty_card_from_elsewhere_is_cleaned(tmp_path):
    """A file that no `build` of ours made: raw controls in its JSON, a credential, a bad time."""
    dirty = changed(
        good().card(),
        created="\x1b[2J</title><script>",
        served_models={"a\u202eb\x00": 1},
    )
    put(tmp_path / "c", "x", dirty)
    built = site.build(tmp_path / "c", tmp_path / "out")
    assert ("x",) == built.rewritten
    for path in (tmp_path / "out").rglob("*"):
        if path.is_file():
            assert_clean(path.read_text("utf-8"))
            if path.suffix == ".html":
                assert "<script>" not in path.read_text("utf-8").replace("<script>\n", "").replace(
                    '<script>"use strict"', ""
                )
    text = (tmp_path / "out" / "cards" / "x" / "card.json").read_text("utf-8")
    assert cards.from_json(text) == cards.assemble.cleaned(dirty)


@pytest.mark.parametrize("names", [("..",), (".", ".git"), ("a/../../b",), ("CON.",), ("ü ",)])
def test_no_folder_leads_out_of_the_site(names):
    from judgeaudit.cards.site.reading import _id

    made = _id(names, set())
    assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*", made)
    assert not {"..", ".", ""} & set(made.split("/"))


def test_folders_that_look_alike_when_plain_stay_apart():
    from judgeaudit.cards.site.reading import _id

    taken: set[str] = set()
    made = [_id((name,), taken) for name in ("A b", "a-b", "a b", "a<b", "a\ud800b")]
    assert len(made) == len(set(made))
