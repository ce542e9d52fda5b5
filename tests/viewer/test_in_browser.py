"""The page in a real Chromium: every view, three widths, light and dark, keyboard only."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from engine_world import open_ledger
from viewer_world import Client, answers, hostile_ledger, serving, small_ledger, small_plan

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
SERIOUS = ("serious", "critical")


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    with serving(hostile_ledger(tmp_path_factory.mktemp("hostile") / "ledger.sqlite")) as server:
        client = Client(server)
        for row in client.json("/api/flips?transform=all&outcome=all")["rows"][:12]:
            item = server.explorer.runs[0].index.items.strata[row["cell"] // 3]["category"]
            client.note(run=0, cell=row["cell"], kind="judge", note=item)
        yield client


class Visit:
    """A window that writes down all that must not happen."""

    def __init__(self, browser, client, width=1280, scheme="light"):
        self.client, self.bad = client, []
        self.context = browser.new_context(
            viewport={"width": width, "height": 800}, color_scheme=scheme
        )
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.page = self.context.new_page()
        self.here = f"http://127.0.0.1:{client.server.port}"
        page = self.page
        page.on("console", lambda m: self.bad.append(f"console: {m.text}"))
        page.on("pageerror", lambda e: self.bad.append(f"error: {e}"))
        page.on("dialog", lambda d: (self.bad.append(f"dialog: {d.message}"), d.dismiss()))
        page.on("request", self._asked)
        page.goto(client.server.url)
        page.wait_for_selector(".conditions")

    def _asked(self, request):
        if not request.url.startswith(self.here + "/"):
            self.bad.append(f"request: {request.url}")

    def open(self, query, wait):
        self.page.goto(f"{self.here}/{query}")
        self.page.wait_for_selector(wait)
        if "flip=" in query:
            self.page.wait_for_selector(".flip, .empty", state="attached")

    def until(self, expression):
        """Wait for something to become true; the policy of the page forbids Playwright's own way."""
        for _ in range(600):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(expression)

    def faults(self):
        wide = self.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        self.page.evaluate(AXE)
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            *([f"{wide} px too wide"] if wide > 0 else []),
            *(
                f"{v['id']} ({v['impact']}): {v['help']}: {v['nodes'][0]['target']} "
                f"{v['nodes'][0].get('failureSummary', '')[:300]}"
                for v in found["violations"]
                if v["impact"] in SERIOUS
            ),
        ]

    def close(self):
        self.context.close()


@pytest.fixture
def visit(chromium, request):
    made = []

    def go(client, **how):
        made.append(Visit(chromium, client, **how))
        return made[-1]

    yield go
    bad = [b for v in made for b in v.bad]
    for v in made:
        v.close()
    assert [] == bad


PAGES = (
    ("", ".conditions"),
    ("?view=flips&q=nothing+at+all", ".empty"),
    ("?view=flips&transform=T4&label=SAFE&sort=plan", ".flip"),
)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_view_is_accessible_and_fits(visit, client, width, scheme):
    v = visit(client, width=width, scheme=scheme)
    faults = {}
    for query, wait in PAGES:
        v.open(query, wait)
        faults[query] = v.faults()
    for wanted in ("outcome=wavering", "outcome=failed&transform=all"):
        row = client.json(f"/api/flips?{wanted}")["rows"][0]
        query = f"?view=flips&flip=0.{row['cell']}"
        v.open(query, ".detail")
        faults[query] = v.faults()
    v.page.get_by_role("button", name="Whole text").click()
    v.page.get_by_role("button", name="One text").click()
    faults["whole"] = v.faults()
    v.page.keyboard.press("?")
    v.page.wait_for_selector("dialog[open]")
    faults["help"] = v.faults()
    assert {} == {k: f for k, f in faults.items() if f}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_hostile_text_is_text(visit, hostile, width, scheme):
    """Nothing runs, nothing is asked elsewhere, nothing is torn apart; the texts are there."""
    v = visit(hostile, width=width, scheme=scheme)
    elements = "document.querySelectorAll('main :is(script, img, iframe, style, object, b)').length"
    faults = {"": v.faults()}
    assert 0 == v.page.evaluate(elements)
    v.open("?view=flips&transform=all&outcome=all", ".flip")
    faults["list"] = v.faults()
    rows = hostile.json("/api/flips?transform=all&outcome=all")["rows"]
    # every text at some width
    for row in rows[WIDTHS.index(width) * 2 + SCHEMES.index(scheme) :: 6]:
        query = f"?view=flips&transform=all&outcome=all&flip=0.{row['cell']}"
        v.open(query, ".detail")
        assert 0 == v.page.evaluate(elements)
        wide = v.page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, row["item"][:40]
        assert [] == v.page.evaluate(
            "[...document.querySelectorAll('main, main *')].flatMap(e => [...e.attributes])"
            ".filter(a => a.name.startsWith('on') || a.name === 'style' || "
            "(a.name === 'href' && !a.value.startsWith('/'))).map(a => a.name + '=' + a.value)"
            ".filter(a => !a.startsWith('style=width'))"
        )
        hidden = r"/[\u0000-\u0008\u001b\u202a-\u202e\u2066-\u2069\ud800-\udfff\u2028]/"
        assert not v.page.evaluate(f"{hidden}.test(document.body.innerText)")
    faults["flip"] = v.faults()
    assert {} == {k: f for k, f in faults.items() if f}


