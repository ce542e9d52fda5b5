"""The site in a real Chromium, opened from its folder: widths, light and dark, keyboard, axe."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from site_world import hostile, usual

from judgeaudit.cards import site

BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine (set CHROMIUM)"),
]
AXE = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
WIDTHS = (360, 768, 1280)
SCHEMES = ("light", "dark")
SAME = "#card=some-judge/2026-09-01&card=some-judge/2026-10-01&card=smollm2/2026-11-30"
OTHER = "#card=some-judge/2026-11-30&card=some-judge/other-corpus"


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("site")
    site.build(usual(root / "cards"), root / "out")
    return root / "out"


@pytest.fixture(scope="module")
def hostile_folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("hostile")
    site.build(hostile(root / "cards"), root / "out")
    return root / "out"


class Visit:
    """A window that writes down all that must not happen."""

    def __init__(self, browser, folder, width, scheme):
        self.folder, self.bad = folder, []
        self.context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme
        )
        self.page = self.context.new_page()
        self.page.on("console", lambda m: self.bad.append(f"console: {m.text}"))
        self.page.on("pageerror", lambda e: self.bad.append(f"error: {e}"))
        self.page.on("dialog", lambda d: (self.bad.append(f"dialog: {d.message}"), d.dismiss()))
        self.page.on("request", self._asked)

    def _asked(self, request):
        here = f"{self.folder.as_uri()}/"
        if not request.url.startswith((here, "data:")):
            self.bad.append(f"request: {request.url}")

    def open(self, place):
        name, mark, rest = place.partition("#")
        self.page.goto("about:blank")
        self.page.goto(f"{(self.folder / name).as_uri()}{mark}{rest}")

    def get(self, expression):
        return self.page.evaluate(expression)

    def shown(self):
        return self.get(
            "[...document.querySelectorAll('#cards tr.card')].filter(r => !r.hidden)"
            ".map(r => r.dataset.id)"
        )

    def faults(self):
        wide = self.get("document.documentElement.scrollWidth - innerWidth")
        self.get(AXE)
        found = self.get("axe.run(document, {resultTypes: ['violations']})")
        return [
            *([f"{wide} px too wide"] if wide > 0 else []),
            *(
                f"{v['id']} ({v['impact']}): {v['nodes'][0]['target']} "
                f"{v['nodes'][0].get('failureSummary', '')[:300]}"
                for v in found["violations"]
                if v["impact"] in ("serious", "critical")
            ),
        ]


@pytest.fixture
def visit(chromium):
    made = []

    def go(folder, width=1280, scheme="light"):
        made.append(Visit(chromium, folder, width, scheme))
        return made[-1]

    yield go
    bad = [b for v in made for b in v.bad if not b.startswith("request: about:blank")]
    for v in made:
        v.context.close()
    assert [] == bad


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_fits_and_axe_finds_nothing_serious(visit, folder, width, scheme):
    v = visit(folder, width, scheme)
    histories = sorted(p.name for p in (folder / "history").iterdir())
    places = ["index.html", f"compare.html{SAME}", f"compare.html{OTHER}", "compare.html"]
    places += [f"history/{name}" for name in histories]
    assert len(places) == 4 + 2
    found = {}
    for place in places:
        v.open(place)
        found[place] = v.faults()
    assert {place: [] for place in places} == found


@pytest.mark.parametrize("width", [360, 1280])
def test_hostile_cards_do_nothing(visit, hostile_folder, width):
    v = visit(hostile_folder, width)
    ids = [
        p.parent.relative_to(hostile_folder / "cards") for p in hostile_folder.rglob("card.json")
    ]
    assert len(ids) > 15
    places = ["index.html", *(f"history/{p.name}" for p in (hostile_folder / "history").iterdir())]
    places += [
        "compare.html#" + "&".join(f"card={i.as_posix()}" for i in ids[k : k + 6])
        for k in range(0, len(ids), 6)
    ]
    for place in places:
        v.open(place)
        assert 0 >= v.get("document.documentElement.scrollWidth - innerWidth"), place
        assert 0 == v.get("document.querySelectorAll('img, iframe, b, form').length"), place
    assert v.get("document.querySelectorAll('#across td').length") > 20


def test_sorting_stays_within_groups_and_unknown_is_last(visit, folder):
    v = visit(folder)
    v.open("index.html")
    bodies = v.get("[...document.querySelectorAll('#cards tbody')].map(b => b.id)")
    assert 2 == len(bodies)
    order = (
        "[...document.querySelectorAll('#cards tbody')].map(b => [...b.querySelectorAll("
        "'tr.card')].map(r => r.children[3].dataset.value ?? null))"
    )
    head = v.page.locator("th[data-sort=pis] button")
    head.click()
    assert [["0.9", "0.9", "0.47", None], ["0.9"]] == v.get(order)
    assert "descending" == v.get("document.querySelector('th[data-sort=pis]').ariaSort")
    head.click()
    assert [["0.47", "0.9", "0.9", None], ["0.9"]] == v.get(order)
    assert "within each group" in v.page.locator("#told").text_content()
    assert "#sort=pis" == v.get("location.hash")
    head.click()
    assert "" == v.get("location.hash.replace('#', '')")
    assert bodies == v.get("[...document.querySelectorAll('#cards tbody')].map(b => b.id)")


def test_an_address_restores_filters(visit, folder):
    v = visit(folder)
    v.open("index.html#find=smol&sort=-created")
    assert ["smollm2/2026-11-30"] == v.shown()
    assert "smol" == v.get("document.getElementById('find').value")
    v.page.fill("#find", "")
    assert 5 == len(v.shown())
    v.page.select_option("#stance", "do_not_use")
    assert ["smollm2/2026-11-30"] == v.shown()
    assert "stance=do_not_use" in v.get("location.hash")
    v.open("index.html#stance=<script>&group=x&sort=__proto__&find=%00")
    assert "" == v.get("document.getElementById('stance').value")


def test_with_the_keyboard_alone_from_the_index_to_a_comparison(visit, folder):
    v = visit(folder)
    v.open("index.html")
    focus = "document.activeElement"
    picked = 0
    for _ in range(60):
        v.page.keyboard.press("Tab")
        if v.get(f"{focus}.type === 'checkbox'") and picked < 2:
            v.page.keyboard.press("Space")
            picked += 1
    assert 2 == picked
    for _ in range(60):
        if v.get(f"{focus}.id === 'compare'"):
            break
        v.page.keyboard.press("Shift+Tab")
    assert "Compare 2 cards" == v.get(f"{focus}.textContent")
    outlined = v.get(f"getComputedStyle({focus}).outlineStyle")
    assert "solid" == outlined
    v.page.keyboard.press("Enter")
    v.page.wait_for_selector("table.side")
    assert 2 == v.get("document.querySelectorAll('table.side thead a').length")


def test_cards_that_are_not_comparable_are_said_to_be_so(visit, folder):
    v = visit(folder)
    v.open(f"compare.html{OTHER}")
    note = v.page.locator(".note").text_content()
    assert "must not be ranked: they differ in corpus" in note
    assert 0 == v.get("document.querySelectorAll('table.side .bar').length")
    assert "Intervals" not in v.page.locator("table.side thead").text_content()
    v.open(f"compare.html{SAME}")
    assert "may be compared" in v.page.locator(".note").text_content()
    row = v.page.locator("table.side tr", has_text="Safe items cleared")
    assert "overlap" in row.text_content()
    assert 3 == row.locator(".bar").count()


def test_a_query_works_like_the_hash(visit, folder):
    v = visit(folder)
    v.page.goto(
        (folder / "compare.html").as_uri() + "?card=some-judge/2026-09-01&card=nobody&card=toString"
    )
    assert 1 == v.get("document.querySelectorAll('table.side thead a').length")
    v.page.locator("#choices input").nth(0).click()
    assert 2 == v.get("document.querySelectorAll('table.side thead a').length")
    assert "card=" in v.get("location.hash")


def test_without_a_script_the_index_is_whole(chromium, folder):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((folder / "index.html").as_uri())
    assert 5 == page.locator("tr.card:visible").count()
    assert 0 == page.locator(".tools:visible").count()
    context.close()
