"""The card in Chromium by axe-core: three widths, light and dark, keyboard, paper."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from card_hostile import HOSTILE, hostile_run
from card_plots import drawn_run
from card_runs import CASES

from judgeaudit import cards

BROWSER = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium on this machine (set CHROMIUM)"),
]
AXE = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
RULES = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']}"
# what a width may break no colour does, and the other way round
VIEWS = [(360, "light"), (768, "dark"), (1280, "light"), (1280, "dark")]
PAGES = ("fragile", "incomplete", "plots", "hostile")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    made = {n: CASES[n]() for n in ("fragile", "incomplete")}
    made["plots"] = drawn_run()
    made["hostile"] = hostile_run(HOSTILE["close"])
    return {n: cards.write(r.card(), folder / n)["html"] for n, r in made.items()}


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as p:
        browser = p.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(chromium, path, width=1280, scheme="light"):
    context = chromium.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    tab = context.new_page()
    heard, asked = [], []
    tab.on("console", lambda m: heard.append(m.text))
    tab.on("pageerror", lambda e: heard.append(str(e)))
    tab.on("request", lambda r: asked.append(r.url))
    tab.goto(path.as_uri())
    return tab, heard, asked


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_no_violation(chromium, pages, name):
    found = []
    for width, scheme in VIEWS:
        tab, heard, asked = opened(chromium, pages[name], width, scheme)
        tab.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
        tab.evaluate(AXE)
        for v in tab.evaluate(f"axe.run(document, {RULES})")["violations"]:
            places = [n["target"] for n in v["nodes"]][:3]
            found.append((width, scheme, v["impact"], v["id"], places))
        wide = tab.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, (width, scheme)
        assert [] == heard
        assert {"file", "data"} >= {url.split(":", 1)[0] for url in asked}
        tab.context.close()
    assert [] == found


def test_all_is_reached_by_keyboard(chromium, pages):
    tab, _, _ = opened(chromium, pages["plots"])
    wanted = "a[href], summary, [tabindex='0']"
    total = tab.evaluate(f'document.querySelectorAll("{wanted}").length')
    tab.keyboard.press("Tab")
    assert "Skip to the figures" == tab.evaluate("document.activeElement.textContent")
    seen = {}
    for _ in range(total + 5):
        text = tab.evaluate(
            "(() => { const e = document.activeElement, s = getComputedStyle(e);"
            "return [e.tagName, s.outlineStyle, [...document.querySelectorAll('*')].indexOf(e)]})()"
        )
        if text[0] == "BODY":
            break
        seen[text[2]] = text[1]
        tab.keyboard.press("Tab")
    assert total == len(seen)
    assert "none" not in seen.values()
    folded = tab.locator("details summary").first
    folded.focus()
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.querySelector('details').open")
    tab.context.close()


def test_paper_opens_what_is_folded_and_is_light(chromium, pages):
    tab, _, _ = opened(chromium, pages["plots"], scheme="dark")
    tab.emulate_media(media="print", color_scheme="dark")
    heights = tab.evaluate(
        "[...document.querySelectorAll('details > :not(summary)')]"
        ".map(e => e.getBoundingClientRect().height)"
    )
    assert len(heights) > 5
    assert min(heights) > 0
    assert "rgb(255, 255, 255)" == tab.evaluate("getComputedStyle(document.body).backgroundColor")
    tab.context.close()