def test_a_huge_text_is_shown_bit_by_bit(visit, hostile):
    v = visit(hostile)
    cell = hostile.json("/api/flips?q=huge")["rows"][0]["cell"]
    v.open(f"?view=flips&flip=0.{cell}", ".detail")
    turn = v.page.locator(".turns > li").first
    assert turn.evaluate("e => e.textContent.length") < 60_000
    turn.get_by_role("button", name="Show all").click()
    turn.get_by_role("button", name="Show more").click()
    v.until("document.querySelector('.turns > li .long').textContent.length > 200000")


def test_everything_can_be_done_with_the_keyboard(visit, own):
    v = visit(own)
    page, keys = v.page, v.page.keyboard
    keys.press("Tab")
    assert "Skip to the content" == page.evaluate("document.activeElement.textContent")
    keys.press("Enter")
    assert "main" == page.evaluate("document.activeElement.id")
    keys.press("f")
    page.wait_for_selector(".flip")
    first, second = [r["cell"] for r in own.json("/api/flips")["rows"]][:2]
    keys.press("j")
    page.wait_for_selector(f".flip[data-id='0.{first}'][aria-current]")
    keys.press("j")
    page.wait_for_selector(f".flip[data-id='0.{second}'][aria-current]")
    assert f"flip=0.{second}" in page.url
    keys.press("k")
    page.wait_for_selector(f".flip[data-id='0.{first}'][aria-current]")
    assert "1 of 4" in page.locator(".place").inner_text()
    keys.press("2")
    page.wait_for_selector(".pick[aria-pressed=true]")
    keys.press("n")
    keys.type("seen by j k 1 2 3 ?")
    keys.press("Control+Enter")
    page.get_by_text("Saved beside the ledger").wait_for()
    page.locator(".flip[aria-current] .marked").wait_for()
    marks = own.server.explorer.runs[0].marks
    assert {first: ("judge", "seen by j k 1 2 3 ?")} == {
        k: (m.kind, m.note) for k, m in marks.items()
    }
    keys.press("Escape")
    keys.press("/")
    keys.type("thing 10,")
    keys.press("Enter")
    v.until("document.querySelectorAll('.flip').length === 1")
    assert "q=thing" in page.url
    keys.press("Escape")
    keys.press("?")
    page.wait_for_selector("dialog[open]")
    keys.press("Escape")
    assert not page.locator("dialog[open]").count()
    keys.press("o")
    page.get_by_text("1 the judge is wrong").wait_for()


@pytest.mark.parametrize("query", ["", "?view=flips&flip=0.{cell}"])
def test_whatever_has_the_focus_shows_it(visit, client, query):
    v = visit(client)
    cell = client.json("/api/flips")["rows"][0]["cell"]
    v.open(query.format(cell=cell), ".detail" if query else ".conditions")
    seen = []
    for _ in range(30):
        v.page.keyboard.press("Tab")
        seen.append(v.page.evaluate(
            "(() => { const e = document.activeElement, s = getComputedStyle(e);"
            "return [e.outerHTML.slice(0, 80), s.outlineStyle !== 'none' && "
            "parseFloat(s.outlineWidth) >= 2] })()"
        ))  # fmt: skip
    assert [] == [html for html, visible in seen if not visible and "<body" not in html]
    assert len({html for html, _ in seen}) > 12


