"""The page of a history: what is drawn stands in a table, and no stranger's text does anything."""

from __future__ import annotations

import csv
import dataclasses
import io
import os
import re
import shutil
import unicodedata
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest
from card_hostile import HOSTILE
from history_world import GOLD, night
from watch_world import cli, imported

from judgeaudit.watch import History
from judgeaudit.watch.sides import load
from judgeaudit.watch.trend import tell, to_csv, to_html, to_svg

BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """Six quiet nights, then two on which 8 of 60 verdicts are turned; the third baseline holds."""
    home = tmp_path_factory.mktemp("trend")
    history = History(home / "store")
    for k in range(8):
        turned = range(40, 48) if k > 5 else ()
        history.add(load(night(home, f"n{k}", turned=turned, waver=(k, k + 10, 30))))
    history.pin(2, "second")
    history.pin(1, "first again")
    return history


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.cells = [], set(), []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {k for k, _ in attrs}

    def handle_data(self, data):
        self.cells.append(data.strip())


def test_the_page_draws_and_tells_the_same(store, tmp_path):
    files = [tmp_path / f"t.{end}" for end in ("html", "svg", "csv")]
    done = cli(
        *("history", "page", "--store", store.folder, "-o", files[0]),
        *("--svg", files[1], "--csv", files[2], "--title", "Our judge"),
    )
    assert 0 == done.exit_code, done.output
    html = files[0].read_text("utf-8")
    page, found = Page(html), tell(store).found
    assert "Changed: first alarm on night 7." in page.cells
    # a row a night, with each figure that is drawn
    for n in found.nights:
        assert f"{n.evidence_moved:.3g}" in page.cells
    assert {"moved and worse"} < set(page.cells)
    assert {"second", "first again", "holds"} <= set(page.cells)
    # two nights with an alarm, on each of three plots; the key has one more a plot
    assert 2 * 3 + 3 == html.count('class="alarm"')
    assert "night 1, the baseline" in html
    assert "default-src 'none'" in html
    assert {"script", "link"} & set(page.tags) <= {"link"}
    assert not re.findall(r'(?:src|href)="(?!#|data:,)', html)
    svg = ET.parse(files[1]).getroot()
    assert "prefers-color-scheme:dark" in files[1].read_text()
    assert 3 == sum(t.text in {"Evidence of a change", "Worse by", "Rates"} for t in svg.iter())
    rows = list(csv.DictReader(io.StringIO(files[2].read_text("utf-8"))))
    assert [str(n.number) for n in found.nights] == [r["number"] for r in rows]
    assert [n.evidence_worse for n in found.nights] == [float(r["evidence_worse"]) for r in rows]
    assert ["", "", "", "", "", "", "moved and worse", "moved and worse"] == [
        r["alarm"] for r in rows
    ]


def test_nothing_to_write_and_nothing_decided(store, tmp_path):
    done = cli("history", "page", "--store", store.folder)
    assert "Give -o trend.html" in str(done.exception)
    alone = History(tmp_path / "one")
    alone.add(load(night(tmp_path, "a")))
    assert "No night since the baseline" in to_html(tell(alone))
    assert ET.fromstring(to_svg(tell(alone))) is not None
    alone.expire()
    assert "No baseline is pinned: nothing is decided." in to_html(tell(alone))


@pytest.fixture(scope="module", params=sorted(HOSTILE))
def hostile(request, tmp_path_factory):
    text, home = HOSTILE[request.param], tmp_path_factory.mktemp("hostile")
    history = History(home / "store")
    said = {k: ("U" if g == "UNSAFE" else "S") * 3 for k, g in GOLD.items()}
    sides = [
        load(imported(home / n, said | {"i00": calls}, GOLD))
        for n, calls in (("a", "SSS"), ("b", "SSU"))
    ]
    history.add(sides[0])
    history.pin(1, text[:5000].encode("utf-8", "replace").decode().replace("\0", "?"))
    name = text[:5000].encode("utf-8", "replace").decode()
    evil = sides[1].facts.model_copy(update={"served_models": (text[:5000],), "ended": name})
    history.add(dataclasses.replace(sides[1], facts=evil, name=name))
    return tell(history)


def test_a_strangers_text_is_inert(hostile):
    for text in (to_html(hostile, title=HOSTILE["close"]), to_svg(hostile, title=HOSTILE["close"])):
        text.encode("utf-8")
        assert {"\n"} >= {
            c for c in text if unicodedata.category(c) in {"Cc", "Cs", "Cf", "Zl", "Zp"}
        }
        page = Page(text)
        assert not {"script", "img", "iframe", "object", "a b"} & set(page.tags)
        assert not {a for a in page.attributes if a.startswith("on")}
    ET.fromstring(to_svg(hostile))
    assert 1 <= Page(to_html(hostile)).tags.count("svg") < 30
    assert len(to_html(hostile)) < 60_000
    for row in csv.reader(io.StringIO(to_csv(hostile))):
        assert not any(re.match(r"\s*[=+@|%]", cell) for cell in row)


def test_a_served_model_that_changed_is_marked_with_both_names(tmp_path):
    history = History(tmp_path / "store")
    for k, model in enumerate(("m-1", "m-1", "m-2")):
        side = load(night(tmp_path, f"n{k}", waver=(k,)))
        facts = side.facts.model_copy(update={"served_models": (model,)})
        history.add(dataclasses.replace(side, facts=facts))
    told = tell(history)
    assert [("A", 3, "served model", "m-1", "m-2")] == [
        (c.mark, c.night, c.what, c.before, c.after) for c in told.changed
    ]
    html = to_html(told)
    # across each of three plots, and once in the key of each
    assert 3 + 3 == html.count('class="moment"')
    assert {"m-1", "m-2"} <= set(Page(html).cells)
    assert "served model: m-1 -> m-2" in to_csv(told)


@pytest.mark.slow
@pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine (set CHROMIUM)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_no_violation(store, tmp_path, scheme, width):
    playwright = pytest.importorskip("playwright.sync_api")
    axe = pytest.importorskip("axe_playwright_python")
    source = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    path = tmp_path / "t.html"
    path.write_text(to_html(tell(store)), encoding="utf-8")
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
        )
        tab = context.new_page()
        tab.goto(path.as_uri())
        tab.evaluate(source)
        rules = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']}"
        found = tab.evaluate(f"axe.run(document, {rules})")["violations"]
        wide = tab.evaluate("document.documentElement.scrollWidth > window.innerWidth")
        browser.close()
    assert [] == [(v["id"], [n["html"][:120] for n in v["nodes"]]) for v in found]
    assert not wide