def test_an_address_brings_back_what_it_showed(visit, client):
    v = visit(client)
    assert "token" not in v.page.url
    v.open("?view=flips&transform=T4&direction=to_safe", ".flip")
    v.page.keyboard.press("j")
    v.page.wait_for_selector(".detail")
    shown, address = v.page.locator("#flip-title").inner_text(), v.page.url
    v.page.get_by_role("button", name="Copy link").click()
    v.page.get_by_text("Copied").wait_for()
    assert address == v.page.evaluate("navigator.clipboard.readText()")
    again = v.context.new_page()
    again.goto(address)
    again.wait_for_selector(".detail")
    assert shown == again.locator("#flip-title").inner_text()
    assert "to_safe" == again.locator("#f-direction").input_value()
    again.go_back()
    v.page.go_back()
    v.page.wait_for_selector(".panes:not(.one)", state="attached")


def test_single_keys_can_be_turned_off(visit, client):
    v = visit(client)
    v.page.keyboard.press("?")
    v.page.get_by_label("Single keys do something").uncheck()
    v.page.keyboard.press("Escape")
    v.page.keyboard.press("f")
    v.page.wait_for_timeout(200)
    assert "view=flips" not in v.page.url


def test_a_selection_is_downloaded(visit, client, tmp_path):
    v = visit(client)
    v.open("?view=flips&transform=T4", ".flip")
    with v.page.expect_download() as waiting:
        v.page.get_by_role("link", name="Export this list as JSONL").click()
    waiting.value.save_as(tmp_path / "flips.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "flips.jsonl").read_text().splitlines()]
    assert ["T4"] * 4 == [r["condition"] for r in rows]


def test_without_its_token_the_page_says_what_to_do(chromium, client):
    context = chromium.new_context()
    page = context.new_page()
    answer = page.goto(f"http://127.0.0.1:{client.server.port}/")
    assert 403 == answer.status
    assert "printed in the terminal" in page.inner_text("body")
    context.close()


def test_a_run_is_watched_while_it_goes_on(visit, tmp_path):
    """The page follows; the run writes as if nobody looked, and leaves one plain file behind."""
    path, plan = tmp_path / "ledger.sqlite", small_plan(n_items=40)
    with open_ledger(path, plan) as ledger, serving(path) as server:
        ledger.append(answers(plan, 0, 100))
        v = visit(Client(server))
        v.page.get_by_text("Running now").wait_for()
        v.page.get_by_text("100 of").first.wait_for(timeout=15_000)
        ledger.append(answers(plan, 100, 300))
        v.page.get_by_text("300 of").first.wait_for(timeout=15_000)
        v.open("?view=flips&transform=all&outcome=all", ".flip")
        v.page.wait_for_timeout(200)
        ledger.append(answers(plan, 300))
        v.page.get_by_role("button", name="New answers came in").click(timeout=15_000)
        v.page.get_by_role("button", name="New answers came in").wait_for(state="hidden")
        assert 200 == v.client.json("/api/flips?transform=all&outcome=all")["total"]
        ledger.close()
        assert not path.with_name("ledger.sqlite-wal").exists()
        v.context.close()


def test_thousands_are_scrolled_a_page_at_a_time(visit, tmp_path):
    with serving(small_ledger(tmp_path / "ledger.sqlite", n_items=200)) as server:
        v = visit(Client(server))
        v.open("?view=flips&transform=all&outcome=all", ".flip")
        assert v.page.locator(".flip").count() <= 150
        for _ in range(40):
            v.page.locator(".list .body").evaluate("e => { e.scrollTop = e.scrollHeight }")
            v.page.wait_for_timeout(50)
            if v.page.locator(".flip").count() == 1000:
                break
        ids = v.page.evaluate("[...document.querySelectorAll('.flip')].map(a => a.dataset.id)")
        assert 1000 == len(ids) == len(set(ids))
        row = Client(server).json("/api/flips?transform=all&outcome=all&start=700")["rows"][0]
        v.open(f"?view=flips&transform=all&outcome=all&flip=0.{row['cell']}", ".flip[aria-current]")
        assert "701 of 1,000" in v.page.locator(".place").inner_text()
        earlier = Client(server).json("/api/flips?transform=all&outcome=all&start=640")["rows"][0]
        v.page.get_by_role("button", name="Show earlier ones").click()
        v.page.wait_for_selector(f".rows > li:first-child [data-id='0.{earlier['cell']}']")
        assert v.page.locator(".flip[aria-current]").count() == 1
        v.context.close()
